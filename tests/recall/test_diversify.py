"""Maximal marginal relevance is greedy to the letter, and only repetition is held against an answer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from recall_world import unit

from helix.recall.ranking import diversified, maximal_marginal_relevance, redundancy
from helix.recall.recipes import DIVERSITY

Floats = npt.NDArray[np.float64]


def naive(relevance: Floats, similar: Floats, trade_off: float) -> list[int]:
    chosen: list[int] = []
    left = list(range(len(relevance)))
    while left:
        worth = [
            trade_off * relevance[place]
            - (1 - trade_off) * max((similar[other, place] for other in chosen), default=0.0)
            for place in left
        ]
        chosen.append(left.pop(int(np.argmax(worth))))
    return chosen


@given(seed=st.integers(0, 5000), count=st.integers(0, 25), trade_off=st.sampled_from([0.0, 0.3, DIVERSITY, 1.0]))
def test_selection_is_that_of_the_definition(seed: int, count: int, trade_off: float) -> None:
    rng = np.random.default_rng(seed)
    relevance = np.sort(rng.random(count).round(2))[::-1]
    similar = rng.random((count, count)).round(2)
    similar = np.maximum(similar, similar.T)
    found = maximal_marginal_relevance(relevance, similar, trade_off)
    assert found.tolist() == naive(relevance, similar, trade_off)


def test_a_repetition_goes_behind_something_else_that_fits() -> None:
    vectors = np.stack([unit([1, 0, 0]), unit([1, 0.01, 0]), unit([0, 1, 0])])
    order = diversified(np.array([1.0, 0.99, 0.8]), vectors, np.ones(3, np.bool_), DIVERSITY)
    assert order.tolist() == [0, 2, 1]


def test_answers_about_one_subject_that_say_different_things_keep_their_order() -> None:
    vectors = np.stack([unit([1, 0, 0]), unit([1, 0.6, 0]), unit([0, 0, 1])])
    order = diversified(np.array([1.0, 0.99, 0.98]), vectors, np.ones(3, np.bool_), DIVERSITY)
    assert order.tolist() == [0, 1, 2]


def test_what_has_no_vector_is_never_taken_for_a_repetition() -> None:
    vectors = np.zeros((3, 4), np.float32)
    assert redundancy(vectors, np.zeros(3, np.bool_)).sum() == 0
    assert diversified(np.array([0.9, 0.8, 0.7]), vectors, np.zeros(3, np.bool_), DIVERSITY).tolist() == [0, 1, 2]


def test_nothing_relevant_is_left_in_its_order() -> None:
    assert diversified(np.zeros(3), np.zeros((3, 2), np.float32), np.zeros(3, np.bool_), DIVERSITY).tolist() == [
        0,
        1,
        2,
    ]


def test_a_recipe_that_diversifies_nothing_keeps_repetitions_where_they_are() -> None:
    vectors = np.stack([unit([1, 0, 0]), unit([1, 0.01, 0]), unit([0, 1, 0])])
    assert diversified(np.array([1.0, 0.99, 0.8]), vectors, np.ones(3, np.bool_), 1.0).tolist() == [0, 1, 2]
