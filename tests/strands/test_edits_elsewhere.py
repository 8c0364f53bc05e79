"""Holds that a version made on one machine takes the place of the old one on the other, whatever was done to that."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from exchanging import take
from test_carrying import know_each_other, store
from test_sync import folder as folder
from test_sync import pair, settle, synced

from helix.memory.change.versions import OWN_WORD
from helix.memory.extraction.consolidation import consolidate
from helix.memory.remember.curate import EditRequest
from helix.model.dispute import DisputeStatus, Outcome
from helix.model.memory import Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import memories, review
from helix.service import Helix
from helix.strands.received import Signer
from tests.memory.conftest import Moment
from tests.memory.saying import PROJECT, job, learned, say
from tests.sampling import some
from tests.strands.conftest import Machines

OFFICE = "the address of the office is 5 Sesame Street"
PORT = "the api listens on port 8001"


def test_an_edited_memory_keeps_its_name_through_a_sync(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    ident = store(one, OFFICE, name="office")
    for floor in ("first floor", "second floor", "third floor"):
        settle(folder, one, other)
        ident = memories.edit(one, ident, EditRequest(resolution=floor)).id
    settle(folder, one, other)
    for machine in (one, other):
        assert memories.get(machine, "office").id == ident


def test_what_was_edited_here_and_judged_elsewhere_is_forgotten_by_its_name(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    store(one, OFFICE, name="office")
    settle(folder, one, other)
    memories.edit(one, "office", EditRequest(resolution="second floor"))
    memories.feedback(other, ["office"], 1.0)
    settle(folder, one, other)
    memories.forget(one, "office")
    assert not one.recall(RecallQuery(query="address of the office")).items


RENAMED: list[dict[str, Any]] = [{"name": "headquarters"}, {"scope": "github.com/acme/api"}]


@pytest.mark.parametrize("change", RENAMED)
@pytest.mark.parametrize("hide", [memories.forget, review.hold])
def test_what_was_taken_out_of_recall_is_not_brought_back_by_a_rename_or_a_move_elsewhere(
    machines: Machines, folder: Path, change: dict[str, Any], hide: Any
) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    renamed = memories.edit(one, said, EditRequest(**change)).id
    hidden = hide(other, said).status
    settle(folder, one, other)
    for machine in (one, other):
        assert not machine.recall(RecallQuery(query="address of the office", scope="github.com/acme/api")).items
        assert memories.get(machine, renamed).status is hidden
        assert memories.get(machine, said).status is Status.RETIRED
    memories.restore(one, renamed)
    settle(folder, one, other)
    for machine in (one, other):
        assert memories.get(machine, renamed).status is Status.ACTIVE


@pytest.mark.soak
def test_other_words_than_those_forgotten_stay_and_the_sync_says_so(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    said = store(one, OFFICE)
    settle(folder, one, other)
    edited = memories.edit(one, said, EditRequest(resolution="it moved to 7 Main Street")).id
    memories.forget(other, said)
    synced(one, folder)
    assert synced(other, folder)["counts"]["versions left standing"] == 1
    settle(folder, one, other)
    for machine in (one, other):
        assert memories.get(machine, edited).status is Status.ACTIVE
        assert memories.get(machine, said).status is Status.FORGOTTEN


@pytest.mark.parametrize("agent", ["", "bot"])
def test_a_confirmation_is_not_lost_because_another_machine_counted_a_use(
    machines: Machines, folder: Path, agent: str
) -> None:
    one, other = pair(machines)
    noted = store(one, PORT, agent="bot", trust=Trust.AGENT_INFERRED)
    settle(folder, one, other)
    sure = memories.confirm(one, noted).confidence
    memories.feedback(other, [noted], 0.2, agent=agent)
    settle(folder, one, other)
    for machine in (one, other):
        held = memories.get(machine, noted)
        assert (held.said_by, held.confidence) == ("you", sure)


def test_a_confirmation_is_not_lost_because_another_machine_renamed_it(machines: Machines, folder: Path) -> None:
    one, other = pair(machines)
    noted = store(one, PORT, agent="bot", trust=Trust.AGENT_INFERRED)
    settle(folder, one, other)
    sure = memories.confirm(one, noted).confidence
    named = memories.edit(other, noted, EditRequest(name="api-port")).id
    settle(folder, one, other)
    for machine in (one, other):
        held = memories.get(machine, named)
        assert (held.said_by, held.confidence) == ("you", sure)


@pytest.mark.parametrize("change", ["feedback", "rename"])
def test_a_confirmation_of_own_words_that_an_agent_renamed_is_not_lost(
    machines: Machines, folder: Path, change: str
) -> None:
    one, other = pair(machines)
    mine = memories.edit(one, store(one, OFFICE), EditRequest(resolution="second floor")).id
    named = memories.edit(one, mine, EditRequest(name="headquarters", agent="bot")).id
    settle(folder, one, other)
    memories.confirm(other, named)
    if change == "feedback":
        memories.feedback(one, [named], 0.2)
    else:
        named = memories.edit(one, named, EditRequest(name="office")).id
    settle(folder, one, other)
    assert [memories.get(machine, named).said_by for machine in (one, other)] == ["you"] * 2


def test_words_that_an_agent_puts_in_the_place_of_learned_and_confirmed_ones_are_not_marked_as_the_persons(
    machines: Machines,
) -> None:
    one = machines()
    say(one.store, "Remember: always run the linter before pushing.", trust=Trust.AGENT_INFERRED)
    consolidate(job(one.store, "learn"), {"scope": PROJECT})
    (noted,) = learned(one.store)
    assert OWN_WORD in memories.confirm(one, noted.id).attributes
    theirs = memories.edit(one, noted.id, EditRequest(resolution="with the strict rules", agent="bot"))
    assert OWN_WORD not in theirs.attributes


@pytest.mark.parametrize("change", [{"resolution": "and on 8002"}, {"scope": "github.com/acme/api"}])
def test_a_confirmation_does_not_reach_what_the_person_did_not_say(
    machines: Machines, folder: Path, change: dict[str, Any]
) -> None:
    one, other = pair(machines)
    noted = store(one, PORT, agent="bot", trust=Trust.AGENT_INFERRED)
    settle(folder, one, other)
    memories.confirm(one, noted)
    edited = memories.edit(other, noted, EditRequest(agent="bot", **change)).id
    settle(folder, one, other)
    assert {memories.get(machine, edited).said_by for machine in (one, other)} == {"agent"}


@pytest.mark.parametrize("trust", [Trust.AGENT_INFERRED, Trust.WEB])
def test_somebody_else_confirms_and_forgets_nothing_that_was_renamed_here(machines: Machines, trust: Trust) -> None:
    here, stranger = machines(), machines()
    noted = store(here, PORT, agent="bot", trust=Trust.AGENT_INFERRED)
    gone = store(here, OFFICE, agent="bot", trust=Trust.AGENT_INFERRED)
    take(stranger.store, here.store)
    memories.confirm(stranger, noted)
    memories.forget(stranger, gone)
    kept = [memories.edit(here, one, EditRequest(name=f"renamed-{one[-6:]}")).id for one in (noted, gone)]
    take(here.store, stranger.store, Signer(name="stranger", trust=trust))
    held = [memories.get(here, one) for one in kept]
    assert [(one.said_by, one.status) for one in held] == [("agent", Status.ACTIVE)] * 2
    assert memories.get(here, noted).said_by == "agent"


@pytest.mark.parametrize("change", ["feedback", "rename"])
def test_a_confirmation_of_what_was_learned_is_not_lost_either(machines: Machines, folder: Path, change: str) -> None:
    one, other = pair(machines)
    say(one.store, "Remember: always run the linter before pushing.", trust=Trust.AGENT_INFERRED)
    consolidate(job(one.store, "learn"), {"scope": PROJECT})
    (noted,) = learned(one.store)
    settle(folder, one, other)
    sure = memories.confirm(one, noted.id).confidence
    if change == "feedback":
        memories.feedback(other, [noted.id], 0.2)
    else:
        memories.edit(other, noted.id, EditRequest(name="lint"))
    settle(folder, one, other)
    for machine in (one, other):
        assert [(held.said_by, held.confidence) for held in learned(machine.store)] == [("you", sure)]


def told_of_two_ports(machines: Machines, folder: Path) -> tuple[Moment, Helix, Helix, list[str]]:
    """Return two machines that hold what an agent said of a port and, three days later, of another; the ids last."""
    moment = Moment()
    one, other = machines(moment), machines(moment)
    know_each_other(one, other)
    said = [store(one, PORT, agent="bot", trust=Trust.AGENT_INFERRED)]
    moment.forward(days=3)
    said.append(store(one, PORT.replace("8001", "8002"), agent="bot", trust=Trust.AGENT_INFERRED))
    settle(folder, one, other)
    return moment, one, other, said


@pytest.mark.parametrize("decide", [False, True])
def test_what_a_person_has_hold_again_does_not_end_because_another_machine_counted_a_use(
    machines: Machines, folder: Path, decide: bool
) -> None:
    _, one, other, (first, second) = told_of_two_ports(machines, folder)
    assert memories.get(other, first).valid_to is not None
    if decide:
        review.resolve_contradiction(one, first, second, first)
    else:
        memories.confirm(one, first)
    memories.feedback(other, [first], 0.2)
    settle(folder, one, other)
    assert {memories.get(machine, first).valid_to for machine in (one, other)} == {None}


def test_what_a_person_decided_is_not_asked_again_because_of_a_rule(machines: Machines, folder: Path) -> None:
    _, one, other, (first, second) = told_of_two_ports(machines, folder)
    review.resolve_contradiction(one, first, second, first)
    memories.edge(other, second, first, "contradicts", agent="bot")
    settle(folder, one, other)
    for machine in (one, other):
        (decided,) = review.contradictions(machine, any_status=True).items
        assert (decided.status, decided.outcome) == (DisputeStatus.RESOLVED, Outcome.SECOND)
        assert [held.valid_to for held in machine.store.index.memories(Status.ACTIVE)] == [None]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("renamed", [0, 1])
@pytest.mark.parametrize("sooner", some([True, False], 1))
def test_what_a_person_decided_holds_for_what_another_machine_renamed(
    machines: Machines, folder: Path, which: int, renamed: int, sooner: bool
) -> None:
    moment, one, other, said = told_of_two_ports(machines, folder)
    if sooner:
        memories.edit(other, said[renamed], EditRequest(name="port"))
        moment.forward(hours=1)
    review.resolve_contradiction(one, *said, said[which])
    if not sooner:
        moment.forward(hours=1)
        memories.edit(other, said[renamed], EditRequest(name="port"))
    settle(folder, one, other)
    present = [memories.get(one, "port").id if at == renamed else ident for at, ident in enumerate(said)]
    for machine in (one, other):
        held = [memories.get(machine, ident) for ident in present]
        assert [(memory.status, memory.valid_to) for memory in held][which] == (Status.ACTIVE, None)
        assert held[1 - which].valid_to is not None
        told = review.contradictions(machine, any_status=True).items
        assert DisputeStatus.RESOLVED in {a.status for a in told if {a.first.id, a.second.id} == {*present}}


def test_what_a_person_opened_again_waits_for_them_whatever_a_rule_settled_meanwhile(
    machines: Machines, folder: Path
) -> None:
    _, one, other, (first, second) = told_of_two_ports(machines, folder)
    review.reopen_contradiction(one, first, second)
    memories.confirm(other, second)
    settle(folder, one, other)
    for machine in (one, other):
        assert [held.status for held in review.contradictions(machine, any_status=True).items] == [DisputeStatus.OPEN]
        assert [memories.get(machine, one_side).valid_to for one_side in (first, second)] == [None, None]


AGENTS: dict[str, Any] = {"agent": "bot", "trust": Trust.AGENT_INFERRED}
OTHER_PORT = "the api listens on port 8002"


@pytest.mark.parametrize("first", some([True, False], 1))
@pytest.mark.parametrize("hours", [1, 30])
def test_what_a_person_decided_against_is_not_told_because_an_agent_said_it_elsewhere(
    machines: Machines, folder: Path, first: bool, hours: int
) -> None:
    moment = Moment()
    one, other = machines(moment), machines(moment)
    know_each_other(one, other)
    if first:
        store(other, PORT, **AGENTS)
        moment.forward(hours=hours)
    store(one, PORT, **AGENTS)
    moment.forward(hours=hours)
    stays = store(one, OTHER_PORT, **AGENTS)
    moment.forward(hours=hours)
    if not first:
        store(other, PORT, **AGENTS)
        moment.forward(hours=hours)
    (dispute,) = review.contradictions(one, any_status=True).items
    review.resolve_contradiction(one, dispute.first.id, dispute.second.id, stays)
    settle(folder, one, other)
    for machine in (one, other):
        assert {item.text for item in machine.recall(RecallQuery(query="which port")).items} == {OTHER_PORT}


@pytest.mark.parametrize("first", some([True, False], 1))
@pytest.mark.parametrize("field", ["valid_to", "valid_from", "name"])
def test_what_a_person_says_of_a_memory_holds_of_another_machines_copy(
    machines: Machines, folder: Path, first: bool, field: str
) -> None:
    moment = Moment()
    one, other = machines(moment), machines(moment)
    know_each_other(one, other)
    told: dict[str, Any] = {
        "valid_to": moment.now + timedelta(days=2),
        "valid_from": moment.now - timedelta(days=30),
        "name": "headquarters",
    }
    if first:
        store(other, OFFICE, **AGENTS)
        moment.forward(hours=1)
    ident = store(one, OFFICE, **AGENTS)
    moment.forward(hours=1)
    if not first:
        store(other, OFFICE, **AGENTS)
    memories.edit(one, ident, EditRequest(**{field: told[field]}))
    settle(folder, one, other)
    for machine in (one, other):
        (held,) = machine.store.index.memories(Status.ACTIVE)
        assert getattr(held, field) == told[field]


def test_a_decision_holds_against_what_was_said_before_it_and_ended_and_held_again_elsewhere_since(
    machines: Machines, folder: Path
) -> None:
    moment = Moment()
    one, other = machines(moment), machines(moment)
    know_each_other(one, other)
    store(other, PORT, **AGENTS)
    moment.forward(hours=30)
    dropped, stays = store(one, PORT, **AGENTS), store(one, OTHER_PORT, **AGENTS)
    review.resolve_contradiction(one, dropped, stays, stays)
    moment.forward(hours=30)
    passing = store(other, "the api listens on port 8003", **AGENTS)
    moment.forward(hours=1)
    memories.forget(other, passing)
    settle(folder, one, other)
    for machine in (one, other):
        assert {item.text for item in machine.recall(RecallQuery(query="which port")).items} == {OTHER_PORT}
