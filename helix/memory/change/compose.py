"""Composing changes: turns domain objects and their texts into the operations of one change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from helix.model.edge import Edge, Ref, Relation
from helix.model.entity import Entity, EntityKind, Mention, entity_id
from helix.model.episode import Episode, Session, session_id
from helix.model.memory import Memory
from helix.model.operations import Change, DropEdge, DropPassage, Operation, PutNode, PutPassage, Scalar
from helix.model.provenance import STRANGERS, Provenance, is_hand_written
from helix.model.records import Node, flatten, label_of, put_edge, put_record
from helix.store.store import Store
from helix.text.about import ABOUT_KINDS, about, ruled
from helix.text.chunks import chunks
from helix.text.path_patterns import canonical_path
from helix.text.secrets.redact import without_markers
from helix.text.spotting.entities import mentions
from helix.text.statement.subjects import subject_key, subjects
from helix.text.tokens import lexical_tokens

ABOUT = 30.0
"""How much more an edge to an entity weighs from a text that is about it than from one that mentions it.

Two-hop questions name one thing and ask for what another is: the walk has to get from the entity to the passage that
tells what it is, past all that only mention it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadText:
    """What is read in a redacted text, once: its pieces, the tokens of each, joined by blanks, and what it mentions."""

    pieces: tuple[str, ...]
    tokens: tuple[str, ...]
    mentions: tuple[Mention, ...]

    @classmethod
    def of(cls, text: str, files: Sequence[str] = ()) -> ReadText:
        """Read a changed node's redacted text into passages and mentions; the files it is about are the first."""
        pieces = tuple(chunks(text))
        tokens = tuple(" ".join(lexical_tokens(piece)) for piece in pieces)
        return cls(pieces=pieces, tokens=tokens, mentions=spoken_of(text, files))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared(ReadText):
    """A text made ready outside the writer: what was read in it, and its pieces' vectors (None without a model)."""

    vectors: tuple[bytes | None, ...]


def prepare(store: Store, readings: Sequence[ReadText], given: Sequence[bytes | None] | None = None) -> list[Prepared]:
    """Embed a text's passages; the slow part of a write, done before the writer is asked.

    `given` holds vectors made elsewhere, None for the texts that have none; one is taken for a text of one piece.
    """
    known = [
        vector if len(one.pieces) == 1 else None
        for one, vector in zip(readings, given or [None] * len(readings), strict=True)
    ]
    lacking = [piece for one, vector in zip(readings, known, strict=True) if vector is None for piece in one.pieces]
    made = iter(store.embed(lacking))
    return [
        Prepared(
            pieces=one.pieces,
            tokens=one.tokens,
            mentions=one.mentions,
            vectors=(vector,) if vector is not None else tuple(next(made) for _ in one.pieces),
        )
        for one, vector in zip(readings, known, strict=True)
    ]


def unembedded(reading: ReadText) -> Prepared:
    """Return a text's passages as written without vectors: words find them at once, vectors are filled in later."""
    return Prepared(
        pieces=reading.pieces,
        tokens=reading.tokens,
        mentions=reading.mentions,
        vectors=(None,) * len(reading.pieces),
    )


def spoken_of(text: str, files: Sequence[str] = ()) -> tuple[Mention, ...]:
    """Return the entities that a memory's redacted text mentions, the files given first."""
    return mentions(without_markers(text), files=files)


