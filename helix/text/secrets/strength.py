"""Strength: does a string look like a real secret, like filler, or like a word, a path or an identifier?

Of 3,163 secrets that are found (sets E to K and gitleaks') 88 are missed without `looks_chosen`; without
`is_template` 143 more of 1,827 harmless strings are touched. On E to I and gitleaks' `is_joined_phrase`,
`is_passphrase` and `looks_told` changed none: they are for what people write in sentences.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from itertools import pairwise

from helix.text.regex import regex
from helix.text.secrets.secret_names import FILLER, PASSWORD_NAMES, PROSE, SAMPLE_DIGESTS
from helix.text.word_lists import word_list

_SEEN = 200
"""Characters of a value that are looked at; a longer one has shown what it is by then, and hostile text stays cheap."""

_LONGEST_COUNT = 13
_TEMPLATE = regex(
    r"^\$\w+$|\$\{[A-Za-z_][\w.]*(?:\}|[:?+=-]|$)|\$(?-i:[A-Z_]{3,})|\$\([^)]*\)?|\{\{[^{}]*(?:\}\}|$)|^<|<[^<>\s]*>"
    r"|%[({][\w.]+[)}]|%[sdr](?!\w)|^%\w+%$|#\{\w|`|…|^\[[\w ]+\]$|\[redacted"
    r"|\{[A-Za-z_][\w.]+(?:[(\[!:][^{}]*)?\}|\bos\.environ|process\.env|getenv\b",
    re.IGNORECASE,
)
_HOLE = regex(r"\{\d{0,2}\}|#\{|%\w+%")
_REPEATED = regex(r"[_.-]\w{0,8}([A-WYZa-wyz0-9])\1{9}")
_BLANKED = regex(r"x{4,}|X{4,}|\*{3,}|\.{3,}|#{3,}")
_BLANK = regex(r"([xX0\W_])\1*")
_SAMPLE = regex(r"example(?:key)?|sample", re.IGNORECASE)
_STAND_IN = regex(
    r"placeholder|redacted|dummy|change_?me|insert|replace|your[-_a-z]|[-_]here\b|_goes_|not[-_]?(?:a[-_]?)?real"
    r"|lorem|foobar|invalid|(?:^|[-_ ])todo(?:$|[-_ ])|somestring|random ?string|token ?here",
    re.IGNORECASE,
)
_PLACEHOLDERS = FILLER - word_list("text/secrets/strength", "telling_filler")
_WORDY = (
    PASSWORD_NAMES | PROSE | {"string", "none", "null", "true", "false", "example", "field", "input", "type", "value"}
)
_WORD = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD_LIKE = regex(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_UNSPEAKABLE = regex(r"[^aeiouy]{5}|^[^aeiouy]+$|[aeiou]{4}", re.IGNORECASE)
_EXPRESSION = regex(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|[?!]\.)[A-Za-z_$][\w$]*)+\(?"  # a.b->c
    r"|\.?[A-Za-z_$][\w.$]*[(\[)].*"  # f(x), a[0]
    r"|[A-Za-z_]+|[\d.]+[A-Za-z%]{0,3}"  # a name, a number with its unit
    r"|(?:sha|md|aes|rsa|dsa|utf|base|[hrep]s|ed|curve|x|pkcs|oauth|http|ipv|tls|ssl|int|uint|float|str|arg|v)-?_?\d{1,5}"
    r"|.*(?:[)\]}]{2}|\?\?|\|\||&&|===?(?=[^=])|=>|\?\.|\}=|\)\{|\{\w+:).*",  # `==` at the end is of base64
    re.DOTALL,
)
_CODE_OPENERS = ("{", "[", "(", "&", "*", "!", "\\", "@", "|", ">", "=", "+", "?", "#", ":", ",", ")")
_CODE = regex(r"[\\\"']|[aA]-[zZ]|0-9|://")
_LINE_END = regex(r"\\+[nrt]")
_UUID = regex(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-z]{12}")
_HEX = regex(r"[0-9a-fA-F]+")
_DIGIT = regex(r"\d")
_PUNCTUATED = regex(r"[^\w\s.:-]")
_SPECIAL = regex(r"[^\w\s./:-]")
_ZERO, _NINE = map(ord, "09")
_LONG_WORD = regex(r"[A-Za-z]{13}|[/_+-]")
_SEPARATOR = regex(r"[/_+-]")
_IDENTIFIER = regex(
    r"[A-Za-z][a-z0-9]*(?:[-_ .:/][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z]+)+\d?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
_CONSTANT = regex(r"[A-Z]+(?:_[A-Z]+)+")
_JOINED = regex(r"(?=.+[-_].)\w+(?:-\w+)*")
_PHRASE = regex(r"[a-z]{3,14}(?:[ -](?:[a-z]{3,14}|\d{1,6})){2,11}")
_TERM = regex(
    r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?"  # a time
    r"|v?\d[\d.,:/]*[-.]?[A-Za-z]*\d?"  # a number, a date, a version, a size: 12-character, 1Password
    r"|[A-Z]{2,6}-?\d{1,5}"  # RFC2617, AES-256, ERR-401
    r"|(?:sha|md|aes|rsa|base|utf|pbkdf|argon|hmac|rfc|iso|oauth|tls|http|ed|python|node|java|web|auth|ipv?|win|x)-?\d\w*(?:[-/.]\w+)*"
    r"|[\w.+-]+@[\w-]+(?:\.[a-z]{2,})+"  # an address of mail
    r"|[\w./-]*/[\w./-]*|\w+(?:\.\w+)+|[\w.]+[(\[].*",  # a path, a name with dots, a call
    re.IGNORECASE,
)


def is_published_sample(value: str) -> bool:
    """Return whether a secret is a key that a vendor publishes as a sample."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16] in SAMPLE_DIGESTS


