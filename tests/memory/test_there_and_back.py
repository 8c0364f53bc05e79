"""A value that changed and changed back holds again from when it was told again, whatever was heard in what order."""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from saying import disputed, embed, job, said_in, shown
from working import job as work

from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.change.compose import Composer
from helix.memory.contradiction.detect import Statement, contradiction
from helix.memory.erasure.hard_forget import hard_forget, plan_hard_forget
from helix.memory.extraction.consolidation import consolidate, rederive
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Ref, Relation
from helix.model.memory import Memory, Status
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import background_work, memories
from helix.service import Helix
from helix.settings import Settings
from helix.store.store import Store
from helix.store.writer import Decision
from tests.memory.conftest import Moment
from tests.sampling import draws

OCTOBER = datetime(2025, 10, 1, 10, tzinfo=UTC)
DAY = timedelta(days=1)
Telling = tuple[float, str]
"""On which day which port was told."""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Settings with which the background worker consolidates nothing by itself."""
    return dataclasses.replace(settings, consolidation_budget=0.0)


@pytest.fixture
def store(living: Helix) -> Store:
    background_work.pause_worker(living, True)
    return living.store


def hear(store: Store, scope: str, told: Sequence[Telling], trust: Trust = Trust.USER_ASSERTED) -> None:
    """Record on which days somebody said which port, in this order."""
    for day, port in told:
        record(
            store,
            EpisodeRequest(
                content=f"Remember: the mail service listens on port {port}.",
                scope=scope,
                role="user",
                session=f"{scope}-{day}",
                occurred_at=OCTOBER + day * DAY,
                trust=trust,
            ),
        )
    embed(store)


def flush(store: Store, scope: str) -> None:
    consolidate(job(store, uuid.uuid4().hex), {"scope": scope})


def held(store: Store, scope: str) -> list[Memory]:
    """What is known of a scope, the older claim first."""
    active = [one for one in store.index.memories(Status.ACTIVE) if one.scope == scope]
    return sorted(active, key=lambda one: (one.valid_from or one.recorded_at, one.trigger))


def spans(store: Store, scope: str) -> list[tuple[str, int | None, int | None]]:
    """Each memory's port, and the days from and until which it holds."""
    return [(port_of(one), day_of(one.valid_from), day_of(one.valid_to)) for one in held(store, scope)]


def port_of(memory: Memory) -> str:
    return memory.trigger.rstrip(".").split()[-1]


def day_of(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - OCTOBER) // DAY


THERE_AND_BACK = ((4, "8410"), (14, "9410"), (35, "8410"))
BACK = [("8410", 4, 14), ("9410", 14, 35), ("8410", 35, None)]


@pytest.mark.parametrize("order", list(itertools.permutations(THERE_AND_BACK)))
@pytest.mark.parametrize("nightly", [False, True])
def test_a_value_that_changed_back_holds_again_in_whatever_order_it_is_heard(
    store: Store, order: tuple[Telling, ...], nightly: bool
) -> None:
    for told in order:
        hear(store, "x", [told])
        if nightly:
            flush(store, "x")
    flush(store, "x")

    assert spans(store, "x") == BACK
    before, edges = shown(store, "x"), disputed(store, "x")
    rederive(job(store, "again"), {"scope": "x"})
    assert (shown(store, "x"), disputed(store, "x")) == (before, edges)


def test_each_moment_is_answered_by_what_was_told_last_before_it(living: Helix, store: Store) -> None:
    hear(store, "x", THERE_AND_BACK)
    flush(store, "x")

    def answered(day: int) -> list[str]:
        query = RecallQuery(query="mail service port", scope="x", as_of=OCTOBER + day * DAY)
        return [port_of(item.node) for item in living.recall(query).items if isinstance(item.node, Memory)]

    assert [answered(day) for day in (9, 19, 40)] == [["8410"], ["9410"], ["8410"]]


