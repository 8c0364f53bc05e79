"""The text of Cypher as it is typed: where statements end, which parameters they use, whether more is to come.

Only what typing needs: the gate in the daemon alone judges what a statement may do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    """Yield the kind and the text of each piece of a Cypher text; joined they are the whole of it again."""
    for match in _PIECE.finditer(text):
        yield str(match.lastgroup), match.group()


def statements(text: str) -> list[str]:
    """Return the Cypher statements between the semicolons, without those; nothing but comments and blanks is none."""
    found = [""]
    for kind, piece in pieces(text):
        if kind == "end":
            found.append("")
        else:
            found[-1] += piece
    return [statement.strip() for statement in found if _says_something(statement)]


def parameters(statement: str) -> frozenset[str]:
    """Return the names of the `$parameters` a statement uses."""
    return frozenset(piece[1:] for kind, piece in pieces(statement) if kind == "parameter")


def is_finished(text: str) -> bool:
    """Whether what has been typed is to be run: a `:command`, a closing `;`, or an empty line with nothing open."""
    if text.lstrip().startswith(":") or not text.strip():
        return True
    said = [(kind, piece) for kind, piece in pieces(text) if kind not in {"blank", "comment"}]
    if not said or said[-1][0] == "unclosed":
        return False
    depth = sum(1 if piece in "([{" else -1 for kind, piece in said if kind == "bracket")
    *before, last = text.split("\n")
    return said[-1][0] == "end" or (bool(before) and not last.strip() and depth <= 0)


def is_hidden(text: str) -> bool:
    """Whether what is typed next stands in a quote or a comment."""
    kind, piece = [("", ""), *pieces(text)][-1]
    return kind == "unclosed" or (kind == "comment" and piece.startswith("//"))


def _says_something(statement: str) -> bool:
    return any(kind not in {"blank", "comment"} for kind, _ in pieces(statement))