def is_stand_in(value: str) -> bool:
    """Return whether a would-be secret is a template, blanked out, or says in words that it only stands for one.

    A row that counts or repeats itself is none: whoever takes it out loses nothing.
    """
    bare = value[:_SEEN].strip("\"'`")
    if len(bare) < 3 or is_told_to_be_none(bare):
        return True
    if _SAMPLE.search(bare):  # a documented sample is as random as the real thing, a made-up one is not
        rest = _SAMPLE.sub("", bare)
        return len(rest) < 20 or word_share(rest) >= 0.5 or not _DIGIT.search(rest)
    words = [word.lower() for word in _WORD.findall(bare)]
    digits = sum(len(word) for word in words if word.isdigit())
    named = [word for word in words if not word.isdigit()]
    return digits < 2 and bool(named) and FILLER.issuperset(named) and not _PUNCTUATED.search(bare)


def is_told_to_be_none(value: str) -> bool:
    """Return whether a value beside the name of a secret says itself that another stands in its place."""
    return is_template(value) or _STAND_IN.search(value[:_SEEN]) is not None


def is_counting(value: str) -> bool:
    """Return whether a would-be secret is mostly a row that counts upwards, which no random string is."""
    count = _longest_count(value[:_SEEN].lower())
    return count >= _LONGEST_COUNT or count * 2 > len(value)


def is_template(value: str) -> bool:
    """Return whether a would-be secret is a template to be filled, or was blanked out."""
    bare = value[:_SEEN].strip("\"'`")
    template = _TEMPLATE.search(bare) or _HOLE.search(bare) or _BLANKED.search(bare)
    return template is not None or bare.startswith(("$", "%", "[", "(")) or _BLANK.fullmatch(bare) is not None


def is_made_up(value: str) -> bool:
    """Return whether a token is one letter over and over behind its prefix, as samples are; `x` stands for none."""
    return _REPEATED.search(value[:_SEEN]) is not None


def is_placeholder(value: str, *, every: bool = False) -> bool:
    """Return whether nobody would have this as a secret: a template, a type, "changeme", the word itself.

    One such word tells it, or with `every` all must be such.
    """
    bare = value[:_SEEN].strip("\"'`")
    if len(bare) < 3 or is_told_to_be_none(bare) or _SAMPLE.search(bare):
        return True
    words = [word.lower() for word in _WORD.findall(bare)]
    if not words:
        return not bare.isascii() or len(set(bare)) < 3
    such = _PLACEHOLDERS | PROSE
    told = such.issuperset(words) if every else not such.isdisjoint(words)
    return told and not any(map(str.isdigit, bare)) and is_word_like(bare)


