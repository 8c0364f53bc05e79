"""JSON lines: each line an episode or a memory, or a problem that names it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.ingest.draft import Slice
from helix.ingest.jsonl import read_lines
from helix.model.memory import Kind
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        *("id", "text", "content", "ts", "timestamp", "session", "speaker", "role", "agent", "scope", "meta", "files"),
        *("kind", "trigger", "resolution", "name", "confidence", "importance", "valid_from", "valid_to"),
        *("attributes", "trust"),
    ]
)


def one(data: object, **options: object) -> Slice:
    (item,) = read_lines([json.dumps(data)], **options)  # type: ignore[arg-type]
    assert isinstance(item, Slice), item
    return item


def problem(line: str, **options: object) -> str:
    (item,) = read_lines([line], **options)  # type: ignore[arg-type]
    assert isinstance(item, IngestProblem), item
    assert item.where == "line 1"
    return item.why


def test_an_episode_has_what_its_line_says() -> None:
    item = one(
        {
            "id": "conv-1:D1:3",
            "text": "Hey Mel!",
            "ts": "2023-05-08T13:56:00",
            "session": "conv-1:session_1",
            "speaker": "Caroline",
            "meta": {"scope": "conv-1", "files": ["lib/a.c", "lib/a.c", 7], "label": "secret"},
        },
        source="locomo",
    )
    episode = item.episode
    assert episode.source == "jsonl:locomo:conv-1:D1:3"
    assert episode.occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert (episode.content, episode.session, episode.scope) == ("Hey Mel!", "conv-1:session_1", "conv-1")
    assert (episode.agent, episode.role, episode.files) == ("Caroline", "", ("lib/a.c",))
    assert episode.trust is Trust.TOOL_OUTPUT
    assert item.memories == ()
    assert "secret" not in repr(item)


def test_a_chat_role_is_a_role_and_no_name() -> None:
    episode = one({"content": "Hello", "speaker": "user"}).episode
    assert (episode.agent, episode.role) == ("", "user")


def test_a_memory_is_grounded_in_an_episode_of_its_own() -> None:
    item = one(
        {
            "kind": "Convention",
            "trigger": "naming tests",
            "resolution": "Name them as claims.",
            "confidence": 0.9,
            "importance": 7,
            "valid_from": "2024-01-01",
            "attributes": {"team": "a\u0000b"},
        }
    )
    (memory,) = item.memories
    assert (memory.kind, memory.confidence, memory.importance) == (Kind.CONVENTION, 0.9, 7.0)
    assert item.episode.source == memory.source
    assert item.episode.content == "naming tests\nName them as claims."
    assert memory.valid_from == datetime(2024, 1, 1, tzinfo=UTC)
    assert memory.attributes == {"team": "ab"}


def test_without_an_id_the_same_line_has_the_same_source_and_another_has_another() -> None:
    sources = [one({"text": text, "ts": ts}).episode.source for text, ts in (("a", 1), ("a", 1), ("b", 1), ("a", 2))]
    assert sources[0] == sources[1]
    assert len(set(sources)) == 3


def test_a_broken_line_is_named_and_the_rest_goes_in() -> None:
    lines = ['{"text": "one"}\n', "\n", '{"text": "two"', '{"text": "three"}']
    found = list(read_lines(lines, first_line=10))
    assert [item.position if isinstance(item, Slice) else item.where for item in found] == [10, "line 12", 13]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1]", "not a JSON object"),
        ("{'text': 1}", "not JSON"),
        ('{"text": NaN}', "NaN"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": ' + "9" * 5_000 + "}", "not JSON that can be read"),
        ("{}", "no 'text' and no 'content'"),
        ('{"text": ["a"]}', "'text' is not a text"),
        ('{"text": " \\u0000 "}', "'text' is empty"),
        ('{"text": "a", "ts": "yesterday"}', "'ts' is not a time: yesterday"),
        ('{"text": "a", "ts": 1e400}', "'ts' is not a time"),
        ('{"text": "a", "timestamp": true}', "'timestamp' is not a time"),
        ('{"trigger": "a"}', "no 'resolution'"),
        ('{"trigger": "a", "resolution": "b", "kind": "wisdom"}', "unknown kind 'wisdom'"),
        ('{"trigger": "a", "resolution": "b", "confidence": 2}', "confidence must be between 0 and 1"),
        ('{"trigger": "a", "resolution": "b", "importance": "high"}', "'importance' is not a number"),
        (
            '{"trigger": "a", "resolution": "b", "attributes": ' + '{"a":' * 30 + "1" + "}" * 30 + "}",
            "more than 20 deep",
        ),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line: str, why: str) -> None:
    assert why in problem(line)


def test_a_text_beyond_the_limit_is_refused() -> None:
    assert "11 characters, more than 10" in problem('{"text": "12345678901"}', text_limit=10)
    assert one({"text": "1234567890"}, text_limit=10).episode.content == "1234567890"
    assert "too long" in problem("1" * 161, text_limit=10)
    astral = '{"text": "' + "\\ud83d\\ude00" * 10 + '"}'  # ten characters, twelve bytes of escapes each
    assert isinstance(next(iter(read_lines([astral], text_limit=10))), Slice)


def test_lone_surrogates_and_nul_are_cleaned() -> None:
    (item,) = read_lines(['{"text": "a\\ud800b\\u0000c", "session": "s\\udfff"}'])
    assert isinstance(item, Slice)
    assert item.episode.content == "a\ufffdbc"
    repr(item).encode("utf-8")


@pytest.mark.parametrize(
    ("ts", "year"),
    [
        ("2024-05-31T12:00:00Z", 2024),
        ("2024-05-31T12:00:00+02:00", 2024),
        (1_717_156_800, 2024),
        (1_717_156_800_000, 2024),
    ],
)
def test_times_are_read_with_zones_and_as_numbers(ts: object, year: int) -> None:
    moment = one({"text": "a", "ts": ts}).episode.occurred_at
    assert moment is not None
    assert moment.tzinfo is UTC
    assert moment.year == year


def test_a_line_cannot_claim_more_trust_than_a_tool_has() -> None:
    for claimed in ("user_asserted", "agent_inferred", "web_content", ""):
        assert one({"text": "a", "trust": claimed}).episode.trust is Trust.TOOL_OUTPUT
    assert one({"text": "a", "trust": "web"}).episode.trust is Trust.WEB


@given(st.dictionaries(KEYS, st.one_of(JSON, st.text(max_size=5))))
def test_any_object_is_a_slice_or_a_problem(data: dict[str, object]) -> None:
    (item,) = read_lines([json.dumps(data)])
    if isinstance(item, Slice):
        assert item.episode.content
        assert len(item.episode.session) <= 200
        repr(item).encode("utf-8")


@given(st.lists(st.text()))
def test_any_lines_are_slices_or_problems(lines: list[str]) -> None:
    assert len(list(read_lines(lines))) == sum(bool(line.strip()) for line in lines)
