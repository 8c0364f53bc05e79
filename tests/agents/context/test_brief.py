"""Holds the brief: what a session begins with, worth most first, within its budget, the same each time."""

from __future__ import annotations

import pytest

from helix.agents.context.brief import brief
from helix.memory.remember.request import StoreRequest
from helix.model.provenance import Trust
from helix.operations import contexts, memories, review
from helix.service import Helix
from helix.text.tokens import estimate_tokens


def test_a_brief_names_what_is_systemic_open_decided_and_usual(helix: Helix) -> None:
    for number, kind in enumerate(("systemic", "decision", "convention", "preference", "fact", "failure")):
        memories.store(
            helix,
            StoreRequest(trigger=f"the {kind} of the house number {number}", resolution="so", kind=kind, scope="house"),
        )
    memories.store(
        helix,
        StoreRequest(
            trigger="a convention from elsewhere altogether", resolution="so", kind="convention", scope="other"
        ),
    )
    told = contexts.brief(helix, "house").text
    titles = [line.partition(":")[0] for line in told.splitlines() if not line.startswith("- ")]
    assert titles == ["# PROJECT BRIEF", "WARNING", "DECISIONS", "CONVENTIONS"]
    assert "the fact" not in told
    assert "the failure" not in told
    assert "elsewhere" not in told
    assert [one.kind for one in contexts.brief(helix, "house").shown][:2] == ["systemic", "decision"]
    assert {one.arm for one in contexts.brief(helix, "house").shown} == {"brief"}


def test_contradictions_that_an_agent_draws_are_told_as_its_own_and_put_no_others_out(helix: Helix) -> None:
    kept = [
        memories.store(
            helix, StoreRequest(trigger=f"{word} lies beside the harbour", resolution="", kind="fact", scope="house")
        )
        for word in ("cotton", "barley", "timber", "copper", "salt", "wool", "silver", "amber")
    ]
    memories.edge(helix, kept[0].name, kept[1].name, "contradicts")
    for place in (2, 4, 6):
        memories.edge(helix, kept[place].name, kept[place + 1].name, "contradicts", agent="claude-code")
    told = contexts.brief(helix, "house").text
    lines = [line for line in told.splitlines() if " against " in line]
    assert len(lines) == 3
    assert [line.endswith("(an agent says so)") for line in lines] == [True, True, False]


def test_open_contradictions_are_told_with_both_sides(helix: Helix) -> None:
    first = memories.store(
        helix,
        StoreRequest(trigger="always use tabs in the api folder", resolution="", kind="convention", scope="house"),
    )
    second = memories.store(
        helix, StoreRequest(trigger="never use tabs in the api folder", resolution="", kind="convention", scope="house")
    )
    if not review.contradictions(helix, "house"):
        memories.edge(helix, first.name, second.name, "contradicts")
    told = contexts.brief(helix, "house").text
    assert "OPEN_CONTRADICTIONS:\n- " in told
    assert f"{first.name} (" in told
    assert f"{second.name} (" in told
    assert "OPEN_CONTRADICTIONS" not in contexts.brief(helix, "elsewhere").text


