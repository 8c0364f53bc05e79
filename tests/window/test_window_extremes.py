"""What is unusually long, or often rewritten, is shown like the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from looking import Window
from playwright.sync_api import Browser, expect
from window.browser import daemon
from window.hands import press
from window.stocked import store

from helix.memory.remember.curate import EditRequest
from helix.operations import memories
from helix.service import Helix

VERSIONS = 12


def story(word: str, edition: int) -> str:
    """Return a long text of one line; where the word holds `{}` all its words are of the edition, else one alone."""
    return " ".join(f"{word.format(edition)}{number}" for number in range(800)) + f" end of edition {edition}."


def unusual(helix: Helix) -> None:
    """Store long texts of many versions."""
    for trigger, word in (("A tale that is told anew", "edition{}word"), ("A chronicle that is amended", "word")):
        name = store(helix, trigger, story(word, 0), "fact", "long")
        for edition in range(1, VERSIONS):
            memories.edit(helix, name, EditRequest(resolution=story(word, edition)))


@pytest.fixture(scope="module")
def archive(browser: Browser, models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on what is unusual."""
    with daemon(tmp_path_factory.mktemp("unusual"), models_path, fill={0: unusual}, embedding_model="none") as running:
        yield Window(running, browser)


def test_versions_that_share_hardly_a_word_are_shown_whole(archive: Window) -> None:
    with archive.page("/memory/tale-told-anew") as page:
        press(page, page.get_by_role("button", name="Versions"))
        newest = page.locator(".versions > li .diff").first
        expect(newest.locator("del")).to_have_text(story("edition{}word", VERSIONS - 2))
        expect(newest.locator("ins")).to_have_text(story("edition{}word", VERSIONS - 1))


def test_a_version_is_compared_once_it_comes_into_sight(archive: Window) -> None:
    with archive.page("/memory/chronicle-amended") as page:
        press(page, page.get_by_role("button", name="Versions"))
        compared = page.locator(".versions > li .diff")
        expect(compared).to_have_count(VERSIONS - 1)
        expect(compared.first.locator("ins")).to_have_text(str(VERSIONS - 1))  # of 800 words one, of an edition
        expect(compared.last.locator("ins")).to_have_count(0)
        compared.last.scroll_into_view_if_needed()
        expect(compared.last.locator("ins")).to_have_text("1")
