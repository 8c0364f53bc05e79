"""Hooks: what coding agents' clients tell over HTTP while an agent works; the answer always comes, and in time."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from helix.agents.hook_events.deferred_queue import PendingAnswer
from helix.agents.hook_events.dispatcher import HookAnswer
from helix.api.limits import has_too_many_values
from helix.api.permissions import PRINCIPAL, actor_of
from helix.api.resolver_context import ThreadShare
from helix.identity import LONGEST_PATH, project_of
from helix.model.memory import GLOBAL_SCOPE
from helix.model.principal import Principal
from helix.model.speaker import SCOPE_HEADER
from helix.service import Helix

WAY = 0.05
"""Seconds of what a hook may take that are left for the way there and back."""
WAIT = "x-helix-wait"
"""Header in which a client says how many milliseconds it is going to wait."""
SENT = "x-helix-sent"
"""Header in which it says when, by the clock that all processes of a machine share: a busy daemon reads it later."""

RECEIPTS = "x-helix-receipts"
"""Header in which a client says that it is going to tell when an agent has what was answered."""
RECEIPT = "x-helix-receipt"
"""Header of the answer: the name by which a client tells that, at `/hooks/receipts/NAME`."""

_MARGIN = 0.015
_LONGEST_WAY = 5.0
_MOST_VALUES = 20_000
_RECEIPT_SECONDS = 2.0
"""How long a receipt is waited for: longer than any client waits for the answer that it is for."""
_MOST_RECEIPTS = 1_000
_LONGEST_SCOPE = 1_000
_NOTHING: Mapping[str, Any] = {}

log = logging.getLogger(__name__)


class HookEndpoint:
    """Answers a hook with what the agent is to be told, and with `{}` where that is nothing, late, or went wrong.

    What is shown counts once the answer has arrived: a client that can tells so when it has printed it; of any other
    its connection was still open when the answer went out.
    """

    def __init__(self, helix: Helix, threads: ThreadShare) -> None:
        """Answer in threads of the hooks' own."""
        self._helix = helix
        self._seconds = max(helix.settings.hook_ms / 1000 - WAY, WAY)
        self._threads = threads
        self._receipts: dict[str, PendingAnswer] = {}
        helix.hooks.warm_up()

    async def answer(self, request: Request) -> Response:
        """Return the HTTP answer to one hook, as a route of the app."""
        given = _patience(request.headers.get(WAIT, ""), self._seconds)
        end = time.monotonic() + given - _under_way(request.headers.get(SENT, ""))
        try:
            payload = json.loads(await request.body())
            if has_too_many_values(payload, _MOST_VALUES):
                payload = None
        except (ValueError, RecursionError):
            payload = None
        client = str(request.path_params["client"])
        scope = scope_of(request)
        if scope is None:
            return _json(_NOTHING)
        if scope and isinstance(payload, dict):  # it names files of another machine
            payload = {name: value for name, value in payload.items() if "transcript" not in name.lower()}
        loop = asyncio.get_running_loop()
        actor = actor_of(request.scope)
        work = loop.create_task(self._threads.run(partial(self._answer, client, payload, end, scope, actor)))
        await asyncio.wait({work}, timeout=max(end - time.monotonic(), 0))
        if not work.done():
            work.add_done_callback(_lost)
            log.warning("a hook was answered with nothing: it took too long", extra={"client": client[:40]})
            return _json(_NOTHING)
        (answer, showing), headers = work.result()
        if await request.is_disconnected():
            showing.lost()
        elif showing.counts and request.headers.get(RECEIPTS):
            headers[RECEIPT] = self._expect(showing, loop)
        else:
            return _json(answer, headers, BackgroundTask(_arrived, showing))
        return _json(answer, headers)

    def _answer(
        self, client: str, payload: object, end: float, scope: str, actor: str
    ) -> tuple[HookAnswer, dict[str, str]]:
        """Return the answer and its headers, from a thread: looking at a session's folder may take long."""
        if why := self._helix.store.runtime.full():
            log.warning("a hook was answered with nothing: %s", why, extra={"client": client[:40]})
            return HookAnswer({}, PendingAnswer()), {}
        with self._helix.store.writer.acting(actor):
            told = self._helix.hooks.answer(client, payload, end, scope)
        return told, {SCOPE_HEADER: quote(scope)} if scope else self._scope(payload)

    async def receipt(self, request: Request) -> Response:
        """Take note over HTTP that an agent has an answer; one that came too late was not shown."""
        showing = self._receipts.pop(str(request.path_params["name"]), None)
        if showing is not None:
            showing.arrived()
        return _json(_NOTHING)

    def _expect(self, showing: PendingAnswer, loop: asyncio.AbstractEventLoop) -> str:
        """Return the name of the receipt for an answer, which is lost where none comes."""
        name = secrets.token_hex(8)
        self._receipts[name] = showing
        loop.call_later(_RECEIPT_SECONDS, self._missed, name)
        while len(self._receipts) > _MOST_RECEIPTS:
            self._missed(next(iter(self._receipts)))
        return name

    def _missed(self, name: str) -> None:
        showing = self._receipts.pop(name, None)
        if showing is not None:
            showing.lost()

    def _scope(self, payload: object) -> dict[str, str]:
        """Return the header with the scope of a session that begins; none for everything else."""
        if not isinstance(payload, Mapping) or payload.get("hook_event_name") != "SessionStart":
            return {}
        folder = payload.get("cwd")
        if not isinstance(folder, str) or not 0 < len(folder) <= LONGEST_PATH or "\0" in folder:
            return {}
        if not Path(folder).is_absolute():
            return {}
        settings = self._helix.settings
        here = project_of(Path(folder), worktrees=settings.worktrees, chosen=settings.scope, names=settings.home)
        return {SCOPE_HEADER: quote(here.scope)} if here.scope else {}


def scope_of(request: Request) -> str | None:
    """Return the scope that a key's hooks over HTTP tell of: by their header, else the one that the key is bound to.

    Empty where the owner of the machine asks: the folder tells then. None for a scope that is not the key's.
    """
    principal: Principal | None = request.scope.get(PRINCIPAL)
    if principal is None:
        return ""
    said = unquote(request.headers.get(SCOPE_HEADER, ""))[:_LONGEST_SCOPE]
    if not principal.scopes:
        return said or GLOBAL_SCOPE
    return (
        said if said in principal.scopes else principal.scopes[0] if not said and len(principal.scopes) == 1 else None
    )


def _patience(header: str, longest: float) -> float:
    """Return the seconds an answer may take where a client says how many milliseconds it waits."""
    return min(longest, max(int(header) / 1000 - _MARGIN, 0)) if header.isdecimal() and len(header) < 7 else longest


def _under_way(header: str) -> float:
    """Return the seconds since a request was sent; 0 where it does not say, or by another clock than ours."""
    try:
        passed = time.monotonic() - float(header)
    except ValueError:
        return 0.0
    return passed if 0.0 <= passed < _LONGEST_WAY else 0.0


async def _arrived(showing: PendingAnswer) -> None:
    """Have an answer count that went out: on the loop itself, so that no later hook is answered before."""
    showing.arrived()


def _lost(work: asyncio.Future[tuple[HookAnswer, dict[str, str]]]) -> None:
    """Note that the answer to a hook reached nobody."""
    if not work.cancelled() and work.exception() is None:
        work.result()[0].showing.lost()


def _json(
    answer: Mapping[str, Any], headers: Mapping[str, str] | None = None, background: BackgroundTask | None = None
) -> Response:
    return Response(json.dumps(answer), media_type="application/json", headers=headers, background=background)
