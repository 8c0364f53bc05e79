"""Subsumption: whether a text says more than another does, by the words that tell something."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from helix.text.discourse_markers import without_openers
from helix.text.tokens import STOPWORDS, lexical_tokens

_NOT = "not"
# As tokens: `don't` is `don` and `t`.
_DENIALS = frozenset(
    re.findall(
        r"\w+",
        """
        no nor not never none nothing nobody without cannot don doesn didn won wouldn isn aren wasn weren shouldn mustn
        couldn hasn haven hadn
        """,
    )
)
_ORDER = frozenset({"after", "before"})
# Stems of words by which a statement is led in or pressed, which add nothing to it; and what an apostrophe leaves.
_LEADING = frozenset(
    re.findall(
        r"\w+",
        """
        actual agre alway basic correct current decid exact final general import just keep know make mean mind need note
        now ok okay one onc pleas realli rememb remind rule s say so sure t thing think today want yes
        """,
    )
)


def says_more(text: str, than: str) -> bool:
    """Return whether a statement says more than another: a telling word, a number, a denial or an order of things.

    Words count by their stems, whatever their order, but for what stands before and behind `after` and `before`.
    """
    return _exceeds(_telling(text), _telling(than))


def comparing() -> Callable[[str, str], bool]:
    """Return `says_more` for many pairs of the same texts: it reads each once, and keeps that as long as it is used."""
    telling = cache(_telling)
    return lambda text, than: _exceeds(telling(text), telling(than))


def _exceeds(said: Sequence[str], known: Sequence[str]) -> bool:
    if not set(said) <= set(known):
        return True
    return any(_around(said, word) != _around(known, word) for word in _ORDER.intersection(said))


def _telling(text: str) -> Sequence[str]:
    """Return the stems of the words that tell something, in their order."""
    bare = without_openers(text)
    told = []
    for word, stem in zip(lexical_tokens(bare, stem=False), lexical_tokens(bare), strict=True):
        if word in _DENIALS:
            told.append(_NOT)
        elif word in _ORDER:
            told.append(word)
        elif word not in STOPWORDS and stem not in _LEADING:
            told.append(stem)
    return told


def _around(told: Sequence[str], word: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what stands before the first of a word, and what stands behind it."""
    place = told.index(word)
    return frozenset(told[:place]), frozenset(told[place + 1 :])
