"""Why an agent was shown a memory: from the memory to the task, to its session, and back to the memory."""

from __future__ import annotations

import re

import pytest
from looking import Window
from playwright.sync_api import expect
from window.hands import press, shows

FOUND = "tests-fail-relation-orders-already"


@pytest.mark.soak
def test_a_memory_leads_to_the_tasks_and_sessions_that_it_was_shown_to(stocked: Window) -> None:
    with stocked.page(f"/memory/{FOUND}") as page:
        detail = page.locator("article.detail")
        expect(detail.locator(".showings li").first).to_contain_text("place 1, score 0.80")
        expect(detail.locator(".showings li")).to_have_count(5)
        press(page, detail.get_by_role("button", name="More of 8"))
        expect(detail.locator(".showings li")).to_have_count(8)
        press(page, detail.get_by_role("link", name="Fix the orders migration 6").first)
        expect(page).to_have_url(re.compile("/tasks/[0-9a-f]{32}"))
        expect(page.get_by_role("heading", name="Fix the orders migration 6")).to_be_visible()
        expect(page.locator(".showings li")).to_have_count(1)
        press(page, page.get_by_role("link", name="session monday"))
        head = page.locator("dl.facts")
        for words in ("claude-code", "shop", "4 episodes", "8 times"):
            expect(head).to_contain_text(words)
        expect(head).not_to_contain_text("not yet")
        expect(page.locator(".showings li")).to_have_count(8)
        expect(page.locator(".showings .badge", has_text="held back")).to_have_count(2)
        press(page, page.locator(".showings").get_by_role("link", name=FOUND).first)
        shows(page, "Its effect over time")


def test_a_session_is_read_from_its_beginning(stocked: Window) -> None:
    with stocked.page("/happened/session/monday?scope=shop") as page:
        rows = page.get_by_role("grid", name="Episodes").get_by_role("row")
        expect(rows.first).to_contain_text("raises a KeyError")
        expect(rows.last).to_contain_text("fails on Windows")


@pytest.mark.soak
def test_a_task_of_a_plan_says_what_it_was_shown(stocked: Window) -> None:
    with stocked.page("/happened?tab=plans") as page:
        press(page, page.get_by_role("link", name=re.compile("new payment provider")))
        press(page, page.locator(".task", has_text="Write the client"))
        panel = page.get_by_role("complementary", name="One task")
        expect(panel.get_by_role("heading", name="What it was shown")).to_be_visible()
