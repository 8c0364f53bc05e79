"""What is pressed twice is done once, what went wrong stays to be read, and a score is what its parts come to."""

from __future__ import annotations

import math
import re

import pytest
from looking import Window
from playwright.sync_api import Page, expect
from window.hands import fill, press, undo

from tests.sampling import some


@pytest.mark.parametrize("twice", some(["pressed", "held", "clicked"], 1))
def test_a_decision_is_taken_once_however_often_its_key_comes(stocked: Window, twice: str) -> None:
    with stocked.page("/decide?tab=quarantine&scope=acts") as page:
        cases = page.locator(".case")
        expect(cases.nth(1)).to_be_visible()
        waiting = cases.count()
        _twice(page, twice)
        expect(cases).to_have_count(waiting - 1)
        expect(page.locator(".toast", has_text="Rejected")).to_have_count(1)
        expect(page.locator(".toast.wrong")).to_have_count(0)
        undo(page, "Rejected")
        expect(cases).to_have_count(waiting)


_PRESSED_TWICE = """() => {
    for (const _ of [1, 2]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "x", bubbles: true }));
}"""
"""At once: where a busy machine has the second key come after the answer, it is another decision."""


def _twice(page: Page, how: str) -> None:
    if how == "clicked":
        page.locator(".case").first.get_by_role("button", name="Reject").dblclick()
    elif how == "pressed":
        page.evaluate(_PRESSED_TWICE)
    else:
        for _ in range(4):
            page.keyboard.down("x")
        page.keyboard.up("x")


@pytest.mark.soak
def test_the_parts_of_a_score_come_to_the_score(stocked: Window) -> None:
    with stocked.page("/?q=how+do+I+run+the+tests&scope=shop") as page:
        press(page, page.locator(".card-button").first)
        parts = page.locator(".score-bars table").first
        expect(parts.locator(".figure").first).to_be_visible()
        said = [words.split() for words in parts.locator(".figure").all_inner_texts()]
        added = sum(float(value) for sign, value in said if sign == "+")
        times = math.prod(float(value) for sign, value in said if sign != "+")
        score = re.search(r"score of ([\d.]+)", parts.locator("caption").inner_text())
        assert score is not None
        assert added * times == pytest.approx(float(score[1]), abs=0.01)
        bars = parts.locator("tr:has(.bar.sum)")
        drawn = [float(bar.locator("rect").get_attribute("width") or "") for bar in bars.all()]
        values = [float(bar.locator(".figure").inner_text().removeprefix("+ ")) for bar in bars.all()]
        assert drawn == pytest.approx([max(1.0, 100 * value / max(values)) for value in values], abs=2)


@pytest.mark.soak
def test_what_went_wrong_stays_until_it_is_closed(stocked: Window) -> None:
    with stocked.page("/?q=staging+cluster&scope=acts") as page:
        press(page, page.locator(".card-button").first)
        press(page, page.get_by_role("button", name="Relate"))
        fill(page, page.get_by_role("dialog").get_by_label("The other memory's name or id"), "nobody-is-called-so")
        press(page, page.get_by_role("button", name="Draw the edge"))
        said = page.locator(".toast.wrong", has_text="nobody-is-called-so")
        expect(said).to_be_visible()
        page.wait_for_timeout(9_000)  # what went well is said for eight seconds
        expect(said).to_be_visible()
        said.get_by_role("button", name="Close").click()
        expect(said).to_have_count(0)


def test_a_memory_that_is_not_there_is_said_once(stocked: Window) -> None:
    with stocked.page("/memory/nobody-is-called-so") as page:
        expect(page.get_by_role("alert")).to_have_count(1)
        expect(page.get_by_role("alert")).to_contain_text("nobody-is-called-so")
        expect(page.get_by_text("Its effect over time")).to_have_count(0)


@pytest.mark.soak
def test_a_comparison_says_of_each_answer_where_the_other_recipe_has_it(stocked: Window) -> None:
    with stocked.page("/?q=run+the+tests&scope=shop&recipe2=bm25") as page:
        columns = page.locator(".columns > div")
        expect(columns.nth(1).locator(".card").first).to_be_visible()
        here, there = (
            [
                " ".join(card.locator(".name, .words").all_inner_texts())
                for card in columns.nth(side).locator(".card").all()
            ]
            for side in (0, 1)
        )
        said = [" ".join(card.locator(".moved").all_inner_texts()) for card in columns.nth(0).locator(".card").all()]
        assert len({*here}) == len(here)
        assert said == [_moved(place, there.index(name) if name in there else -1) for place, name in enumerate(here)]
        assert any(one.startswith(("↑", "↓")) for one in said)


def _moved(place: int, other: int) -> str:
    if other in (-1, place):
        return "only here" if other == -1 else ""
    return f"{'↑' if other > place else '↓'} from {other + 1}"
