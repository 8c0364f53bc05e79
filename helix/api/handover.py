"""Handover: how a page that was open when its daemon ended finds the next one, which listens at another port.

A daemon takes a new port at each start, since another user may have had the old one meanwhile. A page gets a key of its
own while it is loaded, and keeps it in its memory. Before it asks anything, whoever listens has to prove that key. The
next daemon also listens at the last port, if nobody has it, and answers one question there: where it is now. The answer
holds a one-time link that only the key opens, and its proof. Whoever listens in the daemon's place can make neither,
and is told no secret.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from helix.api.access import SESSION_SECONDS, Access, port_of
from helix.errors import NotFoundError, UnauthorizedError

ALIVE, MOVED = "/alive", "/moved"
_LONGEST_REQUEST = 4_096
_SECONDS = 5.0
_MOST_CONNECTIONS = 16
_MOST_LINKS, _LINKS_WITHIN = 20, 60.0
_PAGE = re.compile(r"((\d{10,12})\.[0-9a-f]{16})([0-9a-f]{16})")
_NONCE = re.compile(r"[0-9a-f]{32,64}")


class Handover:
    """Gives keys to pages, and says to who holds one where the daemon is."""

    def __init__(self, access: Access, clock: Callable[[], float] = time.time) -> None:
        self._access = access
        self._clock = clock
        self._given: deque[float] = deque()
        self._connections = 0

    def routes(self) -> Iterator[Route]:
        """Yield the HTTP routes where a page gets its key, and where it asks at a port that is the daemon's."""

        async def new_page(request: Request) -> Response:
            return JSONResponse({**self.new_page(), "port": port_of(request.scope)})

        async def alive(request: Request) -> Response:
            asked = request.query_params
            return JSONResponse(self.alive(asked.get("page", ""), asked.get("nonce", ""), port_of(request.scope)))

        async def moved(request: Request) -> Response:
            asked = request.query_params
            return JSONResponse(self.where(asked.get("page", ""), asked.get("nonce", ""), port_of(request.scope)))

        yield Route("/page", new_page)
        yield Route(ALIVE, alive)
        yield Route(MOVED, moved)

    def new_page(self) -> Mapping[str, str]:
        """Return the id and the key of a web page that the daemon knows now."""
        made = f"{int(self._clock())}.{secrets.token_hex(8)}"
        page = made + self._mark(made)
        return {"page": page, "key": self._access.page_key(page).hex()}

    def _mark(self, made: str) -> str:
        """Return how the id of a page ends, by which it is known to be one that a daemon with this token gave."""
        return self._access.page_key(made).hex()[:16]

    def alive(self, page: str, nonce: str, port: int) -> Mapping[str, str]:
        """Return the proof for a web page that its daemon listens at this port, which only the page's key makes.

        `proof` is HMAC-SHA512(key, "alive nonce port"). Raises NotFoundError for what is no question of a page.
        """
        self._check(page, nonce)
        return {"proof": _mac(self._access.page_key(page), f"alive {nonce} {port}").hex()}

    def _check(self, page: str, nonce: str) -> float:
        """Return when a page was given its key; raises NotFoundError where none was."""
        told = _PAGE.fullmatch(page)
        if told is None or not _NONCE.fullmatch(nonce) or not hmac.compare_digest(self._mark(told[1]), told[3]):
            raise NotFoundError("no page asks like this")
        return float(told[2])

    def where(self, page: str, nonce: str, port: int) -> Mapping[str, str | int]:
        """Return the daemon's port, a sealed one-time link, and a proof that only the web page's key makes.

        `sealed` is the link XOR HMAC-SHA512(key, "link nonce salt"); `proof` is HMAC-SHA512(key, "port nonce P salt
        sealed") for the port P; all are hexadecimal digits. The salt is drawn anew for each answer: who asks twice with
        one nonce must not get two links under one pad. Raises NotFoundError for what is no question of a page that was
        given a key, and UnauthorizedError for a page whose session would have run out, or where too many have asked.
        """
        if not 0 <= self._clock() - self._check(page, nonce) <= SESSION_SECONDS or not self._may_give():
            raise UnauthorizedError("this page has been away for too long", hint="helix open")
        key = self._access.page_key(page)
        link = self._access.new_link().encode()
        salt = secrets.token_hex(16)
        sealed = bytes(a ^ b for a, b in zip(link, _mac(key, f"link {nonce} {salt}"), strict=False)).hex()
        proof = _mac(key, f"port {nonce} {port} {salt} {sealed}").hex()
        return {"port": port, "salt": salt, "sealed": sealed, "proof": proof}

    def _may_give(self) -> bool:
        now = self._clock()
        while self._given and self._given[0] < now - _LINKS_WITHIN:
            self._given.popleft()
        if len(self._given) >= _MOST_LINKS:
            return False
        self._given.append(now)
        return True

    async def answer(self, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one HTTP connection at a port that is no longer the daemon's: the one question, and nothing else."""
        self._connections += 1
        try:
            if self._connections <= _MOST_CONNECTIONS:
                with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, OSError):
                    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _SECONDS)
                    writer.write(self._response(head[:_LONGEST_REQUEST], port))
                    await asyncio.wait_for(writer.drain(), _SECONDS)
        finally:
            self._connections -= 1
            writer.close()

    def _response(self, head: bytes, port: int) -> bytes:
        method, _, rest = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        asked = urlsplit(rest.partition(" ")[0])
        given = dict(parse_qsl(asked.query))
        try:
            if method != "GET" or asked.path != MOVED:
                raise NotFoundError("the daemon has another port now")
            status, body = "200 OK", json.dumps(self.where(given.get("page", ""), given.get("nonce", ""), port))
        except (NotFoundError, UnauthorizedError) as error:
            status, body = "404 Not Found", json.dumps({"error": error.message})
        lines = (f"HTTP/1.1 {status}", "content-type: application/json", f"content-length: {len(body)}")
        return "\r\n".join((*lines, "cache-control: no-store", "connection: close", "", body)).encode()


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha512).digest()
