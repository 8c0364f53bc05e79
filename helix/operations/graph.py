"""Graph: ask it in Cypher, and what lies near, paths, communities and what is central."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from helix.explorer import graph_questions
from helix.explorer.graph_questions import CALLED, nodes_called
from helix.memory.change.find import node_of
from helix.model.edge import Label
from helix.model.graph_answers import (
    CentralNode,
    Community,
    CommunityInside,
    GraphNode,
    GraphOverview,
    GraphPath,
    Neighbourhood,
    Walk,
)
from helix.model.reports import CypherResult, GraphTable
from helix.operations.checks import check_length, page_size
from helix.operations.listed import graph_query, query
from helix.service import Helix

_MOST_NODES = 2_000


@graph_query
def cypher(
    helix: Helix,
    query: Annotated[str, "The statement; only reading ones are let through."],
    params: Annotated[Mapping[str, Any] | None, "Its parameters: an object."] = None,
    timeout_ms: Annotated[int | None, "Its time limit in milliseconds; the setting's at most."] = None,
    limit: Annotated[int | None, "Its row limit; the setting's at most."] = None,
) -> CypherResult:
    """Run a Cypher statement that only reads; time and rows are limited by the settings at most."""
    helix.graph_rebuilds.mend()
    return graph_questions.cypher(helix.store, query, params, timeout_ms, limit)


@graph_query
def graph_schema(helix: Helix) -> list[GraphTable]:
    """List the labels and relationships of the graph with the names of their properties, for writing Cypher."""
    return graph_questions.graph_schema(helix.store)


@query
def neighbourhood(
    helix: Helix,
    name_or_id: Annotated[str, "A memory's name, or the id of any node."],
    steps: Annotated[int, "How many edges away to look, 1 to 3."] = 1,
    scope: Annotated[str | None, "Stay within this scope and `global`; everywhere where it is not said."] = None,
    limit: Annotated[int, "How many nodes at most, up to 2,000: what a picture of them still shows."] = 50,
) -> Neighbourhood:
    """Show what lies around a node: the nodes within so many steps, and the edges among them."""
    size = page_size(helix, "limit", limit, most=_MOST_NODES)
    centre = node_of(helix.store.index, name_or_id)
    return graph_questions.neighbourhood(helix.store.index, centre, steps=steps, scope=scope, limit=size)


@query
def find(
    helix: Helix,
    text: Annotated[str, "Words that each have to be in what a node is called; of memories and insights in the text."],
    labels: Annotated[Sequence[Label], "Only nodes of these labels."] = CALLED,
    limit: Annotated[int, "At most this many of each label."] = 8,
) -> list[GraphNode]:
    """Find memories, sessions, plans, tasks, entities such as files, and insights by words of what they are called."""
    check_length(helix, "text", text)
    return nodes_called(helix.store, text, labels, page_size(helix, "limit", limit))


@query
def walk(
    helix: Helix,
    query: str,
    scope: Annotated[str | None, "Walk in this scope and in `global`; everywhere where it is not said."] = None,
    limit: int = 50,
) -> Walk:
    """Show where the walk of a question goes through the graph, the hottest nodes first, and the edges among them."""
    check_length(helix, "query", query)
    helix.store.check_space()
    with helix.foreground.request():
        heated = helix.recaller.walk(query, scope, page_size(helix, "limit", limit))
    return graph_questions.walk(helix.store.index, heated)


@graph_query
def path(
    helix: Helix,
    source: Annotated[str, "A memory's name, or the id of any node."],
    target: Annotated[str, "A memory's name, or the id of any node."],
    scope: Annotated[str | None, "Stay within this scope and `global`; everywhere where it is not said."] = None,
) -> GraphPath:
    """Find a shortest path between two nodes, of at most 8 steps: how one has to do with the other."""
    helix.graph_rebuilds.mend()
    ends = node_of(helix.store.index, source), node_of(helix.store.index, target)
    return graph_questions.path(helix.store, *ends, scope=scope)


@graph_query
def communities(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope and `global`; everywhere where it is not said."] = None,
    least: Annotated[int, "Leave out those with fewer nodes."] = 3,
    limit: int = 20,
) -> list[Community]:
    """List the largest communities: nodes that are linked with each other more than with the rest (Louvain)."""
    helix.graph_rebuilds.mend()
    return graph_questions.communities(helix.store, scope=scope, least=least, limit=page_size(helix, "limit", limit))


@graph_query
def graph_overview(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope and `global`; everywhere where it is not said."] = None,
    limit: Annotated[int, "At most so many communities."] = 100,
) -> GraphOverview:
    """Show the whole graph from afar: its largest communities, what they are about, and what leads between them."""
    helix.graph_rebuilds.mend()
    return graph_questions.overview(helix.store, scope=scope, limit=page_size(helix, "limit", limit))


@graph_query
def community(
    helix: Helix,
    id: Annotated[str, "The community's id, as the overview has it."],
    scope: Annotated[str | None, "The scope that the overview was asked for."] = None,
    limit: Annotated[int, "How many nodes at most, up to 1,000."] = 200,
) -> CommunityInside:
    """Show one community of the overview from near: its nodes, and the edges among them."""
    helix.graph_rebuilds.mend()
    size = page_size(helix, "limit", limit, most=graph_questions.MOST_INSIDE)
    return graph_questions.community(helix.store, id, scope=scope, limit=size)


@graph_query
def centrality(
    helix: Helix,
    scope: Annotated[str | None, "Only of this scope and `global`; everywhere where it is not said."] = None,
    labels: Annotated[Sequence[Label], "Only nodes of these labels, of Memory, Episode, Reflection and Entity."] = (),
    limit: int = 20,
) -> list[CentralNode]:
    """List the nodes that most others lead to (PageRank): what everything is about."""
    helix.graph_rebuilds.mend()
    size = page_size(helix, "limit", limit)
    return graph_questions.centrality(helix.store, scope=scope, labels=labels, limit=size)
