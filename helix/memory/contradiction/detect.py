"""Detect: whether two statements cannot both hold, told from their words alone, without a model.

Of 18,533 pairs of foreign sentences 21 would be judged otherwise if the numbers in names were values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

from helix.text.statement.replacement import StatementReading, clauses, denied_by, is_reason, read_statement
from helix.text.statement.single_valued import Hold, is_copula, narrows, of_number, of_value, qualities
from helix.text.statement.wording import (
    Exchange,
    counted,
    differences,
    negated,
    numbers,
    opposites,
    overlap,
    sentences_apart,
    stated,
    terms,
    turned_round,
    words,
)

# Share of common words (Jaccard) from which two texts speak of one thing (docs/contradictions.md, Contradictions).
_SAME = 0.6
# Words of which one text may have more or others than the other; to align what differs in more takes milliseconds.
_APART = 12

# Clauses of a statement that are set against each of another one: a long text has thousands.
_MOST_CLAUSES = 16


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
        """The whole of a statement that may contradict another."""
        return f"{self.trigger}\n{self.resolution}" if self.resolution else self.trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Why two statements cannot both hold: the ground, and what stands against what in them.

    `sure`: subject and relation are the same in all their words. Only then may a rule decide between the two.
    """

    ground: Ground
    left: str
    right: str
    sure: bool = True

    @property
    def turned(self) -> Contradiction:
        """The same, told of the second statement and then of the first."""
        return replace(self, left=self.right, right=self.left)


def contradiction(left: Statement, right: Statement) -> Contradiction | None:
    """Return why two statements contradict each other, or None; the same, turned round, for the two turned round.

    What they say of the present is compared, without when, why and by whom it is said. What one says no longer holds
    contradicts the other that says it does. What was, told as history, and what is asked contradict nothing that is.
    """
    if (right.trigger, right.resolution) < (left.trigger, left.resolution):
        # Words are aligned from the left: which of the two comes first must not decide what is found.
        turned = contradiction(right, left)
        return None if turned is None else turned.turned
    if (sides := turned_round(left.text, right.text)) is not None:
        return Contradiction(ground=Ground.OPPOSITE, left=sides[0], right=sides[1], sure=False)
    one, other = read_statement(left.trigger), read_statement(right.trigger)
    if one.aside != other.aside or one.case != other.case or _both_deny(one, other) or _are_personal(one, other):
        return None
    ours, theirs = _plain(one, left), _plain(other, right)
    changed = _of_change(one, other)
    if changed is not None and (ours.resolution or theirs.resolution):
        changed = replace(changed, sure=False)  # what is said beside it may limit it
    found = changed if changed is not None and changed.sure else _of_words(ours, theirs)
    found = found or changed or _of_clauses(one, other, left, right)
    if found is None:
        return None
    # Two people disagree: neither takes back what the other says. And where a thing went is not always what it is.
    placed = found is not changed and found.ground is Ground.VALUE and (one.moved or other.moved)
    return replace(found, sure=False) if placed or one.speaker != other.speaker else found


def _are_personal(one: StatementReading, other: StatementReading) -> bool:
    """Return whether two people speak of themselves: what each of them likes may differ."""
    return one.speaker != other.speaker and all(read.text.startswith(("I ", "I'")) for read in (one, other))


def _plain(read: StatementReading, statement: Statement) -> Statement:
    reason = is_reason(statement.resolution)
    return Statement(trigger=read.text, resolution="" if reason else statement.resolution)


def _both_deny(one: StatementReading, other: StatementReading) -> bool:
    """Return whether both say that the same thing no longer holds, be it as a denial."""
    for read, beside in ((one, other), (other, one)):
        for gone in read.replaced:
            if any(gone.old & again.old for again in beside.replaced):
                return True
            if not gone.new and negated(beside.text) and gone.old <= terms(beside.text):
                return True
    return False


def _of_change(one: StatementReading, other: StatementReading) -> Contradiction | None:
    """Return that one of two says that something no longer holds which the other says does."""
    for change, held, turned in ((one, other, False), (other, one, True)):
        denied = None if negated(held.text) else denied_by(change, held)
        if denied is not None:
            gone, sure = denied
            sides = " ".join(sorted(gone.new)) or "denied", " ".join(sorted(gone.old))
            left, right = sides[::-1] if turned else sides
            ground = Ground.VALUE if gone.new else Ground.NEGATION
            return Contradiction(ground=ground, left=left, right=right, sure=sure)
    return None


def _of_clauses(
    one: StatementReading, other: StatementReading, left: Statement, right: Statement
) -> Contradiction | None:
    """Return what clauses of two statements say against each other; sure where a sign says which is the newer state."""
    if not all(is_reason(statement.resolution) or not statement.resolution for statement in (left, right)):
        return None
    ours, theirs = clauses(one.text), clauses(other.text)
    if (ours, theirs) == ((one.text,), (other.text,)):
        return None
    for a, b in product(_only(ours, theirs), _only(theirs, ours)):
        found = _of_words(Statement(trigger=a), Statement(trigger=b))
        if found is not None:
            main = a == ours[0] and b == theirs[0]
            return replace(found, sure=found.sure and main and (one.newer or other.newer))
    return None


