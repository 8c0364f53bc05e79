"""Assignments: values beside the name of a secret, in `.env` files, code, YAML, JSON, XML, flags and prose.

Without it 771 of the 3,035 secrets in docs/benchmarks/safety.md are missed that are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from helix.text.regex import regex
from helix.text.secrets import strength
from helix.text.secrets.assignment_grammar import ASSIGNMENT, HINT, ITEM, LIST, THEN
from helix.text.secrets.secret_names import PASSWORD_NAMES, PROSE, Promise, promise_of
from helix.text.secrets.span import Span
from helix.text.word_lists import word_list

_MOST_ITEMS = 50
_SHORTEST_NUMBER, _SHORTEST_BARE_NUMBER = 4, 6
_VALUE_GROUPS = ("double", "single", "back", "plain")
_WEAK_GROUPS = ("comma", "call", "fill", "prose", "blank")
# What assigns without `=`: `ENV NAME value` of Dockerfiles, fish's `set -gx NAME value`, `setenv` of csh, `setx`.
_SETS = regex(
    r"(?:^|\n)[ \t]{0,8}(?:[$>#][ \t]{1,4})?(?:set[ \t]{1,4}-\w{0,4}[gUx]\w{0,4}|setenv|setx|ENV)[ \t]{1,8}\Z"
)
_PUTS = regex(r"\b(?:set|put|write)[ \t]{1,4}(?:[\w./:-]{1,40}[ \t]{1,4})?[\"']?[\w./:-]{0,60}\Z")
"""What gives a value to a name, by a tool: `consul kv put shop/password ...`."""
_LONGEST_PLAIN = 500
_TRIED_LONG = 400
_NAME_REACH = 60
_NAME = regex(r"[\w.\-]*")
_LONGEST_NAME = 110
"""Characters of a name behind a hint, and of a method that follows: more than `ASSIGNMENT` reads of both."""
_READER = regex(
    r"_*(?:get|fetch|read|load|find|look|resolve|check|verify|validate|is|has|require|delete|remove|create|make|parse|ask)",
    re.IGNORECASE,
)
_NOT_SPACE = regex(r"\S{0,8192}")
_LINE_STARTS = frozenset(
    {"", "export", "set", "setx", "env", "ENV", "ARG", "-e", "$", "#", "//", "-"}
    | {"- export", "RUN export", "$ export", "# export"}
)
_STRAY = (",", ")", ";", "+", "]", "}")
_METHOD = regex(r"\.[A-Za-z]\w*\(")
"""What stands behind a string that names a secret, its last quote read as a first one: `"Token: ".concat(`."""
_LOCATION = regex(
    r"\w+://|[./~]{1,2}/|/\w|[A-Za-z]:\\"
    r"|.*\.(?:cer|cfg|com|conf|crt|env|go|html?|ini|io|js|json|key|jks|md|net|org|p12|pem|pub|py|rs|sh|toml|ts|txt|xml|ya?ml|dev)\b",
    re.IGNORECASE,
)
_TELLING = regex(r"\d|[^\w\s.,'!?-]")
_LONG_ENOUGH, _LONGER_THAN_WORDS = 20, 60
_BASE64 = regex(r"[\w+/=-]*")
_CALLED = regex(r"[A-Za-z_][\w.:]{0,80}\([^()]{0,200}\)")
_SENTENCE = regex(r"[A-Z][a-z]*(?: [^\s]+){2,} [^\s]+[.:!?]$")
_TWO_WORDS = regex(r"[a-z]{3,14} [a-z]{3,14}")
_MOST_BLANKS = 6
_ADDRESS_REACH = 200
_QUERY_END = regex(r"[&#;)]")
_IN_QUERY = regex(r"[\w.~%+-]{3,200}")
_COMMON_NUMBERED = regex(r"(?:changeit|letmein|passwd|password|secret)\d{1,4}")
_MIXED = regex(r"[A-Za-z](?=[A-Za-z]*\d)[A-Za-z0-9]{4,}")
_GIVEN = regex(r"[^\s,;+)\]}.][^\s]{2,}")
_SURE = regex(
    r"(?i)(?:api|access|secret|private|auth\w*|encryption|signing|ssh|ssl|fernet|master|account|priv\w*)[_-]?key\Z"
    r"|(?:access|auth|deploy|secret|private|bearer|session|refresh|id)[_-]?token\Z|bearer\Z"
)
_MADE_UP = regex(r"(?=.*[A-Za-z])\w.*[^\w.].*")
_HYPHENATED = regex(r"[a-z]\w*(?:-\w+)+")
_TYPES = word_list("text/secrets/assignments", "types")
_SETTER = regex(r"(?:\bdefine\(\s?[\"']|\bset)(?i:\w{0,12}(?:password|passwd))$")
_OF_FLAGS = frozenset({"flag", "flags", "option", "options", "argument", "arguments", "parameter", "switch", "prompt"})
_FLAG_ENDS = regex(r"[ \t]{0,4}(?:\Z|[\n|;&>'\"`\\]|-)")
_TO_TOOL = regex(r"(-e|-D|--?(?:env|build-arg|set|set-string|from-literal|var|extra-vars))[ =]?[\"']?$")
_PAIR_BEFORE = regex(r"[\w.-]=[^\s,;=]{1,80}[,;]?[ \t]{1,2}$")
_PAIR_BEHIND = regex(r"[,;]?[ \t]{1,2}[\w.-]{1,40}=[^\s=]")
# A cookie of a header.
_IN_COOKIE = regex(r"cookie[\"']?\s?[:=][^\n]{0,200}\Z", re.IGNORECASE)
_NAMES_ONE = frozenset({"secret", "secrets", "existingsecret"})
"""Names under which a secret of a cluster or a store is often named, and not given."""
_NUMBERED = 3  # digits of a token that is written as a name
_COUNTED_HEX = 16  # digits of a hexadecimal key from which on it goes even where it counts upwards


class _Context(NamedTuple):
    """How a value is written: in quotes, as a line of an `.env` file, in capitals, or beside its name without `=`.

    `alone` is an assignment that is all of its line, as in files of settings; `tight` has no blank in it, or a name in
    quotes before a value without, so that it is no type of a parameter; `colon` has `:` for `=`.
    """

    quoted: bool
    env: bool
    shouted: bool
    weak: bool
    alone: bool = False
    tight: bool = False
    colon: bool = False
    flag: bool = False


_USER_LINE = regex(
    r"(?:^|\n)[ \t]{0,40}[\"']?(?:db_?)?(?:user(?:_?name|_?id)?|login|uid|email)[\"']?[ \t]{0,20}(?:[:=]|=>)[ \t]{0,20}"
    r"[\"']?[\w.@+-]{2,60}[\"']?[,;]?[ \t]{0,4}\n(?:[ \t]{0,40}(?:#|//)[^\n]{0,80}\n){0,3}[ \t]{0,40}[\"']?\Z"
    r"|\buser(?:name)?[\"']?[ \t]{0,2}[:=]?[ \t]{0,2}[\"'][^\"'\n]{2,80}[\"'],?[ \t]{1,4}\Z"
    r"|(?:^|\n)[ \t]{0,40}(?:user(?:name)?|login)[ \t]{1,20}[^\s:=]{2,60}[ \t]{0,4}\n[ \t]{0,40}\Z",
    re.IGNORECASE,
)
_STRUCTURED = _Context(quoted=True, env=False, shouted=False, weak=False)


def find(text: str, lowered: str) -> Iterator[Span]:
    """Yield secrets in assignments to names of secrets. `lowered` is the text in lower case, equally long."""
    position = word_end = 0
    tried = -1
    for hint in HINT.finditer(lowered):
        if hint.start() < position:
            continue
        if hint.start() >= word_end:
            word_end = _NAME.match(text, hint.start()).end()  # type: ignore[union-attr]
        if word_end - hint.start() > _LONGEST_NAME:  # hostile text repeats a hint without a gap
            continue
        start = _name_start(text, hint.start(), position)
        if start == tried or word_end - start > _LONGEST_NAME:
            continue
        tried = start
        match = ASSIGNMENT.match(text, start)
        if match is None:
            continue
        position = match.end("name")
        promise = promise_of(match["name"], text[max(0, match.start() - 16) : match.start()])
        if promise is Promise.NONE:
            continue
        if promise is Promise.MAYBE and _IN_COOKIE.search(text, max(0, match.start() - _ADDRESS_REACH), match.start()):
            promise = Promise.TOKEN
        items = list(_items(text, match, promise))
        yield from items
        span = None if items else _judged(text, match, promise)
        if span is not None:
            yield span
            then = THEN.match(text, span.end)
            if then is not None and kind_of(match["name"], then["value"]):
                yield Span(*then.span("value"), span.kind)
        # Names inside a value that was refused are tried too, unless it is long: hostile text repeats it at each name.
        if span is not None or match.end() - match.start() > _TRIED_LONG:
            position = max(position, match.end())


def kind_of(name: str, value: str) -> str:
    """Return the kind of secret that a value is by the name it stands under, as in JSON; empty for none."""
    promise = promise_of(name)
    accepted = promise is not Promise.NONE and (
        _is_stated(name, value, promise, _STRUCTURED) or _accepted(value, promise, _STRUCTURED)
    )
    if not accepted:
        return ""
    return "password" if promise is Promise.PASSWORD else "credential"


def _items(text: str, match: re.Match[str], promise: Promise) -> Iterator[Span]:
    """Yield the values of a list under a name; a plain word in there may name a secret as well as be one."""
    head = LIST.match(text, match.end("name")) if promise in (Promise.PASSWORD, Promise.TOKEN) else None
    position = head.end() if head else len(text)
    for _ in range(_MOST_ITEMS):
        item = ITEM.match(text, position)
        if item is None:
            return
        group = item.lastgroup or "plain"
        context = _Context(quoted=group != "plain", env=False, shouted=False, weak=False)
        chosen = strength.looks_chosen(item[group]) and _accepted(item[group], promise, context)
        numbered = promise is Promise.PASSWORD and context.quoted and _COMMON_NUMBERED.fullmatch(item[group])
        if chosen or numbered:
            yield Span(*item.span(group), "password" if promise is Promise.PASSWORD else "credential")
        position = item.end()


def _name_start(text: str, hint: int, floor: int) -> int:
    start = hint
    while start > max(floor, hint - _NAME_REACH) and (text[start - 1] in "_.-" or text[start - 1].isalnum()):
        start -= 1
    while start < hint and not (text[start].isalpha() or text[start] == "_"):
        start += 1
    return start


def _judged(text: str, match: re.Match[str], promise: Promise) -> Span | None:
    group = next(key for key in _VALUE_GROUPS if match[key] is not None)
    start = match.start(group)
    if not _is_assignment(text, match, group):
        return None
    gap = text[match.start() : start]
    quoted = group != "plain"
    env = (
        not quoted
        and match["assign"] is not None
        and (match["name"].isupper() or gap.endswith("="))
        and _starts_line(text, match.start())
    )
    in_query = _in_query(text, match.start())
    value = _whole_value(text, match, group, env=env, in_query=in_query).rstrip("\\")
    if _is_label(value) if quoted else _CALLED.fullmatch(value):
        return None
    if text.startswith(("..", "…"), start + len(value)):  # an excerpt: whoever wrote it left the secret out
        return None
    glued = gap == match["name"] + "="
    tight = glued and text[match.start() - 1 : match.start()] in ("", "\n")
    shouted = (glued and match["name"].isupper()) or (
        env and (tight or (match["name"].isupper() and gap.endswith((match["name"] + "=", ": "))))
    )
    stated = text.endswith((" -", "--"), 0, match.start()) or _is_set(text, match)
    stated = stated or (quoted and match["blank"] is not None and _is_alone(text, match.start(), match.end()))
    stated = stated or (quoted and match["blank"] is not None and _is_beside_user(text, match.start()))
    stated = stated or (quoted and _SETTER.search(text, max(0, match.start() - 16), match.end("name")) is not None)
    weak = any(match[key] is not None for key in _WEAK_GROUPS) and not stated
    end = start + len(value)
    if not quoted and _is_last_sign(text, end):
        end += 1
    alone = in_query or (not weak and not quoted and _is_alone(text, match.start(), end))
    if promise is Promise.TOKEN and not weak and not quoted and _is_header(text, match.start(), end):
        alone = ": " in gap
    beside = " " not in gap or match["close"] != ""
    flagged = text.endswith("--", 0, match.start())
    context = _Context(quoted, env, shouted, weak, alone, tight=beside, colon=":" in gap, flag=glued and flagged)
    told = in_query and _is_told_in_query(match["name"], value, promise)
    told = told or (promise is Promise.PASSWORD and not quoted and _is_given(text, match, value))
    told = told or (flagged and promise in (Promise.PASSWORD, Promise.TOKEN) and _MIXED.fullmatch(value) is not None)
    if promise is Promise.PASSWORD or "==" not in gap:
        told = told or _is_stated(match["name"], value, promise, context)
    if not told and not _accepted(value, promise, context):
        return None
    kind = "env-value" if env else "password" if promise is Promise.PASSWORD else "credential"
    return Span(start, end, kind)


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether an assignment is all of its line, but for the sign of an item of a list."""
    after = text[end : end + 3].lstrip(" \t\"'")
    return after[:1] in ("", "\n", "\r") and _starts_line(text, start)


