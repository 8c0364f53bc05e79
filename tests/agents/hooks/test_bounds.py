"""What is told of a task is cut to size, and a secret in it is never cut in half."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from helix.agents.hooks.hook_context import bounded
from helix.text.excerpts import ends

TOLD = st.dictionaries(
    st.sampled_from(["error", "tried", "summary", "blocked_reason", "verify", "utilized"]),
    st.text(max_size=50).map(lambda text: text * 900) | st.lists(st.text(max_size=40).map(lambda word: word * 20)),
)


@given(TOLD)
def test_whatever_is_told_is_small_enough_to_be_kept(told: dict[str, object]) -> None:
    kept = bounded(told)
    assert set(kept) == set(told)
    assert len(json.dumps(kept, ensure_ascii=False)) <= 16_384


def test_what_is_short_stays_as_it_is() -> None:
    told = {"error": "x" * 3_000, "seq": 1, "utilized": ["a", "b"]}
    assert bounded(told) == told
    assert bounded({}) == {}


def test_a_secret_at_the_cut_is_taken_out_whole() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for before in range(440, 500, 7):
        text = "w " * (before // 2) + secret + " x" * 2_000
        assert "ghp_a" not in ends(text, 1_000)


def test_a_text_that_ends_in_nothing_but_space_keeps_its_beginning() -> None:
    """An output could else hide by such an end that anything failed."""
    assert ends("It failed here" + " " * 60_000, 20_000).startswith("It failed")
