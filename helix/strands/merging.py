"""Merging: takes the rows of a strand into a store, each as `three_way.py` says; names and sources stay with one.

Then the memories that came in meet those that are here (`meeting.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from helix.errors import ConflictError, InvalidInputError
from helix.journal.log import Journal
from helix.journal.state import Snapshot
from helix.memory.capture.sessions import PrivateSessions, name_of_session, private_sessions
from helix.memory.change.compose import Composer
from helix.memory.job_run.run import Watch
from helix.model.edge import OPEN_RELATIONS, Edge, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE, Memory, Status
from helix.model.operations import DropEdge, DropNode, DropPassage, Operation, PutEdge, PutNode, PutPassage, drop_of
from helix.model.provenance import STRANGERS
from helix.model.records import edge_from, node_from
from helix.store.store import Store
from helix.store.writer import Decision
from helix.strands.erased_here import ErasedHere
from helix.strands.received import Received
from helix.strands.rows import Key, Selection, StrandRow, in_batches, node_key, row_of
from helix.strands.three_way import Incoming, is_refused, is_settled, merged

KIND = "strand"
"""The kind of the changes that a merge makes."""
MOST_EXAMPLES = 50
_PLURALS = {"Memory": "memories", "Entity": "entities"}
_TOLD = frozenset({*OPEN_RELATIONS, Relation.MENTIONS, Relation.TOUCHES, Relation.CITES}).difference(
    {Relation.SUPERSEDES, Relation.CONTRADICTS}
)
"""Edges that change nothing of what they lead to. Any other is drawn by nobody to what is believed more than they are,
and none at all from there."""


@dataclass(slots=True)
class Merge:
    """One merge into a store: `wanted` says what changes something, `write` writes it; `counts` what it came to.

    Nothing outside of `within` is changed, whatever the rows say: no node of it, and no edge that leads out of it.
    """

    store: Store
    received: Received
    job: str
    within: Selection = field(default_factory=Selection)
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    fresh: list[Ref] = field(default_factory=list)
    """The memories that came in and are to meet those that are here (`meeting.py`)."""
    memories: list[Ref] = field(default_factory=list)
    """All memories that came in, whatever became of them (`succession.py`)."""
    erased: ErasedHere = field(init=False)
    """What is not taken in, as it belongs to what was erased here."""

    def __post_init__(self) -> None:
        self.erased = ErasedHere(self.store, self.within)

    def wanted(self, incoming: Iterable[Incoming], ticket: Watch, total: int) -> Iterator[list[Incoming]]:
        """Yield, in batches, a strand's rows that may change something, as they may be stored; nothing is written.

        Raises ConflictError where the job was asked to stop.
        """
        # One's own machines say themselves what is private: what stays out here would count there as dropped.
        is_own = self.received.signer.is_own
        hidden, done = PrivateSessions({}) if is_own else private_sessions(self.store.journal), 0
        for batch in in_batches(incoming, _weight):
            if ticket.cancelled:
                raise ConflictError("the import was stopped; nothing of it stays")
            yield self._wanted(batch, hidden)
            done += len(batch)
            ticket.progress(done, max(total, done), "reading")

    def plan(self, wanted: Sequence[Incoming]) -> None:
        """Count what merging a batch of a strand would come to."""
        here = held_rows(self.store.journal, [one.key for one in wanted])
        for one in wanted:
            self._count(here[one.key], merged(here[one.key], one, self.received.signer))

    def write(self, wanted: Sequence[Incoming], step: str) -> None:
        """Write a batch of a strand, as one step of the job; one that is in the journal already is passed over."""
        self.fresh += [ref for one in wanted if (ref := _memory_of(one)) is not None]
        nodes = [ref for one in wanted if (ref := _node_of(one)) is not None]
        self.memories += [ref for ref in nodes if ref.label is Label.MEMORY]
        if self.store.journal.effects.has_step(self.job, step):
            return
        vectors = self._embedded(wanted)

        def decision() -> Decision[None]:
            composer = Composer(self.store, self.store.runtime.clock())
            here = held_rows(self.store.journal, [one.key for one in wanted])
            after = {one.key: merged(here[one.key], one, self.received.signer) for one in wanted}
            for one in wanted:
                self._row(composer, here[one.key], after, one.key, vectors)
            return Decision((composer.change(KIND, job=self.job, step=step),) if composer.pending else (), None)

        self.store.writer.submit(decision)

    def _wanted(self, batch: Sequence[Incoming], hidden: PrivateSessions) -> list[Incoming]:
        found = []
        for one in batch:
            if one.theirs is not None:
                self._check_within(one.theirs)
                is_private = _is_hidden(one.theirs, hidden)
                if is_private:
                    self.erased.note_private(one.theirs)
                if is_settled(one):
                    continue
                kept_out = self.erased.keeps_out(one.theirs)
                if is_private:
                    self.counts["private"] += 1
                if kept_out or is_private:
                    continue
                row = self.received.row(one.theirs)
                if row is None:
                    self.counts["excluded"] += 1
                    continue
                one = replace(one, theirs=row)
            found.append(one)
        here = held_rows(self.store.journal, [one.key for one in found])
        kept = [one for one in found if self._is_within(here[one.key])]
        self.counts["excluded"] += len(found) - len(kept)
        signer = self.received.signer
        self.counts["changes refused"] += sum(is_refused(here[one.key], one.theirs, signer) for one in kept)
        return [one for one in kept if merged(here[one.key], one, signer) != here[one.key]]

    def _is_within(self, row: StrandRow | None) -> bool:
        """Return whether a row that is held here is one that the merge may change."""
        return row is None or self.within.holds(row.owner, row.scope)

    def _check_within(self, row: StrandRow) -> None:
        if not self.within.holds(row.owner, row.scope):
            raise InvalidInputError("the strand has a row that is not of the scopes it says it is of")

    def _embedded(self, wanted: Sequence[Incoming]) -> dict[str, bytes | None]:
        """Return the vector of each text that comes in, those of the strand where it brought them."""
        nodes = [(one.theirs, one.vectors) for one in wanted if one.theirs is not None]
        given = {
            text: vector
            for row, vectors in nodes
            for text, vector in zip(row.texts, vectors, strict=False)
            if vector is not None
        }
        lacking = list(dict.fromkeys(text for row, _ in nodes for text in row.texts if text not in given))
        return {**given, **dict(zip(lacking, self.store.embed(lacking), strict=True))}

    def _row(
        self,
        composer: Composer,
        mine: StrandRow | None,
        batch: Mapping[Key, StrandRow | None],
        key: Key,
        vectors: Mapping[str, bytes | None],
    ) -> None:
        after = batch[key]
        if after == mine:
            return
        if after is None:
            assert mine is not None
            composer.add([drop_of(mine.put)])
        elif isinstance(after.put, PutEdge):
            if not self._may_draw(after, mine, batch):
                self.counts["excluded"] += 1
                return
            composer.add([after.put])
        else:
            if mine is not None and mine.provenance.is_strangers and not after.provenance.is_strangers:
                composer.add(self._refused_now(after))
            after = self._heard_once(composer, self._named(composer, after, batch))
            composer.add(write_node(mine, after, vectors))
        self._count(mine, after)

    def _refused_now(self, after: StrandRow) -> Iterator[DropEdge]:
        """Yield the edges that strangers drew at a node of theirs and may not draw at what stands in its place."""
        assert isinstance(after.put, PutNode)
        here = Ref(label=after.put.label, id=after.put.id)
        for edge in self.store.records.edges_at(here):
            told = edge_from(edge)
            strange = told.provenance.is_strangers and told.provenance.trust.rank > after.provenance.trust.rank
            if strange and not _only_tells(told, here):
                yield DropEdge(type=edge.type, source=edge.source, target=edge.target)

    def _may_draw(self, row: StrandRow, mine: StrandRow | None, batch: Mapping[Key, StrandRow | None]) -> bool:
        """Return whether both ends are there, within what the merge may change, and not believed more than who tells.

        The last counts of where the edge starts, and of where it leads to if it changes anything there.
        """
        edge, signer = row.put, self.received.signer
        assert isinstance(edge, PutEdge)
        told_by = signer.trust if not signer.is_own else row.provenance.trust if row.provenance.is_strangers else None
        for end in (edge.source, edge.target):
            key = node_key(end.label, end.id)
            if (batch[key] is None) if key in batch else (end not in self.store.index):
                return False
            guarded = told_by is not None and not (mine is None and _only_tells(edge, end))
            if self.within.is_all and not guarded:
                continue
            there = batch[key] if key in batch else held_rows(self.store.journal, [key])[key]
            if there is None or not self._is_within(there):
                return False
            if guarded and told_by is not None and told_by.rank > there.provenance.trust.rank:
                return False
        return True

    def _named(self, composer: Composer, row: StrandRow, batch: Mapping[Key, StrandRow | None]) -> StrandRow:
        """Return an active memory under a name that no other one of its scope has.

        One that holds it no more once this batch is in, such as its own old version, leaves it that. Of two of one name
        the one that was recorded first keeps it, on whichever side it was: so both sides choose the same. What others
        signed never takes the name of what is here.
        """
        put = row.put
        if not isinstance(put, PutNode) or put.label is not Label.MEMORY or put.props.get("status") != Status.ACTIVE:
            return row
        scope, name = str(put.props.get("scope", "")), str(put.props["name"])
        holder = self.store.index.named(scope, name)
        if holder is None or holder.id == put.id or not _holds_on(batch, holder, scope, name):
            return row
        (other,) = self.store.records.nodes([holder])
        assert isinstance(other, Memory)
        coming = node_from(put.label, put.id, put.props)
        assert isinstance(coming, Memory)
        self.counts["renamed"] += 1
        if not self._comes_before(coming, other):
            return replace(row, put=replace(put, props={**put.props, "name": _apart(name, put.id)}))
        composer.patch(holder, name=_apart(name, other.id))
        return row

    def _comes_before(self, coming: Memory | Episode, held: Memory | Episode) -> bool:
        """Return whether what comes in was recorded first; what others say of that takes nothing from what is here."""
        return self.received.signer.is_own and _order(coming) < _order(held)

    def _heard_once(self, composer: Composer, row: StrandRow) -> StrandRow:
        """Return an episode so that what both sides took from one source is found once: by the one recorded first."""
        put = row.put
        source, scope = str(put.props.get("source") or "").removeprefix(STRANGERS), row.scope
        if not isinstance(put, PutNode) or put.label is not Label.EPISODE or not source or not row.texts:
            return row
        known = self.store.index.from_source(source, label=Label.EPISODE, scope=scope)
        if known is None or known.id == put.id:
            return row
        (other,) = self.store.records.nodes([known])
        coming = node_from(put.label, put.id, put.props)
        assert isinstance(other, Episode) and isinstance(coming, Episode)
        self.counts["heard twice"] += 1
        if not self._comes_before(coming, other):
            return replace(row, put=replace(put, props={**put.props, "status": Status.RETIRED.value}), texts=())
        composer.silence(known)
        composer.patch(known, status=Status.RETIRED)
        return row

    def _count(self, before: StrandRow | None, after: StrandRow | None) -> None:
        row = after or before
        assert row is not None
        kind = "edges" if isinstance(row.put, PutEdge) else _PLURALS.get(row.table, f"{row.table.lower()}s")
        what = "added" if before is None else "dropped" if after is None else "changed"
        self.counts[f"{kind} {what}"] += 1
        if isinstance(row.put, PutNode) and row.put.label is Label.MEMORY and len(self.examples) < MOST_EXAMPLES:
            self.examples.append(f"{what}: {row.put.props.get('name')}")


def _only_tells(edge: PutEdge | Edge, end: Ref) -> bool:
    """Return whether an edge changes nothing of one of its ends."""
    return end == edge.target and edge.type in _TOLD


def _order(node: Memory | Episode) -> tuple[bool, datetime, str]:
    """Order nodes by when they were recorded, those that strangers told last: they say when as they like."""
    return node.provenance.is_strangers, node.recorded_at, node.id


def _weight(one: Incoming) -> int:
    return (one.theirs.weight if one.theirs is not None else 0) + sum(map(len, filter(None, one.vectors)))


def _node_of(one: Incoming) -> Ref | None:
    put = None if one.theirs is None else one.theirs.put
    return Ref(label=put.label, id=put.id) if isinstance(put, PutNode) else None


def _memory_of(one: Incoming) -> Ref | None:
    """Return the memory that may be active once this came in."""
    ref = _node_of(one)
    is_one = ref is not None and ref.label is Label.MEMORY
    return ref if is_one and one.theirs is not None and one.theirs.put.props.get("status") == Status.ACTIVE else None


def _is_hidden(row: StrandRow, hidden: PrivateSessions) -> bool:
    put = row.put
    if not isinstance(put, PutNode):
        return False
    scope, name = str(put.props.get("scope") or GLOBAL_SCOPE), str(put.props.get("session") or "")
    name = name_of_session(scope, put.id) if put.label is Label.SESSION else name
    return hidden.hold(name)


def _holds_on(batch: Mapping[Key, StrandRow | None], holder: Ref, scope: str, name: str) -> bool:
    """Return whether a memory still holds a name once a batch is in."""
    key = node_key(holder.label, holder.id)
    if key not in batch:
        return True
    row = batch[key]
    props = {} if row is None else row.put.props
    return (props.get("status"), props.get("scope"), props.get("name")) == (Status.ACTIVE, scope, name)


def _apart(name: str, ident: str) -> str:
    return name if name.endswith(f"-{ident[-6:]}") else f"{name}-{ident[-6:]}"


def write_node(before: StrandRow | None, after: StrandRow, vectors: Mapping[str, bytes | None]) -> Iterator[Operation]:
    """Yield the operations that turn a node and its passages from `before` into what a strand's `after` says."""
    put = after.put
    assert isinstance(put, PutNode)
    former = {} if before is None else dict.fromkeys(before.put.props)
    yield replace(put, props={**former, **put.props})
    held = () if before is None else before.texts
    owner = Ref(label=put.label, id=put.id)
    for number, text in enumerate(after.texts):
        if number >= len(held) or held[number] != text:
            yield PutPassage(id=f"{put.id}#{number}", number=0, owner=owner, text=text, vector=vectors.get(text))
    for number in range(len(after.texts), len(held)):
        yield DropPassage(id=f"{put.id}#{number}")


def held_rows(journal: Journal, keys: Sequence[Key]) -> dict[Key, StrandRow | None]:
    """Return the strand row that a store holds under each key, None for nothing."""
    with journal.snapshot() as (_, held):
        return {key: _held(held, key) for key in keys}


def _held(state: Snapshot, key: Key) -> StrandRow | None:
    if key[0] == "0":
        ref = Ref.of(key[1], key[2])
        node = state.held(DropNode(label=ref.label, id=ref.id))
        return row_of(node, state.texts_of(ref)) if isinstance(node, PutNode) else None
    source, target = (Ref.of(key[at], key[at + 1]) for at in (2, 4))
    edge = state.held(DropEdge(type=Relation(key[1]), source=source, target=target))
    if not isinstance(edge, PutEdge):
        return None
    node = state.held(DropNode(label=source.label, id=source.id))
    return row_of(edge, scope=str(node.props.get("scope") or "") if isinstance(node, PutNode) else "")
