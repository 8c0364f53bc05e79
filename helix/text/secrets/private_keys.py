"""Private keys: private keys, which span lines; found whole, from their first marker to their last.

Without it 18 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import deque
from collections.abc import Iterator

from helix.text.secrets import strength
from helix.text.secrets.span import Span

_KIND = "private-key"
# Letters and digits that the body of a key has at least which is cut off: words may stand behind its first mark.
_SHORTEST_CUT_BODY = 32
_WORDS = re.compile(r"(?<![a-z'])[a-z']++(?:[ ,]++[a-z']++){2}", re.IGNORECASE)
_NAME = r"(?:(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?|OpenVPN [Ss]tatic key V1)"
_BEGIN = re.compile(rf"-{{4,5}} ?BEGIN {_NAME} ?-{{4,5}}")
_END = re.compile(rf"-{{4,5}} ?END {_NAME} ?-{{4,5}}")
_BODY = re.compile(
    r"(?:\s{0,4}(?:Version|Comment|Hash|Charset|Proc-Type|DEK-Info):[^\n]{0,200}\n){0,6}"
    r"(?:[A-Za-z0-9+/=\s\"',>|]|\\[nrt])*"
)
_PUTTY = re.compile(  # also without its end, as it is when a file was cut off
    r"(PuTTY-User-Key-File-\d:)(?:[^\n]*\n){1,100}?"
    r"(?:Private-MAC: ?\w+|Private-Lines:[^\n]*\n(?:[A-Za-z0-9+/=]{1,100}(?:\n|\Z)){1,400}+(?!Private-MAC))"
)
_AGE = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{20,}")
HELIX = "helix-private-key1:"
"""What stands before the seed of a key that signs strands, so that it is known wherever a file of one is shown."""
TOKEN = "helix-token1:"
"""What stands before the token that lets somebody into a share."""
_HELIX = re.compile(rf"(?:{HELIX}|{TOKEN})[\w-]{{16,}}", re.ASCII)
_MINISIGN = re.compile(r"RWRTY0Iy[A-Za-z0-9+/]{100,}={0,2}")
_WALLET = re.compile(r"\b(?:[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{100,120}|nsec1[02-9ac-hj-np-z]{58})\b")
_JWK = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,4}:\s{0,4}\"([\w-]{20,})\"")
_WHOLE = ((HELIX, _HELIX), (TOKEN, _HELIX), ("RWRTY0Iy", _MINISIGN), ("prv", _WALLET), ("nsec1", _WALLET))
_ENCODED = re.compile(r"LS0tLS1CRUdJTi[A-Za-z0-9+/\\\n]{40,}={0,2}")


def find(text: str) -> Iterator[Span]:
    """Yield secret private keys: PEM, OpenPGP, PuTTY, age, JWK, wallets, minisign, Helix; also cut off or in base64."""
    if "PRIVATE KEY" in text or "tatic key V1" in text:
        yield from _armoured(text)
    if "PuTTY-User-Key-File" in text:
        for match in _PUTTY.finditer(text):
            yield Span(match.end(1), match.end(), _KIND)
    if "AGE-SECRET-KEY-1" in text:
        for match in _AGE.finditer(text):
            if not strength.is_stand_in(match.group()):
                yield Span(match.start(), match.end(), _KIND)
    if '"kty"' in text:
        for match in _JWK.finditer(text):
            yield Span(*match.span(1), _KIND)
    for sign, shape in _WHOLE:
        if sign in text:
            yield from (Span(*match.span(), _KIND) for match in shape.finditer(text))
    if "LS0tLS1CRUdJTi" in text:
        for match in _ENCODED.finditer(text):
            if b"PRIVATE KEY" in _decoded_head(match.group()):
                yield Span(match.start(), match.end(), _KIND)


def _armoured(text: str) -> Iterator[Span]:
    begins = [match.span() for match in _BEGIN.finditer(text)]
    ends = deque(match.span() for match in _END.finditer(text))
    for number, (start, body) in enumerate(begins):
        following = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        while ends and ends[0][0] < body:
            ends.popleft()
        if ends and ends[0][0] < following:
            if _is_stated(text[body : ends[0][0]]):
                yield Span(start, ends[0][1], _KIND)
            continue
        match = _BODY.match(text, body, following)
        end = body + len(match.group().rstrip()) if match else body
        if _is_cut(text[body:end]):
            yield Span(start, end, _KIND)


def _is_stated(body: str) -> bool:
    """Whether a key stands between its marks, whatever it is made of, and no words about one."""
    bare = body.replace("\\n", " ").replace(".", "").strip()  # an excerpt of a key is one
    said = strength.is_told_to_be_none(bare) or _WORDS.search(bare) is not None
    return any(map(str.isalnum, bare)) and (not said or sum(map(str.isdigit, bare)) > _SHORTEST_CUT_BODY // 4)


def _is_cut(body: str) -> bool:
    long_enough = sum(char.isalnum() for char in body) >= _SHORTEST_CUT_BODY
    return long_enough and (any(map(str.isdigit, body)) or strength.word_share(body) < 0.5)


def _decoded_head(encoded: str) -> bytes:
    head = re.sub(r"[\\\n]", "", encoded[:80])[:48]
    try:
        return base64.b64decode(head)
    except (binascii.Error, ValueError):
        return b""
