"""The app: one Helix behind HTTP, with every check a request passes before it reaches it."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from helix import __version__
from helix.api.access import LOOPBACK, SHARE, Access, Gate, SecurityHeaders, open_link, port_of
from helix.api.api_errors import refusal, refused
from helix.api.endpoint import Endpoint, wants_page
from helix.api.handover import Handover
from helix.api.hooks import HookEndpoint
from helix.api.limits import BodyLimit
from helix.api.mcp.server import PATH, McpEndpoint
from helix.api.metrics import CONTENT_TYPE, Meters, RequestMeter
from helix.api.permissions import PRINCIPAL, check_unbound
from helix.api.resolver_context import AppRuntime, Threads
from helix.api.schema import build_schema
from helix.api.sync_api import SyncApi
from helix.api.web_pages import ASSETS, EXPLORER, Pages
from helix.bearer import drop_link
from helix.errors import HelixError, InvalidInputError, NotFoundError
from helix.model.principal import Principal
from helix.model.strand import MemoryShare
from helix.operations import upkeep
from helix.service import Helix
from helix.strands.shares import Shares


def create_app(
    helix: Helix,
    *,
    token: str,
    hook_token: str = "",
    hosts: Sequence[str] = LOOPBACK,
    shutdown: Callable[[], None] | None = None,
    pages_folder: Path | None = None,
) -> Starlette:
    """Return the ASGI app that serves `helix` to whoever holds `token`, and hooks alone to whoever holds `hook_token`.

    `hosts` are the names a Host header may give, each with the port the request came in by. `shutdown` is called by
    the mutation of that name and must only ask the server to stop, so that the answer still goes out.
    `pages_folder` holds the built pages; by default they are looked for where Helix keeps its files.
    `app.state.activity` tells how long nobody has asked anything.
    """
    access = Access(token, hook_token=hook_token, shares=Shares(helix.settings.home))
    threads, handover, shares = Threads(), Handover(access), SyncApi(helix, lambda request: request.scope[SHARE])
    runtime = AppRuntime(helix, access, Meters(), shutdown, threads)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with _served(app):
            yield
        await shares.close()
        await threads.close()

    routes = [
        Route("/healthz", _healthz),
        *handover.routes(),
        Route("/metrics", _metrics(runtime)),
        shares.mount(),
        Route("/open/{nonce}", _entrance(helix, access)),
    ]
    app = _app(runtime, routes, Middleware(Gate, access=access, hosts=hosts), Pages(pages_folder), lifespan)
    app.state.handover = handover
    return app


def create_tenant_app(
    helix: Helix, threads: Threads, full: Callable[[], str], share_of: Callable[[Principal], MemoryShare]
) -> Starlette:
    """Return the ASGI app of one tenant of many, which answers in `threads` of all of them.

    `full` tells why it may keep nothing more, if so, and `share_of` what the store of a principal is synced with.
    It believes what a request's scope says of who asks (`PRINCIPAL`), and refuses one that says nothing: whoever hands
    requests on has looked at Host, Origin and key. Its lifespan is the caller's to run.
    """
    helix.store.runtime.full = full
    runtime = AppRuntime(helix, Access(secrets.token_urlsafe(32)), Meters(), None, threads, many=True)

    def shared(request: Request) -> MemoryShare:
        if request.method == "PATCH":
            helix.store.runtime.check_room()
        return share_of(request.scope[PRINCIPAL])

    shares = SyncApi(helix, shared)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with _served(app):
            yield
        await shares.close()

    return _app(runtime, [Route("/metrics", _metrics(runtime)), shares.mount()], None, Pages(None), lifespan)


@asynccontextmanager
async def _served(app: Starlette) -> AsyncIterator[None]:
    """End what an app has begun with its clients."""
    yield
    app.state.runtime.closing.set()
    await app.state.agents.close()


def _app(
    runtime: AppRuntime,
    routes: Sequence[BaseRoute],
    gate: Middleware | None,
    pages: Pages,
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
) -> Starlette:
    """Return an app with what is served of every store, and `routes`."""
    activity, hooks, agents = (
        Activity(),
        HookEndpoint(runtime.helix, runtime.hooks),
        McpEndpoint(runtime),
    )
    endpoint = Endpoint(build_schema(), runtime, pages)
    app = Starlette(
        routes=[
            Route("/graphql", endpoint),
            WebSocketRoute("/graphql", endpoint),
            Route(PATH, agents),
            Route("/hooks/{client}", hooks.answer, methods=["POST"]),
            Route("/hooks/receipts/{name}", hooks.receipt, methods=["GET"]),
            *routes,
            *pages.mounts(),
        ],
        middleware=[
            Middleware(RequestMeter, meters=runtime.meters),
            Middleware(SecurityHeaders),
            *(() if gate is None else (gate,)),
            Middleware(activity.watch),
            Middleware(BodyLimit),
        ],
        exception_handlers={HTTPException: _http_error(pages), HelixError: _helix_error, Exception: _unexpected},
        lifespan=lifespan,
    )
    app.state.activity, app.state.hooks, app.state.agents, app.state.runtime = activity, hooks, agents, runtime
    return app


async def _healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})


def _metrics(runtime: AppRuntime) -> Callable[[Request], Awaitable[Response]]:
    """Return the route of the counters, in Prometheus text."""

    async def metrics(request: Request) -> Response:
        check_unbound(request.scope.get(PRINCIPAL), "what is counted")
        status = await runtime.call(upkeep.status, runtime.helix, seconds=runtime.seconds)
        return Response(runtime.meters.text(status), headers={"content-type": CONTENT_TYPE})

    return metrics


def _entrance(helix: Helix, access: Access) -> Callable[[Request], Awaitable[Response]]:
    """Return the route of one-time links, which removes the page that such a link was handed over by."""

    async def enter(request: Request) -> Response:
        if request.method != "GET":  # what looks whether there is a page uses up no link
            return Response(status_code=HTTPStatus.METHOD_NOT_ALLOWED, headers={"allow": "GET"})
        elsewhere = request.headers.get("sec-fetch-site", "none") != "none"
        view = request.query_params.get("view", "/")
        nonce, port = request.path_params["nonce"], port_of(request.scope)
        answer = open_link(access, nonce, port, view=view, from_elsewhere=elsewhere)
        if answer.status_code < HTTPStatus.BAD_REQUEST:
            drop_link(helix.settings.store_path)
        return answer

    return enter


class Activity:
    """How long nobody has asked anything; an open subscription counts as asking."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open = 0
        self._last = clock()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the API's last request ended; 0 while one is open."""
        return 0.0 if self._open else self._clock() - self._last

    def watch(self, app: ASGIApp) -> ASGIApp:
        """Return the API's `app`, its requests watched."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan" or scope["path"] in ("/healthz", "/metrics"):
                await app(scope, receive, send)
                return
            self._open += 1
            try:
                await app(scope, receive, send)
            finally:
                self._open -= 1
                self._last = self._clock()

        return watched


def _http_error(pages: Pages) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return what answers where nothing is: to a browser the explorer, whose views have addresses of their own."""

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code != HTTPStatus.NOT_FOUND:
            return refusal(InvalidInputError(error.detail), error.status_code, dict(error.headers or {}))
        if wants_page(request) and not request.url.path.startswith(ASSETS):
            return pages.answer(EXPLORER)
        return refusal(NotFoundError(f"nothing is at {request.url.path!r:.200}", hint="GraphQL is at /graphql"), 404)

    return answer


async def _helix_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HelixError)
    return refused(error)


async def _unexpected(request: Request, error: Exception) -> Response:
    # Starlette raises the error again once this is sent, and the server logs it.
    return refusal(HelixError("internal error, see the log"), HTTPStatus.INTERNAL_SERVER_ERROR)
