"""Near-identical memories become one that has all both had; what differs is never folded; all of it goes back."""

from __future__ import annotations

from typing import Any

import pytest

from helix.agents.outcomes.feedback import feedback
from helix.agents.outcomes.noting import note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import TaskSighting, inject, injections, learn, mirror
from helix.errors import ConflictError, InvalidInputError
from helix.memory.job_run.run import Run
from helix.memory.remember.curate import EditRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep.merge import merge_similar, unmerge
from helix.memory.worker.undo import undo
from helix.model.memory import Memory, Status, claimed_of
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.model.task import Shown
from helix.operations import memories
from helix.service import Helix
from helix.store.store import Store
from tests.memory.conftest import Moment

ONE = "activate the virtual environment before running the tests"
OTHER = "before running the tests activate the virtual environment always"
AT = {"threshold": 0.9}


def kept(helix: Helix, text: str, **fields: Any) -> str:
    """Store past the look for duplicates, as imports do: each in a scope of its own, then edited into one."""
    stored = memories.store(
        helix,
        StoreRequest(trigger=text, resolution="", scope=f"for {text}", kind=fields.pop("kind", "pattern"), **fields),
    )
    return memories.edit(helix, stored.id, EditRequest(scope="global")).id


def merged(store: Store, job: str = "job", **payload: Any) -> int:
    counts = merge_similar(Run(store, job, "merge_similar"), {**AT, **payload})
    return int(counts.get("memories merged", 0))


def edges(helix: Helix, memory: str) -> set[tuple[str, str, str]]:
    return {(edge.type.value, edge.source.id, edge.target.id) for edge in memories.edges(helix, memory)}


def pair(helix: Helix, store: Store, moment: Moment) -> tuple[str, str, str]:
    winner = kept(helix, ONE)
    moment.forward(days=1)
    loser = kept(helix, OTHER)
    bug = kept(helix, "module not found when running pytest", kind="failure")
    memories.edge(helix, loser, bug, "solves")
    feedback(store, [winner], 1.0)
    feedback(store, [winner], 1.0)
    feedback(store, [loser], 0.5)
    feedback(store, [loser], -0.5)
    return winner, loser, bug


def test_one_takes_over_what_the_other_earned(living: Helix, store: Store, moment: Moment) -> None:
    winner, loser, bug = pair(living, store, moment)
    grounds = {edge.target.id for name in (winner, loser) for edge in memories.edges(living, name, "grounded_in")}
    assert merged(store) == 1
    one, other = memories.get(living, winner), memories.get(living, loser)
    assert (one.helped, one.failed, one.uses, one.attributes["helix:seen"]) == (2.5, 0.5, 4, 2)
    assert (one.status, other.status) == (Status.ACTIVE, Status.RETIRED)
    assert {edge.target.id for edge in memories.edges(living, winner, "grounded_in")} == grounds
    assert ("SOLVES", winner, bug) in edges(living, winner)
    assert ("SUPERSEDES", winner, loser) in edges(living, winner)
    found = living.recall(RecallQuery(query="activate the virtual environment")).items
    assert loser not in {item.node.id for item in found}
    assert merged(store, "again") == 0


def test_what_was_shown_to_a_task_stays_with_the_memory_that_was_shown(
    living: Helix, store: Store, moment: Moment
) -> None:
    winner, loser, _ = pair(living, store, moment)
    task = mirror(store, TaskSighting(session="s", key="1"))
    inject(store, task.id, [Shown(memory_id=loser, name="m", kind="pattern", rank=1, score=1.0)], held_back=False)
    learn(store, task.id, loser)
    merged(store)
    assert [one.memory_id for one in injections(store.index, task.id)] == [loser]
    assert ("LEARNED", task.id, winner) in edges(living, winner)


@pytest.mark.parametrize("way", ["undo", "unmerge"])
def test_it_goes_back_to_what_was(living: Helix, store: Store, moment: Moment, way: str) -> None:
    winner, loser, _ = pair(living, store, moment)
    before = (
        memories.get(living, winner),
        memories.get(living, loser),
        edges(living, winner),
        edges(living, loser),
    )
    merged(store)
    if way == "undo":
        undo(store, "job")
        assert (
            memories.get(living, winner),
            memories.get(living, loser),
            edges(living, winner),
            edges(living, loser),
        ) == before
        return
    unmerge(store, loser)
    one, other = memories.get(living, winner), memories.get(living, loser)

    def earned(memory: Memory) -> tuple[Any, ...]:
        return (memory.helped, memory.failed, memory.uses, memory.confidence, memory.half_life_days, memory.status)

    assert [earned(one), earned(other)] == [earned(memory) for memory in before[:2]]
    assert edges(living, winner) == before[2]
    assert merged(store, "again") == 0, "a person took them apart"


