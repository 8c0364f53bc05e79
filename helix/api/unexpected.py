"""Unexpected: as which error of Helix an exception is told to a client, whatever it asked by."""

from __future__ import annotations

import logging
import secrets

from helix.errors import HelixError, InvalidInputError, of_the_system

logger = logging.getLogger("helix.api")


def as_known(cause: BaseException | None) -> HelixError | None:
    """Return the error of Helix that says what an exception is; None for what nobody foresaw.

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
    """Log what nobody foresaw, and return the number under which the log has it: a client reads nothing else."""
    number = secrets.token_hex(4)
    logger.error("internal error %s at %s", number, where or "the request", exc_info=cause)
    return number
