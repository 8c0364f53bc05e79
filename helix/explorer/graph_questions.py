"""Graph questions: read-only Cypher from outside, gated and within limits, and what graph algorithms answer.

And nodes by words of what they are called, whatever they are: for a field that finds everything.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, reduce
from heapq import nsmallest
from itertools import islice, starmap
from operator import and_
from typing import Any

from helix.errors import InvalidInputError, NotFoundError
from helix.explorer.graph_drawing import drawn_edges, drawn_nodes
from helix.graph import cypher_gate
from helix.graph.spring_layout import placed
from helix.memory.capture.sessions import session_name, told_sessions
from helix.model.edge import Label, Ref, Relation
from helix.model.graph_answers import (
    CentralNode,
    Community,
    CommunityInside,
    GraphEdge,
    GraphNode,
    GraphOverview,
    GraphPath,
    HeatedNode,
    NearNode,
    Neighbourhood,
    OverviewEdge,
    OverviewNode,
    Walk,
)
from helix.model.memory import Status
from helix.model.operations import DropEdge
from helix.model.reports import CypherResult, GraphTable
from helix.store.index import Rows, StoreIndex
from helix.store.nearby import edges_among, nodes_near
from helix.store.store import Store

# How far beyond the set row limit a caller may go by asking for it.
_MOST_TIMES_THE_ROWS = 100
_MEMBERS = 25
_MOST_STEPS, _MOST_EDGES = 3, 6_000
"""Of a neighbourhood."""
_IN_THE_MIDDLE, _NAMED_BY = 5, 3
"""Members of a community that an overview shows, and those that it is called by."""
_MOST_COMMUNITIES, MOST_INSIDE = 200, 1_000
"""Of an overview, and nodes of each that are shown from near."""
_KINDS = {"NODE": "node", "REL": "relationship"}


def cypher(
    store: Store, query: str, params: Mapping[str, Any] | None, timeout_ms: int | None, limit: int | None
) -> CypherResult:
    """Answer the explorer's or the shell's Cypher, read only.

    Raises CypherRefusedError, QueryTimeoutError, InvalidInputError, GraphUnavailableError.
    """
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


def neighbourhood(index: StoreIndex, ref: Ref, *, steps: int, scope: str | None, limit: int) -> Neighbourhood:
    """Return what the explorer draws within 1 to 3 steps of a node; raises InvalidInputError or NotFoundError."""
    if not 1 <= steps <= _MOST_STEPS:
        raise InvalidInputError(f"steps must be 1 to {_MOST_STEPS}, not {steps}")
    near, more = nodes_near(index, ref, steps=steps, scope=scope, limit=limit)
    named = drawn_nodes(index, [ref, *near])
    if ref not in named:
        raise NotFoundError(f"there is no {ref.label} {ref.id}")
    return Neighbourhood(
        centre=named[ref],
        nodes=tuple(NearNode(node=named[one], steps=away) for one, away in near.items() if one in named),
        edges=drawn_edges(index, edges_among(index, named, _MOST_EDGES), named),
        truncated=more,
    )


def path(store: Store, source: Ref, target: Ref, *, scope: str | None) -> GraphPath:
    """Return a shortest path of at most 8 steps between two nodes as the explorer draws it, or else an empty one."""
    ends = {"source": (source.label.value, source.id), "target": (target.label.value, target.id)}
    found = _ask(store, "path", **ends, scope=scope or "")
    places = list(starmap(Ref.of, found["nodes"]))
    named = drawn_nodes(store.index, places)
    if any(one not in named for one in places):
        return GraphPath(nodes=(), edges=())
    return GraphPath(nodes=tuple(named[one] for one in places), edges=_edges(store.index, found["edges"], named))


def walk(index: StoreIndex, heated: Sequence[tuple[Ref, float]]) -> Walk:
    """Return heated nodes of the graph as the explorer draws them, and the edges among them."""
    nodes = drawn_nodes(index, [ref for ref, _ in heated])
    found = tuple(HeatedNode(node=nodes[ref], heat=heat) for ref, heat in heated if ref in nodes)
    return Walk(nodes=found, edges=drawn_edges(index, edges_among(index, nodes), nodes))


def communities(store: Store, *, scope: str | None, least: int, limit: int) -> list[Community]:
    """Return the graph's largest communities of what is active in a scope and `global`, or everywhere."""
    if least < 2:
        raise InvalidInputError("a community has at least 2 nodes")
    found = _ask(store, "communities", scope=scope or "", least=least, limit=limit, most=_MEMBERS)
    named = drawn_nodes(store.index, [Ref.of(*place) for _, members in found for place in members])
    return [
        Community(size=size, nodes=tuple(named[ref] for ref in starmap(Ref.of, members) if ref in named))
        for size, members in found
    ]


