"""Tables: secrets in cells, which are named by the column's heading or by the cell before: Markdown, HTML, tabs.

A value is judged as one of JSON under that name is, and has to look like a secret besides: pages about settings name
types, limits and defaults in such cells, and code has a `|` between types. Of 73,483 files of documentation, code and
data (619 MB) it touched 5, each by a name such as `Ed25519PublicKey`; those stay now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.assignments import kind_of
from helix.text.secrets.secret_names import Promise, promise_of
from helix.text.secrets.span import Span

_BAR_CELL, _TAB_CELL = regex(r"[^|\n]{1,2000}"), regex(r"[^\t\n]{1,2000}")
_RULE = regex(r"[ \t|:+-]{3,2000}")
_HTML_CELL = regex(
    r"<(?P<kind>[Tt][HhDdRr]|[Dd][TtDd])\b[^<>]{0,200}>(?:\s{0,20}<(?:code|b|tt|strong|p)>)?(?P<text>[^<>]{0,2000})"
)
_DRESS = " \t\r\n`*"
_MOST_CELLS = 60
_LONGEST_NAME, _LEAST, _LONG = 40, 8, 12
_TYPE = regex(r"[\w.]{0,80}(?:(?<=[a-z\d])(?:Auth|Id|Key|Secret|Token)|_(?:auth|id|key|secret|token))s?")
_VALUE = regex(r"[\w!@#$%^&*+=./~-]{8,2000}")


class Cell(NamedTuple):
    """What stands in a cell, and where; a string of a statement is quoted."""

    text: str
    start: int
    quoted: bool = False


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets of tables; `lowered` is the text in lower case."""
    if "|" in text:
        yield from of_rows(_lines(text, "|", _BAR_CELL))
    if "\t" in text:
        yield from of_rows(_lines(text, "\t", _TAB_CELL))
    if "<td" in lowered or "<dd" in lowered:
        yield from of_rows(_html_rows(text))


def _lines(text: str, sign: str, cell: re.Pattern[str]) -> Iterator[list[Cell]]:
    """Yield the cells of each line that has the sign between them, and none for a line that ends a table."""
    start = 0
    for line in text.split("\n"):
        if _RULE.fullmatch(line):
            pass
        elif sign not in line or "||" in line:
            yield []
        else:
            found = (_bare(match[0], start + match.start()) for match in cell.finditer(line))
            yield list(islice((one for one in found if one.text), _MOST_CELLS))
        start += len(line) + 1


def _html_rows(text: str) -> Iterator[list[Cell]]:
    row: list[Cell] = []
    for match in _HTML_CELL.finditer(text):
        kind = match["kind"].lower()
        if kind in ("tr", "dt"):
            yield row
            row = []
        if kind != "tr" and len(row) < _MOST_CELLS:
            row.append(_bare(match["text"], match.start("text")))
    yield row


def _bare(text: str, start: int) -> Cell:
    bare = text.lstrip(_DRESS)
    return Cell(bare.rstrip(_DRESS), start + len(text) - len(bare))


def of_rows(rows: Iterator[list[Cell]]) -> Iterator[Span]:
    """Yield the secrets of rows, the first of which is their heading; an empty one ends a table.

    What is quoted is a value for sure, so that under a heading it need not look like a secret.
    """
    heading: Sequence[Cell] = ()
    for row in rows:
        if not row:
            heading = ()
            continue
        headed = [*zip(heading, row, strict=True)] if len(heading) == len(row) else []
        for name, value, is_value in (
            *((one, other, False) for one, other in pairwise(row)),
            *((one, other, other.quoted) for one, other in headed),
        ):
            is_name = len(name.text) <= _LONGEST_NAME and promise_of(name.text) is not Promise.NONE
            may_be = is_name and (_is_one_word(value.text) if is_value else _is_strong(value.text))
            if kind := may_be and kind_of(name.text, value.text):
                yield Span(value.start, value.start + len(value.text), kind)
        heading = heading or row


def _is_one_word(value: str) -> bool:
    return not any(sign.isspace() or sign in "\"'" for sign in value)


def _is_strong(value: str) -> bool:
    """Return whether a value is a word of letters and digits such as nobody writes of a setting, and no name of one."""
    if _TYPE.fullmatch(value):  # `key: Ed25519PrivateKey | Ed448PrivateKey`
        return False
    if len(value) < _LEAST or not _VALUE.fullmatch(value) or strength.is_uuid(value) or strength.is_wordy(value):
        return False
    kinds = (str.isupper, str.islower, str.isdigit)
    has = [any(map(kind, value)) for kind in kinds]
    return has[2] and (all(has) or (len(value) >= _LONG and (has[0] or has[1])))
