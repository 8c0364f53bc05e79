"""What a person does in the explorer, each thing with its way back, by keyboard alone; and what two pages see."""

from __future__ import annotations

import re

import pytest
from looking import Window
from playwright.sync_api import expect
from window.hands import Keys, shows, undo
from window.walks import WALKS

from tests.sampling import some


@pytest.mark.parametrize("name", some(WALKS, 2))
def test_it_is_done_by_keyboard_alone(stocked: Window, name: str) -> None:
    walk = WALKS[name]
    with stocked.page(walk.path) as page:
        walk.go(page, Keys(), stocked.running.home)


@pytest.mark.soak
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
        expect(page.locator(".card", has_text="nine metres deep")).to_be_visible(timeout=20_000)