def _only(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return the clauses that one of two statements has alone, each once, and not more than can be compared in time."""
    return list(dict.fromkeys(each for each in ours if each not in theirs))[:_MOST_CLAUSES]


def _of_words(left: Statement, right: Statement) -> Contradiction | None:
    """Return why the words of two statements stand against each other.

    A denial and an opposite word cancel out, and so do two opposites: `never use tabs` agrees with `use spaces`.
    """
    against = opposites(left.text, right.text)
    denied = negated(left.text) != negated(right.text)
    if denied or against:
        return _of_opposites(left, right, against, denied=denied)
    return None if negated(left.text) else _of_values(left, right)  # what is denied of two things holds of both


def _of_opposites(
    left: Statement, right: Statement, against: tuple[tuple[str, str], ...], *, denied: bool
) -> Contradiction | None:
    if (denied and against) or numbers(left.text) != numbers(right.text):
        return None
    opposed = terms(" ".join(word for pair in against for word in pair))
    a, b = stated(left.text) - opposed, stated(right.text) - opposed
    # One word against its opposite is a contradiction, another one beside it another subject.
    if overlap(a, b) < _SAME or (a - b and b - a):
        return None
    if denied:
        said = ("denied" if negated(one.text) else "said" for one in (left, right))
        return Contradiction(ground=Ground.NEGATION, left=next(said), right=next(said), sure=a == b)
    if len({one for one, _ in against}) > 1:
        return None
    return Contradiction(ground=Ground.OPPOSITE, left=against[0][0], right=against[0][1], sure=a == b)


def _of_values(left: Statement, right: Statement) -> Contradiction | None:
    """Return that one subject has two values of a relation that has one at a time.

    Whatever else differs before the value tells of another subject, whatever limits what is said after it of another
    case; what one of the two says more leaves it to a person.
    """
    compared = _compared(left, right)
    if compared is None or len(frozenset(words(compared[0])) ^ frozenset(words(compared[1]))) > _APART:
        return None
    framed = compared[2]
    one, other = (counted(text) for text in compared[:2])
    found: list[Exchange] = differences(one, other)
    if not found or any(narrows(beside) for beside in found[1:]):
        return None
    exchange, alone = found[0], len(found) == 1
    numeric = bool(_numbers(exchange.left) and _numbers(exchange.right)) and not _identifies(exchange)
    hold = of_number(exchange, framed=framed) if numeric else Hold.NOT
    ground = Ground.NUMBER
    if hold is Hold.NOT:
        hold, ground = (of_value(exchange, framed=framed) if alone else Hold.NOT), Ground.VALUE
        if hold is not Hold.NOT and is_copula(exchange):
            named = _names(exchange.left, one) and _names(exchange.right, other)
            if not named and qualities(exchange):
                return None
            hold = Hold.SURELY if named else Hold.PERHAPS
    if hold is Hold.NOT:
        return None
    sides = (exchange.left, exchange.right)
    a, b = (" ".join(sorted(_numbers(side)) if ground is Ground.NUMBER else side) for side in sides)
    return Contradiction(ground=ground, left=a, right=b, sure=hold is Hold.SURELY and alone)


def _compared(left: Statement, right: Statement) -> tuple[str, str, bool] | None:
    """Return the texts to be set against each other, and whether their matter is named apart; None: they differ."""
    if words(left.resolution) == words(right.resolution):
        return (*sentences_apart(left.trigger, right.trigger), False)
    if not left.resolution or not right.resolution:
        return (*sentences_apart(left.text, right.text), False)
    if terms(left.trigger) != terms(right.trigger):
        return None
    one, other = sentences_apart(left.resolution, right.resolution)
    return f"{left.trigger}\n{one}", f"{left.trigger}\n{other}", True


def _identifies(exchange: Exchange) -> bool:
    """Return whether both sides are names that hold a number, as hosts and branches are: `db-1`."""
    return all(any(_IDENTIFIER.search(word) for word in side) for side in (exchange.left, exchange.right))


_IDENTIFIER = re.compile(r"^[^\W\d_]{2,}[._-]?\w*\d")


def _numbers(side: tuple[str, ...]) -> frozenset[str]:
    return numbers(" ".join(side))


def _names(side: tuple[str, ...], text: str) -> bool:
    """Return whether words of a text are a name or an identifier: with a capital, a digit or a mark inside."""
    return all(_NAME.search(_as_written(word, text)) for word in side)


_NAME = re.compile(r"[^\W\d_a-z]|\d|[._/-]")


def _as_written(word: str, text: str) -> str:
    found = re.findall(rf"(?<!\w)(?i:{re.escape(word)})(?!\w)", text)
    return found[-1] if found else ""
