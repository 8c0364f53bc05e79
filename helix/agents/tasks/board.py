"""The board: tasks as nodes, mirrored from where they are worked on, with the memories that were shown to each.

Edges between the tasks say which of them wait for which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, cast

from helix.agents.tasks.exclusion import Exclusion, exclusion_of
from helix.errors import InvalidInputError
from helix.memory.capture.sessions import is_private
from helix.memory.change.compose import Composer
from helix.memory.change.intake import Intake
from helix.model.clock import from_micros, to_micros
from helix.model.edge import Edge, Label, Ref, Relation
from helix.model.memory import GLOBAL_SCOPE, Memory
from helix.model.records import edge_from
from helix.model.task import (
    BLOCKED,
    COMPLETED,
    DELIVERED,
    EXCLUDED,
    FAILED,
    HELD_BACK,
    IN_PROGRESS,
    NONE_RAN,
    PASSED,
    PENDING,
    SKIPPED,
    TOKENS_INJECTED,
    WITH_MEMORY,
    Credit,
    Injection,
    Shown,
    Task,
)
from helix.model.tombstone import is_erased
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision
from helix.text.excerpts import shortened

SESSION_KEY = "session"
"""Key of the work that is done in a session's main thread, outside of any task."""
_KNOWN: Mapping[str, tuple[str, ...]] = {
    "status": (PENDING, IN_PROGRESS, COMPLETED),
    "outcome": ("", DELIVERED, BLOCKED, SKIPPED),
    "treatment": ("", WITH_MEMORY, HELD_BACK),
    "verification": ("", PASSED, FAILED, NONE_RAN),
}
_KINDS = {False: Relation.INJECTED, True: Relation.WITHHELD}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSighting:
    """What was seen of a task just now. None is what was not said; so is an attribute that is left out.

    `key` tells the tasks of a session apart: the client's id of it, `agent:` and the id of an agent, or `session`.
    `blocked_by` are the keys of tasks that it waits for, beside those that are known. `root` is the top of its project,
    where that is known; `title` stands for an objective that names a file of the project's `.helixignore`.
    """

    session: str
    key: str
    scope: str = GLOBAL_SCOPE
    root: str = ""
    objective: str | None = None
    title: str = ""
    status: str | None = None
    outcome: str | None = None
    treatment: str | None = None
    verification: str | None = None
    blocked_by: Sequence[str] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)


