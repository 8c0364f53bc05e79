"""The command export: what the store holds, as files for people and other tools."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from helix import files
from helix.cli.declared import ask, asking, command, group
from helix.cli.given import STDIN
from helix.cli.invocation import Invocation
from helix.cli.options import As
from helix.cli.output import Output, clean
from helix.cli.progress import follow

_TO_FILE = As("file", type=str, default=STDIN, required=False)

group(
    "export",
    "Write what the store holds to new files: notes, JSON lines or a graph.\n\n"
    "They hold nothing that was erased before. What you erase later stays in them.",
    "helix export markdown ~/vault",
    "helix export jsonl everything.jsonl",
)
command(
    "export markdown",
    "export_markdown",
    "helix export markdown ~/vault",
    show="{memories} notes and {edges} links are in {path}",
    cancels=True,
    path=As("dir"),
)


def _shown(out: Output, result: Mapping[str, Any]) -> None:
    out.line(f"{result['nodes']} nodes and {result['edges']} edges are in {result['path']}")


def _export(invocation: Invocation, operation: str, path: str) -> None:
    """Have the daemon write a file; without a name, one that goes to stdout and is removed."""
    if path != STDIN:
        ask(invocation, operation, {"path": Path(path).absolute()}, _shown, cancels=True)
        return
    with tempfile.TemporaryDirectory(prefix="helix-export-") as folder:
        file = Path(folder) / "export"
        (job,) = invocation.run(operation, path=file).values()
        follow(invocation, job, cancels=True)
        with files.open_regular(file, links=False) as written:
            if sys.stdout.isatty():  # which would obey an escape sequence that somebody's text holds
                for line in written:
                    click.echo(clean(line.decode("utf-8")), nl=False)
            else:
                shutil.copyfileobj(written, sys.stdout.buffer)


@asking(
    "export jsonl",
    "export_jsonl",
    "helix export jsonl everything.jsonl",
    "helix export jsonl | gzip > everything.jsonl.gz",
    says="Write every node and edge as JSON lines, to a new file or (without one) to stdout.",
    path=_TO_FILE,
)
def _jsonl(invocation: Invocation, path: str) -> None:
    _export(invocation, "export_jsonl", path)


@asking(
    "export graphml",
    "export_graphml",
    "helix export graphml graph.graphml",
    says="Write every node and edge as GraphML for Gephi, networkx and the like, to a new file or to stdout.",
    path=_TO_FILE,
)
def _graphml(invocation: Invocation, path: str) -> None:
    _export(invocation, "export_graphml", path)
