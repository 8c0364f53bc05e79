"""The job that has a language model look for contradictions that the words alone do not show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.contradiction.classify import claims, hold_at_once, thresholds_of
from helix.memory.contradiction.detect import Contradiction, Statement, contradiction
from helix.memory.contradiction.resolve import oppose
from helix.memory.jobs.run import Run
from helix.memory.llm.ask import CONTRADICTION, Tally, opposed
from helix.memory.upkeep.neighbours import nearest_active
from helix.model.edge import Ref, Relation
from helix.model.memory import Memory, Status
from helix.store.store import Store

_MOST, _NEAREST = 60, 4
_TOLD = frozenset({Relation.CONTRADICTS, Relation.SUPERSEDES})


def find_contradictions(run: Run, payload: Mapping[str, Any]) -> Mapping[str, int]:
    """Have the store's language model compare the newest memories with what is near to them; return what it found.

    `payload`: `scope` (None: every scope). Asked about are pairs of active memories that claim to hold at one time, are
    as near as a refinement, and between which nothing is settled. What it finds is flagged and never settled: both are
    less sure until a person decides. Without a model, or an answer that holds, nothing changes. `asked` counts the
    pairs that were sent to a provider, `unanswered` those without an answer.
    """
    model = None if run.language_model is None else Tally(run.language_model)
    pairs = _pairs(run.store, payload.get("scope")) if model is not None else []
    found = 0
    for start in range(0, len(pairs), CONTRADICTION.batch):
        if run.cancelled or model is None:
            break
        batch = pairs[start : start + CONTRADICTION.batch]
        verdicts = opposed(model, [(_statement(newer), _statement(known)) for newer, known in batch])
        for (newer, known), why in zip(batch, verdicts, strict=True):
            if why is not None and run.write(f"{newer.id} against {known.id}", _opposing(run.store, newer, known, why)):
                found += 1
                run.say(f"contradiction: {newer.name} and {known.name}")
        run.progress(start + len(batch), len(pairs), "memories compared")
    run.count("contradictions found", found)
    asked, unanswered = (model.asked, model.unanswered) if model is not None else (0, 0)
    return {"asked": asked, "unanswered": unanswered, "found": found}


def _pairs(store: Store, scope: str | None) -> list[tuple[Memory, Memory]]:
    """Return the pairs to ask about, the later one first in each, each pair once, the newest first."""
    held = [memory for memory in store.index.memories(Status.ACTIVE, scope) if claims(memory.kind)]
    newest = sorted(held, key=lambda memory: (memory.recorded_at, memory.id), reverse=True)[:_MOST]
    least = thresholds_of(store.runtime).update
    pairs: dict[tuple[str, str], tuple[Memory, Memory]] = {}
    for memory in newest:
        own = store.index.vectors_of(memory.ref)
        near = nearest_active(store, own[0], memory.scope, _NEAREST + 1) if own else []
        for other, cosine in near:
            newer, known = sorted((memory, other), key=lambda each: (each.recorded_at, each.id), reverse=True)
            if other.id != memory.id and cosine >= least and _open(store.records, newer, known):
                pairs.setdefault((newer.id, known.id), (newer, known))
    return list(pairs.values())


def _open(records: Records, newer: Memory, known: Memory) -> bool:
    """Return whether the two might contradict each other and nothing says so yet, neither an edge nor their words."""
    return (
        claims(known.kind)
        and hold_at_once(newer, known)
        and contradiction(_statement(newer), _statement(known)) is None
        and not _told(records, newer, known)
    )


def _told(records: Records, newer: Memory, known: Memory) -> bool:
    edges = (op for op in records.edges_at(_ref(newer)) if op.type in _TOLD)
    return any(known.id in (op.source.id, op.target.id) for op in edges)


def _opposing(store: Store, newer: Memory, known: Memory, why: Contradiction) -> Callable[[Composer], bool]:
    def compose(composer: Composer) -> bool:
        one, other = (cast(Memory, node) for node in store.records.nodes([_ref(newer), _ref(known)]))
        unchanged = (_statement(one), _statement(other)) == (_statement(newer), _statement(known))
        standing = one.status is Status.ACTIVE and other.status is Status.ACTIVE and hold_at_once(one, other)
        if not unchanged or not standing or _told(store.records, one, other):
            return False
        oppose(composer, store.index, one, other, why)
        return True

    return compose


def _statement(memory: Memory) -> Statement:
    return Statement(trigger=memory.trigger, resolution=memory.resolution)


def _ref(memory: Memory) -> Ref:
    return memory.ref
