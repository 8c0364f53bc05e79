"""Strength: does a string look like a real secret, like filler, or like a word, a path or an identifier?"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from itertools import pairwise

from helix.text.secrets.vocabulary import FILLER, SAMPLE_DIGESTS

_SEEN = 200
"""Characters of a value that are looked at; a longer one has shown what it is by then, and hostile text stays cheap."""

_LONGEST_COUNT = 13
_TEMPLATE = re.compile(
    r"^\$\w+$|\$\{[A-Za-z_][\w.]*(?:\}|[:?+=-])|\$(?-i:[A-Z_]{3,})|\$\([^)]*\)?|\{\{[^{}]*(?:\}\}|$)|^<|<[^<>\s]*>"
    r"|%[({][\w.]+[)}]|%[sdr](?!\w)|^%\w+%$|#\{\w|`|…|^\[[\w ]+\]$|\[redacted"
    r"|\{[A-Za-z_][\w.]+(?:\([^{}]*\)|\[[^{}]*\]|![rs]|:[^{}]*)*\}|\bos\.environ|process\.env|getenv\b",
    re.IGNORECASE,
)
_RUN = re.compile(r"(.)\1{3,}")
_BLANKED = re.compile(r"x{4,}|X{4,}|\*{3,}|\.{3,}|#{3,}")
# Two or three characters five times in a row, or four and more three times, unless it is one character all along.
_REPEATED = re.compile(r"(?=(.)(?!\1))(?:(.{2,3}?)\2{4,}|(.{4,16}?)\3{2,})")
_SAMPLE = re.compile(r"example(?:key)?|sample", re.IGNORECASE)
_STAND_IN = re.compile(
    r"placeholder|redacted|dummy|change_?me|insert|replace|your[-_a-z]|[-_]here\b|_goes_|not[-_]?(?:a[-_]?)?real"
    r"|lorem|foobar|invalid|(?:^|[-_ ])todo(?:$|[-_ ])|somestring|random ?string|token ?here",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD_LIKE = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_UNSPEAKABLE = re.compile(r"[^aeiouy]{5}|^[^aeiouy]+$|[aeiou]{4}", re.IGNORECASE)
_EXPRESSION = re.compile(
    r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+\(?"  # a.b->c
    r"|[A-Za-z_$][\w.$]*[(\[)].*"  # f(x), a[0]
    r"|[A-Za-z_]+|[\d.]+[A-Za-z%]{0,3}"  # a name, a number with its unit
    r"|(?:sha|md|aes|rsa|dsa|utf|base|[hrep]s|ed|curve|x|pkcs|oauth|http|ipv|tls|ssl|int|uint|float|str|arg|v)-?_?\d{1,5}"
    r"|.*(?:[)\]}]{2}|\?\?|\|\||&&|===?|=>|\?\.|\}=|\)\{|\{\w+:).*",
    re.DOTALL,
)
_CODE_OPENERS = ("{", "[", "(", "&", "*", "!", "\\", "@", "|", ">", "=", "+", "?", "#", ":", ",", ")")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-z]{12}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_DIGIT = re.compile(r"\d")
_PUNCTUATED = re.compile(r"[^\w\s.:-]")
_SPECIAL = re.compile(r"[^\w\s./:-]")
_SEPARATOR = re.compile(r"[/_+-]")


def is_published_sample(value: str) -> bool:
    """Whether the value is a key that a vendor publishes as a sample."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16] in SAMPLE_DIGESTS


def is_filler(value: str) -> bool:
    """Whether the value is a placeholder, a template, a sample or a counting row rather than anybody's secret."""
    bare = value[:_SEEN].strip("\"'`")
    return is_stand_in(bare) or is_counting(bare)


def is_stand_in(value: str) -> bool:
    """Whether the value is blank, or says in words that it only stands for a secret."""
    bare = value[:_SEEN]
    if is_blank(bare) or _longest_count(bare.lower()) >= _LONGEST_COUNT or _STAND_IN.search(bare):
        return True
    if _SAMPLE.search(bare):  # a documented sample is as random as the real thing, a made-up one is not
        rest = _SAMPLE.sub("", bare)
        return len(rest) < 20 or word_share(rest) >= 0.5 or not _DIGIT.search(rest)
    words = [word.lower() for word in _WORD.findall(bare)]
    digits = sum(len(word) for word in words if word.isdigit())
    named = [word for word in words if not word.isdigit()]
    return digits < 2 and bool(named) and FILLER.issuperset(named) and not _PUNCTUATED.search(bare)


def is_counting(value: str) -> bool:
    """Whether the value is mostly a row that counts upwards, which nobody's random string is."""
    count = _longest_count(value[:_SEEN].lower())
    return count >= _LONGEST_COUNT or count * 2 > len(value)


def is_blank(value: str) -> bool:
    """Whether the value is too short, a template, or blanked out by repeated characters."""
    bare = value[:_SEEN]
    if len(bare) < 3 or _TEMPLATE.search(bare):
        return True
    if _BLANKED.search(bare) or _REPEATED.search(bare) or len(set(bare)) <= min(3, len(bare) // 3):
        return True
    runs = [len(run.group()) for run in _RUN.finditer(bare)]
    return max(runs, default=0) * 3 > len(bare) or sum(runs) > 0.6 * len(bare)


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
    """Return the share (0..1) of characters in runs that could be words: of one case, four or more, pronounceable."""
    words = (run for run in _WORD_LIKE.findall(value) if not _UNSPEAKABLE.search(run))
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
    return (symbols > 0 and _SPECIAL.search(value) is not None) or (len(value) >= 16 and word_share(value) < 0.5)


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
    if max(len(piece) for piece in _SEPARATOR.split(value)) < 12:
        return False
    ceiling = math.log2(min(len(value), 64))
    return entropy(value) >= 0.82 * ceiling and word_share(value) < 0.35


def _longest_count(value: str) -> int:
    """Return the length of the longest row that counts upwards by one (`abcdef`, `890123`)."""
    longest = run = 1
    for before, after in pairwise(value):
        step = ord(after) - ord(before)
        run = run + 1 if step == 1 or (before == "9" and after == "0") else 1
        longest = max(longest, run)
    return longest
