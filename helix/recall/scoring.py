"""Scoring: what is known of each candidate as numbers in 0..1, how factors make a score, what is worth most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
import numpy.typing as npt

from helix.model.clock import DAY_MICROS, to_micros
from helix.model.edge import Label
from helix.model.memory import GLOBAL_SCOPE, RECENCY_HALF_LIFE_DAYS, TIER_HALF_LIFE_DAYS, Kind, Tier
from helix.model.provenance import Trust
from helix.model.recall import Intent, RecallQuery
from helix.recall.relevance import Relevance
from helix.store.eligibility import any_of, eligible, event_times
from helix.store.index import Rows, StoreIndex
from helix.store.node_columns import (
    KIND_CODE,
    KINDS,
    LABEL_CODE,
    NO_START,
    TRUST_CODE,
    TRUSTS,
    BoolArray,
    FloatArray,
    IndexArray,
    NodeColumns,
    shrunk_effectiveness,
)

Factors = dict[str, FloatArray]
"""Named parts of a score, in order: `+name` are added, then `*name` multiply the sum."""

INTENT_KINDS: Mapping[Intent, tuple[Kind, ...]] = {
    Intent.WHY: (Kind.FAILURE, Kind.SYSTEMIC),
    Intent.HOW: (Kind.PATTERN, Kind.CONVENTION),
    Intent.WHAT: (Kind.FACT, Kind.DECISION),
    Intent.DEBUG: (Kind.FAILURE, Kind.PATTERN),
}
INTENT_BOOST = 1.1

TRUST_VALUE: Mapping[Trust, float] = {
    Trust.USER_ASSERTED: 1.0,
    Trust.VERIFIED_OUTCOME: 0.9,
    Trust.AGENT_INFERRED: 0.5,
    Trust.TOOL_OUTPUT: 0.3,
    Trust.WEB: 0.1,
}

EPISODE_HALF_LIFE_DAYS = TIER_HALF_LIFE_DAYS[Tier.EPISODIC]
REFLECTION_HALF_LIFE_DAYS = RECENCY_HALF_LIFE_DAYS[Kind.FACT]

HALF_NEAR = 0.01
"""Share of a walk at which a row counts as half near: what one of two things gets that a seed leads to."""

MAX_IMPORTANCE = 10.0
_HOUR_MICROS = DAY_MICROS / 24

SPOKEN_AGAINST = 0.3
"""Effectiveness, (helped + 1/2) / (helped + failed + 1), below which evidence speaks against a memory."""
_ELSEWHERE = 0.5
"""What a memory of `global` is worth beside one of the project itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What recipes mix, one array per signal over the candidates; all in 0..1 but for `hours` and `length`.

    `cosine` is the similarity itself (0 without a vector), `lexical` the words' score over the best one; `meaning` and
    `words` are the same as `relevance` has them. `arms` has what each arm gave in fusion. `files` is the share of the
    files given, `time` and `solves` fall with the rank in those arms, `proximity` grows with the share of the walk that
    arrives. `length` is the number of tokens of the text, `beside` has the places of turns that follow each other in a
    session, shape (2, pairs). `hours` is the age since the later of the event and its last verified use, `kind` the
    code of a memory's kind.
    """

    cosine: FloatArray
    lexical: FloatArray
    arms: Mapping[str, FloatArray]
    meaning: FloatArray
    words: FloatArray
    length: FloatArray
    beside: IndexArray
    files: FloatArray
    time: FloatArray
    solves: FloatArray
    proximity: FloatArray
    effectiveness: FloatArray
    recency: FloatArray
    salience: FloatArray
    importance: FloatArray
    confidence: FloatArray
    trust: FloatArray
    hours: FloatArray
    kind: npt.NDArray[np.int8]
    intended: BoolArray

    @property
    def relevance(self) -> FloatArray:
        """A recall candidate's similarity to the query: the cosine, or where no vectors were compared the words."""
        return self.cosine if self.cosine.any() else self.words