class Composer:
    """Collects the operations of one change; used on the writer's thread, where numbers and rows are settled."""

    def __init__(self, store: Store, now: datetime) -> None:
        self._store = store
        self._numbers = count(store.catalogue.next_passage_number)
        self._entities: set[str] = set()
        self._sessions: set[str] = set()
        self._names: set[tuple[str, str]] = set()
        self._operations: list[Operation] = []
        self.now = now

    def new_id(self) -> str:
        """Return an id for something new in the change."""
        return self._store.runtime.make_id(self.now)

    def change(self, kind: str, **note: Scalar) -> Change:
        """Return what was collected as one change, and start afresh."""
        operations, self._operations = tuple(self._operations), []
        return Change(kind=kind, operations=operations, note=note)

    @property
    def pending(self) -> Sequence[Operation]:
        """What was collected by now."""
        return self._operations

    def add(self, operations: Iterable[Operation]) -> None:
        """Take operations into the change as they are, passages under new numbers."""
        for op in operations:
            self._operations.append(replace(op, number=next(self._numbers)) if isinstance(op, PutPassage) else op)

    def name(self, scope: str, wanted: str) -> str:
        """Return `wanted`, or `wanted-2`, `-3` and so on where an active memory of the scope has it.

        Of very many that want one name each would try all numbers before its own, so numbers are tried by doubling.
        """

        def numbered(number: int) -> str:
            return wanted if number == 1 else f"{wanted}-{number}"

        def taken(number: int) -> bool:
            key = (scope, numbered(number))
            return key in self._names or self._store.index.named(*key) is not None

        below, free = 0, 1
        while taken(free):
            below, free = free, free * 2
        while free - below > 1:
            between = (below + free) // 2
            below, free = (between, free) if taken(between) else (below, between)
        self._names.add((scope, numbered(free)))
        return numbered(free)

    def node(self, node: Node) -> Ref:
        """Write a node; a memory with the commands and errors that it is about, by which it is found exactly."""
        self._operations.append(put_record(node))
        ref = Ref(label=label_of(node), id=node.id)
        if isinstance(node, Memory) and node.kind in ABOUT_KINDS:
            self.mentions(ref, node.scope, about(node.trigger, node.attributes), node.provenance)
        if isinstance(node, Memory) and is_hand_written(node.provenance):
            self.mentions(ref, node.scope, ruled(f"{node.trigger}\n{node.resolution}"), node.provenance)
        return ref

    def patch(self, ref: Ref, **fields: object) -> None:
        """Add to the change that some properties of a node are overwritten."""
        props = {name: flatten(value) for name, value in fields.items()}
        self._operations.append(PutNode(label=ref.label, id=ref.id, props=props))

    def edge(
        self,
        kind: Relation,
        source: Ref,
        target: Ref,
        *,
        weight: float = 1.0,
        relation: str = "",
        provenance: Provenance | None = None,
    ) -> None:
        """Write an edge."""
        self.put_edge(
            Edge(
                type=kind,
                source=source,
                target=target,
                created_at=self.now,
                weight=weight,
                relation=relation,
                provenance=provenance or Provenance(),
            )
        )

    def put_edge(self, edge: Edge) -> None:
        """Write an edge as it stands; none from a node to itself, which is what is left of two that became one.

        What this store draws is its own finding, also of what a stranger's strand told.
        """
        if edge.source != edge.target:
            told = edge.provenance
            if told.slice.startswith(STRANGERS):
                edge = replace(edge, provenance=replace(told, slice=told.slice.removeprefix(STRANGERS)))
            self._operations.append(put_edge(edge))

    def passages(self, owner: Ref, prepared: Prepared) -> None:
        """Make the owner findable by its text, as a part of the change."""
        parts = zip(prepared.pieces, prepared.tokens, prepared.vectors, strict=True)
        for index, (text, tokens, vector) in enumerate(parts):
            name, number = f"{owner.id}#{index}", next(self._numbers)
            self._operations.append(
                PutPassage(id=name, number=number, owner=owner, text=text, vector=vector, tokens=tokens)
            )

    def drop_edge(self, kind: Relation, source: Ref, target: Ref) -> None:
        """Remove an edge if it is there."""
        self._operations.append(DropEdge(type=kind, source=source, target=target))

    def join(self, episode: Episode, ref: Ref, before: Ref | None) -> None:
        """Place an episode in its session, behind the one before it."""
        session = Ref.session(session_id(episode.scope, episode.session))
        if session.id not in self._sessions and session not in self._store.index:
            self._sessions.add(session.id)
            started = episode.occurred_at
            self.node(Session(id=session.id, scope=episode.scope, agent=episode.agent, started_at=started))
        self.edge(Relation.IN_SESSION, ref, session)
        if before is not None:
            self.edge(Relation.NEXT, before, ref)

    def silence(self, owner: Ref) -> None:
        """Make the owner unfindable, as a part of the change; the node stays."""
        index = self._store.index
        row = index.row_of(owner)
        if row is not None:
            pieces = len(index.pieces_of([row]))
            self._operations.extend(DropPassage(id=f"{owner.id}#{number}") for number in range(pieces))

    def mentions(
        self, source: Ref, scope: str, found: Iterable[Mention], provenance: Provenance, *, opening: str = ""
    ) -> None:
        """Link the source to the entities it mentions, ABOUT times as strongly to those that its opening is about.

        The slice they came from is told by the source itself.
        """
        plain = Provenance(extractor=provenance.extractor, trust=provenance.trust)
        own = subjects(opening)
        for mention in found:
            weight = ABOUT if subject_key(mention.name) in own else 1.0
            self.edge(Relation.MENTIONS, source, self.entity(mention, scope), weight=weight, provenance=plain)

    def touches(self, source: Ref, scope: str, files: Iterable[str], provenance: Provenance) -> None:
        """Link the source to the files it is about, as a part of the change."""
        plain = Provenance(extractor=provenance.extractor, trust=provenance.trust)
        for path in files:
            target = self.entity(Mention(kind=EntityKind.FILE, name=canonical_path(path)), scope)
            self.edge(Relation.TOUCHES, source, target, provenance=plain)

    def entity(self, mention: Mention, scope: str) -> Ref:
        """Return the entity, writing it where it is new."""
        ref = Ref.entity(entity_id(mention.kind, mention.name, scope))
        if ref.id not in self._entities and ref not in self._store.index:
            self._entities.add(ref.id)
            self._operations.append(put_record(Entity(id=ref.id, kind=mention.kind, name=mention.name, scope=scope)))
        return ref