def is_word_like(value: str) -> bool:
    """Return whether a would-be secret is letters only, or words joined as names of code are."""
    return value.replace("_", "").replace("-", "").replace(".", "").isalpha()


def is_wordy(value: str) -> bool:
    """Return whether a would-be secret says in words that it is none: a name of one, a word of a sentence, a type."""
    words = [word.lower() for word in _WORD.findall(value[:_SEEN])]
    named = [word for word in words if not word.isdigit()]
    return not words or (bool(named) and not _WORDY.isdisjoint(named) and len(named) <= 4)


def is_scrambled(value: str) -> bool:
    """Return whether a secret's letters and digits change so often that no name, path or word is so written."""
    value = value[:_SEEN]
    if len(value) < 16 or is_uuid(value) or is_stand_in(value):
        return False
    kinds = ["d" if char.isdigit() else "a" if char.isalpha() else "-" for char in value if char.isalnum()]
    changes = sum(before != after for before, after in pairwise(kinds))
    return changes >= max(5, len(value) // 8) and word_share(value) < (0.65 if value.isalnum() else 0.4)


def is_jumbled(value: str, *, most_words: float = 0.5) -> bool:
    """Return whether a secret's letters alone change their case so often that no name is written like this."""
    value = value[:_SEEN]
    if len(value) < 10 or not (value.isascii() and value.isalpha()):
        return False
    changes = sum(before.isupper() != after.isupper() for before, after in pairwise(value))
    return changes >= max(5, len(value) // 4) and word_share(value) < most_words


def is_shuffled(value: str) -> bool:
    """Return whether a secret of a few signs mixes upper case, lower case and digits, and has few runs like words."""
    value = value[:_SEEN]
    if len(value) < 12 or not value.isalnum() or is_stand_in(value) or is_identifier(value):
        return False
    kinds = (str.isupper, str.islower, str.isdigit)
    return all(any(map(kind, value)) for kind in kinds) and word_share(value) < 0.35


def in_its_line(value: str) -> str:
    """Return what of a would-be secret stands before the end of its line or a tab, in a text escaped as in JSON."""
    return _LINE_END.split(value, maxsplit=1)[0]


def is_expression(value: str) -> bool:
    """Return whether an unquoted secret is code (a name, a call, an index, an operator) or a plain number."""
    return value.startswith(_CODE_OPENERS) or _EXPRESSION.fullmatch(value[:_SEEN]) is not None


def is_noise(value: str) -> bool:
    """Return whether a would-be secret is all signs, letters and digits in no order, as generators make keys."""
    signs = re.findall(r"[^A-Za-z0-9]", value[:_SEEN])
    mixed = any(map(str.isupper, value)) and any(map(str.isdigit, value)) and word_share(value) < 0.3
    return mixed and len(value) >= 32 and len({*signs}) > 5 and len(signs) * 7 > len(value) and not _CODE.search(value)


def is_uuid(value: str) -> bool:
    """Return whether a would-be secret has the shape of a UUID."""
    return _UUID.fullmatch(value) is not None


def is_hex(value: str) -> bool:
    """Return whether a would-be secret has hexadecimal digits only."""
    return _HEX.fullmatch(value) is not None


def entropy(value: str) -> float:
    """Return Shannon's entropy of a would-be secret, in bits per character (0 for an empty string)."""
    size = len(value)
    return -sum(count / size * math.log2(count / size) for count in Counter(value).values()) if size else 0.0


def word_share(value: str) -> float:
    """Return the share (0..1) of a secret's characters in runs like words: one case, four or more, pronounceable."""
    words = (run for run in _WORD_LIKE.findall(value) if not _UNSPEAKABLE.search(run))
    return sum(map(len, words)) / len(value) if value else 0.0


def looks_chosen(value: str) -> bool:
    """Return whether a value beside a secret's name looks like one: digits in letters, or letters in symbols."""
    if len(value) < 5 or is_stand_in(value):
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
    unsaid = (len(value) >= 16 and word_share(value) < 0.5) or is_jumbled(value)
    return unsaid or (symbols > 0 and _SPECIAL.search(value) is not None)


def is_constant(value: str) -> bool:
    """Return whether a would-be secret is written as code names its constants: `SHOP_API_KEY`."""
    return _CONSTANT.fullmatch(value) is not None


def is_identifier(value: str) -> bool:
    """Return whether a would-be secret is written as names of code and files are: joined by signs or capitals."""
    return _IDENTIFIER.fullmatch(value[:_SEEN]) is not None


def is_mixed(value: str) -> bool:
    """Return whether a secret's words joined by `-` or `_` mix upper case, lower case and digits, as no naming does."""
    value = value[:_SEEN]
    return (
        _JOINED.fullmatch(value) is not None
        and any(map(str.isdigit, value))
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
    )


def is_joined_phrase(value: str) -> bool:
    """Return whether a secret is words joined by `-`, a number among them, and none names a thing of software."""
    words = value[:_SEEN].split("-")
    digits = sum(char.isdigit() for char in value[:_SEEN])
    return (
        len(words) > 2
        and 4 - len(words[:4]) < digits <= 8
        and (FILLER | PROSE).isdisjoint(words)
        and "".join(words).isalnum()
    )


def is_passphrase(value: str) -> bool:
    """Return whether a secret is three to twelve plain lower-case words, with numbers, that make no sentence."""
    return _PHRASE.fullmatch(value) is not None and (FILLER | PROSE).isdisjoint(re.split("[ -]", value))


def looks_told(value: str) -> bool:
    """Return whether a word of a sentence looks like a password rather than a term, a number or another name."""
    if is_jumbled(value):
        return True
    if len(value) < 6 or not looks_chosen(value) or _TERM.fullmatch(value[:_SEEN]) or is_expression(value):
        return False
    return not is_identifier(value) or is_mixed(value) or is_joined_phrase(value)


def looks_random(value: str, *, least: int = 16) -> bool:
    """Return whether a secret alone, without context but with a vendor's prefix, looks machine-made."""
    if len(value) < least or is_stand_in(value):
        return False
    value = value[:_SEEN]
    digits = sum(char.isdigit() for char in value)
    if not any(char.isalpha() for char in value):
        return False
    if not digits:
        return word_share(value) < 0.4 and entropy(value) >= 3.3
    return entropy(value) >= 2.8 and word_share(value) < 0.6


def looks_high_entropy(value: str) -> bool:
    """Return whether a secret looks random without context: upper, lower, digits well mixed, 20..100 long.

    Hexadecimal is left alone on purpose: without a name beside it, it is a commit, a checksum or an id.
    """
    if not 20 <= len(value) <= 100 or is_hex(value.replace("-", "")):
        return False
    digits = sum(char.isdigit() for char in value)
    upper = sum("A" <= char <= "Z" for char in value)
    lower = sum("a" <= char <= "z" for char in value)
    if not (upper and lower):  # letters of one case: only where they change with digits all along
        long = len(value) >= 30 and digits >= 5
        return long and is_scrambled(value) and _LONG_WORD.search(value) is None  # which also knows a filler
    if min(digits, upper, lower) < 2 or not 0.06 * len(value) <= digits <= 0.4 * len(value):
        return False
    if max(len(piece) for piece in _SEPARATOR.split(value)) < 12:
        return False
    ceiling = math.log2(min(len(value), 64))
    made_up = is_stand_in(value) or is_counting(value)  # an alphabet, too, stands in code without a name
    return entropy(value) >= 0.82 * ceiling and word_share(value) < 0.35 and not made_up


def _longest_count(value: str) -> int:
    """Return the length of the longest row that counts upwards by one (`abcdef`, `890123`)."""
    longest = run = 1
    for before, after in pairwise(map(ord, value)):
        if after - before == 1 or (after == _ZERO and before == _NINE):
            run += 1
            longest = max(longest, run)
        else:
            run = 1
    return longest
