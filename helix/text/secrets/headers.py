"""Headers and addresses: credentials in URLs, in Authorization headers, on command lines and in login files.

Without it 382 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.secret_names import FILLER, Promise, promise_of
from helix.text.secrets.span import Span

# `user:password@` without a scheme, as drivers of databases and proxies take it.
_DRIVER_HOST = regex(r"@(?=(?:tcp|unix)\(|[\w.-]{1,80}:\d{2,5}(?!\d))")
_DRIVER_LOGIN = regex(r"(?<![\w./@:+-])(?P<user>[\w.-]{1,60}):(?P<password>[^\s/?#@:\"'<>,;()]{3,100})\Z")
_NO_SCHEME = regex(r"//(?<![\w:/.]//)(?P<user>[\w.%+-]{1,100}):(?P<password>[\w.~%+!-]{4,200})@(?=\w)")
_NO_USER = frozenset({"mailto", "sip", "sips", "xmpp", "acct", "ssh", "git", "tel", "image"})
_USERINFO = regex(  # a path that is brought to one form has lost a slash of `https://`
    r"(?:://|(?<=http):/|(?<=https):/)(?P<user>[^\s/?#@:\"'<>]{0,200})"
    r"(?::(?P<password>[^\s/?#\"'<>,]{1,400}|[^\s/?#\"'<>]{1,400}?|[^\s@\"'<>]{1,200})|:)?@(?=[\w\[$<{-])"
)
_YOUR_OWN = regex(r"your-?password|(?:YOUR|REPLACE|INSERT|ENTER|CHANGE)[_-][A-Z_-]{2,30}")
_TOKEN_ALONE = regex(r"(?=(?:[A-Za-z]*\d){4})(?=[^a-z]*[a-z])[A-Za-z0-9]{14,200}|[A-Z]{20,200}")
"""A user without a password that no person is called like."""
# What vendors tell to write for a password where the token stands for the user.
_TOKEN_IS_USER = "x-oauth-basic"
# Whoever knows the address of a webhook may write there: what stands behind the part that says so is the secret.
_WEBHOOK = regex(
    r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/|api\.telegram\.org/bot"
    r"|://(?!hooks\.slack)[\w.-]{0,60}hooks?\.[\w.-]{1,60}/(?:[a-z][a-z-]{0,20}/){0,4}|://[^\s\"'<>/]{1,100}/(?:[a-z][\w-]{0,20}/){0,4}"
    r"(?:web)?hooks?(?:b2|/[a-z]{1,12})?/|chat\.googleapis\.com/v1/spaces/\w+/messages\?key=)"
    r"(?P<value>[\w@:/%.~-]{12,400})",
    re.IGNORECASE,
)
# Keys that stand in the path of a vendor's addresses.
_KEYED_PATH = regex(  # and any whose part before the last is called so
    r"(?:infura\.io/(?:ws/)?v3|alchemy(?:api)?\.(?:com|io)/v2|quiknode\.pro|thingsboard\.\w+/api/v1|getblock\.io"
    r"|moralis\.io|ankr\.com/\w+|rpc\.\w+/v\d|://[^\s\"'<>?#]{1,200}/(?:api[_-]?key|key|token|secret))/(?P<value>[\w-]{18,80})"
)
_SIGNED = regex(
    r"[?&](?:sign?|signature|appid|AWSAccessKeyId|X-(?:Amz|Goog)(?:-|%2D)(?:Signature|Credential|Security(?:-|%2D)Token))="
    r"(?P<value>[^&\s\"'<>#]{3,2000})",
    re.IGNORECASE,
)
# Of a header, and of a mapping that is called so, as logs of requests and calls of clients have it.
_COOKIES = regex(
    r"(?<![\w-])(?:set-)?cookie[\"']?:[ \t]{0,3}[\"']?(?P<pairs>[^\r\n\"']{3,4000})"
    r"|(?<![\w-])cookies[\"']?[ \t]{0,3}[:=]\s{0,4}\{(?P<mapping>[^{}]{3,4000})",
    re.IGNORECASE,
)
_COOKIE = regex(
    r"(?<![\w.-])(?!(?:path|domain|expires|max-age|samesite|priority)=)(?P<name>[\w.-]{1,80})=(?P<value>[^\s;,]{3,4000})",
    re.IGNORECASE,
)
_SHORTEST_COOKIE = 8
_COOKIE_OF_MAPPING = regex(
    r"[\"'][\w.-]{1,80}[\"']\s{0,4}:\s{0,4}(?:\"(?P<double>[^\"\n]{3,4000})\"|'(?P<single>[^'\n]{3,4000})')"
)
_AUTHORIZATION = regex(
    r"authorization[\"'\]\\]{0,3}\s{0,4}[:=,]\s{0,4}\\?[\"']?\\?(?P<scheme>[a-z][\w-]{1,20}\s{1,4})?"
    r"(?P<value>[^\s\"'\\,;]{6,4000})",
    re.IGNORECASE,
)
_SCHEMES = regex(r"(?:bearer|basic|token|api-?key|key|jwt)\s+", re.IGNORECASE)
_BEARER = regex(r"\bbearer\s{1,4}(?P<value>[\w.~+/=|-]{8,4000})", re.IGNORECASE)
_BASIC = regex(r"\bbasic\s{1,4}(?P<value>[A-Za-z0-9+/]{8,4000}={0,2})(?![\w+/=])", re.IGNORECASE)
_CURL_USER = regex(
    r"\s(?:-[a-zA-Z]{0,4}u|--user|-U|--proxy-user)[ \t=]{0,4}[\"']?(?P<user>[^\s:\"']{0,200})[\"']?:[\"']?"
    r"(?P<password>[^\s\"']{0,400})"
)
_JOINED_WORDS = regex(r"(?![A-Z_]*(?:KEY|TOKEN|SECRET)$)[A-Za-z]+(?:[_-][A-Za-z]+){2,}")
_LOGIN_REACH = 170
# Bundler reads `user:password` for a gem server from a variable that spells the server's host.
_BUNDLER = regex(
    r"\bBUNDLE_\w{1,60}__\w{1,60}[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?P<value>[\w.~-]{1,100}:[^\s\"';&]{1,200})"
)
_GAP = r"\s|\\{1,4}[nrt]"
# A line of `ipsec.secrets`: `mira : EAP "..."`.
_OF_IPSEC = regex(r"(?:^|\s):[ \t](?:PLAIN|EAP|XAUTH)[ \t]{1,4}\"(?P<value>[^\"\n]{3,200})\"")
_LOGINS = (
    (  # of .npmrc
        ":_",
        regex(r":_(?:auth(?:token)?|password)[ \t]{0,2}=[ \t]{0,2}[\"']?(?P<value>[^\s\"'$]{3,400})", re.IGNORECASE),
    ),
    ("sshpass", regex(r"\bsshpass\s{1,4}-p\s{0,4}[\"']?(?P<value>[^\s\"']{4,200})")),
    (
        "mysql",
        regex(
            r"\bmysql(?:dump|admin)?(?=[ \t])[^\n]{0,200}?\s-p(?!ort|rotocol|lugin|ager)[\"']?"
            r"(?P<value>[^\s\"'-][^\s\"']{3,200})"
        ),
    ),
    ("thin:", regex(r"\bthin:[^\s/:@\"']{1,60}/(?P<value>[^\s\"'/]{3,100})@(?=[\w(/])", re.IGNORECASE)),
    ("login", regex(r"\blogin\s{1,8}[^\s]{1,100}\s{1,8}password\s{1,8}(?P<value>[^\s]{3,200})")),
    (  # the same with its lines escaped, as `printf` and JSON have them
        "login",
        regex(
            rf"(?:\b|(?<=\\[nrt]))login(?:{_GAP}){{1,8}}[^\s\\]{{1,100}}?(?:{_GAP}){{1,8}}password(?:{_GAP}){{1,8}}"
            r"(?P<value>(?:[^\s\\\"']|\\(?![nrt\\\"'])){3,200})"
        ),
    ),
    ("userpwd", regex(r"USERPWD[\"']?\s{0,4}(?:,|=>?)\s{0,4}[\"'][^\s:\"'$]{1,60}:(?P<value>[^\s\"'$]{3,200})[\"']")),
    *((f": {kind}", _OF_IPSEC) for kind in ("plain", "eap", "xauth")),
    ("wifi:", regex(r"\bWIFI:(?:[A-OQ-Z]:[^;\n]{0,64};){0,4}P:(?P<value>[^;\n]{3,100});")),
    ("::add-mask::", regex(r"::add-mask::(?P<value>[^\s\"'$]{4,200})")),
    (
        "securestring",
        regex(r"ConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?[\"'](?P<value>[^\"'\n]{3,200})", re.IGNORECASE),
    ),
)
_HASH = regex(
    r"(?<![\w$])(?:\$(?:1|5|6|8|9|2[aby]|y|apr1|argon2id?)\$|pbkdf2_sha\d+\$|SCRAM-SHA-\d+\$\d+:|\{S(?:SHA\d{0,3}|MD5)\})"
    r"[\w./$=,+:-]{20,400}"
)


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the secrets of addresses, headers and login commands; users and hosts are left."""
    if ":/" in text:
        yield from _addresses(text)
    if "@" in text:
        yield from _driver_logins(text)
    if "authorization" in lowered or "bearer" in lowered or "basic" in lowered or "cookie" in lowered:
        yield from _headers(text)
    if "curl" in lowered:
        yield from _curl_user(text)
    yield from _logins(text, lowered)


