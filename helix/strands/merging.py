"""Merging: takes the rows of a strand into a store, three ways, by the last version that both sides have held.

Of each row three things are known: what it is here, what it is there, and whether it is still what it was at the common
version. What one side alone has changed is taken from that side; what both have changed is joined (`join.py`). Nothing
is dropped but what one side dropped after the common version and the other has left alone since. What was erased on
either side is erased on both. Then the memories that came in meet those that are here (`meeting.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from helix.errors import ConflictError, InvalidInputError
from helix.journal.log import Journal
from helix.journal.state import Snapshot
from helix.memory.capture.sessions import PrivateSessions, name_of_session, private_sessions
from helix.memory.change.compose import Composer
from helix.memory.erasure.stored_secrets import texts_of
from helix.memory.job_run.run import Watch
from helix.model.edge import OPEN_RELATIONS, Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import GLOBAL_SCOPE, Memory, Status
from helix.model.operations import DropEdge, DropNode, DropPassage, Operation, PutEdge, PutNode, PutPassage, drop_of
from helix.model.provenance import STRANGERS, Provenance, Trust
from helix.model.records import node_from
from helix.store.store import Store
from helix.store.writer import Decision
from helix.strands.erased_here import ErasedHere
from helix.strands.join import ended_last, joined_row, stood_for
from helix.strands.lineage import SHORT, Known
from helix.strands.reading import StrandEntry
from helix.strands.received import COUNTED, Received, Signer
from helix.strands.rows import Key, Selection, StrandRow, in_batches, paired_rows, row_digest, row_of

KIND = "strand"
"""The kind of the changes that a merge makes."""
MOST_EXAMPLES = 50
_PLURALS = {"Memory": "memories", "Entity": "entities"}
_BELIEVED = ("trust", "confidence", "status")
_WORDS = ("trigger", "resolution")
_TOLD = frozenset({*OPEN_RELATIONS, Relation.MENTIONS, Relation.TOUCHES, Relation.CITES}).difference(
    {Relation.SUPERSEDES, Relation.CONTRADICTS}
)
"""Edges that change nothing of what they lead to. Any other is drawn by nobody to what is believed more than they are,
and none at all from there."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A row of the other side (None: it has none) with its digest there, and its digest at the common version.

    `base` is None where the row was not there, or no common version is known.
    """

    key: Key
    theirs: StrandRow | None
    base: bytes | None
    of_theirs: bytes | None = None
    vectors: tuple[bytes | None, ...] = ()


def side_by_side(
    theirs: Iterable[StrandEntry], base: Iterable[Known], *, partial: bool, keep: Callable[[Known], object]
) -> Iterator[Incoming]:
    """Yield every strand row that the other side of a merge has or had; both come in the order of their keys.

    `partial`: the other side says only what it changed since the common version. `keep` is given what it holds by now.
    """
    for entry, known in paired_rows(theirs, base):
        if entry is not None:
            if entry.digest is not None:
                keep(Known(entry.key, entry.digest))
            was = None if known is None else known.digest
            yield Incoming(entry.key, entry.row, was, entry.digest, entry.vectors)
        elif known is not None and partial:
            keep(known)
        elif known is not None:
            yield Incoming(known.key, None, known.digest)


def completed(
    theirs: Iterable[StrandEntry], before: Iterable[Known], keep: Callable[[Known], object]
) -> Iterator[StrandEntry]:
    """Yield every strand row of the other side, told what changed since `before`; `keep` is given all it has."""
    for one in side_by_side(theirs, before, partial=True, keep=keep):
        yield StrandEntry(one.key, one.theirs, one.of_theirs, one.vectors)


def _is_settled(other: Incoming) -> bool:
    """Return whether a row is there as it was at the common version, and so stays here what it is here."""
    return not (other.theirs is not None and other.theirs.is_erased) and _is_unchanged(other)


def _is_unchanged(other: Incoming) -> bool:
    return other.base is not None and other.of_theirs is not None and other.of_theirs[:SHORT] == other.base


def merged(mine: StrandRow | None, other: Incoming, signer: Signer) -> StrandRow | None:
    """Return the row that a strand's three-way merge comes to; None where neither side has it any more."""
    theirs = other.theirs
    if theirs is not None and mine is not None and not signer.is_own:
        theirs = _as_here(theirs, mine)
    if mine == theirs:
        return mine
    unchanged_there = _is_unchanged(other)
    if mine is None:
        return None if unchanged_there and theirs is not None and not theirs.is_erased else theirs
    unchanged_here = other.base is not None and row_digest(mine.line())[:SHORT] == other.base
    if theirs is None:
        return _dropped(mine) if unchanged_here and signer.is_own and not mine.is_erased else mine
    if _is_believed_more(mine, signer):
        return mine  # nobody changes what is believed more than they are
    if mine.is_erased or theirs.is_erased or not (unchanged_here or unchanged_there):
        both = joined_row(mine, theirs)
        own = stood_for(ended_last(both, mine, theirs), mine, theirs) if signer.is_own else None
        return own or _held_on(_earned(both, mine, theirs), mine, theirs)
    return theirs if unchanged_here else mine


def _dropped(mine: StrandRow) -> StrandRow | None:
    """Return what stays of a row that the person's other machine dropped: of their own words a forgotten memory.

    That machine has taken back what came in there, and it may have come from here.
    """
    put = mine.put
    if not isinstance(put, PutNode) or put.label is not Label.MEMORY or _rank(mine) > Trust.USER_ASSERTED.rank:
        return None
    if put.props.get("status") != Status.ACTIVE:
        return None  # kept on one machine alone, the two would never come to the same
    return replace(mine, put=replace(put, props={**put.props, "status": Status.FORGOTTEN.value}))


