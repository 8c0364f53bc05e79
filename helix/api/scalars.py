"""Scalars of the GraphQL schema: moments, whole numbers beyond 32 bits, and free JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from enum import Enum
from typing import Any, NewType

import strawberry
from graphql import GraphQLError
from strawberry.scalars import JSON
from strawberry.types.scalar import ScalarDefinition

Long = NewType("Long", int)

_LARGEST_EXACT = 2**53


def moment(value: object) -> datetime:
    """Parse a GraphQL moment: the UTC moment of an ISO 8601 text; a date is its first, no offset means UTC."""
    if not isinstance(value, str):
        raise GraphQLError(f"a DateTime is a text such as 2025-01-31T09:30:00Z, not {value!r}")
    try:
        parsed = datetime.fromisoformat(value)
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise GraphQLError(f"{value!r} is not an ISO 8601 date or time, such as 2025-01-31T09:30:00Z") from error


def plain(value: Any) -> Any:
    """Return a value as GraphQL's JSON can carry it: moments as ISO 8601, bytes as base64, infinities as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    return str(value)


def _long(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST_EXACT:
        raise GraphQLError(f"a Long is a whole number of at most 2^53, not {value!r}")
    return value


SCALARS: Mapping[object, ScalarDefinition] = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="A moment as ISO 8601 text, always with its offset when Helix writes it. Without one UTC is meant.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time.html",
        serialize=datetime.isoformat,
        parse_value=moment,
    ),
    Long: strawberry.scalar(
        name="Long",
        description="A whole number that may be larger than an Int, such as a count of bytes.",
        serialize=_long,
        parse_value=_long,
    ),
    JSON: strawberry.scalar(
        name="JSON",
        description="Any JSON value, given and taken as it is: what others shape, such as attributes, the tasks of a "
        "client's own list and the rows of a Cypher statement, and what differs by kind, such as what a job came to.",
        specified_by_url="https://ecma-international.org/publications-and-standards/standards/ecma-404/",
        serialize=plain,
        parse_value=lambda value: value,
    ),
}
