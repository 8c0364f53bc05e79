"""Limits on what one request may ask: the size of its body, and the shape of its GraphQL document."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Source,
    SourceLocation,
    parse,
    validate,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry.extensions import SchemaExtension
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from helix.api.access import AUTHORIZED
from helix.api.api_errors import described, refusal
from helix.errors import InvalidInputError
from helix.settings import Settings

BODY_BYTES = 4 << 20
"""Largest body of one request; the server's limit on one WebSocket message should be the same."""

STRANGERS_BYTES = 4 << 10
"""The same of a request that needs no token to be answered: other users of the machine may send any number of them."""

BODY_SECONDS = 30.0
"""How long a body may take to come whole."""

DOCUMENT_CHARACTERS = 256 << 10
"""Longest GraphQL document: each message about a name in it repeats the name, however long that is."""

MAX_DIRECTIVES = 30
"""Most directives in one document: each unknown one would cost an error of its own."""

MAX_COMPARED = 5_000
"""Most fields of one document, and pairs of them that have the same name in the same place. Each such pair is compared
on the one thread that answers everybody: 490 times the same field, in 6 kB, kept it for three seconds."""

MAX_ERRORS = 5
"""Most errors of one document that are told. An error in an object writes all of it out: 7 kB with a hundred of them
kept the one thread for a second, and made 900 kB of messages."""

MAX_VALUES = 20_000
"""Most values (numbers, texts, lists, objects and the names in them) in one body of JSON. What is asked of a list is
done value by value on the one thread that answers everybody: a million of them kept every hook waiting for seconds."""

_LINE_BREAK = re.compile(r"\r\n|[\n\r]")  # as GraphQL counts lines


def has_too_many_values(value: object, most: int = MAX_VALUES) -> bool:
    """Return whether an API request's JSON has more than `most` values; stops counting there."""
    waiting, count = [value], 1
    while waiting:
        one = waiting.pop()
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        count += len(inner) * (2 if isinstance(one, dict) else 1)
        if count > most:
            return True
        waiting.extend(inner)
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large a selection is with its fragments unfolded: levels of fields, aliases and directives."""

    depth: int = 0
    aliases: int = 0
    directives: int = 0


def shape_of(document: DocumentNode) -> Shape:
    """Return the shape of a GraphQL document: its deepest operation, and all aliases and directives.

    Linear in the document, whatever its fragments do: each is measured once, so a chain of fragments that spread the
    next one twice costs nothing (counting them one by one, as common limiters do, takes exponential time).
    Introspection is left out of the depth; graphql-core bounds it.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    measure = _Measure(fragments)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    shapes = [measure.selections(operation.selection_set) for operation in operations]
    return Shape(
        depth=max((shape.depth for shape in shapes), default=0),
        aliases=sum(shape.aliases for shape in shapes),
        directives=sum(shape.directives for shape in shapes) + sum(len(node.directives or ()) for node in operations),
    )


def compares_too_much(document: DocumentNode, most: int = MAX_COMPARED) -> bool:
    """Return whether a GraphQL document has more than `most` fields and pairs of the same field; stops counting there.

    Fields that stand in the same place are one however often they are asked for, by whatever fragments: what is below
    them is looked at together.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    whole = [node.selection_set for node in document.definitions if hasattr(node, "selection_set")]
    waiting: list[list[SelectionSetNode]] = [[selections] for selections in whole]
    count = 0
    while waiting:
        below: dict[str, list[SelectionSetNode]] = {}
        asked = Counter[str]()
        for field in _fields(waiting.pop(), fragments):
            name = (field.alias or field.name).value
            asked[name] += 1
            count += asked[name]
            if count > most:
                return True
            if field.selection_set is not None:
                below.setdefault(name, []).append(field.selection_set)
        waiting.extend(below.values())
    return False


def _fields(
    selections: Sequence[SelectionSetNode], fragments: Mapping[str, FragmentDefinitionNode]
) -> Iterator[FieldNode]:
    """Yield the fields that these selections of a document ask for in one place, each fragment's once."""
    waiting, seen = [*selections], set[str]()
    while waiting:
        for node in waiting.pop().selections:
            if isinstance(node, FieldNode):
                yield node
            elif isinstance(node, InlineFragmentNode):
                waiting.append(node.selection_set)
            elif isinstance(node, FragmentSpreadNode) and node.name.value not in seen:
                seen.add(node.name.value)
                if (fragment := fragments.get(node.name.value)) is not None:
                    waiting.append(fragment.selection_set)


class _Measure:
    """Measures selections, remembering what each fragment came to."""

    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments
        self._known: dict[str, Shape] = {}

    def selections(self, selection_set: SelectionSetNode | None) -> Shape:
        depth = aliases = directives = 0
        for node in selection_set.selections if selection_set is not None else ():
            if isinstance(node, FragmentSpreadNode):
                below, level = self._fragment(node.name.value), 0
            elif isinstance(node, FieldNode):
                below, level = self.selections(node.selection_set), 1
                aliases += node.alias is not None
                if node.name.value.startswith("__"):
                    below = Shape(aliases=below.aliases, directives=below.directives)
            else:
                below, level = self.selections(getattr(node, "selection_set", None)), 0
            depth = max(depth, level + below.depth)
            aliases += below.aliases
            directives += below.directives + len(node.directives or ())
        return Shape(depth=depth, aliases=aliases, directives=directives)

    def _fragment(self, name: str) -> Shape:
        if name not in self._known:
            # Stands in for itself while it is measured: validation reports a cycle, measuring must only end.
            self._known[name] = Shape()
            if (fragment := self._fragments.get(name)) is not None:
                self._known[name] = self.selections(fragment.selection_set)
        return self._known[name]


