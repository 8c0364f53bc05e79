"""Symbols: which written words are names in code and not words of a language."""

from __future__ import annotations

import re

from helix.text.spotting.vocabulary import BRANDS, COMMON, FUNCTION_WORDS

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+", re.ASCII)
_SCOPED = re.compile(r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)+", re.ASCII)
_OPTION = re.compile(r"--[a-z][a-z0-9]+(?:[-.][a-z0-9]+)*", re.ASCII)
_HUMPS = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2})[A-Za-z0-9]*", re.ASCII)
_TITLED = re.compile(r"[A-Z][a-z]+")
_SURNAME = re.compile(r"(?:Mc|Mac|De|Di|Da|Du|La|Le|Van|Von|Fitz|O)[A-Z][a-z]+")
_DOMAINS = frozenset(
    "com org net io edu gov mil info biz dev app ai co uk us eu de fr se ch nl be at it es pl ru jp cn in au ca br tv me ly fm".split()
)
_RECEIVERS = ("self.", "this.", "cls.", "super.")
_NOT_NAMES = frozenset(
    "true false none null nil undefined nan inf self cls this args kwargs int str float bool dict list tuple set void char "
    "string object x86_64 i386 amd64 and or not if else for while return def class yes no n/a".split()
)
_LONGEST = 120


def symbol_in(word: str, *, called: bool, marked: bool) -> str | None:
    """Return the symbol that a word is, or None.

    `called`: parentheses follow it; `marked`: it stands in backticks. Unmarked words need the shape of code
    (`snake_case`, `camelCase`, `dotted.name`, `a::b`, `--option`), so that words of a language never count.
    """
    if len(word) > _LONGEST or len(word) < 2:
        return None
    for receiver in _RECEIVERS:
        word = word.removeprefix(receiver)
    if word.lower() in _NOT_NAMES:
        return None
    if _IDENTIFIER.fullmatch(word):
        return _identifier(word, called, marked)
    if _DOTTED.fullmatch(word):
        return word if _is_dotted_name(word.split("."), called, marked) else None
    if _SCOPED.fullmatch(word) or _OPTION.fullmatch(word):
        return word
    return None


def _identifier(word: str, called: bool, marked: bool) -> str | None:
    bare = word.strip("_")
    if len(bare) < 2 or not any(char.isalpha() for char in bare):
        return None
    if marked:
        return word
    if "_" in bare:
        return word if word.startswith("__") else word.rstrip("_")
    if word.startswith("__") and word.endswith("__"):
        return word
    if called:
        return word if bare.lower() not in FUNCTION_WORDS else None
    if len(word) > 3 and _HUMPS.fullmatch(word) and any(char.islower() for char in word):
        return word if is_hump_name(word) else None
    return None


def is_hump_name(word: str) -> bool:
    """Tell the camelCase of code from a brand, a surname, a plural such as "URLs" or a word glued to a number."""
    if word in BRANDS or _SURNAME.fullmatch(word):
        return False
    capitals = sum(char.isupper() for char in word)
    if word[-1] == "s" and word[:-1].isupper():
        return False
    if any(char.isdigit() for char in word) and not re.search(r"[a-z][A-Z]", word):
        return False
    return capitals >= 1 and len(word) - capitals >= 2


def _is_dotted_name(parts: list[str], called: bool, marked: bool) -> bool:
    if len(parts[0]) < 2 or all(len(part) < 2 for part in parts):
        return marked and len(parts[-1]) > 1
    if marked:
        return True
    if parts[-1].lower() in _DOMAINS and not called:
        return False
    if any(part.lower() in FUNCTION_WORDS for part in parts) and not called:
        return False
    if any("_" in part for part in parts) or any(_HUMPS.fullmatch(part) and is_hump_name(part) for part in parts):
        return True
    if any(_TITLED.fullmatch(part) or part.isupper() for part in parts):
        return called  # "end.Then" is a slip, "Model.save()" is not
    return called or not any(part in COMMON for part in parts) or len(parts) > 2
