"""The palette finds everything by any of its words, and goes there or does it."""

from __future__ import annotations

import re

import pytest
from looking import Window, shows
from playwright.sync_api import Page, expect


def chosen(page: Page, typed: str, what: str) -> None:
    """Open the palette, type, and choose by key the entry that has some words."""
    page.keyboard.press("Control+k")
    page.keyboard.type(typed)
    entry = page.get_by_role("menuitem").filter(has_text=what).first
    expect(entry).to_be_visible()
    for _ in range(40):
        if entry.get_attribute("data-focused"):
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize(
    ("typed", "what", "address", "words"),
    [
        ("xyzzy plugh", "ask xyzzy plugh", "q=xyzzy", "Nothing that is known fits"),
        ("certificate", "memory npm-ci", "/memory/", "NODE_EXTRA_CA_CERTS"),
        ("migration 5", "task Fix the orders", "/tasks/", "What it was shown"),
        ("onda", "session shop/monday", "/happened/session/monday", "claude-code"),
        ("provider", "plan Move the checkout", "/plans/", "4 tasks"),
        ("parser.py", "entity src/parser.py", "/graph", "PNG"),
        ("holdback", "setting holdback", "/health", "What it means"),
        ("queue learning", "page To decide: learning queue", "/decide", "To decide"),
        ("models", "page Health: models", "/health", "embedding model"),
    ],
)
def test_it_goes_to_what_has_the_words(stocked: Window, typed: str, what: str, address: str, words: str) -> None:
    with stocked.page("/transfer") as page:
        chosen(page, typed, what)
        expect(page).to_have_url(re.compile(re.escape(address)))
        shows(page, words)


def test_it_does_what_a_page_can_do(empty: Window) -> None:
    with empty.page("/transfer") as page:
        chosen(page, "capture pause", "do Pause capture")
        expect(page.locator(".toast", has_text="Capture is paused.")).to_be_visible()
        chosen(page, "resume recording", "do Go on capturing")
        expect(page.locator(".toast", has_text="Capture goes on.")).to_be_visible()
