"""Execution: completes the fields that merely show an attribute directly; all others go graphql-core's whole way.

An answer of ten items has some 450 fields, nearly all of them such. What graphql-core does for each of them because a
resolver, a list or an object may need it (resolve info, wrappers, values to await) took a third of a request's time
outside the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLError, GraphQLObjectType, GraphQLSchema, Undefined, is_leaf_type, is_non_null_type
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import GraphQLCoreConverter

_SHOWN = "helix-shown"
"""Key among a field's extensions."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A field that shows an attribute of its source as a scalar or enum."""

    attribute: str
    written: Callable[[Any], Any]
    required: bool


def mark_shown(schema: GraphQLSchema) -> None:
    """Mark every field of the schema that has no resolver of its own and a scalar or enum for a type."""
    for named in schema.type_map.values():
        if not isinstance(named, GraphQLObjectType):
            continue
        for field in named.fields.values():
            definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
            required = is_non_null_type(field.type)
            leaf = field.type.of_type if required else field.type
            if definition is not None and definition.is_basic_field and not field.args and is_leaf_type(leaf):
                field.extensions[_SHOWN] = _Shown(definition.python_name, leaf.coerce_output_value, required)


class Executor(StrawberryGraphQLCoreExecutionContext):
    """Executes one operation of a schema whose fields are marked."""

    def execute_field(self, parent_type: GraphQLObjectType, source: Any, field_details_list: Any, *place: Any) -> Any:
        """Return a field's value; whatever is out of the ordinary is left to graphql-core, which words the error."""
        field = parent_type.fields.get(field_details_list[0].node.name.value)
        shown: _Shown | None = field.extensions.get(_SHOWN) if field is not None else None
        if shown is not None:
            try:
                value = getattr(source, shown.attribute)
                written = None if value is None else shown.written(value)
            except (GraphQLError, AttributeError, TypeError, ValueError):
                written = Undefined
            if written is not Undefined and (written is not None or not shown.required):
                return written
        return super().execute_field(parent_type, source, field_details_list, *place)
