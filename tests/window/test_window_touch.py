"""The explorer on a small screen that is touched: every action by finger, and the graph dragged and pinched."""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
from looking import NARROW, Window
from playwright.sync_api import Browser, Page
from window.browser import Daemon, until
from window.hands import Touch
from window.walks import DRAWN, WALKS

from tests.sampling import some


@pytest.fixture(scope="module")
def phone(browser: Browser, stocked_daemon: Daemon) -> Iterator[Window]:
    """A window of the size and kind of a telephone's on the stocked store."""
    return Window(stocked_daemon, browser, viewport=NARROW, has_touch=True, is_mobile=True)


@pytest.mark.parametrize("name", some(WALKS, 1))
def test_it_is_done_by_finger(phone: Window, name: str) -> None:
    walk = WALKS[name]
    with phone.page(walk.path) as page:
        walk.go(page, Touch(), phone.running.home)


def taken(page: Page) -> list[tuple[float, float]]:
    """Return where the nodes of the graph lie on the screen, as its picture says."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name="SVG", exact=True).tap()
    drawing = ElementTree.parse(waiting.value.path())
    circles = [part for part in drawing.iter() if part.tag.endswith("circle")]
    return [(float(one.get("cx", "")), float(one.get("cy", ""))) for one in circles]


def touched(page: Page, *moments: list[tuple[float, float]]) -> None:
    """Have fingers lie on the screen at one place after the other, and leave it."""
    fingers = page.context.new_cdp_session(page)
    for number, places in enumerate([*moments, []]):
        kind = "touchMove" if number else "touchStart"
        points = [{"x": x, "y": y, "id": finger} for finger, (x, y) in enumerate(places)]
        fingers.send("Input.dispatchTouchEvent", {"type": kind if places else "touchEnd", "touchPoints": points})
        page.wait_for_timeout(40)
    fingers.detach()
    page.wait_for_timeout(1_000)  # it glides on


def apart(places: list[tuple[float, float]]) -> float:
    """Return how far the first two places lie from each other."""
    return math.dist(*places[:2])


@pytest.mark.soak
def test_the_graph_is_dragged_and_pinched(phone: Window) -> None:
    with phone.page("/graph?start=npm-ci-fails-behind-proxy&relations=RELATED") as page:
        until(page, f"{DRAWN} > 1")
        canvas = page.locator(".canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box is not None
        x, y = box["x"] + 40, box["y"] + 60
        before = taken(page)
        canvas.scroll_into_view_if_needed()
        touched(page, *([(x + 4 * step, y)] for step in range(12)))
        dragged = taken(page)
        assert dragged[0][0] > before[0][0] + 20
        assert apart(dragged) == pytest.approx(apart(before), rel=0.05)
        canvas.scroll_into_view_if_needed()
        middle = x + 100
        touched(page, *([(middle - 20 - 4 * step, y), (middle + 20 + 4 * step, y)] for step in range(12)))
        pinched = taken(page)
        assert apart(pinched) > 1.2 * apart(dragged)
