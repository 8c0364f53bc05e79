"""Extraction by rules: in the episode's own words, bounded, and of each episode by itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saying import VENV, episode

from helix.memory.extraction.extract import MOST_CANDIDATES, RuleExtractor
from helix.model.memory import Kind


def test_a_failure_takes_its_repair_from_the_sentences_behind_it() -> None:
    text = "The build crashed with a SegmentationFaultError in graph.cpp. Nothing helped. The fix was to pin kuzu."

    (found,) = RuleExtractor().extract([episode(text)]).candidates

    assert found.kind is Kind.FAILURE and found.explicit
    assert found.trigger.startswith("The build crashed") and found.resolution.startswith("The fix was to pin")


@pytest.mark.parametrize(
    "text",
    [
        "HardFault in radio_tx: stack overflow of the radio task. Fixed by raising its stack to 2048.",
        "Again load_orders: KeyError: customer_id. Fixed by rerunning once the upstream export had finished.",
        "load_orders stopped with KeyError on customer_id. A rerun after the export finished fixed it.",
    ],
)
def test_an_error_that_came_up_is_a_failure_whatever_words_tell_of_it(text: str) -> None:
    (found,) = RuleExtractor().extract([episode(text, role="assistant", agent="claude")]).candidates

    assert found.kind is Kind.FAILURE and found.explicit and found.resolution == text.split(". ", 1)[1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to return HTTP 404 for missing items.", Kind.DECISION),
        ("The endpoint returns HTTP 404 for unknown ids.", Kind.FACT),
        ("Always raise ValueError for bad ids.", Kind.CONVENTION),
    ],
)
def test_what_is_to_be_done_about_an_error_is_no_failure(text: str, kind: Kind) -> None:
    assert [found.kind for found in RuleExtractor().extract([episode(text)]).candidates] == [kind]


def test_a_numbered_list_of_what_was_done_is_an_approach_with_steps_in_order() -> None:
    text = "To release:\n1. run `make test`\n2. edit CHANGELOG.md\n3. run `git tag v1`"

    (found,) = RuleExtractor().extract([episode(text)]).candidates

    assert found.kind is Kind.PATTERN and not found.explicit
    assert found.steps == ("run `make test`", "edit CHANGELOG.md", "run `git tag v1`")


RELEASE = ("run the test suite", "bump the version in pyproject.toml", "tag the commit", "push the tag")


@pytest.mark.parametrize(
    "text",
    [
        "How we release the service:\n1. {}\n2. {}\n3. {}\n4. {}",
        "To release the service:\n- {}\n- {}\n- {}\n- {}",
        "## Release\n\n1. {}\n2. {}\n3. {}\n4. {}\n",
        "How we release the service: 1. {}, 2. {}, 3. {}, 4. {}.",
        "Steps to release: 1) {} 2) {} 3) {} and 4) {}.",
    ],
)
def test_a_list_of_things_to_do_behind_a_lead_is_one_approach_and_none_of_its_steps_a_rule(text: str) -> None:
    (found,) = RuleExtractor().extract([episode(text.format(*RELEASE))]).candidates

    assert found.kind is Kind.PATTERN and found.steps == RELEASE and not found.explicit


@pytest.mark.parametrize("between", ["\n", " "])
def test_an_approach_that_is_said_to_be_kept_to_is_settled_and_no_convention_of_its_own(between: str) -> None:
    steps = between.join(f"{number}. {step}" for number, step in enumerate(RELEASE, 1))
    text = f"How we release the service:{between}{steps}.{between}Always release this way."

    (found,) = RuleExtractor().extract([episode(text)]).candidates
    (of_a_tool,) = RuleExtractor().extract([episode(text, role="tool")]).candidates

    assert found.kind is Kind.PATTERN and found.explicit and found.steps[:3] == RELEASE[:3]
    assert found.steps[3].rstrip(".") == RELEASE[3] and not of_a_tool.explicit


@pytest.mark.parametrize(
    "text",
    [
        "Changes in this commit:\n- add a test\n- remove the old parser\n- fix the leak in the cache",
        "Our rules:\n1. Always squash commits.\n2. Never force push to main.\n3. Avoid long functions.",
        "What we saw in Rome:\n1. the Forum\n2. the Vatican\n3. an old bridge",
        "In 2019 we had 1. a dog 2. a cat 3. a bird at home.",
    ],
)
def test_lists_of_changes_rules_and_things_are_no_approach(text: str) -> None:
    assert all(one.kind is not Kind.PATTERN for one in RuleExtractor().extract([episode(text)]).candidates)


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
        assert one.steps or "".join(one.trigger.split()).rstrip("…").casefold() in plain.casefold()
