"""Undo: takes back what a background job did, exactly, or says what has been done since that it would take away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from helix.errors import ConflictError, NotFoundError
from helix.journal.effects import KEPT_JOBS, Effect, digest
from helix.journal.state import Records
from helix.memory.change.compose import Composer
from helix.memory.contradiction.rivals import settle_stored
from helix.memory.contradiction.validity import recompute_validity
from helix.memory.extraction import excluded
from helix.model.edge import Label, Ref
from helix.model.memory import Memory, Status
from helix.model.operations import (
    Drop,
    DropEdge,
    DropNode,
    DropPassage,
    Operation,
    Put,
    PutEdge,
    PutNode,
    PutPassage,
    drop_of,
)
from helix.model.records import NODE_DEFAULTS, node_from
from helix.model.reports import UndoConflict, UndoReport
from helix.model.tombstone import KEY
from helix.model.work_item import WorkState
from helix.store.index import StoreIndex
from helix.store.store import Store
from helix.store.writer import Decision

_FALLBACK = "it is not as the job left it"
# What hangs on a node goes before it and comes after it.
_ORDER = (DropEdge, DropPassage, DropNode, PutNode, PutEdge, PutPassage)


_NODES = 100
"""Nodes that a job made and that go in one change: with more of them it would keep other writes waiting."""


@dataclass(slots=True)
class _Plan:
    """What going back takes: the operations, and why it cannot be done, by what stands in the way."""

    operations: list[Operation] = field(default_factory=list)
    conflicts: dict[Drop, str] = field(default_factory=dict)
    """A reason of its own, or empty where the journal has to say what came since."""


@dataclass(frozen=True, slots=True)
class _Came:
    """What a change came to: operations, memories that are not derived again, and those that are active again."""

    restored: int = 0
    kept_out: int = 0
    back: Sequence[Ref] = ()
    conflicts: Mapping[Drop, str] = field(default_factory=dict)


def _undone(store: Store, job: str, *, dry_run: bool) -> list[_Came]:
    _check(store, job)
    left = {effect.drop: effect for effect in store.journal.effects.of(job)}
    plan = _planned(store, left.values())
    if plan.conflicts or dry_run:
        derived = () if plan.conflicts else _derived(store.records, plan.operations, _keys(plan))
        return [_Came(0 if plan.conflicts else len(plan.operations), len(derived), (), plan.conflicts)]
    return list(_carried_out(store, job, left, plan))


def undo(store: Store, job: str, *, dry_run: bool = False) -> UndoReport:
    """Undo a background job: put back every node, edge and passage it touched as it was, by changes of kind `undo`.

    What the job made is dropped; a passage comes back under a new number, with its vector where the store's model is
    still the same. Where something has touched any of it since, or hangs on what would go, nothing is written and all
    of that is listed. Of a job that made many nodes these go first, in changes of their own, so that other writes find
    their turn; such a write, or a kill, may stop it halfway. Asked again, it goes on. Memories that the job derived are
    not derived again until a person asks for all of them anew (`rederive`). Raises NotFoundError for a job that changed
    nothing or is too long ago, ConflictError for one that was undone already or has not ended.
    """
    with store.copying:  # what a backup holds, or what was erased meanwhile, is none of it
        came = _undone(store, job, dry_run=dry_run)
    for memory in store.records.present([ref for change in came for ref in change.back]):
        if isinstance(memory, Memory):
            settle_stored(store, memory)  # what came in meanwhile was not set against it
    return UndoReport(
        job=job,
        restored=sum(change.restored for change in came),
        kept_out=sum(change.kept_out for change in came),
        conflicts=_render_conflicts(store, job, came[-1].conflicts) if came[-1].conflicts else (),
        dry_run=dry_run,
    )


def _carried_out(store: Store, job: str, left: dict[Drop, Effect], whole: _Plan) -> Iterator[_Came]:
    """Do what was planned, change by change; yield what each came to, up to the first that something stands against.

    `left`, which this empties, has the effects that were not looked at yet.
    """
    going = [op for op in whole.operations if isinstance(op, DropNode)]
    named = {_ref(op) for op in whole.operations if isinstance(op, DropNode | PutNode)}
    pieces = [going[at : at + _NODES] for at in range(0, len(going), _NODES)] if len(going) > _NODES else []
    kept = _keys(whole)

    def decision(nodes: Sequence[DropNode]) -> Decision[_Came]:
        _check(store, job)
        hanging = store.journal.effects.attached([_ref(op) for op in nodes])
        concerned = dict.fromkeys((*nodes, *(drop for drop in hanging if drop in left))) if nodes else list(left)
        plan = _planned(store, [left.pop(drop) for drop in concerned])
        if plan.conflicts:
            return Decision((), _Came(conflicts=plan.conflicts))
        derived = _derived(store.records, plan.operations, kept)
        # Ahead of the change: should that fail, the memories are there still, and what is there is not kept out.
        excluded.note_undone(store.journal, derived)
        composer = Composer(store, store.runtime.clock())
        composer.add(plan.operations)
        recompute_validity(composer, store, later=named if nodes else ())
        came = _Came(len(plan.operations), len(derived), _coming_back(store.index, plan.operations))
        return Decision((composer.change("undo", **({} if nodes else {"undo": job})),), came)

    for nodes in (*pieces, ()):
        came = store.writer.submit(partial(decision, nodes))
        yield came
        if came.conflicts:
            return


def _keys(plan: _Plan) -> frozenset[object]:
    """Return the keys of derived memories under which an earlier version comes back."""
    coming = (node_from(op.label, op.id, op.props) for op in plan.operations if isinstance(op, PutNode))
    return frozenset(node.attributes.get(KEY) for node in coming if isinstance(node, Memory))


def _derived(records: Records, operations: Sequence[Operation], kept: Collection[object]) -> list[Memory]:
    """Return the derived memories that would go, without their key where that is `kept`."""
    going = [_ref(op) for op in operations if isinstance(op, DropNode)]
    gone = [node for node in records.present(going) if isinstance(node, Memory) and KEY in node.attributes]
    return [replace(memory, attributes={}) if memory.attributes[KEY] in kept else memory for memory in gone]


def _coming_back(index: StoreIndex, operations: Sequence[Operation]) -> list[Ref]:
    """Return the memories that the operations make active, and that are not."""
    coming = (_ref(op) for op in operations if isinstance(op, PutNode) and _is_active(op))
    return [ref for ref in coming if index.status_of(ref) is not Status.ACTIVE]


def _ref(op: DropNode | PutNode) -> Ref:
    return Ref(label=op.label, id=op.id)


def _is_active(op: PutNode) -> bool:
    return op.label is Label.MEMORY and op.props.get("status") == Status.ACTIVE


def _check(store: Store, job: str) -> None:
    journal = store.journal.effects
    if (undone_at := journal.undone_at(job)) is not None:
        raise ConflictError(
            f"job {job} was undone already, on {undone_at:%Y-%m-%d %H:%M} UTC",
            hint="nothing is left to be taken back; `helix work` lists what may be",
        )
    if not journal.steps(job):
        raise NotFoundError(
            f"there is nothing to undo of a job {job!r}",
            hint=f"`helix work` lists the background work; the last {KEPT_JOBS} jobs that changed something are kept",
        )
    if any(item.id == job and item.state in (WorkState.QUEUED, WorkState.RUNNING) for item in store.work.items()):
        raise ConflictError(f"job {job} has not ended yet", hint="try again when `helix work` shows that it has")


def _planned(store: Store, effects: Collection[Effect]) -> _Plan:
    """Compare what there is with what the job left; what is to be written by it, on the writer's thread."""
    plan = _Plan()
    present = store.journal.effects.held([effect.drop for effect in effects])
    for effect, now in zip(effects, present, strict=True):
        state, former = digest(now), digest(effect.before)
        if state == former or (former == effect.after and not effect.crossed):
            continue  # it is as it was, or the job left it as it was
        if effect.crossed or state != effect.after:
            plan.conflicts[effect.drop] = ""
        else:
            plan.operations.append(effect.drop if effect.before is None else _back(effect.before, now))
    plan.operations.sort(key=lambda op: _ORDER.index(type(op)))
    _keep_whole(store, plan)
    return plan


