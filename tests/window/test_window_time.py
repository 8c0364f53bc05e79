"""What is taken in today and happened years ago stands, in the lists and in the graph, where it happened."""

from __future__ import annotations

import re

import pytest
from looking import Window
from playwright.sync_api import expect
from window.browser import until
from window.hands import pick, press, shows, tab_to

DRAWN = "Number(document.querySelector('[data-nodes]')?.dataset.nodes)"


@pytest.mark.soak
def test_a_list_goes_by_when_things_happened_or_by_when_they_were_learned(stocked: Window) -> None:
    with stocked.page("/?scope=past") as page:
        rows = page.get_by_role("grid", name="Memories").get_by_role("row")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("Rust")
        expect(rows.last).to_contain_text(re.compile(r"\d+ years ago, learned .*(now|ago)"))
        press(page, page.get_by_role("group", name="When it happened").get_by_role("button").first)
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("Perl")
        expect(page).to_have_url(re.compile("since=2019-"))
        page.go_back()
        pick(page, page.locator(".pick", has_text="By the time").get_by_role("button"), "when it was learned")
        expect(page).to_have_url(re.compile("time=recorded"))
        expect(page.get_by_role("group", name="When it was learned")).to_have_count(0)  # all of it came in on one day
        press(page, page.get_by_role("button", name="learned in 7 days"))
        expect(rows).to_have_count(2)


@pytest.mark.soak
def test_episodes_go_by_when_they_happened(stocked: Window) -> None:
    with stocked.page("/happened?tab=episodes&scope=past") as page:
        rows = page.get_by_role("grid", name="Episodes").get_by_role("row")
        expect(rows.filter(has_text="Rust was tried")).to_have_count(1)
        press(page, page.get_by_role("group", name="When episodes happened").get_by_role("button").first)
        expect(rows.filter(has_text="Perl was chosen")).to_have_count(1)
        expect(rows.filter(has_text="Rust was tried")).to_have_count(0)


@pytest.mark.soak
def test_the_time_line_is_zoomed_and_moved_by_keys_and_its_lists_follow(stocked: Window) -> None:
    with stocked.page("/happened?scope=past") as page:
        axis = page.get_by_role("group", name=re.compile("Time line"))
        rows = page.get_by_role("grid", name="Episodes").get_by_role("row")
        expect(rows.filter(has_text="Perl was chosen")).to_have_count(1)
        expect(axis.locator(".axis-tick").first).to_have_text(re.compile(r"20\d\d"))
        tab_to(page, axis)
        for _ in range(2):
            page.keyboard.press("+")
        expect(page).to_have_url(re.compile("from=20.*&to=20"))
        expect(rows.filter(has_text="Perl was chosen")).to_have_count(0)
        before = page.url
        for _ in range(12):  # as fast as they come
            page.keyboard.press("ArrowLeft")
        for _ in range(12):
            page.keyboard.press("ArrowRight")
        expect(page).to_have_url(before)  # no key was lost
        for _ in range(12):
            page.keyboard.press("ArrowLeft")
            expect(page).not_to_have_url(before)  # else the next key may go past the year
            before = page.url
            if "from=2018" in before:
                break
        expect(rows.filter(has_text="Perl was chosen")).to_have_count(1)
        expect(rows.filter(has_text="Rust was tried")).to_have_count(0)
        kept = page.url
        page.reload()
        expect(rows.filter(has_text="Perl was chosen")).to_have_count(1)
        assert page.url == kept
        tab_to(page, axis)
        page.keyboard.press("Home")
        expect(page).not_to_have_url(re.compile("from="))
        expect(rows.filter(has_text="Rust was tried")).to_have_count(1)
        press(page, page.get_by_role("button", name="Closer"))
        expect(page).to_have_url(re.compile("from="))


def test_a_session_stands_on_the_time_line_and_in_the_list_below(stocked: Window) -> None:
    with stocked.page("/happened?scope=shop") as page:
        expect(page.locator(".axis-span[title=monday]")).to_have_count(1)
        sessions = page.get_by_role("region", name="Sessions that began then")
        expect(sessions.get_by_role("link", name="monday")).to_be_visible()
        page.locator(".axis-span[title=monday]").click()
        expect(page).to_have_url(re.compile("/happened/session/monday"))


@pytest.mark.soak
def test_the_slider_of_the_graph_shows_what_held_then(stocked: Window) -> None:
    name = "billing-service-written-perl"
    with stocked.page(f"/graph?start={name}&scope=past") as page:
        shows(page, "billing-service-moved-rust")
        everything = page.evaluate(DRAWN)
        tab_to(page, page.get_by_role("slider"))
        page.keyboard.press("Home")
        expect(page.locator(".slider output")).to_have_text("2019-03-01")
        until(page, f"{DRAWN} < {everything}")
        expect(page.get_by_role("option", name="billing-service-moved-rust")).to_have_count(0)
        expect(page.get_by_role("option", name=re.compile("Perl was chosen|written-perl"))).not_to_have_count(0)


@pytest.mark.soak
def test_an_edge_that_was_drawn_later_than_its_ends_began_comes_later(stocked: Window) -> None:
    with stocked.page("/graph?start=till-counted-fridays&relations=DEPENDS_ON") as page:
        beside = page.get_by_role("complementary", name="The graph as a list")
        expect(beside).to_contain_text(re.compile(r"\b1 edge\b"))
        tab_to(page, page.get_by_role("slider"))
        page.keyboard.press("Home")
        expect(page.locator(".slider output")).to_have_text("2019-03-01")
        expect(beside).to_contain_text("0 edges")
        expect(page.get_by_role("option", name="safe-has-two-keys")).to_be_visible()
        page.keyboard.press("End")
        expect(beside).to_contain_text(re.compile(r"\b1 edge\b"))


@pytest.mark.soak
def test_a_list_reads_on_when_its_end_comes_near(stocked: Window) -> None:
    with stocked.page("/happened?tab=episodes") as page:
        rows = page.get_by_role("grid", name="Episodes").get_by_role("row")
        oldest = rows.filter(has_text="Perl was chosen")
        expect(oldest).to_have_count(0)
        tab_to(page, rows.first)
        for _ in range(20):
            page.keyboard.press("End")
            page.wait_for_timeout(500)
            if oldest.count():
                break
        expect(oldest).to_be_visible()
