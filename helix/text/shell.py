"""Shell lines: one line as somebody typed it, taken apart into the simple commands in it, without running anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import join, normpath

from helix.text.spotting.vocabulary import words

LONGEST_LINE = 8_192
MOST_PARTS = 24

_WORD = r"(?:[^\s'\"\\;&|<>()`]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|(?<=\$)\([^()]*\))+"
_TOKEN = re.compile(
    rf"(?P<redirect>\d*(?:>>|>\||>&|&>>?|<<<|<<-?|<&|<>|>|<))|(?P<end>&&|\|\||\|&|;;|[|;&\n()])|(?P<word>{_WORD})"
    r"|\\\r?\n|.",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_RESERVED = words("do done then else elif if fi while until case esac in ! { } function select coproc")
_SPACES = re.compile(r"\s+")
_NEEDS_QUOTES = re.compile(r"[\s'\"\\;&|<>()`$#]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command: its words without quotes, redirections and assignments, and the folder it is run in.

    `folder` is what `cd` before it led to, from where the line began; empty where it stays there.
    `piped` tells that it reads what another command wrote.
    """

    words: tuple[str, ...]
    folder: str = ""
    piped: bool = False


def simple_commands(line: str) -> tuple[Simple, ...]:
    """Return the commands of a line in order, at most MOST_PARTS; what `cd` does is told by the others' folder.

    Never raises: a quote that is not closed, or what is no shell at all, is read as far as it goes.
    """
    found: list[Simple] = []
    folder = ""
    for said, piped in _parts(_without_documents(line[:LONGEST_LINE])):
        typed = _without_prefix(said)
        if not typed:
            continue
        if typed[0] in ("cd", "pushd"):
            folder = normpath(join(folder, typed[1])) if len(typed) > 1 and typed[1] != "-" else folder
            continue
        found.append(Simple(words=tuple(typed), folder=folder, piped=piped))
        if len(found) == MOST_PARTS:
            break
    return tuple(found)


def joined(said: Sequence[str]) -> str:
    """Return words as a line that is taken apart into the same words."""
    return " ".join(shlex.quote(word) if not word or _NEEDS_QUOTES.search(word) else word for word in said)


def _without_documents(line: str) -> str:
    """Return the line without the bodies of here-documents, which are data."""
    if "<<" not in line:
        return line
    rows, kept, documents = line.split("\n"), list[str](), 0
    while rows:
        row = rows.pop(0)
        kept.append(row)
        end = _HEREDOC.search(row) if documents < MOST_PARTS else None
        if end is not None:
            documents += 1
            last = next((place for place, text in enumerate(rows) if text.strip() == end[2]), -1)
            rows = rows[last + 1 :]
    return "\n".join(kept)


def _parts(line: str) -> Iterator[tuple[list[str], bool]]:
    found: list[str] = []
    piped = target = comment = False
    for token in _TOKEN.finditer(line):
        if comment and token["end"] != "\n":
            continue
        if token["redirect"]:
            target = True
        elif token["end"]:
            yield found, piped
            found, piped, target, comment = [], token["end"] in ("|", "|&"), False, False
        elif token["word"]:
            if target:
                target = False
            elif token["word"].startswith("#"):
                comment = True
            else:
                found.append(_unquoted(token["word"]))
    yield found, piped


def _unquoted(word: str) -> str:
    try:
        plain = " ".join(shlex.split(word)) if any(sign in word for sign in "'\"\\") else word
    except ValueError:
        plain = word
    return _SPACES.sub(" ", plain).strip()


def _without_prefix(said: list[str]) -> list[str]:
    """Return the words without what stands before a command: reserved words and assignments."""
    start = 0
    while start < len(said) and (said[start] in _RESERVED or _ASSIGNMENT.match(said[start])):
        start += 1
    rest = said[start:]
    return [] if not rest or rest[0] == "for" else rest
