"""Concepts: reads a text as the concepts that instructions to an agent are made of, in many languages.

Without its words 40 of the 81 injections of `instruction_rules` that are found are missed, by the rules over them; of
213 fresh ones 61 of 68. Words of other languages find 3 of those 68.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from helix.model.letters import normalised
from helix.text.regex import regex
from helix.text.word_lists import word_table

CONCEPTS = word_table("text/injection/concepts", "concepts")
"""Concept to its words, separated by blanks."""


_MARKS = regex("[\u0300-\u036f]")
_WORD = regex(r"[^\W_]+|[.!?;](?=\s|$)|\n[ \t]{0,20}\n|[\u3002\uff01\uff1f]")
_ADDRESS = regex(
    rf"(?:https?://|www\.)[^\s<>\"')\]]{{1,300}}|[a-z0-9.+-]{{1,40}}@[a-z0-9-]{{1,40}}\.[a-z]{{2,10}}|{_WORD.pattern}"
)
_UNSPACED = regex("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONGEST_UNSPACED = 4
_SHORTEST_STEM, _LONGEST_STEM = 3, 11
_LONGEST_WORD = 40
_KNOWN_WORDS = 16_384
_NOTHING: frozenset[str] = frozenset()
_AN_ADDRESS = frozenset({"address", "outside"})
_A_MAILBOX = frozenset({"address", "outside", "mailbox"})
_AN_ACCOUNT = frozenset({"account"})
_ACCOUNT = regex(r"[a-z]{2}\d{12,32}")


class ConceptWord(NamedTuple):
    """Where a word stands (characters from the beginning) and what it stands for; None: a sentence ends here."""

    offset: int
    concepts: frozenset[str] | None


def plain(text: str) -> str:
    """Return a text plain for the search of instructions: lower case, no compatibility forms, no marks on letters."""
    if text.isascii():
        return text.lower()
    bare = _MARKS.sub("", normalised("NFKD", text).casefold())
    return normalised("NFC", bare)


def _tables() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    whole: dict[str, set[str]] = {}
    stems: dict[str, set[str]] = {}
    for concept, words in CONCEPTS.items():
        for word in plain(words).split():
            (stems if word.endswith("*") else whole).setdefault(word.rstrip("*"), set()).add(concept)
    return {word: frozenset(of) for word, of in whole.items()}, {word: frozenset(of) for word, of in stems.items()}


_WHOLE, _STEMS = _tables()


@lru_cache(maxsize=_KNOWN_WORDS)
def concepts(word: str) -> frozenset[str]:
    """Return the concepts of instructions to an agent that a plain word stands for."""
    found = _AN_ACCOUNT if _ACCOUNT.fullmatch(word) else _WHOLE.get(word, _NOTHING)
    for length in range(_SHORTEST_STEM, min(len(word), _LONGEST_STEM) + 1):
        if (more := _STEMS.get(word[:length])) is not None:
            found = found | more
    return found


def read(text: str) -> Iterator[ConceptWord]:
    """Yield the words of a plain text and the ends of its sentences, in which instructions to an agent are looked for.

    A run of a script that has no blanks between words gives the words that are known in it, and no others. An address
    on the net or of a mailbox is one word.
    """
    addressed = "@" in text or "http" in text or "www." in text
    for match in (_ADDRESS if addressed else _WORD).finditer(text):
        word = match[0]
        if addressed and ("@" in word or "://" in word or word.startswith("www.")):
            yield ConceptWord(match.start(), _AN_ADDRESS if "://" in word or word.startswith("www.") else _A_MAILBOX)
        elif not word[0].isalnum():
            yield ConceptWord(match.start(), None)
        elif _UNSPACED.match(word):
            yield from _unspaced(word, match.start())
        else:
            yield ConceptWord(match.start(), concepts(word[:_LONGEST_WORD]))


def _unspaced(run: str, offset: int) -> Iterator[ConceptWord]:
    for start in range(len(run)):
        found = _NOTHING
        for length in range(1, min(_LONGEST_UNSPACED, len(run) - start) + 1):
            found = found | _WHOLE.get(run[start : start + length], _NOTHING)
        if found:
            yield ConceptWord(offset + start, found)
