"""Four things that somebody who is new here finds by looking alone, each by the clicks that docs/explorer.md tells."""

from __future__ import annotations

import re

import pytest
from looking import NARROW, WIDE, Window, fits, no_barrier
from playwright.sync_api import expect
from window.hands import shows
from window.stocked import EARLIER


@pytest.mark.soak
def test_what_was_learned_this_week_takes_one_click(stocked: Window) -> None:
    with stocked.page() as page:
        total = page.locator("main p", has_text="memories, the").first
        expect(total).to_contain_text("the newest first")
        before = int((total.text_content() or "").split()[0])
        page.get_by_role("button", name="learned in 7 days").click()
        expect(total).to_contain_text(f"{before - len(EARLIER)} memories, the latest learned first")


@pytest.mark.soak
def test_why_a_memory_was_shown_takes_a_question_and_one_click(stocked: Window) -> None:
    with stocked.page() as page:
        page.get_by_role("searchbox").first.fill("how do I run the tests")
        page.locator(".card", has=page.locator(".name", has_text="tests-fail-relation-orders")).click()
        panel = page.get_by_role("complementary", name="One memory")
        for words in (
            "Why it was shown",
            "What the score of",
            "Which searches found it",
            "To agents",
            "session monday",
        ):
            expect(panel.get_by_text(re.compile(words)).first).to_be_attached()


def test_what_contradicts_what_takes_one_click(stocked: Window) -> None:
    with stocked.page() as page:
        page.get_by_role("link", name=re.compile("To decide")).click()
        shows(page, "The API gateway listens on port 9090", "The API gateway listens on port 8080", "The first holds")


@pytest.mark.soak
def test_whether_memory_helps_takes_one_click(proven: Window, axe: str) -> None:
    with proven.page() as page:
        page.get_by_role("link", name="Does it help?").click()
        expect(page.get_by_role("heading", name="Yes: with memory, more tasks are delivered.")).to_be_visible()
        for chart in ("Share of tasks delivered", "Share of tasks that met a failure", "Tokens shown"):
            expect(
                page.get_by_role("figure", name=chart).locator("svg .recharts-surface, svg.recharts-surface").first
            ).to_be_visible()
        for scheme, size in (("light", WIDE), ("dark", NARROW)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size(size)
            no_barrier(page, axe, f"the report, {scheme}")
            fits(page, f"the report, {scheme}")


def test_too_few_tasks_are_no_answer_and_the_page_says_so(stocked: Window) -> None:
    with stocked.page("/helps") as page:
        expect(page.get_by_role("heading", name="It cannot be said yet.")).to_be_visible()
        shows(page, "30 of each are needed")
