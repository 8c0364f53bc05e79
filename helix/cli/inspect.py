"""Commands that look at what is stored: get, list, stats, health."""

from __future__ import annotations

from typing import Any

import click

from helix.cli import render
from helix.cli.completion import MEMORIES
from helix.cli.invocation import Invocation
from helix.cli.options import Word, kind_type, limit_option, listed_scope_option, words_of
from helix.cli.output import Output, one_line, told
from helix.errors import InvalidInputError, StoreError
from helix.model.memory import Kind, Status


@click.command()
@click.argument("name", shell_complete=MEMORIES)
@click.pass_obj
def get(invocation: Invocation, /, name: str) -> None:
    """Show one memory, by name or id, with its edges and the episodes it rests on.

    \b
    helix get upload-times-out
    """
    data = invocation.run("get", name_or_id=name)
    invocation.emit(data, lambda out: render.memory_page(out, data["get"]))


@click.command("list")
@listed_scope_option
@click.option("--kind", "-k", "kinds", type=kind_type, multiple=True, help="Only this kind. Repeatable.")
@click.option("--status", type=Word(words_of(Status)), default="active", show_default=True, help="Where they stand.")
@click.option("--episodes", is_flag=True, help="List episodes instead of memories.")
@click.option("--session", metavar="ID", help="With --episodes: only those of this session.")
@limit_option(50)
@click.option("--after", metavar="CURSOR", help="Go on behind this place.")
@click.pass_obj
def list_(
    invocation: Invocation,
    /,
    kinds: tuple[Kind, ...],
    status: Status,
    episodes: bool,
    session: str | None,
    limit: int,
    **page: Any,
) -> None:
    """List memories, newest first, page by page.

    \b
    helix list --kind failure --kind systemic
    helix list --episodes --limit 20
    """
    if session is not None and not episodes:
        raise InvalidInputError("only episodes belong to a session", hint="helix list --episodes --session ID")
    if episodes:
        operation, data = "episodes", invocation.run("episodes", session=session, first=limit, **page)
    else:
        operation, data = "memories", invocation.run("memories", kinds=kinds, status=status, first=limit, **page)
    nodes = [edge["node"] for edge in data[operation]["edges"]]

    def show(out: Output) -> None:
        if episodes:
            rows = [
                (render.moment(e["occurredAt"]), e["saidBy"], told(e["source"], e), e["scope"], _content(e))
                for e in nodes
            ]
            out.table(("WHEN", "SAID BY", "SOURCE", "SCOPE", "CONTENT"), rows)
        else:
            render.memory_table(out, nodes)

    invocation.emit(data, show)
    if not invocation.json:
        rest, total = data[operation]["pageInfo"], data[operation]["totalCount"]
        invocation.say(f"{len(nodes)} of {total}" if total else "nothing is stored that fits")
        if rest["hasNextPage"]:
            invocation.say(f"more: the same command with --after {rest['endCursor']}")


def _content(episode: dict[str, Any]) -> str:
    return told(one_line(episode["content"]), episode)


@click.command()
@listed_scope_option
@click.pass_obj
def stats(invocation: Invocation, /, scope: str | None) -> None:
    """Count what is stored, and how well it has served.

    \b
    helix stats --scope my-project
    """
    data = invocation.run("stats", scope=scope)
    counts = data["stats"]
    effectiveness, coverage = counts["overallEffectiveness"], counts["embeddingCoverage"]
    pairs = {
        "memories": counts["total"],
        "by kind": counts["byType"],
        "by status": counts["byStatus"],
        "episodes": counts["episodes"],
        "entities": counts["entities"],
        "edges": counts["relationships"],
        "feedback": f"{counts['withFeedback']} with, {counts['withoutFeedback']} without",
        "helped": counts["totalHelped"],
        "failed": counts["totalFailed"],
        "effectiveness": None if effectiveness is None else f"{effectiveness:.0%}",
        "embedded": f"{coverage:.0%}",
    }
    invocation.emit(data, lambda out: out.fields(pairs))


@click.command()
@click.pass_obj
def health(invocation: Invocation, /) -> None:
    """Say whether the store works as it should; exit code 5 when it does not.

    \b
    helix health
    """
    data = invocation.run("health")
    found = data["health"]

    def show(out: Output) -> None:
        out.line((found["status"], "bold"))
        for issue in found["issues"]:
            out.line(f"- {issue}")
        out.fields(found["stats"])

    invocation.emit(data, show)
    if found["status"] == "failing":
        raise click.exceptions.Exit(StoreError.exit_code)
