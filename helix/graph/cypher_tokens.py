"""The words of a Cypher statement, cut as Kuzu cuts them; text that the two might cut differently is refused.

A grammar of Cypher's tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from helix.errors import CypherRefusedError
from helix.text.cleaning import LONE_SURROGATE
from helix.text.word_lists import word_list

_KEYWORDS = word_list("graph/cypher_words", "keywords")


class TokenKind(StrEnum):
    """What a token is. NAME is a word in backticks, MARK any punctuation."""

    WORD = "word"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    MARK = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class CypherToken:
    """One token as it stands in the text; `line` and `column` count from 1."""

    kind: TokenKind
    text: str
    line: int
    column: int

    @property
    def keyword(self) -> str:
        """The Cypher token in capitals when it is a bare word, else nothing: a quoted word is never a keyword."""
        return self.text.upper() if self.kind is TokenKind.WORD else ""

    def is_mark(self, *marks: str) -> bool:
        """Whether the Cypher token is one of these pieces of punctuation."""
        return self.kind is TokenKind.MARK and self.text in marks

    def __str__(self) -> str:
        return f"{self.text!r} at line {self.line}, column {self.column}" if self.text else "nothing"


# Only ASCII outside quotes: full-width letters, exotic dashes and invisible characters have no place in a keyword, and
# a name that needs them can stand in backticks. Kuzu takes a `$` inside a word for a part of it, hence the lookbehind.
_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>//[^\r\n]*|/\*.*?\*/)
    | (?P<string>'(?:[^'\\]|\\[\\'"bBfFnNrRtT])*'|"(?:[^"\\]|\\[\\'"bBfFnNrRtT])*")
    | (?P<name>(?:`[^`]*`)+)
    | (?P<parameter>(?<![A-Za-z0-9_])\$[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>(?:[0-9]+\.[0-9]+|\.[0-9]+|[0-9]+)(?:[eE]-?[0-9]+)?)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>\.\.|<>|<=|>=|/(?!\*)|[()\[\]{},;:.|=<>+\-*%^&!])
    """,
    re.VERBOSE | re.DOTALL,
)
_NOTHING = CypherToken(kind=TokenKind.MARK, text="", line=0, column=0)
_UNREADABLE = {
    "'": ("the string", r"close it; in strings only \\ \' \" \b \f \n \r \t are escapes"),
    '"': ("the string", r"close it; in strings only \\ \' \" \b \f \n \r \t are escapes"),
    "`": ("the name in backticks", "close it with a backtick"),
    "/": ("the comment", "close it with */"),  # a slash that divides is a token
    "~": ("the operator", "for =~ write regexp_matches(text, '^(pattern)$')"),  # =~ reads any memory: see cypher_words
    "$": ("the parameter", "a parameter is $ and a name of letters, digits and _, set apart from the word before it"),
}


def tokens(text: str) -> list[CypherToken]:
    """Cut a Cypher text into its tokens, comments left out; raises CypherRefusedError at the first that is none."""
    return [token for token, _ in _cut(text) if token is not None]


def blanked(text: str) -> str:
    """Return a Cypher text with comments turned to blanks and odd white space to plain, each character at its place."""
    return "".join(token.text if token else blank for token, blank in _cut(text))


def has_half_characters(text: str) -> bool:
    """Return whether a Cypher text holds lone surrogates, which cannot be sent to Kuzu."""
    return LONE_SURROGATE.search(text) is not None


def peek(found: Sequence[CypherToken], at: int) -> CypherToken:
    """Return the token of a Cypher statement at a place, or one that is nothing before the first and after the last."""
    return found[at] if 0 <= at < len(found) else _NOTHING


def is_name(found: Sequence[CypherToken], at: int) -> bool:
    """Return whether a Cypher word can only be a name here: a property, label, map key or variable before a label."""
    return peek(found, at - 1).is_mark(".", ":") or peek(found, at + 1).is_mark(":")


def ends_operand(found: Sequence[CypherToken], at: int) -> bool:
    """Return whether a value, name or pattern of a Cypher statement ends here, so that only a keyword can follow."""
    token = peek(found, at)
    if token.kind is TokenKind.MARK:
        return token.is_mark(*")]}")
    return token.keyword not in _KEYWORDS - {"END", "NULL", "TRUE", "FALSE"} or is_name(found, at)


def _cut(text: str) -> Iterator[tuple[CypherToken | None, str]]:
    if surrogate := LONE_SURROGATE.search(text):
        raise CypherRefusedError(
            f"the query holds half a character, {surrogate.group()!a}", hint="send the query as valid Unicode text"
        )
    position, line, line_start = 0, 1, 0
    while position < len(text):
        column = position - line_start + 1
        match = _TOKEN.match(text, position)
        if match is None:
            raise _unreadable(text[position], line, column)
        piece = match.group()
        if match.lastgroup in {"space", "comment"}:
            yield None, "".join("\n" if character == "\n" else " " for character in piece)
        else:
            yield CypherToken(kind=TokenKind(str(match.lastgroup)), text=piece, line=line, column=column), ""
        if "\n" in piece:
            line += piece.count("\n")
            line_start = position + piece.rindex("\n") + 1
        position = match.end()


def _unreadable(character: str, line: int, column: int) -> CypherRefusedError:
    place = f"at line {line}, column {column}"
    if character in _UNREADABLE:
        what, hint = _UNREADABLE[character]
        return CypherRefusedError(f"{what} that begins {place} cannot be read", hint=hint)
    return CypherRefusedError(
        f"the character {character!a} (U+{ord(character):04X}) {place} is no part of Cypher",
        hint="names with other characters than A-Z, 0-9 and _ go in backticks, texts in quotes",
    )
