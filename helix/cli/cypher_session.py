"""One session of Cypher: the parameters, limits and format that hold for its statements, and the running of them.

Of a text as it is typed it is told where statements end, which parameters they use, and whether more is to come: only
what typing needs. The gate in the daemon alone judges what a statement may do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from helix.cli.cypher_render import RowFormat, write
from helix.cli.invocation import Invocation
from helix.errors import InvalidInputError

_PARAMETER = re.compile(r"\s*\$?([A-Za-z_][A-Za-z0-9_]*)\s*=(.*)", re.DOTALL)


@dataclass(slots=True, kw_only=True)
class CypherSession:
    """What statements are run with. `limit` is in rows, `timeout_ms` in milliseconds; None: as the settings say."""

    invocation: Invocation
    format: RowFormat = RowFormat.TABLE
    limit: int | None = None
    timeout_ms: int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    raise_limit: str = "--limit"

    def define(self, text: str) -> None:
        """Set a parameter from `name=value`; raises InvalidInputError when it is not of that form."""
        name, value = parse_parameter(text)
        self.params[name] = value

    def run(self, statement: str) -> None:
        """Run one statement: its rows go to stdout, how many and how long to stderr."""
        used = parameters(statement)
        result = self.invocation.run(
            "cypher",
            query=statement,
            params={name: value for name, value in self.params.items() if name in used},
            timeout_ms=self.timeout_ms,
            limit=self.limit,
        )["cypher"]
        write(self.invocation.out, result, self.format)
        if not self.invocation.json:
            self.invocation.say(summary(result, self.raise_limit))


def parse_parameter(text: str) -> tuple[str, Any]:
    """Return the name and value of a Cypher parameter `name=value`: JSON where it is, the plain text otherwise."""
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise InvalidInputError(f"{text!r} sets no parameter", hint="write name=value, such as kind=failure or days=7")
    try:
        return match[1], json.loads(match[2], parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        return match[1], match[2].strip()


def summary(result: dict[str, Any], raise_limit: str) -> str:
    """Return how many rows a Cypher statement gave in which time, and how to get those that were cut off."""
    count = len(result["rows"])
    rows = f"{count:,} row{'' if count == 1 else 's'}"
    words = f"{rows} in {result['elapsedMs']:.0f} ms"
    return f"{words}\ntruncated at {rows}; raise it with {raise_limit}" if result["truncated"] else words


def _reject_constant(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity are no JSON: taken as texts


_PIECE = re.compile(
    r"""
      (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<unclosed>(?:['"`]|/\*).*)
    | (?P<parameter>\$[A-Za-z_][A-Za-z0-9_]*)
    | (?P<end>;)
    | (?P<bracket>[(\[{)\]}])
    | (?P<blank>\s+)
    | (?P<word>\w+|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each piece of a Cypher text, for a terminal's colours.

    Joined they are the whole of it again.
    """
    for match in _PIECE.finditer(text):
        yield str(match.lastgroup), match.group()


def typed_statements(text: str) -> list[str]:
    """Return the Cypher statements typed between semicolons, without those; no comments and blanks alone."""
    found = [""]
    for kind, piece in pieces(text):
        if kind == "end":
            found.append("")
        else:
            found[-1] += piece
    return [statement.strip() for statement in found if _says_something(statement)]


def parameters(statement: str) -> frozenset[str]:
    """Return the names of the `$parameters` a Cypher statement uses."""
    return frozenset(piece[1:] for kind, piece in pieces(statement) if kind == "parameter")


def is_finished(text: str) -> bool:
    """Return whether the Cypher shell's input is to be run: a `:command`, a closing `;`, or an empty line."""
    if text.lstrip().startswith(":") or not text.strip():
        return True
    said = [(kind, piece) for kind, piece in pieces(text) if kind not in {"blank", "comment"}]
    if not said or said[-1][0] == "unclosed":
        return False
    depth = sum(1 if piece in "([{" else -1 for kind, piece in said if kind == "bracket")
    *before, last = text.split("\n")
    return said[-1][0] == "end" or (bool(before) and not last.strip() and depth <= 0)


def is_hidden(text: str) -> bool:
    """Return whether what is typed next in the Cypher shell stands in a quote or a comment."""
    kind, piece = [("", ""), *pieces(text)][-1]
    return kind == "unclosed" or (kind == "comment" and piece.startswith("//"))


def _says_something(statement: str) -> bool:
    return any(kind not in {"blank", "comment"} for kind, _ in pieces(statement))
