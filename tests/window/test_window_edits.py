"""What a person writes into an open dialog outlives what is written elsewhere meanwhile, and so does that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from looking import Window
from playwright.sync_api import Browser, Locator, Page, expect
from window.browser import daemon
from window.hands import shows
from window.stocked import store

from helix.service import Helix
from tests.sampling import some

SAID = ("The deploy needs 4 replicas", "The kiln is lit on Mondays", "The ferry leaves at 9")
WHEN, WHAT = "When (what it is about)", "What (what to do or to know)"


def written(helix: Helix) -> None:
    """Store what is edited."""
    for trigger in SAID:
        store(helix, trigger, "As it was first said.", "fact")


@pytest.fixture(scope="module")
def desk(browser: Browser, models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on memories that are edited."""
    with daemon(tmp_path_factory.mktemp("edits"), models_path, fill={0: written}, embedding_model="none") as running:
        yield Window(running, browser)


def memory(desk: Window, words: str) -> dict[str, str]:
    """Return a memory as it stands."""
    found = json.loads(desk.running.helix("list", "--json"))
    (one,) = [node for edge in found["memories"]["edges"] if words in (node := edge["node"])["trigger"]]
    return dict(one)


def opened_dialog(page: Page) -> Locator:
    """Open the dialog that edits what the page shows."""
    page.get_by_role("button", name="Edit", exact=True).first.click()
    return page.get_by_role("dialog")


@pytest.mark.parametrize("address", some(["/memory/{id}", "/memory/{name}", "/?open={id}"], 1))
def test_words_that_are_typed_stay_while_another_field_is_changed_elsewhere(desk: Window, address: str) -> None:
    before = memory(desk, "replicas")
    said, wanted = f"As {address} is read by others.", f"The deploy needs 6 replicas, says {address}"
    with desk.page(address.format(**before)) as page:
        dialog = opened_dialog(page)
        dialog.get_by_label(WHEN).fill(wanted)
        desk.running.helix("edit", before["name"], "--resolution", said)
        expect(dialog.get_by_role("status")).to_contain_text("changed meanwhile")
        expect(dialog.get_by_label(WHEN)).to_have_value(wanted)
        expect(dialog.get_by_label(WHAT)).to_have_value(said)
        dialog.get_by_role("button", name="Save a new version").click()
        expect(dialog).to_have_count(0)
        shows(page, wanted, said)
    after = memory(desk, "replicas")
    assert (after["trigger"], after["resolution"]) == (wanted, said)


@pytest.mark.soak
def test_whoever_changes_what_another_changed_sees_it_and_decides(desk: Window) -> None:
    before = memory(desk, "kiln")
    with desk.page(f"/memory/{before['id']}") as page:
        dialog = opened_dialog(page)
        dialog.get_by_label(WHAT).fill("Light it on Tuesdays.")
        desk.running.helix("edit", before["name"], "--resolution", "Light it on Thursdays.")
        expect(dialog.get_by_role("status")).to_contain_text("changed meanwhile")
        expect(dialog.get_by_label("What changes").locator("del")).to_have_text("Thursdays")
        expect(dialog.get_by_label("What changes").locator("ins")).to_have_text("Tuesdays")
        dialog.get_by_role("button", name="Save a new version").click()
        shows(page, "Light it on Tuesdays.")
        expect(page).not_to_have_url(f"{desk.origin}/memory/{before['id']}")
        expect(page.get_by_role("button", name="Edit", exact=True)).to_be_visible()  # the page shows the newest version
    assert memory(desk, "kiln")["resolution"] == "Light it on Tuesdays."


@pytest.mark.soak
def test_a_dialog_in_which_nothing_was_typed_shows_the_newer_words_and_saves_none(desk: Window) -> None:
    before = memory(desk, "ferry")
    with desk.page(f"/memory/{before['id']}") as page:
        dialog = opened_dialog(page)
        dialog.get_by_label(WHAT).fill("It is late.")
        dialog.get_by_label(WHAT).fill(before["resolution"])
        desk.running.helix("edit", before["name"], "--resolution", "It waits for nobody.")
        expect(dialog.get_by_label(WHAT)).to_have_value("It waits for nobody.")
        expect(dialog.get_by_role("button", name="Save a new version")).to_be_disabled()
        dialog.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("button", name="Restore")).to_be_visible()
        expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)
