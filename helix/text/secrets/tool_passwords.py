"""Tool passwords: passwords given to command-line tools, by flag, by place or through a pipe.

Without it 3 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
It is there for what people type, which no fixture has: `net use`, `cmdkey`, `psexec -p`, `chpasswd`.
Of 5 secrets that strangers' commands store (`fly secrets set`, `gcloud secrets create`) it finds 3; two are words.
Of 39 forms of commands, statements and routers' lines that a tester wrote it finds 39, where 4 were found; they were
looked up when it was written. Of 102 values in 34 forms of tools, calls and sentences that another tester found in
clear 14 went before they were looked up and 84 since; rows for single tools found 1 of 300 values more in forms of
others (set M).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.secret_names import Promise, promise_of
from helix.text.secrets.span import Span
from helix.text.word_lists import word_table

_LINE = 300
"""Characters behind a tool's name that are looked at, none of them twice for one name."""

_FLAGS = word_table("text/secrets/tool_passwords", "flags")

_WORD = r"(?:'(?P<single>[^'\n]{4,200})'|\"(?P<double>[^\"\n]{4,200})\"|[\"']?(?P<plain>[^\s\"'|;<>]{4,200}))"
_GIVEN = {f"{name} ": regex(f"(?:{flag}){_WORD}") for name, flag in _FLAGS.items()}
_HEAD = 4
_HEADS = Counter(name[:_HEAD] for name in _GIVEN)
_BY_HEAD: dict[str, list[str]] = {}
for _name in _GIVEN:
    _BY_HEAD.setdefault(_name[:_HEAD] if _HEADS[_name[:_HEAD]] > 1 else _name.strip(), []).append(_name)
"""Tools by what their names begin with: a text that has none of it is not searched for each of them."""
# One command: to the end of its line, or on where a backslash says so, and no further than the next one of a pipe.
_COMMAND = regex(r"(?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\n\\|;&])*+", re.DOTALL)
# What stores a secret, whatever the tool, and where it is given to it: `gh secret set NAME --body ...`.
_STORES = (
    r"(?:secret(?:s?[ \t]{1,4}(?:set|put|add|create|import|versions[ \t]{1,4}add)|(?<=create[ \t]secret))"
    r"|vault[ \t]{1,4}kv[ \t]{1,4}(?:put|patch))\b"
)
_STORE = regex(_STORES)
_STORED = regex(
    r"(?:\s(?:--value|--body|-b|--secret-string)[ \t=]{0,4}|\s--from-literal[= ][\"']?[\w.-]{1,60}="
    r"|\s[\"']?[A-Za-z_]\w{0,60}=(?![\"']?(?:\w{1,20}://|@))|<<<[ \t]{0,4})" + _WORD
)
_PIPED = {
    word: regex(
        word + r"[ \t]{1,4}(?:-[ne]{1,2}[ \t]{1,4}|[\"']?%s(?:\\n)?[\"']?[ \t]{1,4})?"
        r"[\"']?(?:[\w.-]{1,40}:)?(?P<plain>[^\s\"':|]{4,200})[\"']?[ \t]{0,4}\|(?:[ \t]|\\\n){0,12}"
        r"(?:sudo[ \t]{1,4}(?:-\w[ \t]{1,4}){0,2}-S\b|(?:sudo[ \t]{1,4})?(?:(?:ch|smb)?passwd|cryptsetup|kinit|runas)\b"
        rf"|[^\n|]{{0,100}}(?:--(?:password-stdin|with-token)\b|{_STORES}))"
    )
    for word in ("echo", "printf")
}
_IDENTIFIED = r"identified\s{1,4}(?:with\s{1,4}\S{1,60}\s{1,4})?by"
_STATEMENT = regex(
    rf"\b(?:{_IDENTIFIED}\s{{1,4}}(?=[\"'])"
    r"|(?:requirepass|masterauth|ftp[ \t][^\n;]{1,100};\s{1,4}user\s{1,4}\S{1,60})\s{1,4})" + _WORD,
    re.IGNORECASE,
)
# A strand's passphrase may be any words.
_STRAND = regex(r"HELIX_PASSPHRASE[\"']?[ \t]{0,4}[=:][ \t]{0,4}" + _WORD)
_SQL = regex(
    rf"\b(?:{_IDENTIFIED}|(?:with|encrypted)\s{{1,4}}password)\s{{1,4}}'(?P<plain>[^'\n]{{4,200}})'", re.IGNORECASE
)
_STATEMENTS = ("identified", "requirepass", "masterauth", "ftp")
_NO_PASSWORD = ("-", "$", "(", "[", "{", "./", "/", "~", ":")


