"""Contradiction: whether two statements cannot both hold, told from their words alone, without a model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from helix.lifecycle.truth.wording import (
    Exchange,
    exchanges,
    listed,
    negated,
    numbers,
    opposites,
    overlap,
    terms,
    words,
)

# Shares of common words (Jaccard) from which two texts speak of one thing (docs/lifecycle.md, Contradictions).
_SAME_BUT_DENIED = 0.6
_SAME_BUT_OPPOSITE = 0.6
_SAME_BUT_NUMBERS = 0.6
_SAME_SUBJECT = 0.7
_EXCHANGED_WORDS = 2

# What stands before a number that names a thing and does not measure it.
_LABELS = listed(
    """
    issue bug ticket pr request step case test chapter section line page table figure sprint phase day week month build
    commit host node worker shard thread job task milestone item part example question stage round run batch server
    number no component kind type id level group team user account order invoice customer
    """
)
# Relations with one value at a time: `listens on 8080` and `listens on 9090` cannot both hold.
_ONE_VALUED = re.compile(
    r"(?:\b(?:is|are|was|be|equals?|named|called|defaults? to|default|set to|sets? \w+ to|listens? on|runs? on|"
    r"written in|(?:deploy|host|stor|own|maintain|format|build|built|indent)\w* (?:to|on|by|in|with|at)|lives? in|"
    r"uses?|using|prefers?|keep \w+ at|pinned to|requires?|needs?|version)(?: the| an?)?)$"
)


class Ground(StrEnum):
    """Why two statements contradict each other."""

    NEGATION = "negation"
    OPPOSITE = "opposite"
    NUMBER = "number"
    VALUE = "value"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a memory says: the matter it is about (`trigger`) and what it says of it (`resolution`, may be empty)."""

    trigger: str
    resolution: str = ""

    @property
    def text(self) -> str:
        """The whole of it."""
        return f"{self.trigger}\n{self.resolution}" if self.resolution else self.trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Why two statements cannot both hold: the ground, and what stands against what in them."""

    ground: Ground
    left: str
    right: str


def by_words(pairs: Sequence[tuple[Statement, Statement]]) -> list[Contradiction | None]:
    """Return for each pair what `contradiction` says."""
    return [contradiction(left, right) for left, right in pairs]


def contradiction(left: Statement, right: Statement) -> Contradiction | None:
    """Return why the two cannot both hold, or None; the same answer, turned round, for the two turned round.

    A denial and an opposite word cancel out: `never use tabs` agrees with `use spaces`.
    """
    if (right.trigger, right.resolution) < (left.trigger, left.resolution):
        # Words are aligned from the left: which of the two comes first must not decide what is found.
        turned = contradiction(right, left)
        return None if turned is None else replace(turned, left=turned.right, right=turned.left)
    a, b = terms(left.text), terms(right.text)
    against = opposites(left.text, right.text)
    denied = negated(left.text) != negated(right.text)
    opposed = frozenset(word for pair in against for word in pair)
    if denied or against:
        alike = overlap(a - terms(" ".join(opposed)), b - terms(" ".join(opposed)))
        if denied and not against and alike >= _SAME_BUT_DENIED:
            return Contradiction(ground=Ground.NEGATION, left=_said(left, "denied"), right=_said(right, "denied"))
        if against and not denied and alike >= _SAME_BUT_OPPOSITE:
            return Contradiction(ground=Ground.OPPOSITE, left=against[0][0], right=against[0][1])
        return None
    return _of_numbers(left, right, a, b) or _of_values(left, right)


def _said(statement: Statement, word: str) -> str:
    return word if negated(statement.text) else "said"


def _of_numbers(left: Statement, right: Statement, a: frozenset[str], b: frozenset[str]) -> Contradiction | None:
    one, other = numbers(left.text), numbers(right.text)
    only_one, only_other = one - other, other - one
    if not only_one or not only_other or overlap(_without_digits(a), _without_digits(b)) < _SAME_BUT_NUMBERS:
        return None
    if numbers(left.trigger) != numbers(right.trigger) and left.resolution and right.resolution:
        return None  # the matters differ: `port of host 1`, `port of host 2`
    found = [
        exchange
        for exchange in exchanges(left.text, right.text)
        if numbers(" ".join(exchange.left)) and numbers(" ".join(exchange.right))
    ]
    if len(found) != 1 or _labelled(found[0]):
        return None  # several at once are rows of a list: `part 5 weighs 35`, `part 6 weighs 42`
    return Contradiction(ground=Ground.NUMBER, left=" ".join(sorted(only_one)), right=" ".join(sorted(only_other)))


def _of_values(left: Statement, right: Statement) -> Contradiction | None:
    whole = not (left.resolution and right.resolution)
    if not whole and overlap(terms(left.trigger), terms(right.trigger)) < _SAME_SUBJECT:
        return None
    texts = (left.text, right.text) if whole else (left.resolution, right.resolution)
    if len(frozenset(words(texts[0])) ^ frozenset(words(texts[1]))) > 2 * _EXCHANGED_WORDS:
        return None  # told at once; to align long texts takes milliseconds
    found = exchanges(*texts)
    if len(found) != 1 or max(len(found[0].left), len(found[0].right)) > _EXCHANGED_WORDS:
        return None
    exchange = found[0]
    frame = " ".join(exchange.before)
    if not _ONE_VALUED.search(frame) or any(word.endswith(("ing", "ly")) for word in (*exchange.left, *exchange.right)):
        return None
    if whole and len(terms(" ".join((*exchange.before, *exchange.after)))) < 2:
        return None
    return Contradiction(ground=Ground.VALUE, left=" ".join(exchange.left), right=" ".join(exchange.right))


def _labelled(exchange: Exchange) -> bool:
    return bool(exchange.before) and exchange.before[-1].rstrip("s") in _LABELS


def _without_digits(found: frozenset[str]) -> frozenset[str]:
    return frozenset(term for term in found if not any(letter.isdigit() for letter in term))
