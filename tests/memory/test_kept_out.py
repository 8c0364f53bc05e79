"""What was erased is never derived again, and what was undone not until a person asks for it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saying import PROJECT, say

from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.memory.job_run.run import Run
from helix.memory.remember.request import StoreRequest
from helix.memory.worker.undo import undo
from helix.model.edge import Label
from helix.model.erasure_report import ErasePlan
from helix.model.memory import Kind, Memory
from helix.model.recall import RecallQuery
from helix.model.reports import Job
from helix.model.told import normal
from helix.model.tombstone import KEY, digests, kept_out
from helix.operations import memories
from helix.service import Helix
from helix.store.jobs import Jobs
from helix.store.store import Store
from tests.sampling import some

CODE = "Remember that the vault code lives in the red binder."
DAYS = [f"Day {day}. {CODE} Nothing else happened on day {day}." for day in range(3)]
RULE = "Always run the linter before pushing."
EVERYTHING = {"scope": None}

texts = st.text(max_size=40)


def run(store: Store, name: str, *, anew: bool = False, dry_run: bool = False) -> Run:
    started = Run(store, name, "rederive" if anew else "consolidate", dry_run=dry_run)
    (rederive if anew else consolidate)(started, EVERYTHING)
    return started


def said(store: Store) -> list[str]:
    """What the active memories of the scope say."""
    nodes = [node for node in store.index.nodes(store.index.from_sources(Label.MEMORY, "", PROJECT))]
    return sorted(node.trigger for node in nodes if isinstance(node, Memory) and node.status == "active")


def erase(store: Store, name_or_id: str) -> ErasePlan:
    """Hard forget as a job does; return the plan that was carried out."""
    plan, ended = plan_hard_forget(store, name_or_id), threading.Event()

    def told(job: Job) -> None:
        if job.ended_at is not None:
            ended.set()

    jobs = Jobs(clock=store.runtime.clock, make_id=store.runtime.make_id)
    jobs.listen(told)
    started = jobs.start("test", lambda ticket: {"rows": hard_forget(store, plan, ticket).rows})
    assert ended.wait(60)
    assert jobs.get(started.id).error == ""
    return plan


def derived_from(store: Store, *contents: str, job: str = "first") -> Memory:
    say(store, *contents)
    run(store, job)
    nodes = [node for node in store.index.nodes(store.index.from_sources(Label.MEMORY, "derived:", PROJECT))]
    (memory,) = [node for node in nodes if isinstance(node, Memory) and "binder" in node.trigger]
    return memory


def test_an_erased_memory_takes_the_episodes_that_say_its_words_with_it(store: Store) -> None:
    memory = derived_from(store, *DAYS, "The lunch was good.")
    (elsewhere,) = say(store, f"VAULT CODE? {CODE.upper()}", first=20, scope="elsewhere")
    (kept,) = say(store, "Remember that the red binder lives in the vault.", first=30)
    plan = erase(store, memory.id)
    reasons = {each.ref.id: each.why for each in plan.goes if each.ref.label is Label.EPISODE}
    assert len(reasons) == 4, "in whatever scope, and whether it was drawn from them or not"
    assert set(reasons.values()) == {"it says the same words"}
    assert elsewhere in reasons
    assert kept not in reasons


def test_nothing_says_what_was_erased_until_somebody_says_it_again(living: Helix) -> None:
    memory = derived_from(living.store, *DAYS)
    erase(living.store, memory.id)
    answer = living.recall(RecallQuery(query="where does the vault code live"))
    assert not [item for item in answer.items if "binder" in f"{item}"]


@pytest.mark.parametrize("anew", some([False, True], 1))
def test_an_erased_memory_is_not_derived_again_from_new_evidence(store: Store, anew: bool) -> None:
    erase(store, derived_from(store, *DAYS).id)
    say(store, f"Today again. {CODE} Bye.", RULE, first=9)
    again = run(store, "again", anew=anew)
    assert again.counts["memories kept out: erased or undone"] == 1
    assert len(said(store)) == 1, "what else was said is learned"
    assert "linter" in said(store)[0]


def test_a_person_may_still_store_what_was_erased(living: Helix) -> None:
    erase(living.store, derived_from(living.store, *DAYS).id)
    stored = memories.store(living, StoreRequest(trigger=CODE, resolution="", kind="fact", scope=PROJECT))
    assert stored.status == "added"


def test_other_memories_of_the_episodes_that_went_come_back_from_what_is_left(store: Store) -> None:
    say(store, *(f"{day} {RULE}" for day in DAYS), RULE)
    run(store, "first")
    (binder,) = [
        node
        for node in store.index.nodes(store.index.from_sources(Label.MEMORY, "derived:", PROJECT))
        if isinstance(node, Memory) and "binder" in node.trigger
    ]
    plan = erase(store, binder.id)
    assert sum(each.ref.label is Label.EPISODE for each in plan.goes) == 3, "the one that says another thing stays"
    assert said(store) == []
    run(store, "anew", anew=True)
    assert len(said(store)) == 1
    assert "linter" in said(store)[0]


def test_what_was_undone_stays_away_until_it_is_asked_for_anew(store: Store) -> None:
    say(store, RULE)
    run(store, "first")
    assert len(said(store)) == 1
    assert undo(store, "first", dry_run=True).kept_out == 1
    assert undo(store, "first").kept_out == 1
    say(store, "Lunch was good.", RULE, first=5)
    run(store, "next")
    assert said(store) == [], "however often it is said"
    planned = run(store, "plan", anew=True, dry_run=True)
    assert planned.counts["memories added"] == 1
    say(store, RULE, first=9)
    run(store, "later")
    assert said(store) == [], "looking at a plan asks for nothing"
    run(store, "anew", anew=True)
    assert len(said(store)) == 1


def test_a_renewal_that_was_undone_leaves_the_earlier_words_open_to_new_evidence(store: Store) -> None:
    say(store, RULE)
    run(store, "first")
    before = said(store)
    say(store, "Lunch was good.", first=3)
    run(store, "nothing")
    undo(store, "nothing")
    run(store, "next")
    assert said(store) == before


@given(trigger=texts, resolution=texts, key=texts, number=st.integers(0, 10**6))
def test_digests_tell_the_same_statement_and_are_salted(trigger: str, resolution: str, key: str, number: int) -> None:
    def memory(place: int) -> Memory:
        return Memory(
            id=f"m{place}",
            name="n",
            kind=Kind.FACT,
            trigger=trigger,
            resolution=resolution,
            recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
            attributes={KEY: key},
        )

    kept = digests(memory(number))
    out = kept_out([(f"m{number}", kept)])
    assert out.holds(trigger, f"  ({resolution})!") is bool(normal(f"{trigger} {resolution}"))
    assert out.holds("", f"{trigger} {resolution}") is bool(normal(f"{trigger} {resolution}"))
    assert out.holds("", "", key) is bool(key)
    assert not out.holds(f"{trigger} and more", f"{resolution} besides")
    salted, other = ({one for one in told if ":" not in one} for told in (kept, digests(memory(number + 1))))
    assert salted.isdisjoint(other), "the same statement looks different in another place"
