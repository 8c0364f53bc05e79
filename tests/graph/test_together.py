"""Communities of what is shared: what has much in common falls together, the same way each time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.graph.analytics import together
from tests.sampling import draws


def test_two_circles_with_one_thing_in_common_stay_two() -> None:
    features = [["a", "b"], ["a", "b"], ["a", "all", "b"], ["all", "x", "y"], ["x", "y"], ["x", "y"], ["alone"]]
    assert [held for held in together(features) if len(held) > 1] == [[0, 1, 2], [3, 4, 5]]


def test_what_all_have_counts_for_next_to_nothing_beside_what_two_have() -> None:
    assert together([["all", "rare"], ["all", "rare"], ["all", "odd"], ["all", "odd"]]) == [[0, 1], [2, 3]]


def test_those_with_most_in_common_come_first() -> None:
    assert together([["a"], ["a"], ["x", "y"], ["x", "y"]]) == [[2, 3], [0, 1]]


@pytest.mark.parametrize("count", [2, 10, 60])
def test_all_that_have_one_thing_in_common_are_together(count: int) -> None:
    assert together([["one"]] * count) == [list(range(count))]


def test_nothing_in_common_is_nothing_together() -> None:
    assert together([]) == []
    assert all(len(held) == 1 for held in together([["a"], [], ["b"]]))


def test_much_in_common_takes_no_more_edges_than_the_limit() -> None:
    features = [[f"{place % 2} {one}" for one in range(30)] for place in range(120)]
    assert together(features) == [list(range(0, 120, 2)), list(range(1, 120, 2))]


@settings(max_examples=draws(20))
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=4, unique=True), max_size=24))
def test_no_place_is_in_two_communities_and_the_answer_repeats(features: Sequence[Sequence[str]]) -> None:
    found = together(features)
    places = [place for held in found for place in held]
    assert len(places) == len(set(places)) and set(places) <= set(range(len(features)))
    assert found == together(features)
