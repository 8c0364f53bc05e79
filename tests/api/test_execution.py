"""Showing attributes directly answers and fails as graphql-core's whole way does."""

from __future__ import annotations

from typing import Any

import pytest
import strawberry
from graphql import GraphQLError

from helix.api.schema import HelixSchema


@strawberry.type
class Inner:
    word: str | None
    number: int


@strawberry.type
class Query:
    word: str | None
    number: int
    listed: list[int]
    inner: Inner | None

    @strawberry.field
    def asked(self, by: int = 2) -> int:
        return self.number * by


DOCUMENT = "{ __typename word number listed asked(by: 3) inner { __typename word number } }"


def outcome(schema: strawberry.Schema, root: object) -> tuple[Any, list[tuple[str, Any]]]:
    result = schema.execute_sync(DOCUMENT, root_value=root)
    errors: list[GraphQLError] = result.errors or []
    return result.data, sorted((str(error.path), error.message) for error in errors)


@pytest.mark.parametrize(
    "root",
    [
        Query(word="a", number=1, listed=[1, 2], inner=Inner(word=None, number=2)),
        Query(word=None, number=1, listed=[], inner=None),
        Query(word="a", number=1, listed=[1], inner=Inner(word="b", number=2**40)),
        Query(word="a", number=1, listed=[1], inner=Inner(word={}, number=1)),  # type: ignore[arg-type]
        Query(word="a", number=1, listed=[1], inner=Inner(word="b", number=None)),  # type: ignore[arg-type]
        Query(word="a", number=None, listed=[1], inner=None),  # type: ignore[arg-type]
        Query(word=ValueError("no"), number=1, listed=[1], inner=None),  # type: ignore[arg-type]
    ],
    ids=["plain", "nulls", "too_large", "no_text", "missing", "missing_at_the_root", "an_error"],
)
def test_fields_come_out_as_from_the_schema_it_extends(root: Query) -> None:
    told, usual = outcome(HelixSchema(query=Query), root), outcome(strawberry.Schema(query=Query), root)
    assert told[0] == usual[0]
    if not any("internal error" in message for _, message in told[1]):
        assert told[1] == usual[1]
    assert [path for path, _ in told[1]] == [path for path, _ in usual[1]]
