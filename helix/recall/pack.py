"""Pack: fill the answer, greedily and with whole items only, saying each thing once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helix.text.statement.subsumption import Telling, exceeds, told_by

IDENTICAL_FROM = 0.97
"""Cosine from which a text that says no more is taken for the same; it belongs to the embedding space."""

INSIGHT_SHARE = 0.25
"""How much of an answer insights may take, beside what they are drawn from: of its tokens, and of its items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """One candidate for the answer: its place among the candidates, what it would show, and the tokens that takes.

    `vector` is None where the text was never embedded; `trust` is the rank of its class, 0 for the strongest: nothing
    stands for what is better founded, but the memory that is drawn from it. `restates` holds the places of the episodes
    that a memory is grounded in; `ended` is what an episode told that no longer holds. An `insight` is a reading of
    evidence, and no evidence. `within` are the places of all that says what this says, empty where something new is
    said.
    """

    place: int
    text: str
    tokens: int
    vector: npt.NDArray[np.float32] | None = None
    restates: frozenset[int] = frozenset()
    ended: str = ""
    insight: bool = False
    within: frozenset[int] = frozenset()
    trust: int = 0


def memories_first(order: Sequence[int], grounds: Mapping[int, Sequence[int]]) -> list[int]:
    """Return recall's order with each memory moved ahead of the first episode that grounds it.

    `grounds` maps the place of a memory to the places of its episodes. Everything else keeps its order.
    """
    position = {place: index for index, place in enumerate(order)}
    key = {place: float(index) for place, index in position.items()}
    for memory, episodes in grounds.items():
        earliest = min((position[episode] for episode in episodes if episode in position), default=None)
        if memory in position and earliest is not None and earliest < position[memory]:
            key[memory] = earliest - 0.5
    return sorted(order, key=lambda place: (key[place], position[place]))


def pack(
    portions: Iterable[Portion],
    *,
    limit: int,
    budget_tokens: int = 0,
    evidence: bool = False,
    everything: bool = False,
    folded: dict[int, list[int]] | None = None,
    told: Callable[[str], Telling] = told_by,
) -> list[Portion]:
    """Pack at most `limit` portions of a recall answer in order, together within the budget (0: none), each thing once.

    With `evidence` an episode is shown beside the memory that restates it, unless it is in the very same words; with
    `everything` each memory is shown, whatever another one says.
    A portion that does not fit is passed over for smaller ones behind it. Portions are asked for only as long as there
    is room, so their texts can be read as they are needed. Insights take INSIGHT_SHARE of the limit (one at
    least) and of the budget at most. Into `folded` goes by its place what was excluded for being within what is packed:
    the places of those. `told` reads a text, each once where it keeps what it read.
    """
    less: dict[int, list[int]] = {} if folded is None else folded
    packed: list[Portion] = []
    said: list[str] = []
    insights: list[int] = []
    spent = 0
    for portion in portions:
        if portion.within and portion.within <= {*less, *(other.place for other in packed)}:
            less[portion.place] = sorted(portion.within)
            continue
        if budget_tokens and spent + portion.tokens > budget_tokens:
            continue
        if portion.insight and (
            len(insights) >= max(1.0, INSIGHT_SHARE * limit)
            or (budget_tokens and sum(insights) + portion.tokens > INSIGHT_SHARE * budget_tokens)
        ):
            continue
        words = " ".join(portion.text.split()).casefold()
        beside = zip(packed, said, strict=True)
        if any(
            _restated(portion, other, evidence, told, same_words=words == known)
            or (not everything and _same(portion, other, told, same_words=words == known))
            for other, known in beside
        ):
            continue
        packed.append(portion)
        said.append(words)
        spent += portion.tokens
        if portion.insight:
            insights.append(portion.tokens)
        if len(packed) == limit:
            break
    return packed


def _restated(
    portion: Portion, packed: Portion, evidence: bool, told: Callable[[str], Telling], *, same_words: bool
) -> bool:
    """Return whether one of a memory and what it rests on is packed, and the other adds nothing to it."""
    if portion.place in packed.restates:
        return same_words or (not evidence and not exceeds(told(portion.text), told(f"{packed.text}\n{portion.ended}")))
    return packed.place in portion.restates and not exceeds(told(portion.text), told(packed.text))


def _same(portion: Portion, packed: Portion, told: Callable[[str], Telling], *, same_words: bool) -> bool:
    """Return whether a portion adds nothing to one that is packed, where neither rests on the other."""
    if portion.place in packed.restates or packed.place in portion.restates:
        return False
    if portion.trust < packed.trust or same_words:
        return portion.trust >= packed.trust
    if portion.vector is None or packed.vector is None or float(portion.vector @ packed.vector) < IDENTICAL_FROM:
        return False
    return not exceeds(told(portion.text), told(packed.text))
