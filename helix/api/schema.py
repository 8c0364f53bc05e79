"""The schema: queries, mutations and subscriptions put together, with the limits every operation runs under.

The fields that merely show an attribute are completed directly (`Executor`); all others go graphql-core's whole way. An
answer of ten items has some 450 fields, nearly all of them such. What graphql-core does for each of them because a
resolver, a list or an object may need it (resolve info, wrappers, values to await) took a third of a request's time
outside the service.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import strawberry
from graphql import GraphQLError, GraphQLObjectType, GraphQLSchema, Undefined, is_leaf_type, is_non_null_type
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.tools import create_type
from strawberry.types.enum import StrawberryEnumDefinition
from strawberry.types.execution import ExecutionContext

from helix.api import controls, subscriptions
from helix.api.api_errors import coded
from helix.api.fields import EXTRAS, control, field_of, subscription
from helix.api.limits import DocumentLimits
from helix.api.resolver_context import PerOperation
from helix.api.scalars import SCALARS
from helix.api.types import Views
from helix.operations import OPERATIONS

_UNKNOWN_WORD = re.compile(r"does not exist in '(\w+)' enum")


class HelixSchema(strawberry.Schema):
    """A schema whose errors all carry a code."""

    def __init__(self, **named: Any) -> None:
        super().__init__(execution_context_class=Executor, **named)
        mark_shown(self._schema)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Code, log and mask GraphQL errors in place: strawberry passes every list through here before the answer."""
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
    """Return the GraphQL schema, one for all apps of a process: building it takes half a second."""
    views = Views(EXTRAS)
    queries, mutations = (
        [field_of(one, views) for one in OPERATIONS.values() if one.writes is writes] for writes in (False, True)
    )
    return HelixSchema(
        query=create_type(
            "Query",
            queries,
            description="What can be asked of Helix. An argument that is omitted or null stands for its default.",
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


_SHOWN = "helix-shown"
"""Key among a field's extensions."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A field that shows an attribute of its source as a scalar or enum."""

    attribute: str
    written: Callable[[Any], Any]
    required: bool


def mark_shown(schema: GraphQLSchema) -> None:
    """Mark each field of the GraphQL schema that has no resolver and a scalar or enum for a type."""
    for named in schema.type_map.values():
        if not isinstance(named, GraphQLObjectType):
            continue
        for field in named.fields.values():
            definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
            required = is_non_null_type(field.type)
            leaf = field.type.of_type if required else field.type
            if definition is not None and definition.is_basic_field and not field.args and is_leaf_type(leaf):
                field.extensions[_SHOWN] = _Shown(definition.python_name, leaf.coerce_output_value, required)


@dataclass(frozen=True, slots=True)
class _Selected:
    """What is selected of an object: its fields that are merely shown, by their names in the answer, and the others."""

    names: tuple[str, ...]
    shown: tuple[tuple[str, _Shown], ...]
    others: dict[str, Any]

    def of(self, source: Any) -> dict[str, Any] | None:
        """Return the names with what is shown of an object, or None where that takes more than its attributes."""
        given: dict[str, Any] = dict.fromkeys(self.names)
        for name, shown in self.shown:
            try:
                value = getattr(source, shown.attribute)
                written = None if value is None else shown.written(value)
            except Exception:  # graphql-core meets it again, at the field's own place
                return None
            if written is Undefined or (written is None and shown.required):
                return None
            given[name] = written
        return given


class Executor(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation of a schema whose fields are marked."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._selected: dict[tuple[GraphQLObjectType, int], tuple[Any, _Selected]] = {}

    def execute_fields(self, parent_type: GraphQLObjectType, source_value: Any, *place: Any) -> Any:
        """Return the selected fields of a GraphQL object; graphql-core has all out of the ordinary, and words errors.

        `place` is the path, the selected fields, and where in an incremental answer they stand.
        """
        path, fields, position = place
        selected = self._selection(parent_type, fields)
        given = selected.of(source_value)
        if given is None:
            return super().execute_fields(parent_type, source_value, path, fields, position)
        if not selected.others:
            return given
        others = super().execute_fields(parent_type, source_value, path, selected.others, position)
        return given | others if isinstance(others, dict) else _joined(given, others)

    def complete_iterable_value(self, item_type: Any, field_details_list: Any, *place: Any) -> Any:
        """Return a GraphQL list; one of objects of which all that is selected is merely shown needs no more than that.

        `place` is the resolver's info, the path, the items, and where in an incremental answer they stand.
        """
        one, (info, _, items, _) = item_type.of_type if is_non_null_type(item_type) else item_type, place
        if isinstance(one, GraphQLObjectType) and one.is_type_of is not None and isinstance(items, list | tuple):
            fields, deferred, _ = self.collect_subfields(one, field_details_list)
            selected = self._selection(one, fields)
            if not deferred and not selected.others and all(one.is_type_of(item, info) is True for item in items):
                shown = [selected.of(item) for item in items]
                if None not in shown:
                    return shown
        return super().complete_iterable_value(item_type, field_details_list, *place)

    def _selection(self, parent_type: GraphQLObjectType, fields: dict[str, Any]) -> _Selected:
        """Return what is selected, read once for all objects of a list; the fields are kept, so that their id stays."""
        key = (parent_type, id(fields))
        known = self._selected.get(key)
        if known is None:
            shown: list[tuple[str, _Shown]] = []
            others: dict[str, Any] = {}
            for name, details in fields.items():
                field = parent_type.fields.get(details[0].node.name.value)
                mark: _Shown | None = field.extensions.get(_SHOWN) if field is not None else None
                if mark is not None:
                    shown.append((name, mark))
                else:
                    others[name] = details
            known = self._selected[key] = fields, _Selected(tuple(fields), tuple(shown), others)
        return known[1]


async def _joined(given: dict[str, Any], others: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    return given | await others
