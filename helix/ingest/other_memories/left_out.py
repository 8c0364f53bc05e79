"""Left out: what of an own export stays out of a store where something was erased, or a session is private."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from helix.journal.erase import NAMES_ONLY
from helix.memory.erasure.hard_forget import MADE_OF_WORDS, RESTS_ON
from helix.model.edge import Edge, Label, Ref
from helix.model.provenance import Provenance
from helix.model.records import Node, label_of


@dataclass(slots=True)
class LeftOut:
    """Takes every node and edge of an export once; then `belonging` adds what may not come in without the rest.

    `refs` stay out. Of `cut` the words that were erased stay out: what those name is read anew from what is left.
    """

    refs: set[Ref] = field(default_factory=set)
    cut: set[Ref] = field(default_factory=set)
    _made: set[Ref] = field(default_factory=set)
    _names: set[Ref] = field(default_factory=set)
    _grounds: defaultdict[Ref, list[Ref]] = field(default_factory=lambda: defaultdict(list))
    _speakers: defaultdict[Ref, list[Ref]] = field(default_factory=lambda: defaultdict(list))

    def node(self, node: Node, *, stays_out: bool, is_cut: bool) -> None:
        """Note a node of the export."""
        ref = Ref(label=label_of(node), id=node.id)
        if stays_out:
            self.refs.add(ref)
        elif is_cut:
            self.cut.add(ref)
        if ref.label in NAMES_ONLY:
            self._names.add(ref)
        if getattr(node, "provenance", Provenance()).extractor in MADE_OF_WORDS:
            self._made.add(ref)

    def edge(self, edge: Edge) -> None:
        """Note an edge of the export."""
        if edge.type is RESTS_ON.get(edge.source.label):
            self._grounds[edge.source].append(edge.target)
        for name, other in ((edge.target, edge.source), (edge.source, edge.target)):
            if name.label in NAMES_ONLY:
                self._speakers[name] += [] if self.is_of_cut_words(edge) else [other]

    def is_of_cut_words(self, edge: Edge) -> bool:
        """Return whether an edge says what the words named before something was cut out of them."""
        return edge.source in self.cut and edge.target.label is Label.ENTITY

    def belonging(self) -> None:
        """Add what rests on nothing else or was made of its words by Helix, and names of which nothing else speaks."""
        grown = True
        while grown:
            resting = {ref for ref, grounds in self._grounds.items() if self._falls(ref, grounds)} - self.refs
            self.refs |= resting
            grown = bool(resting)
        self.refs |= {
            name for name, speakers in self._speakers.items() if name in self._names and self.refs.issuperset(speakers)
        }

    def _falls(self, ref: Ref, grounds: list[Ref]) -> bool:
        some = any if ref in self._made else all
        return some(ground in self.refs for ground in grounds)
