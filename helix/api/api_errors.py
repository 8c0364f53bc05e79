"""Errors as a client reads them: every answer that is one carries a code, and only unexpected ones are masked.

`coded` is for GraphQL, `refused` for HTTP where no GraphQL is, `as_known` and `logged` for whatever else asks.
"""

from __future__ import annotations

import logging
import secrets
from http import HTTPStatus

from graphql import GraphQLError
from starlette.responses import JSONResponse, Response

from helix.errors import (
    ConflictError,
    DiskFullError,
    ForbiddenError,
    HelixError,
    InvalidInputError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
    of_the_system,
)

_LONGEST_MESSAGE = 2_000
"""Characters of a message that are sent: messages quote what was asked, which may be of any length."""


def coded(error: GraphQLError, hint: str | None = None) -> GraphQLError:
    """Return a GraphQL error with `extensions.code`, and its hint where it has one (`hint` for a wrong request).

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
    """Return the `extensions` of a GraphQL error: its code, and its hint where it has one."""
    return {"code": error.code, **({"hint": error.hint} if error.hint else {})}


def refusal(error: HelixError, status: int, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the HTTP answer to a request that never reaches GraphQL, in the shape GraphQL clients read."""
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


_STATUSES = {
    UnauthorizedError: HTTPStatus.UNAUTHORIZED,
    ForbiddenError: HTTPStatus.FORBIDDEN,
    ConflictError: HTTPStatus.CONFLICT,
    InvalidInputError: HTTPStatus.BAD_REQUEST,
    NotFoundError: HTTPStatus.NOT_FOUND,
    DiskFullError: HTTPStatus.INSUFFICIENT_STORAGE,
    TooManyRequestsError: HTTPStatus.TOO_MANY_REQUESTS,
}


def refused(error: HelixError) -> Response:
    """Return the HTTP answer for an error; what is of no known kind may be tried again."""
    status = next((code for kind, code in _STATUSES.items() if isinstance(error, kind)), HTTPStatus.SERVICE_UNAVAILABLE)
    headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers = {"retry-after": "1"}
    return refusal(error, status, headers)


logger = logging.getLogger("helix.api")


def as_known(cause: BaseException | None) -> HelixError | None:
    """Return the Helix error that the API answers for an exception; None for an unexpected one.

    A HelixError keeps its own words, a file that cannot be had is named.
    """
    if isinstance(cause, HelixError):
        return cause
    if isinstance(cause, OSError) and cause.filename and not isinstance(cause, TimeoutError):
        return of_the_system(cause)
    if isinstance(cause, RecursionError):
        return InvalidInputError("the request is nested too deeply")
    return None


def logged(cause: BaseException | None, where: str) -> str:
    """Log an unexpected error of the API, and return its number in the log: a client reads nothing else."""
    number = secrets.token_hex(4)
    logger.error("internal error %s at %s", number, where or "the request", exc_info=cause)
    return number
