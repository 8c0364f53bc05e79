"""Completion of Cypher: labels, relationships and properties of the graph, and the words the gate lets through.

A grammar of where in a Cypher statement a name may stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from helix.cli.cypher_session import is_hidden, pieces
from helix.text.word_lists import word_list

_FUNCTIONS = word_list("graph/cypher_words", "functions")
_KEYWORDS = word_list("graph/cypher_words", "keywords")
_PROCEDURES = word_list("graph/cypher_words", "procedures")

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_TYPED = re.compile(r"[A-Za-z0-9_]*\Z")
_OWNER = re.compile(rf"({_NAME})\s*\.\Z")
_NAMED = re.compile(rf"[(\[]\s*({_NAME})\s*:\s*({_NAME}(?:\s*[|:]+\s*{_NAME})*)")
_OPENED = re.compile(rf"[(\[][^()\[\]{{]*?:\s*({_NAME})[^()\[\]{{]*\{{\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSchema:
    """Labels and relationship types, each with the names of its properties."""

    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    relationships: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, tables: Sequence[Mapping[str, Any]]) -> GraphSchema:
        """Make a schema from the answer to the operation `graph_schema`."""
        labels = {table["name"]: table["properties"] for table in tables if table["kind"] == "node"}
        others = {table["name"]: table["properties"] for table in tables if table["kind"] != "node"}
        return cls(labels=labels, relationships=others)

    def properties(self, types: Iterable[str]) -> set[str]:
        """Return the property names of these labels and types, or of all when none of them is known."""
        known = {**self.labels, **self.relationships}
        chosen = [known[name] for name in types if name in known] or known.values()
        return {name for names in chosen for name in names}


def candidates(before: str, schema: GraphSchema, params: Iterable[str] = ()) -> list[str]:
    """Return completions of the word before the cursor of the Cypher shell, in order; `before` is all up to there."""
    typed = typed_word(before)
    head = before[: len(before) - len(typed)]
    if is_hidden(head):
        return []
    matching = [word for word in _words(head, schema, params) if word.lower().startswith(typed.lower())]
    return matching if typed or head[-1:] in {".", ":", "$", "|", "{"} else []


def typed_word(before: str) -> str:
    """Return the beginning of a word that is typed at the end of the Cypher shell's text."""
    match = _TYPED.search(before)
    return match.group() if match else ""


def _words(head: str, schema: GraphSchema, params: Iterable[str]) -> Iterator[str]:
    """Yield everything that fits behind `head`, whatever it begins with."""
    inside = _open_bracket(head)
    tail = head.rstrip()
    if head.endswith("$"):
        yield from sorted(params)
    elif owner := _OWNER.search(head):
        yield from sorted(schema.properties(_types_of(owner[1], head)))
    elif tail.endswith((":", "|")) and inside in {"(", "["}:
        yield from sorted(schema.labels if inside == "(" else schema.relationships)
    elif inside == "{" and tail.endswith(("{", ",")):
        opened = _OPENED.search(head[: head.rindex("{") + 1])
        yield from sorted(schema.properties([opened[1]] if opened else []))
    elif tail.upper().endswith("CALL"):
        yield from (f"{name}(" for name in sorted(_PROCEDURES))
    else:
        yield from sorted(_variables(head))
        yield from sorted(_KEYWORDS)
        yield from (f"{name}(" for name in sorted(_FUNCTIONS))


def _open_bracket(text: str) -> str:
    """Return the innermost bracket that is not closed, or nothing."""
    stack = [""]
    for kind, piece in pieces(text):
        if kind == "bracket":
            if piece in "([{":
                stack.append(piece)
            elif len(stack) > 1:
                stack.pop()
    return stack[-1]


def _types_of(variable: str, text: str) -> list[str]:
    return [name for found in _NAMED.finditer(text) if found[1] == variable for name in re.findall(_NAME, found[2])]


def _variables(text: str) -> set[str]:
    named = {found[1] for found in re.finditer(rf"[(\[]\s*({_NAME})\s*[:)\]{{]", text)}
    return named | {found[1] for found in re.finditer(rf"\bAS\s+({_NAME})\b", text, re.IGNORECASE)}


class CypherCompleter(Completer):
    """Completes statements, and the `:commands` of the shell at the beginning of a line.

    `schema` may be replaced as the graph grows; `params` is read anew each time.
    """

    def __init__(self, commands: Mapping[str, Sequence[str]], params: Mapping[str, Any]) -> None:
        self.schema = GraphSchema()
        self._commands = commands
        self._params = params

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield what fits at the cursor."""
        before = document.text_before_cursor
        if before.lstrip().startswith(":"):
            yield from self._of_command(before.lstrip())
            return
        length = len(typed_word(before))
        for word in candidates(before, self.schema, self._params):
            yield Completion(word, start_position=-length)

    def _of_command(self, before: str) -> Iterator[Completion]:
        command, blank, argument = before.partition(" ")
        known = self._commands.get(command, ()) if blank else self._commands
        typed = argument if blank else command
        for word in known:
            if word.startswith(typed):
                yield Completion(word, start_position=-len(typed))
