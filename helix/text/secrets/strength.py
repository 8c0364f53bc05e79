"""Strength: does a string look like a real secret, like filler, or like a word, a path or an identifier?"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter

_TEMPLATE = re.compile(
    r"\$\{[A-Za-z_][\w.]*(?:\}|[:?+=-])|\$(?-i:[A-Z_]{3,})|\$\([^)]*\)?|\{\{[^{}]*(?:\}\}|$)|<[^<>\s]*>|%[({][\w.]+[)}]|%[sdr](?!\w)|#\{\w|`|…|"
    r"^%\w+%$|\{[A-Za-z_][\w.]+(?:\([^{}]*\)|\[[^{}]*\]|![rs]|:[^{}]*)*\}|^\[[\w ]+\]$|\[redacted|\bos\.environ|process\.env|getenv\b",
    re.IGNORECASE,
)
_OPENERS = ("$", "<", "%")
_RUN = re.compile(r"(.)\1{3,}")
_X_RUN = re.compile(r"x{4,}|X{4,}|\*{3,}|\.{3,}|#{3,}")
_REPEATED = re.compile(r"(?=(.)(?!\1))(?:(.{2,3}?)\2{4,}|(.{4,16}?)\3{2,})")
_SAMPLE_WORD = re.compile(
    r"example|sample|placeholder|redacted|dummy|change_?me|insert|replace|your[-_a-z]|[-_]here\b|_goes_|not[-_]?(?:a[-_]?)?real|"
    r"lorem|foobar|invalid|(?:^|[-_ ])todo(?:$|[-_ ])|put_your|somestring|random ?string|token ?here|0123456789",
    re.IGNORECASE,
)
_FILLER_WORDS = frozenset(
    [
        "a",
        "abc",
        "abcd",
        "access",
        "account",
        "admin",
        "administrator",
        "an",
        "any",
        "api",
        "apikey",
        "app",
        "application",
        "asdf",
        "auth",
        "authorization",
        "b",
        "bar",
        "basic",
        "baz",
        "bearer",
        "blah",
        "bool",
        "boolean",
        "bot",
        "bytes",
        "changed",
        "changeit",
        "char",
        "client",
        "code",
        "config",
        "cookie",
        "credential",
        "credentials",
        "custom",
        "default",
        "dev",
        "disabled",
        "digest",
        "email",
        "empty",
        "enabled",
        "encrypted",
        "env",
        "environment",
        "false",
        "field",
        "file",
        "foo",
        "for",
        "from",
        "generic",
        "global",
        "guest",
        "header",
        "hello",
        "hidden",
        "id",
        "in",
        "int",
        "is",
        "it",
        "jwt",
        "key",
        "keyring",
        "keys",
        "ldap",
        "local",
        "localhost",
        "login",
        "master",
        "me",
        "my",
        "name",
        "new",
        "nil",
        "no",
        "none",
        "not",
        "null",
        "number",
        "oauth",
        "object",
        "of",
        "off",
        "ok",
        "old",
        "on",
        "openid",
        "optional",
        "or",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "path",
        "plain",
        "pw",
        "pwd",
        "private",
        "prod",
        "production",
        "provided",
        "public",
        "qwerty",
        "raw",
        "read",
        "refresh",
        "required",
        "root",
        "secret",
        "secrets",
        "secure",
        "security",
        "server",
        "service",
        "session",
        "set",
        "shared",
        "signed",
        "some",
        "something",
        "str",
        "string",
        "super",
        "system",
        "temp",
        "test",
        "tester",
        "testing",
        "text",
        "that",
        "the",
        "this",
        "to",
        "token",
        "tokens",
        "true",
        "type",
        "undefined",
        "unknown",
        "unset",
        "unused",
        "url",
        "use",
        "user",
        "username",
        "username1",
        "uuid",
        "val",
        "value",
        "var",
        "vault",
        "with",
        "word",
        "world",
        "write",
        "yes",
    ]
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ALPHA_RUN = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_UNSPEAKABLE = re.compile(r"[^aeiouy]{5}|^[^aeiouy]+$|[aeiou]{4}", re.IGNORECASE)
_EXPRESSION = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\(?|[A-Za-z_$][\w.$]*[(\[)].*|[A-Za-z_]+\d{0,2}|.*(?:[)\]}]{2}|\?\?|\|\||&&|===?|=>|\?\.|\}=|\)\{|\{\w+:).*|"
    r"[\d.]+[A-Za-z%]{0,3}",
    re.DOTALL,
)
_CODE_OPENERS = ("{", "[", "(", "&", "*", "!", "\\", "@", "|", ">", "=", "+", "?", "#", ":", ",", ")")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-z]{12}")
_SEEN = 200
"""Characters of a value that are looked at; a longer one has shown what it is by then, and hostile text stays cheap."""
_PIECES = re.compile(r"[/_+-]")
_HEX = re.compile(r"[0-9a-fA-F]+")
_SAMPLE_DIGESTS = frozenset(
    """
    0b476bdf9acf2123 2037abcaffb2b777 27a9a42931dff7eb 37f8f09bdf12c2f2 3a8b61d0f636b007 3f370c9dd8225c63 49f777db995e8260
    4c98242dcadc8b29 8731261cb72d8626 a19f89ab3555eac1 a6c814bc555ae62c dc0fcf046c61640c e4a5542bb7fd7b67 ea9bb1082cf95663
    eb540d2b6ee2a0a4
    """.split()
)
"""SHA-256 (first 8 bytes) of keys that vendors print in their own public samples: known to all, so no secret.

