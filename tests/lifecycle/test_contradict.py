"""Contradictions are told from words, precisely enough on labelled pairs to be worth a person's look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.lifecycle.truth.contradict import Ground, Statement, by_words, contradiction


def ground(left: str, right: str) -> Ground | None:
    """The trigger and the resolution of a statement are parted by a bar."""
    found = contradiction(
        *(Statement(trigger=t, resolution=r) for t, _, r in (s.partition("|") for s in (left, right)))
    )
    return None if found is None else found.ground


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("use tabs in makefiles", "never use tabs in makefiles", Ground.NEGATION),
        ("the cache survives a restart", "the cache doesn't survive a restart", Ground.NEGATION),
        ("telemetry|enabled by default", "telemetry|disabled by default", Ground.OPPOSITE),
        ("indent python with tabs", "indent python with spaces", Ground.OPPOSITE),
        ("strict mode is on in ci", "strict mode is off in ci", Ground.OPPOSITE),
        ("the api listens on port 8080", "the api listens on port 9090", Ground.NUMBER),
        ("needs kuzu 0.11.3", "needs kuzu 0.12.0", Ground.NUMBER),
        ("database pool size|keep it at 10", "database pool size|keep it at 20", Ground.NUMBER),
        ("production database|is postgres", "production database|is mysql", Ground.VALUE),
        ("the default branch is called main", "the default branch is called trunk", Ground.VALUE),
    ],
)
def test_what_cannot_both_hold_is_found_with_its_ground(left: str, right: str, expected: Ground) -> None:
    assert ground(left, right) is expected
    assert ground(right, left) is expected


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("run the tests before a commit", "run the linter before a commit"),
        ("never use tabs", "use spaces"),
        ("issue 12 is about logging", "issue 13 is about logging"),
        ("port of host 1|it listens on 8080", "port of host 2|it listens on 9090"),
        ("the upload job fails on Linux with a timeout", "the upload job fails on Windows with a timeout"),
        ("the api listens on port 8080", "the api listens on port 8080 and 9090"),
        ("the build takes ten minutes", "nobody may push to main without a review"),
        ("use ruff", "use ruff"),
        ("component 5 of billing takes event 35", "component 6 of billing takes event 42"),
        ("customer number 12 pays by card", "customer number 13 pays by card"),
    ],
)
def test_what_may_both_hold_is_no_contradiction(left: str, right: str) -> None:
    assert ground(left, right) is None


WORDS = ("use", "never", "tabs", "spaces", "port", "80", "90", "is", "on", "off", "the", "not", "a", "without", "with")
words = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@given(words, words)
def test_a_contradiction_is_one_from_both_sides_and_none_with_oneself(left: str, right: str) -> None:
    assert ground(left, right) is ground(right, left)
    assert ground(left, left) is None


def test_on_labelled_pairs_nine_in_ten_flags_are_right_and_hardly_any_falls_on_an_entailment(
    evaluation_data: Path,
) -> None:
    rows = [json.loads(line) for line in (evaluation_data / "sick" / "pairs.jsonl").read_text("utf-8").splitlines()]
    found = by_words([(Statement(trigger=row["a"]), Statement(trigger=row["b"])) for row in rows])
    flagged = [row["label"] for row, one in zip(rows, found, strict=True) if one is not None]
    assert flagged.count("contradiction") / len(flagged) >= 0.9
    assert flagged.count("contradiction") / sum(row["label"] == "contradiction" for row in rows) >= 0.7
    assert flagged.count("entailment") / len(flagged) <= 0.01
