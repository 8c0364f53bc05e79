"""Graph questions: read-only Cypher from outside, gated and within limits, and what graph algorithms answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helix.errors import InvalidInputError, NotFoundError
from helix.graph import cypher_gate
from helix.graph.analytics import MOST_STEPS
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import Entity
from helix.model.episode import Episode
from helix.model.graph_answers import CentralNode, Community, GraphEdge, GraphNode, GraphPath, NearNode, Neighbourhood
from helix.model.memory import Memory, Status
from helix.model.records import Node
from helix.model.reflection import Reflection
from helix.model.reports import CypherResult, GraphTable
from helix.store.store import Store

# How far beyond the set row limit a caller may go by asking for it.
_MOST_TIMES_THE_ROWS = 100
_TITLE = 80
_MEMBERS = 25
_KINDS = {"NODE": "node", "REL": "relationship"}


def cypher(
    store: Store, query: str, params: Mapping[str, Any] | None, timeout_ms: int | None, limit: int | None
) -> CypherResult:
    """Run a statement; raises CypherRefusedError, QueryTimeoutError, InvalidInputError, GraphUnavailableError."""
    settings = store.runtime.settings
    timeout = min(settings.cypher_timeout_ms if timeout_ms is None else timeout_ms, settings.request_timeout_ms)
    rows = min(settings.cypher_rows if limit is None else limit, _MOST_TIMES_THE_ROWS * settings.cypher_rows)
    if timeout < 1 or rows < 1:
        raise InvalidInputError("the time and row limits must be above 0")
    statement = cypher_gate.check(query)
    values = cypher_gate.bind(statement, params or {})
    started = time.perf_counter()
    columns, found, more = store.graph.ask("cypher", timeout / 1000, text=statement, params=values, limit=rows)
    return CypherResult(
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in found),
        truncated=more,
        elapsed_ms=1000 * (time.perf_counter() - started),
    )


def graph_schema(store: Store) -> list[GraphTable]:
    """Return the labels and relationships of the graph with their properties."""
    return [
        GraphTable(name=name, kind=_KINDS.get(kind, kind.lower()), properties=tuple(properties))
        for name, kind, properties in store.graph.ask("tables", store.runtime.settings.request_timeout_ms / 1000)
    ]


def neighbourhood(store: Store, ref: Ref, *, steps: int, scope: str | None, limit: int) -> Neighbourhood:
    """Return what lies within 1 to 3 steps of a node; raises InvalidInputError or NotFoundError."""
    if not 1 <= steps <= MOST_STEPS:
        raise InvalidInputError(f"steps must be 1 to {MOST_STEPS}, not {steps}")
    found = _ask(store, "near", label=ref.label.value, node=ref.id, steps=steps, scope=scope or "", limit=limit)
    near = {_ref(place): int(away) for *place, away in found["nodes"]}
    named = _named(store, [ref, *near])
    if ref not in named:
        raise NotFoundError(f"there is no {ref.label} {ref.id}")
    return Neighbourhood(
        centre=named[ref],
        nodes=tuple(NearNode(node=named[one], steps=away) for one, away in near.items() if one in named),
        edges=_edges(found["edges"], named),
        truncated=bool(found["more"]),
    )


def path(store: Store, source: Ref, target: Ref, *, scope: str | None) -> GraphPath:
    """Return a shortest path of at most 8 steps between two nodes; an empty one where there is none."""
    ends = {"source": (source.label.value, source.id), "target": (target.label.value, target.id)}
    found = _ask(store, "path", **ends, scope=scope or "")
    places = [_ref(place) for place in found["nodes"]]
    named = _named(store, places)
    if any(one not in named for one in places):
        return GraphPath(nodes=(), edges=())
    return GraphPath(nodes=tuple(named[one] for one in places), edges=_edges(found["edges"], named))


def communities(store: Store, *, scope: str | None, least: int, limit: int) -> list[Community]:
    """Return the largest communities of what is active in a scope and `global`, or everywhere."""
    if least < 2:
        raise InvalidInputError("a community has at least 2 nodes")
    found = _ask(store, "communities", scope=scope or "", least=least, limit=limit, most=_MEMBERS)
    named = _named(store, [_ref(place) for _, members in found for place in members])
    return [
        Community(size=size, nodes=tuple(named[ref] for ref in map(_ref, members) if ref in named))
        for size, members in found
    ]


def centrality(store: Store, *, scope: str | None, labels: Sequence[Label], limit: int) -> list[CentralNode]:
    """Return the nodes of greatest PageRank among what is active in a scope and `global`, or everywhere."""
    found = _ask(store, "centrality", scope=scope or "", labels=[label.value for label in labels], limit=limit)
    named = _named(store, [_ref(place) for *place, _ in found])
    return [CentralNode(node=named[ref], rank=float(rank)) for *place, rank in found if (ref := _ref(place)) in named]


def _ask(store: Store, question: str, **named: Any) -> Any:
    return store.graph.ask(question, store.runtime.settings.request_timeout_ms / 1000, **named)


def _ref(place: Sequence[str]) -> Ref:
    return Ref(label=Label(place[0]), id=place[1])


def _named(store: Store, refs: Iterable[Ref]) -> dict[Ref, GraphNode]:
    """Return what is called what; a node that went since the graph was asked is left out."""
    wanted = list(dict.fromkeys(refs))
    held = zip(wanted, store.records.present(wanted), strict=True)
    return {
        ref: GraphNode(ref=ref, title=title(node), scope=node.scope, said_by=getattr(node, "said_by", ""))
        for ref, node in held
        if node is not None
    }


def _edges(found: Iterable[Any], named: Mapping[Ref, GraphNode]) -> tuple[GraphEdge, ...]:
    edges = (
        GraphEdge(type=Relation(kind), source=_ref(source), target=_ref(target), weight=float(weight))
        for kind, source, target, weight in found
    )
    return tuple(edge for edge in edges if edge.source in named and edge.target in named)


def title(node: Node) -> str:
    """Return what a node is called: its name, or how its text begins; of what is quarantined neither."""
    if getattr(node, "status", None) is Status.QUARANTINED:
        return "(quarantined)"
    match node:
        case Memory() | Entity():
            return node.name
        case Episode():
            text = node.content
        case Reflection():
            text = node.insight
        case _:
            text = getattr(node, "objective", "") or getattr(node, "trigger", "") or node.id
    line = " ".join(text.strip().partition("\n")[0][: 4 * _TITLE].split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"
