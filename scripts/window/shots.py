"""Takes a picture of each view of the explorer, in both themes and on a narrow screen."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from window.browser import ROOT, chromium, daemon, opened, until

VIEWS = {
    "ask": "/?q=migration%20breaks&scope=shop",
    "ask-detail": "/?q=how%20do%20I%20run%20the%20tests&open=tests-fail-relation-orders-already",
    "compare": "/?q=run%20the%20tests&recipe2=bm25",
    "browse": "/",
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
    "helps": "/helps",
    "health": "/health",
    "health-work": "/health?tab=work",
    "health-agents": "/health?tab=agents",
    "transfer": "/transfer",
}


def settle(page: Page) -> None:
    """Wait until nothing is read any more and nothing is being placed."""
    until(page, "!document.querySelector('[data-placing=true]') && !document.querySelector('main .state[role=status]')")
    page.wait_for_timeout(350)


def main(folder: Path, only: list[str]) -> None:
    """Write the pictures into a folder, of all views or only those named, and print what the pages complained of."""
    folder.mkdir(parents=True, exist_ok=True)
    models = ROOT / "build/models"
    with tempfile.TemporaryDirectory() as home, daemon(Path(home), models) as running, chromium() as browser:
        for look, size in (("light", (1280, 860)), ("dark", (1280, 860)), ("narrow", (360, 740))):
            scheme = "dark" if look == "dark" else "light"
            page, seen, origin = opened(
                browser, running, viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
            )
            for name, path in VIEWS.items():
                if only and name not in only:
                    continue
                page.goto(origin + path)
                try:
                    settle(page)
                except Exception as error:  # the picture shows what it waits for
                    print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
                page.screenshot(path=folder / f"{name}-{look}.png")
            print(f"{look}: {len(seen.errors)} errors, {len(seen.outside)} requests to elsewhere")
            for error in seen.errors[:10]:
                print("  " + error[:400])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
