"""A page under measurement: when it has settled, when a key was painted, how many frames it draws, what it holds."""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from playwright.sync_api import Browser, CDPSession, Locator, Page, Request, ViewportSize
from window.browser import ROOT, Daemon, Seen, opened
from window.hands import SETTLED

from helix.settings import Settings

AIM_MS = 100
"""From a key to the paint after it."""

_SECONDS = 120
_LOOK_MS = 25
_QUIET_LOOKS = 3
_APART_MS = 60
"""Between two keys: as fast as people type."""
_SIZE: ViewportSize = {"width": 1280, "height": 860}

_OPERATION = re.compile(r"\b(query|mutation|subscription) (\w+)")
_WATCH_KEYS = """() => {
  window.painted = [];
  if (window.watchesKeys) return;
  window.watchesKeys = true;
  window.addEventListener("keydown", ({ timeStamp, isTrusted }) => {
    if (!isTrusted) return; // one that a field passes on to its list
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        const taken = performance.now() - timeStamp;
        window.painted.push(taken);
        window.keyPainted?.(taken);
      };
      port2.postMessage(null);
    });
  }, true);
}"""
"""The task behind a frame begins once that frame is painted."""
_COUNT_FRAMES = """() => {
  window.frames_drawn = [];
  window.counts_frames = true;
  const next = (now) => { window.frames_drawn.push(now); if (window.counts_frames) requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""
_COUNTED = "() => { window.counts_frames = false; return window.frames_drawn; }"


@dataclass
class Keys:
    """What keys took in one place: milliseconds from each to its paint, and of the processor for all together.

    The second holds also what follows from the keys, such as drawing an answer.
    """

    painted: list[float] = field(default_factory=list)
    busy_ms: float = 0.0

    def figures(self) -> dict[str, float]:
        """Return the spread of the times, and the processor's time of a key."""
        return {**spread(self.painted), "busy_ms": round(self.busy_ms / max(1, len(self.painted)), 1)}


def daemon_of(settings: Settings) -> Daemon:
    """Return the daemon of a store that is measured, as a browser is let in by it."""
    paths = {"HOME": settings.home, "HELIX_HOME": settings.home, "HELIX_DB_PATH": settings.store_path}
    given = {name: str(path) for name, path in paths.items()}
    return Daemon(settings.home, {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **given})


class Looking:
    """A browser that a daemon has let in, and what its pages complained of."""

    def __init__(self, browser: Browser, running: Daemon) -> None:
        self._browser = browser
        page, _, self.origin = opened(browser, running)
        self._state = page.context.storage_state()
        page.context.close()
        self.complaints: list[str] = []

    @contextmanager
    def page(self) -> Iterator[Watched]:
        """Have a page of its own, with nothing kept of those before but that the daemon knows it."""
        context = self._browser.new_context(storage_state=self._state, viewport=_SIZE)
        tab = context.new_page()
        tab.set_default_timeout(1000 * _SECONDS)
        seen = Seen()
        seen.watch(tab, self.origin)
        try:
            yield Watched(tab, self.origin)
        finally:
            self.complaints += seen.errors + [f"asked elsewhere: {one}" for one in seen.outside]
            context.close()


