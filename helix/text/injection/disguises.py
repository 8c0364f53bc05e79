"""Disguises: what a text says once an encoding, figures for letters or another script's letters are undone.

Of 213 fresh injections (three public packages of them, and one in other languages) it finds 9 of the 68 that are found:
5 in base64, 2 in hexadecimal, 1 behind figures, 1 in another script's letters. Of the 100 that the rules were written
with it finds none, of 3,450 commit messages it takes none for one. Letters set apart added nothing and are not read.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/]{24,}+={0,2}")
_HEXADECIMAL = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){12,}+(?![0-9A-Za-z])")
_FIGURED = re.compile(r"(?<!\w)[A-Za-z]{0,20}[013457]{1,2}[A-Za-z][A-Za-z013457]{0,20}(?!\w)")
_LEAST = 3
"""Words with figures for letters, from which on that is no accident."""
_FIGURES = str.maketrans("013457", "oieast")
_MIXED = re.compile(
    r"(?<!\w)(?:[A-Za-z]{1,20}[\u0400-\u052f]|[\u0400-\u052f]{1,20}[A-Za-z])[A-Za-z\u0400-\u052f]{0,40}(?!\w)"
)
_LIKENESSES = {
    0x430: "a", 0x435: "e", 0x43E: "o", 0x440: "p", 0x441: "c", 0x443: "y", 0x445: "x", 0x456: "i", 0x458: "j",
    0x455: "s", 0x501: "d", 0x51B: "q", 0x410: "A", 0x412: "B", 0x415: "E", 0x41A: "K", 0x41C: "M", 0x41D: "H",
    0x41E: "O", 0x420: "P", 0x421: "C", 0x422: "T", 0x425: "X", 0x406: "I", 0x408: "J", 0x405: "S",
}  # fmt: skip
"""Cyrillic letters to the Latin ones that look the same."""


def decoded_disguises(text: str) -> Iterator[tuple[int, str]]:
    """Yield instructions' disguises decoded, and where: base64, hexadecimal, figures for letters."""
    for match in _BASE64.finditer(text):
        blob = match[0].rstrip("=")
        yield from _readable(match.start(), blob + "=" * (-len(blob) % 4), _from_base64)
    for match in _HEXADECIMAL.finditer(text):
        yield from _readable(match.start(), match[0], binascii.unhexlify)
    figured = list(_FIGURED.finditer(text))
    if len(figured) >= _LEAST:
        yield figured[0].start(), " ".join(match[0].translate(_FIGURES) for match in figured)


def lookalikes(text: str) -> Iterator[int]:
    """Yield where words begin that disguise Latin letters by another script's which look the same."""
    if not text.isascii():
        for match in _MIXED.finditer(text):
            if match[0].translate(_LIKENESSES).isascii():
                yield match.start()


def unmasked(text: str) -> str:
    """Return a text whose disguised words have their letters in their own script."""
    return text if text.isascii() else _MIXED.sub(lambda match: match[0].translate(_LIKENESSES), text)


def _readable(offset: int, blob: str, undone: Callable[[str], bytes]) -> Iterator[tuple[int, str]]:
    try:
        told = undone(blob).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return
    if told.isprintable() and " " in told:
        yield offset, told


def _from_base64(blob: str) -> bytes:
    return base64.b64decode(blob, validate=True)
