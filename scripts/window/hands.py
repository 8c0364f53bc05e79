"""How people use the explorer: by keyboard alone, by pointer, or by touch; and how one waits for what it shows."""

from __future__ import annotations

import re
from typing import Protocol

from playwright.sync_api import Locator, Page, expect

from window.browser import until

MOST_TABS = 160
FIND_ANYTHING = re.compile("^Find anything")
SETTLED = (
    "document.querySelector('main :is(h1, h2, .state-title)')"
    " && !document.querySelector('[data-placing=true], main .state[role=status], .stale')"
)


def turn(page: Page, path: str) -> None:
    """Have an open page show another address, as going back does, and wait until all that it shows is there."""
    page.evaluate(
        """path => new Promise(done => {
             history.pushState(null, '', path);
             dispatchEvent(new PopStateEvent('popstate'));
             requestAnimationFrame(() => requestAnimationFrame(done));
           })""",
        path,
    )
    until(page, SETTLED, 60)


def shows(page: Page, *words: str) -> None:
    """Wait until each of some texts stands in the view."""
    for one in words:
        expect(page.locator("main").get_by_text(one).first).to_be_visible(timeout=60_000)


def tab_to(page: Page, wanted: Locator, key: str = "Tab") -> None:
    """Go to something as people without a pointer do; fails where no key leads there."""
    element = wanted.element_handle()
    for _ in range(MOST_TABS):
        there = element.evaluate("element => element.isConnected ? element === document.activeElement : null")
        if there:
            return
        if there is None:
            element = wanted.element_handle()  # it was drawn anew
        else:
            page.keyboard.press(key)
    raise AssertionError(f"{wanted} cannot be reached by {key}")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    """Use something as people without a pointer do."""
    expect(wanted).to_be_visible()
    tab_to(page, wanted)
    page.keyboard.press(key)


def pick(page: Page, button: Locator, words: str) -> None:
    """Choose, without a pointer, the option that begins with some words."""
    press(page, button)
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.type(words)
    expect(page.locator("[role=option][data-focused]")).to_contain_text(words)
    page.keyboard.press("Enter")


def fill(page: Page, field: Locator, words: str) -> None:
    """Write something into a field, without a pointer, in the place of what is there."""
    tab_to(page, field)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(words)


def undo(page: Page, words: str) -> None:
    """Take back, without a pointer, what the page says it did in so many words."""
    toast = page.locator(".toast", has_text=words).first
    button = toast.get_by_role("button", name="Undo")
    expect(button).to_be_visible()
    page.keyboard.press("F6")  # goes from one part of the page to the next
    press(page, button)
    expect(toast).to_be_hidden()


class Hands(Protocol):
    """A way to use a page; each method does what a person wants done, and waits until it can be done."""

    name: str

    def press(self, page: Page, wanted: Locator) -> None:
        """Use a button, a link or a card."""

    def switch(self, page: Page, label: str) -> None:
        """Switch a checkbox that has a name."""

    def fill(self, page: Page, field: Locator, words: str) -> None:
        """Write something into a field, in the place of what is there."""

    def pick(self, page: Page, button: Locator, words: str) -> None:
        """Choose the option that begins with some words."""

    def undo(self, page: Page, words: str) -> None:
        """Take back what the page says it did in so many words."""

    def close(self, page: Page, panel: Locator) -> None:
        """Close what is open beside a list."""

    def decide(self, page: Page, case: Locator, key: str) -> None:
        """Decide one of the things that wait, by what has the key."""

    def follow(self, page: Page, row: Locator) -> None:
        """Go where the first link of a row leads."""

    def open(self, page: Page, rows: Locator, words: str) -> None:
        """Open the first of a list's rows that has some words."""

    def find(self, page: Page, typed: str, what: str) -> None:
        """Have the palette go to, or do, the first that has some words."""


