"""Ledger: what a task's node keeps of its evidence, of what was done in it, and of what it has given to memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from helix.agents.outcomes.bonds import Bond
from helix.agents.outcomes.credit import CreditEntry, entry_from
from helix.memory.change.intake import OWN_ATTRIBUTE
from helix.model.clock import from_micros, to_micros
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.task import COMMANDS, FILES_CHANGED, UTILIZED, Task

EVIDENCE = f"{OWN_ATTRIBUTE}evidence"
"""Attribute of a task: its evidence. Its name is Helix's own: no word of an agent's is taken for evidence."""
REPEATED = f"{OWN_ATTRIBUTE}repeated"
"""Attribute of a task: the failures, known before it began, that occurred in it again."""
_OWN = f"{OWN_ATTRIBUTE}outcome"
_MOST_EVIDENCE, _MOST_NAMED = 100, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLedger:
    """The account of one task. `settled` is the outcome that was last written, None before the first time.

    `worked_at` is when something was done in it last, `edited_at` when files were edited last. By the id of the memory
    as it was shown: `signs` of its use with the moment of the first (`used_at`), when what it warns of came up last
    (`again`), `entries`, and `overrides`, which hold helped, failed and quality.
    """

    evidence: tuple[Evidence, ...] = ()
    utilized: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    worked_at: datetime | None = None
    edited_at: datetime | None = None
    claimed: str = ""
    settled: str | None = None
    signs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    used_at: Mapping[str, datetime] = field(default_factory=dict)
    again: Mapping[str, datetime] = field(default_factory=dict)
    entries: Mapping[str, CreditEntry] = field(default_factory=dict)
    overrides: Mapping[str, tuple[float, float, int | None]] = field(default_factory=dict)
    bonds: tuple[Bond, ...] = ()

    def said(self, task: Task) -> str:
        """Return what the agent says of a task's outcome: what was told since it was settled goes before."""
        return self.claimed if self.settled is not None and task.outcome == self.settled else task.outcome


def ledger_of(task: Task) -> TaskLedger:
    """Return the ledger of a task's outcome: its evidence, what was done in it, and what it gave to memories."""
    kept = cast(Mapping[str, Any], task.attributes.get(_OWN, {}))
    edited = kept.get("edited_at")
    worked = kept.get("worked_at", edited)
    return TaskLedger(
        evidence=tuple(_evidence(one) for one in _rows(task, EVIDENCE) if isinstance(one, Mapping)),
        utilized=_words(task, UTILIZED),
        files=_words(task, FILES_CHANGED),
        commands=_words(task, COMMANDS),
        repeated=_words(task, REPEATED),
        worked_at=None if worked is None else from_micros(int(worked)),
        edited_at=None if edited is None else from_micros(int(edited)),
        claimed=str(kept.get("claimed", "")),
        settled=kept.get("settled"),
        signs={ident: tuple(signs) for ident, signs in kept.get("signs", {}).items()},
        used_at=_moments(kept.get("used_at", {})),
        again=_moments(kept.get("again", {})),
        entries={ident: entry_from(entry) for ident, entry in kept.get("entries", {}).items()},
        overrides={ident: tuple(said) for ident, said in kept.get("overrides", {}).items()},
        bonds=tuple(Bond(*bond) for bond in kept.get("bonds", ())),
    )


def with_ledger(task: Task, ledger: TaskLedger) -> Task:
    """Return a task with the ledger of its outcome written down; what is at its beginning is left out."""
    kept: dict[str, object] = {
        "worked_at": None if ledger.worked_at is None else to_micros(ledger.worked_at),
        "edited_at": None if ledger.edited_at is None else to_micros(ledger.edited_at),
        "claimed": ledger.claimed,
        "settled": ledger.settled,
        "signs": {ident: list(signs) for ident, signs in ledger.signs.items() if signs},
        "used_at": {ident: to_micros(at) for ident, at in ledger.used_at.items()},
        "again": {ident: to_micros(at) for ident, at in ledger.again.items()},
        "entries": {ident: entry.written() for ident, entry in ledger.entries.items()},
        "overrides": {ident: list(said) for ident, said in ledger.overrides.items()},
        "bonds": [list(bond) for bond in ledger.bonds],
    }
    lists: dict[str, Sequence[object]] = {
        EVIDENCE: [_plain(one) for one in ledger.evidence],
        UTILIZED: ledger.utilized,
        FILES_CHANGED: ledger.files,
        COMMANDS: ledger.commands,
        REPEATED: ledger.repeated,
    }
    others = {name: value for name, value in task.attributes.items() if name not in lists}
    own = {_OWN: {name: value for name, value in kept.items() if value not in (None, {}, [])}}
    return replace(task, attributes={**others, **own, **{name: list(rows) for name, rows in lists.items() if rows}})


def with_evidence(ledger: TaskLedger, evidence: Evidence) -> TaskLedger:
    """Return an outcome's ledger with a piece of evidence, by id, or by command and time; the latest are kept.

    What is told again stays as of its first time: what came after it still came after it.
    """
    key = _key(evidence)
    known = [_key(one) for one in ledger.evidence]
    if key not in known:
        return replace(ledger, evidence=(*ledger.evidence, evidence)[-_MOST_EVIDENCE:])
    told, at = list(ledger.evidence), known.index(key)
    told[at] = replace(evidence, at=told[at].at or evidence.at)
    return replace(ledger, evidence=tuple(told))


def each_once(before: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Return a list of an outcome's ledger, each entry once, in order; the last ones where there are too many."""
    return tuple(dict.fromkeys((*before, *(word for word in more if word))))[-_MOST_NAMED:]


def _moments(kept: Mapping[str, Any]) -> dict[str, datetime]:
    return {ident: from_micros(int(at)) for ident, at in kept.items()}


def _key(evidence: Evidence) -> tuple[object, ...]:
    # A command that was run and the revert of its commit may come from one action.
    known: tuple[object, ...] = (evidence.id,) if evidence.id else (evidence.command, evidence.at)
    return (evidence.kind, *known)


def _plain(evidence: Evidence) -> dict[str, object]:
    said = asdict(evidence)
    said["kind"] = evidence.kind.value
    said["at"] = None if evidence.at is None else to_micros(evidence.at)
    always = ("kind", "command", "passed")
    return {name: value for name, value in said.items() if name in always or value not in (None, "", False)}


def _evidence(data: Mapping[str, Any]) -> Evidence:
    at = data.get("at")
    return Evidence(**{**data, "kind": EvidenceKind(data["kind"]), "at": None if at is None else from_micros(int(at))})


def _rows(task: Task, name: str) -> Sequence[Any]:
    rows = task.attributes.get(name, ())
    return rows if isinstance(rows, list | tuple) else ()


def _words(task: Task, name: str) -> tuple[str, ...]:
    return tuple(str(word) for word in _rows(task, name))
