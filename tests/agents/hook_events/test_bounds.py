"""What is told of a task is cut to size, and a secret in it is never cut in half."""

from __future__ import annotations

import json
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from helix.agents.hook_events.hook_context import bounded
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


def test_a_value_is_taken_out_though_the_cut_is_between_it_and_its_name() -> None:
    """Where most of an end is secrets, nearly all that was read of it has room, up to where reading began."""
    digits = "".join(sha256(bytes([number])).hexdigest() for number in range(9))
    token = f"eyJhbGciOiJIUzI1NiJ9.eyJ{digits[43:]}.{digits[:43]}"
    secret = "Kr4ken-Bay-22"
    end = f"{secret}\n  token: {token}" + f"\n- password: Wolf7-Tor-31\n  token: {token}" * 40
    for most, read in ((20_000, 18_189), (3_000, 9_689)):
        for name in range(len("password: ") + 1):
            text = "x " * 9_000 + f"\n- password: {end[: read - name]}"
            assert secret not in ends(text, most)
            assert "token: [REDACTED:jwt]" in ends(text, most)


def test_a_text_that_ends_in_nothing_but_space_keeps_its_beginning() -> None:
    """An output could else hide by such an end that anything failed."""
    assert ends("It failed here" + " " * 60_000, 20_000).startswith("It failed")
