"""Symbols: which written words are names in code and not words of a language.

Of 300 questions on curl's history 180 share a symbol with a commit, 86 of them with the right one, as does 0.7 % of
the others; of 192 issues of SWE-bench 63 and 50, with 1.6 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.text.word_lists import word_list

_BRANDS = word_list("text/spotting/known_words", "brands")
_COMMON = word_list("text/spotting/known_words", "common_words")
_FUNCTION_WORDS = word_list("text/spotting/known_words", "function_words")

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", re.ASCII)
_SCOPED = re.compile(r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)+", re.ASCII)
_OPTION = re.compile(r"--[a-z][a-z0-9]+(?:[-.][a-z0-9]+)*")
_HUMP = re.compile(r"(?=.*[a-z].*[a-z])[A-Za-z0-9]*(?:[a-z][A-Z]|[A-Z]{2}[a-z]{2})[A-Za-z0-9]*")
_SURNAME = re.compile(r"(?:Mc|Mac|De|Di|Da|Du|La|Le|Van|Von|Fitz)[A-Z][a-z]+")
_TITLED = re.compile(r"[A-Z][a-z]+|[A-Z]+")
_DOMAINS = word_list("text/spotting/symbols", "domains")
_RECEIVERS = ("self.", "this.", "cls.", "super.")
_NOT_NAMES = word_list("text/spotting/symbols", "not_names")
_LONGEST = 120


def symbols_in(word: str, *, called: bool, marked: bool) -> Iterator[str]:
    """Yield the code symbol that a word of a text is, and a dotted one's last part where that alone has such shape.

    `called`: parentheses follow it; `marked`: it stands in backticks. Words that are neither need the shape of code
    (`snake_case`, `camelCase`, `dotted.name`, `a::b`, `--option`), so that words of a language never count.
    """
    for receiver in _RECEIVERS:
        word = word.removeprefix(receiver)
    if not 1 < len(word) <= _LONGEST or word.lower() in _NOT_NAMES:
        return
    if _IDENTIFIER.fullmatch(word):
        if marked or called or has_code_shape(word):
            yield from _identifier(word, marked)
    elif _DOTTED.fullmatch(word):
        parts = word.split(".")
        if _is_dotted_name(parts, called, marked):
            yield word
        if has_code_shape(parts[-1]):
            yield parts[-1]
    elif _SCOPED.fullmatch(word) or _OPTION.fullmatch(word):
        yield word


def has_code_shape(word: str) -> bool:
    """Tell a text's code symbols (`snake_case`, `__dunder__`, `camelCase`) from words, brands, names and plurals."""
    bare = word.strip("_")
    if "_" in bare or (word.startswith("__") and word.endswith("__")):
        return any(char.isalpha() for char in bare)
    return (
        len(word) > 3
        and _HUMP.fullmatch(word) is not None
        and word not in _BRANDS
        and not _SURNAME.fullmatch(word)
        and not (word[-1] == "s" and word[:-1].isupper())
    )


def _identifier(word: str, marked: bool) -> Iterator[str]:
    bare = word.strip("_")
    if len(bare) < 2 or not any(char.isalpha() for char in bare) or (not marked and bare.lower() in _FUNCTION_WORDS):
        return
    yield word if marked or word.startswith("__") else word.rstrip("_")


def _is_dotted_name(parts: list[str], called: bool, marked: bool) -> bool:
    if len(parts[0]) < 2 or max(map(len, parts)) < 2:
        return marked and len(parts[-1]) > 1
    if marked:
        return True
    if (parts[-1].lower() in _DOMAINS or any(part.lower() in _FUNCTION_WORDS for part in parts)) and not called:
        return False
    if called or any(map(has_code_shape, parts)):
        return True
    if any(map(_TITLED.fullmatch, parts)):  # "end.Then" is a slip of the keyboard
        return False
    return len(parts) > 2 or not all(part in _COMMON for part in parts)
