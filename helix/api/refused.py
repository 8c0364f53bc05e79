"""Refused: how an error is answered over HTTP where no GraphQL is: by the status of its kind."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from helix.api.graphql_errors import refusal
from helix.errors import (
    ConflictError,
    DiskFullError,
    ForbiddenError,
    HelixError,
    InvalidInputError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
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
    """Return the answer that an error is; what is of no known kind may be tried again."""
    status = next((code for kind, code in _STATUSES.items() if isinstance(error, kind)), HTTPStatus.SERVICE_UNAVAILABLE)
    headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers = {"retry-after": "1"}
    return refusal(error, status, headers)
