"""One browser, a daemon over a stocked store and one over an empty store, for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from looking import AXE, Window
from playwright.sync_api import Browser, expect
from window.browser import ROOT, Daemon, browser_path, chromium, daemon
from window.changed import fill
from window.stocked import EXPERIMENT, stock_earlier

expect.set_options(timeout=60_000)  # far longer than anything takes: a machine may do a lot beside the tests


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, where it is installed and the page is built.

    It closes with the module: while it is open its event loop runs in the worker's thread, where no test of another
    folder could run one of its own.
    """
    if browser_path() is None:
        pytest.skip("no Chromium is installed, which opens the explorer")
    if not (ROOT / "helix/_data/explorer/index.html").is_file():
        pytest.skip("the explorer is not built: scripts/setup builds it where Node is installed")
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core, which finds what keeps people from using a page."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: `npm ci` in web/explorer")
    return AXE.read_text("utf-8")


@pytest.fixture(scope="session")
def stocked_daemon(models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon over a store that holds something for every view."""
    with daemon(tmp_path_factory.mktemp("stocked"), models_path, fill={12: stock_earlier, 0: fill}) as running:
        yield running


@pytest.fixture(scope="session")
def empty_daemon(models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon over a store that holds nothing."""
    with daemon(tmp_path_factory.mktemp("empty"), models_path, fill={}) as running:
        yield running


@pytest.fixture(scope="module")
def proven(browser: Browser, models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a store in which enough tasks have ended to say whether memory helps."""
    home = tmp_path_factory.mktemp("proven")
    with daemon(home, models_path, fill=EXPERIMENT, holdback=0.5, embedding_model="none") as running:
        yield Window(running, browser)


@pytest.fixture(scope="module")
def stocked(browser: Browser, stocked_daemon: Daemon) -> Window:
    """A window on the store that holds something for every view."""
    return Window(stocked_daemon, browser)


@pytest.fixture(scope="module")
def empty(browser: Browser, empty_daemon: Daemon) -> Window:
    """A window on the store that holds nothing."""
    return Window(empty_daemon, browser)
