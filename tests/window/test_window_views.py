"""Every view opens from its own address, wide and narrow, light and dark, and everybody can read and reach it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from looking import LOOKS, NARROW, WIDE, Window, fits, no_barrier
from playwright.sync_api import ViewportSize, expect
from window.browser import until
from window.hands import shows, turn

from tests.sampling import some

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
    ("/happened?tab=sessions", "monday"),
    ("/happened?tab=episodes&scope=shop", "raises a KeyError"),
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


def look_at(window: Window, views: Sequence[tuple[str, str]], axe: str, *, soaked: bool) -> None:
    """Open each view wide, then make it narrow; every other one begins in the dark and goes on in the light.

    The first view of a page is opened by its address, and the others are gone to within the page. What those keep from
    people is asked in a soak alone: the page around them is that of the first, and so is all that they are made of.
    """
    opened: set[str] = set()
    with window.page() as page:
        for place, (path, words) in enumerate(views):
            first, second = ("light", "dark") if place % 2 == 0 else ("dark", "light")
            page.set_viewport_size(WIDE)
            page.emulate_media(color_scheme=first)
            name = path.partition("?")[0]
            first_of_page = name not in opened
            window.go(page, path) if first_of_page else turn(page, path)
            opened.add(name)
            shows(page, words)
            if first_of_page or soaked:
                no_barrier(page, axe, path)
            page.emulate_media(color_scheme=second)
            page.set_viewport_size(NARROW)
            fits(page, path)
            if first_of_page or soaked:
                no_barrier(page, axe, path, LOOKS)


@pytest.mark.soak
@pytest.mark.parametrize("size", some([WIDE, NARROW], 1), ids=["wide", "narrow"])
def test_no_list_is_higher_than_the_screen_so_that_it_reads_only_what_is_looked_at(
    stocked: Window, size: ViewportSize
) -> None:
    with stocked.page() as page:
        page.set_viewport_size(size)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.post_data or ""))
        for path, name in (("/", "Memories"), ("/happened", "Episodes"), ("/happened?tab=episodes", "Episodes")):
            asked.clear()
            stocked.go(page, path)
            box = page.get_by_role("grid", name=name).bounding_box()
            assert box is not None
            assert (path, box["height"] <= size["height"]) == (path, True)
            assert [one for one in asked if '"after":"' in one] == []


def test_a_narrow_table_breaks_no_word_and_its_tab_is_in_sight(stocked: Window) -> None:
    with stocked.page() as page:
        page.set_viewport_size(NARROW)
        stocked.go(page, "/health?tab=agents")
        expect(page.locator(".table td").first).to_be_visible()
        broken = page.evaluate(
            """[...document.querySelectorAll('.table td')].flatMap(cell => {
                 const text = cell.firstChild;
                 if (text?.nodeType !== Node.TEXT_NODE) return [];
                 return [...text.data.matchAll(/\\S+/g)].filter(({index, 0: word}) => {
                   const range = document.createRange();
                   range.setStart(text, index);
                   range.setEnd(text, index + word.length);
                   return range.getClientRects().length > 1;
                 }).map(([word]) => word);
               })"""
        )
        assert broken == []
        expect(page.get_by_role("tab", selected=True)).to_be_in_viewport(ratio=0.9)


def linked(window: Window, path: str, beginning: str) -> str:
    """Return where the first link of a view leads that begins so."""
    with window.page(path) as page:
        return page.locator(f"main a[href^='{beginning}']").first.get_attribute("href") or ""


def test_every_view_of_a_stocked_store_is_open_to_everybody(
    stocked: Window, axe: str, pytestconfig: pytest.Config
) -> None:
    plan = linked(stocked, "/happened?tab=plans", "/plans/")
    insight = linked(stocked, "/insights", "/insights/")
    look_at(
        stocked, (*VIEWS, (plan, "4 tasks"), (insight, "It rests on")), axe, soaked=pytestconfig.getoption("--soak")
    )


@pytest.mark.soak
def test_what_opens_over_a_view_is_open_to_everybody(stocked: Window, axe: str) -> None:
    def both_themes(what: str) -> None:
        expect(page.locator("[data-entering]")).to_have_count(0)
        no_barrier(page, axe, what)
        page.emulate_media(color_scheme="dark")
        no_barrier(page, axe, what, LOOKS)
        page.emulate_media(color_scheme="light")

    with stocked.page(f"/memory/{FOUND}") as page:
        page.emulate_media(color_scheme="light")
        for button in ("Edit", "Relate"):
            page.get_by_role("button", name=button).click()
            expect(page.get_by_role("dialog")).to_be_visible()
            both_themes(button)
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_be_hidden()
        page.get_by_role("button", name="Scope").click()
        expect(page.get_by_role("listbox")).to_be_visible()
        both_themes("a list of choices")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        page.keyboard.type("cart")
        expect(page.get_by_role("menuitem", name=re.compile("memory cart-kept"))).to_be_visible()
        both_themes("the palette")
        page.keyboard.press("Escape")  # empties the field
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Helped", exact=True).click()
        expect(page.locator(".toast")).to_be_visible()
        both_themes("a toast")
        page.locator(".toast").get_by_role("button", name="Undo").click()
        expect(page.locator(".toast")).to_be_hidden()


@pytest.mark.soak
def test_every_view_of_an_empty_store_says_what_to_do(empty: Window, axe: str, pytestconfig: pytest.Config) -> None:
    look_at(empty, NOTHING_YET, axe, soaked=pytestconfig.getoption("--soak"))


@pytest.mark.soak
def test_the_theme_that_was_chosen_stays(empty: Window) -> None:
    with empty.page() as page:
        page.emulate_media(color_scheme="light")
        ground = "getComputedStyle(document.documentElement).backgroundColor"
        light = page.evaluate(ground)
        page.get_by_role("button", name="Change between light and dark").click()
        dark = page.evaluate(ground)
        empty.go(page, "/health")
        assert page.evaluate(ground) == dark != light
        page.get_by_role("button", name="Change between light and dark").press("Enter")
        assert page.evaluate(ground) == light
        page.evaluate("localStorage.clear()")


def test_what_is_left_by_a_link_is_found_again_by_going_back(stocked: Window) -> None:
    with stocked.page("/?scope=shop") as page:
        page.get_by_role("link", name="Insights").click()
        expect(page).to_have_url(f"{stocked.origin}/insights?scope=shop")
        page.go_back()
        shows(page, "The cart is kept in Redis")
        expect(page).to_have_title("Ask · Helix")


@pytest.mark.soak
def test_an_address_that_says_no_date_shows_its_view_and_what_was_ignored(empty: Window) -> None:
    for path in ("/?since=foo", "/helps?since=99999", "/?q=proxy&asOf=2026-13-45", "/happened?tab=episodes&since=x"):
        with empty.page(path) as page:
            expect(page.get_by_role("navigation").first).to_be_visible()
            assert "Invalid time value" not in page.locator("main").inner_text()
    with empty.page("/helps?since=foo") as page:
        shows(page, "“foo” is not a date, and was ignored.")


@pytest.mark.soak
def test_a_date_is_typed_key_by_key(empty: Window) -> None:
    with empty.page("/helps") as page:
        field = page.get_by_label("since")
        field.focus()
        page.keyboard.type("11202026", delay=60)
        until(page, "new URLSearchParams(location.search).get('since') === '2026-11-20'")
        expect(field).to_have_value("2026-11-20")


def test_an_address_of_no_tab_opens_the_first_one(empty: Window) -> None:
    for path, first in (
        ("/health?tab=foo", "Overview"),
        ("/happened?tab=zzz", "Timeline"),
        ("/decide?tab=x", "Contradictions"),
    ):
        with empty.page(path) as page:
            expect(page.get_by_role("tab", selected=True)).to_contain_text(first)