class Watched:
    """A page whose requests are known."""

    def __init__(self, tab: Page, origin: str) -> None:
        self.tab = tab
        self._origin = origin
        self._open: set[Request] = set()
        self._taken: list[tuple[float, str]] = []
        self._debugger: CDPSession | None = None
        tab.on("request", self._asks)
        tab.on("requestfinished", self._is_answered)
        tab.on("requestfailed", lambda request: self._open.discard(request))

    def go(self, path: str) -> float:
        """Open an address; return the milliseconds until it has settled."""
        self._taken.clear()
        started = time.perf_counter()
        self.tab.goto(self._origin + path, wait_until="commit")
        return 1000 * (self.settle() - started)

    def settle(self) -> float:
        """Wait until nothing is read or placed any more; return the moment since which that is so.

        Raises TimeoutError after two minutes.
        """
        until, since, quiet = time.monotonic() + _SECONDS, time.perf_counter(), 0
        while quiet < _QUIET_LOOKS:
            if self._open or not self.tab.evaluate(SETTLED):
                quiet = 0
            else:
                since = since if quiet else time.perf_counter()
                quiet += 1
            if time.monotonic() > until:
                raise TimeoutError(f"{self.tab.url} does not settle: {sorted(map(_name_of, self._open))}")
            self.tab.wait_for_timeout(_LOOK_MS)
        return since

    def slowest(self) -> str:
        """Return the operation that took longest since the last address was opened, and its milliseconds."""
        taken, name = max(self._taken, default=(0.0, ""))
        return f"{name} {taken:.0f}"

    def number(self, name: str) -> int:
        """Return a number that the drawn graph says of itself."""
        return int(self.tab.evaluate(f"document.querySelector('[data-{name}]').dataset.{name}"))

    def typed(self, at: Locator, words: Sequence[str], keys: Keys) -> None:
        """Type as a person does."""
        self.pressed(at, ["Space" if key == " " else key for key in words], keys)

    def pressed(self, at: Locator, pressed: Sequence[str], keys: Keys) -> None:
        """Press keys at an element, and note in `keys` what each took."""
        at.focus()
        self.tab.evaluate(_WATCH_KEYS)
        before = self._busy()
        for key in pressed:
            self.tab.keyboard.press(key)
            self.tab.wait_for_timeout(_APART_MS)
        self.tab.wait_for_timeout(2 * _APART_MS)
        keys.painted += self.tab.evaluate("window.painted")
        keys.busy_ms += 1000 * (self._busy() - before)

    def _busy(self) -> float:
        """Return the seconds of the processor that the page's own thread has used so far."""
        if self._debugger is None:
            self._debugger = self.tab.context.new_cdp_session(self.tab)
            self._debugger.send("Performance.enable", {"timeDomain": "threadTicks"})
        return figures_of(self._debugger)["TaskDuration"]

    def tell_of_keys(self, told: Callable[[float], None]) -> None:
        """Have every key on this page tell the milliseconds to its paint, at whatever address; before one is opened."""
        self.tab.expose_binding("keyPainted", lambda _, taken: told(taken))
        self.tab.add_init_script(f"({_WATCH_KEYS})()")

    def frames(self, act: Callable[[], None]) -> dict[str, float]:
        """Return how many frames a second were drawn while something was done, and the longest wait for one."""
        self.tab.evaluate(_COUNT_FRAMES)
        act()
        moments: list[float] = self.tab.evaluate(_COUNTED)
        waits = [after - before for before, after in pairwise(moments)]
        per_second = 1000 * len(waits) / max(1.0, sum(waits))
        return {"per_second": round(per_second, 1), "longest_ms": round(max(waits, default=0.0))}

    def panned(self) -> None:
        """Drag the graph to and fro for some seconds."""
        x, y = self._middle()
        mouse = self.tab.mouse
        mouse.move(x + 8, y + 8)
        mouse.down()
        for turn in range(60):
            mouse.move(x + 8 + 3 * (turn if turn < 30 else 60 - turn), y + 2 * (turn % 20))
            self.tab.wait_for_timeout(16)
        mouse.up()

    def zoomed(self) -> None:
        """Turn the wheel over the graph, in and out again."""
        self.tab.mouse.move(*self._middle())
        for turn in range(20):
            self.tab.mouse.wheel(0, -120 if turn < 10 else 120)
            self.tab.wait_for_timeout(80)

    def tour(self, paths: Sequence[str]) -> Mapping[str, float]:
        """Open views by their links; return the milliseconds of each until it has settled."""
        taken = {}
        for path in paths:
            started = time.perf_counter()
            self.tab.locator(f"nav a[href^='{path}']").first.click()
            taken[path] = 1000 * (self.settle() - started)
        return taken

    def _middle(self) -> tuple[float, float]:
        box = self.tab.locator(".canvas").bounding_box()
        assert box is not None  # the graph is drawn
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def _asks(self, request: Request) -> None:
        if not _is_stream(request):
            self._open.add(request)

    def _is_answered(self, request: Request) -> None:
        self._open.discard(request)
        if not _is_stream(request):
            self._taken.append((request.timing["responseEnd"], _name_of(request)))


def _name_of(request: Request) -> str:
    named = _OPERATION.search(request.post_data or "")
    return named[2] if named else request.url.rpartition("/")[2]


def _is_stream(request: Request) -> bool:
    """Return whether an answer has no end that is told of: a subscription, or the look whether anybody is there."""
    named = _OPERATION.search(request.post_data or "")
    return request.url.endswith("/graphql") and (named is None or named[1] == "subscription")


def heap(debugger: CDPSession) -> dict[str, float]:
    """Return what a page holds once all that it let go of is collected: MB (10^6 bytes), and nodes."""
    for _ in range(3):
        debugger.send("HeapProfiler.collectGarbage")
    metrics = figures_of(debugger)
    return {"mb": round(metrics["JSHeapUsedSize"] / 1e6, 2), "nodes": metrics["Nodes"]}


def figures_of(debugger: CDPSession) -> dict[str, float]:
    """Return what the browser counts of a page, by name."""
    return {one["name"]: one["value"] for one in debugger.send("Performance.getMetrics")["metrics"]}


def spread(milliseconds: Sequence[float]) -> dict[str, float]:
    """Return how many times there are, the median, the 95th of a hundred, least and most, and how many miss the aim."""
    ordered = sorted(milliseconds) or [0.0]
    return {
        "times": len(milliseconds),
        "median": round(statistics.median(ordered)),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]),
        "least": round(ordered[0]),
        "most": round(ordered[-1]),
        "over_100_ms": sum(one > AIM_MS for one in ordered),
    }
