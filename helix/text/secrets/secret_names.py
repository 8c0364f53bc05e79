"""Secret names: how strongly the name of a variable, field, header or flag promises that its value is a secret.

It holds the words that names of secrets, names of other things and stand-ins for secrets are made of.
"""

from __future__ import annotations

import re
from enum import IntEnum

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_PASSWORD_ENDINGS = ("pw", "password", "passwd", "secret", "pwd", "passphrase", "storepass", "keypass")


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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FILLER = _words(
    """
    a abc abcd access account admin administrator an any api apikey app application asdf auth authorization b bar
    basic baz bearer blah bool boolean bot bytes changed changeit char client code config cookie credential
    credentials custom default dev disabled digest email empty enabled encrypted env environment false field file
    foo for from generic global guest header hello hidden id in int is it jwt key keyring keys ldap local localhost
    login master me my name new nil no none not null number oauth object of off ok old on openid optional or pass
    passphrase passwd password passwords path plain pw pwd private prod production provided public qwerty raw read
    refresh required root secret secrets secure security server service session set shared signed some something str
    string super system temp test tester testing text that the this to token tokens true type undefined unknown
    unset unused url use user username username1 uuid val value var vault with word world write yes
    """
)
"""Words of which a stand-in for a secret consists: `my-secret-token`, `test password`."""

PROSE = _words(
    """
    a after again all also always an and any are as ask asked at be been before being but by can cannot change changed
    character characters chosen click confirm could digits did does each empty enter entered every fail failed field
    forgot forgotten from given has have how if in incorrect into invalid is it its kept known least length letters like
    link long longer made may mismatch missing must need needed needs never new none not now of on one only or our page
    please policy prompt protected required reset same see set should show so some stored strong than that the their
    them then there they this to too try type typed unset until use used user using value wait was weak what when where
    which who wiki will with without wrong you your
    """
)
"""Words of sentences about passwords: no list that passphrases are drawn from is made of them."""

PASSWORD_NAMES = _words(
    """
    password passwd passwort passphrase passcode passe psk pswd psw pwd pw secret secrets contrasena senha kennwort
    userpass wachtwoord haslo passord
    """
)
"""Last words of a name that promises a secret a person may have chosen, so that any string will do."""

TOKEN_NAMES = _words(
    """
    token apikey apitoken authtoken authkey accesskey secretkey privatekey cred credential credentials creds auth
    authorization bearer pat jwt
    """
)
"""Last words of a name that promises a secret made by a machine."""

SECRET_KEYS = _words(
    """
    access account admin api app application auth authentication client consumer db database deploy deployment
    encryption hmac ingest integration jwt license master priv privacy private rest root secret service session shared
    fernet sig signing ssh ssl storage token subscription used user using webhook write
    """
)
"""What stands before `key` in the name of a secret key."""

PLAIN_KEYS = _words(
    """
    primary foreign partition sort cache public pub row hash group object map dict index bucket route routing unique
    composite lookup search registry schema sequence idempotency dedup translation message i18n config sorting
    column field host known ordering
    """
)
"""What stands before `key` in the name of a key that is no secret."""

PRODUCTS = _words(
    """
    amqp cassandra clickhouse couchbase database db db2 elastic elasticsearch ftp grafana imap jdbc jenkins kafka ldap
    mariadb mongo mongodb mssql mysql neo4j nexus oracle pg postgres postgresql rabbitmq redis root sftp smtp sql ssh
    svn tomcat vpn wifi
    """
)
"""What stands before `pass` or behind `password_` where that means a password."""

PASS_OWNERS = PRODUCTS | _words(
    """
    admin ansible app auth backup basic become bind broker ca cert ci deploy docker email git gmail http key keystore
    login mail mq my p12 pfx proxy queue rabbit registry rpc sa sasl store sudo super user vault wp
    """
)
"""What stands before `pass` where that means a password."""

SNMP = _words("snmp snmpv1 snmpv2 trap traps ro rw")
"""What stands before `community` where that is a password."""

PIN_OWNERS = _words("access account bank card customer device door login security sim unlock user")
"""What stands before `pin` where that is a number that somebody has to know, and none of a board."""

PLAIN_TOKENS = _words(
    """
    page next prev previous continuation continue cancel cancellation cancelled pad eos bos unk mask sep cls stop
    start end special lex syntax parse parser csrf xsrf authenticity public pub resume change sync cursor lookahead
    antiforgery verification first last
    """
)
"""Words of a name whose token, secret or key is none that opens anything."""

QUALIFIERS = _words(
    """
    value val str string strings raw b64 base64 plain text prod production dev staging test live old new default current
    backup main primary secondary a b c x y enc encoded header data base hex pem here
    """
)
"""Last words that say nothing about what a name promises: `password_value`, `token_old`."""

UNMISTAKABLE = _words("aws-access-key github-token gitlab-token openai-key slack-token stripe-key")
"""Kinds of token told by a prefix that nothing else has: they go even where words in them say that they stand in."""

SAMPLE_DIGESTS = _words(
    """
    0b476bdf9acf2123 2037abcaffb2b777 27a9a42931dff7eb 37f8f09bdf12c2f2 3a8b61d0f636b007
    3f370c9dd8225c63 49f777db995e8260 4c98242dcadc8b29 8731261cb72d8626 a19f89ab3555eac1 a6c814bc555ae62c
    dc0fcf046c61640c e4a5542bb7fd7b67 ea9bb1082cf95663 eb540d2b6ee2a0a4
    """
)
"""SHA-256 (first 8 bytes) of the keys in vendors' public samples (SDKs, documentation), which scanners pass over too:
known to all, so no secret, and by their form not to be told from live ones.

Digests, because the keys themselves would set off every scanner that looks at this repository.
"""
