"""A run writes each step once, stops at its guard with nothing of the step written, and tells of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.errors import ConfigError, ConflictError, GuardError
from helix.memory.change.compose import Composer
from helix.memory.job_run.run import LEAST_GUARDED, MERGED, Run
from helix.memory.worker.undo import undo
from helix.model.edge import Edge, Ref, Relation
from helix.model.memory import Kind, Memory, Status
from helix.model.operations import Change
from helix.store.store import Store
from helix.store.writer import Decision
from tests.waiting import UNHURRIED

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MEMORIES = 110
ALLOWED = 22
"""A fifth of them, as the setting says."""


def ref(number: int) -> Ref:
    return Ref.memory(f"m{number}")


def write_memories(run: Run, count: int) -> None:
    def compose(composer: Composer) -> None:
        for number in range(count):
            name = f"m{number}"
            composer.node(
                Memory(id=name, name=name, kind=Kind.FACT, trigger="t", resolution="r", recorded_at=composer.now)
            )

    run.write("memories", compose)


class Clock:
    """A clock that stands still until it is put on."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    opened = Store(configuration.load({"home": tmp_path}, environ=UNHURRIED, cwd=tmp_path), embedder=None, clock=clock)
    write_memories(Run(opened, "setup", "test"), MEMORIES)
    yield opened
    opened.close()


def archive(run: Run, step: str, numbers: range, status: Status = Status.ARCHIVED) -> None:
    def compose(composer: Composer) -> None:
        for number in numbers:
            composer.patch(ref(number), status=status)

    run.write(step, compose)


def active(store: Store) -> int:
    return store.catalogue.view.counts().statuses["active"]


def test_a_step_that_is_in_the_journal_is_not_composed_again(store: Store) -> None:
    def compose(composer: Composer) -> str:
        composer.patch(ref(0), uses=1)
        return "answer"

    assert Run(store, "job", "test").write("one", compose) == "answer"
    assert Run(store, "job", "test").write("one", lambda _: pytest.fail("it is in the journal")) is None
    assert Run(store, "job", "test").write("two", compose) == "answer"
    assert Run(store, "other", "test").write("one", compose) == "answer"
    assert store.journal.effects.steps("job").keys() == {"one", "two"}


def test_the_journal_itself_refuses_a_step_twice(store: Store) -> None:
    change = Change(kind="test", operations=(), note={"job": "job", "step": "one"})
    store.writer.submit(lambda: Decision((change,), None))
    seq = store.journal.last_seq
    with pytest.raises(ConflictError, match="step 'one' of job job is in the journal already"):
        store.writer.submit(lambda: Decision((change,), None))
    assert store.journal.last_seq == seq


def test_a_dry_run_writes_nothing_and_shows_its_plan(store: Store) -> None:
    seq = store.journal.last_seq
    run = Run(store, "job", "test", dry_run=True)
    archive(run, "one", range(ALLOWED + 1))
    run.say("archive m0")
    run.count("memories archived", 23)
    assert store.journal.last_seq == seq
    assert run.counts == {"memories archived": 23}
    told = "the job would take 23 memories out of recall, and 22 are allowed in a day: it stops here"
    assert run.plan == [told, "archive m0"]


@pytest.mark.parametrize("status", [Status.ARCHIVED, Status.RETIRED, Status.FORGOTTEN, Status.QUARANTINED])
def test_a_job_stops_before_it_takes_more_than_its_share_out_of_recall(store: Store, status: Status) -> None:
    run = Run(store, "job", "tidy")
    archive(run, "one", range(ALLOWED), status)
    with pytest.raises(GuardError, match="23 memories out of recall, and 22 are allowed") as stopped:
        archive(run, "two", range(ALLOWED, ALLOWED + 1), status)
    assert stopped.value.code == "GUARD"
    assert active(store) == MEMORIES - ALLOWED


def test_a_run_that_goes_on_after_a_crash_has_the_same_guard(store: Store) -> None:
    archive(Run(store, "job", "tidy"), "one", range(ALLOWED))
    again = Run(store, "job", "tidy")
    archive(again, "one", range(ALLOWED))
    with pytest.raises(GuardError, match="23 memories"):
        archive(again, "two", range(ALLOWED, ALLOWED + 1))
    archive(Run(store, "next", "other"), "one", range(ALLOWED, ALLOWED + 15))