class Keys:
    """By keyboard alone."""

    name = "keys"

    def press(self, page: Page, wanted: Locator) -> None:
        press(page, wanted)

    def switch(self, page: Page, label: str) -> None:
        press(page, page.get_by_role("checkbox", name=label), "Space")

    def fill(self, page: Page, field: Locator, words: str) -> None:
        fill(page, field, words)

    def pick(self, page: Page, button: Locator, words: str) -> None:
        pick(page, button, words)

    def undo(self, page: Page, words: str) -> None:
        undo(page, words)

    def close(self, page: Page, panel: Locator) -> None:
        page.keyboard.press("Escape")
        expect(panel).to_be_hidden()

    def decide(self, page: Page, case: Locator, key: str) -> None:
        expect(case).to_be_visible()
        cases = page.locator(".case").count()
        for step in "k" * cases + "j" * cases:  # up to the first, then down
            if "open" in (case.get_attribute("class") or "").split():
                page.keyboard.press(key)
                return
            page.keyboard.press(step)
        raise AssertionError(f"{case} cannot be reached by j and k")

    def follow(self, page: Page, row: Locator) -> None:
        tab_to(page, row)
        tab_to(page, row.get_by_role("link").first, "ArrowRight")
        page.keyboard.press("Enter")

    def open(self, page: Page, rows: Locator, words: str) -> None:
        wanted = rows.filter(has_text=words).first
        expect(wanted).to_be_visible()
        tab_to(page, rows.first)
        tab_to(page, wanted, "ArrowDown")
        page.keyboard.press("Enter")

    def find(self, page: Page, typed: str, what: str) -> None:
        page.keyboard.press("Control+k")
        page.keyboard.type(typed)
        entry = _entry(page, what)
        for _ in range(MOST_TABS):
            if entry.get_attribute("data-focused"):
                break
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_have_count(0)


class Pointer:
    """By pointer, with a keyboard for words alone."""

    name = "pointer"

    def hit(self, wanted: Locator) -> None:
        """Scroll something from under what lies at the edges, and have the pointer's button pressed there."""
        _to_the_middle(wanted)
        wanted.click()

    def press(self, page: Page, wanted: Locator) -> None:
        self.hit(wanted)

    def switch(self, page: Page, label: str) -> None:
        box = page.get_by_role("checkbox", name=label)
        self.hit(page.locator("label").filter(has=box))

    def fill(self, page: Page, field: Locator, words: str) -> None:
        self.hit(field)
        field.fill(words)

    def pick(self, page: Page, button: Locator, words: str) -> None:
        self.hit(button)
        self.hit(page.get_by_role("option", name=re.compile(f"^{re.escape(words)}")).first)

    def undo(self, page: Page, words: str) -> None:
        toast = page.locator(".toast", has_text=words).first
        self.hit(toast.get_by_role("button", name="Undo"))
        expect(toast).to_be_hidden()

    def close(self, page: Page, panel: Locator) -> None:
        self.hit(panel.get_by_role("button", name="Close"))
        expect(panel).to_be_hidden()

    def decide(self, page: Page, case: Locator, key: str) -> None:
        self.hit(case.get_by_role("group", name="Decide").locator("button", has=page.locator(f"kbd:text-is('{key}')")))

    def follow(self, page: Page, row: Locator) -> None:
        self.hit(row.get_by_role("link").first)

    def open(self, page: Page, rows: Locator, words: str) -> None:
        self.hit(rows.filter(has_text=words).first)

    def find(self, page: Page, typed: str, what: str) -> None:
        self.hit(page.get_by_role("button", name=FIND_ANYTHING))
        page.get_by_role("dialog").get_by_role("searchbox").fill(typed)
        self.hit(_entry(page, what))
        expect(page.get_by_role("dialog")).to_have_count(0)


class Touch(Pointer):
    """By finger."""

    name = "touch"

    def hit(self, wanted: Locator) -> None:
        _to_the_middle(wanted)
        wanted.tap()


def _entry(page: Page, what: str) -> Locator:
    entry = page.get_by_role("menuitem").filter(has_text=what).first
    expect(entry).to_be_visible()
    return entry


def _to_the_middle(wanted: Locator) -> None:
    wanted.evaluate("element => element.scrollIntoView({block: 'center'})")
