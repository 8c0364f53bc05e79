"""Idempotency: what requests with a key have done, noted by the transaction of their change."""

from __future__ import annotations

import hmac
import os
from dataclasses import dataclass, replace
from hashlib import sha256

from helix.errors import ConflictError
from helix.journal.backend import Backend, DatabaseConnection
from helix.model.requests import Request

KEPT_MICROS = 30 * 86_400 * 1_000_000
"""How long a key is known."""
MOST_KEPT = 10_000
"""How many decisions are known; of more the oldest go."""

_SALT_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestNote:
    """What an append is to note: a step of a request, and the decision's answer as JSON, None where that is none."""

    request: Request
    step: str
    answer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A step that is in the journal; `answer` is None where it is not kept, or was erased."""

    answer: str | None


class Idempotency:
    """The keys of one journal. Any thread may look; a note is written within the append of its change."""

    def __init__(self, database: Backend) -> None:
        self._database = database

    def done(self, request: Request, step: str) -> Done | None:
        """Return what the journal says that a step of a request came to before; None where it is new.

        Raises ConflictError where the key was used for another payload.
        """
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT step, salt, digest, answer FROM idempotency WHERE key IN (?, ?)",
                (_digest(request), _digest(replace(request, owner=""))),  # before, no row said whose key it was
            ).fetchall()
        for _, salt, digest, _ in rows:
            if salt is not None and digest is not None and not hmac.compare_digest(_salted(salt, request), digest):
                raise ConflictError(
                    f"this idempotency key was used for another {request.mutation} request: nothing was changed",
                    hint="send each request with a new key, and only its retry with the same one",
                )
        return next((Done(answer=answer) for name, _, _, answer in rows if name == step), None)

    def note(self, connection: DatabaseConnection, note: RequestNote, at: int) -> None:
        """Note a request's step in the journal within its change's transaction, and let go of what is old."""
        salt = os.urandom(_SALT_BYTES)
        row = (_digest(note.request), note.step, at, salt, _salted(salt, note.request), note.answer)
        connection.execute("DELETE FROM idempotency WHERE at < ?", (at - KEPT_MICROS,))
        connection.execute(
            "DELETE FROM idempotency WHERE at <= (SELECT at FROM idempotency ORDER BY at DESC LIMIT 1 OFFSET ?)",
            (MOST_KEPT - 1,),
        )
        connection.execute("INSERT INTO idempotency VALUES (?, ?, ?, ?, ?, ?)", row)


def forget_requests(connection: DatabaseConnection) -> None:
    """Empty the kept idempotent requests and their answers in the journal; that they were done is still known."""
    connection.execute("UPDATE idempotency SET salt = NULL, digest = NULL, answer = NULL")


def _digest(request: Request) -> bytes:
    told = (request.mutation, request.key, *([request.owner] if request.owner else []))
    return sha256("\0".join(told).encode("utf-8", "surrogatepass")).digest()


def _salted(salt: bytes, request: Request) -> bytes:
    return hmac.digest(salt, request.payload, sha256)
