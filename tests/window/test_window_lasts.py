"""A page that is kept open: hostile texts do nothing in it, it outlives its daemon, and it gives its memory back."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

import pytest
from looking import Window
from playwright.sync_api import Browser, CDPSession, Page, expect
from window.browser import daemon, until
from window.hands import SETTLED, shows
from window.stocked import store

from helix.service import Helix

TOURS = ("/", "/graph", "/happened", "/insights", "/decide", "/helps", "/health", "/transfer")
MOST_GROWTH = 6_000_000  # bytes: half of what the page takes at its first tour


def test_hostile_texts_are_drawn_as_texts(stocked: Window) -> None:
    drawn = (
        "/?scope=hostile",
        "/?q=script+emoji+override+link&scope=hostile&all=1",
        "/graph?q=script+emoji&scope=hostile",
    )
    with stocked.page(again=False) as page:
        page.on("dialog", lambda dialog: pytest.fail(f"a text opened a dialog: {dialog.message}"))
        for path in drawn:
            stocked.go(page, path)
            shows(page, "<script>document.title=2</script>")
            assert page.title().endswith("Helix")
            assert page.locator("[onerror], main script, a[href^='javascript']").count() == 0


@pytest.mark.soak
def test_the_page_says_that_the_daemon_is_gone_and_goes_on_with_the_next(empty: Window) -> None:
    with empty.page("/decide?tab=duplicates", quiet=False) as page:
        empty.running.helix("stop")
        shows(page, "Helix does not answer")
        before = page.url
        empty.running.helix("recall", "anything")
        page.wait_for_url(lambda url: url != before and "tab=duplicates" in url)
        shows(page, "No two memories say nearly the same")
        expect(page.get_by_text("Helix does not answer")).to_have_count(0)
    empty.let_in()


class _Listener(BaseHTTPRequestHandler):
    """Answers everything, as another user's program could, and keeps what it was asked."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.command} {urlsplit(self.path).path}")
        self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b'{"data": {"__typename": "Query"}, "proof": "00"}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.mark.soak
def test_whoever_listens_where_the_daemon_was_is_asked_nothing_but_who_it_is(empty: Window) -> None:
    with empty.page("/", quiet=False) as page:
        shows(page, "Nothing is remembered yet")
        empty.running.helix("stop")
        shows(page, "Helix does not answer")
        with ThreadingHTTPServer(("127.0.0.1", urlsplit(empty.origin).port or 0), _Listener) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                shows(page, "another program listens where it was")
                page.get_by_role("searchbox").first.fill("the acquisition of Initech")
                page.keyboard.press("Enter")
                for path in TOURS:
                    page.locator(f"nav a[href^='{path}']").first.click()
                    page.wait_for_url(f"**{path}*")
            finally:
                server.shutdown()
                thread.join()
        assert {*_Listener.asked} == {"GET /alive", "GET /moved"}
        empty.running.helix("recall", "anything")
        page.wait_for_url(lambda url: not url.startswith(empty.origin))
    empty.let_in()


def heap(page: Page, debugger: CDPSession) -> dict[str, float]:
    """Return what the page holds once all that it let go of is collected: bytes and nodes."""
    for _ in range(3):
        debugger.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in debugger.send("Performance.getMetrics")["metrics"]}
    return {"bytes": metrics["JSHeapUsedSize"], "nodes": metrics["Nodes"]}


def tour(page: Page) -> None:
    """Open every view by its link, as a person does who stays on the page."""
    for path in TOURS:
        page.locator(f"nav a[href^='{path}']").first.click()
        until(page, f"location.pathname === '{path}' && {SETTLED}", 60)


@pytest.mark.soak
def test_memory_returns_after_every_view_was_opened_and_closed(stocked: Window, request: pytest.FixtureRequest) -> None:
    with stocked.page(again=False) as page:
        debugger = page.context.new_cdp_session(page)
        debugger.send("Performance.enable")
        for _ in range(2):
            tour(page)
        before = heap(page, debugger)
        for _ in range(20 if request.config.getoption("--soak") else 2):
            tour(page)
        after = heap(page, debugger)
    assert after["bytes"] - before["bytes"] < MOST_GROWTH
    assert after["nodes"] < 1.5 * before["nodes"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 60 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root and Linux")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.soak
def test_a_full_disk_is_said_on_the_page_which_goes_on_once_there_is_room(
    browser: Browser, small_disk: Path, models_path: Path
) -> None:
    def one_memory(helix: Helix) -> None:
        store(helix, "The moon is far", "", "fact")

    with daemon(small_disk, models_path, fill={0: one_memory}) as running:
        window, ballast = Window(running, browser), small_disk / "ballast"
        with window.page("/?q=how+far+is+the+moon", quiet=False) as page:
            page.locator(".card-button").first.click()
            forget = page.get_by_role("button", name="Forget")
            with pytest.raises(OSError, match="No space left"), ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * 4096)
            forget.click()
            expect(page.locator(".toast.wrong")).to_contain_text("disk")
            ballast.unlink()
            page.locator(".toast.wrong").get_by_role("button", name="Close").click()
            forget.click()
            expect(page.get_by_role("button", name="Restore")).to_be_visible()
