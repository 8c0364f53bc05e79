"""Graphql errors: every answer that is an error carries a code, and only unexpected ones are masked."""

from __future__ import annotations

from graphql import GraphQLError
from starlette.responses import JSONResponse

from helix.api.unexpected import as_known, logged
from helix.errors import HelixError, InvalidInputError

_LONGEST_MESSAGE = 2_000
"""Characters of a message that are sent: messages quote what was asked, which may be of any length."""


def coded(error: GraphQLError, hint: str | None = None) -> GraphQLError:
    """Return `error` with `extensions.code`, and its hint where it has one (`hint` for a request that is wrong).

    A HelixError keeps its own words, and a file that cannot be had is named. A request that is wrong in itself
    (syntax, validation, a limit, a variable of the wrong type) is INVALID_INPUT with GraphQL's words. Anything else is
    unexpected: it is logged with an id, and the client reads that id and nothing of the cause.
    """
    if error.extensions and "code" in error.extensions:
        return error
    cause = error.original_error
    if (known := as_known(cause)) is not None:
        return _with(error, known.message, described(known))
    if cause is None or isinstance(cause, GraphQLError):
        return _with(error, error.message, described(InvalidInputError(error.message, hint=hint)))
    number = logged(cause, ".".join(str(key) for key in error.path or ()))
    return _with(error, f"internal error {number}, see the log", {"code": HelixError.code, "id": number})


def described(error: HelixError) -> dict[str, str]:
    """Return the `extensions` of an error: its code, and its hint where it has one."""
    return {"code": error.code, **({"hint": error.hint} if error.hint else {})}


def refusal(error: HelixError, status: int, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the answer to a request that never reaches GraphQL, in the shape GraphQL clients read."""
    body = {"errors": [{"message": error.message, "extensions": described(error)}]}
    return JSONResponse(body, status_code=status, headers=headers)


def _with(error: GraphQLError, message: str, extensions: dict[str, str]) -> GraphQLError:
    return GraphQLError(
        message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}...",
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        original_error=error.original_error,
        extensions=extensions,
    )
