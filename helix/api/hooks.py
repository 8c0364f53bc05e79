"""Hooks: what coding agents' clients tell over HTTP while an agent works; the answer always comes, and in time."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from helix.api.limits import has_too_many_values
from helix.identity import LONGEST_PATH, project_of
from helix.service import Helix

WAY = 0.05
"""Seconds of what a hook may take that are left for the way there and back."""
WAIT = "x-helix-wait"
"""Header in which a client says how many milliseconds it is going to wait."""
SENT = "x-helix-sent"
"""Header in which it says when, by the clock that all processes of a machine share: a busy daemon reads it later."""

SCOPE = "x-helix-scope"
"""Header of the answer to the beginning of a session: the scope that commands run in it are to work in, quoted."""

_MARGIN = 0.015
_LONGEST_WAY = 5.0
_THREADS = 4
_MOST_VALUES = 20_000
_NOTHING: Mapping[str, Any] = {}

log = logging.getLogger(__name__)


class HookEndpoint:
    """Answers a hook with what the agent is to be told, and with `{}` where that is nothing, late, or went wrong.

    Hooks have threads of their own: an agent waits for them at every command, whatever else the daemon is asked.
    """

    def __init__(self, helix: Helix) -> None:
        self._helix = helix
        self._seconds = max(helix.settings.hook_ms / 1000 - WAY, WAY)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="helix-hook")
        helix.warm_hooks()

    async def answer(self, request: Request) -> Response:
        """Return the answer to one hook, as a route of the app."""
        given = _patience(request.headers.get(WAIT, ""), self._seconds)
        end = time.monotonic() + given - _under_way(request.headers.get(SENT, ""))
        try:
            payload = json.loads(await request.body())
            if has_too_many_values(payload, _MOST_VALUES):
                payload = None
        except (ValueError, RecursionError):
            payload = None
        client = str(request.path_params["client"])
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, partial(self._helix.hook, client, payload, until=end))
        await asyncio.wait({work}, timeout=max(end - time.monotonic(), 0))
        if work.done():
            return _json(work.result(), self._scope(payload))
        log.warning("a hook was answered with nothing: it took too long", extra={"client": client[:40]})
        return _json(_NOTHING)

    def _scope(self, payload: object) -> str:
        """Return the scope of a session that begins; empty for everything else."""
        if not isinstance(payload, Mapping) or payload.get("hook_event_name") != "SessionStart":
            return ""
        folder = payload.get("cwd")
        if not isinstance(folder, str) or not 0 < len(folder) <= LONGEST_PATH or "\0" in folder:
            return ""
        if not Path(folder).is_absolute():
            return ""
        settings = self._helix.settings
        return project_of(Path(folder), worktrees=settings.worktrees, chosen=settings.scope, names=settings.home).scope

    async def close(self) -> None:
        """Let begun work end, drop what waits."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)


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


def _json(answer: Mapping[str, Any], scope: str = "") -> Response:
    headers = {SCOPE: quote(scope)} if scope else None
    return Response(json.dumps(answer), media_type="application/json", headers=headers)