def _addresses(text: str) -> Iterator[Span]:
    for match in _USERINFO.finditer(text):
        user, password = match["user"], match["password"]
        if password is None or password == _TOKEN_IS_USER:
            told = password is not None and any(map(str.isdigit, user)) and not strength.is_template(user)
            told = told or (match[0].startswith(("://", ":/")) and strength.is_shuffled(user))
            if told or strength.looks_random(user, least=20) or _TOKEN_ALONE.fullmatch(user):
                yield Span(*match.span("user"), "url-password")
        elif not (strength.is_template(unquote(password)) or _YOUR_OWN.fullmatch(password)):
            yield Span(*match.span("password"), "url-password")
    for match in _SIGNED.finditer(text):
        if not strength.is_told_to_be_none(match["value"]):
            yield Span(*match.span("value"), "url-signature")
    for pattern, kind in ((_WEBHOOK, "webhook-url"), (_KEYED_PATH, "url-key")):
        for match in pattern.finditer(text):
            value = match["value"]
            long = any(len(part) > 11 for part in value.split("/"))
            if long and any(map(str.isdigit, value)) and not strength.is_stand_in(value):
                yield Span(*match.span("value"), kind)


def _driver_logins(text: str) -> Iterator[Span]:
    found = list(_NO_SCHEME.finditer(text)) if "//" in text else []
    for host in _DRIVER_HOST.finditer(text):
        match = _DRIVER_LOGIN.search(text, max(0, host.start() - _LOGIN_REACH), host.start())
        if match is not None and match["user"].lower() not in _NO_USER and not text.startswith("@sha", host.start()):
            found.append(match)
    for match in found:
        if not strength.is_template(match["password"]):
            yield Span(*match.span("password"), "url-password")


