"""What a user stands for holds as their own word, whatever weaker voices made of it before or say after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helix.ingest.note_kinds import kind_of
from helix.memory.change.compose import Composer
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.merge import fold
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.model.reports import StoreResult
from helix.operations import contexts, ingest, memories, review
from helix.service import Helix
from helix.store.listing import MemoryFilter
from helix.store.writer import Decision
from tests.waiting import finished

NOTED, CONTRARY, THIRD = (f"The API server listens on port {port}." for port in (8410, 9999, 7777))


def take_in(helix: Helix, folder: Path, *, mine: bool = False, **files: tuple[str, ...]) -> None:
    """Write files of rules and ingest their folder, as one repository."""
    (folder / ".git").mkdir(exist_ok=True)
    for name, rules in files.items():
        told = "".join(f"- {rule}\n" for rule in rules)
        (folder / f"{name}.md").write_text(f"# Rules\n\n- Keep {name} short.\n{told}", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(folder)], scope="shop", mine=mine))


def told_by(helix: Helix, text: str, agent: str = "", name: str = "") -> StoreResult:
    """Store what an agent says, or (no agent) the user."""
    kind = kind_of(text, "Rules").value
    return memories.store(
        helix, StoreRequest(trigger=text, resolution="", kind=kind, scope="shop", agent=agent, name=name)
    )


def in_force(helix: Helix, word: str) -> list[Memory]:
    """Return the active memories that have a word and did not end."""
    now = helix.store.runtime.clock()
    active = memories.memories(helix, MemoryFilter(status=[Status.ACTIVE]), first=100).items
    return [one for one in active if word in one.trigger and (one.valid_to is None or one.valid_to > now)]


@pytest.mark.parametrize("after", ["a third", "forgotten and restored", "nothing"])
@pytest.mark.parametrize("how", ["mine", "confirm"])
def test_an_agents_old_ruling_does_not_end_what_the_user_stands_for_now(
    helix: Helix, tmp_path: Path, how: str, after: str
) -> None:
    take_in(helix, tmp_path, CLAUDE=(NOTED,))
    (rule,) = in_force(helix, "8410")
    contrary = told_by(helix, CONTRARY, agent="claude")
    assert not in_force(helix, "8410"), "an agent's word is better founded than a note that nobody stands for"
    if how == "mine":
        take_in(helix, tmp_path, mine=True)
    else:
        memories.confirm(helix, rule.id)
    if after == "a third":
        told_by(helix, THIRD, agent="claude")
    elif after == "forgotten and restored":
        memories.forget(helix, contrary.id)
        memories.restore(helix, contrary.id)
    assert [one.id for one in in_force(helix, "8410")] == [rule.id]
    assert not in_force(helix, "9999")


def test_two_contrary_words_of_the_user_do_not_both_hold_as_if_that_were_settled(helix: Helix, tmp_path: Path) -> None:
    take_in(helix, tmp_path, CLAUDE=(NOTED,))
    told_by(helix, CONTRARY)
    take_in(helix, tmp_path, mine=True)
    waiting = review.contradictions(helix, scope="shop").items
    assert waiting or len(in_force(helix, "port")) == 1


RULE = "Always run the linter before pushing a branch."
REWORDED = "Always run the linter and mypy before pushing a branch."


@pytest.mark.parametrize("first", ["notes", "agent"])
@pytest.mark.parametrize("then", ["the same file", "another file", "a version of an agent's", "nearly an agent's"])
def test_a_persons_words_for_a_rule_give_way_to_nobody_elses(
    helix: Helix, tmp_path: Path, first: str, then: str
) -> None:
    if first == "notes":
        take_in(helix, tmp_path, A=(RULE,))
    else:
        told_by(helix, RULE, agent="claude")
    (rule,) = in_force(helix, "linter")
    reworded = memories.edit(helix, rule.id, EditRequest(trigger=REWORDED))
    if "file" in then:
        for _ in range(2):
            take_in(helix, tmp_path, mine=True, **{"A" if then == "the same file" else "B": (RULE,)})
        assert [one.id for one in in_force(helix, "linter")] == [reworded.id]
    else:
        told_by(helix, REWORDED.replace(".", " to anyone." if "version" in then else "!"), agent="claude")
    assert memories.get(helix, reworded.id).status is Status.ACTIVE


def test_a_note_that_ended_by_a_rule_and_went_is_said_once_the_user_stands_for_it(helix: Helix, tmp_path: Path) -> None:
    take_in(helix, tmp_path, CLAUDE=(NOTED,))
    told_by(helix, CONTRARY)
    take_in(helix, tmp_path, CLAUDE=())
    take_in(helix, tmp_path, mine=True, CLAUDE=(NOTED,))
    assert [one.provenance.trust for one in in_force(helix, "8410")] == [Trust.USER_ASSERTED]


def test_a_note_that_a_person_decided_against_stays_away_when_it_is_said_again(helix: Helix, tmp_path: Path) -> None:
    take_in(helix, tmp_path, CLAUDE=(NOTED,))
    (rule,) = in_force(helix, "8410")
    contrary = told_by(helix, CONTRARY)
    review.resolve_contradiction(helix, rule.id, contrary.id, contrary.id)
    for rules in ((NOTED,), (), (NOTED,)):
        take_in(helix, tmp_path, CLAUDE=rules)
        assert not in_force(helix, "8410")


OTHER_WORDS = "The linter is ruff with the settings of pyproject."


@pytest.mark.parametrize("then", ["vouched for", "dropped and said again, and dropped by the other"])
@pytest.mark.parametrize("mine", [False, True])
def test_rules_that_a_person_merged_stay_one_as_long_as_a_file_says_either(
    helix: Helix, tmp_path: Path, then: str, mine: bool
) -> None:
    take_in(helix, tmp_path, mine=mine, A=(RULE,), B=(OTHER_WORDS,))
    one, other = sorted(in_force(helix, "linter"), key=lambda rule: rule.trigger != RULE)
    review.settle_duplicate(helix, one.id, other.id, other.id)
    for files in ({}, {}) if then == "vouched for" else ({"A": ()}, {"A": (RULE,)}, {"B": ()}):
        take_in(helix, tmp_path, mine=mine or then == "vouched for", **files)
        assert [one.id for one in in_force(helix, "linter")] == [other.id]
    take_in(helix, tmp_path, mine=True, A=(), B=())
    assert not in_force(helix, "linter")


@pytest.mark.parametrize("how", ["name", "kind", "scope"])
@pytest.mark.parametrize("agent", ["", "claude"])
def test_what_a_person_made_of_a_rule_stays_when_the_user_stands_for_it_and_what_an_agent_made_does_not(
    helix: Helix, tmp_path: Path, how: str, agent: str
) -> None:
    take_in(helix, tmp_path, CLAUDE=(RULE,))
    (rule,) = in_force(helix, "linter")
    to = {"name": "lint", "kind": "fact", "scope": "global"}[how]
    changed = memories.edit(helix, rule.id, EditRequest(**{how: to}, agent=agent))  # type: ignore[arg-type]
    for _ in range(2):
        take_in(helix, tmp_path, mine=True)
    (mine,) = [one for one in in_force(helix, "linter") if one.provenance.trust is Trust.USER_ASSERTED]
    as_made = changed if not agent else rule
    assert (mine.name, mine.kind, mine.scope) == (as_made.name, as_made.kind, as_made.scope)


@pytest.mark.parametrize("mine", [False, True])
@pytest.mark.parametrize("agent", ["", "claude"])
def test_a_rule_that_was_stored_under_another_name_is_not_told_twice_when_notes_say_it(
    helix: Helix, tmp_path: Path, agent: str, mine: bool
) -> None:
    told_by(helix, RULE, agent=agent, name="lint")
    take_in(helix, tmp_path, mine=mine, CLAUDE=(RULE, NOTED))
    (rule,) = in_force(helix, "linter")
    best = Trust.USER_ASSERTED if mine or not agent else Trust.AGENT_INFERRED
    assert rule.provenance.trust is best
    take_in(helix, tmp_path, mine=mine, CLAUDE=(NOTED,))
    assert len(in_force(helix, "linter")) == (not (mine and agent)), "who stored it says it still"


def test_who_stands_for_a_note_stands_for_its_words_and_for_nothing_a_stranger_added(
    helix: Helix, tmp_path: Path
) -> None:
    told = {"kind": "convention", "scope": "shop", "name": "user-wants-a-script", "trigger": RULE, "resolution": ""}
    told |= {"files": ["src/pay.py"], "attributes": {"command": "npm publish"}, "importance": 10}
    ingest.ingest_jsonl(helix, [json.dumps(told)])
    take_in(helix, tmp_path, mine=True, CLAUDE=(RULE,))
    (own,) = (one for one in in_force(helix, "linter") if one.said_by == "you")
    assert (own.name.startswith("user-wants"), "command" in own.attributes) == (False, False)
    assert not contexts.at_action(helix, command="npm publish", scope="shop").text


def test_who_stands_for_a_note_does_not_stand_for_what_it_was_folded_into(helix: Helix, tmp_path: Path) -> None:
    theirs = RULE.removesuffix(".") + ", and ask Mallory."
    take_in(helix, tmp_path, CLAUDE=(RULE,), OTHER=(theirs,))
    goes, stays = sorted(in_force(helix, "linter"), key=lambda rule: rule.trigger != RULE)

    def folded() -> Decision[None]:
        composer = Composer(helix.store, helix.store.runtime.clock())
        fold(composer, helix.store.records, stays, goes)
        return Decision((composer.change("merge"),), None)

    helix.store.writer.submit(folded)
    finished(helix, ingest.ingest_notes(helix, [str(tmp_path / "CLAUDE.md")], scope="shop", mine=True))
    assert {(one.trigger, one.said_by) for one in in_force(helix, "linter")} == {(RULE, "you"), (theirs, "notes")}
