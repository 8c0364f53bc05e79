"""Extraction by rules: in the episode's own words, bounded, and of each episode by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from saying import VENV, episode

from helix.lifecycle.knowledge.extract import MOST_CANDIDATES, RuleExtractor
from helix.model.memory import Kind


def test_a_failure_takes_its_repair_from_the_sentences_behind_it() -> None:
    text = "The build crashed with a SegmentationFaultError in graph.cpp. Nothing helped. The fix was to pin kuzu."

    (found,) = RuleExtractor().extract([episode(text)]).candidates

    assert found.kind is Kind.FAILURE and found.explicit
    assert found.trigger.startswith("The build crashed") and found.resolution.startswith("The fix was to pin")


def test_a_numbered_list_of_what_was_done_is_an_approach_with_steps_in_order() -> None:
    text = "To release:\n1. run `make test`\n2. edit CHANGELOG.md\n3. run `git tag v1`"

    (found,) = RuleExtractor().extract([episode(text)]).candidates

    assert found.kind is Kind.PATTERN and not found.explicit
    assert found.steps == ("run `make test`", "edit CHANGELOG.md", "run `git tag v1`")


def test_who_speaks_of_themselves_in_a_conversation_is_named() -> None:
    (found,) = (
        RuleExtractor()
        .extract([episode("I prefer tea over coffee in the morning.", role="", agent="Ada", session="s")])
        .candidates
    )

    assert found.trigger == "Ada: I prefer tea over coffee in the morning."


def test_episodes_that_hold_nothing_are_told() -> None:
    told = RuleExtractor().extract([episode("Hello there!", 1), episode(VENV[7], 2)])

    assert told.held_back == ("episode-1",)
    assert [one.episode for one in told.candidates] == ["episode-2"]


@given(st.lists(st.sampled_from([*VENV, "Hi!", "\x00", "1. a\n2. b\n3. c"]) | st.text(max_size=200), max_size=12))
def test_any_text_gives_few_candidates_in_its_own_words_and_the_same_whatever_stands_beside_it(
    texts: list[str],
) -> None:
    rules = RuleExtractor()
    content = "\n\n".join(texts) or "."

    alone = rules.extract([episode(content)]).candidates
    beside = rules.extract([episode("Always run the linter before pushing.", 1), episode(content)]).candidates

    assert len(alone) <= MOST_CANDIDATES
    assert alone == tuple(one for one in beside if one.episode == "episode-0")
    plain = "".join(content.split())
    for one in alone:
        assert 0.0 <= one.confidence <= 1.0
        assert one.steps or "".join(one.trigger.split()).rstrip("…") in plain
