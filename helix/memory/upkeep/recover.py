"""Recover: takes back what a journal lost, from what was put aside when that was noticed.

First come the rows that the kept journal can still prove: they are exactly what was acknowledged, so they keep the
trust they had. Then the nodes and edges of the kept graph that the journal lacks: they have no proof, so memories among
them go to review and are not recalled before a person has looked. What was written since the loss stands as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from helix.errors import ConflictError, NotFoundError
from helix.graph.kept import operations_in
from helix.journal import salvage
from helix.journal.log import Journal
from helix.journal.witnesses import KNOWS_MORE, keep_noted
from helix.memory.change.compose import Composer, ReadText, unembedded
from helix.model.edge import Label, Ref
from helix.model.loss import Loss, losses, recovered
from helix.model.memory import Status, body
from helix.model.operations import Drop, Operation, PutEdge, PutNode, PutPassage, Row, drop_of
from helix.store import erasing
from helix.store.engine import GRAPH_NAME, JOURNAL_NAME
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.store.writer import Decision

RECOVER = "recover"
"""Kind of the changes that take something back."""
_AT_ONCE = 200
_ROWS = 256


def recover(store: Store, ticket: Ticket) -> Mapping[str, Any]:
    """Recover memories that the journal lost; return how many `rows` and `nodes` came, and what is `missing`.

    Doing it again takes nothing twice. Raises NotFoundError where nothing is known to be lost.
    """
    found = losses(store.path)
    if not found:
        raise NotFoundError("nothing is known to be lost", hint="`helix doctor` checks everything")
    rows = nodes = 0
    after: list[Loss] = []
    for loss in found:
        ticket.progress(0, 0, "reading the kept journal")
        one = _take_rows(store, loss)
        ticket.progress(0, 0, "reading the kept graph")
        two = _take_nodes(store, loss)
        rows, nodes = rows + one, nodes + two
        after.append(recovered(loss, one + two))
    keep_noted(store.journal, store.path, after)
    lacking = sum(max(loss.known - loss.held - loss.recovered, 0) for loss in after)
    return {"rows": rows, "nodes": nodes, "missing rows": lacking}


def acknowledge(store: Store) -> int:
    """Acknowledge the losses of a store, so that it no longer tells of them; return how many there were.

    The kept files stay where they are until something is erased; where something was, they go now.
    """
    found = losses(store.path)
    keep_noted(store.journal, store.path, ())
    erasing.let_kept_go(store)
    return len(found)


def check_nothing_to_recover(folder: Path) -> None:
    """Raise ConflictError while losses may be recovered: what is erased now could come back."""
    if losses(folder):
        raise ConflictError(
            "the journal has lost changes that may still be taken back, what is erased now among them",
            hint="`helix recover`, then `helix recover --acknowledge`, then erase",
        )


def _take_rows(store: Store, loss: Loss) -> int:
    """Write what the kept journal proves, a change for each of its rows."""
    since = _Since(store.journal, loss)
    taken = 0
    for kept in _kept(store.path, loss, JOURNAL_NAME):
        wal, draft = kept.with_name(f"{kept.name}-wal"), kept.with_name(f"{kept.name}.draft")
        for row in salvage.rows_in(kept, wal, draft, loss.held):
            taken += store.writer.submit(partial(_again, store, since, row))
    return taken


class _Since:
    """What was changed since a loss, and which lost rows came back: read on as the journal grows."""

    def __init__(self, journal: Journal, loss: Loss) -> None:
        self._journal = journal
        self._after = loss.held if journal.store_id == loss.store else 0
        self.lost_store = loss.store
        self.back: set[str] = set()
        self.things: set[Drop] = set()

    def read_on(self) -> None:
        while page := self._journal.rows(self._after, _ROWS):
            self._after = page[-1].seq
            for row in page:
                if row.change.kind == RECOVER:
                    self.back.add(str(row.change.note.get("recovered", "")))
                else:
                    self.things.update(map(drop_of, row.change.operations))


def _again(store: Store, since: _Since, row: Row) -> Decision[int]:
    """Decide what of a row is still to be done: nothing that was touched since the loss, by whatever change."""
    since.read_on()
    name = f"{since.lost_store} {row.seq}"
    if name in since.back:
        return Decision((), 0)
    composer = Composer(store, store.runtime.clock())
    composer.add(op for op in row.change.operations if drop_of(op) not in since.things)
    return Decision((composer.change(RECOVER, recovered=name, was=row.change.kind),), 1)


def _take_nodes(store: Store, loss: Loss) -> int:
    """Write the nodes and edges of the kept graph that the journal lacks; return how many nodes."""
    taken = 0
    for kept in _kept(store.path, loss, GRAPH_NAME):
        for part in _parts(operations_in(kept)):
            taken += store.writer.submit(partial(_lacking, store, part))
    return taken


def _lacking(store: Store, part: Iterable[PutNode | PutEdge]) -> Decision[int]:
    composer, nodes = Composer(store, store.runtime.clock()), 0
    known: set[Ref] = set()
    for op in part:
        if isinstance(op, PutNode):
            ref = Ref(label=op.label, id=op.id)
            if ref not in store.index and ref not in known:
                known.add(ref)
                nodes += 1
                composer.add(_unproved(op))
        elif all(end in known or end in store.index for end in (op.source, op.target)):
            composer.add([op] if _is_new(store.journal, op) else [])
    return Decision((composer.change(RECOVER, recovered="graph"),) if composer.pending else (), nodes)


def _is_new(journal: Journal, op: PutEdge) -> bool:
    return journal.effects.held([drop_of(op)])[0] is None


def _unproved(op: PutNode) -> Iterator[Operation]:
    """Yield a node of a graph as it comes back, and what finds it: an active memory waits for a person's eye."""
    props = dict(op.props)
    if op.label is Label.MEMORY and props.get("status") == Status.ACTIVE.value:
        props["status"] = Status.QUARANTINED.value
    yield PutNode(label=op.label, id=op.id, props=props)
    text = ""
    if op.label is Label.MEMORY:
        text = body(str(props.get("trigger") or ""), str(props.get("resolution") or ""))
    elif op.label is Label.EPISODE:
        text = str(props.get("content") or "")
    if text.strip():
        owner = Ref(label=op.label, id=op.id)
        for index, piece in enumerate(unembedded(ReadText.of(text)).pieces):
            yield PutPassage(id=f"{op.id}#{index}", number=0, owner=owner, text=piece)


def _parts(operations: Iterable[PutNode | PutEdge]) -> Iterator[list[PutNode | PutEdge]]:
    """Yield what a journal lost in parts that one change takes back."""
    part: list[PutNode | PutEdge] = []
    for op in operations:
        part.append(op)
        if len(part) == _AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def _kept(folder: Path, loss: Loss, name: str) -> list[Path]:
    return [
        folder / kept
        for kept in loss.kept
        if kept.startswith(f"{name}{KNOWS_MORE}") and "/" not in kept and not kept.endswith(("-wal", ".wal"))
    ]
