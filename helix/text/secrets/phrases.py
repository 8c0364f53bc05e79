"""Phrases: secrets as people tell them, in sentences of several languages, behind names of words, as passphrases.

Without it 4 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
It is there for what people write to an agent, which no fixture has.
Of 9 prompts, logins and lines of servers' logs that a tester wrote it finds 9, where 1 was found; they were looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.secret_names import PLAIN_KEYS, PLAIN_TOKENS, PROSE
from helix.text.secrets.span import Span

# Any word in front of "key" may be a vendor's name, if it is none of what else has keys: "algolia key d1a06e46...".
_NAMED = regex(
    r"\b([A-Za-z][\w.]{2,24})[ _-](?:key|token|secret)s?(?:\s{1,3}(?:is|was|are|to))?[ \t]{0,3}[:=]?\s{1,4}[\"'`(]{0,2}"
    r"([A-Za-z0-9+/_.~-]{20,200}={0,2})(?![\w+/])",
    re.IGNORECASE,
)
_NO_VENDORS = PROSE | PLAIN_KEYS | PLAIN_TOKENS
_PHRASE = regex(
    r"(?:\b|_)(?:pass[ -]?phrase|(?:seed|recovery)[ _-]?phrase|mnemonic(?:[ _-]?phrase)?)[\"']?"
    r"(?:[ \t]{0,3}[:=]|[ \t]{1,3}(?:is|was):?)[ \t]{0,4}[\"'`]?"
    r"((?:[a-z]{3,12}[ \t-]){3,23}[a-z]{3,12})(?=[\"'`.,;)]{0,2}(?:\s|$))",
    re.IGNORECASE,
)
_OF_A_WALLET = (12, 15, 18, 21, 24)  # words by which a wallet is restored; "again" and "any" are among the 2,048
_TOKEN_WORDS = ("token", "api key", "apikey", "access key", "secret")
_NAMING_WORDS = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "pw", "passwort", "kennwort", "mot de passe", "mdp"),
    *("contraseña", "contrasena", "clave", "senha", "wachtwoord", "hasło", "haslo", "пароль", "пароля"),
    *("パスワード", "密码", "密碼", "비밀번호", "كلمة المرور"),
    *_TOKEN_WORDS,
)
_LONGEST_ABBREVIATION = 5
_FIRST_NOT_LATIN = "\u0370"
_VALUE = r"""
    (?:
        ["'`\u2018\u201c\u201e«「]\s?(?P<quoted>[^\n"'`\u2019\u201c\u201d»」]{4,100}?)\s?["'`\u2019\u201c\u201d»」]
      | \*{2}(?P<bold>[^\s*"'`]{4,100})\*{2}
      | (?P<plain>[!#-&(-+\--:=?-_a-~\u00c0-\u024f\u0400-\u04ff]{4,100})   # no quotes, commas and angle brackets
    )
"""
# What stands between "password" and its value: nothing but a blank, or some words of the sentence and a verb or sign.
_TOLD = regex(
    r"""
    (?:
        (?P<loose>[ \t]{1,3})(?=\S{0,60}\d)
      | (?:[ \t]{1,3}(?:[^\W\d_][\w.@/'\u2019()-]{0,30}|\([^()\n]{1,80}\)|'[\w.@-]{1,40}'|\[[\w ]{1,30}\])){0,6}?
        (?:
            [ \t]{0,3}(?:->|[:=\uff1a\u2192]|\?(?=[ \t]{1,3}[^\s:/]{6,60}[ \t]{0,3}(?:\n|\Z)))[ \t]{0,3}
          | ['\u2019]s[ \t]{1,3} | [ \t]{0,3}[는은は是为為][ \t]{0,3}
          | [ \t]{1,8}-{2,6}[ \t]{1,8}
          | [ \t]{1,3}(?:is|was)[ \t](?:now|still|currently|(?:now[ \t])?(?:set|changed|reset)[ \t]to)[ \t]{1,3}
          | ,?[ \t]{1,3}(?:is(?![ ]generated)|was|as|ist|lautet|war|c'est|est|es|é|è|jest|to|[\u2013\u2014-])[ \t]{1,3}
        )
    )
    (?="""
    + _VALUE
    + ")",
    re.IGNORECASE | re.VERBOSE,
)
# A heading or a question that ends with what it names, and the value alone on the line below.
_BELOW = regex(
    r"(?:[ \t]{1,3}(?:[^\W\d_][\w.@/'\u2019()-]{0,30}|\([^()\n]{1,80}\))){0,6}?"
    r"[ \t]{0,3}[?:=.)*`\"'-]{0,3}[ \t]{0,3}(?:\n[ \t]{0,8}){1,3}"
    r"(?:[-+*>$][ \t]{1,8})?(?:[`\"'*]{1,3})?(?P<plain>[^\s`\"'*<>]{4,100})[`\"'*]{0,3}[ \t]{0,3}(?=\n|\Z)"
)
# "I changed the password of the database from ... to ..."
_CHANGED = regex(
    r"(?:[ \t]{1,3}[^\W\d_][\w.@/'\u2019()-]{0,30}){0,6}?"
    r"[ \t]{1,3}from[ \t]{1,3}[\"'`]?(?P<old>[^\s\"'`<>,;]{4,100})[\"'`]?"
    r"[ \t]{1,3}to[ \t]{1,3}[\"'`]?(?P<new>[^\s\"'`<>,;]{4,100})",
    re.IGNORECASE,
)
_FROM_REACH = 200
_QUOTED_WORD = regex(r"[a-z]{4,20}")
_LOGIN = regex(
    r"\b(?:log[ -]?ins?|sign[ -]in|credentials|creds|zugangsdaten)"
    r"(?:[ \t]{0,3}[:=]|[ \t]{1,3}(?:is|are|sind|with|as|using|mit)|(?=[ \t]{1,3}[\w.@-]{1,40}[ \t]/))[ \t]{1,3}"
    r"[\w.@-]{1,40}[ \t]{0,3}[/:][ \t]{0,3}(?!/)(?P<plain>[^\s\"'`<>,;]{6,100})",
    re.IGNORECASE,
)
_USED = regex(  # "use mira:... to log in"
    r"\buse[ \t]{1,3}[`\"']?[\w.@-]{1,40}:(?!/)(?P<plain>[^\s\"'`<>,;]{6,100})[`\"']?[ \t]{1,3}(?:to|for)"
    r"[ \t]{1,3}(?:the[ \t])?(?:log|sign)(?:ging|ing)?[ -]?in\b",
    re.IGNORECASE,
)
_LOGIN_SIGNS = ("login", "log in", "log-in", "sign in", "sign-in", "cred", "zugang")
# A user and a password in one: "ID/PW: master/...", "10.0.0.8 (master/...)", "id(master)/pwd(...)".
_USER_WORD = r"(?:id|user(?:[ _]?name)?|login|account|log-?in|e-?mail|계정|아이디|账号|ユーザー)"
_PASS_WORD = r"(?:pw|pwd|pass|passwd|pass ?word|비번|비밀번호|密码|パスワード)"
_PAIR = regex(
    rf"(?<![\w]){_USER_WORD}\)?[ \t]{{0,2}}[/&,:|-]?[ \t]{{0,2}}{_PASS_WORD}(?:/\w{{2,8}})?\)?"
    r"(?:[ \t]{0,2}(?:[:=(\uff1a-]|->|is|are|for[ \t]\w{2,20}[ \t]\()[ \t]{0,2}|[ \t]{1,3})"
    r"[\w.@-]{2,40}[ \t]{0,2}[/:,(|]{1,2}[ \t]{0,2}(?P<plain>[^\s\"'`<>,;()/=]{4,60})",
    re.IGNORECASE,
)
_PAIR_OF_NAMED = regex(  # "user: mira / pass: ..."
    rf"(?<![\w]){_USER_WORD}[ \t]{{0,2}}[:= \t][ \t]{{0,2}}[\w.@-]{{2,40}}[ \t]{{0,2}}[/,;| ][ \t]{{0,2}}"
    rf"{_PASS_WORD}[ \t]{{0,2}}[:=][ \t]{{0,2}}(?P<plain>[^\s\"'`<>,;()/=]{{4,60}})",
    re.IGNORECASE,
)
_HOST_PAIR = regex(
    r"(?:\w@[\w.-]{3,60}|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{2,5})?)[ \t]{0,3}(?:-{0,2}>|\()[ \t]{0,2}"
    r"[\w.-]{2,40}[ \t]{0,2}/[ \t]{0,2}(?P<plain>[^\s\"'`<>,;()/]{6,60})"
)
_HOST_PAIR_END = regex(r"[>(][ \t]{0,2}[\w.-]{2,40}[ \t]{0,2}/")
"""What every such pair has: few texts do, and it is found in a fifth of the time."""
_NAMED_IN_BRACKETS = regex(
    rf"(?<![A-Za-z])(?!pass[ \t]){_PASS_WORD}(?:[ \t]{{0,2}}\(|[ \t]{{1,2}}-[ \t]{{1,2}}|[:][ \t]?[\w.@]{{2,40}}/"
    r"|-\w{2,30}:)(?P<plain>[^\s\"'`<>,;()/]{6,60})",
    re.IGNORECASE,
)
_PRODUCT_KEY = regex(
    r"\b(?:licen[sc]e|activation|product|serial)[ _-]?(?:key|code|number|no)?[\"']?[ \t]{0,3}[:=#][ \t]{0,3}[\"']?"
    r"(?P<plain>(?:[A-Z0-9]{4,6}-){3,8}[A-Z0-9]{4,6})(?![\w-])",
    re.IGNORECASE,
)
_PIN = regex(
    r"\bPIN(?:[ -][Cc]ode)?(?:[ \t][a-z]{1,12}){0,5}?(?:[ \t]{0,2}[:=]|[ \t](?:is|ist|est|es))[ \t]{1,3}"
    r"(?P<plain>\d{4,8})(?![\w.])"
)
_GIVEN_PASS = ("pass:", "pass=", "pw:", "pw=", "pwd:", "pwd=")
_PASS_SIGNS = ("pw", "pass", "비번", "비밀번호", "密码", "パスワード")
_STOPS = ".:!?)]}|"
_LEAST_HEX = 32


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield secrets told in sentences: passwords, keys and passphrases; `lowered` is the text in lower case."""
    if "key" in lowered or "token" in lowered or "secret" in lowered:
        for match in _NAMED.finditer(text):
            if match[1].lower() not in _NO_VENDORS and _is_machine_made(match[2]):
                yield Span(*match.span(2), "credential")
    if "phrase" in lowered or "mnemonic" in lowered:
        for match in _PHRASE.finditer(text):
            words = re.split(r"[ \t-]", match[1].lower())
            if len(words) in _OF_A_WALLET or PROSE.isdisjoint(words):
                yield Span(*match.span(1), "password")
    for word in _NAMING_WORDS:
        if word in lowered:
            yield from _stated_values(text, lowered, word)
    if any(word in lowered for word in _LOGIN_SIGNS):
        for match in (*_LOGIN.finditer(text), *_USED.finditer(text)):
            if strength.looks_told(value := match["plain"].rstrip(_STOPS)):
                yield Span(match.start("plain"), match.start("plain") + len(value), "password")
    if "-" in text and any(word in lowered for word in ("licen", "activat", "product", "serial")):
        yield from (Span(*match.span("plain"), "credential") for match in _PRODUCT_KEY.finditer(text))
    if any(word in lowered for word in _PASS_SIGNS):
        yield from _pairs(text, (_PAIR, _NAMED_IN_BRACKETS))
    if any(sign in lowered for sign in _GIVEN_PASS):
        yield from _pairs(text, (_PAIR_OF_NAMED,))
    if "/" in text and _HOST_PAIR_END.search(text):
        yield from _pairs(text, (_HOST_PAIR,))
    if "PIN" in text:
        yield from (Span(*match.span("plain"), "password") for match in _PIN.finditer(text))


def _pairs(text: str, patterns: tuple[re.Pattern[str], ...]) -> Iterator[Span]:
    for pattern in patterns:
        for match in pattern.finditer(text):
            value = match["plain"].rstrip(_STOPS)
            if strength.looks_chosen(value) and not strength.is_expression(value):
                yield Span(match.start("plain"), match.start("plain") + len(value), "password")


def _stated_values(text: str, lowered: str, word: str) -> Iterator[Span]:
    """Yield the values that a sentence gives to what a word names: "the password for staging is ..."."""
    kind = "credential" if word in _TOKEN_WORDS else "password"
    at = lowered.find(word)
    while at >= 0:
        end = at + len(word)
        inside = word.isascii() and _is_inside_name(text, at, word)
        told = None if inside else _told(text, word, end)
        if told is not None:
            yield Span(*told, kind)
        elif not inside and (below := _BELOW.match(text, end)) and _stands_alone(word, below["plain"]):
            yield Span(*below.span("plain"), kind)
        told_from = not inside and word not in _TOKEN_WORDS and "from" in lowered[end : end + _FROM_REACH]
        if told_from and (changed := _CHANGED.match(text, end)):
            for side in ("old", "new"):
                if strength.looks_told(value := changed[side].rstrip(_STOPS)):
                    yield Span(changed.start(side), changed.start(side) + len(value), kind)
        at = lowered.find(word, end)


def _told(text: str, word: str, end: int) -> tuple[int, int] | None:
    """Return where the value stands that the sentence behind a word gives to it."""
    match = _TOLD.match(text, end)
    if match is None:
        return None
    group = next(one for one in ("plain", "bold", "quoted") if match[one] is not None)
    value = match[group] if group != "plain" else strength.in_its_line(match[group]).rstrip(_STOPS)
    return (match.start(group), match.start(group) + len(value)) if _is_told(word, value, match) else None


def _stands_alone(word: str, value: str) -> bool:
    if word in _TOKEN_WORDS:
        return _is_machine_made(value)
    return strength.looks_told(value) and any(map(str.isdigit, value))


def _is_inside_name(text: str, at: int, word: str) -> bool:
    """Whether what was found is a piece of a longer word, or of a name that assignments judge: `next_token`."""
    before = text[at - 1 : at]
    return (len(word) <= _LONGEST_ABBREVIATION or word in _TOKEN_WORDS) and (before.isalnum() or before in ("_", "-"))


def _is_told(word: str, value: str, match: re.Match[str]) -> bool:
    if word in _TOKEN_WORDS:
        if match["loose"] is not None and match["plain"] is not None:
            return strength.is_shuffled(value)
        machine_made = not strength.is_identifier(value) and strength.word_share(value) < 0.35
        return len(value) >= 10 and machine_made and strength.looks_told(value)
    if " " in value:
        return strength.is_passphrase(value)
    if word[0] >= _FIRST_NOT_LATIN and value.isascii():  # words of the sentence itself are in another script
        return not value.startswith(("$", "[", "*", "<")) and not strength.is_stand_in(value)
    if match["quoted"] is not None and _QUOTED_WORD.fullmatch(value) and match["loose"] is None:
        return not strength.is_placeholder(value) and not strength.is_wordy(value)
    return strength.looks_told(value) and (match["loose"] is None or match["plain"] is None or _is_odd(value))


def _is_odd(value: str) -> bool:
    return strength.is_mixed(value) or strength.is_shuffled(value)


def _is_machine_made(value: str) -> bool:
    if strength.is_stand_in(value) or strength.is_published_sample(value) or strength.is_uuid(value):
        return False
    if strength.is_hex(value):
        return len(value) >= _LEAST_HEX and not value.isdigit()
    return strength.looks_random(value, least=20) and strength.word_share(value) < 0.4 and any(map(str.isdigit, value))
