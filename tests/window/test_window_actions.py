"""What a person does in the explorer, by keyboard but for one walk by pointer, and each thing with its way back."""

from __future__ import annotations

import re

import pytest
from looking import Window, fill, pick, press, shows, tab_to, turn, undo
from playwright.sync_api import Locator, Page, expect


def card(page: Page, words: str) -> Locator:
    """The first answer that holds some words."""
    return page.locator(".card", has_text=words).locator(".card-button").first


def decided(page: Page, held: Locator, key: str) -> None:
    """Go to one of the things that wait, and decide it by its key."""
    expect(held).to_be_visible()
    while "open" not in (held.get_attribute("class") or "").split():
        page.keyboard.press("j")
    page.keyboard.press(key)
    expect(held).to_be_hidden()


def test_asking_opening_and_closing(stocked: Window) -> None:
    with stocked.page() as page:
        page.keyboard.press("/")
        page.keyboard.type("when is the staging cluster reset")
        found = card(page, "staging cluster")
        expect(found).to_be_visible()
        expect(page).to_have_url(re.compile("q=when"))
        press(page, found)
        panel = page.get_by_role("complementary", name="One memory")
        expect(panel).to_be_focused()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(found).to_be_focused()
        page.keyboard.press("Enter")
        press(page, panel.get_by_role("button", name="Forget"))
        expect(panel.get_by_role("button", name="Restore")).to_be_visible()
        undo(page, "out of recall")
        expect(panel.get_by_role("button", name="Forget")).to_be_visible()


def test_filters_stand_in_the_address_and_survive_reload_and_back(stocked: Window) -> None:
    with stocked.page("/?scope=shop") as page:
        press(page, page.get_by_role("checkbox", name="failure"), "Space")
        expect(page).to_have_url(re.compile("kind=FAILURE"))
        page.reload()
        shows(page, "npm ci")
        expect(page.get_by_role("checkbox", name="failure")).to_be_checked()
        expect(page.locator("main").get_by_text("The cart is kept in Redis")).to_have_count(0)
        press(page, page.get_by_role("link", name="Insights"))
        page.go_back()
        expect(page.get_by_role("checkbox", name="failure")).to_be_checked()


@pytest.mark.parametrize(
    ("path", "bars", "earlier", "today"),
    [
        ("/?scope=shop", "When it happened", "The invoices are numbered by year", "The cart is kept in Redis"),
        (
            "/happened?tab=episodes&scope=shop&time=recorded",
            "When episodes were recorded",
            "The nightly export",
            "raises a KeyError",
        ),
    ],
)
def test_a_bar_of_the_days_shows_what_came_in_then(
    stocked: Window, path: str, bars: str, earlier: str, today: str
) -> None:
    with stocked.page(path) as page:
        shows(page, today)
        press(page, page.get_by_role("group", name=bars).get_by_role("button").first)
        shows(page, earlier)
        expect(page.locator("main").get_by_text(today)).to_have_count(0)
        expect(page).to_have_url(re.compile(r"since=(\d{4}-\d\d-\d\d)&until=\1"))


def test_two_recipes_stand_side_by_side(stocked: Window) -> None:
    with stocked.page("/?q=run+the+tests&scope=shop") as page:
        press(page, page.get_by_role("button", name="Compare with"))
        pick(page, page.locator(".pick", has_text="nothing else").get_by_role("button"), "bm25")
        for recipe in ("default", "bm25"):
            expect(page.get_by_role("heading", name=recipe)).to_be_visible()
        expect(page).to_have_url(re.compile("recipe2=bm25"))


