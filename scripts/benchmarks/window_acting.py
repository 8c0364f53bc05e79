"""Every action of the explorer on a large store, by keyboard alone and by pointer: what fails, and what a key takes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Error, expect
from window.changed import fill
from window.hands import Hands, Keys, Pointer
from window.stocked import stock_earlier
from window.walks import WALKS, Walk

from benchmarks.speed_daemon import running
from benchmarks.speed_store import Say, settings_of
from benchmarks.window_page import Looking, daemon_of, spread
from helix.model.clock import system_clock
from helix.service import Helix
from helix.settings import Settings

_LATE_MS = 60_000
"""How long an action may take until what comes of it is seen: what misses that has failed."""


def acted(home: Path, browser: Browser, say: Say) -> dict[str, Any]:
    """Walk every action by each kind of hands, on copies of a store that are stocked for it and removed again.

    Return, by hands, how many were done, which failed and why, what the pages complained of, and what keys took.
    """
    expect.set_options(timeout=_LATE_MS)
    return {hands.name: _by(home, browser, hands, say) for hands in (Keys(), Pointer())}


def _by(home: Path, browser: Browser, hands: Hands, say: Say) -> dict[str, Any]:
    with _copy(home, say) as settings, running(settings):
        looking = Looking(browser, daemon_of(settings))
        painted: list[float] = []
        failed = {}
        for name, walk in WALKS.items():
            say(f"by {hands.name}: {name}")
            if trouble := _walked(looking, walk, hands, settings.home, painted):
                failed[name] = trouble
        return {
            "actions": len(WALKS),
            "failed": failed,
            "complaints": looking.complaints[:20],
            "keys": spread(painted),
        }


def _walked(looking: Looking, walk: Walk, hands: Hands, folder: Path, painted: list[float]) -> str:
    """Do one thing; return why it failed, or nothing."""
    with looking.page() as page:
        page.tell_of_keys(painted.append)
        try:
            page.go(walk.path)
            walk.go(page.tab, hands, folder)
        except (Error, AssertionError, TimeoutError) as error:
            return " ".join(str(error).split())[:300]
    return ""


@contextmanager
def _copy(home: Path, say: Say) -> Iterator[Settings]:
    """Have a copy of a store for the block, with what the walks look for in it."""
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        shutil.copytree(home / "store", Path(folder) / "store")
        settings = settings_of(Path(folder))
        say("stocking a copy of the store")
        for days, put in _PUT.items():
            then = timedelta(days=days)
            with Helix.open(settings, clock=lambda then=then: system_clock() - then) as helix:  # type: ignore[misc]
                put(helix)
        yield settings


_PUT: Mapping[int, Callable[[Helix], None]] = {12: stock_earlier, 0: fill}


def rows_of(result: Mapping[str, Mapping[str, Any]]) -> Sequence[Sequence[object]]:
    """Return the rows of a table of what `acted` found."""
    return [
        [
            name,
            one["actions"],
            len(one["failed"]),
            len(one["complaints"]),
            f"{one['keys']['median']:g} ({one['keys']['least']:g} to {one['keys']['most']:g})",
            one["keys"]["p95"],
            f"{one['keys']['over_100_ms']} of {one['keys']['times']}",
        ]
        for name, one in result.items()
    ]
