"""Communities: what has much in common falls together, the same way each time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helix.recall.communities import communities, shared


def test_two_circles_with_one_thing_in_common_stay_two() -> None:
    features = [{"a", "b"}, {"a", "b"}, {"a", "b", "all"}, {"x", "y", "all"}, {"x", "y"}, {"x", "y"}, {"alone"}]
    assert communities(shared(features)) == [[0, 1, 2], [3, 4, 5], [6]]


def test_what_all_have_counts_for_next_to_nothing_beside_what_two_have() -> None:
    weights = shared([{"all", "rare"}, {"all", "rare"}, {"all"}, {"all"}])
    assert weights[0, 1] > 4 * weights[2, 3] > 0
    assert not np.diag(weights).any()


def test_nothing_in_common_is_nothing_together() -> None:
    assert communities(shared([])) == []
    assert communities(shared([{"a"}, set(), {"b"}])) == [[0], [1], [2]]


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=4), max_size=24))
def test_every_place_is_in_exactly_one_community_and_the_answer_repeats(features: Sequence[set[str]]) -> None:
    found = communities(shared(features))
    assert sorted(place for held in found for place in held) == list(range(len(features)))
    assert found == communities(shared(features))


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1, max_size=4), min_size=2, max_size=16))
def test_communities_are_at_least_as_modular_as_no_communities_at_all(features: Sequence[set[str]]) -> None:
    weights = shared(features)
    whole = weights.sum()
    if whole:
        assert _modularity(weights, communities(weights)) >= -1e-9
        singles = [[place] for place in range(len(weights))]
        assert _modularity(weights, communities(weights)) >= _modularity(weights, singles) - 1e-9


def _modularity(weights: np.ndarray[tuple[int, int], np.dtype[np.float64]], found: Sequence[Sequence[int]]) -> float:
    whole, strength = weights.sum(), weights.sum(axis=1)
    return float(
        sum(weights[np.ix_(held, held)].sum() / whole - (strength[list(held)].sum() / whole) ** 2 for held in found)
    )
