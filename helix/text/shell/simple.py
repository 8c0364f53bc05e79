"""Simple commands: those of a line in order, each with the folder that the line runs it in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import islice
from posixpath import join, normpath

from helix.text.shell.reader import read
from helix.text.shell.tree import AndOr, Compound, Group, List, Node, Pipeline, Simple

MOST_PARTS = 24

_NEEDS_QUOTES = re.compile(r"[\s'\"\\;&|<>()`$#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command: its words without quotes, redirections and assignments, and the folder it is run in.

    `folder` is what `cd` before it led to, from where the line began; empty where it stays there.
    `piped` tells that it reads what another command wrote. Spaces within a word are one each.
    """

    words: tuple[str, ...]
    folder: str = ""
    piped: bool = False


def simple_commands(line: str) -> tuple[Command, ...]:
    """Return the commands of a line in order, at most MOST_PARTS; what `cd` does is told by the others' folder.

    Never raises: a quote that is not closed, or what is no shell at all, is read as far as it goes.
    """
    return tuple(islice(_commands(read(line).body, "", False), MOST_PARTS))


def joined(said: Sequence[str]) -> str:
    """Return words as a line that is taken apart into the same words."""
    return " ".join(shlex.quote(word) if not word or _NEEDS_QUOTES.search(word) else word for word in said)


def _commands(node: Node, folder: str, piped: bool) -> Generator[Command, None, str]:
    """Yield the commands, which begin in a folder, and return the folder that the shell is in behind them."""
    match node:
        case Simple(words=("cd" | "pushd", *rest)):
            return normpath(join(folder, rest[0])) if rest and rest[0] != "-" else folder
        case Simple(words=words) if words:
            yield Command(words=tuple(" ".join(word.split()) for word in words), folder=folder, piped=piped)
        case Pipeline(stages=stages):
            for place, stage in enumerate(stages):
                yield from _commands(stage, folder, piped or place > 0)
        case AndOr(parts=parts):
            for _, part in parts:
                folder = yield from _commands(part, folder, piped)
        case List(parts=parts):
            for part, behind in parts:
                after = yield from _commands(part, folder, piped)
                folder = folder if behind else after
        case Group(body=body, own_shell=own_shell):
            after = yield from _commands(body, folder, piped)
            return folder if own_shell else after
        case Compound(parts=parts):
            for part in parts:
                folder = yield from _commands(part, folder, piped)
    return folder
