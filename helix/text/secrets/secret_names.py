"""Secret names: how strongly the name of a variable, field, header or flag promises that its value is a secret.

Without it 1,032 of 3,163 secrets that are found (sets E to K and gitleaks') are missed, and 69 fewer of 1,827
harmless strings touched.
"""

from __future__ import annotations

import re
from enum import IntEnum

from helix.text.word_lists import word_list, words

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PASSWORD_ENDINGS = ("pw", "password", "passwd", "secret", "pwd", "passphrase", "storepass", "keypass")

FILLER = word_list("text/secrets/secret_names", "filler")
PROSE = word_list("text/secrets/secret_names", "prose")
PASSWORD_NAMES = word_list("text/secrets/secret_names", "password_names")
TOKEN_NAMES = word_list("text/secrets/secret_names", "token_names")
SECRET_KEYS = word_list("text/secrets/secret_names", "secret_keys")
PLAIN_KEYS = word_list("text/secrets/secret_names", "plain_keys")
PRODUCTS = word_list("text/secrets/secret_names", "products")
PASS_OWNERS = PRODUCTS | word_list("text/secrets/secret_names", "pass_owners")
SNMP = words("snmp snmpv1 snmpv2 trap traps ro rw")
"""What stands before `community` where that is a password."""
PIN_OWNERS = word_list("text/secrets/secret_names", "pin_owners")
PLAIN_TOKENS = word_list("text/secrets/secret_names", "plain_tokens")
QUALIFIERS = word_list("text/secrets/secret_names", "qualifiers")
UNMISTAKABLE = words("aws-access-key github-token gitlab-token openai-key slack-token stripe-key")
"""Kinds of token told by a prefix that nothing else has: they go even where words in them say that they stand in."""
SAMPLE_DIGESTS = word_list("text/secrets/secret_names", "sample_digests")


class Promise(IntEnum):
    """What a name promises: nothing; maybe a secret, if the value is random and no id; a key; a token; a password."""

    NONE = 0
    MAYBE = 1
    KEY = 2
    TOKEN = 3
    PASSWORD = 4


def promise_of(name: str, before: str = "") -> Promise:
    """Return how surely a name promises a secret; `before` is the text in front of it, as in "API key"."""
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
    if last == "community":  # what SNMP has for a password; elsewhere it is people
        of_snmp = "string" in name.lower() or not SNMP.isdisjoint(words)
        return Promise.PASSWORD if of_snmp else Promise.NONE
    if words[0] in ("password", "passwd", "pwd") and PRODUCTS.issuperset(words[1:]):  # password_mysql
        return Promise.PASSWORD
    if last in PASSWORD_NAMES or "".join(words[-2:]).endswith(_PASSWORD_ENDINGS):
        return Promise.PASSWORD
    if last == "pass":
        owned = not PASS_OWNERS.isdisjoint(words[:-1]) or words == ["pass"]
        return Promise.PASSWORD if owned else Promise.TOKEN
    if last.endswith("pass") and last[:-4] in PASS_OWNERS:  # `dbpass`, SSHPASS
        return Promise.PASSWORD
    if last in TOKEN_NAMES or last.endswith(("token", "apikey", "authkey", "credentials", "apikeys", "keymaterial")):
        return Promise.TOKEN
    if words[-2:] == ["key", "material"]:
        return Promise.TOKEN
    if last == "pin" and not PIN_OWNERS.isdisjoint(words[:-1]):
        return Promise.PASSWORD
    if last == "keys" or last.endswith("key"):
        return _key(words, before)
    if words[-2:] in (["secret", "id"], ["api", "hash"]):  # of Vault, of Telegram
        return Promise.KEY
    if (
        last in ("cookie", "session", "salt")
        or last.endswith(("sessionid", "sessid"))
        or "".join(words).endswith("accessid")
    ):
        return Promise.MAYBE
    if last == "api" and "_" in name:
        return Promise.KEY
    return Promise.KEY if last in ("login", "srt", "authentication", "crumb", "license") else Promise.NONE


def _key(words: list[str], before: str) -> Promise:
    owners = {*words, *(word.lower() for word in _WORD.findall(before)[-1:] if len(words) == 1)}
    if not PLAIN_KEYS.isdisjoint(owners):
        return Promise.NONE
    if not SECRET_KEYS.isdisjoint(owners) or words[-1][:-3] in SECRET_KEYS:  # ssh_key, sshkey
        return Promise.TOKEN
    return Promise.MAYBE if words == ["key"] else Promise.KEY
