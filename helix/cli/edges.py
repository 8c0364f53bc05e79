"""Commands about edges: edge, edges, suggest-edges."""

from __future__ import annotations

import click

from helix.cli.completion import MEMORIES, RELATIONS
from helix.cli.invocation import Invocation
from helix.cli.options import limit_option, whole_store
from helix.cli.output import Output, told
from helix.cli.render import edge_table


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