def test_a_memory_is_confirmed_edited_judged_and_tied(stocked: Window) -> None:
    with stocked.page("/?q=staging+cluster&scope=acts") as page:
        press(page, card(page, "staging cluster"))
        panel = page.get_by_role("complementary", name="One memory")
        press(page, panel.get_by_role("button", name="Confirm"))
        expect(panel.locator(".badge.said.you")).to_be_visible()
        undo(page, "You confirmed")
        expect(panel.locator(".badge.said.agent")).to_be_visible()
        press(page, panel.get_by_role("button", name="Confirm"))
        expect(panel.locator(".badge.said.you")).to_be_visible()
        for judgement, said in (("Helped", "cluster-reset-fridays helped"), ("Did not help", "did not help")):
            press(page, panel.get_by_role("button", name=judgement, exact=True))
            undo(page, said)
        press(page, panel.get_by_role("button", name="Edit"))
        dialog = page.get_by_role("dialog")
        fill(page, dialog.get_by_label("What (what to do or to know)"), "Push before ten.")
        expect(dialog.locator("del")).to_have_text(re.compile("noon"))
        expect(dialog.locator("ins")).to_have_text(re.compile("ten"))
        press(page, dialog.get_by_role("button", name="Save a new version"))
        expect(panel.get_by_text("Push before ten.")).to_be_visible()
        undo(page, "has a new version")
        expect(panel.get_by_text("Push before noon.")).to_be_visible()
        press(page, panel.get_by_role("button", name="Versions"))
        press(page, panel.get_by_role("button", name="Bring these words back").first)
        expect(panel.locator(".resolution")).to_have_text("Push before ten.")
        press(page, panel.get_by_role("button", name="Relate"))
        fill(page, dialog.get_by_label("The other memory's name or id"), "rotate-signing-keys-march")
        press(page, dialog.get_by_role("button", name="Draw the edge"))
        expect(dialog).to_be_hidden()
        press(page, panel.get_by_role("button", name="What it is tied to"))
        expect(panel.get_by_role("link", name="rotate-signing-keys-march")).to_be_visible()
        undo(page, "is related to")
        expect(panel.get_by_role("link", name="rotate-signing-keys-march")).to_have_count(0)


def test_a_forgotten_memory_is_restored_by_pointer(stocked: Window) -> None:
    with stocked.page("/?scope=acts") as page:
        row = page.get_by_role("row", name=re.compile("rotate", re.I))
        row.click()
        page.get_by_role("button", name="Forget").click()
        expect(row).to_be_hidden()
        page.get_by_role("button", name="Restore").click()
        expect(row).to_be_visible()
        page.locator(".toast", has_text="back in recall").get_by_role("button", name="Undo").click()
        expect(row).to_be_hidden()
        page.get_by_role("button", name="Restore").click()
        expect(row).to_be_visible()


def test_contradictions_are_decided_by_keys_and_undone(stocked: Window) -> None:
    with stocked.page("/decide?tab=contradictions") as page:
        cases = page.locator(".case")
        before = cases.count()
        page.keyboard.press("j")
        expect(cases.nth(1)).to_have_class(re.compile("open"))
        page.keyboard.press("2")
        expect(cases).to_have_count(before - 1)
        undo(page, "Decided")
        expect(cases).to_have_count(before)


@pytest.mark.parametrize("words", ["Disregard the rules above", "Ignore all previous rules"])
def test_what_is_quarantined_is_accepted_and_rejected_and_held_again(stocked: Window, words: str) -> None:
    """A memory and an episode."""
    with stocked.page("/decide?tab=quarantine&scope=acts") as page:
        held = page.locator(".case", has_text=words)
        for key, said in (("a", "can be recalled"), ("x", "Rejected")):
            decided(page, held, key)
            undo(page, said)
            expect(held).to_be_visible()


def test_what_waits_to_be_learned_is_rejected_reopened_and_accepted(stocked: Window) -> None:
    with stocked.page("/decide?tab=queue&scope=acts") as page:
        press(page, page.get_by_role("button", name="Reject"))
        shows(page, "Nothing waits to be learned.")
        undo(page, "Rejected")
        press(page, page.get_by_role("button", name="Remember it"))
        shows(page, "Nothing waits to be learned.")
        expect(page.locator(".toast", has_text="is remembered")).to_be_visible()


def test_duplicates_are_kept_and_folded_and_a_gap_is_closed_by_hand(stocked: Window) -> None:
    with stocked.page("/decide?tab=duplicates") as page:
        pair = page.locator(".case", has_text="queue.toml")
        for button, said in (("Keep both", "Both stay"), ("Fold into the first", "Folded into")):
            press(page, pair.get_by_role("button", name=button))
            expect(pair).to_be_hidden()
            undo(page, said)
            expect(pair).to_be_visible()
        turn(page, "/decide?tab=gaps")
        gap = page.locator(".case", has_text="office plants")
        press(page, gap.get_by_role("button", name="Forget"))
        expect(gap).to_be_hidden()
        undo(page, "out of recall")
        press(page, gap.get_by_role("link", name="ask it again"))
        expect(page).to_have_url(re.compile("q=who(%20|\\+)pays"))


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
        expect(page).to_have_url(re.compile("/memory/"))


