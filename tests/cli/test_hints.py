"""Hints: a command that a message names in backticks exists, and takes what stands behind it."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import helix
from helix.cli.main import cli

SOURCE = Path(helix.__file__).parent
NAMED = re.compile(r"`helix ([^`]+)`")


def _texts(tree: ast.AST) -> Iterator[str]:
    """Yield each text of a module, with `X` for what is put in."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def _named() -> dict[str, str]:
    """Return each command that a text names, with the file of one."""
    return {
        " ".join(words.split()): str(path.relative_to(SOURCE))
        for path in sorted(SOURCE.rglob("*.py"))
        if "`helix " in (source := path.read_text("utf-8"))  # taking a file apart is most of the work
        for text in _texts(ast.parse(source))
        for words in NAMED.findall(text)
    }


def _refused(line: str) -> str:
    """Return why the command line does not take a line; empty where it does."""
    command: click.Command = cli
    context = click.Context(cli, info_name="helix")
    words = shlex.split(line.removesuffix(" ..."))
    try:
        while True:
            _, words, _ = command.make_parser(context).parse_args(words)
            if not isinstance(command, click.Group) or not words:
                return f"it takes no {words}" if set(words) - {"X"} else ""
            name, found, words = command.resolve_command(context, words)
            if found is None:
                return f"there is no {name}"
            command, context = found, click.Context(found, parent=context, info_name=name)
    except click.UsageError as error:
        return error.format_message()


def test_what_texts_name_as_commands_are_commands() -> None:
    named = _named()
    assert len(named) > 50
    assert {line: (why, place) for line, place in named.items() if (why := _refused(line))} == {}


@pytest.mark.parametrize("line", ["confg", "strand merg", "stop now", "status now", "list --no-such"])
def test_what_is_no_command_is_refused(line: str) -> None:
    assert _refused(line)
