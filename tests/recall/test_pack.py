"""Packing takes whole items only, within the budget, and each thing once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from recall_world import unit

from helix.recall.pack import Portion, memories_first, pack

portions = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(1, 40)), max_size=20).map(
    lambda pairs: [Portion(place=place, text=text, tokens=tokens) for place, (text, tokens) in enumerate(pairs)]
)


@given(offered=portions, limit=st.integers(1, 8), budget=st.integers(0, 60))
def test_the_answer_is_within_limit_and_budget_and_nothing_that_fits_is_left_out(
    offered: list[Portion], limit: int, budget: int
) -> None:
    packed = pack(offered, limit=limit, budget_tokens=budget)
    assert len(packed) <= limit
    assert not budget or sum(portion.tokens for portion in packed) <= budget
    assert [portion.place for portion in packed] == sorted(portion.place for portion in packed)
    assert len({portion.text for portion in packed}) == len(packed)
    for portion in offered:
        before = [taken for taken in packed if taken.place < portion.place]
        if portion not in packed and len(before) < limit:
            too_long = budget and sum(taken.tokens for taken in before) + portion.tokens > budget
            assert too_long or portion.text in {taken.text for taken in before}


def test_texts_are_read_only_as_long_as_there_is_room() -> None:
    read: list[int] = []

    def offered() -> Iterator[Portion]:
        for place in range(100):
            read.append(place)
            yield Portion(place=place, text=str(place), tokens=1)

    assert len(pack(offered(), limit=3)) == 3
    assert read == [0, 1, 2]


def test_the_same_words_differently_spaced_are_the_same_thing() -> None:
    offered = [Portion(place=0, text="Run the\ntests", tokens=3), Portion(place=1, text="run  the tests", tokens=3)]
    assert [portion.place for portion in pack(offered, limit=5)] == [0]


def test_who_asks_for_everything_is_shown_what_others_say_too() -> None:
    """But no memory's evidence in the memory's own words: it is shown by `helix why`."""
    offered = [
        Portion(place=0, text="Run the tests", tokens=3, restates=frozenset({2})),
        Portion(place=1, text="run the tests", tokens=3),
        Portion(place=2, text="Run the tests", tokens=3),
    ]
    assert [portion.place for portion in pack(offered, limit=5, everything=True)] == [0, 1]


def test_what_is_better_founded_stays_beside_the_same_words_of_another() -> None:
    near = unit([1.0, 0.0])
    weak = Portion(place=0, text="Run the tests, all", tokens=3, vector=near, trust=3)
    said = [
        Portion(place=1, text="run the tests, all", tokens=3, trust=0),
        Portion(place=2, text="Run the tests", tokens=3, vector=near, trust=2),
        Portion(place=3, text="Run the tests", tokens=3, vector=near, trust=3),
    ]
    assert [portion.place for portion in pack([weak, *said], limit=5)] == [0, 1, 2]


def test_what_a_memory_says_is_not_said_again_by_its_ground_and_what_that_says_more_is() -> None:
    memory = Portion(place=0, text="The API listens on port 8410.", tokens=1, restates=frozenset({1}))
    for text, shown in (
        ("The API now listens on port 9410.", True),
        ("The API listens on port 8410 of Heroku", True),
        ("The API doesn't listen on port 8410", True),
        ("The API listens on port 8410. Not in staging.", True),
        ("Remember: the API listens on port 8410", False),
        ("Port 8410 is where the API listens, we decided", False),
    ):
        episode = Portion(place=1, text=text, tokens=1)
        assert len(pack([memory, episode], limit=9)) == 1 + shown
        assert len(pack([memory, replace(episode, place=2)], limit=9)) == 2
        assert len(pack([memory, episode], limit=9, evidence=True)) == 2
    ended = Portion(place=1, text="Port 8410 for the API, Kim approves", tokens=1, ended="Kim approves")
    assert len(pack([memory, ended], limit=9)) == 1


def test_texts_of_one_vector_are_the_same_only_where_neither_a_word_nor_their_order_differs() -> None:
    said = [
        "Run the migrations before the backfill.",
        "run the backfill before the migrations",
        "Run the migration before the backfill!",
        "Run the migrations before the export.",
    ]
    offered = [Portion(place=place, text=text, tokens=1, vector=unit([1, 0])) for place, text in enumerate(said)]
    assert [portion.place for portion in pack(offered, limit=9)] == [0, 1, 3]


def test_insights_take_a_quarter_of_an_answer_at_most() -> None:
    offered = [Portion(place=place, text=str(place), tokens=10, insight=place < 6) for place in range(12)]
    assert [portion.place for portion in pack(offered, limit=8)] == [0, 1, 6, 7, 8, 9, 10, 11]
    assert [portion.place for portion in pack(offered, limit=12, budget_tokens=50)] == [0, 6, 7, 8, 9]
    assert [portion.place for portion in pack(offered, limit=12, budget_tokens=30)] == [6, 7, 8]
    assert [portion.place for portion in pack(offered, limit=2)] == [0, 6]


def test_a_memory_goes_ahead_of_the_episodes_that_ground_it() -> None:
    assert memories_first([5, 1, 9, 7], {7: [9, 1], 5: [9]}) == [5, 7, 1, 9]
    assert memories_first([5, 1], {7: [1], 5: [8]}) == [5, 1]
