"""Subsumption: whether a text says more than another does, by the words that tell something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from helix.text.discourse_markers import without_openers
from helix.text.tokens import STOPWORDS, stemmed, tokens_by

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
_CLAUSE_END = re.compile(r"[.,;:()!?](?=\s|$)|(?<=\s)[(\u2013\u2014-](?=\s|\w)|\n")


@dataclass(frozen=True, slots=True)
class Telling:
    """What a text tells: the stems of its telling words in their order, and each of them once."""

    stems: Sequence[str]
    distinct: frozenset[str]


def exceeds(said: Telling, known: Telling) -> bool:
    """Return whether a statement says more than another: a telling word, a number, a denial or an order of things.

    Words count by their stems, whatever their order, but for what stands before and behind `after` and `before`.
    """
    if not said.distinct <= known.distinct:
        return True
    return any(_around(said.stems, word) != _around(known.stems, word) for word in _ORDER & said.distinct)


def adds(known: str, said: str) -> bool:
    """Return whether a statement tells what a near one does not: in a clause, or in words one behind the other.

    One word more is as often another wording. Of 189 pairs of STS-B and SICK that are rightly had for the
    same 5 are told apart, 3 of which do tell more.
    """
    whole, clauses = told_by(known).distinct, [told for told in map(told_by, _CLAUSE_END.split(said)) if told.stems]
    fresh = [[stem not in whole for stem in told.stems] for told in clauses]
    if len(clauses) > 1 and any(map(all, fresh)):
        return True
    more = whole < told_by(said).distinct
    return more and any(one and other for found in fresh for one, other in pairwise(found))


def told_by(text: str) -> Telling:
    """Return what a statement tells, without what it opens with."""
    stems = [stem for stem in tokens_by(without_openers(text), _told_of) if stem]
    return Telling(stems, frozenset(stems))


def _told_of(word: str) -> str:
    """Return what an English word tells: its stem, one word for all denials, nothing for a word that tells nothing."""
    if word in _DENIALS:
        return _NOT
    if word in _ORDER:
        return word
    return "" if word in STOPWORDS or (stem := stemmed(word)) in _LEADING else stem


def _around(told: Sequence[str], word: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what stands before the first of a word, and what stands behind it."""
    place = told.index(word)
    return frozenset(told[:place]), frozenset(told[place + 1 :])
