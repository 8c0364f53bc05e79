"""How the tests look at the explorer: pages of one browser that a daemon knows, and what they wait for in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect
from window.browser import Daemon, Seen, opened, until

NARROW = {"width": 360, "height": 740}
WIDE = {"width": 1280, "height": 860}
MOST_TABS = 120
SETTLED = (
    "document.querySelector('main :is(h1, h2, .state-title)')"
    " && !document.querySelector('[data-placing=true], main .state[role=status], .stale')"
)


class Window:
    """A daemon, and the browser that it has let in."""

    def __init__(self, running: Daemon, browser: Browser) -> None:
        self.running = running
        self._browser = browser
        self.let_in()

    def let_in(self) -> None:
        """Have the daemon, another one than before perhaps, know the browser."""
        page, _, self.origin = opened(self._browser, self.running)
        self._state = page.context.storage_state()
        page.context.close()

    @contextmanager
    def page(self, path: str = "/", *, quiet: bool = True, **options: Any) -> Iterator[Page]:
        """Have a page at a path; at the end of a quiet one it has complained of nothing and asked nobody else."""
        context = self._browser.new_context(storage_state=self._state, **{"viewport": WIDE, **options})
        page = context.new_page()
        page.set_default_timeout(60_000)
        seen = Seen()
        seen.watch(page, self.origin)
        try:
            self.go(page, path)
            yield page
            assert not quiet or (seen.errors, seen.outside) == ([], [])
        finally:
            context.close()

    def go(self, page: Page, path: str) -> None:
        """Open an address and wait until all that it shows is there."""
        page.goto(self.origin + path)
        until(page, SETTLED, 60)


def shows(page: Page, *words: str) -> None:
    """Wait until each of some texts stands in the view."""
    for one in words:
        expect(page.locator("main").get_by_text(one).first).to_be_visible(timeout=60_000)


def tab_to(page: Page, wanted: Locator, key: str = "Tab") -> None:
    """Go to something as people without a pointer do; fails where no key leads there."""
    for _ in range(MOST_TABS):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{wanted} cannot be reached by {key}")


def undo(page: Page, words: str, *, by_keyboard: bool = False) -> None:
    """Take back what the page says it did in so many words."""
    toast = page.locator(".toast", has_text=words).first
    button = toast.get_by_role("button", name="Undo")
    expect(button).to_be_visible()
    if by_keyboard:
        page.keyboard.press("F6")  # goes from one part of the page to the next
        tab_to(page, button)
        page.keyboard.press("Enter")
    else:
        button.click()
    expect(toast).to_be_hidden()
