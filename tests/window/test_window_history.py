"""Every view over the project's own history, taken in as somebody who is new here does it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from looking import Window
from playwright.sync_api import Browser, expect
from window.browser import ROOT, Daemon, daemon, until
from window.hands import press, shows

from tests import waiting

FEWEST = 20  # commits; a shallow clone has hardly any
TO_COMMITS = "/?q=what+happens+when+the+disk+is+full"


@pytest.fixture(scope="module")
def own(browser: Browser, models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a store that holds the history of this checkout, found by words: a model takes a minute for it."""
    counted = subprocess.run(["git", "-C", str(ROOT), "rev-list", "--count", "HEAD"], capture_output=True, text=True)
    if counted.returncode != 0 or int(counted.stdout) < FEWEST:
        pytest.skip("this checkout has no history to take in")
    with daemon(tmp_path_factory.mktemp("own"), models_path, fill={}, embedding_model="none") as running:
        running.helix("ingest", "git", str(ROOT))
        waiting.until(lambda: has_graph(running))  # following may take longer than a page is waited for
        yield Window(running, browser)


def has_graph(running: Daemon) -> bool:
    """Whether the graph answers, which it does once it holds what was taken in."""
    try:
        running.helix("cypher", "RETURN 1")
    except subprocess.CalledProcessError:
        return False
    return True


@pytest.mark.soak
def test_a_question_finds_commits_and_each_view_shows_them_without_complaint(own: Window) -> None:
    with own.page(TO_COMMITS) as page:
        expect(page.locator(".card").first).to_be_visible()
        expect(page.locator(".card .badge.said.commit").first).to_have_text("commit")
        for path, words in (
            ("/", "the newest first"),
            ("/happened", "episodes"),
            ("/happened?tab=episodes", "commit"),
            ("/insights", "Insights"),
            ("/decide", "To decide"),
            ("/helps", "No task has ended yet."),
            ("/health", "rows in the journal"),
            ("/health?tab=work", "Background work"),
            ("/transfer", "Bring memories along"),
        ):
            own.go(page, path)
            shows(page, words)


@pytest.mark.soak
def test_its_graph_is_seen_from_afar_opened_and_walked(own: Window) -> None:
    with own.page("/graph") as page:
        shows(page, "communities: nodes that are tied to each other")
        press(page, page.get_by_role("listbox", name="Nodes").get_by_role("option").first)
        shows(page, "One community of")
        until(page, "Number(document.querySelector('[data-nodes]').dataset.nodes) > 2")
        own.go(page, TO_COMMITS.replace("/?", "/graph?"))
        until(page, "Number(document.querySelector('[data-nodes]').dataset.nodes) > 10")
