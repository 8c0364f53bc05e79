"""A small world for recall tests: real catalogue, projection and recaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from helix.errors import GraphUnavailableError
from helix.model.edge import Ref, Relation
from helix.model.entity import Entity, EntityKind, entity_id
from helix.model.episode import Episode
from helix.model.memory import Kind, Memory
from helix.model.operations import DropEdge, Operation, PutEdge, PutPassage, drop_of
from helix.model.records import Node, label_of, node_from, put_record
from helix.providers.fakes import HashEmbedder
from helix.providers.reranker import Reranker
from helix.recall.pipeline import Recaller
from helix.settings import Settings
from helix.store.catalogue import Catalogue
from helix.store.projection import Projection

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DIMENSION = 32


def unit(vector: Sequence[float] | npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Return the vector as float32 of unit length."""
    values = np.asarray(vector, np.float64)
    return (values / np.linalg.norm(values)).astype(np.float32)


class NoIndex:
    """A vector index that is being rebuilt."""

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        raise GraphUnavailableError("the graph is being rebuilt")


@dataclass(frozen=True)
class HeldRecords:
    """The nodes, passages and edges of a world."""

    held: Mapping[Ref, Node]
    texts: Mapping[int, str]
    drawn: Mapping[object, PutEdge]

    def present(self, refs: Sequence[Ref]) -> list[Node | None]:
        return [self.held.get(ref) for ref in refs]

    def passage_texts(self, numbers: Sequence[int]) -> list[str]:
        return [self.texts[number] for number in numbers]

    def edges(self, wanted: Sequence[DropEdge]) -> list[PutEdge | None]:
        return [self.drawn.get(edge) for edge in wanted]


@dataclass
class World:
    """Nodes, passages and edges, and the recaller over them."""

    operations: list[Operation] = field(default_factory=list)
    nodes: dict[Ref, Node] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)

    def put(self, node: Node, *texts: str, embedded: bool = True) -> Ref:
        """Add a node and its passages."""
        operation = put_record(node)
        ref = Ref(label=label_of(node), id=node.id)
        self.nodes[ref] = node_from(ref.label, ref.id, operation.props)
        self.operations.append(operation)
        for text in texts:
            number = len(self.texts) + 1
            self.texts[number] = text
            vector = HashEmbedder(DIMENSION).embed([text])[0].tobytes() if embedded else None
            self.operations.append(
                PutPassage(id=f"passage-{number}", number=number, owner=ref, text=text, vector=vector)
            )
        return ref

    def memory(self, node_id: str, text: str, kind: Kind = Kind.FACT, **values: object) -> Ref:
        """Add a memory whose trigger is the text."""
        fields: dict[str, object] = {"recorded_at": NOW, "name": node_id, "resolution": ""}
        made = Memory(id=node_id, kind=kind, trigger=text, **{**fields, **values})  # type: ignore[arg-type]
        return self.put(made, text)

    def episode(self, node_id: str, *texts: str, **values: object) -> Ref:
        """Add an episode of one passage for each text."""
        fields: dict[str, object] = {"recorded_at": NOW, "occurred_at": NOW, "content": "\n".join(texts)}
        return self.put(Episode(id=node_id, **{**fields, **values}), *texts)  # type: ignore[arg-type]

    def entity(self, name: str, kind: EntityKind = EntityKind.FILE) -> Ref:
        """Add an entity."""
        return self.put(Entity(id=entity_id(kind, name), kind=kind, name=name))

    def edge(self, source: Ref, target: Ref, kind: Relation, weight: float = 1.0) -> None:
        """Add an edge."""
        self.operations.append(PutEdge(type=kind, source=source, target=target, props={"weight": weight}))

    def catalogue(self, dimension: int = DIMENSION) -> Catalogue:
        """Return the catalogue of what was added."""
        made = Catalogue(dimension)
        made.load(self.operations)
        return made

    def projection(self, catalogue: Catalogue) -> Projection:
        """Return the graph of what was added."""
        made = Projection()
        made.load(self.operations, catalogue)
        return made

    def recaller(
        self, *, model: bool = True, settings: Settings | None = None, reranker: Reranker | None = None
    ) -> Recaller:
        """Return a recaller over what was added, with or without an embedding model and a cross-encoder."""
        catalogue = self.catalogue()
        embedder = HashEmbedder(DIMENSION)

        def embed(text: str) -> npt.NDArray[np.float32]:
            vector: npt.NDArray[np.float32] = embedder.embed([text])[0]
            return vector

        drawn = {drop_of(op): op for op in self.operations if isinstance(op, PutEdge)}
        return Recaller(
            catalogue=catalogue,
            projection=self.projection(catalogue),
            vectors=NoIndex(),
            records=HeldRecords(self.nodes, self.texts, drawn),
            embed=embed if model else None,
            reranker=reranker,
            clock=lambda: NOW,
            settings=settings or Settings(),
        )