def _back(before: Put, now: Put | None) -> Put:
    """Return what puts the former state in the place of the present one."""
    if not isinstance(before, PutNode) or not isinstance(now, PutNode):
        return before
    # Writing a node leaves what is not named: a property that the job added has to be named to go.
    blank = {**dict.fromkeys(now.props), **NODE_DEFAULTS.get(before.label, {})}
    return replace(before, props={**blank, **before.props})


def _keep_whole(store: Store, plan: _Plan) -> None:
    """Find what going back would tear: what hangs on a node that goes or has gone, and names that are taken."""
    going = {op for op in plan.operations if isinstance(op, DropNode | DropEdge | DropPassage)}
    gone = [_ref(op) for op in going if isinstance(op, DropNode)]
    if gone:
        plan.conflicts.update(dict.fromkeys(set(store.journal.effects.attached(gone)) - going, ""))
    coming = {_ref(op): op for op in plan.operations if isinstance(op, PutNode)}
    for op in plan.operations:
        ends = (op.source, op.target) if isinstance(op, PutEdge) else (op.owner,) if isinstance(op, PutPassage) else ()
        for end in ends:
            if end not in coming and (end in gone or end not in store.index):
                plan.conflicts[drop_of(op)] = f"{_name(store.index, end)} is gone"
    for op in _clashing(store.index, coming, gone):
        plan.conflicts[drop_of(op)] = f"another memory is named {op.props['name']!r} by now"


def _clashing(index: StoreIndex, coming: Mapping[Ref, PutNode], gone: Collection[Ref]) -> Iterator[PutNode]:
    """Yield the memories that would come back under a name of their scope that an active memory has by then."""
    active = [op for op in coming.values() if _is_active(op)]
    names = Counter((op.props.get("scope"), op.props.get("name")) for op in active)
    for op in active:
        scope, name = op.props.get("scope"), op.props.get("name")
        holder = index.named(str(scope), str(name))
        if names[scope, name] > 1 or (holder is not None and holder not in coming and holder not in gone):
            yield op


def _render_conflicts(store: Store, job: str, conflicts: Mapping[Drop, str]) -> tuple[UndoConflict, ...]:
    """Return the conflicts in words, each with the kind of the last change that touched it."""
    steps = store.journal.effects.steps(job)
    kinds = store.journal.last_kinds([drop for drop, why in conflicts.items() if not why], min(steps.values()), job)
    told = (
        UndoConflict(what=_what(store.index, drop), by=why or kinds.get(drop, _FALLBACK))
        for drop, why in conflicts.items()
    )
    return tuple(sorted(told, key=lambda conflict: (conflict.what, conflict.by)))


def _what(index: StoreIndex, drop: Drop) -> str:
    match drop:
        case DropNode():
            return _name(index, _ref(drop))
        case DropEdge():
            return f"{_name(index, drop.source)} {drop.type} {_name(index, drop.target)}"
        case DropPassage():
            return f"the text {drop.id}"


def _name(index: StoreIndex, ref: Ref) -> str:
    return f"{ref.label.lower()} {index.name_of(ref) or ref.id}"
