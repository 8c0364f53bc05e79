"""Erased here: what of a strand belongs to what was erased or is private in this store, and is not taken in.

The machine that left it did not know of an erasure yet. Once it does, it erases the same (`hard_forget.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from helix.journal.erase import NAMES_ONLY
from helix.memory.change.versions import is_succession
from helix.memory.erasure.hard_forget import MADE_OF_WORDS, RESTS_ON
from helix.memory.extraction.excluded import Erased, erased_by, is_gone, tombstones
from helix.model.edge import Ref, Relation
from helix.model.operations import PutEdge, PutNode
from helix.model.provenance import STRANGERS
from helix.model.records import Node, edge_from, node_from, put_record
from helix.model.tombstone import ERASED_SOURCE
from helix.store.store import Store
from helix.strands.lineage import SHORT, Known
from helix.strands.rows import Key, Selection, StrandRow, node_key, row_digest, row_of


@dataclass(slots=True)
class ErasedHere:
    """Looks at the rows of a strand; `belonging` tells what is to be `silent` when they are read once more."""

    store: Store
    within: Selection
    silent: frozenset[Ref] = frozenset()
    """What is not taken in."""
    _private: set[Ref] = field(default_factory=set)
    _named: dict[Ref, bool] = field(default_factory=dict)
    _gone: set[Ref] = field(default_factory=set)
    _versions: defaultdict[Ref, set[Ref]] = field(default_factory=lambda: defaultdict(set))
    _contrary: set[frozenset[Ref]] = field(default_factory=set)
    _made: set[Ref] = field(default_factory=set)
    _resting: set[Ref] = field(default_factory=set)
    _founded: set[Ref] = field(default_factory=set)
    _again: dict[Ref, Node] = field(default_factory=dict)
    _erased: Erased = field(init=False)
    _unknown: dict[Key, Node] = field(init=False)

    def __post_init__(self) -> None:
        shared = (node for node in tombstones(self.store.index) if self.within.holds(node.id, node.scope))
        self._unknown = {node_key(node.ref.label, node.id): node for node in shared}
        self._erased = erased_by(self._unknown.values())

    def note_there(self, known: Known) -> None:
        """Note what the other side holds: of a tombstone that it has, too, it says nothing that it does not mean to."""
        node = self._unknown.get(known.key)
        if node is not None and row_digest(row_of(put_record(node)).line())[:SHORT] == known.digest:
            del self._unknown[known.key]

    def note_private(self, row: StrandRow) -> None:
        """Note a row of a session that is private here: what rests on that alone belongs to it."""
        assert isinstance(row.put, PutNode)
        self._private.add(Ref(label=row.put.label, id=row.put.id))

    def keeps_out(self, row: StrandRow) -> bool:
        """Return whether a strand's row is of what is silent, or is an edge at what was erased here.

        Of what was planned and done an edge says something still.
        """
        put = row.put
        if isinstance(put, PutNode):
            ref = Ref(label=put.label, id=put.id)
            if put.props.get("extractor") in MADE_OF_WORDS:
                self._made.add(ref)
            if self._erased and not row.is_erased and self._erased.is_read_again(node := _read(put)):
                self._again[ref] = node
            return ref in self.silent and not row.is_erased
        gone, target_gone = self._is_gone(put.source), self._is_gone(put.target)
        self._note(put, gone, target_gone)
        return gone or target_gone

    def belonging(self) -> frozenset[Ref]:
        """Return what is not here and belongs to what was erased, by the rows that were read; empty where all is known.

        That is the versions of what was erased for what it says, what was read anew of the same, what rests on it alone
        or was made of its words, and names that nothing else speaks of.
        """
        return frozenset(ref for ref in self._found() if ref not in self.store.index and ref not in self.silent)

    def _found(self) -> Iterator[Ref]:
        seen, ahead = set(self._gone), list(self._gone)
        while ahead:
            here = ahead.pop()
            versions = {one for one in self._versions[here] if frozenset((here, one)) not in self._contrary}
            fresh = {one for one in versions - seen if one not in self.store.index}
            seen |= fresh
            ahead += fresh
        erased = erased_by(self._unknown.values())
        yield from seen
        yield from (ref for ref, node in self._again.items() if erased.is_read_again(node))
        yield from (ref for ref in self._resting if ref in self._made or ref not in self._founded)
        yield from (ref for ref, told in self._named.items() if not told)

    def _note(self, put: PutEdge, source_gone: bool, target_gone: bool) -> None:
        source, target = put.source, put.target
        if target.label in NAMES_ONLY:
            self._named[target] = self._named.get(target, False) or not source_gone
        if put.type is RESTS_ON.get(source.label):
            beside = target in self._again and source not in self._made  # it was read beside what was erased, and stays
            (self._resting if target_gone and not beside else self._founded).add(source)
        if put.type is Relation.CONTRADICTS:
            self._contrary.add(frozenset((source, target)))
        elif is_succession(edge_from(put)):
            self._versions[source].add(target)
            self._versions[target].add(source)
            self._gone |= {
                ref for ref, gone in ((source, source_gone), (target, target_gone)) if gone and self._says(ref)
            }

    def _says(self, ref: Ref) -> bool:
        """Return whether a memory was erased for what it says: its versions go with it, else what a person made of it
        stays."""
        row = self.store.index.row_of(ref)
        return row is not None and self.store.index.source_of(row).startswith(ERASED_SOURCE)

    def _is_gone(self, ref: Ref) -> bool:
        return ref in self.silent or ref in self._private or is_gone(self.store, ref)


def _read(put: PutNode) -> Node:
    """Return the node of a row, by the source that it has where it comes from."""
    source = str(put.props.get("source") or "").removeprefix(STRANGERS)
    return node_from(put.label, put.id, {**put.props, "source": source} if source else put.props)
