"""Recipes: the named ways to mix the signals of a candidate into a score, and every weight they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol

import numpy as np

from helix.errors import ConfigError, InvalidInputError, did_you_mean
from helix.model.memory import Kind
from helix.recall.relevance import MEANING, WORDS
from helix.recall.scoring import Factors, Signals, min_max_scaled, scores_of
from helix.store.node_columns import KINDS, FloatArray

ARM_WEIGHTS: Mapping[str, float] = dict.fromkeys(
    ("vector", "lexical", "files", "time", "pagerank", "neighbours", "solves"), 1.0
) | {"context": 0.0, "named": 0.0, "yours": 0.0}
"""What each arm counts in fusion. The turns beside a found one are candidates; what they get is the recipe's to say.
What alone holds a name that was asked for, or is the user's and holds every word of the question, has its place
whatever its score (`ranking`)."""

_MOST = 1_000

DIVERSITY = 0.7
"""Weight of relevance against redundancy in maximal marginal relevance; 1 leaves the order as it is."""


class Recipe(Protocol):
    """A way to score. Factors named `+x` add up, factors named `*x` multiply the sum.

    `diversity` is the weight of relevance against redundancy, from 0 to 1, where 1 diversifies nothing.
    """

    @property
    def name(self) -> str: ...

    @property
    def diversity(self) -> float: ...

    def factors(self, signals: Signals) -> Factors:
        """Return a ranking recipe's factors of every recall candidate, in the order in which they are shown."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KindWeights:
    """How much relevance, effectiveness and recency count for a kind of memory; they add up to 1."""

    relevance: float
    effectiveness: float
    recency: float


