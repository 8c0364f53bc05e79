"""Markup: secrets in XML elements, connection strings, calls that take a user and a password, and files of logins.

Each is read as what it is, so that a value goes whole, whatever it looks like, unless it is a template.
Without it 39 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.secret_names import Promise, promise_of
from helix.text.secrets.span import Span

_ELEMENT = regex(
    r"<(?P<name>[A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,200})?>\s{0,8}(?:<[Vv]alue>)?(?P<value>[^<>]{3,2000}?)\s{0,8}</(?:(?P=name)|[Vv]alue)>"
)
_CONNECTED = regex(
    r"\b(?:data ?source|server|host(?:name)?|provider|initial catalog|database(?:name)?|user(?: ?id|name)?|uid|endpoint"
    r"|account(?:name)?|sharedaccesskeyname|driver|dsn)\s{0,3}=\s{0,3}[^;\n\"']{1,200};",
    re.IGNORECASE,
)
_MEMBER = regex(
    r"[;\s\"'&](?:password|passwd|pwd|accountkey|sharedaccesskey|sharedsecretvalue|secret)\s{0,3}=\s{0,3}"
    r"(?P<value>[^;\n\"'<>]{3,200}?)(?=\s{0,3}(?:[;\"'<]|\\\"|$))",
    re.IGNORECASE | re.MULTILINE,
)
_MEMBER_REACH, _LONGEST_NUMBER = 400, 16
_QUOTED = r"(?:\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')"
# What signs in or connects, and its arguments up to the password, which is behind the user's name.
_ARGUMENT = rf"\s{{0,40}}(?:{_QUOTED}|\"\"|''|[$\w.]{{1,60}})\s{{0,2}},"
_USER_AND_PASSWORD = rf"\s{{0,40}}{_QUOTED}\s{{0,2}},\s{{0,40}}(?:Some\()?[\"'](?P<value>[^\"'\n]{{4,100}})[\"']"
_OF_ONE, _OF_TWO = regex(rf"(?:{_ARGUMENT})?{_USER_AND_PASSWORD}"), regex(_ARGUMENT + _USER_AND_PASSWORD)
_OF_THREE = regex(_ARGUMENT + _ARGUMENT + _USER_AND_PASSWORD)
_OF_ANY = regex(rf"{_ARGUMENT}\s{{0,40}}[\"'](?P<value>[^\"'\n]{{4,100}})[\"']")
_SIGNS_IN = {
    **dict.fromkeys(
        ["login", "logon", "auth=", "basicauth", "basic_auth", "credential", "credentials", "directoryentry"], _OF_ONE
    ),
    **dict.fromkeys(["authenticate", "passwordauthentication", "wifi.begin", "authorization_basic"], _OF_ONE),
    **dict.fromkeys(["connect", "connection", "pdo", "mysqli", "sequelize", "ftp", "plainauth"], _OF_TWO),
    "mysql_real_connect": _OF_THREE,
    **dict.fromkeys(["simple_bind_s", "simple_bind", "emailandpassword"], _OF_ANY),
}
_PGPASS = regex(
    r"^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w.*-]{1,63}:[\w.*@-]{1,63}:(?P<value>[^\s:]{4,100})\s{0,4}$", re.MULTILINE
)
_ID_AND_TOKEN = regex(r"(?<![\w/+.-])(?P<id>[A-Za-z0-9_-]{18,64}):(?P<value>[A-Za-z0-9_-]{20,100})(?![\w:])")
_DIGEST = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""A commit, or the digest of an image: behind a name it is no token."""
_DEVICE = regex(
    r"^[ \t]{0,8}(?:enable[ \t]+(?:password|secret)|username[ \t]+\S{1,60}[ \t]+(?:password|secret)"
    r"|snmp-server[ \t]+community|r[ow]community6?|bindpw|requirepass|masterauth|rootpw(?:[ \t]+--\w+)?"
    r"|(?:pac[ \t]+)?key(?=[ \t]+[0-7][ \t]))(?:[ \t]+level[ \t]+\d{1,2})?(?:[ \t]+\d)?"
    r"[ \t]+(?P<value>(?!--)\S{4,128})",
    re.MULTILINE,
)
_DEVICE_SIGNS = (
    "enable password",
    "enable secret",
    "username",
    "community",
    "bindpw",
    "rootpw",
    "requirepass",
    "masterauth",
)
_DEVICE_KEY = regex(r"key[ \t]{1,20}[0-7][ \t]")
_COLONS = 4
# Where a server of mail hands on what it sends: `[mail.shop.test]:587 mira@shop.test:...`
_RELAY = regex(r"\]:\d{2,5}[ \t]{1,8}[\w.+-]{1,60}@[\w.-]{3,60}:(?P<value>[^\s:]{4,100})[ \t]{0,4}$", re.MULTILINE)
_VAULT = regex(r"\$ANSIBLE_VAULT;[^\n]{1,60}\s{1,40}(?P<value>(?:[0-9a-f]{16,120}\s{0,40}){1,200})")


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets of markup and connection strings; `lowered` is the text in lower case."""
    if "</" in text:
        yield from _elements(text)
    if ";" in text and ("passw" in lowered or "pwd" in lowered or "key" in lowered or "secret" in lowered):
        yield from _connections(text)
    if '",' in text or "'," in text or "simple_bind" in lowered or "andpassword(" in lowered:
        yield from _sign_ins(text, lowered)
    if text.count(":") >= _COLONS:
        yield from _values(text, _PGPASS, "password")
    if ":" in text:
        for match in _ID_AND_TOKEN.finditer(text):
            if not _DIGEST.fullmatch(match["value"]) and all(map(strength.is_scrambled, match.group("id", "value"))):
                yield Span(*match.span("value"), "credential")
    if any(sign in lowered for sign in _DEVICE_SIGNS) or _DEVICE_KEY.search(text):
        yield from _values(text, _DEVICE, "password")
    if "]:" in text:
        yield from _values(text, _RELAY, "password")
    if "$ANSIBLE_VAULT" in text:
        for match in _VAULT.finditer(text):
            yield Span(match.start("value"), match.start("value") + len(match["value"].rstrip()), "credential")


def _sign_ins(text: str, lowered: str) -> Iterator[Span]:
    for call, arguments in _SIGNS_IN.items():
        at = lowered.find(f"{call}(")
        while at >= 0:
            other = call == "connect" and lowered.endswith("_real_", 0, at)  # which has one argument more
            at += len(call) + 1
            match = arguments.match(text, at)
            if match is not None and not other and not strength.is_placeholder(match["value"]):
                yield Span(*match.span("value"), "password")
            at = lowered.find(f"{call}(", at)


def _elements(text: str) -> Iterator[Span]:
    for match in _ELEMENT.finditer(text):
        promise, value = promise_of(match["name"]), match["value"]
        if promise in (Promise.NONE, Promise.MAYBE) or strength.is_template(value):
            continue
        words = value.split()
        if len(words) == 1 and promise is Promise.PASSWORD and not strength.is_placeholder(value, every=True):
            yield Span(*match.span("value"), "password")
            continue
        numbered = promise is Promise.TOKEN and value.isdigit() and len(value) >= _LONGEST_NUMBER
        if numbered or any(strength.is_scrambled(word.strip("{}")) for word in words):
            yield Span(*match.span("value"), "credential")


def _connections(text: str) -> Iterator[Span]:
    position = 0
    for known in _CONNECTED.finditer(text):
        # A member may stand before or behind the one that tells what this is, in the same line or the next.
        start = max(position, text.rfind("\n", 0, known.start()) + 1, known.start() - _MEMBER_REACH)
        end = known.end() + _MEMBER_REACH
        if end <= position:
            continue
        for match in _MEMBER.finditer(text, max(start - 1, 0), end):
            braced = match["value"][0] == "{" and match["value"][-1] == "}"  # as ODBC has it
            told = strength.looks_told(match["value"][1:-1]) if braced else not strength.is_template(match["value"])
            if match.end() < end and told:
                yield Span(match.start("value") + braced, match.end("value") - braced, "password")
            continue
        position = max(position, known.end())


def _values(text: str, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        value = match["value"]
        if not strength.is_stand_in(value) and not (strength.is_wordy(value) and strength.is_word_like(value)):
            yield Span(*match.span("value"), kind)
