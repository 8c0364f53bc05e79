"""A real daemon over a stocked store, and a real browser that looks at it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from shutil import which
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from helix import settings as configuration
from helix.model.clock import system_clock
from helix.service import Helix
from window.stocked import STOCK

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--enable-unsafe-swiftshader",  # WebGL by the processor; the rest of a page is drawn as without a graphics card
    "--no-sandbox",  # the tests may run as root
)
_OF_THE_BROWSER = "GL Driver Message (OpenGL, Performance"
"""What Chromium says of itself, on any page with WebGL, where it draws without a graphics card."""


@dataclass
class Daemon:
    """A daemon with a home of its own; `helix` runs a command line there and returns what it prints."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def helix(self, *words: str) -> str:
        """Run the command; raises CalledProcessError where it fails."""
        line = [sys.executable, "-m", "helix.cli.main", *words]
        return subprocess.run(
            line, env=self.environment, cwd=self.home, stdout=subprocess.PIPE, check=True, text=True, timeout=120
        ).stdout

    def link(self) -> str:
        """Return a link that lets one browser in, once; a daemon is started where none runs."""
        return self.helix("open", "--no-browser").strip()


@contextmanager
def daemon(
    home: Path, models: Path, *, fill: Mapping[int, Callable[[Helix], None]] = STOCK, **settings: object
) -> Iterator[Daemon]:
    """Have a daemon over a store that was filled so many days ago each; it is stopped at the end.

    No task is held back, unless the settings say so.
    """
    helix_home = home / ".helix"
    helix_home.mkdir(parents=True)
    (helix_home / "models").symlink_to(models)
    variables = {f"HELIX_{name.upper()}": str(value) for name, value in {"holdback": 0.0, **settings}.items()}
    given = {"HOME": str(home), "HELIX_HOME": str(helix_home), **variables}
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **given}
    for days, put in fill.items():
        then = timedelta(days=days)
        known = configuration.load({}, environ=given, cwd=home)
        with Helix.open(known, clock=lambda then=then: system_clock() - then) as helix:  # type: ignore[misc]
            put(helix)
    running = Daemon(home, environment)
    try:
        yield running
    finally:
        running.helix("stop")


@dataclass
class Seen:
    """What a page said on its console, threw, or asked of anywhere but the daemon."""

    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def watch(self, page: Page, origin: str) -> None:
        """Note what a page does from now on."""

        def said(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning") and _OF_THE_BROWSER not in message.text:
                self.errors.append(f"{message.text} at {message.location.get('url', '')}")

        def asked(request: Request) -> None:
            if not request.url.startswith((origin, "data:", "blob:")):
                self.outside.append(request.url)

        page.on("console", said)
        page.on("pageerror", lambda error: self.errors.append(f"{error.message}\n{error.stack or ''}"[:600]))
        page.on("request", asked)


def browser_path() -> str | None:
    """Return where Chromium is, if it is installed."""
    return which("chromium") or which("chromium-browser") or which("google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Have a headless browser for the block."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
        try:
            yield found
        finally:
            found.close()


def opened(browser: Browser, running: Daemon, **options: Any) -> tuple[Page, Seen, str]:
    """Return a page that the daemon knows, what it is seen to do, and the daemon's origin."""
    link = running.link()
    origin = link.partition("/open/")[0]
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(30_000)
    seen = Seen()
    seen.watch(page, origin)
    page.goto(link)
    return page, seen, origin


def until(page: Page, condition: str, seconds: float = 30) -> None:
    """Wait until an expression of the page is true; raises TimeoutError.

    Playwright's own wait has the page read a text as a script, which the page's policy refuses.
    """
    for _ in range(round(seconds / 0.1)):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise TimeoutError(condition)