def overview(store: Store, *, scope: str | None, limit: int) -> GraphOverview:
    """Return the graph's largest communities, active in a scope and `global`, or everywhere, as they are drawn.

    Where it takes long to find them, they may be those of some minutes ago; what they are called is as it is now.
    """
    found = _from_afar(store, scope)
    groups = found["groups"][:limit]
    links = [link for link in found["links"] if max(link[:2]) < len(groups)]
    named = drawn_nodes(store.index, [Ref.of(*place) for _, members in groups for place in members[:_IN_THE_MIDDLE]])
    ids = [_name_of(members) for _, members in groups]
    places = placed([size for size, _ in groups], links)
    nodes = []
    for ident, (size, members), (x, y, radius) in zip(ids, groups, places, strict=True):
        shown = tuple(named[ref] for ref in starmap(Ref.of, members[:_IN_THE_MIDDLE]) if ref in named)
        words = ", ".join(node.title for node in shown[:_NAMED_BY])
        nodes.append(OverviewNode(id=ident, title=words, size=size, x=x, y=y, radius=radius, members=shown))
    edges = (OverviewEdge(source=ids[one], target=ids[other], weight=count) for one, other, count in links)
    return GraphOverview(nodes=tuple(nodes), edges=tuple(edges), total_nodes=found["nodes"], total_edges=found["edges"])


def community(store: Store, ident: str, *, scope: str | None, limit: int) -> CommunityInside:
    """Return a community of an overview from near, as the explorer draws it; raises NotFoundError for an unknown id."""
    groups = {_name_of(members): (size, members) for size, members in _from_afar(store, scope)["groups"]}
    if ident not in groups:
        raise NotFoundError("there is no such community now", hint="the overview shows those that there are")
    size, members = groups[ident]
    named = drawn_nodes(store.index, starmap(Ref.of, members[:limit]))
    among = edges_among(store.index, named, _MOST_EDGES)
    return CommunityInside(size=size, nodes=tuple(named.values()), edges=drawn_edges(store.index, among, named))


def _from_afar(store: Store, scope: str | None) -> Any:
    """Return the largest communities, with the members shown of each; kept where it takes long to find them."""
    asked = partial(_ask, store, "overview", scope=scope or "", limit=_MOST_COMMUNITIES, most=MOST_INSIDE)
    return store.costly.of(("overview", scope), store.index.generation, store.journal.last_seq, asked)


def _name_of(members: Sequence[Sequence[str]]) -> str:
    return ":".join(members[0][:2])


def centrality(store: Store, *, scope: str | None, labels: Sequence[Label], limit: int) -> list[CentralNode]:
    """Return the graph's nodes of greatest PageRank among what is active in a scope and `global`, or everywhere."""
    found = _ask(store, "centrality", scope=scope or "", labels=[label.value for label in labels], limit=limit)
    named = drawn_nodes(store.index, [Ref.of(*place) for *place, _ in found])
    return [
        CentralNode(node=named[ref], rank=float(rank)) for *place, rank in found if (ref := Ref.of(*place)) in named
    ]


def _ask(store: Store, question: str, **named: Any) -> Any:
    return store.graph.ask(question, store.runtime.settings.request_timeout_ms / 1000, **named)


def _edges(index: StoreIndex, found: Iterable[Any], nodes: Mapping[Ref, GraphNode]) -> tuple[GraphEdge, ...]:
    edges = [
        DropEdge(type=Relation(kind), source=Ref.of(*source), target=Ref.of(*target))
        for kind, source, target, _ in found
    ]
    return drawn_edges(index, edges, nodes)


CALLED = (Label.MEMORY, Label.SESSION, Label.PLAN, Label.TASK, Label.ENTITY, Label.REFLECTION)
_MOST_WORDS = 16
_AT_ONCE = 1_000
"""Plans and tasks that are read together; and entities of which the shortest names are looked for."""


def nodes_called(store: Store, text: str, labels: Sequence[Label], limit: int) -> list[GraphNode]:
    """Return at most `limit` graph nodes of each label whose name has every word, label by label.

    A memory and an insight have it in their text, a plan and a task in the whole of their objective. Memories and
    insights that do not stand in recall are left out, as are private sessions. Without a word there are none.
    """
    words = text.casefold().split()[:_MOST_WORDS]
    told = cache(lambda: reduce(and_, map(store.index.with_word, words)))
    rows = [row for label in labels if words for row in islice(_rows(store, label, words, told), limit)]
    return list(drawn_nodes(store.index, map(store.index.ref_of, rows)).values())


def _rows(store: Store, label: Label, words: Sequence[str], told: Callable[[], Rows]) -> Iterable[int]:
    index = store.index
    match label:
        case Label.MEMORY | Label.REFLECTION:
            return index.newest(index.where(label, statuses=[Status.ACTIVE]) & told())
        case Label.SESSION:
            return (row for row in index.newest(told_sessions(store)) if _has(session_name(index, row), words))
        case Label.ENTITY:
            found = index.with_name(index.where(label), words)
            return [row for _, row in nsmallest(_AT_ONCE, ((len(name), row) for name, row in found))]
        case _:
            return _by_objective(index, index.newest(index.where(label)), words)


def _by_objective(index: StoreIndex, rows: Sequence[int], words: Sequence[str]) -> Iterable[int]:
    """Yield the rows of plans or tasks that have the words; reads on only as long as somebody asks for more."""
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        held = index.records.present([index.ref_of(row) for row in some])
        yield from (row for row, node in zip(some, held, strict=True) if _has(getattr(node, "objective", ""), words))


def _has(name: str, words: Sequence[str]) -> bool:
    folded = name.casefold()
    return all(word in folded for word in words)