def test_to_run_again_does_not_walk_past_the_guard_until_a_day_is_over_or_it_is_undone(
    store: Store, clock: Clock
) -> None:
    archive(Run(store, "first", "tidy"), "one", range(15))
    clock.now += timedelta(hours=20)
    archive(Run(store, "second", "tidy"), "one", range(15, ALLOWED))
    with pytest.raises(GuardError, match="allowed in a day"):
        archive(Run(store, "third", "tidy"), "one", range(ALLOWED, ALLOWED + 1))
    undo(store, "second")
    archive(Run(store, "third", "tidy"), "two", range(15, ALLOWED))
    clock.now += timedelta(hours=5)  # the first is more than a day ago by now
    archive(Run(store, "fourth", "tidy"), "one", range(ALLOWED, ALLOWED + 10))
    with pytest.raises(GuardError):
        archive(Run(store, "fifth", "tidy"), "one", range(40, 50))


def test_what_is_out_of_recall_already_or_stays_in_it_does_not_count(store: Store) -> None:
    archive(Run(store, "first", "other"), "one", range(ALLOWED))
    run = Run(store, "job", "tidy")
    archive(run, "retired again", range(ALLOWED), Status.RETIRED)
    archive(run, "confirmed", range(ALLOWED, MEMORIES), Status.ACTIVE)
    archive(run, "archived", range(ALLOWED, ALLOWED + 15))
    assert active(store) == MEMORIES - ALLOWED - 15


@pytest.mark.parametrize(
    ("memories", "allowed"), [(3, 3), (5, 5), (6, 5), (20, 10), (40, LEAST_GUARDED), (90, LEAST_GUARDED)]
)
def test_of_a_small_store_half_may_go_but_a_handful_always(tmp_path: Path, memories: int, allowed: int) -> None:
    settings = configuration.load({"home": tmp_path, "guard_share": 0.0}, environ=UNHURRIED, cwd=tmp_path)
    small = Store(settings, embedder=None)
    write_memories(Run(small, "setup", "test"), memories)
    if allowed < memories:
        with pytest.raises(GuardError, match=f"and {allowed} are allowed"):
            archive(Run(small, "over", "tidy"), "one", range(allowed + 1))
    archive(Run(small, "job", "tidy"), "one", range(allowed))
    assert active(small) == memories - allowed
    small.close()


def replace_some(run: Run, step: str, numbers: range, attributes: Mapping[str, object]) -> None:
    """Retire memories, each behind a SUPERSEDES edge from another one."""

    def compose(composer: Composer) -> None:
        for number in numbers:
            edge = Edge(
                type=Relation.SUPERSEDES,
                source=ref(MEMORIES - 1),
                target=ref(number),
                created_at=composer.now,
                attributes=dict(attributes),
            )
            composer.put_edge(edge)
            composer.patch(ref(number), status=Status.RETIRED)

    run.write(step, compose)


def test_what_a_version_replaces_is_not_lost_but_what_is_folded_into_another_is(store: Store) -> None:
    replace_some(Run(store, "versions", "tidy"), "one", range(ALLOWED + 5), {})
    folding = range(ALLOWED + 5, ALLOWED + 5 + LEAST_GUARDED)
    replace_some(Run(store, "merge", "tidy"), "one", folding, {MERGED: {"seen": 1}})
    with pytest.raises(GuardError):
        replace_some(Run(store, "merge", "tidy"), "two", range(folding.stop, folding.stop + 1), {MERGED: {"seen": 1}})


def test_a_share_is_a_share() -> None:
    with pytest.raises(ConfigError, match="guard_share"):
        configuration.load({"guard_share": 1.5}, environ=UNHURRIED)


class Watching:
    def __init__(self) -> None:
        self.cancelled = False
        self.told: list[tuple[int, int, str]] = []

    def progress(self, done: int, total: int, message: str = "") -> None:
        self.told.append((done, total, message))


def test_who_looks_after_a_run_is_told_and_may_stop_it(store: Store) -> None:
    watch = Watching()
    run = Run(store, "job", "tidy", watch=watch)
    run.progress(1, 3, "clusters")
    assert not run.cancelled
    watch.cancelled = True
    assert run.cancelled
    assert watch.told == [(1, 3, "clusters")]
    unwatched = Run(store, "job", "tidy")
    unwatched.progress(1, 2)
    assert not unwatched.cancelled
