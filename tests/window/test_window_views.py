"""Every view opens from its own address, wide and narrow, light and dark, and everybody can read and reach it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from looking import NARROW, WIDE, Window, shows
from playwright.sync_api import Page, expect
from window.browser import ROOT

AXE = ROOT / "web/explorer/node_modules/axe-core/axe.min.js"
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
FOUND = "tests-fail-relation-orders-already"
VIEWS = (
    ("/?scope=shop", "The cart is kept in Redis"),
    ("/?scope=shop&kind=FAILURE", "npm ci"),
    (f"/?q=how+do+I+run+the+tests&open={FOUND}", "Why it was shown"),
    ("/?q=run+the+tests&recipe2=bm25&asOf2=2020-01-01", "only here"),
    (f"/memory/{FOUND}", "Its effect over time"),
    ("/graph", "communities"),
    (f"/graph?start={FOUND}&steps=2&to=run-tests-uv-run-pytest", "PNG"),
    ("/graph?q=why+does+the+parser+fail", "PNG"),
    ("/happened", "monday"),
    ("/happened?tab=episodes", "raises a KeyError"),
    ("/happened?tab=plans", "new payment provider"),
    ("/happened/session/monday?scope=shop", "raises a KeyError"),
    ("/insights", "parser.py"),
    ("/decide?tab=contradictions", "The first holds"),
    ("/decide?tab=quarantine", "Why it is here"),
    ("/decide?tab=queue", "Remember it"),
    ("/decide?tab=duplicates", "alike to"),
    ("/decide?tab=gaps", "ask it again"),
    ("/helps", "Memories that were shown"),
    ("/health", "memory of the daemon"),
    ("/health?tab=work", "Background work"),
    ("/health?tab=models", "embedding model"),
    ("/health?tab=settings", "What it means"),
    ("/health?tab=agents", "Connected to this store"),
    ("/health?tab=checks", "well"),
    ("/health?tab=log", "INFO"),
    ("/transfer", "Take memories elsewhere"),
    ("/no/such/view", "There is no such page"),
)
NOTHING_YET = (
    ("/", "helix ingest git ."),
    ("/?q=anything", "Show what is nearest"),
    ("/memory/nothing", "Try again"),
    ("/graph", "helix ingest git ."),
    ("/graph?q=anything", "Begin at another name or question"),
    ("/happened", "helix connect all"),
    ("/happened?tab=episodes", "agents record what they do"),
    ("/happened?tab=plans", "Planners of connected agents"),
    ("/insights", "helix reflect"),
    ("/decide", "Nothing contradicts anything"),
    ("/decide?tab=gaps", "No question went unanswered"),
    ("/helps", "helix verify"),
    ("/health", "rows in the journal"),
    ("/health?tab=work", "None since the daemon started"),
    ("/health?tab=checks", "well"),
    ("/transfer", "None since the daemon started"),
)


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: `npm ci` in web/explorer")
    return AXE.read_text("utf-8")


def no_barrier(page: Page, axe: str, view: str) -> None:
    """Assert that axe-core finds nothing that keeps anybody from using what the page shows."""
    page.evaluate(axe)
    found = page.evaluate(
        """tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']}).then(({violations}) =>
           violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 200))}`))""",
        list(WCAG),
    )
    assert (view, found) == (view, [])


def fits(page: Page, view: str) -> None:
    """Assert that nothing of a page lies beside its screen."""
    widths = "[document.documentElement, document.querySelector('main')].map(box => box.scrollWidth - box.clientWidth)"
    assert (view, page.evaluate(widths)) == (view, [0, 0])


def look_at(window: Window, views: Sequence[tuple[str, str]], axe: str) -> None:
    """Open each view wide and in light, then make it narrow and dark."""
    with window.page() as page:
        for path, words in views:
            page.set_viewport_size(WIDE)
            page.emulate_media(color_scheme="light")
            window.go(page, path)
            shows(page, words)
            no_barrier(page, axe, path)
            page.emulate_media(color_scheme="dark")
            page.set_viewport_size(NARROW)
            fits(page, path)
            no_barrier(page, axe, path)


def test_every_view_of_a_stocked_store_is_open_to_everybody(stocked: Window, axe: str) -> None:
    look_at(stocked, VIEWS, axe)


def test_every_view_of_an_empty_store_says_what_to_do(empty: Window, axe: str) -> None:
    look_at(empty, NOTHING_YET, axe)


def test_the_theme_that_was_chosen_stays(empty: Window) -> None:
    with empty.page(color_scheme="light") as page:
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        light = page.evaluate(ground)
        page.get_by_role("button", name="Change between light and dark").click()
        dark = page.evaluate(ground)
        empty.go(page, "/health")
        assert page.evaluate(ground) == dark != light
        page.get_by_role("button", name="Change between light and dark").press("Enter")
        assert page.evaluate(ground) == light


def test_what_is_left_by_a_link_is_found_again_by_going_back(stocked: Window) -> None:
    with stocked.page("/?scope=shop") as page:
        page.get_by_role("link", name="Insights").click()
        expect(page).to_have_url(f"{stocked.origin}/insights?scope=shop")
        page.go_back()
        shows(page, "The cart is kept in Redis")
        expect(page).to_have_title("Ask · Helix")
