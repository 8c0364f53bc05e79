"""The schema: queries, mutations and subscriptions put together, with the limits every operation runs under."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.tools import create_type
from strawberry.types.enum import StrawberryEnumDefinition
from strawberry.types.execution import ExecutionContext

from helix.api import controls, subscriptions
from helix.api.execution import Executor, mark_shown
from helix.api.fields import control, field_of, subscription
from helix.api.graphql_errors import coded
from helix.api.limits import DocumentLimits
from helix.api.resolver_context import PerOperation
from helix.api.scalars import SCALARS
from helix.api.types import Views
from helix.api.walks import EXTRAS
from helix.operations import OPERATIONS

_UNKNOWN_WORD = re.compile(r"does not exist in '(\w+)' enum")


class HelixSchema(strawberry.Schema):
    """A schema whose errors all carry a code."""

    def __init__(self, **named: Any) -> None:
        super().__init__(execution_context_class=Executor, **named)
        mark_shown(self._schema)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Code, log and mask errors in place: strawberry passes every list through here before it is answered."""
        errors[:] = [coded(error, self._known_words(error.message)) for error in errors]

    def _known_words(self, message: str) -> str | None:
        """Return the words of the enum that graphql-core's message says a word is missing from."""
        found = _UNKNOWN_WORD.search(message)
        enum = self.get_type_by_name(found[1]) if found is not None else None
        return (
            f"one of: {', '.join(value.name for value in enum.values)}"
            if isinstance(enum, StrawberryEnumDefinition)
            else None
        )


@cache
def build_schema() -> HelixSchema:
    """Return the schema, one for all apps of a process: building it takes half a second."""
    views = Views(EXTRAS)
    queries, mutations = (
        [field_of(one, views) for one in OPERATIONS.values() if one.writes is writes] for writes in (False, True)
    )
    return HelixSchema(
        query=create_type(
            "Query",
            queries,
            description="What can be asked of Helix. An argument that is left out or null stands for its default.",
        ),
        mutation=create_type(
            "Mutation",
            mutations + [control(function, views) for function in controls.ALL],
            description="What can be done to a store. The answer comes when the change is durable.",
        ),
        subscription=create_type(
            "Subscription",
            [subscription(function, views) for function in subscriptions.ALL],
            description="What changes, as it changes: over WebSocket (graphql-transport-ws) or server-sent events.",
        ),
        types=views.nodes(),
        extensions=[PerOperation, DocumentLimits],
        config=StrawberryConfig(scalar_map=SCALARS),
    )
