"""Front: takes every request of a server, finds out who asks, and has the home of their tenant answer.

Any process takes any request. It answers for the tenants that it is home to, hands the others on to their home once,
and becomes the home of a tenant that has none.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helix import __version__
from helix.api.access import (
    AUTHORIZED,
    HOOK_PATHS,
    SecurityHeaders,
    bearer,
    cookie_of,
    from_a_page_of_its_own,
    misdirected,
)
from helix.api.api_errors import refusal, refused
from helix.api.limits import BodyLimit
from helix.api.metrics import CONTENT_TYPE
from helix.api.permissions import PRINCIPAL
from helix.api.web_pages import LEAVE, page
from helix.errors import (
    EngineError,
    ForbiddenError,
    HelixError,
    InvalidInputError,
    NotFoundError,
    NotHomeError,
    StoreLockedError,
    TooManyRequestsError,
    UnauthorizedError,
)
from helix.journal.postgres.postgres_server import Whereabouts
from helix.model.principal import Principal, Role
from helix.server.accounts import SESSION_SECONDS
from helix.server.administration import PREFIX
from helix.server.crowd import Crowd
from helix.server.forwarding import NOT_HOME, Forwarder, HomeElsewhere
from helix.server.people import People
from helix.server.quotas import Quotas
from helix.server.signed_requests import Cluster
from helix.server.tenants import TENANT, Open, Tenants

log = logging.getLogger(__name__)

TENANT_HEADER = "x-helix-tenant"
"""Header in which a person who may use several tenants says which one."""
COOKIE = "helix_session"
_PLACED_WITHIN_SECONDS = 20.0
"""How long a request waits for a home: longer than one that was killed counts as living."""
_LOOK_SECONDS = 0.25
_CHECKED_EVERY = 2.0
_KEYS_AT_ONCE = 8
_KNOWN_WITHIN_SECONDS = 10.0
"""How long a request waits for the database to say who asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a server is reached: by its clients at `url`, by its other processes at `internal`."""

    url: str
    internal: str

    @property
    def hosts(self) -> frozenset[str]:
        """The names that a Host header may give."""
        return frozenset(urlsplit(one).netloc.lower() for one in (self.url, self.internal))


class Front:
    """The ASGI app of a process that serves many tenants."""

    def __init__(
        self,
        tenants: Tenants,
        people: People,
        quotas: Quotas,
        forwarder: Forwarder,
        *,
        places: Places,
        cluster: Cluster,
        administration: ASGIApp,
        metrics: Callable[[], bytes],
        metrics_token: str,
        lives: Callable[[], bool],
    ) -> None:
        """`lives` tells whether this process can serve. Both may block; without a token nobody sees `metrics`."""
        self._tenants = tenants
        self._people = people
        self._quotas = quotas
        self._forwarder = forwarder
        self._places = places
        self._cluster = cluster
        self._administration = administration
        self._metrics = metrics
        self._metrics_token = metrics_token
        self._lives = lives
        # Keys and tokens have threads of their own: an issuer that is asked for its own keys may be slow.
        self._keys = ThreadPoolExecutor(_KEYS_AT_ONCE, thread_name_prefix="helix-keys")
        self._tokens = ThreadPoolExecutor(_KEYS_AT_ONCE, thread_name_prefix="helix-tokens")
        self.crowd = Crowd()
        self.draining = False
        """Whether this process says that it is not ready any more; it still answers what comes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        try:
            answer = await self._answered(scope, receive)
        except HelixError as error:
            answer = refused(error)
        own = isinstance(answer, Response)  # a tenant's app says itself what browsers may do with what it answers
        await (SecurityHeaders(answer) if own else answer)(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._tenants.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.leave()
        await self._forwarder.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def leave(self) -> None:
        """Give every tenant to the others, with what is open of it ended; what comes from now on is handed on."""
        self.draining = True
        await self._tenants.close()

    async def _answered(self, scope: Scope, receive: Receive) -> ASGIApp:
        headers, path = Headers(scope=scope), str(scope["path"])
        if not scope.get("raw_path", b"/").startswith(b"/"):  # it could name another host where it is handed on
            raise InvalidInputError("a request asks for a path, which begins with `/`")
        if path == "/healthz":
            return JSONResponse({"status": "ok", "version": __version__})
        if path == "/readyz":
            ready = not self.draining and await asyncio.to_thread(self._lives)
            return JSONResponse({"ready": ready}, status_code=200 if ready else 503)
        if path == "/metrics" and self._measures(headers):
            return Response(await asyncio.to_thread(self._metrics), headers={"content-type": CONTENT_TYPE})
        asked = f"{scope.get('method', 'GET')} {path}"
        asks = self._cluster.principal(headers, asked)
        if (elsewhere := misdirected(headers, self._places.hosts, _origin(self._places.url))) is not None:
            return elsewhere
        _made_public(scope, self._places.url)
        if path.startswith("/open/") and scope["type"] == "http":
            return await self._entered(path.removeprefix("/open/"), scope["method"])
        trusted = asks is not None
        try:
            async with asyncio.timeout(_KNOWN_WITHIN_SECONDS):
                principal, shown = (asks, "") if asks is not None else await self._who(scope, headers)
                there = await self._tenants.where(principal.tenant, principal.number)
        except TimeoutError as error:
            hint = "try again; `helix engine check` tells whoever runs the server why it does not"
            raise EngineError("the database does not say who asks", hint=hint) from error
        if path == LEAVE and scope["type"] == "http" and shown.startswith("hx_"):  # an issuer's token is no session
            return await self._left(principal, shown, there, scope["method"])
        principal = replace(principal, number=there.id)
        _check_path(principal, path)
        scope[PRINCIPAL], scope[AUTHORIZED] = principal, True
        TENANT.set(principal.tenant)
        if not trusted:
            self._quotas.count(there)
        answer: ASGIApp
        if path.startswith(f"{PREFIX}/"):
            answer = SecurityHeaders(BodyLimit(self._administration))
        else:
            answer = await self._home(principal, asked, once=trusted, until=time.monotonic() + _PLACED_WITHIN_SECONDS)
        if not trusted:
            answer = self._watched(answer, principal, shown, there)
        return self._counted(answer, principal, handed_on=trusted)

    def _measures(self, headers: Headers) -> bool:
        """Return whether who asks may see what all tenants count; whose key is shown sees that of its own."""
        shown = headers.get("authorization", "").removeprefix("Bearer ")
        token = self._metrics_token
        return bool(token) and hmac.compare_digest(shown.encode(), token.encode())

    async def _who(self, scope: Scope, headers: Headers) -> tuple[Principal, str]:
        """Return who asks, and the key or token that was shown."""
        shown = bearer(headers.get("authorization"))
        if shown is None:
            shown = cookie_of(headers.get("cookie"), COOKIE) or ""
            if shown and not from_a_page_of_its_own(headers):
                raise UnauthorizedError("a page of another server sent this")
        principal = await self._known(shown, headers.get(TENANT_HEADER, ""))
        if principal is None:
            hint = "show a key: `Authorization: Bearer hx_...`, or open a link that `helix key link` makes"
            raise UnauthorizedError("no key that holds was shown", hint=hint)
        return principal, shown

    async def _known(self, shown: str, tenant: str) -> Principal | None:
        """Return who shows a key or a token; see `People.known`."""
        pool = self._keys if shown.startswith("hx_") else self._tokens
        return await asyncio.get_running_loop().run_in_executor(pool, self._people.known, shown, tenant)

    async def _entered(self, link: str, method: str) -> Response:
        """Return the answer to a one-time link: a button, and to its press a session and the way to the explorer.

        Programs that show a preview of a link fetch it too: that uses nothing up.
        """
        if method != "POST":
            return page('You were invited to Helix.</p><form method="post"><button>Open Helix</button></form><p>')
        session = await asyncio.to_thread(self._people.accounts.redeem, unquote(link))
        if session is None:
            return page(
                "This link has been used or has run out: ask whoever runs the server for a new one.", status=403
            )
        response = RedirectResponse("/", status_code=303)
        secure = self._places.url.startswith("https:")
        response.set_cookie(COOKIE, session, max_age=SESSION_SECONDS, httponly=True, samesite="strict", secure=secure)
        return response

    async def _left(self, principal: Principal, shown: str, there: Whereabouts, method: str) -> Response:
        """Return the answer to a browser that leaves: a button, and to its press the end of its session, everywhere."""
        if method != "POST":
            return page('Leave Helix on this machine?</p><form method="post"><button>Leave</button></form><p>')
        prefix = shown.split("_")[1]
        await asyncio.to_thread(self._people.accounts.revoke, there, prefix, by=principal.name)
        response = page("You have left: a new link lets you in again.")
        response.delete_cookie(COOKIE)
        return response

    async def _home(self, principal: Principal, asked: str, *, once: bool, until: float) -> ASGIApp:
        """Return what answers for a tenant: its app here, or its home elsewhere; waits `until` one lives."""
        while True:
            if (here := self._tenants.here(principal.number)) is not None:
                return self._used(here)
            there = await self._tenants.where(principal.tenant, principal.number)
            if not self._tenants.is_elsewhere(there):
                try:
                    return self._used(await self._tenants.opened(there))
                except (StoreLockedError, NotHomeError) as error:
                    if once and isinstance(error, NotHomeError):
                        return refusal(error, 503, {NOT_HOME: "1"})
                    if self._tenants.draining or time.monotonic() > until:
                        raise
                    await asyncio.sleep(_LOOK_SECONDS)
                    continue
            if once:
                return refusal(NotHomeError("it has another home by now", hint="ask again"), 503, {NOT_HOME: "1"})
            if not there.url:
                raise StoreLockedError(
                    f"the tenant {there.slug} is served by a process that others cannot reach",
                    hint="end that one: its machine's `helix stop`",
                )
            told, lives = self._cluster.told(principal, asked), partial(self._lives_at, there)
            home = HomeElsewhere(url=there.url, told=told, lives=lives)
            return self._forwarder.to(home, partial(self._elsewhere, principal, asked, until))

    async def _lives_at(self, there: Whereabouts) -> bool:
        """Return whether a tenant's home still is, as far as the database tells."""
        try:
            now = await self._tenants.where(there.slug, there.id)
        except HelixError:  # it is out of reach, or the tenant is no longer served, of which its home tells
            return True
        return now.url == there.url and now.lives

    async def _elsewhere(self, principal: Principal, asked: str, until: float) -> ASGIApp:
        """Return what answers where a home was none any more."""
        self._tenants.forget(principal.tenant)
        await asyncio.sleep(_LOOK_SECONDS)
        try:
            if time.monotonic() > until:
                raise EngineError("the tenant's home does not answer", hint="try again")
            return await self._home(principal, asked, once=False, until=until)
        except HelixError as error:
            return refused(error)

    def _used(self, tenant: Open) -> ASGIApp:
        """Return the app of a tenant, which counts as being asked while it answers.

        Whoever has it lets nothing else run before they call it, or refuse who asks: it could be closed meanwhile.
        """

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            tenant.asking += 1
            try:
                talks = scope["type"] == "websocket"
                closing = tenant.app.state.runtime.closing
                await tenant.app(scope, _ending(scope, receive, closing) if talks else receive, send)
            finally:
                tenant.asking -= 1
                tenant.used = time.monotonic()

        return answer

    def _counted(self, answer: ASGIApp, principal: Principal, *, handed_on: bool) -> ASGIApp:
        """Return what answers where there is room for one answer more; see `Crowd`."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            talks = scope["type"] == "websocket"
            try:
                leaves = self.crowd.enter(principal, talks=talks, handed_on=handed_on)
            except TooManyRequestsError as error:
                await refused(error)(scope, receive, send)
                return
            with leaves:
                await answer(scope, receive, send)

        return counted

    def _watched(self, answer: ASGIApp, principal: Principal, shown: str, there: Whereabouts) -> ASGIApp:
        """Return what answers as long as the key holds that was shown: an answer may last for days, in many ways.

        What is said on a WebSocket counts as requests, one after the other.
        """

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            gone = asyncio.Event()
            checking = asyncio.create_task(self._until_revoked(principal, shown, gone))
            try:
                await answer(scope, _ending(scope, receive, gone, partial(self._quotas.count, there)), send)
            finally:
                checking.cancel()

        return watched

    async def _until_revoked(self, principal: Principal, shown: str, gone: asyncio.Event) -> None:
        while not gone.is_set():
            await asyncio.sleep(_CHECKED_EVERY)
            try:
                now = await self._known(shown, principal.tenant)
                await self._tenants.where(principal.tenant, principal.number)
            except (UnauthorizedError, ForbiddenError, NotFoundError):  # a person is no member, a tenant not served
                now = None
            except HelixError:  # the server is out of reach: what is open stays so, as nothing new is told either
                continue
            if now is None or replace(now, number=now.number or principal.number) != principal:
                gone.set()


def _ending(scope: Scope, receive: Receive, gone: asyncio.Event, count: Callable[[], None] | None = None) -> Receive:
    """Return what a connection is read by, which ends once `gone` is set, or `count` refuses what is said on it."""
    talks = scope["type"] == "websocket"
    end: Message = {"type": "websocket.disconnect", "code": 4401} if talks else {"type": "http.disconnect"}

    async def hear() -> Message:
        if gone.is_set():
            return end
        coming = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(gone.wait())
        try:
            await asyncio.wait({coming, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done():
                return end
            if count is not None and coming.result()["type"] == "websocket.receive":
                count()
            return coming.result()
        except TooManyRequestsError:
            gone.set()
            return end
        finally:
            ending.cancel()
            coming.cancel()

    return hear


def _check_path(principal: Principal, path: str) -> None:
    if principal.role is Role.HOOK and not path.startswith(HOOK_PATHS):
        raise ForbiddenError(f"{principal.name} may tell what happens in sessions, and nothing else")
    if principal.role is Role.READER and path.startswith(HOOK_PATHS):
        raise ForbiddenError(f"{principal.name} may only read")


def _made_public(scope: Scope, url: str) -> None:
    """Have a request say where its client sent it: behind a proxy, or handed on, it came by another way."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    scope["scheme"] = ("wss" if secure else "ws") if scope["type"] == "websocket" else parts.scheme
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    scope["headers"] = [(b"host", parts.netloc.encode("latin-1")), *others]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