def _is_beside_user(text: str, start: int) -> bool:
    """Whether the name of a user and its value stand before a name."""
    return _USER_LINE.search(text, max(0, start - 160), start) is not None


def _in_query(text: str, start: int) -> bool:
    """Whether a name is one of a query, a fragment or a list of settings in an address."""
    before = text[start - 1 : start]
    if before in ("?", "&"):
        return True
    if before not in ("#", ";", ",", "("):
        return False
    word = text[max(0, start - _ADDRESS_REACH) : start].split()[-1:]
    return bool(word) and ("://" in word[0] or "?" in word[0])


def _is_told_in_query(name: str, value: str, promise: Promise) -> bool:
    """Whether what a query gives to the name of a secret is one, whatever words it is made of."""
    if promise not in (Promise.PASSWORD, Promise.TOKEN) or _IN_QUERY.fullmatch(value) is None:
        return False
    return not (strength.is_told_to_be_none(value) or _spelled(value) == _spelled(name))


def _is_header(text: str, start: int, end: int) -> bool:
    """Whether a string holds a name and its value and nothing else, as those of headers do: `'X-Api-Key: ...'`."""
    return text[start - 1 : start] in ("'", '"') and text[end : end + 1] == text[start - 1]


def _is_last_sign(text: str, end: int) -> bool:
    """Whether the last sign of a line belongs to the value: `!`, or a bracket that no other has opened."""
    sign = text[end : end + 2].strip()
    return sign == "!" or (sign == ")" and "(" not in text[max(0, end - _ADDRESS_REACH) : end].rpartition("\n")[2])