def signals_of(
    columns: NodeColumns,
    *,
    relevance: Relevance,
    length: FloatArray,
    beside: IndexArray,
    shares: Mapping[str, FloatArray],
    files: FloatArray,
    arms: Mapping[str, FloatArray],
    proximity: FloatArray,
    now: int,
    intent: Intent | None,
) -> Signals:
    """Return the ranking signals of the recall candidates whose columns are given.

    `length`, `beside`, `files` and `arms` are as in `Signals`; `shares` holds how far up the arms of those names list
    them, `proximity` how much of a walk from the best candidates arrives at them.

    Effectiveness is (helped + 1/2) / (helped + failed + 1), salience importance * 2^(-days / half-life) over the
    highest importance, recency 2^(-days / half-life of the kind). `now` is in microseconds.
    """
    used = columns.last_used_at
    hours = _ages(np.maximum(event_times(columns), used), now) / _HOUR_MICROS
    stored_days = _ages(np.maximum(columns.recorded_at, used), now) / DAY_MICROS
    fading = (columns.half_life > 0) & np.isfinite(columns.half_life)
    decay = np.where(fading, stored_days / np.where(fading, columns.half_life, 1.0), 0.0)
    memory = columns.label == LABEL_CODE[Label.MEMORY]
    return Signals(
        cosine=np.clip(np.nan_to_num(relevance.cosine), 0.0, 1.0),
        lexical=_over_best(np.nan_to_num(relevance.lexical)),
        arms=arms,
        meaning=relevance.meaning,
        words=relevance.words,
        length=length,
        beside=beside,
        files=files,
        time=shares["time"],
        solves=shares["solves"],
        proximity=proximity / (proximity + HALF_NEAR),
        effectiveness=shrunk_effectiveness(columns.helped, columns.failed),
        recency=np.exp2(-hours / 24 / recency_half_lives(columns)),
        salience=np.clip(columns.importance / MAX_IMPORTANCE, 0.0, 1.0) * np.exp2(-decay),
        importance=np.clip((columns.importance - 1.0) / (MAX_IMPORTANCE - 1.0), 0.0, 1.0),
        confidence=np.clip(columns.confidence, 0.0, 1.0),
        trust=np.array([TRUST_VALUE[trust] for trust in TRUSTS])[columns.trust],
        hours=hours,
        kind=np.where(memory, columns.kind, -1).astype(np.int8),
        intended=memory & _kinds_of(intent)[columns.kind],
    )


def _kinds_of(intent: Intent | None) -> BoolArray:
    """Return for each code of a kind whether the intent is after it; the last place is for what has no kind."""
    wanted = np.zeros(len(KINDS) + 1, np.bool_)
    wanted[[KIND_CODE[kind] for kind in INTENT_KINDS[intent]] if intent is not None else []] = True
    return wanted


def recency_half_lives(columns: NodeColumns) -> FloatArray:
    """Return the half-life in days of each recall candidate's recency: by kind for memories, else by label."""
    by_kind = np.array([*(RECENCY_HALF_LIFE_DAYS[kind] for kind in KINDS), REFLECTION_HALF_LIFE_DAYS])
    days = np.where(columns.label == LABEL_CODE[Label.MEMORY], by_kind[columns.kind], REFLECTION_HALF_LIFE_DAYS)
    return np.where(columns.label == LABEL_CODE[Label.EPISODE], EPISODE_HALF_LIFE_DAYS, days)


def min_max_scaled(values: FloatArray) -> FloatArray:
    """Return recall's ranking signal min-max scaled to 0..1, 1 where all are equal, 0 where one is NaN."""
    known = np.isfinite(values)
    if not known.any():
        return np.zeros(len(values))
    low, high = values[known].min(), values[known].max()
    scaled = (values - low) / (high - low) if high > low else np.ones(len(values))
    return np.where(known, scaled, 0.0)


def with_intent(factors: Factors, signals: Signals) -> Factors:
    """Return recall's score factors with the boost of the kinds that the question's intent is after, if any."""
    if not signals.intended.any():
        return factors
    return {**factors, "*intent": np.where(signals.intended, INTENT_BOOST, 1.0)}


def scores_of(factors: Factors) -> FloatArray:
    """Return every recall candidate's score: (sum of the `+` factors) times (product of the `*` factors)."""
    scores: FloatArray = _combined(factors, np.zeros(len(next(iter(factors.values()), ()))))
    return scores


def score_of(factors: Mapping[str, float]) -> float:
    """Return the score of one recall item by its factors: what `scores_of` gives, from the numbers that are shown."""
    return float(_combined(factors, 0.0))


def _combined(factors: Mapping[str, Any], nothing: Any) -> Any:
    """Return what both of them do, for arrays and for numbers."""
    # Not `sum`, which adds floats more exactly than arrays from Python 3.12 on.
    total = reduce(add, (value for name, value in factors.items() if name.startswith("+")), nothing)
    return reduce(mul, (value for name, value in factors.items() if name.startswith("*")), total)


