"""The page waits for a graph that cannot answer yet: it says why, shows what needs no graph, and goes on by itself."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from looking import Window
from playwright.sync_api import Browser, expect
from window.browser import Daemon, daemon
from window.hands import shows, turn
from window.stocked import store

from helix.operations import memories
from helix.service import Helix

WAITS = "This page goes on by itself."
SECONDS_OF_A_REQUEST = 2


def tied(helix: Helix) -> None:
    """Store three memories, each tied to the next."""
    words = ("The lighthouse needs oil", "Oil comes by boat", "Boats are tarred in May")
    names = [store(helix, one, "", "fact") for one in words]
    for pair in pairwise(names):
        memories.edge(helix, *pair, "DEPENDS_ON")


def much(helix: Helix) -> None:
    """Store more than a graph is built of while a question waits."""
    for number in range(90):
        store(helix, "Buoys: " + ", ".join(f"`bay{number}/buoy{one}.py`" for one in range(20)), "", "fact")


@pytest.fixture(scope="module")
def coast(browser: Browser, models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on two tied memories, whose daemon ends a request soon."""
    with daemon(tmp_path_factory.mktemp("coast"), models_path, fill={0: tied}) as running:
        (running.home / ".helix/config.toml").write_text(f"request_timeout_ms = {1000 * SECONDS_OF_A_REQUEST}\n")
        yield Window(running, browser)


@contextmanager
def halted(running: Daemon) -> Iterator[None]:
    """Have the graph's process stand still for the block, as one does that has much to apply."""
    running.helix("cypher", "RETURN 1")
    (pid,) = [
        int(one.parent.name)
        for one in Path("/proc").glob("[0-9]*/cmdline")
        if b"graph_server" in (words := one.read_bytes()) and os.fsencode(running.home) in words
    ]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the graph's process under /proc")
def test_a_graph_that_is_behind_is_waited_for_and_shown_once_it_has_caught_up(coast: Window) -> None:
    with coast.page() as page:
        with halted(coast.running):
            coast.running.helix("store", "The keeper rows to the reef")
            page.goto(coast.origin + "/graph")
            shows(page, WAITS, "longer than 2 s")
            turn(page, "/")
            shows(page, "The keeper rows to the reef")  # what needs no graph waits for none
            page.goto(coast.origin + "/graph")
            shows(page, WAITS)
        expect(page.get_by_role("option").filter(has_text="The keeper rows to the reef")).to_be_visible(timeout=60_000)
        expect(page.get_by_text(WAITS)).to_have_count(0)


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds the graph's process under /proc")
def test_a_way_through_a_graph_that_is_behind_is_waited_for_beside_what_is_drawn(coast: Window) -> None:
    with coast.page() as page:
        nodes = page.get_by_role("listbox", name="Nodes").get_by_role("option")
        with halted(coast.running):
            coast.running.helix("store", "The boat is blue")
            page.goto(coast.origin + "/graph?start=lighthouse-needs-oil&to=boats-tarred-may")
            shows(page, WAITS)
            expect(nodes.filter(has_text="lighthouse-needs-oil")).to_be_visible()
            expect(nodes.filter(has_text="boats-tarred-may")).to_have_count(0)
        expect(nodes.filter(has_text="boats-tarred-may")).to_be_visible(timeout=60_000)
        expect(page.get_by_text(WAITS)).to_have_count(0)


@pytest.mark.soak
def test_a_graph_that_is_built_anew_is_waited_for(browser: Browser, models_path: Path, tmp_path: Path) -> None:
    with daemon(tmp_path, models_path, fill={0: much}, embedding_model="none") as running:
        graph = tmp_path / ".helix/store/graph.kuzu"
        graph.unlink(missing_ok=True)
        with graph.with_name("graph.kuzu.building-lock").open("w") as building:
            fcntl.flock(building, fcntl.LOCK_EX)
            window = Window(running, browser)
            with window.page() as page:
                page.goto(window.origin + "/graph")
                shows(page, WAITS, "the graph is being rebuilt")
                fcntl.flock(building, fcntl.LOCK_UN)
                shows(page, "nodes that are tied to each other more than to the rest")
                expect(page.get_by_text(WAITS)).to_have_count(0)


def test_a_page_goes_on_without_a_network(stocked: Window) -> None:
    """What a browser tells a page that there is no network for says nothing of a daemon on the same machine."""
    stocked.running.helix("store", "Oil comes by boat", "--scope", "coast")
    with stocked.page() as page:
        page.evaluate("dispatchEvent(new Event('offline'))")
        turn(page, "/?q=who+brings+the+oil&scope=coast")
        shows(page, "Oil comes by boat")
        page.locator(".card-button").first.click()
        page.get_by_role("button", name="Helped", exact=True).click()
        expect(page.locator(".toast", has_text="helped")).to_be_visible()
