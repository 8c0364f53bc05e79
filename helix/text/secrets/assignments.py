"""Assignments: values that stand beside a name which smells of a secret (`.env`, code, YAML, JSON, flags, prose)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum

from helix.text.secrets import strength
from helix.text.secrets.span import Span

_HINT = re.compile(
    r"pass|pwd|pw\b|senha|kennwort|contrasena|secret|token|key|cred|auth|bearer|jwt|\bpat\b|login|access|cookie|session|srt"
)
_ASSIGNMENT = re.compile(
    r"""
    (?P<name>[A-Za-z_][\w.\-]{0,80})(?P<close>(?:\\{0,3}["'`])?[\])]{0,2})
    (?:\s?:\s?[A-Za-z_][\w.\[\]|,\ ]{0,40}(?=\s?=[^=]))?
    (?:
        (?P<value_key>["']?\s{0,4},?\s{1,40}["']?(?:\w{0,10}_)?value["']?\s{0,4}[:=]\s{0,4})
      | (?P<assign>[ \t]{0,40}(?::{0,3}=|[?+!]=|={1,3}>?|:)\s{0,12})
      | (?P<comma>\s{0,4},\s{0,4}(?=\\?["']))
      | (?P<call>\(\s{0,4}(?=\\?["']))
      | (?P<tag>>(?!\s))
      | (?P<prose>[ \t]+(?:is|was)[ \t:]{1,3})
      | (?P<blank>[ \t]{1,8})
    )
    (?:
        (?:[A-Za-z]{0,2}|@)\\{0,3}(?:"(?P<double>[^"\n]{1,2000})["]|'(?P<single>[^'\n]{1,2000})[']|`(?P<back>[^`\n]{1,2000})`)
      | (?P<plain>[^\s"'`<>,;]{1,500})
    )
    """,
    re.VERBOSE,
)
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_READER = re.compile(
    r"_*(?:get|fetch|read|load|find|look|resolve|check|verify|validate|is|has|require|delete|remove|create|make|parse|ask)",
    re.IGNORECASE,
)
_NOT_SPACE = re.compile(r"\S{0,8192}")
_LONG = 400
_EVALUATED = 500
_STRAY = (",", ")", ";", "+", "]", "}")
_LOCATION = re.compile(
    r"\w+://|[./~]{1,2}/|/\w|[A-Za-z]:\\|.*\.(?:py|js|ts|go|rs|json|ya?ml|toml|ini|txt|pem|crt|cer|p12|jks|key|pub|md|html?|xml|sh|cfg|conf|env|com|org|net|io|dev)\b",
    re.IGNORECASE,
)
_SYMBOL_WORDS = re.compile(
    r"[A-Za-z][a-z0-9]*(?:[-_ .:/][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z]+)+\d*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)


class _Name(IntEnum):
    """How strongly a name promises a secret."""

    NONE = 0
    IDENTIFIER = 1
    KEY = 2
    TOKEN = 3
    PASSWORD = 4


_PASSWORD_WORDS = frozenset(
    [
        "password",
        "passwd",
        "passwort",
        "passphrase",
        "passcode",
        "pwd",
        "secret",
        "secrets",
        "contrasena",
        "contraseña",
        "userpass",
    ]
)
_TOKEN_WORDS = frozenset(
    [
        "token",
        "apikey",
        "apitoken",
        "authtoken",
        "authkey",
        "accesskey",
        "secretkey",
        "privatekey",
        "credential",
        "credentials",
        "auth",
        "authorization",
        "bearer",
        "pat",
        "jwt",
    ]
)
_KEY_OWNERS = frozenset(
    [
        "access",
        "account",
        "admin",
        "api",
        "app",
        "application",
        "auth",
        "client",
        "consumer",
        "db",
        "database",
        "deploy",
        "deployment",
        "encryption",
        "hmac",
        "ingest",
        "integration",
        "jwt",
        "license",
        "master",
        "priv",
        "private",
        "rest",
        "root",
        "secret",
        "service",
        "session",
        "shared",
        "sig",
        "signing",
        "ssh",
        "storage",
        "subscription",
        "user",
        "webhook",
        "write",
    ]
)
_KEY_BENIGN = frozenset(
    [
        "primary",
        "foreign",
        "partition",
        "sort",
        "cache",
        "public",
        "pub",
        "row",
        "hash",
        "group",
        "object",
        "map",
        "dict",
        "index",
        "bucket",
        "route",
        "routing",
        "unique",
        "composite",
        "lookup",
        "search",
        "registry",
        "schema",
        "sequence",
        "idempotency",
        "dedup",
        "translation",
        "message",
        "i18n",
        "config",
        "sorting",
        "column",
        "field",
        "host",
        "known",
        "ordering",
    ]
)
_PASS_OWNERS = frozenset(
    """
    admin auth basic broker cert database db docker email ftp gmail http imap jenkins key keystore ldap login mail mongo my mysql pg
    postgres proxy queue rabbitmq redis registry root rpc sftp smtp ssh store sudo super user vpn wifi wp
    """.split()
)
_TOKEN_BENIGN = frozenset(
    [
        "page",
        "next",
        "prev",
        "previous",
        "continuation",
        "continue",
        "cancel",
        "cancellation",
        "cancelled",
        "pad",
        "eos",
        "bos",
        "unk",
        "mask",
        "sep",
        "cls",
        "stop",
        "start",
        "end",
        "special",
        "lex",
        "syntax",
        "parse",
        "parser",
        "csrf",
        "xsrf",
        "authenticity",
        "public",
        "pub",
        "resume",
        "change",
        "sync",
        "cursor",
        "lookahead",
        "antiforgery",
        "verification",
        "first",
        "last",
    ]
)
_QUALIFIERS = frozenset(
    [
        "value",
        "val",
        "str",
        "string",
        "raw",
        "b64",
        "base64",
        "plain",
        "text",
        "prod",
        "production",
        "dev",
        "staging",
        "test",
        "live",
        "old",
        "new",
        "default",
        "current",
        "backup",
        "main",
        "primary",
        "secondary",
        "a",
        "b",
        "c",
        "x",
        "y",
        "enc",
        "encoded",
        "header",
        "data",
    ]
)


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield the values of assignments to names that smell of a secret. `lowered` is the text in lower case, as long."""
    position = 0
    for hint in _HINT.finditer(lowered):
        if hint.start() < position:
            continue
        match = _ASSIGNMENT.match(text, _name_start(text, hint.start(), position))
        if match is None:
            continue
        position = match.end("name")
        name = _name_strength(match["name"], text[max(0, match.start() - 16) : match.start()])
        if name is _Name.NONE:
            continue
        span = _judge(text, match, name)
        if span is not None:
            yield span
        if span is not None or match.end() - match.start() > _LONG:
            position = max(position, match.end())


def _name_start(text: str, hint: int, floor: int) -> int:
    start = hint
    while start > max(floor, hint - 60) and (text[start - 1] in "_.-" or text[start - 1].isalnum()):
        start -= 1
    while start < hint and not (text[start].isalpha() or text[start] == "_"):
        start += 1
    return start


def secret_name(name: str) -> bool:
    """Whether a name on its own promises a secret."""
    return _name_strength(name, "") is not _Name.NONE


def _judge(text: str, match: re.Match[str], name: _Name) -> Span | None:
    group = next(key for key in ("double", "single", "back", "plain") if match[key] is not None)
    value, start = match[group], match.start(group)
    gap = match.group(0)[: start - match.start()]
    quoted = group != "plain"
    if not quoted and "\n" in gap and match["value_key"] is None:
        return None
    if match["blank"] is not None and not (text.endswith("-", 0, match.start()) or (quoted and not match["close"])):
        return None
    if match["call"] is not None and _READER.match(match["name"].rpartition(".")[2]):
        return None
    if match["tag"] is not None and not text.startswith("</", start + len(value)):
        return None
    in_query = match.start() > 0 and text[match.start() - 1] in "?&"
    env_style = (
        not quoted
        and match["assign"] is not None
        and _starts_line(text, match.start())
        and (match["name"].isupper() or gap.endswith("="))
    )
    if in_query or (not quoted and "&" in value and "://" in text[max(0, start - 200) : start]):
        value = value.split("&", 1)[0].split("#", 1)[0]
    if env_style and not in_query:
        value = text[start : _NOT_SPACE.match(text, start).end()].rstrip("\"',;")
    elif not quoted:
        value = value.rstrip(".:!?)]}|")
    value = value.rstrip("\\")
    if text.startswith(("..", "…"), start + len(value)):
        return None
    weak = any(match[key] is not None for key in ("comma", "prose", "blank", "call"))
    if not quoted and len(value) >= _EVALUATED:
        value = text[start : _NOT_SPACE.match(text, start).end()]
    if not _accept(
        value,
        name,
        quoted=quoted,
        env_style=env_style,
        shouted=env_style and match["name"].isupper() and gap.endswith((match["name"] + "=", ": ")),
        weak=weak,
    ):
        return None
    kind = "env-value" if env_style else "password" if name is _Name.PASSWORD else "credential"
    return Span(start, start + len(value), kind)


def _accept(value: str, name: _Name, *, quoted: bool, env_style: bool, shouted: bool, weak: bool) -> bool:
    if (
        (strength.is_filler(value) and not strength.is_uuid(value))
        or _LOCATION.match(value)
        or strength.is_published_sample(value)
    ):
        return False
    if strength.is_expression(value) if not quoted and not shouted else value.startswith(_STRAY):
        return False
    if strength.is_uuid(value):
        return name is not _Name.IDENTIFIER
    if name is _Name.IDENTIFIER:
        return (
            not strength.is_hex(value) and strength.looks_random(value, least=12) and strength.word_share(value) < 0.6
        )
    if name is _Name.KEY:
        return (strength.is_hex(value) and len(value) >= 20 and not value.isdigit()) or (
            len(value) >= 14
            and strength.looks_random(value, least=14)
            and not any(char.isspace() for char in value)
            and strength.word_share(value) < 0.4
        )
    if any(char.isspace() for char in value):
        return (
            name is _Name.PASSWORD
            and quoted
            and not weak
            and bool(re.search(r"\d|[^\w\s.,'!?-]", value))
            and value.count(" ") <= 6
        )
    if name is _Name.TOKEN:
        return (
            len(value) >= 10
            and strength.looks_chosen(value)
            and (strength.word_share(value) < 0.35 or not _SYMBOL_WORDS.fullmatch(value))
        )
    if env_style or (quoted and not weak):
        return len(value) >= 4 and (strength.looks_chosen(value) or not _SYMBOL_WORDS.fullmatch(value))
    return strength.looks_chosen(value) and not _SYMBOL_WORDS.fullmatch(value)


def _starts_line(text: str, start: int) -> bool:
    line = text[max(text.rfind("\n", 0, start) + 1, start - 40) : start].strip()
    return line in (
        "",
        "export",
        "set",
        "ENV",
        "ARG",
        "setx",
        "$",
        "#",
        "//",
        "-",
        "- export",
        "env",
        "RUN export",
        "-e",
        "$ export",
    )


def _name_strength(name: str, before: str) -> _Name:
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    while words and (words[-1].isdigit() or (len(words) > 1 and words[-1] in _QUALIFIERS)):
        words.pop()
    if not words:
        return _Name.NONE
    last, rest = words[-1], set(words[:-1])
    if rest & _TOKEN_BENIGN:
        return _Name.NONE
    if last in _PASSWORD_WORDS or last.endswith(("password", "passwd", "secret", "pwd", "passphrase")):
        return _Name.PASSWORD
    if last == "pass":
        return _Name.PASSWORD if rest & _PASS_OWNERS or name.isupper() else _Name.NONE
    if last in _TOKEN_WORDS or last.endswith(("token", "apikey", "authkey", "credentials")):
        return _Name.TOKEN
    if last in ("key", "keys") or last.endswith("key"):
        before_words = {word.lower() for word in _NAME_WORD.findall(before)[-1:]}
        if words == ["key"] and not before_words & _KEY_OWNERS:
            return _Name.IDENTIFIER
        owner = set(words) | before_words
        if owner & _KEY_BENIGN:
            return _Name.NONE
        return _Name.TOKEN if owner & _KEY_OWNERS else _Name.KEY
    if "".join(words).endswith("accessid") or last in ("cookie", "session", "sessionid"):
        return _Name.IDENTIFIER
    return _Name.KEY if last in ("login", "srt") else _Name.NONE
