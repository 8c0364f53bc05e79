"""Takes a picture of each view of the explorer, in both themes and on a narrow screen."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize

from window.browser import ROOT, Daemon, chromium, daemon, opened, until
from window.stocked import EXPERIMENT, STOCK

VIEWS = {
    "ask": "/?q=migration%20breaks&scope=shop",
    "ask-detail": "/?q=how%20do%20I%20run%20the%20tests&open=tests-fail-relation-orders-already",
    "compare": "/?q=run%20the%20tests&recipe2=bm25",
    "browse": "/",
    "week": f"/?time=recorded&since={datetime.now(UTC) - timedelta(days=7):%Y-%m-%d}",
    "memory": "/memory/tests-fail-relation-orders-already",
    "graph": "/graph",
    "graph-node": "/graph?start=tests-fail-relation-orders-already&steps=2",
    "graph-walk": "/graph?q=why%20does%20the%20parser%20fail",
    "timeline": "/happened",
    "sessions": "/happened?tab=sessions",
    "session": "/happened/session/monday?scope=shop",
    "insights": "/insights",
    "decide": "/decide",
    "decide-duplicates": "/decide?tab=duplicates",
    "decide-quarantine": "/decide?tab=quarantine",
    "helps-early": "/helps",
    "health": "/health",
    "health-work": "/health?tab=work",
    "health-agents": "/health?tab=agents",
    "transfer": "/transfer",
}
PROVEN = {"helps": "/helps"}
"""Views that say more once many tasks have ended."""


def settle(page: Page) -> None:
    """Wait until nothing is read any more and nothing is being placed."""
    until(page, "!document.querySelector('[data-placing=true]') && !document.querySelector('main .state[role=status]')")
    page.wait_for_timeout(350)


def main(folder: Path, only: list[str]) -> None:
    """Write the pictures into a folder, of all views or only those named, and print what the pages complained of."""
    folder.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for fill, holdback, views, height in ((STOCK, 0.0, VIEWS, 860), (EXPERIMENT, 0.5, PROVEN, 1500)):
            wanted = {name: path for name, path in views.items() if not only or name in only}
            if not wanted:
                continue
            with (
                tempfile.TemporaryDirectory() as home,
                daemon(Path(home), ROOT / "build/models", fill=fill, holdback=holdback) as running,
            ):
                running.helix("rebuild")  # else a picture may tell that the graph is being built
                for look, width in (("light", 1280), ("dark", 1280), ("narrow", 360)):
                    size = {"width": width, "height": 740 if look == "narrow" else height}
                    _shoot(browser, running, wanted, look, size, folder)


def _shoot(
    browser: Browser, running: Daemon, views: Mapping[str, str], look: str, size: ViewportSize, folder: Path
) -> None:
    page, seen, origin = opened(browser, running, viewport=size, color_scheme="dark" if look == "dark" else "light")
    for name, path in views.items():
        page.goto(origin + path)
        try:
            settle(page)
        except TimeoutError as error:  # the picture shows what it waits for
            print(f"{name}: {error}", file=sys.stderr)
        page.screenshot(path=folder / f"{name}-{look}.png")
    print(f"{look}: {len(seen.errors)} errors, {len(seen.outside)} requests to elsewhere")
    for error in seen.errors[:10]:
        print("  " + error[:400])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
