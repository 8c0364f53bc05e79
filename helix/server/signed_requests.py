"""Signed requests: how the processes of a server know each other, and believe who one says that asks.

What is handed on is signed: HMAC-SHA256 of when, of whom, and of method and path, by a key that all of them read from
the database and that never travels. What was signed holds for AGE_SECONDS, by the clocks of both machines.
"""

from __future__ import annotations

import hashlib
import hmac
import time

from starlette.datastructures import Headers

from helix.errors import EngineError, UnauthorizedError
from helix.model.principal import Principal

SIGNED = "x-helix-cluster"
ASKS = "x-helix-principal"
"""Headers by which a process that hands a request on says that it belongs to the server, and who asks."""
AGE_SECONDS = 60.0
FORM = "2"
"""The form of both headers. Whoever changes one, or what a principal holds, gives it the next number."""


class Cluster:
    """What one process of a server shows the others, and what it believes of them."""

    def __init__(self, secret: str) -> None:
        """Take the `secret` that all processes of the server read from its database."""
        self._key = hmac.new(secret.encode(), b"requests that are handed on", hashlib.sha256).digest()

    def told(self, principal: Principal, asked: str) -> dict[str, str]:
        """Return the headers by which another process believes that `principal` asks for a method and path."""
        at, asks = f"{time.time():.0f}", principal.to_json()
        return {SIGNED: f"{FORM}:{at}:{self._signature(at, asks, asked)}", ASKS: asks}

    def principal(self, headers: Headers, asked: str) -> Principal | None:
        """Return who asks, as another process says; None for a request that no process handed on.

        Raises UnauthorizedError for a signature that does not hold, EngineError for one of another release's form.
        """
        shown = headers.get(SIGNED)
        if shown is None:
            return None
        form, _, signed = shown.partition(":")
        if form != FORM and form.isdecimal():
            hint = "two releases that hand on in different ways serve at once: end the processes of the older one"
            raise EngineError("another release handed this on, in a form that is not known here", hint=hint)
        at, _, signature = signed.partition(":")
        asks = headers.get(ASKS, "")
        if form != FORM or not hmac.compare_digest(signature.encode(), self._signature(at, asks, asked).encode()):
            raise UnauthorizedError("this is not a process of the server")
        if abs(time.time() - float(at)) > AGE_SECONDS:
            hint = "set the clocks of the server's machines: they differ by more than a minute"
            raise UnauthorizedError("what a process of the server signed is too old or too new", hint=hint)
        return Principal.from_json(asks)

    def _signature(self, at: str, asks: str, asked: str) -> str:
        return hmac.new(self._key, "\n".join((FORM, at, asks, asked)).encode(), hashlib.sha256).hexdigest()
