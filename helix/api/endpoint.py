"""GraphQL over HTTP and WebSocket: how requests become operations, and results responses."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, NoReturn

from cross_web import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.http import GraphQLHTTPResponse
from strawberry.http.base import BaseRequestProtocol
from strawberry.schema import Schema
from strawberry.types.unset import UnsetType

from helix.api.access import AUTHORIZED
from helix.api.api_errors import refusal
from helix.api.limits import DOCUMENT_CHARACTERS, MAX_VALUES, has_too_many_values
from helix.api.permissions import PRINCIPAL
from helix.api.resolver_context import AppRuntime, Context
from helix.api.web_pages import GRAPHIQL, Pages
from helix.errors import InvalidInputError
from helix.model.principal import Principal
from helix.model.speaker import HEADER, agent_name

RESPONSE_TYPE = "application/graphql-response+json"
LEGACY_TYPE = "application/json"
_LONGEST_HELLO = 4_096
"""Characters of the first message of a WebSocket that has not proved itself in its handshake."""
_UNAUTHORIZED = 4401
"""The close code that graphql-transport-ws has for it."""


class Endpoint(GraphQL[Context, None]):
    """The app behind /graphql. Operations come by POST; GET is for GraphiQL's page alone.

    A query in an address would end up in logs and histories, which hold nothing that was not redacted.
    """

    def __init__(self, schema: Schema, runtime: AppRuntime, pages: Pages) -> None:
        super().__init__(
            schema,
            allow_queries_via_get=False,
            subscription_protocols=("graphql-transport-ws", "graphql-sse"),
            connection_init_wait_timeout=timedelta(seconds=10),
            max_subscriptions_per_connection=20,
        )
        self._runtime = runtime
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; what never becomes an operation is refused in the shape GraphQL clients read."""
        if scope["type"] != "http":
            await super().__call__(scope, *((receive, send) if scope[AUTHORIZED] else _until_proven(receive, send)))
            return
        request = Request(scope, receive)
        if request.method != "POST" and not wants_page(request):
            error = InvalidInputError("GraphQL is asked by POST", hint="a browser gets GraphiQL by GET")
            await refusal(error, 405, {"allow": "GET, POST"})(scope, receive, send)
            return
        try:
            response = await self.run(request)
        except HTTPException as refused:
            response = refusal(InvalidInputError(refused.reason), refused.status_code)
        await response(scope, receive, send)

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Context:
        said = agent_name(request.headers.get(HEADER, ""))
        principal: Principal | None = self._runtime.known(request.scope.get(PRINCIPAL))
        return Context(
            runtime=self._runtime,
            base_url=f"http://{request.headers['host']}",
            authorized=bool(request.scope[AUTHORIZED]),
            agent=said if principal is None else said or principal.agent,
            principal=principal,
        )

    async def on_ws_connect(self, context: Context) -> UnsetType | dict[str, object] | None:
        """Let in a GraphQL WebSocket that proved itself in its handshake, or says `{"authorization": "Bearer ..."}`."""
        given = context.connection_params.get("authorization")
        if context.authorized or self._runtime.access.token_matches(given if isinstance(given, str) else None):
            return await super().on_ws_connect(context)
        raise ConnectionRejectionError

    def should_render_graphql_ide(self, request: BaseRequestProtocol) -> bool:
        return wants_page(request)

    async def render_graphql_ide(self, request: Request) -> Response:
        return self._pages.answer(GRAPHIQL)

    async def get_sub_response(self, request: Request | WebSocket) -> Response:
        response = await super().get_sub_response(request)
        response.media_type = preferred_type(request.headers.get("accept", ""))
        return response

    def create_response(self, response_data: Any, sub_response: Response) -> Response:
        """Return the GraphQL response: a request error has no `data`, and is a 400 by the newer media type."""
        request_error = is_request_error(response_data)
        if request_error:
            response_data = {key: value for key, value in response_data.items() if key != "data"}
        status = 400 if request_error and sub_response.media_type == RESPONSE_TYPE else 200
        return Response(self.encode_json(response_data), status_code=status, media_type=sub_response.media_type)

    def parse_json(self, data: str | bytes) -> object:
        try:
            return self.decode_json(data)
        except json.JSONDecodeError as error:
            raise HTTPException(400, f"the body is not a GraphQL request: {error.msg}") from error

    def decode_json(self, data: str | bytes) -> object:
        """Return the JSON object of a GraphQL request or message; all that is wrong with it is a JSONDecodeError."""
        try:
            text = data if isinstance(data, str) else data.decode("utf-8")
            value: object = json.loads(text, parse_constant=_refuse_constant)
            if "\\ud" in text.lower():
                # Escapes can spell half of a surrogate pair: no Unicode text, and nothing a store could write.
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        except json.JSONDecodeError:
            raise
        except UnicodeEncodeError as error:
            words = "a text in it holds half of a surrogate pair, which is not Unicode"
            raise json.JSONDecodeError(words, "", 0) from error
        except (ValueError, RecursionError) as error:
            raise json.JSONDecodeError(f"not JSON in UTF-8 ({error})", "", 0) from error
        if has_too_many_values(value):
            raise json.JSONDecodeError(f"more than {MAX_VALUES:,} values in it; send them in smaller parts", "", 0)
        if not isinstance(value, dict):
            raise json.JSONDecodeError("one JSON object is wanted, and batches are off", "", 0)
        for request in (value, value.get("payload")):  # a WebSocket's message has it in there
            document = request.get("query") if isinstance(request, dict) else None
            if isinstance(document, str) and len(document) > DOCUMENT_CHARACTERS:
                words = f"the document is longer than {DOCUMENT_CHARACTERS:,} characters; use variables"
                raise json.JSONDecodeError(words, "", 0)
        return value

    def encode_json(self, data: object) -> str:
        return json.dumps(data, separators=(",", ":"), allow_nan=False)


def _until_proven(receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Return what a WebSocket is read and written by: until its hello is acknowledged, it may say that alone, in short.

    Anybody who reaches the port can open one. Larger or more messages, parsed before a token is seen, would hold up
    what others ask.
    """
    said, proven = 0, False

    async def hear() -> Message:
        nonlocal said
        message = await receive()
        if proven or message["type"] != "websocket.receive":
            return message
        said += 1
        if said > 1 or len(message.get("text") or message.get("bytes") or "") > _LONGEST_HELLO:
            await send({"type": "websocket.close", "code": _UNAUTHORIZED})
            return {"type": "websocket.disconnect", "code": _UNAUTHORIZED}
        return message

    async def tell(message: Message) -> None:
        nonlocal proven
        proven = proven or '"connection_ack"' in (message.get("text") or "")
        await send(message)

    return hear, tell


def preferred_type(accept: str) -> str:
    """Return the media type for GraphQL that an Accept header prefers; the older one on a tie or without it."""
    qualities = {RESPONSE_TYPE: 0.0, LEGACY_TYPE: 0.0}
    for part in accept.lower().split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        if media in qualities:
            qualities[media] = next((_quality(item[2:]) for item in parameters if item.startswith("q=")), 1.0)
    return RESPONSE_TYPE if qualities[RESPONSE_TYPE] > qualities[LEGACY_TYPE] else LEGACY_TYPE


def is_request_error(response: GraphQLHTTPResponse) -> bool:
    """Return whether a GraphQL request failed before any field of it was executed."""
    errors = response.get("errors") or []
    return (
        response.get("data") is None and bool(errors) and not any(isinstance(e, dict) and "path" in e for e in errors)
    )


def wants_page(request: BaseRequestProtocol | Request) -> bool:
    """Return whether an HTTP request is a browser's for a page."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