def task_id(scope: str, session: str, key: str) -> str:
    """Return the id of a task: 32 hexadecimal digits that scope, session and key alone decide."""
    return sha256("\x1f".join(("task", scope, session, key)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def mirror(store: Store, seen: TaskSighting) -> Task:
    """Bring a task on the board up to date with what was seen, or make it where it is new; the unsaid stays.

    Seeing the same again changes nothing. Of a private session nothing is kept: the task is answered as if it were new.
    To a task whose words were erased none come back from the client's list: only what it comes to is kept. Of texts
    that name a file of a `.helixignore` nothing is kept but that there were such.
    Raises InvalidInputError for a status, outcome, treatment or verification that is none.
    """
    intake = Intake(store.runtime.settings.text_limit)
    scope, session = intake.scope(seen.scope), intake.session(seen.session)
    ident = task_id(scope, session, intake.label(seen.key, "key"))
    blockers = [task_id(scope, session, intake.label(key, "key")) for key in seen.blocked_by]
    exclusion = Exclusion([seen.root]) if seen.root else exclusion_of(store.runtime.settings.home, scope)
    said, words = _checked_state(seen), _words(intake, exclusion, seen)

    def decision() -> Decision[Task]:
        composer, known = Composer(store, store.runtime.clock()), find_task(store.index, ident)
        before = known or Task(id=ident, objective="", recorded_at=composer.now, scope=scope, session=session)
        after = _after(before, said, words, composer.now)
        if is_private(store.journal, session):
            return Decision((), after)
        if after != known:
            composer.node(after)
        put_order(store.index, composer, ident, blockers)
        change = composer.change("task")
        return Decision((change,) if change.operations else (), after)

    return store.writer.submit(decision)


def note(
    store: Store,
    ident: str,
    *,
    status: str | None = None,
    outcome: str | None = None,
    treatment: str | None = None,
    verification: str | None = None,
    attributes: Mapping[str, object] | None = None,
) -> Task | None:
    """Bring a task on the board that is known by its id up to date, as `mirror` does; None where it is not kept."""
    intake = Intake(store.runtime.settings.text_limit)
    seen = TaskSighting(
        session="",
        key="",
        status=status,
        outcome=outcome,
        treatment=treatment,
        verification=verification,
        attributes=attributes or {},
    )
    task = find_task(store.index, ident)
    exclusion = exclusion_of(store.runtime.settings.home, task.scope if task else GLOBAL_SCOPE)
    said, words = _checked_state(seen), _words(intake, exclusion, seen)

    def decision() -> Decision[Task | None]:
        known = find_task(store.index, ident)
        if known is None:
            return Decision((), None)
        composer = Composer(store, store.runtime.clock())
        after = _after(known, said, words, composer.now)
        if after == known:
            return Decision((), known)
        composer.node(after)
        return Decision((composer.change("task"),), after)

    return store.writer.submit(decision)


def _after(before: Task, said: Mapping[str, Any], words: Mapping[str, Any], now: datetime) -> Task:
    attributes = {**before.attributes, **words["attributes"]}
    if EXCLUDED in words["attributes"]:
        attributes[EXCLUDED] = sorted({*_names(before.attributes), *_names(words["attributes"])})
    told = {} if is_erased(before) else {**words, "attributes": attributes}
    after = replace(before, **said, **told)
    return replace(after, ended_at=(before.ended_at or now) if after.status == COMPLETED else None)


def _names(attributes: Mapping[str, Any]) -> Sequence[str]:
    return cast(Sequence[str], attributes.get(EXCLUDED, ()))


def _words(intake: Intake, exclusion: Exclusion, seen: TaskSighting) -> dict[str, Any]:
    told = intake.attributes(seen.attributes)
    kept = exclusion.without(told)
    hidden = [name for name in told if kept[name] != told[name]]
    words: dict[str, Any] = {}
    if seen.objective is not None:
        titles = (seen.objective, *filter(None, (seen.title,)))
        cleaned = [intake.text(shortened(one, intake.text_limit), "objective", required=False) for one in titles]
        fit = [one for one in cleaned if not exclusion.of({"objective": one})]
        words = {"objective": fit[0]} if fit else {}
        hidden += [] if fit == cleaned else ["objective"]
    return {**words, "attributes": {**kept, **({EXCLUDED: hidden} if hidden else {})}}


def _checked_state(seen: TaskSighting) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, known in _KNOWN.items():
        word = getattr(seen, name)
        if word is not None:
            if word not in known:
                raise InvalidInputError(
                    f"{word!r} cannot be the {name} of a task", hint="one of: " + ", ".join(filter(None, known))
                )
            said[name] = word
    return said


def find_task(index: StoreIndex, ident: str) -> Task | None:
    """Return the task of that id on the board, or None."""
    ref = Ref.task(ident)
    if ref not in index:
        return None
    (node,) = index.records.present([ref])
    return cast(Task | None, node)


def tasks_of(
    index: StoreIndex,
    *,
    scope: str | None = None,
    session: str | None = None,
    since: datetime | None = None,
    limit: int | None = None,
) -> list[Task]:
    """Return the tasks of exactly this scope and session (None: of any) recorded since a moment, newest first."""
    rows = index.where(Label.TASK, scope=scope)
    if session is not None:
        rows &= index.of_session(session)
    if since is not None:
        rows &= index.recorded_since(to_micros(since))
    return [cast(Task, node) for node in index.present(index.newest(rows, limit))]


def inject(store: Store, ident: str, shown: Sequence[Shown], *, held_back: bool, at: datetime | None = None) -> None:
    """Write on a task's board that memories were shown to it, or held back from it.

    One that is recorded already stays as it was.
    `at` is when, by default now: what was done before says nothing of them. Ranks go on behind those of earlier ones. A
    memory that was held back and is shown later counts as shown. Nothing is recorded of a task that is not kept, or of
    a memory that is gone.
    """
    if not shown:
        return

    def decision() -> Decision[None]:
        task = find_task(store.index, ident)
        if task is None:
            return Decision((), None)
        composer, known = (
            Composer(store, store.runtime.clock()),
            {one.memory_id: one for one in injections(store.index, ident)},
        )
        rank, tokens = max((one.rank for one in known.values()), default=0), 0
        for one in _each_once(shown):
            before = known.get(one.memory_id)
            gone = Ref.memory(one.memory_id) not in store.index
            if gone or (before is not None and (held_back or not before.held_back)):
                continue
            if before is not None:
                composer.drop_edge(Relation.WITHHELD, Ref.task(ident), Ref.memory(one.memory_id))
            rank += 1
            tokens += 0 if held_back else one.tokens
            put_injection(composer, ident, _injection(one, rank, at or composer.now, held_back))
        if tokens:
            spent = int(cast(int, task.attributes.get(TOKENS_INJECTED, 0))) + tokens
            composer.patch(Ref.task(ident), attributes={**task.attributes, TOKENS_INJECTED: spent})
        change = composer.change("inject", task=ident)
        return Decision((change,) if change.operations else (), None)

    store.writer.submit(decision)


def injections(index: StoreIndex, ident: str) -> list[Injection]:
    """Return the memories that were shown to a task or held back from it, in the order in which they came."""
    here = Ref.task(ident)
    if here not in index:
        return []
    edges = (edge_from(op) for op in index.records.edges_at(here) if op.type in _KINDS.values())
    return sorted((injection_of(index, edge) for edge in edges), key=lambda one: (one.rank, one.memory_id))


def put_injection(composer: Composer, ident: str, one: Injection) -> None:
    """Write the injection of a memory into a task, as a part of somebody's change."""
    attributes: dict[str, object] = {
        "at": to_micros(one.at),
        "rank": one.rank,
        "score": one.score,
        "arm": one.arm,
        "outcome": one.outcome,
        "tokens": one.tokens,
    }
    if one.credited is not None:
        credit = one.credited
        attributes["credited"] = {
            "helped": credit.helped,
            "failed": credit.failed,
            "quality": credit.quality,
            "at": to_micros(credit.at),
        }
    composer.put_edge(
        Edge(
            type=_KINDS[one.held_back],
            source=Ref.task(ident),
            target=Ref.memory(one.memory_id),
            created_at=one.at,
            attributes=attributes,
        )
    )


def learn(store: Store, ident: str, memory_id: str) -> None:
    """Record that a memory was learned in a task; nothing where either is not kept, or it is recorded already."""

    def decision() -> Decision[None]:
        here, there = Ref.task(ident), Ref.memory(memory_id)
        if here not in store.index or there not in store.index:
            return Decision((), None)
        if any((op.type, op.target) == (Relation.LEARNED, there) for op in store.records.edges_at(here)):
            return Decision((), None)
        composer = Composer(store, store.runtime.clock())
        composer.edge(Relation.LEARNED, here, there)
        return Decision((composer.change("learn", task=ident),), None)

    store.writer.submit(decision)


def learned_in(index: StoreIndex, ident: str) -> list[Memory]:
    """Return the memories that a task's board says were learned in it and are still there."""
    edges = index.records.edges_at(Ref.task(ident))
    refs = [op.target for op in edges if op.type is Relation.LEARNED and op.source == Ref.task(ident)]
    return [node for node in index.records.present(refs) if isinstance(node, Memory)]


def _each_once(shown: Iterable[Shown]) -> list[Shown]:
    best: dict[str, Shown] = {}
    for one in sorted(shown, key=lambda each: each.rank):
        best.setdefault(one.memory_id, one)
    return list(best.values())


def _injection(one: Shown, rank: int, at: datetime, held_back: bool) -> Injection:
    return Injection(
        memory_id=one.memory_id,
        name=one.name,
        arm=one.arm,
        rank=rank,
        score=one.score,
        at=at,
        tokens=one.tokens,
        held_back=held_back,
    )


def injection_of(index: StoreIndex, edge: Edge) -> Injection:
    """Return the injection that an edge from a task to a memory holds."""
    said = cast(Mapping[str, Any], edge.attributes)
    credit = said.get("credited")
    return Injection(
        memory_id=edge.target.id,
        name=index.name_of(edge.target),
        arm=str(said.get("arm", "")),
        rank=int(said.get("rank", 0)),
        score=float(said.get("score", 0.0)),
        at=from_micros(int(said.get("at", to_micros(edge.created_at)))),
        tokens=int(said.get("tokens", 0)),
        outcome=str(said.get("outcome", "")),
        held_back=edge.type is Relation.WITHHELD,
        credited=None if credit is None else Credit(**{**credit, "at": from_micros(int(credit["at"]))}),
    )


def put_order(index: StoreIndex, composer: Composer, ident: str, blockers: Iterable[str]) -> None:
    """Let a task wait for other tasks, as a part of somebody's change; for what is no task yet there is no waiting."""
    here = Ref.task(ident)
    known = waits_for(index, ident)
    for blocker in dict.fromkeys(blockers):
        there = Ref.task(blocker)
        if blocker not in known and there in index:
            composer.edge(Relation.BLOCKED_BY, here, there)


def waits_for(index: StoreIndex, ident: str) -> frozenset[str]:
    """Return the ids of the tasks that a task waits for."""
    here = Ref.task(ident)
    if here not in index:
        return frozenset()
    edges = index.records.edges_at(here)
    return frozenset(op.target.id for op in edges if op.type is Relation.BLOCKED_BY and op.source == here)
