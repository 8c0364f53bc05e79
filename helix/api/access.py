"""Who may ask: the bearer token, a browser's session, and the Host and Origin that a request must carry."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import html
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence, Set

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helix.api.api_errors import refusal
from helix.api.web_pages import ASSETS, page, policy
from helix.errors import UnauthorizedError
from helix.local_socket import user_at
from helix.model.strand import SYNC_PATH, MemoryShare
from helix.strands.shares import Shares

LINK_SECONDS = 60
SESSION_SECONDS = 12 * 3600

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN_PATHS = ("/healthz", "/alive", "/moved", "/open/")
"""Paths that need no token: they show no secret, and a link's nonce is its own proof."""

HOOK_PATHS = "/hooks/"
"""What the paths begin with that the hook token opens, and nothing else does it open."""

SYNC_PATHS = f"{SYNC_PATH}/"
"""What the paths begin with that the token of a share opens, and nothing else does."""

SHARE = "helix.share"
"""Key of an ASGI scope: the share whose token a request to SYNC_PATHS showed."""

AUTHORIZED = "helix.authorized"
"""Key of an ASGI scope: whether the request proved who it is (a WebSocket may still do so when it says hello)."""

BY_SOCKET = "helix.by_socket"
"""Key of the state of an ASGI scope: it came by the socket in the store, which no browser and no other user opens."""

Monotonic = Callable[[], float]

_VIEW = re.compile(r"/(?:[\w~%.-][\w~%./!*'()-]*)?(?:\?[\w~%.=&+:@,!*'()-]*)?", re.ASCII)
_PLAIN_HOST = re.compile(r"[a-z0-9.-]+(:[0-9]+)?|\[[0-9a-f:]+\](:[0-9]+)?", re.IGNORECASE)


class Access:
    """The secrets of one daemon: its bearer token, the token of hooks, links given out and the sessions they became.

    Links and sessions are kept as digests, so that looking one up takes the same time however much of it is right.
    """

    def __init__(
        self, token: str, *, hook_token: str = "", shares: Shares | None = None, clock: Monotonic = time.monotonic
    ) -> None:
        """Take the secrets; without a `hook_token` the bearer token alone is good for hooks."""
        self._token = _digest(token)
        self._hook_token = _digest(hook_token or token)
        self._shares = shares
        self._clock = clock
        self._links: dict[bytes, float] = {}
        self._sessions: dict[bytes, float] = {}

    def token_matches(self, authorization: str | None) -> bool:
        """Return whether an HTTP request's Authorization is `Bearer` and the token, compared in constant time."""
        return _shows(authorization, self._token)

    def hook_token_matches(self, authorization: str | None) -> bool:
        """Return whether an HTTP request's Authorization has the token that is good for hooks alone."""
        return _shows(authorization, self._hook_token)

    def share_of(self, authorization: str | None) -> MemoryShare | None:
        """Return the share that an HTTP request's Authorization lets in."""
        token = bearer(authorization)
        return None if self._shares is None or token is None else self._shares.of_token(token)

    def new_link(self) -> str:
        """Return a nonce that lets one browser into the API, once, within LINK_SECONDS."""
        return _remember(self._links, self._clock(), LINK_SECONDS)

    def redeem(self, nonce: str) -> str | None:
        """Return a new session of the API for an unused link, or None if it has run out; it is used up either way."""
        expiry = self._links.pop(_digest(nonce), 0.0)
        return _remember(self._sessions, self._clock(), SESSION_SECONDS) if expiry > self._clock() else None

    def page_key(self, page: str) -> bytes:
        """Return the key of a page of the API by its id; the same from every daemon that has this token."""
        return hmac.new(self._token, f"page {page}".encode(), hashlib.sha512).digest()

    def session_holds(self, session: str) -> bool:
        """Return whether a browser's session with the API is known and has not run out."""
        return self._sessions.get(_digest(session), 0.0) > self._clock()