def test_what_agents_only_claimed_of_it_stays_claimed(living: Helix, store: Store, moment: Moment) -> None:
    winner, loser, _ = pair(living, store, moment)
    task = mirror(store, TaskSighting(session="s", key="1"))
    inject(store, task.id, [Shown(memory_id=loser, name="m", kind="pattern", rank=1, score=1.0)], held_back=False)
    note_use(store, task.id, utilized=[loser])
    settle_task(store, task.id, outcome="delivered")
    merged(store)
    held = memories.get(living, winner)
    assert (held.helped, claimed_of(held), held.label) == (2.75, 0.25, "[83% of 3]")
    settle_task(store, task.id, outcome="")
    assert (memories.get(living, winner).helped, claimed_of(memories.get(living, winner))) == (2.5, 0.0)
    settle_task(store, task.id, outcome="delivered")
    unmerge(store, loser)
    assert [claimed_of(memories.get(living, one)) for one in (winner, loser)] == [0.0, 0.25]


@pytest.mark.parametrize("delta", [0.5, -0.5])
def test_copies_do_not_let_agents_say_more_of_a_memory_than_they_may(
    living: Helix, store: Store, moment: Moment, delta: float
) -> None:
    winner, loser, _ = pair(living, store, moment)
    for said in (winner, loser):
        feedback(store, [said], delta, claimed=True)
    before = memories.get(living, winner)
    assert merged(store) == 1
    held = memories.get(living, winner)
    assert (held.helped - before.helped, held.failed - before.failed, claimed_of(held)) == (0.5, 0.5, max(0, delta))
    with pytest.raises(InvalidInputError, match="in all"):
        feedback(store, [loser], delta, claimed=True)
    unmerge(store, loser)
    one, other = memories.get(living, winner), memories.get(living, loser)
    assert (one.helped, one.failed, claimed_of(one)) == (before.helped, before.failed, max(0, delta))
    assert claimed_of(other) == max(0, delta)


def test_feedback_for_a_folded_memory_reaches_the_one_it_lives_on_in(
    living: Helix, store: Store, moment: Moment
) -> None:
    winner, loser, _ = pair(living, store, moment)
    merged(store)
    (used,) = feedback(store, [loser], 1.0)
    assert (used.id, used.helped) == (winner, 3.5)


def test_what_was_earned_since_stays_where_it_was_earned(living: Helix, store: Store, moment: Moment) -> None:
    winner, loser, _ = pair(living, store, moment)
    merged(store)
    feedback(store, [winner], 1.0)
    unmerge(store, loser)
    assert (memories.get(living, winner).helped, memories.get(living, loser).helped) == (3.0, 0.5)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "run the build with 4 workers on every machine we have",
            "run the build with 8 workers on every machine we have",
        ),
        ("always commit the lock file with every change", "never commit the lock file with every change"),
        ("the upload job fails on Linux behind the proxy", "the upload job fails on Windows behind the proxy"),
        ("`npm run pack` fails after an upgrade", "`npm run pack:api` fails after an upgrade of node"),
        ("enable the query cache for the nightly report job", "disable the query cache for the nightly report job"),
    ],
)
def test_numbers_negations_and_exchanged_words_are_never_folded(
    living: Helix, store: Store, one: str, other: str
) -> None:
    kept(living, one)
    kept(living, other)
    assert merged(store, threshold=0.5) == 0


def test_other_kinds_scopes_and_times_stay_apart(living: Helix, store: Store, moment: Moment) -> None:
    kept(living, ONE)
    memories.store(living, StoreRequest(trigger=OTHER, resolution="", kind="pattern", scope="shop"))
    kept(living, OTHER, kind="convention")
    kept(living, OTHER, name="since-lately", valid_from=moment.now)
    assert merged(store) == 0


def test_the_better_founded_one_stays_and_a_weaker_voice_makes_it_no_surer(
    living: Helix, store: Store, moment: Moment
) -> None:
    web = kept(living, ONE, trust=Trust.WEB, confidence=0.95)
    moment.forward(days=1)
    ours = kept(living, OTHER, confidence=0.6)
    assert merged(store) == 1
    assert (memories.get(living, ours).status, memories.get(living, web).status) == (
        Status.ACTIVE,
        Status.RETIRED,
    )
    assert (memories.get(living, ours).confidence, memories.get(living, ours).provenance.trust) == (
        0.6,
        Trust.USER_ASSERTED,
    )


def test_a_dry_run_says_what_it_would_fold_and_a_scope_limits_it(living: Helix, store: Store, moment: Moment) -> None:
    winner, loser, _ = pair(living, store, moment)
    dry = Run(store, "dry", "merge_similar", dry_run=True)
    assert merge_similar(dry, AT) == {"memories merged": 1}
    assert dry.plan == [f"merge: {memories.get(living, loser).name} into {memories.get(living, winner).name}"]
    assert memories.get(living, loser).status is Status.ACTIVE
    assert merged(store, scope="elsewhere") == 0


def test_what_cannot_be_done_is_refused(living: Helix, store: Store) -> None:
    name = kept(living, ONE)
    with pytest.raises(ConflictError):
        unmerge(store, name)
    with pytest.raises(InvalidInputError):
        merged(store, threshold=1.5)