_STEADY = KindWeights(relevance=0.7, effectiveness=0.1, recency=0.2)
_LEARNED = KindWeights(relevance=0.5, effectiveness=0.3, recency=0.2)
KIND_WEIGHTS: Mapping[Kind, KindWeights] = {
    **dict.fromkeys(Kind, _STEADY),
    Kind.FAILURE: _LEARNED,
    Kind.PATTERN: _LEARNED,
    Kind.SYSTEMIC: KindWeights(relevance=0.6, effectiveness=0.3, recency=0.1),
    Kind.CONVENTION: KindWeights(relevance=0.4, effectiveness=0.4, recency=0.2),
    Kind.DECISION: KindWeights(relevance=0.6, effectiveness=0.2, recency=0.2),
    Kind.EVOLUTION: KindWeights(relevance=0.4, effectiveness=0.1, recency=0.5),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """relevance, effectiveness and recency by the weights of the memory's kind; episodes and reflections as facts."""

    name: str = "learning"
    diversity: float = DIVERSITY
    weights: Mapping[Kind, KindWeights] = field(default_factory=lambda: KIND_WEIGHTS)
    otherwise: KindWeights = _STEADY

    def factors(self, signals: Signals) -> Factors:
        """Return the three weighted terms of recall's recipe `learning`."""
        rows = [*(self.weights[kind] for kind in KINDS), self.otherwise]
        table = np.array([(row.relevance, row.effectiveness, row.recency) for row in rows])[signals.kind]
        return {
            "+relevance": table[:, 0] * signals.relevance,
            "+effectiveness": table[:, 1] * signals.effectiveness,
            "+recency": table[:, 2] * signals.recency,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Poignancy:
    """Recency, importance and relevance, each stretched over the candidates (Park et al. 2023, generative agents)."""

    name: str = "poignancy"
    diversity: float = DIVERSITY
    hourly_decay: float = 0.995
    recency: float = 1 / 3
    importance: float = 1 / 3
    relevance: float = 1 / 3

    def factors(self, signals: Signals) -> Factors:
        """Return the three weighted terms of recall's recipe `poignancy`."""
        return {
            "+recency": self.recency * min_max_scaled(np.power(self.hourly_decay, signals.hours)),
            "+importance": self.importance * min_max_scaled(signals.importance),
            "+relevance": self.relevance * min_max_scaled(signals.relevance),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Engineering:
    """Similarity, salience, recency, confidence and nearness in the graph, as one weighted sum."""

    name: str = "engineering"
    diversity: float = DIVERSITY
    similarity: float = 0.5
    salience: float = 0.15
    recency: float = 0.1
    confidence: float = 0.1
    proximity: float = 0.15

    def factors(self, signals: Signals) -> Factors:
        """Return the five weighted terms of recall's recipe `engineering`."""
        return {
            "+similarity": self.similarity * signals.relevance,
            "+salience": self.salience * signals.salience,
            "+recency": self.recency * signals.recency,
            "+confidence": self.confidence * signals.confidence,
            "+proximity": self.proximity * signals.proximity,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """Relevance as a mixture of meaning, words and where the other arms point; the rest breaks ties, as multipliers.

    A signal that nothing in this answer has leaves its weight to the others. A turn of a session gets `context` of what
    its better neighbour has more, the shorter it is the more of it: half at `half_length` tokens. A multiplier is
    1 + cap * (2 s - 1) for a signal s in 0..1.
    """

    name: str = "default"
    diversity: float = DIVERSITY
    meaning: float = MEANING
    words: float = WORDS
    files: float = 0.25
    time: float = 0.15
    solves: float = 0.1
    graph: float = 0.2
    context: float = 0.7
    half_length: float = 80.0
    effectiveness_cap: float = 0.15
    recency_cap: float = 0.05
    importance_cap: float = 0.05
    confidence_cap: float = 0.05
    trust_cap: float = 0.05

    def factors(self, signals: Signals) -> Factors:
        """Return the terms of relevance and the multipliers of recall's default recipe."""
        terms = {
            "+meaning": (self.meaning, signals.meaning),
            "+words": (self.words, signals.words),
            "+files": (self.files, signals.files),
            "+time": (self.time, signals.time),
            "+solves": (self.solves, signals.solves),
            "+graph": (self.graph, signals.proximity),
        }
        present = {name: term for name, term in terms.items() if term[0] and term[1].any()}
        whole = sum(weight for weight, _ in present.values())
        added = {name: weight / whole * values for name, (weight, values) in present.items()}
        return {
            **added,
            **self._context(signals, added),
            "*effectiveness": _capped(signals.effectiveness, self.effectiveness_cap),
            "*recency": _capped(signals.recency, self.recency_cap),
            "*importance": _capped(signals.importance, self.importance_cap),
            "*confidence": _capped(signals.confidence, self.confidence_cap),
            "*trust": _capped(signals.trust, self.trust_cap),
        }

    def _context(self, signals: Signals, added: Factors) -> Factors:
        if not added or not signals.beside.size or not self.context:
            return {}
        own = scores_of(added)
        best = own.copy()
        turns, beside = signals.beside
        np.maximum.at(best, turns, own[beside])
        brevity = self.half_length / (self.half_length + signals.length)
        return {"+context": self.context * brevity * (best - own)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """BM25 alone: what a search of words would answer."""

    name: str = "bm25"
    diversity: float = 1.0

    def factors(self, signals: Signals) -> Factors:
        """Return the lexical score over the best one, for recall's ranking by words."""
        return {"+words": signals.lexical}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The cosine alone: what a search of vectors would answer."""

    name: str = "vector"
    diversity: float = 1.0

    def factors(self, signals: Signals) -> Factors:
        """Return the similarity, for recall's ranking by meaning."""
        return {"+meaning": signals.cosine}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalRank:
    """The sum over the arms of weight / (60 + rank) (Cormack, Clarke and Büttcher 2009)."""

    name: str = "rrf"
    diversity: float = 1.0

    def factors(self, signals: Signals) -> Factors:
        """Return what each arm of recall gave, for the ranking by reciprocal ranks."""
        return {f"+{arm}": shares for arm, shares in signals.arms.items()}


RECIPES: Mapping[str, Recipe] = {
    recipe.name: recipe
    for recipe in (Default(), Learning(), Poignancy(), Engineering(), Words(), Meaning(), ReciprocalRank())
}
"""The recipes that Helix brings; settings add to them (`recipes_of`)."""


def recipe_named(name: str, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    """Return recall's ranking recipe of a name; raises InvalidInputError listing what there is."""
    if name not in recipes:
        meant = did_you_mean(name, recipes)
        known = f"{meant} recipes: {', '.join(recipes)}; one that config.toml was given since counts after `helix stop`"
        raise InvalidInputError(f"there is no recipe {name!r}", hint=known.lstrip())
    return recipes[name]


def recipes_of(given: Mapping[str, Any]) -> Mapping[str, Recipe]:
    """Return the ranking recipes that Helix brings for recall with those of the settings, by name.

    A setting gives a name `{"base": recipe (the name itself, else default), weight: number, ...}`; `weights` of
    `learning` maps kinds to `{"relevance": .., "effectiveness": .., "recency": ..}`. Raises ConfigError.
    """
    return {**RECIPES, **{name: _changed(name, changes) for name, changes in given.items()}}


def _changed(name: str, changes: Any) -> Recipe:
    if not isinstance(changes, Mapping):
        raise ConfigError(
            f"recipe {name!r} is not a table of weights", hint='such as {"base": "default", "words": 0.5}'
        )
    base = str(changes.get("base", name if name in RECIPES else "default"))
    if base not in RECIPES:
        raise ConfigError(f"recipe {name!r} is based on {base!r}, which is none", hint=f"bases: {', '.join(RECIPES)}")
    recipe: Any = RECIPES[base]
    known = [item.name for item in fields(recipe) if item.name not in ("name", "otherwise")]
    values: dict[str, Any] = {"name": name}
    for key, value in changes.items():
        if key == "base":
            continue
        if key not in known:
            raise ConfigError(f"recipe {name!r} has no weight {key!r}", hint=f"weights of {base}: {', '.join(known)}")
        values[key] = _kind_weights(name, value) if key == "weights" else _number(name, key, value)
    if not 0 <= values.get("diversity", 1.0) <= 1:
        raise ConfigError(f"'diversity' of recipe {name!r} is not between 0 and 1")
    changed: Recipe = replace(recipe, **values)
    return changed


def _kind_weights(name: str, given: Any) -> Mapping[Kind, KindWeights]:
    try:
        changed = {
            Kind(kind): replace(KIND_WEIGHTS[Kind(kind)], **{key: _number(name, key, weights[key]) for key in weights})
            for kind, weights in given.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        hint = 'such as {"failure": {"relevance": 0.5, "effectiveness": 0.3, "recency": 0.2}}'
        raise ConfigError(f"'weights' of recipe {name!r} cannot be read: {error}", hint=hint) from error
    return {**KIND_WEIGHTS, **changed}


def _number(name: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise ConfigError(f"weight {key!r} of recipe {name!r} is not a number from 0 to {_MOST}")
    return float(value)


def _capped(values: FloatArray, cap: float) -> FloatArray:
    return 1.0 + cap * (2.0 * values - 1.0)
