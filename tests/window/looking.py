"""How the tests look at the explorer: pages of one browser that a daemon knows, and what they wait for in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page
from window.browser import FLAGS, ROOT, Daemon, Seen, browser_path, opened, until
from window.hands import SETTLED

NARROW = {"width": 360, "height": 740}
WIDE = {"width": 1280, "height": 860}
AXE = ROOT / "web/explorer/node_modules/axe-core/axe.min.js"
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
LOOKS = ("color-contrast", "target-size")
"""Rules of axe-core that ask how something looks; what the others find is the same in both themes and at every size."""


class Window:
    """A daemon, and the browser that it has let in."""

    def __init__(self, running: Daemon, browser: Browser, **options: Any) -> None:
        """`options` are those of a context of the browser, such as its `viewport`."""
        self.running = running
        self._browser = browser
        self._options = {"viewport": WIDE, **options}
        self.let_in()

    def let_in(self) -> None:
        """Have the daemon, another one than before perhaps, know the browser."""
        page, _, self.origin = opened(self._browser, self.running, **self._options)
        self._context = page.context
        page.close()

    @contextmanager
    def page(self, path: str = "/", *, quiet: bool = True) -> Iterator[Page]:
        """Have a page at a path; at the end of a quiet one it has complained of nothing and asked nobody else.

        The pages of a window share what the browser keeps, so that each but the first opens soon.
        """
        page = self._context.new_page()
        page.set_default_timeout(60_000)
        seen = Seen()
        seen.watch(page, self.origin)
        try:
            self.go(page, path)
            yield page
            assert not quiet or (seen.errors, seen.outside) == ([], [])
        finally:
            page.close()

    @contextmanager
    def elsewhere(self, *flags: str) -> Iterator[Page]:
        """Have a page in a browser of its own, started with more flags; at its end it has complained of nothing."""
        browser = self._browser.browser_type.launch(executable_path=browser_path(), args=[*FLAGS, *flags])
        try:
            page, seen, _ = opened(browser, self.running, viewport=WIDE)
            yield page
            assert (seen.errors, seen.outside) == ([], [])
        finally:
            browser.close()

    def go(self, page: Page, path: str) -> None:
        """Open an address and wait until all that it shows is there."""
        page.goto(self.origin + path)
        until(page, SETTLED, 60)


def no_barrier(page: Page, axe: str, view: str, rules: Sequence[str] = ()) -> None:
    """Assert that axe-core finds nothing that keeps anybody from using what the page shows, by all rules or some."""
    until(page, "!document.querySelector('.stale')", 60)  # the last answer is pale while the next one is on its way
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found = page.evaluate(
        """runOnly => axe.run(document, {runOnly, resultTypes: ['violations']}).then(({violations}) =>
           violations.map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 200))}`))""",
        {"type": "rule", "values": list(rules)} if rules else {"type": "tag", "values": list(WCAG)},
    )
    assert not found, f"{view}: {found}"


def fits(page: Page, view: str) -> None:
    """Assert that nothing of a page lies beside its screen."""
    widths = "[document.documentElement, document.querySelector('main')].map(box => box.scrollWidth - box.clientWidth)"
    assert (view, page.evaluate(widths)) == (view, [0, 0])
