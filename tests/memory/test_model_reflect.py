"""Insights and summaries with a model's help, and what they are without."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from helix.memory.insight.insight_text import MOST_CITED, Item, Thought
from helix.memory.insight.llm_reflect import summed_up, think_of
from helix.memory.insight.summary import summarised
from helix.model.edge import Ref
from helix.model.episode import Episode
from helix.model.provenance import Trust
from helix.providers.fakes import ScriptedModel
from helix.providers.llm import Absence
from helix.store.store import Store

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
TOLD = (
    "The deploy failed on Monday because Redis was not running on the build host, and nobody had looked.",
    "Redis was down again in the nightly build, so the deploy was put off until Wednesday morning at 9.",
)


def item(number: int) -> Item:
    return Item(
        ref=Ref.episode(f"e{number}"),
        text=TOLD[number],
        speaker="Ana",
        day="2026-03-02",
        moment=number,
        importance=5.0,
        level=0,
        trust=Trust.AGENT_INFERRED,
        entities=frozenset({"redis"}),
    )


def episodes() -> list[Episode]:
    moments = [NOW + timedelta(minutes=number) for number in range(len(TOLD))]
    return [
        Episode(id=f"e{number}", content=text, recorded_at=moment, occurred_at=moment, agent="Ana")
        for number, (text, moment) in enumerate(zip(TOLD, moments, strict=True))
    ]


def test_a_thought_cites_the_items_that_the_model_numbered(store: Store) -> None:
    said = {"question": "Why was the deploy late?", "insight": "Redis was down in build and deploy", "notes": [2, 1]}
    store.runtime.language_model = model = ScriptedModel(lambda question, text: {"insights": [said]})
    think = think_of(store.runtime.language_model)
    assert think is not None
    items = [item(0), item(1)]
    assert think(items) == [
        Thought(
            question=said["question"],  # type: ignore[arg-type]
            insight=said["insight"],  # type: ignore[arg-type]
            cites=tuple(items),
            model="model",
            trust=Trust.AGENT_INFERRED,
        )
    ]
    assert model.asked[0][1].startswith("1. 2026-03-02, Ana: The deploy failed")


def test_an_insight_that_cites_more_than_it_may_keeps_the_first_of_its_evidence(store: Store) -> None:
    said = {"question": "Why was the deploy late?", "insight": "Redis was down in build and deploy"}
    notes = list(range(1, MOST_CITED + 3))
    store.runtime.language_model = ScriptedModel(lambda question, text: {"insights": [said | {"notes": notes}]})
    think = think_of(store.runtime.language_model)
    assert think is not None
    items = [replace(item(number % 2), moment=number) for number in range(len(notes))]
    assert [thought.cites for thought in think(items) or ()] == [tuple(items[:MOST_CITED])]


def test_without_a_model_or_an_answer_the_rules_think(store: Store) -> None:
    assert think_of(store.runtime.language_model) is None
    store.runtime.language_model = ScriptedModel(lambda question, text: Absence.TIMEOUT)
    think = think_of(store.runtime.language_model)
    assert think is not None
    assert think([item(0), item(1)]) is None


def test_a_summary_is_in_the_lines_of_a_model_where_they_hold(store: Store) -> None:
    lines = ["Ana: Redis was down, the deploy failed on Monday.", "It was put off until Wednesday at 9."]
    store.runtime.language_model = ScriptedModel(lambda question, text: {"lines": lines})
    summary = summed_up(store.runtime.language_model, episodes())
    assert summary.lines == tuple(lines)
    assert summary.title == summarised(episodes()).title


@pytest.mark.parametrize(
    "line", ["Redis was down 3 times.", "Postgres was down.", "All is well with the release train."]
)
def test_a_summary_that_says_more_than_the_episodes_is_not_taken(store: Store, line: str) -> None:
    store.runtime.language_model = ScriptedModel(lambda question, text: {"lines": ["Redis was down.", line]})
    assert summed_up(store.runtime.language_model, episodes()) == summarised(episodes())
    store.runtime.language_model = None
    assert summed_up(store.runtime.language_model, episodes()) == summarised(episodes())


@pytest.mark.parametrize("other", [Trust.USER_ASSERTED, Trust.TOOL_OUTPUT])
def test_what_a_model_thinks_is_no_persons_word_and_as_weak_as_all_that_it_was_shown(other: Trust) -> None:
    """A tool's words may have it say anything of a person's, and cite these alone."""
    items = [replace(item(0), trust=Trust.USER_ASSERTED), replace(item(1), trust=Trust.USER_ASSERTED)]
    shown = [*items, replace(item(0), ref=Ref.episode("e2"), trust=other)]
    said = {"question": "Why was the deploy late?", "insight": "Redis was down in build and deploy", "notes": [1, 2]}
    think = think_of(ScriptedModel(lambda question, text: {"insights": [said]}))
    assert think is not None
    ((thought,),) = (think(shown),)
    assert thought.cites == tuple(items)
    assert thought.trust is (Trust.TOOL_OUTPUT if other is Trust.TOOL_OUTPUT else Trust.AGENT_INFERRED)
