"""What is told of the graph as a graph: what lies near, paths, communities, centrality."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from helix.model.edge import Ref, Relation
from helix.model.memory import Kind, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A node of the graph with what it is called."""

    ref: Annotated[Ref, "The node."]
    title: Annotated[str, "What it is called: a name, or how its text begins."]
    scope: str
    said_by: Annotated[
        str,
        "Where its words come from: `you`, `verified`, `agent`, `commit`, `notes`, `tool` or `web`; empty if nobody's.",
    ] = ""
    kind: Annotated[Kind | None, "The kind of a memory; null for the rest."] = None
    status: Annotated[Status | None, "Where a memory, an episode or an insight stands; null for the rest."] = None
    at: Annotated[
        datetime | None, "When it happened or began to hold, else when it was recorded; null for an entity."
    ] = None
    held_until: Annotated[datetime | None, "Until when it held in the world; null while it holds."] = None
    degree: Annotated[int, "How many edges it has in all."] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """An edge of the graph, as far as drawing it needs."""

    type: Annotated[Relation, "Its type."]
    source: Annotated[Ref, "Where it starts."]
    target: Annotated[Ref, "Where it leads."]
    weight: float
    relation: Annotated[str, "What it says, in a word: that of a RELATED edge, else its type in small letters."]
    created_at: Annotated[datetime, "When it was drawn."]
    reason: Annotated[str, "Why it is there, in a short sentence."]
    drawn: Annotated[bool, "Whether a person or an agent drew it, which `edge` with `undo` takes back."] = False
    held_since: Annotated[
        datetime | None, "Since when it holds, if that is later than its ends: when it was drawn by hand, or shown."
    ] = None
    held_until: Annotated[datetime | None, "Until when it held: when a contradiction was decided; else null."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearNode:
    """A node near another one."""

    node: Annotated[GraphNode, "The node."]
    steps: Annotated[int, "How many edges away it is."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What lies around a node, and how it hangs together."""

    centre: Annotated[GraphNode, "The node asked for."]
    nodes: Annotated[tuple[NearNode, ...], "The nodes around it, the nearest first."]
    edges: Annotated[tuple[GraphEdge, ...], "The edges among all of them; at most 6,000."]
    truncated: Annotated[bool, "Whether there are more nodes within so many steps."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatedNode:
    """A node and how much of a question's walk arrives there."""

    node: Annotated[GraphNode, "The node."]
    heat: Annotated[float, "Its share of the walk, over that of the hottest: above 0, at most 1."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Where the walk of a question through the graph goes: the personalised PageRank that recall ranks by."""

    nodes: Annotated[tuple[HeatedNode, ...], "The nodes, the hottest first; what is quarantined is none."]
    edges: Annotated[tuple[GraphEdge, ...], "The edges among them; at most 2,000."]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphPath:
    """A shortest path through the graph, whichever way its edges lead."""

    nodes: Annotated[tuple[GraphNode, ...], "The nodes on the way, both ends included; empty where there is no path."]
    edges: Annotated[tuple[GraphEdge, ...], "The edges among them."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Nodes that are linked with each other more than with the rest."""

    size: Annotated[int, "How many nodes it has."]
    nodes: Annotated[tuple[GraphNode, ...], "Those with the most edges within it first; at most 25."]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewNode:
    """One community in an overview of the graph: where it is drawn, how large it is, and who is in its middle."""

    id: Annotated[str, "What tells it from others: the label and id of its most linked node."]
    title: Annotated[str, "What its most linked nodes are called."]
    size: Annotated[int, "How many nodes it has."]
    x: Annotated[float, "Where it is drawn, -1 to 1."]
    y: Annotated[float, "Where it is drawn, -1 to 1."]
    radius: Annotated[float, "How far it reaches around there: its area goes by its size, and no two cover each other."]
    members: Annotated[tuple[GraphNode, ...], "Those with the most edges within it first; at most 5."]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewEdge:
    """What leads from one community of an overview to another."""

    source: Annotated[str, "The id of the one."]
    target: Annotated[str, "The id of the other."]
    weight: Annotated[int, "How many edges lead from the one to the other, either way."]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphOverview:
    """The whole graph from afar: its largest communities, placed so that those which are linked lie near each other."""

    nodes: Annotated[tuple[OverviewNode, ...], "The communities, the largest first."]
    edges: Annotated[tuple[OverviewEdge, ...], "What leads from one of them to another."]
    total_nodes: Annotated[int, "How many nodes have an edge, those of smaller communities included."]
    total_edges: Annotated[int, "How many edges there are among those."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunityInside:
    """One community of an overview from near."""

    size: Annotated[int, "How many nodes it has."]
    nodes: Annotated[tuple[GraphNode, ...], "Those with the most edges within it first."]
    edges: Annotated[tuple[GraphEdge, ...], "The edges among them; at most 6,000."]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralNode:
    """A node and how central it is."""

    node: Annotated[GraphNode, "The node."]
    rank: Annotated[float, "Its PageRank, edges followed both ways; those of all nodes sum up to 1."]
