"""Blocks: private keys, which span lines; found whole, from their first marker to their last."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from helix.text.secrets import strength
from helix.text.secrets.span import Span

_KIND = "private-key"
_BEGIN = re.compile(r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_BODY = re.compile(r"(?:[A-Za-z0-9+/=]|\\[nrt]|[\s\"'+,>|])*")
_PUTTY = re.compile(r"(PuTTY-User-Key-File-\d:)(?:[^\n]*\n){1,400}?Private-MAC: ?\w+")
_AGE = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{20,}")
_ENCODED = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/\\\n]{40,}={0,2}")


def find(text: str) -> Iterator[Span]:
    """Yield private key blocks: PEM, OpenPGP, PuTTY and age, also without an end marker or wrapped in base64."""
    if "PRIVATE KEY" in text:
        yield from _armoured(text)
    if "PuTTY-User-Key-File" in text:
        for match in _PUTTY.finditer(text):
            yield Span(match.end(1), match.end(), _KIND)
    if "AGE-SECRET-KEY-1" in text:
        for match in _AGE.finditer(text):
            if not strength.is_filler(match.group()):
                yield Span(match.start(), match.end(), _KIND)
    if "LS0tLS1CRUdJTi" in text:
        for match in _ENCODED.finditer(text):
            if b"PRIVATE KEY" in _decoded_head(match.group()):
                yield Span(match.start(), match.end(), _KIND)


def _armoured(text: str) -> Iterator[Span]:
    ends = [match.span() for match in _END.finditer(text)]
    position = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < position:
            continue
        ends = [span for span in ends if span[0] >= begin.end()] if ends and ends[0][0] < begin.end() else ends
        following = _BEGIN.search(text, begin.end(), ends[0][0]) if ends else None
        if ends and following is None:
            body, end = text[begin.end() : ends[0][0]], ends[0][1]
            if _letters(body) < 16:
                continue
        else:
            match = _BODY.match(text, begin.end())
            end = match.end() if match else begin.end()
            if _letters(text[begin.end() : end]) < 32:
                continue
            end = begin.end() + len(text[begin.end() : end].rstrip())
        position = end
        yield Span(begin.start(), end, _KIND)


def _letters(body: str) -> int:
    return sum(char.isalnum() for char in body)


def _decoded_head(encoded: str) -> bytes:
    head = re.sub(r"[\\\n]", "", encoded[:80])[:48]
    try:
        return base64.b64decode(head)
    except (binascii.Error, ValueError):
        return b""
