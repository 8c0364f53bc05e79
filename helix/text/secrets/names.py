"""Names: how strongly the name of a variable, field, header or flag promises that its value is a secret."""

from __future__ import annotations

import re
from enum import IntEnum

from helix.text.secrets.vocabulary import (
    PASS_OWNERS,
    PASSWORD_NAMES,
    PLAIN_KEYS,
    PLAIN_TOKENS,
    QUALIFIERS,
    SECRET_KEYS,
    TOKEN_NAMES,
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PASSWORD_ENDINGS = (
    "mypw",
    "dbpw",
    "userpw",
    "rootpw",
    "adminpw",
    "password",
    "passwd",
    "secret",
    "pwd",
    "passphrase",
    "storepass",
    "keypass",
)


class Promise(IntEnum):
    """What a name promises: nothing; maybe a secret, if the value is random and no id; a key; a token; a password."""

    NONE = 0
    MAYBE = 1
    KEY = 2
    TOKEN = 3
    PASSWORD = 4


def promise_of(name: str, before: str = "") -> Promise:
    """Return what a name promises; `before` is the text in front of it, for names of two words such as "API key"."""
    words = [word.lower() for word in _WORD.findall(name)]
    if "for" in words[1:]:  # PASSWORD_FOR_EMAIL
        words = words[: words.index("for", 1)]
    while words and (words[-1].isdigit() or (len(words) > 1 and words[-1] in QUALIFIERS)):
        words.pop()
    if not words or not PLAIN_TOKENS.isdisjoint(words[:-1]):
        return Promise.NONE
    last = words[-1]
    if last in ("passwords", "passphrases"):
        last = last[:-1]
    if last in PASSWORD_NAMES or last.endswith(_PASSWORD_ENDINGS):
        return Promise.PASSWORD
    if last == "pass":
        owned = not PASS_OWNERS.isdisjoint(words[:-1]) or words == ["pass"]
        return Promise.PASSWORD if owned else Promise.TOKEN
    if last in TOKEN_NAMES or last.endswith(("token", "apikey", "authkey", "credentials")):
        return Promise.TOKEN
    if last == "keys" or last.endswith("key"):
        return _key(words, before)
    if last in ("cookie", "session", "sessionid") or "".join(words).endswith("accessid"):
        return Promise.MAYBE
    if last == "api" and "_" in name:
        return Promise.KEY
    return Promise.KEY if last in ("login", "srt", "authentication", "crumb", "license") else Promise.NONE


def names_secret(name: str) -> bool:
    """Whether a name says "secret", which also names things that hold one, rather than "password"."""
    return "secret" in name.lower()


def _key(words: list[str], before: str) -> Promise:
    owners = {*words, *(word.lower() for word in _WORD.findall(before)[-1:])}
    if not PLAIN_KEYS.isdisjoint(owners):
        return Promise.NONE
    if not SECRET_KEYS.isdisjoint(owners):
        return Promise.TOKEN
    return Promise.MAYBE if words == ["key"] else Promise.KEY
