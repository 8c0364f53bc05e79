"""Whether a text says only what stands in the texts it was made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.statement.grounding import grounded, invented

EPISODE = "The deploy failed with ECONNREFUSED because Redis listens on 6380, not 6379. We pinned redis-py to 5.0.1."


@pytest.mark.parametrize(
    "text",
    [
        "Redis listens on 6380",
        "the deploy fails: Redis listens on 6380",
        "When a deploy fails with ECONNREFUSED, Redis is listening on 6380",
        "redis-py is pinned to 5.0.1",
    ],
)
def test_what_the_words_of_an_episode_say_is_grounded(text: str) -> None:
    assert grounded(text, [EPISODE])


@pytest.mark.parametrize(
    "text",
    [
        "Redis listens on 6381",
        "redis-py is pinned to 5.0.2",
        "Redis and Postgres listen on 6380",
        "the deploy failed in config/redis.yaml",
        "restart the cluster before every migration of the schema",
        "",
        "...",
        "42",
    ],
)
def test_what_an_episode_does_not_say_is_not(text: str) -> None:
    assert not grounded(text, [EPISODE])


def test_a_denial_needs_a_denial() -> None:
    assert not grounded("never pin redis-py", ["pin redis-py"])
    assert grounded("never pin redis-py", ["Keep it simple. Do not pin redis-py."])


def test_sources_are_read_together() -> None:
    assert grounded("Ana and Ben share the Berlin office", ["Ana moved to the Berlin office", "I share it with Ben"])
    assert invented("Ana and Cy share 2 desks", ["Ana has desks"]) == {"2", "cy"}


@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_text_breaks_it_and_an_empty_source_grounds_nothing(text: str, sources: list[str]) -> None:
    grounded(text, sources)
    assert not grounded(text, [])
    assert not grounded(text, [""])
