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
        page, seen, self.origin = opened(self._browser, self.running, **self._options)
        self._context = page.context
        self._left: list[tuple[Page, Seen]] = []
        self._leave(page, seen)

    @contextmanager
    def page(self, path: str = "/", *, quiet: bool = True, again: bool = True) -> Iterator[Page]:
        """Have a page at a path; at the end of a quiet one it has complained of nothing and asked nobody else.

        Where all went well the next to ask has the same page again, emptied: a new one takes four times as long to
        show anything. Not so one that is not quiet, nor one that is said to be no use to others.
        """
        page, seen = self._left.pop() if self._left else self._new()
        try:
            self.go(page, path)
            yield page
            assert not quiet or not (said := [*seen.errors, *seen.outside]), said
        except BaseException:
            page.close()
            raise
        if quiet and again:
            self._leave(page, seen)
        else:
            page.close()

    def _new(self) -> tuple[Page, Seen]:
        page, seen = self._context.new_page(), Seen()
        seen.watch(page, self.origin)
        return page, seen

    def _leave(self, page: Page, seen: Seen) -> None:
        """Have a page as it was when it was new, for the next to ask."""
        page.set_default_timeout(60_000)
        # By the page itself: a page that Playwright opens there is run by another process, which has to load all anew.
        page.evaluate("sessionStorage.clear(); location.replace('about:blank')")
        page.wait_for_url("about:blank")
        page.set_viewport_size(self._options["viewport"])
        page.emulate_media(media="null", color_scheme="null", reduced_motion="null", forced_colors="null")
        seen.errors.clear()
        seen.outside.clear()
        self._left.append((page, seen))

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