def _is_stated(name: str, value: str, promise: Promise, context: _Context) -> bool:
    """Whether a value is a secret because it is given to the name of one, in quotes or as a line of settings.

    Whatever it is made of: who takes out what only stands for a secret loses nothing. Not what code writes there: a
    template, a place, a type, the name itself, and under a name that says no more than `token` a word or a name.
    """
    if context.weak or promise not in (Promise.PASSWORD, Promise.TOKEN) or len(value) > _LONGER_THAN_WORDS:
        return False
    if promise is Promise.PASSWORD and value.isdigit() and len(value) <= _LONG_ENOUGH:
        stated = context.alone and context.tight and not context.quoted
        return len(value) >= (3 if stated else _SHORTEST_NUMBER if context.quoted else _SHORTEST_BARE_NUMBER)
    if not _GIVEN.fullmatch(value) or strength.is_told_to_be_none(value) or _LOCATION.match(value):
        return False
    if name.lower() in _NAMES_ONE and strength.is_identifier(value) and not context.shouted:
        return False
    if _spelled(value) in (_spelled(name), *_TYPES) or strength.is_constant(value) or value.lower() in PROSE:
        return False
    if value.isalpha() and value[0].islower() and not value.islower() and promise_of(value) is promise:
        return False  # the name of a field: newPassword
    sure = promise is Promise.PASSWORD or _SURE.search(name) is not None or (context.shouted and name.isupper())
    if context.quoted:
        made_up = _MADE_UP.fullmatch(value) is not None or value in PASSWORD_NAMES or _numbered(value)
        return sure or (name.lower().endswith("token") and made_up)
    return sure and _is_stated_bare(name, value, promise, context)


