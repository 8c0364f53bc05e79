"""Consolidation: decides whether a new memory is a known one, a refinement of one, or news."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from helix.model.memory import Kind, Memory
from helix.model.provenance import Trust
from helix.text.tokens import query_terms

_NEGATIONS = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "without",
        "cannot",
        "nor",
        "don",
        "doesn",
        "didn",
        "won",
        "isn",
        "aren",
        "wasn",
        "shouldn",
        "avoid",
        "stop",
        "disable",
    ]
)
# Capitals within a sentence, and identifiers: what a text names.
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z]\w+|\b\w+[_./]\w[\w./]*|\b[a-z]+[A-Z]\w*")
_NUMBER = re.compile(r"\d+(?:[.\-_]\d+)*")
# Triggers that share this much of their words speak of the same subject.
_SAME_SUBJECT = 0.7


class Verdict(StrEnum):
    """What a candidate is against what is stored."""

    NOOP = "noop"
    UPDATE = "update"
    ADD = "add"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines of one embedding space: from `duplicate` on the same thing, from `update` on perhaps a refinement."""

    duplicate: float
    update: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomer:
    """The part of a new memory that the decision looks at."""

    kind: Kind
    trigger: str
    resolution: str
    trust: Trust


def decide(
    newcomer: Newcomer, nearest: Iterable[tuple[Memory, float]], thresholds: Thresholds
) -> tuple[Verdict, Memory | None]:
    """Return the verdict and the stored memory it is about; `nearest` are (active memory of the scope, cosine).

    The same words are the same thing whatever the cosine. A similar text that differs in a negation, a number or a
    version says something else, however near its vector is. A weaker source never replaces a stronger one's words.
    """
    ranked = sorted(nearest, key=lambda pair: -pair[1])
    for memory, cosine in ranked:
        if memory.kind is not newcomer.kind:
            continue
        if same_words(memory, newcomer):
            return Verdict.NOOP, memory
        if cosine >= thresholds.duplicate and says_the_same(memory, newcomer):
            return Verdict.NOOP, memory
        outranked = newcomer.trust.rank > memory.provenance.trust.rank
        if cosine >= thresholds.update and not outranked and same_subject(memory.trigger, newcomer.trigger):
            return Verdict.UPDATE, memory
    return Verdict.ADD, None


def same_words(memory: Memory, newcomer: Newcomer) -> bool:
    """Return whether two are of one kind and say the very same, but for upper and lower case and white space."""
    if memory.kind is not newcomer.kind:
        return False
    return _words(memory.trigger, memory.resolution) == _words(newcomer.trigger, newcomer.resolution)


def says_the_same(memory: Memory, newcomer: Newcomer) -> bool:
    """Return whether two near texts agree in their negations, numbers and versions, and name no different things."""
    old, new = f"{memory.trigger}\n{memory.resolution}", f"{newcomer.trigger}\n{newcomer.resolution}"
    return _negated(old) == _negated(new) and _numbers(old) == _numbers(new) and not exchanged(old, new)


def exchanged(left: str, right: str) -> bool:
    """Return whether two texts are alike but for a word or a few that stand in each other's place.

    `fails on Linux` and `fails on Windows` are as near as vectors can be and say different things. So are texts that
    name different things in their capitals. What is worded anew throughout is left to the cosine.
    """
    a, b = set(query_terms(left)), set(query_terms(right))
    only_a, only_b = a - b, b - a
    if not only_a or not only_b:
        return False
    few = max(len(only_a), len(only_b)) <= max(2, len(a & b) // 2)
    names_a, names_b = (frozenset(name.casefold() for name in _NAME.findall(text)) for text in (left, right))
    return few or bool(names_a - names_b and names_b - names_a)


def same_subject(left: str, right: str) -> bool:
    """Return whether two triggers share most of their words (Jaccard), and neither names what the other does not."""
    a, b = set(query_terms(left)), set(query_terms(right))
    return bool(a | b) and len(a & b) / len(a | b) >= _SAME_SUBJECT and (a <= b or b <= a)


def _words(trigger: str, resolution: str) -> str:
    return " ".join(f"{trigger}\n{resolution}".casefold().split())


def _negated(text: str) -> bool:
    return sum(word in _NEGATIONS for word in re.findall(r"[a-z]+", text.casefold())) % 2 == 1


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))
