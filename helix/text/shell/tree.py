"""Tree: what a shell line consists of: commands, and what joins them, as the shell's grammar says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Simple:
    """One command: its words with quotes resolved and without redirections, and the assignments before it as typed.

    `document` tells that it reads a here-document.
    """

    words: tuple[str, ...]
    assignments: tuple[str, ...] = ()
    document: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`, each in a shell of its own where there are several; `negated` by `!`."""

    stages: tuple[Node, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class AndOr:
    """Pipelines with what joins each to what stands before it: `&&` or `||`, and nothing before the first."""

    parts: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class List:
    """What is run one after the other, each with whether it is left in the background."""

    parts: tuple[tuple[Node, bool], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What stands in brackets: `(` runs it in a shell of its own, `{` in the same."""

    body: Node
    own_shell: bool


@dataclass(frozen=True, slots=True)
class Compound:
    """What decides by itself what runs: a loop, `if`, `case`, a test, a function; `parts` are the commands within."""

    name: str
    parts: tuple[Node, ...] = ()


Node = Simple | Pipeline | AndOr | List | Group | Compound


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was read; where it is not `certain`, the shell would not run it, or not as it was read."""

    body: List
    certain: bool


def commands(node: Node, piped: bool = False) -> Iterator[tuple[Simple, bool]]:
    """Yield the commands in the order in which they stand, each with whether it reads what another one wrote."""
    match node:
        case Simple():
            yield node, piped
        case Pipeline():
            for place, stage in enumerate(node.stages):
                yield from commands(stage, piped or place > 0)
        case AndOr():
            for _, part in node.parts:
                yield from commands(part, piped)
        case List():
            for part, _ in node.parts:
                yield from commands(part, piped)
        case Group():
            yield from commands(node.body, piped)
        case Compound():
            for part in node.parts:
                yield from commands(part, piped)
