"""Holds the brief: what a session begins with, worth most first, within its budget, the same each time."""

from __future__ import annotations

from helix.learning.context.brief import brief
from helix.learning.context.contexts import Contexts
from helix.model.provenance import Trust
from helix.service import Helix
from helix.store.store import Store
from helix.text.tokens import estimate_tokens


def test_a_brief_names_what_is_systemic_open_decided_and_usual(helix: Helix) -> None:
    for number, kind in enumerate(("systemic", "decision", "convention", "preference", "fact", "failure")):
        helix.store(trigger=f"the {kind} of the house number {number}", resolution="so", kind=kind, scope="house")
    helix.store(trigger="a convention from elsewhere altogether", resolution="so", kind="convention", scope="other")
    told = helix.brief("house").text
    titles = [line.partition(":")[0] for line in told.splitlines() if not line.startswith("- ")]
    assert titles == ["# PROJECT BRIEF", "WARNING", "DECISIONS", "CONVENTIONS"]
    assert "the fact" not in told
    assert "the failure" not in told
    assert "elsewhere" not in told
    assert [one.kind for one in helix.brief("house").shown][:2] == ["systemic", "decision"]
    assert {one.arm for one in helix.brief("house").shown} == {"brief"}


def test_open_contradictions_are_told_with_both_sides(helix: Helix) -> None:
    first = helix.store(trigger="always use tabs in the api folder", resolution="", kind="convention", scope="house")
    second = helix.store(trigger="never use tabs in the api folder", resolution="", kind="convention", scope="house")
    if not helix.contradictions("house"):
        helix.edge(first.name, second.name, "contradicts")
    told = helix.brief("house").text
    assert "OPEN_CONTRADICTIONS:\n- " in told
    assert f"{first.name} (" in told
    assert f"{second.name} (" in told
    assert "OPEN_CONTRADICTIONS" not in helix.brief("elsewhere").text


def test_no_weaker_voice_takes_the_place_of_what_the_user_said(helix: Helix) -> None:
    said = helix.store(trigger="use pnpm to install packages", resolution="", kind="convention", scope="house")
    other = helix.store(trigger="the lock file is old", resolution="", kind="fact", scope="house", agent="a")
    helix.edge(other.name, said.name, "contradicts", agent="a")
    helix.store(
        trigger="pnpm packages",
        resolution="",
        kind="systemic",
        scope="house",
        trust=Trust.TOOL_OUTPUT,
    )
    told = helix.brief("house").text
    assert "OPEN_CONTRADICTIONS:" in told
    assert "WARNING: " in told
    assert f"- [you] {said.name}: use pnpm" in told


def test_a_brief_keeps_its_budget_with_whole_lines_and_is_the_same_again(helix: Helix) -> None:
    for number in range(12):
        trigger = f"decision number {number} concerns the part called {'abcdefghijkl'[number] * 9}"
        helix.store(trigger=trigger, resolution="word " * (3 * number), kind="decision", scope="house")
    whole = set(helix.brief("house", 10_000).text.splitlines())
    for budget in (0, 20, 60, 150, 400):
        told = helix.brief("house", budget)
        assert estimate_tokens(told.text) <= budget
        assert set(told.text.splitlines()) <= whole
        assert told.text == helix.brief("house", budget).text
    assert helix.brief("house", 0).text == ""


def test_what_helped_and_is_the_projects_own_comes_first(helix: Helix) -> None:
    names = {}
    for number, scope in enumerate(("global", "house", "house")):
        trigger = f"choice {number} was made about the {['red', 'green', 'blue'][number]} door"
        names[number] = helix.store(trigger=trigger, resolution="so", kind="decision", scope=scope).name
    helix.feedback([names[2]], 3.0)
    assert [one.name for one in helix.brief("house").shown] == [names[2], names[1], names[0]]
    helix.feedback([names[1]], -3.0)
    assert [one.name for one in helix.brief("house").shown] == [names[2], names[0]]


def test_an_empty_store_has_no_brief(helix: Helix) -> None:
    assert isinstance(helix, Contexts)
    assert helix.brief("house").text == ""
    assert isinstance(helix._store, Store)
    assert brief(helix._store, None).shown == ()
