"""Prompt injection: how far a text reads like an instruction to the agent that will read it, and why, without a model.

A text is judged by what it is made of, not by known phrases: runs of concepts (`instruction_rules`) over a
vocabulary of several languages (`concepts`), and its form (`marks`). Signs count together where they are near each
other. Each reason counts once there, by its strongest sign; the weights of the reasons add up, and from 0.9 on the text
is suspicious.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from helix.text.injection import concepts as vocabulary
from helix.text.injection import disguises, marks
from helix.text.injection.instruction_rules import Reason, RuleMatcher

SUSPICIOUS = 0.9
"""The score from which a text is taken for an instruction to an agent."""
NEAR = 600
"""Signs count together in any two neighbouring stretches of so many characters."""

_ENCODED = 1.0
_ONE_MASKED, _MASKED = 0.5, 1.0
_HALF = 0.5
_TOLD_OF = 0.5
"""What taking instructions back is worth in a quotation of a text on attacks; what it is then to do counts in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """How far a text reads like an instruction: the sum of the weights of the reasons, strongest first."""

    score: float
    reasons: tuple[str, ...] = ()

    @property
    def suspicious(self) -> bool:
        """Whether a person should look at a text for instructions before an agent reads it."""
        return self.score >= SUSPICIOUS


class _Sign(NamedTuple):
    offset: int
    reason: str
    weight: float


def suspicion(text: str) -> Suspicion:
    """Return how far a text reads like an instruction to an agent, by the stretch of it that does so most.

    Never raises on any string; time grows linearly with the length.
    """
    return _judged((*_signs(text), *_encoded(text)))


def _signs(text: str) -> Iterator[_Sign]:
    for offset, form in marks.marks(text):
        yield _Sign(offset, form.reason, form.weight)
    for count, offset in enumerate(disguises.lookalikes(text)):
        yield _Sign(offset, Reason.INVISIBLE, _MASKED if count else _ONE_MASKED)
    shown = marks.seen(text)
    cited = marks.citations(text)
    for offset, rule in RuleMatcher().found(vocabulary.read(vocabulary.plain(shown))):
        told_of = rule.reason == Reason.OVERRIDES and any(start <= offset < end for start, end in cited)
        yield _Sign(offset, rule.reason, rule.weight * _TOLD_OF if told_of else rule.weight)


def _encoded(text: str) -> Iterator[_Sign]:
    for offset, told in disguises.decoded_disguises(text):
        if _judged(tuple(_signs(told))).score >= _HALF:
            yield _Sign(offset, Reason.HIDES, _ENCODED)


def _judged(signs: tuple[_Sign, ...]) -> Suspicion:
    stretches: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for sign in signs:
        # Each stretch takes in the signs of the one behind it.
        for stretch in (sign.offset // NEAR, sign.offset // NEAR - 1):
            held = stretches[stretch]
            held[sign.reason] = max(sign.weight, held.get(sign.reason, 0.0))
    return max(
        map(_summed, (stretches[place] for place in sorted(stretches))), key=_score, default=Suspicion(score=0.0)
    )


def _summed(weights: Mapping[str, float]) -> Suspicion:
    ranked = sorted(weights, key=lambda reason: (-weights[reason], reason))
    return Suspicion(score=round(sum(weights.values()), 3), reasons=tuple(map(str, ranked)))


def _score(suspicion: Suspicion) -> float:
    return suspicion.score
