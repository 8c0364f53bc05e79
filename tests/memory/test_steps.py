"""Procedures: lists of steps become one memory with ordered steps, by recurrence or because somebody settled it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saying import PROJECT, job, learned, say

from helix.memory.extraction.consolidation import consolidate
from helix.memory.extraction.steps import procedure
from helix.model.memory import Kind
from helix.store.store import Store

STEPS = ("run the test suite", "bump the version in pyproject.toml", "tag the commit", "push the tag")
LIST = "\n".join(f"{number}. {step}" for number, step in enumerate(STEPS, 1))
TOLD = f"How we release the service:\n{LIST}"


def test_a_procedure_told_again_and_again_is_one_pattern_with_its_steps_in_order(store: Store) -> None:
    say(store, TOLD, TOLD, TOLD, TOLD)
    consolidate(job(store, "night"), {"scope": PROJECT})
    (memory,) = learned(store)
    assert memory.kind is Kind.PATTERN and memory.trigger == "How we release the service"
    assert memory.attributes["steps"] == list(STEPS) and memory.resolution == LIST


def test_a_procedure_that_is_settled_is_learned_at_once(store: Store) -> None:
    say(store, f"{TOLD}\nAlways release this way.")
    consolidate(job(store, "night"), {"scope": PROJECT})
    (memory,) = learned(store)
    assert memory.kind is Kind.PATTERN and memory.attributes["steps"] == list(STEPS)


STEPS_OF_A_RELEASE = ["bump the version", "run the tests", "tag the commit", "push the tag"]


@pytest.mark.parametrize(
    ("told", "goal", "steps"),
    [
        (
            "Remember how to deploy:\n1. Build the image.\n2. Push it to the registry.\n3. Restart the pods.",
            "How to deploy",
            ["Build the image.", "Push it to the registry.", "Restart the pods."],
        ),
        (
            "We decided to release like this: 1) bump the version, 2) run the tests, "
            "3) tag the commit, 4) push the tag.",
            "Release like this",
            STEPS_OF_A_RELEASE,
        ),
        (
            "Remember: to release, first bump the version, then run the tests, "
            "then tag the commit, finally push the tag.",
            "To release",
            STEPS_OF_A_RELEASE,
        ),
    ],
)
def test_steps_that_somebody_asks_to_be_remembered_are_learned_at_once(
    store: Store, told: str, goal: str, steps: list[str]
) -> None:
    say(store, told)
    consolidate(job(store, "night"), {"scope": PROJECT})
    (memory,) = learned(store)
    assert (memory.kind, memory.trigger.rstrip(",")) == (Kind.PATTERN, goal) and memory.attributes["steps"] == steps


def test_what_is_told_as_a_sequence_again_and_again_is_a_procedure(store: Store) -> None:
    told = "First bump the version, then run the tests, then tag the commit, finally push the tag."
    say(store, told, told)
    consolidate(job(store, "night"), {"scope": PROJECT})
    assert not learned(store)
    say(store, told, told, first=5)
    consolidate(job(store, "morning"), {"scope": PROJECT})
    (memory,) = learned(store)
    assert memory.kind is Kind.PATTERN and memory.attributes["steps"] == STEPS_OF_A_RELEASE


@pytest.mark.parametrize(
    "text",
    [
        "First I went home, then I had lunch, finally I slept.",
        "First things first, then we talk.",
        "Changes in the release:\n- fixed the parser\n- added a flag\n- removed the cache",
        "Remember these names:\n- Anna\n- Bert\n- Carl",
    ],
)
def test_what_happened_and_what_is_listed_is_no_procedure(text: str) -> None:
    assert procedure(text) is None


def test_what_was_done_in_steps_is_one_procedure_with_how_it_is_done() -> None:
    done = procedure("Restored the db again:\n- stopped the app\n- ran pg_restore\n- started the app")
    told = procedure("Restore procedure for the database:\n- stop the app\n- run pg_restore\n- start the app")
    assert done is not None and told is not None and len(done.steps) == len(told.steps) == 3
    assert not done.settled and not told.settled


@given(
    st.lists(st.sampled_from(["1. ", "2. ", "3. ", "- ", "\n", "To do it:", "run it", "a", ". ", "\x00"]) | st.text())
)
def test_the_steps_of_any_text_are_3_to_20_pieces_of_it_in_order(parts: list[str]) -> None:
    text = "".join(parts)
    found = procedure(text)
    if found is None:
        return
    assert 3 <= len(found.steps) <= 20 and found.goal
    plain, place = "".join(text.split()), 0
    for step in found.steps:
        place = plain.index("".join(step.split()), place)
