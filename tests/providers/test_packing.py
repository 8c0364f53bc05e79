"""Several texts in one call, and its answer taken apart again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.providers.llm import Absence, ModelQuestion, fits_schema
from helix.providers.packing import MOST_TOKENS, packed, packs, schema_of, unpacked
from helix.text.tokens import estimate_tokens

SCHEMA = {"type": "object", "properties": {"verdict": {"enum": ["yes", "no"]}}, "required": ["verdict"]}
QUESTION = ModelQuestion(task="judge", instructions="Answer.", schema=SCHEMA)
YES, NO = {"verdict": "yes"}, {"verdict": "no"}


def answer(*entries: object) -> str:
    return json.dumps({"answers": entries})


@given(st.lists(st.text(max_size=3_000), max_size=12), st.integers(1, 5))
def test_packs_hold_every_text_once_in_order_and_within_bounds(texts: list[str], most: int) -> None:
    found = list(packs(texts, most))
    assert [text for pack in found for text in pack] == texts
    for pack in found:
        assert 1 <= len(pack) <= most
        assert len(pack) == 1 or sum(map(estimate_tokens, pack)) <= MOST_TOKENS


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_no_text_breaks_out_of_its_item(texts: list[str]) -> None:
    assert json.loads(packed(texts)) == [{"item": place, "text": text} for place, text in enumerate(texts, 1)]


@given(st.permutations(range(5)))
def test_answers_are_matched_by_number_whatever_their_order(order: list[int]) -> None:
    given_ = [YES, NO, YES, YES, NO]
    text = answer(*({"item": place + 1, "answer": given_[place]} for place in order))
    assert unpacked(text, QUESTION, 5) == given_
    assert fits_schema(json.loads(text), schema_of(QUESTION))


def test_what_does_not_fit_costs_its_own_item_alone() -> None:
    text = answer({"item": 1, "answer": YES}, {"item": 2, "answer": {"verdict": "perhaps"}}, {"item": 3})
    assert unpacked(text, QUESTION, 4) == [YES, Absence.MISFIT, Absence.MISFIT, Absence.MISFIT]


@pytest.mark.parametrize("number", [0, 3, -1, True, 1.0, "1", None])
def test_a_number_that_was_not_asked_answers_nothing(number: object) -> None:
    assert unpacked(answer({"item": number, "answer": YES}), QUESTION, 2) == [Absence.MISFIT] * 2


def test_an_item_answered_twice_is_not_answered() -> None:
    text = answer({"item": 1, "answer": YES}, {"item": 1, "answer": NO}, {"item": 1, "answer": YES})
    assert unpacked(text, QUESTION, 1) == [Absence.MISFIT]


@pytest.mark.parametrize("fence", ["{}", " {}\n", "```json\n{}\n```", "```\n{}```"])
def test_an_answer_is_read_with_or_without_a_fence(fence: str) -> None:
    assert unpacked(fence.replace("{}", answer({"item": 1, "answer": NO})), QUESTION, 1) == [NO]


@given(st.text())
def test_no_text_breaks_the_reading_of_answers(text: str) -> None:
    assert isinstance(unpacked(text, QUESTION, 1)[0], Absence)


@pytest.mark.parametrize("text", ["null", "[]", "7", '{"answers": 7}', '{"answers": [7, null]}'])
def test_json_of_another_form_does_not_fit(text: str) -> None:
    assert unpacked(text, QUESTION, 2) == [Absence.MISFIT] * 2


@pytest.mark.parametrize("text", ['{"answers": NaN}', '{"answers": -Infinity}', '{"answers": "\\ud800"}'])
def test_what_cannot_be_kept_is_broken(text: str) -> None:
    assert unpacked(text, QUESTION, 1) == [Absence.BROKEN]


def test_deep_nesting_is_broken_and_not_an_error() -> None:
    assert unpacked("[" * 100_000, QUESTION, 1) == [Absence.BROKEN]
