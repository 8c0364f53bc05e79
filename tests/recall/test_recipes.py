"""Recipes keep their promises: bounded scores, capped multipliers, factors that make the score."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from benchmarks.fingerprint import fingerprint
from hypothesis import given
from hypothesis import strategies as st
from recall_world import NOW

from helix.errors import ConfigError, InvalidInputError
from helix.model.clock import to_micros
from helix.model.memory import RECENCY_HALF_LIFE_DAYS, Kind, Memory, Status
from helix.model.recall import Intent
from helix.model.records import put_record
from helix.recall import pagerank, relevance, walk
from helix.recall.recipes import KIND_WEIGHTS, RECIPES, Default, Learning, recipe_named, recipes_of
from helix.recall.relevance import Relevance
from helix.recall.scoring import INTENT_BOOST, Signals, min_max_scaled, score_of, scores_of, signals_of, with_intent
from helix.store import bm25
from helix.store.catalogue import Catalogue
from helix.store.node_columns import KIND_CODE, NodeColumns


def random_signals(seed: int, count: int) -> Signals:
    rng = np.random.default_rng(seed)
    drawn = {name.name: rng.random(count) for name in fields(Signals)}
    drawn |= {"hours": rng.random(count) * 10_000, "kind": rng.integers(-1, len(KIND_CODE), count).astype(np.int8)}
    drawn |= {"length": rng.random(count) * 400, "beside": rng.integers(0, count, (2, count))}
    drawn |= {"arms": {"vector": rng.random(count) / 61, "lexical": rng.random(count) / 61}}
    return Signals(**{**drawn, "intended": rng.random(count) < 0.3})  # type: ignore[arg-type]


@given(seed=st.integers(0, 2000), count=st.integers(1, 30), name=st.sampled_from(sorted(RECIPES)))
def test_scores_are_bounded_and_are_what_their_factors_make(seed: int, count: int, name: str) -> None:
    signals = random_signals(seed, count)
    factors = with_intent(RECIPES[name].factors(signals), signals)
    scores = scores_of(factors)
    highest = INTENT_BOOST * (1.5 if name == "default" else 1.0)
    assert ((scores >= 0) & (scores <= highest + 1e-9)).all()
    for place in range(count):
        assert score_of({part: float(values[place]) for part, values in factors.items()}) == scores[place]


@given(seed=st.integers(0, 500))
def test_nothing_but_relevance_moves_the_default_score_far(seed: int) -> None:
    signals = random_signals(seed, 20)
    factors = Default().factors(signals)
    for name, values in factors.items():
        if name.startswith("*"):
            assert ((values >= 0.85) & (values <= 1.15)).all()
    total = np.sum([values for name, values in factors.items() if name.startswith("+")], axis=0)
    assert ((total >= 0) & (total <= 1 + 1e-9)).all()


def test_a_signal_that_nothing_has_leaves_its_weight_to_the_others() -> None:
    signals = random_signals(1, 5)
    none = np.zeros(5)
    none_of = dict.fromkeys(("words", "files", "time", "solves", "proximity"), none)
    bare = replace(signals, **none_of, meaning=np.ones(5), beside=np.empty((2, 0), np.int64))
    factors = Default().factors(bare)
    assert [name for name in factors if name.startswith("+")] == ["+meaning"]
    assert factors["+meaning"].tolist() == [1.0] * 5


def test_a_short_turn_gets_most_of_what_its_better_neighbour_has_more() -> None:
    none = np.zeros(3)
    signals = replace(
        random_signals(1, 3),
        **dict.fromkeys(("words", "files", "time", "solves", "proximity"), none),
        meaning=np.array([1.0, 0.2, 0.2]),
        length=np.array([5.0, 5.0, 500.0]),
        beside=np.array([[0, 1, 2, 0], [1, 0, 0, 2]]),
    )
    context = Default().factors(signals)["+context"]
    assert context[0] == 0
    assert context[1] == pytest.approx(0.7 * 80 / 85 * 0.8)
    assert 0 < context[2] < 0.2 * context[1]
    assert "+context" not in Default(context=0.0).factors(signals)


def test_the_learning_recipe_is_the_table_of_kinds() -> None:
    signals = replace(random_signals(3, 2), kind=np.array([KIND_CODE[Kind.CONVENTION], -1], np.int8))
    factors = Learning().factors(signals)
    weights = KIND_WEIGHTS[Kind.CONVENTION]
    assert factors["+effectiveness"][0] == pytest.approx(weights.effectiveness * signals.effectiveness[0])
    assert factors["+relevance"][1] == pytest.approx(0.7 * signals.relevance[1])


def test_the_weights_of_every_kind_add_up_to_one() -> None:
    for weights in KIND_WEIGHTS.values():
        assert weights.relevance + weights.effectiveness + weights.recency == pytest.approx(1.0)


def test_an_unknown_recipe_is_refused_with_the_list() -> None:
    with pytest.raises(InvalidInputError, match="default"):
        recipe_named("stew")


def test_settings_add_recipes_and_change_weights() -> None:
    given = {"mine": {"base": "rrf", "diversity": 0.5}, "default": {"words": 0.9}, "plain": {"recency_cap": 0}}
    recipes = recipes_of(given)
    assert recipes["mine"].diversity == 0.5
    assert recipes["mine"].factors(random_signals(1, 3)).keys() == {"+vector", "+lexical"}
    assert recipes["default"] == Default(words=0.9)
    assert recipes["plain"] == Default(name="plain", recency_cap=0.0)
    assert recipes["learning"] is RECIPES["learning"]
    half = recipes_of({"learning": {"weights": {"fact": {"recency": 0.5}}}})["learning"]
    assert isinstance(half, Learning)
    assert half.weights[Kind.FACT] == replace(KIND_WEIGHTS[Kind.FACT], recency=0.5)


def test_settings_change_the_weights_of_a_kind() -> None:
    weights = {"failure": {"relevance": 1.0, "effectiveness": 0.0, "recency": 0.0}}
    mine = recipe_named("mine", recipes_of({"mine": {"base": "learning", "weights": weights}}))
    signals = replace(random_signals(3, 1), kind=np.array([KIND_CODE[Kind.FAILURE]], np.int8))
    assert scores_of(mine.factors(signals)) == pytest.approx(signals.relevance)


@pytest.mark.parametrize(
    "changes",
    [
        3,
        {"base": "stew"},
        {"salt": 1},
        {"words": "much"},
        {"words": -1},
        {"words": True},
        {"diversity": 2},
        {"base": "learning", "weights": {"no kind": {}}},
        {"base": "learning", "weights": {"failure": {"relevance": "much"}}},
        {"base": "learning", "weights": {"failure": {"relevance": -5}}},
        {"base": "learning", "weights": {"failure": {"salt": 1}}},
    ],
)
def test_a_recipe_that_cannot_be_made_is_refused(changes: object) -> None:
    with pytest.raises(ConfigError, match="mine"):
        recipes_of({"mine": changes})


def test_a_digest_stands_for_every_weight() -> None:
    assert fingerprint(Default()) == fingerprint(Default())
    assert fingerprint(Default()) != fingerprint(Default(words=0.41))
    assert fingerprint(Default()) != fingerprint(Learning())


@pytest.mark.parametrize(
    ("module", "name"), [(relevance, "HALF_WORDS"), (walk, "SEEDS"), (bm25, "K1"), (pagerank, "DAMPING")]
)
def test_a_digest_stands_for_every_constant(module: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(Default())
    monkeypatch.setattr(module, name, getattr(module, name) * 2)
    assert fingerprint(Default()) != before


def test_a_session_in_which_nothing_fits_is_scored_as_nothing() -> None:
    none = np.zeros(2)
    signals = replace(
        random_signals(1, 2),
        **dict.fromkeys(("meaning", "words", "files", "time", "solves", "proximity"), none),
        beside=np.array([[0, 1], [1, 0]]),
    )
    assert scores_of(Default().factors(signals)).tolist() == [0, 0]
    assert scores_of(Default(meaning=0.0, words=0.0, graph=0.0).factors(random_signals(2, 3))).shape == (3,)


# --- signals --------------------------------------------------------------------------------------------------------


def columns_of(*memories: Memory) -> NodeColumns:
    catalogue = Catalogue(0)
    catalogue.load([put_record(memory) for memory in memories])
    return catalogue.view.columns


def memory(node_id: str, **values: object) -> Memory:
    fixed: dict[str, object] = {"name": node_id, "kind": Kind.FAILURE, "trigger": "t", "resolution": "r"}
    return Memory(id=node_id, **{**fixed, "recorded_at": NOW, **values})  # type: ignore[arg-type]


def signals_for(columns: NodeColumns, intent: Intent | None = None, days_later: float = 0.0) -> Signals:
    count = len(columns.label)
    nothing, none = np.full(count, np.nan), np.zeros(count)
    return signals_of(
        columns,
        relevance=Relevance(
            rows=np.arange(count),
            cosine=nothing,
            lexical=nothing,
            meaning=none,
            words=none,
            passages=np.full(count, -1, np.int64),
        ),
        length=none,
        beside=np.empty((2, 0), np.int64),
        shares=dict.fromkeys(("time", "solves"), none),
        files=none,
        arms={},
        proximity=np.zeros(count),
        now=to_micros(NOW) + int(days_later * 86_400_000_000),
        intent=intent,
    )


def test_effectiveness_is_shrunk_towards_one_half() -> None:
    found = signals_for(columns_of(memory("a"), memory("b", helped=3.0), memory("c", helped=1.0, failed=3.0)))
    assert found.effectiveness.tolist() == pytest.approx([0.5, 3.5 / 4, 1.5 / 5])


@pytest.mark.parametrize("kind", Kind)
def test_recency_halves_after_the_half_life_of_the_kind(kind: Kind) -> None:
    columns = columns_of(memory("a", kind=kind))
    assert signals_for(columns, days_later=RECENCY_HALF_LIFE_DAYS[kind]).recency[0] == pytest.approx(0.5)


def test_salience_halves_after_its_own_half_life_and_never_without_one() -> None:
    columns = columns_of(
        memory("a", half_life_days=90.0), memory("b", half_life_days=0.0), memory("c", importance=10.0)
    )
    assert signals_for(columns, days_later=90.0).salience.tolist() == pytest.approx([0.25, 0.5, 1.0])


def test_an_intent_boosts_its_kinds_and_filters_nothing() -> None:
    columns = columns_of(memory("a"), memory("b", kind=Kind.DECISION), memory("c", status=Status.ARCHIVED))
    found = signals_for(columns, Intent.WHY)
    assert found.intended.tolist() == [True, False, True]
    assert with_intent({"+x": np.ones(3)}, found)["*intent"].tolist() == [INTENT_BOOST, 1.0, INTENT_BOOST]
    assert "*intent" not in with_intent({"+x": np.ones(3)}, signals_for(columns))


def test_stretching_keeps_order_and_gives_missing_values_nothing() -> None:
    assert min_max_scaled(np.array([2.0, np.nan, 4.0, 3.0])).tolist() == [0.0, 0.0, 1.0, 0.5]
    assert min_max_scaled(np.array([0.3, 0.3])).tolist() == [1.0, 1.0]
    assert min_max_scaled(np.array([np.nan])).tolist() == [0.0]