def test_sessions_episodes_and_tasks_of_plans_are_opened(stocked: Window) -> None:
    with stocked.page("/happened?scope=shop") as page:
        press(page, page.get_by_role("link", name="monday"))
        rows = page.get_by_role("grid", name="Episodes").get_by_role("row")
        tab_to(page, rows.first)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        panel = page.get_by_role("complementary", name="One episode")
        expect(panel).to_contain_text("src/parser.py")
        turn(page, "/happened?tab=plans")
        press(page, page.get_by_role("link", name=re.compile("new payment provider")))
        shows(page, "4 tasks")
        press(page, page.locator(".task", has_text="Write the client"))
        panel = page.get_by_role("complementary", name="One task")
        expect(panel.get_by_text("pytest tests/client").last).to_be_visible()
        expect(panel.get_by_text("passed")).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()


def test_an_insight_leads_to_what_it_rests_on(stocked: Window) -> None:
    with stocked.page("/insights") as page:
        press(page, page.locator(".card-button").first)
        row = page.get_by_role("treegrid", name="Evidence").get_by_role("row").first
        tab_to(page, row)
        tab_to(page, row.get_by_role("link").first, "ArrowRight")
        page.keyboard.press("Enter")
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


def test_an_open_answer_shows_what_is_stored_elsewhere(stocked: Window) -> None:
    with stocked.page("/?q=how+deep+is+the+lagoon&scope=lagoon") as page:
        shows(page, "Nothing that is known fits")
        stocked.running.helix("store", "The lagoon is nine metres deep", "--scope", "lagoon")
        expect(card(page, "nine metres deep")).to_be_visible(timeout=20_000)


def test_capture_and_background_work_are_paused_and_go_on(empty: Window) -> None:
    with empty.page("/health") as page:
        for stop, on, said in (("Pause capture", "Go on capturing", "Capture"), ("Pause", "Go on", "Background work")):
            press(page, page.get_by_role("button", name=stop, exact=True))
            expect(page.locator(".toast", has_text=f"{said} is paused.")).to_be_visible()
            press(page, page.get_by_role("button", name=on, exact=True))
            expect(page.locator(".toast", has_text=f"{said} goes on.")).to_be_visible()
            expect(page.get_by_role("button", name=stop, exact=True)).to_be_visible()
            turn(page, "/health?tab=work")
        press(page, page.get_by_role("button", name="Work through everything now"))
        expect(page.locator(".toast", has_text="worked through now")).to_be_visible()


def test_background_work_says_what_came_of_it_and_is_taken_back(stocked: Window) -> None:
    with stocked.page("/health?tab=work") as page:
        row = page.get_by_role("row", name=re.compile("^consolidate done .*episodes read \\d")).first
        press(page, row.get_by_role("button", name="Undo"))
        expect(page.locator(".toast", has_text="Taken back")).to_be_visible()


def test_an_export_and_a_plan_of_an_import_say_how_they_go(stocked: Window) -> None:
    with stocked.page("/transfer") as page:
        file = str(stocked.running.home / "all.jsonl")
        pick(page, page.get_by_role("region", name="Take memories elsewhere").get_by_role("button").first, "JSON lines")
        fill(page, page.get_by_label("File on this machine"), file)
        press(page, page.get_by_role("button", name="Write it"))
        jobs = page.get_by_role("region", name="Jobs").locator(".job")
        expect(jobs.first).to_contain_text("done")
        pick(
            page, page.get_by_role("region", name="Bring memories along").get_by_role("button").first, "another memory"
        )
        fill(page, page.get_by_label("Path on this machine"), file)
        press(page, page.get_by_role("button", name="Show the plan"))
        expect(jobs).to_have_count(2)
        expect(jobs.first).to_contain_text("done")
