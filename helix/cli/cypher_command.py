"""The command `cypher`: one statement, statements from stdin, or a shell."""

from __future__ import annotations

import sys

import click

from helix.cli.cypher_render import RowFormat
from helix.cli.cypher_session import CypherSession, typed_statements
from helix.cli.given import stdin
from helix.cli.invocation import Invocation
from helix.cli.options import WordParam
from helix.errors import InvalidInputError


@click.command("cypher")
@click.argument("query", required=False)
@click.option("--param", "-p", "params", multiple=True, metavar="NAME=VALUE", help="A $parameter: JSON, or plain text.")
@click.option(
    "--format",
    "style",
    type=WordParam({style.value: style for style in RowFormat}),
    help="How to write the rows; by default a table.",
)
@click.option("--limit", "-n", type=click.IntRange(min=1), help="The most rows to return.")
@click.option("--timeout", type=click.IntRange(min=1), metavar="MS", help="Give up after this many milliseconds.")
@click.pass_obj
def command(
    invocation: Invocation,
    /,
    query: str | None,
    params: tuple[str, ...],
    style: RowFormat | None,
    limit: int | None,
    timeout: int | None,
) -> None:
    """Ask the graph in Cypher; statements can only read.

    QUERY is one statement. With - or a pipe, statements are read from stdin, parted by semicolons. Without either, a
    shell opens that knows the labels, relationships and properties of the graph.

    \b
    helix cypher "MATCH (m:Memory {kind: \\$kind}) RETURN m.name LIMIT 5" -p kind=failure
    helix cypher --format csv - < report.cypher
    helix cypher
    """
    chosen = style or (RowFormat.JSON if invocation.json else RowFormat.TABLE)
    session = CypherSession(invocation=invocation, format=chosen, limit=limit, timeout_ms=timeout)
    for text in params:
        session.define(text)
    if query is not None and query != "-":
        session.run(query)
    elif query == "-" or not sys.stdin.isatty():
        _run_all(session)
    elif sys.stdout.isatty() and not invocation.json:
        from helix.cli.cypher_shell import Shell  # brings the line editor, which the rest does without

        Shell(session).run()
    else:
        raise InvalidInputError("there is no query to run", hint='helix cypher "MATCH (m:Memory) RETURN m.name"')


def _run_all(session: CypherSession) -> None:
    """Run the statements of stdin in their order; the first that fails ends it."""
    try:
        text = stdin().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"stdin is not UTF-8 text: {error}") from error
    found = typed_statements(text)
    if not found:
        raise InvalidInputError(
            "stdin holds no statement", hint='echo "MATCH (m:Memory) RETURN m.name;" | helix cypher'
        )
    for statement in found:
        session.run(statement)
