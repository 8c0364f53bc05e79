"""Written: a text as a person reads it, without a terminal's colours and other ways to write a letter."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_SIGNS = ("\x1b", "&", "\\u", "**")
# What a terminal obeys, also as JSON writes it; HTML's and JSON's letters; emphasis that begins or ends within a word.
_MARK = re.compile(
    r"(?:\x1b|\\{1,4}u001[bB])\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]{0,8}[0-Z\\^-~]"
    r"|(?P<letter>&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|\\{1,4}u(?P<code>[0-9a-fA-F]{4})|(?<=[^\W\d_])\*\*(?=[^\W\d_])"
)

NO_TAG = "\u2039"
_NO_MARKS = str.maketrans({"<": NO_TAG, '"': "\u201d", "'": "\u2019"})
"""What stands for marks that were written as letters: they begin no tag, and end no value in one."""


@dataclass(frozen=True, slots=True)
class AsRead:
    """A text as it is read, and where its parts stand there (`here`) and as it was written (`there`)."""

    text: str
    here: Sequence[int] = (0,)
    there: Sequence[int] = (0,)

    def place(self, at: int) -> int:
        """Return where in the written text a place of the read one is."""
        part = bisect_right(self.here, at) - 1
        return self.there[part] + at - self.here[part]


def as_read(text: str) -> AsRead:
    """Return a text as it is read; what has none of these marks stays as it is."""
    if not any(sign in text for sign in _SIGNS):
        return AsRead(text)
    pieces, here, there, length = list[str](), [0], [0], 0
    for found in _MARK.finditer(text):
        before, letter = text[there[-1] : found.start()], _letter(found)
        pieces += before, letter
        length += len(before) + len(letter)
        here.append(length)
        there.append(found.end())
    return AsRead("".join((*pieces, text[there[-1] :])), here, there)


def _letter(found: re.Match[str]) -> str:
    if found["code"]:
        return chr(int(found["code"], 16))
    return html.unescape(found["letter"] or "").translate(_NO_MARKS)