class AcceptedDocuments:
    """The documents accepted of late, by their text: clients send the same few, and validating them takes longest."""

    KEPT = 100
    LONGEST = 10_000

    def __init__(self) -> None:
        self._documents: OrderedDict[str, DocumentNode] = OrderedDict()

    def get(self, text: str | None) -> DocumentNode | None:
        """Return the parsed GraphQL document of a text that was accepted before."""
        if text is None or text not in self._documents:
            return None
        self._documents.move_to_end(text)
        return self._documents[text]

    def add(self, text: str | None, document: DocumentNode) -> None:
        """Keep an accepted GraphQL document, unless very long; the one not asked for longest makes room."""
        if text is not None and len(text) <= self.LONGEST:
            self._documents[text] = document
            if len(self._documents) > self.KEPT:
                self._documents.popitem(last=False)


class LinedSource(Source):
    """The text of a GraphQL document that remembers where its lines begin.

    graphql-core looks through all of it for the line of each error: a hundred in 230,000 lines took a minute.
    """

    @cached_property
    def _breaks(self) -> tuple[list[int], list[int]]:
        found = [match.span() for match in _LINE_BREAK.finditer(self.body)]
        return [start for start, _ in found], [end for _, end in found]

    def get_location(self, position: int) -> SourceLocation:
        """Return the line and column of a place in the document, counted from 1."""
        starts, ends = self._breaks
        line = bisect_left(starts, position)
        return SourceLocation(line + 1, position + 1 - (ends[line - 1] if line else 0))


class DocumentLimits(SchemaExtension):
    """Refuses, before it is validated, a document that is too long, deep, or full of aliases or directives.

    It also refuses one that leaves open which of its operations is meant: strawberry would run the first. What was
    `accepted` before is neither measured nor validated again.
    """

    def on_operation(self) -> Iterator[None]:
        runtime = self.execution_context.context.runtime
        self._settings: Settings = runtime.helix.settings
        self._accepted: AcceptedDocuments = runtime.accepted
        self._known = False
        self.execution_context.parse_options["max_tokens"] = self._settings.max_tokens
        yield

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        if (document := self._accepted.get(context.query)) is not None:
            context.graphql_document = document
            self._known = True
        elif context.query:
            with suppress(GraphQLError):  # strawberry parses it again, and tells what is wrong
                context.graphql_document = parse(LinedSource(context.query), **context.parse_options)
        yield

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        document = context.graphql_document
        assert document is not None  # what cannot be parsed is not validated
        problem = self._ambiguity(document) or (None if self._known else self._excess(document))
        if problem is not None:
            context.pre_execution_errors = [GraphQLError(problem.message, extensions=described(problem))]
        elif self._known:
            context.pre_execution_errors = []
        else:
            rules = (*context.validation_rules, MaybeNullValidationRule, OneOfInputValidationRule)
            schema = context.schema._schema  # as strawberry hands it on, which knows no bound
            context.pre_execution_errors = validate(schema, document, rules, max_errors=MAX_ERRORS)
            for error in context.pre_execution_errors:
                error.original_error = None  # a number that Python reads no digits of is the document's fault, too
        yield
        if not self._known and not context.pre_execution_errors:
            self._accepted.add(context.query, document)

    def _ambiguity(self, document: DocumentNode) -> InvalidInputError | None:
        # The name as it came; the public one has the first operation's in its place.
        named = self.execution_context._provided_operation_name is not None
        if named or sum(isinstance(node, OperationDefinitionNode) for node in document.definitions) <= 1:
            return None
        return InvalidInputError("the document has several operations", hint="say which one in `operationName`")

    def _excess(self, document: DocumentNode) -> InvalidInputError | None:
        shape = shape_of(document)
        limits = (
            (shape.depth, self._settings.max_depth, "is {} levels deep", "max_depth"),
            (shape.aliases, self._settings.max_aliases, "uses {} aliases", "max_aliases"),
            (shape.directives, MAX_DIRECTIVES, "uses {} directives", None),
        )
        for found, most, words, setting in limits:
            if found > most:
                hint = "ask for less in one request" + (f", or raise the setting {setting!r}" if setting else "")
                # An unfolded count can have hundreds of digits: say no more than that it is over.
                said = words.format(found if found < 100_000 else "far too many")
                return InvalidInputError(f"the document {said}; at most {most} are allowed", hint=hint)
        if compares_too_much(document):
            return InvalidInputError("the document asks for the same fields too often", hint="ask for each once")
        return None


class BodyLimit:
    """ASGI middleware that reads a request's body up to the limit, and answers 413 above it. It is behind the gate."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        limit = BODY_BYTES if scope[AUTHORIZED] else STRANGERS_BYTES
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await whole(receive, limit)
        except TimeoutError:
            error = InvalidInputError(f"the request did not come within {BODY_SECONDS:g} s", hint="send it again")
            await refusal(error, 408, {"connection": "close"})(scope, receive, send)
            return
        if body is None:
            return
        if len(body) > limit:
            error = InvalidInputError(f"the request is larger than {limit} bytes", hint="send it in smaller parts")
            await refusal(error, 413, {"connection": "close"})(scope, receive, send)
            return
        await self._app(scope, replayed(bytes(body), receive), send)


async def whole(receive: Receive, limit: int) -> bytearray | None:
    """Return an HTTP request's body, of a too large one only the beginning; None where the client has gone."""
    body = bytearray()
    more = True
    while more and len(body) <= limit:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return what an HTTP request is read by whose body was read already."""
    return heard_again({"type": "http.request", "body": body, "more_body": False}, receive)


def heard_again(message: Message, receive: Receive) -> Receive:
    """Return what an API connection is read by, from a message on that was read already."""
    read = [message]

    async def hear() -> Message:
        return read.pop() if read else await receive()

    return hear
