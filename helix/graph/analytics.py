"""Analytics: what Kuzu's graph algorithms say of the graph as it is: paths, communities, centrality.

Kuzu's Louvain takes one table of nodes, and its PageRank follows edges in their direction only. So both run over a
graph in memory that is made for one question: one table of nodes and one of edges, which lead both ways for PageRank.
Measured with 150,000 nodes and 350,000 edges on 2 cores: a path 0.3 s.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import log
from typing import NamedTuple

from helix.graph.kuzu_engine import KuzuEngine, ScratchGraph

Place = tuple[str, str]
"""A node: its label and its id."""


_EDGES_FOR_WEIGHT, _EDGES_FOR_PAIR, _MOST_PARALLEL = 5.0, 10.0, 100_000
"""Parallel edges that stand for a weight of 1; more where a pair would have fewer than so many in the mean, and fewer
where there would be more than so many in all.

Of 200 things 35,000 edges take 0.2 s; with 2 or 10 for a weight of 1 communities are no more modular (measured).
"""


class Overview(NamedTuple):
    """Communities as (size, members), links as (community, community, edges between), and the size of the whole."""

    groups: list[tuple[int, list[Place]]]
    links: list[tuple[int, int, int]]
    nodes: int
    edges: int


def path(engine: KuzuEngine, source: Place, target: Place, *, scope: str) -> list[Place]:
    """Return the nodes of a shortest path through Kuzu's graph, at most 8 steps, ends included; empty without one."""
    label, node = source
    rows = engine.read(f"path_{label}", id=node, scope=scope, target_label=target[0], target=target[1])
    return [(str(one["_label"]), str(one["id"])) for one in rows[0]["nodes"]] if rows else []


def among(engine: KuzuEngine, places: Sequence[Place], limit: int) -> list[tuple[str, Place, Place, float]]:
    """Return (type, source, target, weight) of the graph's edges that lead from one of the nodes to another of them."""
    wanted = set(places)
    rows = engine.read("edges_among", ids=[node for _, node in places], limit=limit)
    found = [
        (
            str(row["type"]),
            (str(row["source_label"]), str(row["source"])),
            (str(row["target_label"]), str(row["target"])),
            float(row["weight"] or 0.0),
        )
        for row in rows
    ]
    return [edge for edge in found if edge[1] in wanted and edge[2] in wanted]


def communities(engine: KuzuEngine, *, scope: str, least: int, limit: int) -> list[tuple[int, list[Place]]]:
    """Return (size, members) of the graph's largest communities of at least `least` nodes, by edges within.

    Communities are those of greatest modularity that Louvain finds (Blondel et al. 2008), each edge counting once.
    """
    places, ends = _edges(engine, scope)
    groups, _ = _grouped(places, ends)
    return [(len(group), [places[place] for place in group]) for group in groups if len(group) >= least][:limit]


def overview(engine: KuzuEngine, *, scope: str, limit: int) -> Overview:
    """Return the graph's largest communities, how many edges lead from one to another, and the size of the whole."""
    places, ends = _edges(engine, scope)
    groups, number = _grouped(places, ends)
    between = Counter(
        (min(pair), max(pair))
        for here, there in ends
        if (pair := (number[here], number[there])) and pair[0] != pair[1] and min(pair) >= 0 and max(pair) < limit
    )
    return Overview(
        groups=[(len(group), [places[place] for place in group]) for group in groups[:limit]],
        links=[(one, other, count) for (one, other), count in sorted(between.items())],
        nodes=len(places),
        edges=len(ends),
    )


def _grouped(places: Sequence[Place], ends: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[int]]:
    """Return the communities, the largest first, members by their edges within, and for each place which it is in.

    A node that belongs to none is in the community -1.
    """
    community, held = _communities(len(places), ends)
    inside = Counter(end for edge in ends if community[edge[0]] == community[edge[1]] for end in edge)
    largest = sorted(held.values(), key=lambda group: (-len(group), group))
    number = [-1] * len(places)
    for rank, group in enumerate(largest):
        for place in group:
            number[place] = rank
    return [sorted(group, key=lambda one: (-inside[one], places[one])) for group in largest], number


def _communities(count: int, ends: Sequence[tuple[int, int]]) -> tuple[list[int], dict[int, list[int]]]:
    """Return for each place the community that it is in, -1 for none, and the places of each community."""
    with ScratchGraph(count, ends) as graph:
        community = graph.communities()
    held: dict[int, list[int]] = defaultdict(list)
    for place, name in enumerate(community):
        if name >= 0:
            held[name].append(place)
    return community, held


def together(features: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the places of things by communities of what they share, those with most in common first.

    Each feature that two of them share counts ln((n + 1) / how many have it): what all have says next to nothing. As
    Kuzu's Louvain knows no weights, so many edges stand for one. Whoever is in no community is left out.
    """
    having: dict[str, list[int]] = defaultdict(list)
    for place, named in enumerate(features):
        for feature in named:
            having[feature].append(place)
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for _, places in sorted(having.items()):  # always in one order, as sums and communities depend on it
        for pair in combinations(places, 2):
            weights[pair] += log((len(features) + 1) / len(places))
    total = sum(weights.values())
    times = (
        min(max(_EDGES_FOR_WEIGHT, _EDGES_FOR_PAIR * len(weights) / total), _MOST_PARALLEL / total) if total else 0.0
    )
    ends = [pair for pair, weight in sorted(weights.items()) for _ in range(round(times * weight))]
    community, held = _communities(len(features), ends)
    common: dict[int, float] = defaultdict(float)
    for (one, other), weight in weights.items():
        if community[one] == community[other]:
            common[community[one]] += weight
    return [held[name] for name in sorted(held, key=lambda name: (-round(common[name], 6), held[name]))]


def centrality(engine: KuzuEngine, *, scope: str, labels: Sequence[str], limit: int) -> list[tuple[str, str, float]]:
    """Return (label, id, rank) of the graph's nodes of highest PageRank, edges followed both ways; ranks sum to 1."""
    places, ends = _edges(engine, scope)
    with ScratchGraph(len(places), [*ends, *((there, here) for here, there in ends)]) as graph:
        ranks = graph.ranks()
    wanted = set(labels)
    order = sorted(
        (place for place in range(len(places)) if not wanted or places[place][0] in wanted),
        key=lambda place: (-ranks[place], places[place]),
    )
    return [(*places[place], ranks[place]) for place in order[:limit]]


def _edges(engine: KuzuEngine, scope: str) -> tuple[list[Place], list[tuple[int, int]]]:
    """Return the nodes that have an edge, and the edges as pairs of their numbers; the same for the same graph.

    Kuzu answers in whatever order its threads come in, and communities depend on the order.
    """
    number: dict[Place, int] = {}
    ends = [
        (
            number.setdefault((str(source_label), str(source)), len(number)),
            number.setdefault((str(target_label), str(target)), len(number)),
        )
        for source_label, source, target_label, target in sorted(engine.tuples("all_edges", scope=scope))
    ]
    return list(number), ends