def _earned(both: StrandRow, mine: StrandRow, theirs: StrandRow) -> StrandRow:
    """Return a row without what its words here have earned, where others made other words of them."""
    said = [[row.put.props.get(name) for name in _WORDS] for row in (both, mine)]
    return both if said[0] == said[1] else _with(both, theirs, COUNTED)


def _held_on(both: StrandRow, *sides: StrandRow) -> StrandRow:
    """Return a row as quarantined where one of its sides is: the words that are held may stand in it still."""
    if both.is_erased or all(one.put.props.get("status") != Status.QUARANTINED for one in sides):
        return both
    return replace(both, put=replace(both.put, props={**both.put.props, "status": Status.QUARANTINED.value}))


def _is_believed_more(mine: StrandRow, signer: Signer) -> bool:
    return not signer.is_own and signer.trust.rank > _rank(mine)


def _is_refused(mine: StrandRow | None, theirs: StrandRow | None, signer: Signer) -> bool:
    """Return whether the other side says otherwise of a row, or has ended it, and may not."""
    if mine is None or theirs is None or not _is_believed_more(mine, signer):
        return False
    return _says(mine) != _says(theirs)


def _says(row: StrandRow) -> object:
    """Return the words of a row and whether it holds, without what each store notes of it for itself."""
    props = row.put.props
    status = props.get("status")
    return row.texts, props.get("valid_to"), Status.ACTIVE if status == Status.QUARANTINED else status


def _as_here(theirs: StrandRow, mine: StrandRow) -> StrandRow:
    """Return a row with the source that it has here, and believed as here where it says nothing else.

    Others do not say what was taken from where. How far they believe what is here is theirs alone: it would come back
    with each of their strands.
    """
    row = _with(theirs, mine, ("source",))
    said = [{each.text for each in texts_of(one.put.props)} for one in (row, mine)]
    return _with(row, mine, _BELIEVED) if said[0] <= said[1] and _says(row) == _says(mine) else row


def _with(theirs: StrandRow, mine: StrandRow, names: Collection[str]) -> StrandRow:
    rest = {name: value for name, value in theirs.put.props.items() if name not in names}
    here = {name: value for name, value in mine.put.props.items() if name in names}
    return replace(theirs, put=replace(theirs.put, props={**rest, **here}))


def _rank(row: StrandRow) -> int:
    return Trust(str(row.put.props.get("trust", Provenance().trust))).rank


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
        self.erased = ErasedHere(self.store)

    def wanted(self, incoming: Iterable[Incoming], ticket: Watch, total: int) -> Iterator[list[Incoming]]:
        """Yield, in batches, a strand's rows that may change something, as they may be stored; nothing is written.

        Raises ConflictError where the job was asked to stop.
        """
        hidden, done = private_sessions(self.store.journal), 0
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
            coming = set(nodes)
            after = {one.key: merged(here[one.key], one, self.received.signer) for one in wanted}
            for one in wanted:
                self._row(composer, here[one.key], after, one.key, vectors, coming)
            return Decision((composer.change(KIND, job=self.job, step=step),) if composer.pending else (), None)

        self.store.writer.submit(decision)

    def _wanted(self, batch: Sequence[Incoming], hidden: PrivateSessions) -> list[Incoming]:
        found = []
        for one in batch:
            if one.theirs is not None:
                self._check_within(one.theirs)
                if _is_settled(one) or self.erased.keeps_out(one.theirs):
                    continue
                if _is_hidden(one.theirs, hidden):
                    self.counts["private"] += 1
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
        self.counts["changes refused"] += sum(_is_refused(here[one.key], one.theirs, signer) for one in kept)
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
        coming: set[Ref],
    ) -> None:
        after = batch[key]
        if after == mine:
            return
        if after is None:
            assert mine is not None
            composer.add([drop_of(mine.put)])
        elif isinstance(after.put, PutEdge):
            if not self._may_draw(after.put, mine, coming):
                self.counts["excluded"] += 1
                return
            composer.add([after.put])
        else:
            after = self._heard_once(composer, self._named(composer, after, batch))
            composer.add(write_node(mine, after, vectors))
        self._count(mine, after)

    def _may_draw(self, edge: PutEdge, mine: StrandRow | None, coming: set[Ref]) -> bool:
        """Return whether both ends are there, within what the merge may change, and not believed more than the signer.

        The last counts of where the edge starts, and of where it leads to if it changes anything there.
        """
        signer = self.received.signer
        for end in (edge.source, edge.target):
            if end in coming:
                continue
            if end not in self.store.index:
                return False
            tells = mine is None and end == edge.target and edge.type in _TOLD
            guarded = not signer.is_own and not tells
            if self.within.is_all and not guarded:
                continue
            (row,) = held_rows(self.store.journal, [("0", end.label.value, end.id)]).values()
            if not self._is_within(row) or (guarded and row is not None and signer.trust.rank > _rank(row)):
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
        return self.received.signer.is_own and (coming.recorded_at, coming.id) < (held.recorded_at, held.id)

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
    return bool(name) and hidden.hold(name)


def _holds_on(batch: Mapping[Key, StrandRow | None], holder: Ref, scope: str, name: str) -> bool:
    """Return whether a memory still holds a name once a batch is in."""
    key = ("0", holder.label.value, holder.id)
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
