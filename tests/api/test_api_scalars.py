"""Scalars: moments in, JSON out."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from graphql import GraphQLError
from hypothesis import given
from hypothesis import strategies as st

from helix.api.scalars import moment, plain

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.datetimes()
    | st.dates()
    | st.timedeltas()
    | st.uuids()
    | st.decimals(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner),
    max_leaves=10,
)


@given(VALUES)
def test_whatever_a_cypher_query_returns_becomes_json(value: object) -> None:
    json.dumps(plain(value), allow_nan=False)


def test_json_keeps_what_it_can_carry() -> None:
    assert plain({"a": [1, 2.5, None, True, "x"]}) == {"a": [1, 2.5, None, True, "x"]}
    assert plain(math.nan) is None
    assert plain(-math.inf) is None
    assert plain(b"\x00\xff") == "AP8="
    assert plain(date(2025, 1, 31)) == "2025-01-31"
    assert plain(timedelta(minutes=1)) == 60
    assert plain(UUID(int=1)) == "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-01-31", datetime(2025, 1, 31, tzinfo=UTC)),
        ("2025-01-31T09:30:00", datetime(2025, 1, 31, 9, 30, tzinfo=UTC)),
        ("2025-01-31T09:30:00Z", datetime(2025, 1, 31, 9, 30, tzinfo=UTC)),
        ("2025-01-31T09:30:00+02:00", datetime(2025, 1, 31, 7, 30, tzinfo=UTC)),
    ],
)
def test_a_moment_is_aware_and_in_utc(text: str, expected: datetime) -> None:
    assert moment(text) == expected
    assert moment(text).tzinfo is UTC


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_moment_that_is_written_is_read_again(at: datetime) -> None:
    assert moment(at.isoformat()) == at


@pytest.mark.parametrize("value", ["", "yesterday", "2025-13-01", 7, None, [], "0001-01-01T00:00:00+14:00"])
def test_what_is_no_moment_is_refused(value: object) -> None:
    with pytest.raises(GraphQLError):
        moment(value)
