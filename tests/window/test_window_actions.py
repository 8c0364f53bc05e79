"""What a person does in the explorer: by pointer, by keyboard alone, and each thing with its way back."""

from __future__ import annotations

import re

from looking import Window, shows, tab_to, undo
from playwright.sync_api import Locator, Page, expect


def card(page: Page, words: str) -> Locator:
    """The first answer that holds some words."""
    return page.locator(".card", has_text=words).locator(".card-button").first


def test_asking_opening_and_closing_by_keyboard_alone(stocked: Window) -> None:
    with stocked.page() as page:
        page.keyboard.press("/")
        page.keyboard.type("when is the staging cluster reset")
        found = card(page, "staging cluster")
        expect(found).to_be_visible()
        expect(page).to_have_url(re.compile("q=when"))
        tab_to(page, found)
        page.keyboard.press("Enter")
        panel = page.get_by_role("complementary", name="One memory")
        expect(panel).to_be_focused()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(found).to_be_focused()
        page.keyboard.press("Enter")
        tab_to(page, panel.get_by_role("button", name="Forget"))
        page.keyboard.press("Enter")
        expect(panel.get_by_role("button", name="Restore")).to_be_visible()
        undo(page, "out of recall", by_keyboard=True)
        expect(panel.get_by_role("button", name="Forget")).to_be_visible()


def test_filters_stand_in_the_address_and_survive_reload_and_back(stocked: Window) -> None:
    with stocked.page("/?scope=shop") as page:
        page.locator("label.check", has_text="failure").click()
        expect(page).to_have_url(re.compile("kind=FAILURE"))
        page.reload()
        shows(page, "npm ci")
        expect(page.get_by_role("checkbox", name="failure")).to_be_checked()
        expect(page.locator("main").get_by_text("The cart is kept in Redis")).to_have_count(0)
        page.get_by_role("link", name="Insights").click()
        page.go_back()
        expect(page.get_by_role("checkbox", name="failure")).to_be_checked()


def test_two_recipes_stand_side_by_side(stocked: Window) -> None:
    with stocked.page("/?q=run+the+tests&scope=shop") as page:
        page.get_by_role("button", name="Compare with").click()
        page.locator(".pick", has_text="nothing else").get_by_role("button").click()
        page.get_by_role("option", name="bm25").click()
        for recipe in ("default", "bm25"):
            expect(page.get_by_role("heading", name=recipe)).to_be_visible()
        expect(page).to_have_url(re.compile("recipe2=bm25"))


def test_a_memory_is_confirmed_edited_judged_and_tied(stocked: Window) -> None:
    with stocked.page("/?q=staging+cluster&scope=acts") as page:
        card(page, "staging cluster").click()
        panel = page.get_by_role("complementary", name="One memory")
        panel.get_by_role("button", name="Confirm").click()
        expect(panel.locator(".badge.said.you")).to_be_visible()
        panel.get_by_role("button", name="Helped", exact=True).click()
        undo(page, "helped")
        panel.get_by_role("button", name="Edit").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("What (what to do or to know)").fill("Push before ten.")
        expect(dialog.locator("del")).to_have_text(re.compile("noon"))
        expect(dialog.locator("ins")).to_have_text(re.compile("ten"))
        dialog.get_by_role("button", name="Save a new version").click()
        expect(panel.get_by_text("Push before ten.")).to_be_visible()
        undo(page, "has a new version")
        expect(panel.get_by_text("Push before noon.")).to_be_visible()
        panel.get_by_role("button", name="Relate").click()
        dialog.get_by_label("The other memory's name or id").fill("rotate-signing-keys-march")
        dialog.get_by_role("button", name="Draw the edge").click()
        expect(dialog).to_be_hidden()
        panel.get_by_role("button", name="What it is tied to").click()
        expect(panel.get_by_role("link", name="rotate-signing-keys-march")).to_be_visible()


def test_a_forgotten_memory_is_restored(stocked: Window) -> None:
    with stocked.page("/?scope=acts") as page:
        page.get_by_role("row", name=re.compile("Rotate|rotate")).click()
        page.get_by_role("button", name="Forget").click()
        expect(page.get_by_role("row", name=re.compile("Rotate|rotate"))).to_be_hidden()
        page.get_by_role("button", name="Restore").click()
        expect(page.get_by_role("row", name=re.compile("Rotate|rotate"))).to_be_visible()


