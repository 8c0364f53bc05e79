"""The queue of background work loses nothing, begins nothing twice, and keeps no more than it should."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.errors import ConflictError, NotFoundError
from helix.journal import work_queue as queue
from helix.journal.backend import Backend
from helix.journal.database import Database
from helix.journal.work_queue import Work
from helix.model.work_item import WorkItem, WorkState
from tests.journal.conftest import Opened
from tests.sampling import draws

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Time:
    """A clock that is set by hand, and ids in the order of their making."""

    def __init__(self) -> None:
        self.now = BEGIN
        self.made = 0

    def clock(self) -> datetime:
        return self.now

    def make_id(self, moment: datetime) -> str:
        self.made += 1
        return f"{self.made:06}"


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def database(tables: Opened) -> Iterator[Backend]:
    opened = tables()
    yield opened
    opened.close()


@pytest.fixture
def work(database: Backend, time: Time) -> Work:
    return Work(database, clock=time.clock, make_id=time.make_id)


def taken(work: Work, now: datetime = BEGIN) -> WorkItem:
    item = work.take(now)
    assert item is not None
    return item


def test_what_was_asked_for_comes_back_as_it_was_asked(work: Work) -> None:
    asked = work.add("consolidate", "p", {"scope": "p", "words": ["ü", 1]}, BEGIN + MINUTE)
    assert asked == work.item(asked.id)
    assert (asked.kind, asked.key, asked.payload) == ("consolidate", "p", {"scope": "p", "words": ["ü", 1]})
    assert (asked.state, asked.attempts, asked.not_before) == (WorkState.QUEUED, 0, BEGIN + MINUTE)
    assert (asked.created_at, asked.started_at, asked.ended_at, asked.result) == (BEGIN, None, None, {})


def test_asking_twice_queues_once_and_for_the_earlier_moment(work: Work) -> None:
    first = work.add("reflect", "p", {"n": 1}, BEGIN + 2 * MINUTE)
    second = work.add("reflect", "p", {"n": 2}, BEGIN + MINUTE)
    assert (second.id, second.payload, second.not_before) == (first.id, {"n": 1}, BEGIN + MINUTE)
    assert work.add("reflect", "p", {}, BEGIN + 9 * MINUTE).not_before == BEGIN + MINUTE
    assert work.add("reflect", "q").id != first.id
    assert work.add("decay", "p").id != first.id
    assert len(work.items()) == 3


def test_the_oldest_that_is_due_is_begun_first_and_no_other_gets_it(work: Work, time: Time) -> None:
    late = work.add("a", not_before=BEGIN + MINUTE)
    time.now += timedelta(seconds=1)
    first, second = work.add("b"), work.add("c")
    assert [taken(work, time.now).id, taken(work, time.now).id] == [first.id, second.id]
    assert work.take(time.now) is None
    assert work.next_due() == BEGIN + MINUTE
    assert taken(work, BEGIN + MINUTE).id == late.id
    assert work.next_due() is None
    begun = work.item(first.id)
    assert (begun.state, begun.attempts, begun.started_at) == (WorkState.RUNNING, 1, time.now)


def test_an_end_is_kept_with_what_it_came_to(work: Work, time: Time) -> None:
    work.add("a")
    work.add("b")
    good, bad = taken(work), taken(work)
    time.now += MINUTE
    work.finish(good.id, {"memories added": 3})
    work.fail(bad.id, "the model is gone")
    ended = {item.id: item for item in work.items()}
    assert (ended[good.id].state, ended[good.id].result) == (WorkState.DONE, {"memories added": 3})
    assert (ended[bad.id].state, ended[bad.id].error) == (WorkState.FAILED, "the model is gone")
    assert {item.ended_at for item in ended.values()} == {BEGIN + MINUTE}
    assert work.add("a").id not in ended, "what has ended may be asked for again"


def test_postponed_work_keeps_its_id_and_is_begun_again_when_due(work: Work) -> None:
    work.add("a", payload={"n": 1})
    item = taken(work)
    work.postpone(item.id, "no answer", BEGIN + MINUTE)
    assert work.take(BEGIN) is None
    again = taken(work, BEGIN + MINUTE)
    assert (again.id, again.attempts, again.error, again.payload) == (item.id, 2, "no answer", {"n": 1})


def test_what_is_asked_for_while_it_runs_is_queued_once_more_when_it_ends(work: Work) -> None:
    work.add("a", "p", {"n": 1})
    running = taken(work)
    assert work.add("a", "p", {"n": 2}).id == running.id
    assert work.add("a", "p", {"n": 3}).id == running.id
    assert work.take(BEGIN) is None, "not beside itself"
    work.finish(running.id, {})
    again = taken(work)
    assert again.id != running.id
    assert again.payload == {"n": 3}
    work.fail(again.id, "x")
    assert work.take(BEGIN) is None


def test_what_ran_when_the_process_died_is_queued_again_under_its_id(
    work: Work, database: Backend, tables: Opened, time: Time
) -> None:
    work.add("a")
    work.add("b")
    item = taken(work)
    database.close()
    again = tables()
    recovered = Work(again, clock=time.clock, make_id=time.make_id)
    assert recovered.recover() == 1
    assert recovered.recover() == 0
    assert (taken(recovered).id, taken(recovered).kind) == (item.id, "b")
    again.close()


@pytest.mark.parametrize("state", ["queued", "done", "unknown"])
def test_only_what_runs_can_end(work: Work, state: str) -> None:
    item = work.add("a")
    if state == "done":
        work.finish(taken(work).id, {})
    name = "?" if state == "unknown" else item.id
    for end in (lambda: work.finish(name, {}), lambda: work.fail(name, ""), lambda: work.postpone(name, "", BEGIN)):
        with pytest.raises(ConflictError, match="is not running"):
            end()


@pytest.mark.parametrize(
    ("column", "value"), [("state", "asleep"), ("payload", "[" * 99_999), ("result", "[" * 99_999)]
)
def test_a_damaged_item_has_failed_and_is_listed(time: Time, tmp_path: Path, column: str, value: str) -> None:
    path = tmp_path / "journal.db"
    with closing(Database(path)) as database:
        work = Work(database, clock=time.clock, make_id=time.make_id)
        item = work.add("a")
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            raw.execute("PRAGMA ignore_check_constraints = ON")
            raw.execute(f"UPDATE work SET {column} = ?", (value,))
        (found,) = work.items()
    assert (found.id, found.state, found.error) == (item.id, WorkState.FAILED, "its row in the queue is damaged")


def test_an_unknown_item_is_told(work: Work) -> None:
    with pytest.raises(NotFoundError, match="no work has the id '7'"):
        work.item("7")


def test_ended_items_are_bounded_and_unfinished_ones_are_always_listed(
    work: Work, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "KEPT_ITEMS", 5)
    waiting = work.add("waits", not_before=BEGIN + 900 * MINUTE)
    for _ in range(9):
        time.now += MINUTE
        work.add("a")
        work.finish(taken(work, time.now).id, {})
    assert len(work.items()) == 6
    assert [item.created_at for item in work.items()] == sorted((i.created_at for i in work.items()), reverse=True)
    assert waiting.id in {item.id for item in work.items(2)}


@settings(max_examples=draws(12), deadline=None)
@given(calls=st.lists(st.sampled_from(["ask a", "ask b", "take", "finish", "fail", "postpone", "die"]), max_size=25))
def test_whatever_is_asked_for_is_begun_afterwards_and_never_beside_itself(calls: list[str]) -> None:
    time, unheard = Time(), set[str]()
    with TemporaryDirectory() as folder, closing(Database(Path(folder) / "journal.db")) as database:
        work = Work(database, clock=time.clock, make_id=time.make_id)
        for call in [*calls, "die", *["take", "finish"] * 4]:
            time.now += MINUTE
            unfinished = [item for item in work.items() if item.ended_at is None]
            running = [item for item in unfinished if item.state is WorkState.RUNNING]
            assert len({item.kind for item in unfinished}) == len(unfinished), "one of a kind at most"
            match call.split():
                case ["ask", kind]:
                    work.add(kind)
                    unheard.add(kind)
                case ["take"]:
                    item = work.take(time.now)
                    assert (item is None) == (len(unfinished) == len(running))
                    if item is not None:
                        unheard.discard(item.kind)
                case ["die"]:
                    assert work.recover() == len(running)
                case [end] if running:
                    ends = {
                        "finish": lambda name: work.finish(name, {}),
                        "fail": lambda name: work.fail(name, "x"),
                        "postpone": lambda name: work.postpone(name, "x", time.now),
                    }
                    ends[end](running[0].id)
        assert not unheard