def _headers(text: str) -> Iterator[Span]:
    for match in _AUTHORIZATION.finditer(text):
        value = match["value"]
        told = _SCHEMES.fullmatch(match["scheme"] or "") and not strength.is_told_to_be_none(value)
        told = told and value.lower() not in FILLER and not strength.is_constant(value)
        if told or (strength.looks_chosen(value) and not strength.is_expression(value)):
            yield Span(*match.span("value"), "auth-header")
    for match in _BEARER.finditer(text):
        value = match["value"]
        told = any(map(str.isdigit, value)) or _JOINED_WORDS.fullmatch(value) is not None
        told = told or (strength.looks_chosen(value) and not value.endswith("="))
        if told and not strength.is_told_to_be_none(value):
            yield Span(*match.span("value"), "auth-header")
    for match in _COOKIES.finditer(text):
        part, pattern = ("pairs", _COOKIE) if match["mapping"] is None else ("mapping", _COOKIE_OF_MAPPING)
        for one in pattern.finditer(text, *match.span(part)):
            group = one.lastgroup or ""
            if group == "value" and len(one[group]) < _SHORTEST_COOKIE and promise_of(one["name"]) is Promise.NONE:
                continue
            if not strength.is_told_to_be_none(one[group]) and one[group].lower() not in FILLER:
                yield Span(*one.span(group), "cookie")
    for match in _BASIC.finditer(text):
        if b":" in _decoded(match["value"]):
            yield Span(*match.span("value"), "auth-header")


def _curl_user(text: str) -> Iterator[Span]:
    for match in _CURL_USER.finditer(text):
        user, password = match["user"], match["password"]
        if not password:
            if strength.looks_chosen(user):
                yield Span(*match.span("user"), "password")
        elif not _stands_in(password, user):
            yield Span(*match.span("password"), "password")


def _logins(text: str, lowered: str) -> Iterator[Span]:
    for anchor, pattern in _LOGINS:
        if anchor in lowered:
            for match in pattern.finditer(text):
                if not strength.is_template(match["value"]) and not match["value"].startswith("%"):
                    yield Span(*match.span("value"), "password")
    if "BUNDLE_" in text:
        yield from _values(text, _BUNDLER, "env-value")
    if "$" in text or "{S" in text:
        for match in _HASH.finditer(text):
            if not strength.is_stand_in(match.group().rpartition("}")[2].lstrip("$")):
                yield Span(*match.span(), "password-hash")


def _values(text: str, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        if not _stands_in(match["value"]):
            yield Span(*match.span("value"), kind)


def _stands_in(password: str, user: str = "") -> bool:
    """Whether the password is a variable, filler, or the user's name once more, as documents have it (`test:test`)."""
    return (
        password.lower() == user.lower()
        or password.startswith(("$", "[", "*"))
        or password.endswith(">")
        or strength.is_stand_in(password)
    )


def _decoded(value: str) -> bytes:
    """Return the text that base64 stands for, empty when it stands for none."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return b""
    return decoded if decoded.isascii() and decoded.decode("ascii").isprintable() else b""