def test_contradictions_are_decided_by_keys_and_undone(stocked: Window) -> None:
    with stocked.page("/decide?tab=contradictions") as page:
        cases = page.locator(".case")
        before = cases.count()
        page.keyboard.press("j")
        expect(cases.nth(1)).to_have_class(re.compile("open"))
        page.keyboard.press("2")
        expect(cases).to_have_count(before - 1)
        undo(page, "Decided", by_keyboard=True)
        expect(cases).to_have_count(before)


def test_whatever_else_waits_is_decided_with_a_way_back(stocked: Window) -> None:
    with stocked.page("/decide?tab=quarantine&scope=acts") as page:
        for key, words, said in (
            ("a", "Ignore all previous", "can be recalled"),
            ("x", "Disregard the rules", "Rejected"),
        ):
            held = page.locator(".case", has_text=words)
            while "open" not in (held.get_attribute("class") or "").split():
                page.keyboard.press("j")
            page.keyboard.press(key)
            expect(held).to_be_hidden()
            expect(page.locator(".toast", has_text=said)).to_be_visible()
        page.get_by_role("tab", name="Learning queue").click()
        page.get_by_role("button", name="Remember it").click()
        shows(page, "Nothing waits to be learned.")
        stocked.go(page, "/decide?tab=duplicates")
        pair = page.locator(".case", has_text="queue.toml")
        pair.get_by_role("button", name="Keep both").click()
        expect(pair).to_be_hidden()
        undo(page, "Both stay")
        pair.get_by_role("button", name="Fold into the first").click()
        expect(pair).to_be_hidden()
        undo(page, "Folded into")
        expect(pair).to_be_visible()


def test_the_palette_finds_a_memory_and_goes_there(stocked: Window) -> None:
    with stocked.page("/health") as page:
        page.keyboard.press("Control+k")
        page.keyboard.type("cart-kept")
        expect(page.get_by_role("menuitem", name=re.compile("memory cart-kept"))).to_be_visible()
        page.keyboard.press("ArrowDown")
        while "memory cart-kept" not in (page.locator(".menu-item[data-focused]").first.text_content() or ""):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        shows(page, "The cart is kept in Redis")
        expect(page).to_have_url(re.compile("/memory/cart-kept"))


def test_a_task_of_a_plan_shows_its_evidence(stocked: Window) -> None:
    with stocked.page("/happened?tab=plans") as page:
        page.get_by_role("link", name=re.compile("new payment provider")).click()
        shows(page, "4 tasks")
        page.locator(".task", has_text="Write the client").click()
        panel = page.get_by_role("complementary", name="One task")
        expect(panel.get_by_text("pytest tests/client").last).to_be_visible()
        expect(panel.get_by_text("passed")).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()


def test_an_insight_leads_to_what_it_rests_on(stocked: Window) -> None:
    with stocked.page("/insights") as page:
        page.locator(".card-button").first.click()
        row = page.get_by_role("treegrid", name="Evidence").get_by_role("row").first
        row.get_by_role("link").first.click()
        shows(page, "parser.py")
        expect(page).to_have_url(re.compile("/(memory|insights)/"))


def test_two_pages_see_each_other_s_changes(stocked: Window) -> None:
    with stocked.page("/?scope=acts") as one, stocked.page("/?scope=acts") as other:
        here = one.get_by_role("row", name=re.compile("platform", re.I))
        there = other.get_by_role("row", name=re.compile("platform", re.I))
        expect(there).to_be_visible()
        here.click()
        one.get_by_role("button", name="Forget").click()
        expect(there).to_be_hidden()
        undo(one, "out of recall")
        expect(there).to_be_visible()


def test_an_export_and_a_plan_of_an_import_say_how_they_go(stocked: Window) -> None:
    with stocked.page("/transfer") as page:
        file = str(stocked.running.home / "all.jsonl")
        page.get_by_role("region", name="Take memories elsewhere").get_by_role("button").first.click()
        page.get_by_role("option", name=re.compile("JSON lines")).click()
        page.get_by_label("File on this machine").fill(file)
        page.get_by_role("button", name="Write it").click()
        jobs = page.get_by_role("region", name="Jobs").locator(".job")
        expect(jobs.first).to_contain_text("done")
        page.get_by_role("region", name="Bring memories along").get_by_role("button").first.click()
        page.get_by_role("option", name=re.compile("another memory")).click()
        page.get_by_label("Path on this machine").fill(file)
        page.get_by_role("button", name="Show the plan").click()
        expect(jobs).to_have_count(2)
        expect(jobs.first).to_contain_text("done")