def test_no_weaker_voice_takes_the_place_of_what_the_user_said(helix: Helix) -> None:
    said = memories.store(
        helix, StoreRequest(trigger="use pnpm to install packages", resolution="", kind="convention", scope="house")
    )
    other = memories.store(
        helix, StoreRequest(trigger="the lock file is old", resolution="", kind="fact", scope="house", agent="a")
    )
    memories.edge(helix, other.name, said.name, "contradicts", agent="a")
    memories.store(
        helix,
        StoreRequest(
            trigger="pnpm packages",
            resolution="",
            kind="systemic",
            scope="house",
            trust=Trust.TOOL_OUTPUT,
        ),
    )
    told = contexts.brief(helix, "house").text
    assert "OPEN_CONTRADICTIONS:" in told
    assert "WARNING: " in told
    assert f"- [you] {said.name}: use pnpm" in told


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We keep the lock files of yarn and npm in git and use npm in CI.", "Use yarn."),
        ("Never commit large binary files to the repository.", "Never commit generated files to the repository."),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_rule_of_the_user_s_is_not_left_out_for_another_that_has_its_words(
    helix: Helix, one: str, other: str, turned: bool
) -> None:
    for said in (other, one) if turned else (one, other):
        memories.store(helix, StoreRequest(trigger=said, resolution="", kind="convention", scope="p"))
    told = contexts.brief(helix, "p").text
    assert one in told and other in told
    memories.store(helix, StoreRequest(trigger=other.upper(), resolution="", kind="decision", scope="p"))
    assert contexts.brief(helix, "p").text.casefold().count(other.casefold()) == 1


def test_a_brief_keeps_its_budget_with_whole_lines_and_is_the_same_again(helix: Helix) -> None:
    for number in range(12):
        trigger = f"decision number {number} concerns the part called {'abcdefghijkl'[number] * 9}"
        memories.store(
            helix, StoreRequest(trigger=trigger, resolution="word " * (3 * number), kind="decision", scope="house")
        )
    whole = set(contexts.brief(helix, "house", 10_000).text.splitlines())
    for budget in (0, 20, 60, 150, 400):
        told = contexts.brief(helix, "house", budget)
        assert estimate_tokens(told.text) <= budget
        assert set(told.text.splitlines()) <= whole
        assert told.text == contexts.brief(helix, "house", budget).text
    assert contexts.brief(helix, "house", 0).text == ""


def test_what_helped_and_is_the_projects_own_comes_first(helix: Helix) -> None:
    names = {}
    for number, scope in enumerate(("global", "house", "house")):
        trigger = f"choice {number} was made about the {['red', 'green', 'blue'][number]} door"
        names[number] = memories.store(
            helix, StoreRequest(trigger=trigger, resolution="so", kind="decision", scope=scope)
        ).name
    memories.feedback(helix, [names[2]], 3.0)
    assert [one.name for one in contexts.brief(helix, "house").shown] == [names[2], names[1], names[0]]
    memories.feedback(helix, [names[1]], -10.0)
    assert [one.name for one in contexts.brief(helix, "house").shown] == [names[2], names[0], names[1]]
    request = StoreRequest(trigger="no door is locked", resolution="", kind="decision", scope="house", agent="helper")
    theirs = memories.store(helix, request).name
    assert contexts.brief(helix, "house").shown[-1].name == theirs
    memories.feedback(helix, [theirs], -3.0)
    assert theirs not in [one.name for one in contexts.brief(helix, "house").shown]


def test_what_agents_warn_of_puts_nothing_of_the_users_out_of_a_brief(helix: Helix) -> None:
    """Beside a person's own words, what others said had the first lines and most of the budget."""
    words = ("alder", "birch", "cedar", "dogwood", "elder")
    for word in words:
        decided = f"the {word} service keeps all of its {word}-records, {word}-files in {word}base"
        memories.store(helix, StoreRequest(trigger=decided, resolution="so", kind="decision", scope="house"))
    own = {one.name for one in contexts.brief(helix, "house", 300).shown}
    for word in ("maple", "oak", "pine"):
        warned = f"{word} breaks: " + " ".join(f"{word}{number}" for number in range(30))
        memories.store(
            helix,
            StoreRequest(trigger=warned, resolution="", kind="systemic", scope="house", trust=Trust.AGENT_INFERRED),
        )
    shown = [one.name for one in contexts.brief(helix, "house", 300).shown]
    assert len(own) == len(words)
    assert own < set(shown)
    assert shown[0] not in own


def test_an_empty_store_has_no_brief(helix: Helix) -> None:
    assert contexts.brief(helix, "house").text == ""
    assert brief(helix.store, None).shown == ()