def test_what_is_merely_repeated_stays_one_memory_with_more_evidence(store: Store) -> None:
    for day in (0, 9, 30):
        hear(store, "x", [(day, "8410")])
        flush(store, "x")
    hear(store, "x", [(40, "9410")])
    flush(store, "x")

    assert spans(store, "x") == [("8410", 0, 40), ("9410", 40, None)]
    assert len(said_in(store, held(store, "x")[0])) == 3


def test_what_a_weaker_voice_says_in_between_parts_nothing(store: Store) -> None:
    hear(store, "x", [(0, "8410"), (30, "8410")])
    hear(store, "x", [(10, "9410")], Trust.AGENT_INFERRED)
    flush(store, "x")

    assert spans(store, "x") == [("8410", 0, None), ("9410", 10, None)]
    assert {one[2] for one in disputed(store, "x")} == {"open"}


def quarantine(store: Store, episode: Ref) -> None:
    def decision() -> Decision[None]:
        composer = Composer(store, store.runtime.clock())
        composer.patch(episode, status=Status.QUARANTINED)
        return Decision((composer.change("test"),), None)

    store.writer.submit(decision)


def erase(store: Store, episode: Ref) -> None:
    work(store, lambda ticket: hard_forget(store, plan_hard_forget(store, episode.id), ticket))


def test_what_is_told_back_and_forth_within_a_day_stays_open(store: Store) -> None:
    hear(store, "x", [(0.0, "8410"), (0.1, "9410"), (0.2, "8410")])
    flush(store, "x")

    assert spans(store, "x") == [("8410", 0, None), ("9410", 0, None)]
    assert {one[2] for one in disputed(store, "x")} == {"open"}


@pytest.mark.parametrize("tail", ["again", "once again", "once more", "after all"])
def test_that_something_is_so_again_contradicts_what_was_so_meanwhile(tail: str) -> None:
    between, again = "The mail service listens on port 9410.", f"The mail service listens on port 8410 {tail}."
    found = contradiction(Statement(trigger=between), Statement(trigger=again))
    assert found is not None and found.sure


@pytest.mark.parametrize("goes", [quarantine, erase])
def test_what_was_parted_is_one_again_where_what_parted_it_goes(
    store: Store, goes: Callable[[Store, Ref], None]
) -> None:
    hear(store, "x", THERE_AND_BACK)
    flush(store, "x")
    (between,) = [one for one in held(store, "x") if port_of(one) == "9410"]
    (edge,) = [op for op in store.records.edges_at(between.ref) if op.type is Relation.GROUNDED_IN]
    goes(store, edge.target)
    flush(store, "x")

    assert spans(store, "x") == [("8410", 4, None)]


TOLD = st.lists(st.tuples(st.integers(0, 60), st.sampled_from(["8410", "9410", "7410"])), min_size=1, max_size=7).map(
    lambda told: sorted(dict(told).items())
)


@examples(max_examples=draws(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TOLD, st.data())
def test_at_each_moment_exactly_what_was_told_last_holds(
    store: Store, told: list[Telling], data: st.DataObject
) -> None:
    scope = uuid.uuid4().hex
    for one in data.draw(st.permutations(told)):
        hear(store, scope, [one])
        if data.draw(st.booleans()):
            flush(store, scope)
    flush(store, scope)

    firsts = [next(run) for _, run in itertools.groupby(told, key=lambda one: one[1])]
    ends = [*(day for day, _ in firsts[1:]), None]
    assert spans(store, scope) == [(port, day, end) for (day, port), end in zip(firsts, ends, strict=True)]


def test_what_is_stored_again_after_what_ended_it_holds_anew(living: Helix, moment: Moment) -> None:
    for port in ("8410", "9410", "8410"):
        memories.store(
            living,
            StoreRequest(trigger=f"the mail service listens on port {port}", resolution="", kind="fact", scope="x"),
        )
        moment.forward(days=10)

    found = held(living.store, "x")
    assert [port_of(one) for one in found] == ["8410", "9410", "8410"]
    assert [one.valid_to is None for one in found] == [False, False, True]
    assert [one.valid_to for one in found[:2]] == [one.valid_from for one in found[1:]]