def cookie_name(port: int) -> str:
    """Return the name of the API's session cookie: browsers share cookies between the ports of a host."""
    return f"helix_session_{port}"


def open_link(access: Access, nonce: str, port: int, *, view: str = "/", from_elsewhere: bool = False) -> Response:
    """Answer a one-time link over HTTP: a session and the way to a view of the explorer, or a refusal.

    `from_elsewhere` tells that another page led here, such as the file that `helix open` writes.
    """
    to = view if _VIEW.fullmatch(view) else "/"
    session = access.redeem(nonce)
    if session is None:
        return page("This link has been used or has run out: <code>helix open</code> makes a new one.", status=403)
    if from_elsewhere:
        # The session's cookie is sent from pages of this server alone, and a redirect still counts as the other page's.
        way = html.escape(to)
        response: Response = page(f'<meta http-equiv="refresh" content="0; url={way}"><a href="{way}">Helix</a>')
    else:
        response = RedirectResponse(to, status_code=303)
    response.set_cookie(cookie_name(port), session, max_age=SESSION_SECONDS, httponly=True, samesite="strict")
    return response


class Gate:
    """ASGI middleware that lets a request through only when it was meant for this server and proves who it is.

    Host must name this machine's loopback and the port it came in by (a page that rebinds its own name to 127.0.0.1
    fails here), but for what comes by the socket in the store: no page does, and a program that knew the daemon before
    this one names that one's port. Origin, where a browser sends one, must be this server's own; no script may become
    a service worker, which would see all that the browser asks later; then the bearer token, or a session cookie that a
    page of this server sent. A browser sends a cookie to every port of a host, so to other users' servers too: it
    counts only from a process of this user. There are no CORS headers: other pages cannot read anything.
    """

    def __init__(self, app: ASGIApp, *, access: Access, hosts: Sequence[str] = LOOPBACK) -> None:
        self._app = app
        self._access = access
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        shared = scope["path"].startswith(SYNC_PATHS)  # proxies lead here by other names, and no browser has its token
        anyhow = shared or BY_SOCKET in scope.get("state", {})
        hosts = {host} if anyhow else self._own_hosts(scope)
        refused = misdirected(headers, hosts, f"http://{host}")
        if refused is None:
            scope[AUTHORIZED] = await self._proved(scope, headers)
            refused = None if self._may_enter(scope) else _unauthorized(headers)
        proved = scope["type"] == "websocket" or scope.get(AUTHORIZED)
        await (self._app if refused is None else refused)(scope, receive, send if proved else _closing(send))

    def _own_hosts(self, scope: Scope) -> set[str]:
        port = port_of(scope)
        return {f"{name}:{port}" for name in self._hosts} | (set(self._hosts) if port == 80 else set())

    async def _proved(self, scope: Scope, headers: Headers) -> bool:
        shown = headers.get("authorization")
        if scope["path"].startswith(SYNC_PATHS):
            scope[SHARE] = self._access.share_of(shown) if scope["type"] == "http" else None
            return scope[SHARE] is not None
        if self._access.token_matches(shown):
            return True
        if scope["type"] == "http" and scope["path"].startswith(HOOK_PATHS) and self._access.hook_token_matches(shown):
            return True
        session = cookie_of(headers.get("cookie"), cookie_name(port_of(scope)))
        known = session is not None and self._access.session_holds(session)
        # In a thread: the system writes down all connections of the machine for it, of which others may have very many.
        return known and from_a_page_of_its_own(headers) and await asyncio.to_thread(_is_this_users, scope)

    def _may_enter(self, scope: Scope) -> bool:
        if scope[AUTHORIZED] or scope["type"] == "websocket":
            return True
        path: str = scope["path"]
        return any(
            path == open_path or (open_path.endswith("/") and path.startswith(open_path)) for open_path in OPEN_PATHS
        )


