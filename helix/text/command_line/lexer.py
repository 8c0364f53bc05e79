"""Lexer: what a shell line is made of: words with their quotes resolved, operators and redirections.

A grammar of bash's words, quotes and operators.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

MOST_DEPTH = 24
"""How deep substitutions, and groups, may stand within each other; what lies deeper is not read."""

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_REDIRECTION = re.compile(
    r"(?:\d+|\{[A-Za-z_]\w*\})?(?:<<<|<<-|<<|>>|>\||>&|<&|<>|>(?!\()|<(?!\())|&>>?"  # `<(` begins a word
)
_OPERATOR = re.compile(r";;&|;;|;&|&&|\|\||\|&|[|;&()\n]")
_ORDINARY = re.compile(r"[^ \t\r\n|;&()<>\\'\"`$]+")
_ROUGH = re.compile(r"[^ \t\r\n|;&()<>\\]+")
_WITHIN_QUOTES = re.compile(r'[^"\\`$]+')
_WITHIN_BRACES = re.compile(r"[^}\\'\"`$]+")
_BACKQUOTED = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_ANSI_QUOTED = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BRACKET = re.compile(r"[()]")
_QUOTE = re.compile(r"['\"`]")
_ASSIGNS = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")


class Unclosed(Exception):
    """A quote or a substitution that nothing closes."""


class ShellToken(NamedTuple):
    """One word, operator or redirection; `text` is what it comes to, `raw` what was typed.

    Substitutions and variables stay as they were typed. The end of the line is of kind `end`.
    """

    kind: Literal["word", "operator", "redirection", "end"]
    text: str
    raw: str

    def is_plain(self, *texts: str) -> bool:
        """Return whether a word of a command line is unquoted and one of some operators or reserved words."""
        return self.raw in texts and self.kind in ("word", "operator")

    @property
    def assigns(self) -> bool:
        """Whether a word of a command line is an assignment, where one may stand."""
        return _ASSIGNS.match(self.raw) is not None

    @property
    def assigns_list(self) -> bool:
        """Whether a word of a command line is an assignment of a list in brackets."""
        found = _ASSIGNS.match(self.raw)
        return found is not None and self.raw.startswith("(", found.end())


class Tokens:
    """Reads a line token by token, each once.

    `substituted` is called behind the opening bracket of a command substitution and reads on until behind the closing
    one. Where a quote or a substitution is not closed, `certain` becomes False, and from there on quotes are letters.
    """

    def __init__(self, line: str, substituted: Callable[[], None]) -> None:
        self.certain = True
        self._line = line
        self._place = 0
        self._substituted = substituted
        self._within = 0
        self._documents: list[tuple[str, bool]] = []
        self._rough = False
        self._closing: dict[int, int] | None = None

    def next(self) -> ShellToken:
        """Return the next token of a command line; here-documents are passed over with the newline before them."""
        self._past_blanks()
        begun = self._place
        if begun >= len(self._line):
            self.certain &= not self._documents
            return ShellToken("end", "", "")
        if self.skip(_REDIRECTION):
            found = self._line[begun : self._place]
            return ShellToken("redirection", found, found)
        if self.skip(_OPERATOR):
            found = self._line[begun : self._place]
            if found == "\n":
                self._past_documents()
            return ShellToken("operator", found, found)
        return self._word(begun)

    def awaits(self, delimiter: str, *, tabs: bool) -> None:
        """Have the text behind a command line's newline passed over as a here-document, until its delimiter.

        `tabs` tells that the line may be indented with them.
        """
        self._documents.append((delimiter, tabs))

    def skip(self, pattern: re.Pattern[str]) -> bool:
        """Pass over what a pattern matches right here in a command line, and return whether it did."""
        found = pattern.match(self._line, self._place)
        if found is not None:
            self._place = found.end()
        return found is not None

    def skip_arithmetic(self) -> bool:
        """Pass over the rest of a command line's `((...))`, whose first bracket is read; False where it is none."""
        end = self._line.startswith("(", self._place) and self._end_of_arithmetic(self._place - 1)
        if end:
            self._place = end
        return bool(end)

    def _past_blanks(self) -> None:
        for pattern in (_BLANK, _COMMENT):
            self.skip(pattern)

    def _past_documents(self) -> None:
        while self._documents:
            delimiter, tabs = self._documents.pop(0)
            row = None
            while row != delimiter:
                if self._place >= len(self._line):
                    self.certain = False
                    break
                end = self._line.find("\n", self._place)
                end = len(self._line) if end < 0 else end
                row = self._line[self._place : end].rstrip("\r")
                row = row.lstrip("\t") if tabs else row
                self._place = end + 1

    def _word(self, begun: int) -> ShellToken:
        letters: list[str] = []
        within = self._within
        while True:
            here, documents = self._place, list(self._documents)
            try:
                part = self._part()
                part = self._array(begun) if part is None else part
            except Unclosed:
                if within:
                    raise
                self.certain, self._rough, self._within = False, True, 0
                self._place, self._documents, part = here, documents, ""
            if part is None:
                break
            letters.append(part)
        return ShellToken("word", "".join(letters), self._line[begun : self._place])

    def _array(self, begun: int) -> str | None:
        """Return the list in brackets that is assigned by the word that began at a place; None where none is."""
        opening = self._place
        if self._rough or not self._line.startswith("(", opening):
            return None
        if _ASSIGNS.fullmatch(self._line, begun, opening) is None:
            return None
        self._place += 1
        self._enter()
        while (token := self.next()).raw != ")":
            if token.kind == "end":
                raise Unclosed
            self.certain &= (token.kind == "word" and not token.assigns_list) or token.raw == "\n"
        self._within -= 1
        return self._line[opening : self._place]

    def _part(self) -> str | None:
        """Return the next part of a word with its quotes resolved; None where the word ends."""
        ordinary = (_ROUGH if self._rough else _ORDINARY).match(self._line, self._place)
        if ordinary is not None:
            self._place = ordinary.end()
            return ordinary[0]
        match self._line[self._place : self._place + 1]:
            case "\\":
                return self._escaped()
            case "'":
                return self._single_quoted()
            case '"':
                return self._double_quoted()
            case "`":
                return self._matched(_BACKQUOTED)[0]
            case "$":
                return self._expanded(quoted=False)
            case ("<" | ">") as sign if self._line.startswith("(", self._place + 1):
                if not self._rough:
                    return self._command_substituted()
                self._place += 1
                return sign
        return None

    def _escaped(self) -> str:
        escaped = self._line[self._place + 1 : self._place + 3]
        if escaped == "\r\n":
            self._place += 3
            return ""
        self._place += 2
        return "" if escaped[:1] == "\n" else escaped[:1] or "\\"

    def _matched(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._line, self._place)
        if found is None:
            raise Unclosed
        self._place = found.end()
        return found

    def _single_quoted(self) -> str:
        begun = self._place + 1
        end = self._line.find("'", begun)
        if end < 0:
            raise Unclosed
        self._place = end + 1
        return self._line[begun:end]

    def _double_quoted(self) -> str:
        letters: list[str] = []
        self._place += 1
        while True:
            here = self._place
            if self.skip(_WITHIN_QUOTES):
                letters.append(self._line[here : self._place])
            sign, following = self._line[self._place : self._place + 1], self._line[self._place + 1 : self._place + 2]
            if sign == '"':
                self._place += 1
                return "".join(letters)
            if not sign:
                raise Unclosed
            if sign == "\\":
                letters.append(following if following in '"\\$`' else "" if following == "\n" else sign + following)
                self._place += 2
            else:
                letters.append(self._matched(_BACKQUOTED)[0] if sign == "`" else self._expanded(quoted=True))

    def _expanded(self, *, quoted: bool) -> str:
        """Return what begins with a dollar sign as it was typed; `quoted` tells that it stands in double quotes."""
        following = self._line[self._place + 1 : self._place + 2]
        if following == "(":
            end = self._line.startswith("((", self._place + 1) and self._end_of_arithmetic(self._place + 1)
            if not end:
                return self._command_substituted()
            begun, self._place = self._place, end
            return self._line[begun:end]
        if following == "{":
            return self._braced(quoted=quoted)
        if following == "'" and not quoted:
            return self._matched(_ANSI_QUOTED)[1]
        self._place += 1
        return "" if following == '"' and not quoted else "$"

    def _command_substituted(self) -> str:
        begun = self._place
        self._place += 2
        self._enter()
        self._substituted()
        self._within -= 1
        return self._line[begun : self._place]

    def _braced(self, *, quoted: bool) -> str:
        begun = self._place
        self._place += 2
        self._enter()
        while not self._line.startswith("}", self._place):
            self.skip(_WITHIN_BRACES)
            match self._line[self._place : self._place + 1]:
                case "":
                    raise Unclosed
                case "\\":
                    self._place += 2
                case '"':
                    self._double_quoted()
                case "'" if quoted:
                    self._place += 1
                case "'":
                    self._single_quoted()
                case "`":
                    self._matched(_BACKQUOTED)
                case "$":
                    self._expanded(quoted=quoted)
        self._place += 1
        self._within -= 1
        return self._line[begun : self._place]

    def _enter(self) -> None:
        self._within += 1
        if self._within > MOST_DEPTH:
            raise Unclosed

    def _end_of_arithmetic(self, begun: int) -> int:
        """Return the place behind the `))` that closes the `((` at a place; 0 where nothing does."""
        if self._closing is None:
            self._closing = _closing_brackets(self._line)
        end = self._closing.get(begun, 0)
        if not end or self._closing.get(begun + 1) != end - 1:
            return 0
        self.certain &= _QUOTE.search(self._line, begun, end) is None  # what they do there is not followed
        return end + 1


def _closing_brackets(line: str) -> dict[int, int]:
    """Return the place of the bracket that closes each one, whatever the quotes."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for bracket in _BRACKET.finditer(line):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            found[opened.pop()] = bracket.start()
    return found