def _over_best(values: FloatArray) -> FloatArray:
    return values / values.max() if values.any() else values


def _ages(moments: npt.NDArray[np.int64], now: int) -> FloatArray:
    """Return microseconds from each moment until now, 0 for later ones and for absent ones."""
    return np.where(moments == NO_START, 0, np.maximum(now - moments, 0)).astype(np.float64)


def answerable(index: StoreIndex, rows: Iterable[int], query: RecallQuery, now: datetime) -> IndexArray:
    """Return those of the rows that a recall query may be answered with, ascending.

    What outcomes speak against is not among them, unless the user stands for it.
    """
    array = np.flatnonzero(rows.mask) if isinstance(rows, Rows) else np.unique(np.fromiter(rows, np.int64))
    return _heard(index, array, query, now)


def _heard(index: StoreIndex, rows: IndexArray, query: RecallQuery, now: datetime) -> IndexArray:
    view = index.view
    rows = rows[rows < view.count]
    rows = rows[eligible(view.columns, view.lookups.scopes, query, now, rows)]
    columns = view.columns
    users: BoolArray = columns.trust[rows] == TRUST_CODE[Trust.USER_ASSERTED]
    fit: IndexArray = rows[users | (shrunk_effectiveness(columns.helped[rows], columns.failed[rows]) >= SPOKEN_AGAINST)]
    return fit


def worthiest(
    index: StoreIndex, query: RecallQuery, trusts: Sequence[Trust], now: datetime, limit: int
) -> list[tuple[int, float]]:
    """Return the rows of a recall query's kinds and of these classes of trust that are worth most, and their worth.

    What the user said comes first. The worth, 0 to 1, is importance/10 * confidence * trust * effectiveness *
    (1 + recency)/2, halved for what is not the project's own.
    """
    view = index.view
    of_kind = any_of(view.columns.kind, [KIND_CODE[kind] for kind in query.kinds])
    of_trust = any_of(view.columns.trust, [TRUST_CODE[trust] for trust in trusts])
    rows = _heard(index, np.flatnonzero(of_kind & of_trust), query, now)
    columns = view.columns.at(rows)
    idle = np.maximum(to_micros(now) - np.maximum(event_times(columns), columns.last_used_at), 0)
    recency = np.exp2(-idle / DAY_MICROS / recency_half_lives(columns))
    trust = np.array([TRUST_VALUE[one] for one in TRUSTS])[columns.trust]
    elsewhere = columns.scope == view.lookups.scopes.code(GLOBAL_SCOPE)
    own = np.where(elsewhere & (query.scope not in (None, GLOBAL_SCOPE)), _ELSEWHERE, 1.0)
    effectiveness = shrunk_effectiveness(columns.helped, columns.failed)
    worth = columns.importance / 10 * columns.confidence * trust * effectiveness * (1 + recency) / 2 * own
    derived = columns.trust != TRUST_CODE[Trust.USER_ASSERTED]
    best = np.lexsort((rows, -worth, derived))[:limit]
    return [(int(rows[place]), float(worth[place])) for place in best]


def by_exactness(index: StoreIndex, levels: Mapping[int, int], order: Sequence[Kind]) -> list[int]:
    """Return recalled rows by level (0 is the most exact), those of the first kind of `order` before all.

    Of one level, what the user said comes first, then kinds by `order`, what has helped more, what is worth more, what
    was recorded later. Right behind the first of several of the first kind stands the best of the others.
    """
    rows, columns = np.array(sorted(levels), np.int64), index.view.columns
    rank = {kind: place for place, kind in enumerate(order)}
    kinds = np.array([rank.get(kind, len(order)) for kind in KINDS])[columns.kind[rows]]
    effectiveness = shrunk_effectiveness(columns.helped[rows], columns.failed[rows])
    worth = columns.importance[rows] * columns.confidence[rows]
    level = np.array([levels[row] for row in rows.tolist()])
    others = columns.trust[rows] != TRUST_CODE[Trust.USER_ASSERTED]
    ranked = np.lexsort((-rows, -columns.recorded_at[rows], -worth, -effectiveness, kinds, others, level, kinds > 0))
    first = int(np.count_nonzero(kinds == 0))
    if 1 < first < len(ranked):
        ranked[1 : first + 1] = np.roll(ranked[1 : first + 1], 1)
    return [int(row) for row in rows[ranked]]
