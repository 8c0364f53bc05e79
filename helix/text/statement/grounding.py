"""Grounding: whether a text says only what stands in the texts it was made of, told from words, numbers and names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from helix.text.spotting.entities import mentions
from helix.text.statement.wording import names, negated, numbers
from helix.text.tokens import lexical_tokens, query_terms

LEAST_SHARE = 0.7
"""Share of a text's telling words that its sources must have. Of sentences that another one entails (SICK) 69 % pass,
of sentences about something else (STS-B, scored 1 or less) none do."""
_PART = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"[.!?;\n]+")


def grounded(text: str, sources: Iterable[str], least: float = LEAST_SHARE) -> bool:
    """Return whether a statement is grounded: enough of its words, each number and each name stand in the sources.

    A text without telling words is not grounded. Where there is one source and it denies nothing, nor may the text.
    """
    read = tuple(sources)
    found = query_terms(text, limit=10_000)
    known = {token for source in read for token in lexical_tokens(source)}
    if not found or not any(char.isalnum() for char in text) or invented(text, read):
        return False
    if len(read) == 1 and negated(text) and not denies(read[0]):
        return False
    return sum(term in known for term in found) >= least * len(found)


def denies(text: str) -> bool:
    """Return whether any sentence of a statement denies something."""
    return any(negated(part) for part in _SENTENCE_END.split(text))


def turns(text: str, source: str) -> bool:
    """Return whether a statement leaves out a denial: one of its sentences denies nothing, and what is nearest does."""
    said = [(set(lexical_tokens(part)), negated(part)) for part in _SENTENCE_END.split(source) if part.strip()]
    for part in _SENTENCE_END.split(text):
        terms = set(query_terms(part, limit=10_000))
        shares = [(len(terms & words), denied) for words, denied in said]
        best = max((share for share, _ in shares), default=0)
        if best and not negated(part) and all(denied for share, denied in shares if share == best):
            return True
    return False


def invented(text: str, sources: Iterable[str]) -> frozenset[str]:
    """Return the numbers and names of a statement, in small letters, that stand in none of the sources."""
    read = tuple(sources)
    known_numbers = {number for source in read for number in numbers(source)}
    known_words = {word for source in read for word in _PART.findall(source.casefold())}
    told = names(text) | {mention.name.casefold() for mention in mentions(text)}
    strange = {name for name in told if not all(part in known_words for part in _PART.findall(name))}
    return frozenset(numbers(text) - known_numbers) | strange
