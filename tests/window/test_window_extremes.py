"""What is unusually long, often rewritten, or of an unusual time is shown like the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from looking import Window
from playwright.sync_api import Browser, Page, Route, expect
from window.browser import daemon
from window.hands import press
from window.stocked import store

from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest
from helix.memory.remember.curate import EditRequest
from helix.operations import capture, memories
from helix.service import Helix

VERSIONS = 12
OLD = "scope=old"


def story(word: str, edition: int) -> str:
    """Return a long text of one line; where the word holds `{}` all its words are of the edition, else one alone."""
    return " ".join(f"{word.format(edition)}{number}" for number in range(800)) + f" end of edition {edition}."


def unusual(helix: Helix) -> None:
    """Store long texts of many versions, and what happened at the beginning of time."""
    for trigger, word in (("A tale that is told anew", "edition{}word"), ("A chronicle that is amended", "word")):
        name = store(helix, trigger, story(word, 0), "fact", "long")
        for edition in range(1, VERSIONS):
            memories.edit(helix, name, EditRequest(resolution=story(word, edition)))
    capture.open_session(helix, SessionRequest(name="monday", scope="old"))
    for text, at in (("The keeper came.", None), ("An odd clock struck.", datetime(1, 1, 1, tzinfo=UTC))):
        told = EpisodeRequest(content=text, scope="old", session="monday", role="user", occurred_at=at)
        capture.record_episode(helix, told)


@pytest.fixture(scope="module")
def archive(browser: Browser, models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on what is unusual."""
    with daemon(tmp_path_factory.mktemp("unusual"), models_path, fill={0: unusual}, embedding_model="none") as running:
        yield Window(running, browser)


@pytest.mark.soak
def test_versions_that_share_hardly_a_word_are_shown_whole(archive: Window) -> None:
    with archive.page("/memory/tale-told-anew") as page:
        press(page, page.get_by_role("button", name="Versions"))
        newest = page.locator(".versions > li .diff").first
        expect(newest.locator("del")).to_have_text(story("edition{}word", VERSIONS - 2))
        expect(newest.locator("ins")).to_have_text(story("edition{}word", VERSIONS - 1))


@pytest.mark.soak
def test_a_version_is_compared_once_it_comes_into_sight(archive: Window) -> None:
    with archive.page("/memory/chronicle-amended") as page:
        press(page, page.get_by_role("button", name="Versions"))
        compared = page.locator(".versions > li .diff")
        expect(compared).to_have_count(VERSIONS - 1)
        expect(compared.first.locator("ins")).to_have_text(str(VERSIONS - 1))  # of 800 words one, of an edition
        expect(compared.last.locator("ins")).to_have_count(0)
        compared.last.scroll_into_view_if_needed()
        expect(compared.last.locator("ins")).to_have_text("1")


@pytest.mark.soak
def test_what_happened_in_the_first_year_takes_nothing_off_the_time_line(archive: Window) -> None:
    with archive.page(f"/happened?{OLD}") as page:
        _has_all(page)
        expect(page.locator(".axis-tick")).to_have_text(["0500", "1000", "1500", "2000"])
        axis = page.get_by_role("group", name=re.compile("Time line"))
        for key in ("+", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
            axis.press(key)
        expect(page).to_have_url(re.compile(r"from=0001-01-01T.*&to=0"))
        expect(page.get_by_role("region", name="Sessions that began then")).to_contain_text("None began then.")
        expect(page.get_by_role("alert")).to_have_count(0)


def test_an_address_beyond_all_time_shows_all_time(archive: Window) -> None:
    with archive.page(f"/happened?{OLD}&from=-200000-01-01T00:00Z&to=%2B200000-01-01T00:00Z") as page:
        _has_all(page)


def _has_all(page: Page) -> None:
    expect(page.locator(".axis-span[title=monday]")).to_have_count(1)
    expect(
        page.get_by_role("region", name="Sessions that began then").get_by_role("link", name="monday")
    ).to_be_visible()
    rows = page.get_by_role("grid", name="Episodes").get_by_role("row")
    expect(rows.filter(has_text="The keeper came.")).to_have_count(1)
    expect(rows.filter(has_text="An odd clock struck.")).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.soak
def test_sessions_that_cannot_be_read_for_the_axis_are_said_to_be_missing(archive: Window) -> None:
    def refuse(route: Route) -> None:
        asked = route.request.post_data_json
        if "Sessions(" in asked["query"] and asked["variables"].get("first") == 200:
            route.fulfill(json={"data": None, "errors": [{"message": "the clerk is away"}]})
        else:
            route.continue_()

    with archive.page("/") as page:
        page.route("**/graphql", refuse)
        page.goto(f"{archive.origin}/happened?{OLD}")
        expect(page.get_by_role("alert")).to_contain_text("The clerk is away.")
        page.unroute("**/graphql")
        page.get_by_role("alert").get_by_role("button", name="Try again").click()
        expect(page.locator(".axis-span[title=monday]")).to_have_count(1)
        expect(page.get_by_role("alert")).to_have_count(0)
