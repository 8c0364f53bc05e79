"""Noting: writes down what happens in a task, and which of the memories shown there it used."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import cast

from helix.agents.outcomes.ledger import TaskLedger, each_once, ledger_of, with_evidence
from helix.agents.outcomes.task_end import amend
from helix.agents.outcomes.uses import Deeds, Lesson, TaskInput, signs_of_use
from helix.agents.tasks.board import find_task, injections, tasks_of
from helix.command_outcome.command_evidence import HEAD, came_up_at
from helix.memory.change.intake import Intake
from helix.memory.change.versions import files_of
from helix.model.edge import Ref
from helix.model.evidence import Evidence, EvidenceKind
from helix.model.memory import Kind, Memory
from helix.model.task import RELEVANT_FILES, VERIFY
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.text.excerpts import head

_LONGEST_COMMAND = 500
_LONGEST_NAME = 200
_LONGEST_SUBJECT = 200
_LONGEST_TEXT = 20_000
_MOST_SIGNS = 6
_MOST_NAMED = 200
_RARE_AT_MOST, _RARE_SHARE = 6, 0.02
_PROBLEMS = (Kind.FAILURE, Kind.SYSTEMIC)


def note_evidence(store: Store, ident: str, evidence: Evidence) -> None:
    """Note a command's evidence on a task's outcome; told twice it counts once. A settled task is settled again.

    A revert is none against the task that did it: see `note_revert`.
    """
    task = find_task(store.index, ident)
    if evidence.kind is EvidenceKind.REVERT and task is not None:
        note_revert(store, task.scope, evidence, task.session)
    if evidence.kind is EvidenceKind.REVERT or task is None:
        return
    told = _bounded(evidence)
    amend(store, ident, lambda ledger: with_evidence(ledger, told))


def note_revert(store: Store, scope: str, evidence: Evidence, session: str = "") -> None:
    """Note a revert against the outcome of the task whose commit it took back, in whatever session of the scope.

    The commit is the one of its hash. Where the command names none, it is the one that has its subject, if they are of
    one task; else `HEAD` is the one that the session in which it was reverted saw land last.
    """
    told = _bounded(evidence)
    for ident, commit in _taken_back(store.index, scope, told, session).items():
        amend(store, ident, partial(with_evidence, evidence=replace(told, commit=commit)))


def note_use(
    store: Store,
    ident: str,
    *,
    utilized: Sequence[str] = (),
    files: Sequence[str] = (),
    commands: Sequence[str] = (),
    text: str = "",
    at: datetime | None = None,
    edited_at: datetime | None = None,
    earlier: Sequence[str] = (),
) -> None:
    """Note the deeds that a task's outcome rests on, and which show use of the memories shown there before.

    `utilized` are the names that the agent says it used, which is a claim; `text` is what it wrote into files, and is
    not kept. Its last message is none: who speaks of a memory, or denies having used it, has not used it by that.
    `at` is when it was done, by default now; `edited_at` when files were edited: what passed before says nothing of
    them. `earlier` are files that were changed at some time before, which show no use.
    """
    done_at = at or edited_at or store.runtime.clock()
    ran = [head(command, _LONGEST_COMMAND) for command in commands]
    intake = Intake(store.runtime.settings.text_limit)
    said = [head(word, _LONGEST_NAME) for word in _told_first(store.index, ident, utilized)[:_MOST_NAMED]]
    named = intake.labels(said, "a name")
    paths, before = (
        intake.labels([head(path, _LONGEST_NAME) for path in some[-_MOST_NAMED:]], "a file")
        for some in (files, earlier)
    )
    deeds = Deeds(files=paths, commands=tuple(ran), text=head(text, _LONGEST_TEXT))
    found = _signs(store.index, ident, deeds, done_at)
    worked = bool(files or commands or text or utilized)
    shown_at = max((one.at for one in injections(store.index, ident) if one.at <= done_at), default=done_at)

    def noted(ledger: TaskLedger) -> TaskLedger:
        signs = {
            memory: each_once(ledger.signs.get(memory, ()), found.get(memory, ()))[:_MOST_SIGNS]
            for memory in (*ledger.signs, *found)
        }
        return replace(
            ledger,
            worked_at=_told_once(ledger.worked_at, done_at, shown_at) if worked else ledger.worked_at,
            utilized=each_once(ledger.utilized, named),
            files=each_once(ledger.files, (*before, *paths)),
            commands=each_once(ledger.commands, ran),
            signs=signs,
            used_at={**dict.fromkeys(found, done_at), **_before(ledger.used_at, done_at, found)},
            edited_at=_latest(ledger.edited_at, edited_at),
        )

    amend(store, ident, noted)


def note_repeats(store: Store, ident: str, memory_ids: Sequence[str], at: datetime | None = None) -> None:
    """Note that failures occurred in a task again (`at`, default: now), for its outcome; those known before count."""
    again_at = at or store.runtime.clock()
    task = find_task(store.index, ident)
    if task is None:
        return
    refs = [Ref.memory(memory_id) for memory_id in memory_ids]
    held = [node for node in store.records.present(refs) if isinstance(node, Memory)]
    known = [one.id for one in held if one.kind in _PROBLEMS and one.recorded_at < task.recorded_at]
    if known:
        shown_at = {one.memory_id: one.at for one in injections(store.index, ident)}

        def noted(ledger: TaskLedger) -> TaskLedger:
            times = ((one, ledger.again.get(one), shown_at.get(one, again_at)) for one in known)
            again = {one: _told_once(before, again_at, shown) for one, before, shown in times}
            return replace(ledger, repeated=each_once(ledger.repeated, known), again={**ledger.again, **again})

        amend(store, ident, noted)


def _told_first(index: StoreIndex, ident: str, names: Sequence[str]) -> Sequence[str]:
    """Return names with those of memories that the task was shown before the others, of which there may be many."""
    if len(names) <= _MOST_NAMED:
        return names
    shown = {word for one in injections(index, ident) for word in (one.name.casefold(), one.memory_id)}
    return sorted(names, key=lambda name: name.strip().casefold() not in shown)


def _told_once(before: datetime | None, at: datetime, shown_at: datetime) -> datetime:
    """Return the later moment, or the one before where that is behind a showing already: no more is asked of it."""
    return at if before is None or before < min(shown_at, at) else before


def _latest(*moments: datetime | None) -> datetime | None:
    return max((one for one in moments if one is not None), default=None)


def _before(used_at: Mapping[str, datetime], at: datetime, found: Collection[str]) -> dict[str, datetime]:
    """Return when memories were used first, of which those found were used at a moment too."""
    return {one: min(first, at) if one in found else first for one, first in used_at.items()}


def _signs(index: StoreIndex, ident: str, deeds: Deeds, at: datetime) -> dict[str, tuple[str, ...]]:
    task = find_task(index, ident)
    if task is None or deeds == Deeds():
        return {}
    verify, files = (task.attributes.get(name) for name in (VERIFY, RELEVANT_FILES))
    given = TaskInput(
        text=task.objective,
        verify=verify if isinstance(verify, str) else "",
        files=tuple(map(str, files)) if isinstance(files, list | tuple) else (),
    )

    def common(terms: Sequence[str]) -> list[str]:
        return index.common(terms, at_least=_RARE_AT_MOST, share=_RARE_SHARE)

    found = {}
    for shown in injections(index, ident):
        if not shown.held_back and shown.at <= at:
            memory = cast(Memory, index.records.node(Ref.memory(shown.memory_id)))
            lesson = Lesson(trigger=memory.trigger, resolution=memory.resolution, files=files_of(index.records, memory))
            found[shown.memory_id] = signs_of_use(lesson, deeds, given, common)
    return {memory: signs for memory, signs in found.items() if signs}


def _taken_back(index: StoreIndex, scope: str, revert: Evidence, session: str) -> dict[str, str]:
    """Return the tasks of a scope whose commit a revert took back, each with that commit."""
    seen = [(task, one) for task in tasks_of(index, scope=scope) for one in ledger_of(task).evidence]
    landed = [(task, one) for task, one in seen if _landed(one)]
    if revert.commit not in ("", HEAD):
        return {task.id: revert.commit for task, one in landed if _is_commit(one.commit, revert.commit)}
    alike = {task.id: one.commit for task, one in landed if revert.subject and one.subject == revert.subject}
    if len(alike) == 1 or revert.commit != HEAD:
        return alike if len(alike) == 1 else {}
    task, last = max(
        ((task, one) for task, one in landed if task.session == session),
        key=lambda pair: came_up_at(pair[1]),
        default=(None, None),
    )
    reverts = (one for _, one in seen if one.kind is EvidenceKind.REVERT)
    # A revert is a commit of its own, and the newest one then.
    if task is None or last is None or any(came_up_at(one) > came_up_at(last) for one in reverts):
        return {}
    # What was committed in silence has no subject that is known.
    return {task.id: last.commit} if "" in (last.subject, revert.subject) or task.id in alike else {}


def _landed(evidence: Evidence) -> bool:
    """Return whether a commit landed with it, were it one of which git has printed nothing."""
    return evidence.kind is not EvidenceKind.REVERT and bool(evidence.commit or evidence.kind is EvidenceKind.COMMIT)


def _is_commit(commit: str, named: str) -> bool:
    """Return whether a commit is the one that is named by its hash, either of them cut short."""
    return bool(commit) and (commit.startswith(named) or named.startswith(commit))


def _bounded(evidence: Evidence) -> Evidence:
    command, subject = head(evidence.command, _LONGEST_COMMAND), head(evidence.subject, _LONGEST_SUBJECT)
    return replace(evidence, command=command, subject=subject)