Digests, because the keys themselves would set off every scanner that looks at this repository.
"""


def is_published_sample(value: str) -> bool:
    """Whether the value is a key that a vendor publishes as a sample."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16] in _SAMPLE_DIGESTS


def is_filler(value: str) -> bool:
    """Whether the value is a placeholder, a template or a counting row rather than something anybody chose as a secret."""
    bare = value[:_SEEN].strip("\"'`")
    if len(bare) < 3 or bare.startswith(_OPENERS) or _TEMPLATE.search(bare):
        return True
    if _X_RUN.search(bare) or _REPEATED.search(bare) or _SAMPLE_WORD.search(bare):
        return True
    runs = [len(run.group()) for run in _RUN.finditer(bare)]
    count = _longest_count(bare.lower())
    if (
        len(set(bare)) <= 3
        or max(runs, default=0) * 3 > len(bare)
        or sum(runs) > 0.6 * len(bare)
        or count >= 13
        or count * 2 > len(bare)
    ):
        return True
    words = [word.lower() for word in _WORD.findall(bare) if not word.isdigit()]
    return bool(words) and all(word in _FILLER_WORDS for word in words) and not re.search(r"[^\w\s.:-]", bare)


def is_expression(value: str) -> bool:
    """Whether an unquoted value is code (a name, a call, an index, an operator) or a plain number."""
    return value.startswith(_CODE_OPENERS) or _EXPRESSION.fullmatch(value[:_SEEN]) is not None


def is_uuid(value: str) -> bool:
    """Whether the value has the shape of a UUID."""
    return _UUID.fullmatch(value) is not None


def is_hex(value: str) -> bool:
    """Whether the value has hexadecimal digits only."""
    return _HEX.fullmatch(value) is not None


def entropy(value: str) -> float:
    """Return Shannon's entropy of the characters, in bits per character (0 for an empty string)."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0


def word_share(value: str) -> float:
    """Return the share (0..1) of characters in runs that could be words: one case, four or more long, and pronounceable."""
    words = (run for run in _ALPHA_RUN.findall(value) if not _UNSPEAKABLE.search(run))
    return sum(map(len, words)) / len(value) if value else 0.0


def looks_chosen(value: str) -> bool:
    """Whether a value beside a secret's name looks like a secret: digits among letters, or letters among symbols."""
    if len(value) < 5 or is_filler(value):
        return False
    if is_uuid(value):
        return True
    value = value[:_SEEN]
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    if not letters:
        return digits >= 6
    if digits:
        return len(value) >= 6
    symbols = len(value) - letters
    return (symbols > 0 and bool(re.search(r"[^\w\s./:-]", value))) or (len(value) >= 16 and word_share(value) < 0.5)


def looks_random(value: str, *, least: int = 16) -> bool:
    """Whether the string alone, without context but with a vendor's prefix, looks machine-made."""
    if len(value) < least or is_filler(value):
        return False
    value = value[:_SEEN]
    digits = sum(char.isdigit() for char in value)
    if not any(char.isalpha() for char in value):
        return False
    if not digits:
        return word_share(value) < 0.4 and entropy(value) >= 3.3
    return entropy(value) >= 2.8 and word_share(value) < 0.6


def looks_high_entropy(value: str) -> bool:
    """Whether the string looks random with no context at all: upper, lower and digits well mixed, 20..100 characters.

    Hexadecimal is left alone on purpose: without a name beside it, it is a commit, a checksum or an id.
    """
    if not 20 <= len(value) <= 100 or is_hex(value.replace("-", "")) or is_filler(value):
        return False
    digits = sum(char.isdigit() for char in value)
    upper = sum("A" <= char <= "Z" for char in value)
    lower = sum("a" <= char <= "z" for char in value)
    if min(digits, upper, lower) < 2 or not 0.06 * len(value) <= digits <= 0.4 * len(value):
        return False
    if max(len(piece) for piece in _PIECES.split(value)) < 12:
        return False
    ceiling = math.log2(min(len(value), 64))
    return entropy(value) >= 0.8 * ceiling and word_share(value) < 0.3


def _longest_count(value: str) -> int:
    """Return the length of the longest row that counts upwards by one (`abcdef`, `890123`)."""
    longest = run = 1
    for before, after in zip(value, value[1:], strict=False):
        step = ord(after) - ord(before)
        run = run + 1 if step == 1 or (before == "9" and after == "0") else 1
        longest = max(longest, run)
    return longest
