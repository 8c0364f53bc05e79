"""Procedures: lists of steps become one memory with ordered steps, by recurrence or because somebody settled it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from saying import PROJECT, job, learned, say

from helix.lifecycle.knowledge.consolidation import consolidate
from helix.lifecycle.knowledge.steps import procedure
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
