"""What is made of a model's answers: what holds is taken, what does not is None, and the caller goes on without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from helix.memory.contradiction.detect import Contradiction, Ground, Statement
from helix.memory.extraction.llm_extract import EXTRACTION
from helix.memory.llm.ask import (
    CONTRADICTION,
    IMPORTANCE,
    REFLECTION,
    SUMMARY,
    InsightAnswer,
    importances,
    insights,
    opposed,
    summary,
)
from helix.model.provenance import Trust
from helix.providers.fakes import ScriptedModel
from helix.providers.llm import Absence, ModelQuestion

A = Statement(trigger="which port Redis listens on", resolution="Redis listens on 6380")
B = Statement(trigger="which port Redis listens on", resolution="Redis listens on 6379")
NOTES = (
    "The deploy failed because Redis was not running.",
    "The nightly build failed: Redis was down again.",
    "Ana prefers tea.",
)


def says(value: Mapping[str, Any] | Absence) -> ScriptedModel:
    """Return a model that gives one answer to everything."""
    return ScriptedModel(lambda question, text: value)


def test_a_contradiction_is_taken_with_the_words_that_stand_against_each_other() -> None:
    model = says({"verdict": "contradict", "left": "listens on 6380", "right": "redis listens  on 6379"})
    assert opposed(model, [(A, B)], [Trust.WEB]) == [
        Contradiction(ground=Ground.MODEL, left="listens on 6380", right="redis listens on 6379", sure=False)
    ]
    assert json.loads(model.asked[0][1]) == {"a": A.text, "b": B.text}
    assert opposed(says({"verdict": "compatible", "left": "", "right": ""}), [(A, B), (B, A)], [Trust.WEB] * 2) == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"verdict": "contradict", "left": "listens on 9999", "right": "listens on 6379"},
        {"verdict": "contradict", "left": "", "right": ""},
        {"verdict": "compatible", "left": "listens on 6380", "right": "listens on 6379"},
        {"verdict": "maybe", "left": "", "right": ""},
        {"verdict": "compatible"},
        Absence.TIMEOUT,
    ],
)
def test_a_judgement_that_does_not_hold_is_none(value: Mapping[str, Any] | Absence) -> None:
    assert opposed(says(value), [(A, B)], [Trust.WEB]) == [None]


def test_importance_is_a_whole_number_from_1_to_10_or_none() -> None:
    ratings = {"one": 1, "ten": 10, "zero": 0, "eleven": 11, "half": 5.5, "word": "7", "true": True}
    model = ScriptedModel(lambda question, text: {"importance": ratings[text]})
    assert importances(model, list(ratings), [Trust.WEB] * len(ratings)) == [1.0, 10.0, None, None, None, None, None]


def insight(text: str, notes: list[Any], question: str = "Why does Redis matter?") -> dict[str, Any]:
    return {"question": question, "insight": text, "notes": notes}


def test_an_insight_cites_the_texts_it_follows_from() -> None:
    model = says({"insights": [insight("Builds and deploys failed when Redis was down", [2, 1])]})
    assert insights(model, NOTES) == (
        InsightAnswer(
            question="Why does Redis matter?", text="Builds and deploys failed when Redis was down", cites=(0, 1)
        ),
    )
    assert model.asked[0][1].splitlines()[2] == "3. Ana prefers tea."


@pytest.mark.parametrize(
    "wrong",
    [
        insight("Redis was down", [1, 4]),
        insight("Redis was down", [0, 1]),
        insight("Redis was down", [-1, 1]),
        insight("Redis was down", [1, 1]),
        insight("Redis was down", [1]),
        insight("Redis was down", []),
        insight("Redis was down", ["e1", "e2"]),
        insight("Redis was down 3 times", [1, 2]),
        insight("Postgres and Redis were down", [1, 2]),
        insight("People like warm drinks in the morning", [1, 3]),
        insight("Ana prefers tea", [1, 2]),
        insight("Redis was down", [1, 2], "Why does Postgres stop?"),
        insight("Redis was down", [1, 2], " "),
    ],
)
def test_an_insight_with_wrong_citations_or_words_of_its_own_is_dropped(wrong: dict[str, Any]) -> None:
    assert insights(says({"insights": [wrong]}), NOTES) is None


def test_a_good_insight_stays_beside_a_bad_one() -> None:
    found = insights(says({"insights": [insight("Redis was down", [1, 9]), insight("Redis was down", [1, 2])]}), NOTES)
    assert found is not None
    assert [one.cites for one in found] == [(0, 1)]


def test_what_a_model_says_is_cleaned_before_it_is_kept() -> None:
    found = insights(says({"insights": [insight("Redis \x00was\n down", [1.0, 2])]}), NOTES)
    assert found is not None
    assert found[0].text == "Redis was down"


def test_without_texts_or_an_answer_there_are_no_insights() -> None:
    model = says(Absence.REFUSED)
    assert insights(model, []) is None
    assert not model.asked
    assert insights(model, NOTES) is None


def test_a_summary_says_nothing_of_its_own_and_is_shorter() -> None:
    texts = list(NOTES)
    assert summary(says({"lines": ["Redis was down:", "deploy and nightly build failed."]}), texts) == (
        "Redis was down:",
        "deploy and nightly build failed.",
    )
    for line in ("Redis was down 4 times.", "Redis and Kafka were down.", "All went well with the release train."):
        assert summary(says({"lines": ["Redis was down.", line]}), texts) is None
    assert summary(says({"lines": texts * 2}), texts) is None
    assert summary(says({"lines": ["", " "]}), texts) is None
    assert summary(says(Absence.BUDGET), texts) is None


@pytest.mark.parametrize(
    "question", [IMPORTANCE, CONTRADICTION, REFLECTION, SUMMARY, EXTRACTION], ids=lambda each: each.task
)
def test_schemas_are_strict_in_the_way_structured_output_wants(question: ModelQuestion) -> None:
    def objects(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
        found = [schema] if schema["type"] == "object" else []
        return [*found, *(each for part in inner for each in objects(part))]

    for each in objects(question.schema):
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])
