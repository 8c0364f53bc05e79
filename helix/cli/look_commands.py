"""The section Look: what is stored, and what hangs together in the graph; cypher_command.py is the rest of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helix.cli import render
from helix.cli.declared import ask, asking, command, group
from helix.cli.invocation import Invocation
from helix.cli.options import MEMORIES, As, WordParam, flag, is_given
from helix.cli.output import Output, printed_text
from helix.errors import InvalidInputError, StoreError

Record = Mapping[str, Any]

_NODE: render.Columns = {"LABEL": lambda one: one["ref"]["label"].lower(), "NAME": "title", "SCOPE": "scope"}

command(
    "get",
    "",
    "helix get upload-times-out",
    says="Show one memory, by name or id, with its edges and the episodes it rests on.",
    show=render.memory_page,
)


@command("history", "", "helix history upload-times-out")
def _history(out: Output, found: Sequence[Record]) -> None:
    trust: render.Columns = {"TRUST": lambda one: one["trust"].lower()}
    said = {"BY": "by", **trust, "RESOLUTION": "memory.resolution", "WHY": "reason"}
    render.table(out, found, {"WHEN": "at", "CHANGE": "change", **said})


@asking(
    "list",
    "memories",
    "helix list --kind failure --kind systemic",
    "helix list --episodes --limit 20",
    episodes=flag("--episodes", words="List episodes instead of memories."),
    session=As("--session", metavar="ID", help="With --episodes: only those of this session."),
)
def _list(invocation: Invocation, episodes: bool, session: str | None, **asked: Any) -> None:
    if session is not None and not episodes:
        raise InvalidInputError("only episodes belong to a session", hint="helix list --episodes --session ID")
    if episodes:
        page = {name: asked.pop(name, None) for name in ["scope", "since", "until", "time", "first", "after"]}
        if of_memories := [name for name in asked if is_given(name)]:
            said = f"only memories can be listed by {', '.join(of_memories).replace('_', ' ')}"
            raise InvalidInputError(said, hint="`helix recall --label episode` finds episodes by their words and trust")
        ask(invocation, "episodes", {**page, "session": session}, _episodes)
    else:
        ask(invocation, "memories", asked, render.memory_table)


def _episodes(out: Output, episodes: Sequence[Record]) -> None:
    columns = {"WHEN": "occurredAt", "SAID BY": "saidBy", "SOURCE": "source", "SCOPE": "scope", "CONTENT": "content"}
    render.table(out, episodes, columns)


command(
    "edges",
    "",
    "helix edges upload-times-out",
    "helix edges --relation solves",
    show=render.edge_table,
    none="nothing is linked yet",
    everywhere=True,
)


@command("suggest-edges", "", "helix suggest-edges upload-times-out", none="nothing suggests itself")
def _suggested(out: Output, found: Sequence[Record]) -> None:
    columns = {"RELATION": "relation", "MEMORY": "memory.name", "SIMILARITY": "similarity", "REASON": "reason"}
    render.table(out, found, columns)


@command("stats", "", "helix stats --scope my-project")
def _stats(out: Output, counts: Record) -> None:
    effectiveness = counts["overallEffectiveness"]
    out.fields(
        {
            "memories": counts["total"],
            "by kind": render.by_name(counts["byType"]),
            "by status": render.by_name(counts["byStatus"]),
            "episodes": counts["episodes"],
            "entities": counts["entities"],
            "edges": counts["relationships"],
            "feedback": f"{counts['withFeedback']} with, {counts['withoutFeedback']} without",
            "helped": counts["totalHelped"],
            "failed": counts["totalFailed"],
            "effectiveness": None if effectiveness is None else f"{effectiveness:.0%}",
            "embedded": f"{counts['embeddingCoverage']:.0%}",
        }
    )


command(
    "health",
    says="Check whether the store works; exit code 5 if it does not.",
    show=render.health,
    code=lambda found: StoreError.exit_code if found["status"] == "failing" else 0,
)

group(
    "graph",
    "Look at the graph: what lies near, paths, communities, what is central.",
    "helix graph near upload-times-out --steps 2",
    "helix graph path upload-times-out retry-with-backoff",
)


@command("graph near", "neighbourhood", "helix graph near upload-times-out")
def _near(out: Output, found: Record) -> None:
    render.table(out, [{"steps": one["steps"], **one["node"]} for one in found["nodes"]], {"STEPS": "steps", **_NODE})
    if found["truncated"]:
        out.line("there is more that near: raise --limit")
    if not found["nodes"]:
        out.say("nothing is linked with it")


@command(
    "graph path",
    "path",
    "helix graph path upload-times-out retry-with-backoff",
    source=As(shell_complete=MEMORIES),
    target=As(shell_complete=MEMORIES),
)
def _path(out: Output, found: Record) -> None:
    for place, node in enumerate(found["nodes"]):
        if place:
            out.line(f"  {_link(found['edges'], found['nodes'][place - 1], node)}")
        out.line((printed_text(node["title"]), "bold"), f"  {node['ref']['label'].lower()}")
    if not found["nodes"]:
        out.say("no path of at most 8 steps leads from one to the other")


def _link(edges: list[Record], here: Record, there: Record) -> str:
    """Return the types of the edges between two nodes, with arrows that say which way they lead."""
    ends = here["ref"], there["ref"]
    words = [f"-{edge['type']}->" for edge in edges if (edge["source"], edge["target"]) == ends]
    words += [f"<-{edge['type']}-" for edge in edges if (edge["target"], edge["source"]) == ends]
    return " ".join(words)


@command("graph communities", "communities", none="nothing hangs together yet")
def _communities(out: Output, found: Sequence[Record]) -> None:
    rows = [(one["size"], printed_text(", ".join(node["title"] for node in one["nodes"][:5]))) for one in found]
    out.table(("NODES", "MOST LINKED"), rows)


_LABELS = {label: label.upper() for label in ("Memory", "Episode", "Reflection", "Entity")}


@command(
    "graph central",
    "centrality",
    "helix graph central --label entity",
    none="nothing is linked yet",
    labels=As(type=WordParam(_LABELS)),
)
def _central(out: Output, found: Sequence[Record]) -> None:
    ranked = [{"rank": f"{one['rank']:.4f}", **one["node"]} for one in found]
    render.table(out, ranked, {"RANK": lambda one: one["rank"], **_NODE})
