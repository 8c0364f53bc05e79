"""Proper names: capitalised words and runs of them, and handles, in prose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.model.entity import EntityKind
from helix.text.spotting.found import Found
from helix.text.spotting.vocabulary import ACRONYMS, BRANDS, CALENDAR, COMMON, DEMONYMS, FUNCTION_WORDS

_WORD = re.compile(r"[^\W_][\w'’-]*")
_INNER = frozenset(
    {
        "of",
        "de",
        "del",
        "della",
        "der",
        "des",
        "di",
        "do",
        "dos",
        "da",
        "du",
        "la",
        "le",
        "van",
        "von",
        "for",
        "y",
        "e",
        "al",
        "el",
        "bin",
    }
)
_INNER_AFTER = frozenset({"the", "and", "&"})
"""Small words that continue a name only once it holds one of `_INNER`: Department of Health and Human Services."""
_ABBREVIATED = frozenset(
    {
        "St",
        "Mt",
        "Ft",
        "Dr",
        "Mr",
        "Mrs",
        "Ms",
        "Prof",
        "Jr",
        "Sr",
        "Lt",
        "Col",
        "Gen",
        "Sgt",
        "Capt",
        "Rev",
        "Gov",
        "Sen",
        "Rep",
        "No",
    }
)
_HONORIFICS = frozenset({"dr", "mr", "mrs", "ms", "prof", "sir", "the", "a", "an", "my", "our"})
_POSSESSIVE = re.compile(r"['’]s?$")
_CONTRACTION = re.compile(r"['’](?:m|re|ve|ll|d|t|em)$", re.I)
_NOT_A_NAME = re.compile(r".*(?:ing|ed|ly)", re.I)
_BREAK = re.compile(r"[.!?:;\n\x00-\x08•|\"“”]|--")
_SENTENCE_END = re.compile(r"[.!?:;\n•|\"“]|--")
_LONGEST_RUN = 8
_LONGEST_WORD = 40


class _Word:
    __slots__ = ("end", "initial", "start", "text")

    def __init__(self, start: int, end: int, text: str, initial: bool) -> None:
        self.start, self.end, self.text, self.initial = start, end, text, initial


def concepts_in(prose: str) -> Iterator[Found]:
    """Yield proper names of several words, and single ones where a capital is not owed to the start of a sentence.

    A single word at the start of a sentence counts when it is no common English word or also stands, capitalised, inside
    a sentence. `prose` is a text whose code is blanked out by NUL characters.
    """
    runs = list(_runs(prose))
    inside = {word.text.casefold() for run in runs for word in run if not word.initial}
    for run in runs:
        yield from _names_of(run, prose, inside)


def _runs(prose: str) -> Iterator[list[_Word]]:
    """Yield runs of capitalised words that one blank, or a small word of names, holds together."""
    run: list[_Word] = []
    small: list[str] = []  # small words since the last capital
    end = 0
    for match in _WORD.finditer(prose):
        text, gap = match.group(), prose[end : match.start()]
        joined = (
            gap == " "
            or (gap == ". " and run and not small and _is_abbreviated(run[-1].text))
            or (gap == " & " and bool(run))
        )
        initial = not joined and (end == 0 or bool(_SENTENCE_END.search(gap)))
        if not joined and run:
            yield run
            run, small = [], []
        end = match.end()
        if (text[0].isupper() or text in BRANDS) and len(text) <= _LONGEST_WORD:
            if run and (len(run) >= _LONGEST_RUN or _POSSESSIVE.search(run[-1].text)):
                yield run
                run = []
            run.append(_Word(match.start(), end, text, initial))
            small = []
        elif run:
            small.append(text)
            if not _continues(run, small, prose):
                yield run
                run, small = [], []
    if run:
        yield run


def _continues(run: list[_Word], small: list[str], prose: str) -> bool:
    if _POSSESSIVE.search(run[-1].text) or len(small) > 2:
        return False
    if small[-1] in _INNER:
        return small[-1] != "for" or len(small) == 1
    if small[-1] == "the":
        return len(small) == 2 and small[0] in ("of", "for")
    return small == ["and"] and " of " in prose[run[0].start : run[-1].start]


def _is_abbreviated(word: str) -> bool:
    return len(word) == 1 or word in _ABBREVIATED


def _names_of(run: list[_Word], prose: str, inside: set[str]) -> Iterator[Found]:
    words = list(run)
    while words and (
        _is_filler(words[0].text) or (words[0].initial and len(words) > 1 and _is_ordinary(words[0].text, inside))
    ):
        words.pop(0)
    while words and _is_filler(words[-1].text):
        words.pop()
    if not words:
        return
    if len(words) == 1:
        if not _stands_alone(words[0], inside):
            return
    start, end = words[0].start, words[-1].end
    name = _POSSESSIVE.sub("", " ".join(prose[start:end].split())).rstrip("-")
    if len(name) > 1:
        yield Found(start, end, EntityKind.CONCEPT, name)


def _is_filler(word: str) -> bool:
    bare = _bare(word)
    return bare in FUNCTION_WORDS or bare in CALENDAR or bare in _HONORIFICS or bool(_CONTRACTION.search(word))


def _is_ordinary(word: str, inside: set[str]) -> bool:
    bare = _bare(word)
    return (bare in COMMON or bare.endswith("ly")) and word.casefold() not in inside


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()


def _stands_alone(word: _Word, inside: set[str]) -> bool:
    bare = _bare(word.text)
    if len(bare) < 2 or bare in DEMONYMS or bare in ACRONYMS or any(char.isdigit() for char in bare):
        return False
    if word.text.isupper() and (len(bare) < 3 or bare in COMMON):
        return False
    if word.initial and bare not in {name.removesuffix("'s") for name in inside & {bare, bare + "'s", bare + "’s"}}:
        return bare not in COMMON and not _NOT_A_NAME.fullmatch(bare) and "-" not in bare
    return True
