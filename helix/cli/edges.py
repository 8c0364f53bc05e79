"""Commands about edges: edge, edges, suggest-edges."""

from __future__ import annotations

from typing import Any

import click

from helix.cli.completion import MEMORIES, RELATIONS
from helix.cli.invocation import Invocation
from helix.cli.options import limit_option, whole_store
from helix.cli.output import Output, told
from helix.cli.render import edge_table, edge_words


@click.command()
@click.argument("source", shell_complete=MEMORIES)
@click.argument("target", shell_complete=MEMORIES)
@click.option(
    "--relation", shell_complete=RELATIONS, required=True, help="solves, causes, depends_on, ... or any other word."
)
@click.option("--weight", type=click.FloatRange(min=0), default=1.0, show_default=True, help="How strong it is.")
@click.pass_obj
def edge(invocation: Invocation, /, **drawn: Any) -> None:
    """Draw an edge from one memory to another, or make one that is there stronger.

    \b
    helix edge retry-with-backoff upload-times-out --relation solves
    """
    data = invocation.run("edge", **drawn)
    invocation.emit(data, lambda out: out.line(edge_words(data["edge"])))


@click.command()
@click.argument("name", shell_complete=MEMORIES, required=False)
@click.option("--relation", shell_complete=RELATIONS, help="Only edges of this relation.")
@limit_option(100)
@click.pass_obj
@whole_store
def edges(invocation: Invocation, /, name: str | None, relation: str | None, limit: int) -> None:
    """List the edges of a memory, or of the whole graph.

    \b
    helix edges upload-times-out
    helix edges --relation solves
    """
    data = invocation.run("edges", name_or_id=name, relation=relation, limit=limit)
    invocation.emit(data, lambda out: edge_table(out, data["edges"]))
    invocation.say_if_none(data["edges"], "nothing is linked yet")


@click.command("suggest-edges")
@click.argument("name", shell_complete=MEMORIES)
@limit_option(5)
@click.pass_obj
def suggest_edges(invocation: Invocation, /, name: str, limit: int) -> None:
    """Suggest edges that a memory might want, and say why.

    \b
    helix suggest-edges upload-times-out
    """
    data = invocation.run("suggest_edges", name_or_id=name, limit=limit)

    def show(out: Output) -> None:
        rows = [
            (found["relation"].lower(), found["memory"]["name"], f"{found['similarity']:.2f}", told(found["reason"]))
            for found in data["suggestEdges"]
        ]
        out.table(("RELATION", "MEMORY", "SIMILARITY", "REASON"), rows)

    invocation.emit(data, show)
    invocation.say_if_none(data["suggestEdges"], "nothing suggests itself")
