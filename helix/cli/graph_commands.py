"""Commands that look at the graph as a graph: graph near, path, communities, central."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from helix.cli.completion import MEMORIES
from helix.cli.invocation import Invocation
from helix.cli.options import Choice, limit_option, listed_scope_option
from helix.cli.output import Output, told
from helix.model.edge import Label

Record = Mapping[str, Any]

_LABELS = [label.value for label in (Label.MEMORY, Label.EPISODE, Label.REFLECTION, Label.ENTITY)]


@click.group()
def graph() -> None:
    """Look at the graph: what lies near, paths, communities, what is central.

    \b
    helix graph near upload-times-out --steps 2
    helix graph path upload-times-out retry-with-backoff
    """


@graph.command()
@click.argument("name", shell_complete=MEMORIES)
@click.option("--steps", type=click.IntRange(1, 3), default=1, show_default=True, help="How many edges away to look.")
@listed_scope_option
@limit_option(50)
@click.pass_obj
def near(invocation: Invocation, /, name: str, steps: int, scope: str | None, limit: int) -> None:
    """Show what lies around a memory, or around any node by its id.

    \b
    helix graph near upload-times-out
    """
    data = invocation.run("neighbourhood", name_or_id=name, steps=steps, scope=scope, limit=limit)
    found = data["neighbourhood"]

    def show(out: Output) -> None:
        rows = [(str(one["steps"]), *_cells(one["node"])) for one in found["nodes"]]
        out.table(("STEPS", "LABEL", "NAME", "SCOPE"), rows)
        if found["truncated"]:
            out.line(f"there is more within {steps} steps: raise --limit")

    invocation.emit(data, show)
    invocation.say_if_none(found["nodes"], "nothing is linked with it")


@graph.command()
@click.argument("source", shell_complete=MEMORIES)
@click.argument("target", shell_complete=MEMORIES)
@listed_scope_option
@click.pass_obj
def path(invocation: Invocation, /, source: str, target: str, scope: str | None) -> None:
    """Show how one node leads to another: a shortest path, of at most 8 steps.

    \b
    helix graph path upload-times-out retry-with-backoff
    """
    data = invocation.run("path", source=source, target=target, scope=scope)
    found = data["path"]

    def show(out: Output) -> None:
        for place, node in enumerate(found["nodes"]):
            if place:
                out.line(f"  {_link(found['edges'], found['nodes'][place - 1], node)}")
            out.line((told(node["title"]), "bold"), f"  {node['ref']['label'].lower()}")

    invocation.emit(data, show)
    invocation.say_if_none(found["nodes"], "no path of at most 8 steps leads from one to the other")


@graph.command()
@listed_scope_option
@click.option("--least", type=click.IntRange(min=2), default=3, show_default=True, help="Leave out smaller ones.")
@limit_option(20)
@click.pass_obj
def communities(invocation: Invocation, /, scope: str | None, least: int, limit: int) -> None:
    """List what hangs together: nodes with more links among them than with the rest.

    \b
    helix graph communities
    """
    data = invocation.run("communities", scope=scope, least=least, limit=limit)

    def show(out: Output) -> None:
        rows = [
            (str(one["size"]), told(", ".join(node["title"] for node in one["nodes"][:5])))
            for one in data["communities"]
        ]
        out.table(("NODES", "MOST LINKED"), rows)

    invocation.emit(data, show)
    invocation.say_if_none(data["communities"], "nothing hangs together yet")


@graph.command()
@click.option("--label", "labels", type=Choice(_LABELS, case_sensitive=False), multiple=True, help="Only these labels.")
@listed_scope_option
@limit_option(20)
@click.pass_obj
def central(invocation: Invocation, /, labels: tuple[str, ...], scope: str | None, limit: int) -> None:
    """List the nodes that most others lead to (PageRank).

    \b
    helix graph central --label entity
    """
    wanted = [Label(label).name for label in labels]
    data = invocation.run("centrality", scope=scope, labels=wanted, limit=limit)

    def show(out: Output) -> None:
        rows = [(f"{one['rank']:.4f}", *_cells(one["node"])) for one in data["centrality"]]
        out.table(("RANK", "LABEL", "NAME", "SCOPE"), rows)

    invocation.emit(data, show)
    invocation.say_if_none(data["centrality"], "nothing is linked yet")


def _cells(node: Record) -> tuple[str, str, str]:
    return node["ref"]["label"].lower(), told(node["title"]), told(node["scope"])


def _link(edges: list[Record], here: Record, there: Record) -> str:
    """Return the types of the edges between two nodes, with arrows that say which way they lead."""
    ends = here["ref"], there["ref"]
    words = [f"-{edge['type']}->" for edge in edges if (edge["source"], edge["target"]) == ends]
    words += [f"<-{edge['type']}-" for edge in edges if (edge["target"], edge["source"]) == ends]
    return " ".join(words)