# Whatever the tool: a user and, beside it, a password.
_USER = r"(?:-[uU]|--user(?:name)?|/u(?:ser)?)(?:[ \t=:]{1,4})[^\s-]\S{0,100}"
_BESIDE_USER = regex(
    rf"\s{_USER}(?:[ \t]+[^\n]{{0,100}}?)??[ \t](?:-[pP]|--pass(?:word)?|/p(?:ass(?:word)?)?)[ \t=:]{{1,4}}(?!-){_WORD}"
)
_NET_USE = regex(
    r"\bnet(?:\.exe)?[ \t]{1,4}use[ \t][^\n]{0,160}?(?:/user:\S{1,60}[ \t]{1,4}(?![/])(?P<behind>\S{4,100})"
    r"|\\\\\S{1,100}[ \t]{1,4}(?!/)(?P<before>\S{4,100})[ \t]{1,4}/user:)",
    re.IGNORECASE,
)
_CHPASSWD = regex(r"\bchpasswd\b[^\n]{0,20}<<<?[ \t]{0,4}[\"']?[\w.-]{1,40}:(?P<plain>[^\s\"']{4,200})")
# What is written to a file that is named like a secret, and is one word: `cat > db_password.txt <<EOF`.
_HERE = regex(
    r"(?<![\w-])(?P<name>[\w-]{3,60})(?:\.\w{1,5})?[\"']?[ \t]{1,4}<<"
    r"(?:<[ \t]{0,4}|-?[ \t]?[\"']?\w{1,20}[\"']?[ \t]{0,4}\n[ \t]{0,8})"
    r"[\"']?(?P<plain>[^\s\"'#:]{5,200})[\"']?[ \t]{0,4}(?=\n|\Z)"
)
# In lower case, from a word on that few texts have: users of Oracle and Redis, keys of SQLCipher.
_LOWERED = (
    ("identified by", regex(r"user\s{1,4}\S{1,60}\s{1,4}identified by\s{1,4}(?P<plain>[^\s\"';]{4,200})")),
    (
        " on >",
        regex(r"user[ \t]{1,4}\S{1,60}(?:[ \t]{1,4}[^\s>]{1,40}){0,6}?[ \t]on[ \t]>(?P<plain>[^\s\"'>&]{4,200})"),
    ),
    ("pragma ", regex(r"pragma[ \t]{1,4}(?:\w{1,40}\.)?(?:re)?key\s{0,4}=\s{0,4}[\"'](?P<plain>[^\s\"]{4,200})[\"']")),
)
# What a script answers where a password is asked for.
_ANSWER = regex(
    r"assword[^\w\n]{0,12}\s{0,12}(?:\w{1,20}\.)?send(?:_?line)?(?:[ \t]{1,4}(?:--?[ \t])?|\()"
    r"[\"'](?P<plain>[^\s\"'\\]{4,200})(?:\\[rn]){0,2}[\"']"
)
_ASKS = regex(r"\b(?:mysql\w*|mariadb\w*|psql|createuser)(?:\.exe)?[ \t][^\n]*\Z")
"""Tools that ask for a password where nothing is joined to `-p`: what stands behind it is something else."""
_PORTS = regex(r"[\d.:-]+(?:/\w+)?")


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield passwords, which are secrets, on command lines and in database statements; `lowered` is in lower case."""
    for head, names in _BY_HEAD.items():
        for name in names if head in text else ():
            if name in text:
                yield from _of_tool(text, name, _GIVEN[name])
    if " -u" in lowered or " --user" in lowered or " /u" in lowered:
        for match in _BESIDE_USER.finditer(text):
            value = match[match.lastgroup or "plain"]
            asked = _ASKS.search(text, max(0, match.start() - 60), match.end()) and not strength.looks_told(value)
            if not (asked or _PORTS.fullmatch(value) or strength.is_placeholder(value)):
                yield Span(*match.span(match.lastgroup or "plain"), "password")
    if "/user:" in lowered:
        for match in _NET_USE.finditer(text):
            group = match.lastgroup or "behind"
            if match[group] != "*" and not strength.is_template(match[group]):
                yield Span(*match.span(group), "password")
    if "chpasswd" in lowered:
        for match in _CHPASSWD.finditer(text):
            yield from _password(match, "plain")
    for sign, pattern in _LOWERED:
        for match in pattern.finditer(lowered) if sign in lowered else ():
            value = text[slice(*match.span("plain"))]
            if strength.looks_chosen(value) and not value.startswith(_NO_PASSWORD):
                yield Span(*match.span("plain"), "password")
    if "send" in lowered and "assword" in lowered:
        for match in _ANSWER.finditer(text):
            yield from _password(match, "plain")
    if "<<" in text:
        for match in _HERE.finditer(text):
            if promise_of(match["name"]) in (Promise.PASSWORD, Promise.TOKEN):
                yield from _password(match, "plain")
    if "secret" in text or "vault" in text:
        ends = [*(one.end() for one in _STORE.finditer(text)), len(text)]
        for end, following in pairwise(ends):
            yield from _of_command(text, end, following, _STORED)
    for word, piped in _PIPED.items():
        if word in text and "|" in text:
            for match in piped.finditer(text):
                yield from _password(match, "plain")
    if "HELIX_PASSPHRASE" in text:
        for match in _STRAND.finditer(text):
            group = match.lastgroup or "plain"
            if not match[group].startswith(_NO_PASSWORD):
                yield Span(*match.span(group), "password")
    if "identified" in lowered or " password '" in lowered:
        for match in _SQL.finditer(text):
            if not strength.is_placeholder(match["plain"]):
                yield Span(*match.span("plain"), "password")
    if any(word in lowered for word in _STATEMENTS):
        for match in _STATEMENT.finditer(text):
            yield from _password(match, match.lastgroup or "plain")


def _of_tool(text: str, name: str, given: re.Pattern[str]) -> Iterator[Span]:
    at = _next(text, name, 0)
    while at < len(text):
        end = at + len(name)
        following = _next(text, name, end)
        yield from _of_command(text, end - 1, following, given)
        at = following


def _of_command(text: str, start: int, following: int, given: re.Pattern[str]) -> Iterator[Span]:
    command = _COMMAND.match(text, start, min(start + 1 + _LINE, following))
    for match in given.finditer(command.group() if command else ""):
        yield from _password(match, match.lastgroup or "plain", start)


def _next(text: str, name: str, start: int) -> int:
    """Return where the name stands next as a word of its own, the length of the text when it does not."""
    at = text.find(name, start)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-.@"):
        at = text.find(name, at + len(name))
    return at if at >= 0 else len(text)


def _password(match: re.Match[str], group: str, offset: int = 0) -> Iterator[Span]:
    value = match[group]
    phrase = group != "plain" and strength.is_passphrase(value)
    if phrase or (strength.looks_chosen(value) and not value.startswith(_NO_PASSWORD) and " " not in value):
        yield Span(offset + match.start(group), offset + match.end(group), "password")