def _closing(send: Send) -> Send:
    """Return what sends an answer and has the connection closed: who proved nothing asks once by each.

    Many who ask on and on would hold up all others, hooks among them, which share the event loop.
    """

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await send(message)

    return closing


def misdirected(headers: Headers, hosts: Set[str], origin: str) -> Response | None:
    """Return the refusal of an HTTP request not meant for a server of these hosts, with pages of `origin`.

    A page that rebinds its own name fails at the host; a service worker would see all that the browser asks later.
    """
    host = headers.get("host", "").lower()
    if len(headers.getlist("host")) != 1 or host not in hosts:
        return refusal(UnauthorizedError(f"this server does not answer for the host {host!r:.100}"), 421)
    page_of = headers.get("origin")
    if page_of is not None and page_of.lower() != origin:
        return refusal(UnauthorizedError(f"pages of {page_of!r:.100} may not ask this server"), 403)
    if "service-worker" in headers:
        return refusal(UnauthorizedError("this server has no script for a service worker"), 403)
    return None


def from_a_page_of_its_own(headers: Headers) -> bool:
    """Return whether an HTTP request is from the server's own page, by the browser: its cookie counts then."""
    return "origin" in headers or headers.get("sec-fetch-site") in ("same-origin", "none")


class SecurityHeaders:
    """ASGI middleware that tells browsers to load nothing from elsewhere and to show nothing inside other pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        host = Headers(scope=scope).get("host", "")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_headers(scope["path"], host, scope["scheme"]))
                if not scope["path"].startswith(ASSETS):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _is_this_users(scope: Scope) -> bool:
    """Return whether the process at the other end is this user's, or root's; as far as the system tells it."""
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or not hasattr(os, "geteuid"):
        return True  # by the socket in the store, which only its owner can open
    return user_at((client[0], client[1]), (server[0], server[1])) in (None, 0, os.geteuid())


def port_of(scope: Scope) -> int:
    """Return the port that an HTTP request came in by."""
    server = scope.get("server")
    return int(server[1]) if server and server[1] else 80


def _headers(path: str, host: str, scheme: str) -> Mapping[str, str]:
    # A Host that is not plainly one is never echoed.
    secure = "wss" if scheme in ("https", "wss") else "ws"
    socket = f"{secure}://{host}" if _PLAIN_HOST.fullmatch(host) else ""
    return {
        "content-security-policy": policy(path, socket),
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        # With none at all, what the page of a link sends would come from no origin.
        "referrer-policy": "same-origin" if path.startswith("/open/") else "no-referrer",
        "x-content-type-options": "nosniff",
    }


def _unauthorized(headers: Headers) -> Response:
    if "text/html" in headers.get("accept", ""):
        return page("Helix does not know this browser yet: run <code>helix open</code> and it will.", status=401)
    error = UnauthorizedError(
        "the bearer token is missing or wrong", hint="clients read it from the store's token file"
    )
    return refusal(error, 401, {"www-authenticate": "Bearer"})


def _remember(table: dict[bytes, float], now: float, seconds: float) -> str:
    """Return a new secret whose digest is kept for `seconds`; expired ones are dropped."""
    for digest in [digest for digest, expiry in table.items() if expiry <= now]:
        del table[digest]
    secret = secrets.token_urlsafe(32)
    table[_digest(secret)] = now + seconds
    return secret


def _shows(authorization: str | None, expected: bytes) -> bool:
    token = bearer(authorization)
    return token is not None and hmac.compare_digest(_digest(token), expected)


def bearer(authorization: str | None) -> str | None:
    """Return the bearer token of an HTTP request's Authorization header; None for another kind."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def cookie_of(header: str | None, name: str) -> str | None:
    """Return a cookie's value from an HTTP request: those of this server have neither quotes nor escapes.

    http.cookies resolves them, of Python 3.11.9 and before in quadratic time: one header kept everybody waiting.
    """
    cookies = (part.partition("=") for part in (header or "").split(";"))
    return {said.strip(): value.strip() for said, _, value in cookies}.get(name)