def _is_stated_bare(name: str, value: str, promise: Promise, context: _Context) -> bool:
    """Whether a value without quotes is given to the name of a secret, by a setting, a flag or a command's variable."""
    own = _spelled(name).endswith(_spelled(value))
    if context.alone and (context.shouted or (context.tight and name.isupper())):
        return not own
    if context.flag:  # a shell has no names that stand for themselves
        return True
    if context.tight and not context.colon and not strength.is_expression(value):
        return context.env or context.shouted or _numbered(value) or _HYPHENATED.fullmatch(value) is not None
    made_up = (_numbered(value) or _HYPHENATED.fullmatch(value) is not None) and not name.lower().endswith("secrets")
    if context.alone and context.colon and made_up:
        return not strength.is_expression(value)
    if not (context.alone and value.rstrip("!)").isalpha()):
        return False
    if context.colon:
        return value.islower() or (promise is Promise.PASSWORD and value.istitle())
    return promise is Promise.PASSWORD and value.islower() and not own and value not in PASSWORD_NAMES


def _numbered(value: str) -> bool:
    """Whether a value is letters and three digits or more, as few names are."""
    return sum(map(str.isdigit, value)) >= _NUMBERED and any(map(str.isalpha, value))


def _spelled(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(".", "")


def _is_given(text: str, match: re.Match[str], value: str) -> bool:
    """Whether a word is a password by how it is given: by a flag, to a tool, or in a list of such pairs.

    In a call it is the name of what holds one.
    """
    if not value.isalpha() or value.isupper() or len(value) < _SHORTEST_NUMBER or value in PROSE:
        return False
    if value.startswith("pass") or _spelled(match["name"]).endswith(value.lower()):
        return False  # the name of what holds one
    before = text[max(0, match.start() - _ADDRESS_REACH) : match.start()].rpartition("\n")[2]
    if text[match.end("name") : match.end("name") + 1] != "=":
        word = before.endswith("--") and value.islower() and value not in _OF_FLAGS
        return word and _FLAG_ENDS.match(text, match.end()) is not None
    tool = _TO_TOOL.search(before)
    if before.endswith("--") or (tool and (match["name"].isupper() or len(tool[1]) > 2)):
        return True
    before = before[max(map(before.rfind, "\"'")) + 1 :]
    paired = _PAIR_BEFORE.search(before) or _PAIR_BEHIND.match(text, match.end())
    return "(" not in before and value.islower() and paired is not None


def _is_label(value: str) -> bool:
    """Whether a string is what a form shows beside the field of a password."""
    return value[:-1].isalpha() and (value.endswith(":") or (value.istitle() and value.lower() in PASSWORD_NAMES))


def _is_set(text: str, match: re.Match[str]) -> bool:
    """Whether a shell's own word for it stands before the name and gives it what stands behind."""
    return match["blank"] is not None and _SETS.search(text, max(0, match.start() - 40), match.start()) is not None


def _is_assignment(text: str, match: re.Match[str], group: str) -> bool:
    """Whether what stands between name and value gives the one to the other."""
    gap = text[match.end("name") : match.start(group)]
    if group == "plain" and match["value_key"] is None and "\n" in gap and "<<" not in gap:
        return False
    if group == "plain" and match["assign"] is not None and "==" in match["assign"]:
        return False
    keyed = group != "plain" and text.startswith(('":', "':"), match.end("name"))  # `a ? "pass" : "fail"` has a blank
    given = keyed or "=" in gap
    if match["name"].lower() == "pass" and not given:
        told = strength.is_mixed(match[group]) or strength.is_shuffled(match[group])
        return told or _is_beside_user(text, match.start())  # else it is the verdict of a test, or something passed on
    if match["blank"] is not None:
        if match[group].startswith("--"):  # another flag
            return False
        flag = text.endswith("-", 0, match.start()) or strength.is_scrambled(match[group]) or _is_set(text, match)
        if not flag and strength.looks_told(match[group]):
            flag = _PUTS.search(text, max(0, match.start() - _ADDRESS_REACH), match.start()) is not None
            flag = flag or _is_beside_user(text, match.start())
            flag = flag or ("." in match["name"] and _is_alone(text, match.start(), match.end()))
        return flag or (group in ("double", "single") and not match["close"])
    if match["call"] is not None:
        return _READER.match(match["name"].rpartition(".")[2]) is None
    return match["tag"] is None or text.startswith("</", match.end(group))


def _whole_value(text: str, match: re.Match[str], group: str, *, env: bool, in_query: bool) -> str:
    value, start = match[group], match.start(group)
    if group != "plain":
        return value
    value = strength.in_its_line(value)
    if text.endswith("${", 0, match.start()):  # what a shell takes where the variable is not set
        return value.partition("}")[0]
    if in_query or ("&" in value and "://" in text[max(0, start - _ADDRESS_REACH) : start]):
        return _QUERY_END.split(value, maxsplit=1)[0]
    if env:
        return _rest_of_word(text, start).rstrip("\"',;")
    return _rest_of_word(text, start) if len(value) >= _LONGEST_PLAIN else value.rstrip(".:!?)]}|")


def _rest_of_word(text: str, start: int) -> str:
    match = _NOT_SPACE.match(text, start)
    return match.group() if match else ""


def _accepted(value: str, promise: Promise, context: _Context) -> bool:
    if strength.is_uuid(value):
        return promise is not Promise.MAYBE
    if context.quoted and strength.is_noise(value):
        return True
    if promise in (Promise.MAYBE, Promise.KEY) and strength.is_counting(value):  # an alphabet, a row of digits
        return False
    counted = promise is Promise.TOKEN and not context.weak and strength.is_hex(value) and len(value) >= _COUNTED_HEX
    if promise in (Promise.PASSWORD, Promise.TOKEN) and not context.weak and _is_long_token(value):
        return True
    plain = not context.weak and promise is not Promise.MAYBE and len(value) >= _LONG_ENOUGH
    mixed = plain and value.isalnum() and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if counted or mixed:
        return not strength.is_stand_in(value)
    scrambled = promise in (Promise.PASSWORD, Promise.TOKEN) and strength.is_scrambled(value) and "." not in value
    if strength.is_stand_in(value) or (_LOCATION.match(value) and not scrambled) or strength.is_published_sample(value):
        return False
    if not context.quoted and not context.shouted:
        if strength.is_expression(value) and not (strength.is_jumbled(value) or strength.is_made_up(value)):
            return False
    elif value.startswith(_STRAY) or _METHOD.match(value):
        return False
    match promise:
        case Promise.PASSWORD:
            return _like_a_password(value, context)
        case Promise.TOKEN:
            return _like_a_token(value, context)
        case Promise.KEY:
            numbered = sum(map(str.isdigit, value)) >= _NUMBERED
            told = context.shouted and context.alone and numbered and _like_a_token(value, context)
            return told or _like_a_key(value)
        case _:
            random = strength.looks_random(value, least=12) and strength.word_share(value) < 0.4
            return random and not strength.is_hex(value) and " " not in value


def _is_long_token(value: str) -> bool:
    """Whether a value is a token by its length: digits only, or so long that some blanked characters say nothing."""
    if value.isdigit():
        return len(value) > _LONG_ENOUGH and len({*value}) > 4
    return len(value) >= _LONGER_THAN_WORDS and _BASE64.fullmatch(value) is not None and strength.entropy(value) > 4


def _like_a_password(value: str, context: _Context) -> bool:
    if any(char.isspace() for char in value):  # a pass phrase, or a sentence about passwords
        if not context.quoted or strength.is_passphrase(value):
            return context.quoted
        if not context.weak and _TWO_WORDS.fullmatch(value) and not strength.is_wordy(value):
            return True
        told = _TELLING.search(value) is not None and value.count(" ") <= _MOST_BLANKS and not _SENTENCE.match(value)
        return told and not context.weak and PASSWORD_NAMES.isdisjoint(value.lower().split())
    if value.isupper() and "_" in value and strength.is_wordy(value):  # a constant that is named like a secret
        return False
    named = strength.is_identifier(value) and not (
        strength.is_mixed(value) or (not context.weak and strength.is_joined_phrase(value))
    )
    if context.env or (context.quoted and not context.weak):
        return len(value) >= 4 and (not named or strength.looks_chosen(value))
    return not named and strength.looks_chosen(value)


def _like_a_token(value: str, context: _Context) -> bool:
    shortest = 8 if context.alone and context.tight else 10
    if len(value) < shortest or any(char.isspace() for char in value):
        return False
    if context.shouted and not strength.is_identifier(value):
        return len(value) >= 12 or not value.isalpha()
    if not context.weak and (strength.is_scrambled(value) or strength.is_made_up(value)):
        return True
    if not strength.looks_chosen(value):
        return False
    if not strength.is_identifier(value) or strength.word_share(value) < 0.35:
        return True
    sure = not context.weak and (context.quoted or context.shouted or context.alone)
    return sure and sum(map(str.isdigit, value)) >= _NUMBERED


def _like_a_key(value: str) -> bool:
    if strength.is_hex(value):
        return len(value) >= (32 if value.isdigit() else 20)
    random = strength.looks_random(value, least=14) and strength.word_share(value) < 0.4
    return (random or strength.is_scrambled(value)) and not any(char.isspace() for char in value)


def _starts_line(text: str, start: int) -> bool:
    return text[max(text.rfind("\n", 0, start) + 1, start - 40) : start].strip() in _LINE_STARTS
