"""The worker does each piece of work once, gives way, tries again what failed, and shows what it does."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from helix.errors import GuardError, InvalidInputError, ModelError, NotFoundError
from helix.memory.capture.episodes import EpisodeRequest, record
from helix.memory.change.compose import Composer
from helix.memory.job_run.foreground import Foreground, Pace
from helix.memory.job_run.run import Run
from helix.memory.worker.kinds import KINDS, ROUND, JobWork
from helix.memory.worker.worker import MemoryWorker
from helix.model.episode import Episode
from helix.model.work_item import WorkItem, WorkState
from helix.providers.embedder import Vectors
from helix.providers.fakes import HashEmbedder
from helix.settings import Settings
from helix.store.store import Store

SWIFT = Pace(quiet=0.0, patience=0.05, again=0.01, backoff=0.001, trouble=0.05)


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    opened = Store(replace(settings, consolidation_budget=20.0), embedder=HashEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def employ(store: Store) -> Iterator[Callable[..., MemoryWorker]]:
    """Start workers that are stopped at the end."""
    workers: list[MemoryWorker] = []

    def start(kinds: Mapping[str, JobWork], **named: Any) -> MemoryWorker:
        for earlier in workers:
            earlier.stop()
        worker = MemoryWorker(store, named.pop("foreground", Foreground()), kinds=kinds, pace=SWIFT, **named)
        workers.append(worker)
        worker.start()
        return worker

    yield start
    for worker in workers:
        worker.stop()


def three_steps(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    for step in range(3):
        if run.cancelled:
            break
        run.write(f"step {step}", lambda composer, step=step: note_down(composer, run, f"{payload} {step}"))
        run.count("steps")
        run.progress(step + 1, 3, "step")
    return {"done": True}


def note_down(composer: Composer, run: Run, text: str) -> None:
    episode = Episode(id=run.store.runtime.make_id(run.now), content=text, recorded_at=run.now, occurred_at=run.now)
    composer.node(episode)


def contents(store: Store) -> list[str]:
    view = store.catalogue.view
    return sorted(store.records.node(view.ref_of(row)).content for row in range(view.count))  # type: ignore[union-attr]


def ended(worker: MemoryWorker, item: WorkItem) -> WorkItem:
    assert worker.settle(20)
    return worker.item(item.id)


def test_a_job_is_done_once_and_says_what_it_came_to(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    worker = employ({"notes": three_steps})
    item = ended(worker, worker.add("notes", {"scope": "a"}))
    assert (item.state, item.result, item.attempts) == (WorkState.DONE, {"done": True, "steps": 3}, 1)
    assert len(contents(store)) == 3
    assert all(row.change.note["job"] == item.id for row in store.journal.rows(0, 10))
    status = worker.status()
    assert (status.queued, status.failed, status.running, status.items[0]) == (0, 0, None, item)


def test_the_same_work_is_queued_once(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    gate, begun = threading.Event(), threading.Event()

    def wait(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        assert gate.wait(20)
        return {}

    worker = employ({"wait": wait, "notes": three_steps})
    worker.add("wait", {})
    assert begun.wait(20)
    first, second = worker.add("notes", {"scope": "a"}), worker.add("notes", {"scope": "a"})
    other = worker.add("notes", {"scope": "b"})
    assert first.id == second.id != other.id
    assert worker.status().queued == 2
    gate.set()
    assert worker.settle(20)
    assert len(contents(store)) == 6


def test_what_fails_is_tried_again_and_has_its_effects_once(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    failures = iter((ModelError("no answer"), KeyError("odd")))

    def shaky(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        run.write("first", lambda composer: note_down(composer, run, "first"))
        for failure in failures:
            raise failure
        run.write("second", lambda composer: note_down(composer, run, "second"))
        return {}

    worker = employ({"shaky": shaky})
    item = ended(worker, worker.add("shaky", {}))
    assert (item.state, item.attempts) == (WorkState.DONE, 3)
    assert contents(store) == ["first", "second"]


def test_what_goes_on_failing_is_given_up_and_shown(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    def hopeless(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        raise ModelError("no answer")

    worker = employ({"hopeless": hopeless, "notes": three_steps})
    hopeless_one, other = worker.add("hopeless", {}), worker.add("notes", {})
    item = ended(worker, hopeless_one)
    assert (item.state, item.attempts, item.error) == (WorkState.FAILED, 5, "no answer")
    assert worker.status().failed == 1
    assert worker.item(other.id).state is WorkState.DONE, "it kept nobody else from being done"


def test_the_guard_is_not_asked_twice(employ: Callable[..., MemoryWorker]) -> None:
    def greedy(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        run.count("memories archived", 20)
        raise GuardError("it would retire half of the store")

    worker = employ({"greedy": greedy})
    item = ended(worker, worker.add("greedy", {}))
    assert (item.state, item.attempts) == (WorkState.FAILED, 1)
    assert item.result == {"memories archived": 20}, "what it wrote stays and is told"


def test_work_of_no_known_kind_is_refused_and_left_over_work_fails(employ: Callable[..., MemoryWorker]) -> None:
    worker = employ({"notes": three_steps, "gone": three_steps})
    with pytest.raises(InvalidInputError, match="notes"):
        worker.add("knit", {})
    with pytest.raises(NotFoundError):
        worker.item("nothing")
    worker.pause(True)
    item = worker.add("gone", {})
    newer = employ({"notes": three_steps})
    assert not newer.settle(1), "a pause outlives the worker"
    newer.pause(False)
    assert ended(newer, item).state is WorkState.FAILED


@pytest.mark.parametrize("of_capture", [False, True])
def test_a_pause_stops_work_at_its_next_step_and_it_goes_on_later(
    store: Store, employ: Callable[..., MemoryWorker], of_capture: bool
) -> None:
    def pause(on: bool) -> None:
        if of_capture:
            store.writer.call(lambda: store.pause(on))
            worker.wake()
        else:
            assert worker.pause(on) is on

    begun, gate = threading.Event(), threading.Event()

    def patient(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        run.write("first", lambda composer: note_down(composer, run, "first"))
        begun.set()
        assert gate.wait(20)
        if run.cancelled:
            return {}
        run.write("second", lambda composer: note_down(composer, run, "second"))
        return {"all": True}

    worker = employ({"patient": patient})
    item = worker.add("patient", {})
    assert begun.wait(20)
    pause(True)
    gate.set()
    assert not worker.settle(20)
    assert worker.item(item.id).state is WorkState.QUEUED
    assert contents(store) == ["first"]
    pause(False)
    assert ended(worker, item).result == {"all": True}
    assert contents(store) == ["first", "second"]


def test_cancelled_work_ends_unfinished(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    begun, gate = threading.Event(), threading.Event()

    def long(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        begun.set()
        assert gate.wait(20)
        while not run.cancelled:
            pass
        return {}

    worker = employ({"long": long, "notes": three_steps})
    running, queued = worker.add("long", {}), worker.add("notes", {})
    assert begun.wait(20)
    for item in (queued, running):
        worker.cancel(item.id)
    gate.set()
    assert [ended(worker, item).state for item in (running, queued)] == [WorkState.FAILED] * 2
    assert contents(store) == []


def test_a_restart_goes_on_with_what_was_running(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    begun = threading.Event()

    def endless(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        run.write("first", lambda composer: note_down(composer, run, "first"))
        begun.set()
        while not run.cancelled:
            pass
        return {}

    worker = employ({"notes": endless})
    item = worker.add("notes", {})
    assert begun.wait(20)
    worker = employ({"notes": three_steps})
    assert ended(worker, item).state is WorkState.DONE
    assert len(contents(store)) == 4


def test_enough_importance_asks_for_what_follows(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    seen: list[str] = []

    def kind(name: str) -> JobWork:
        def work(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
            seen.append(f"{name} {payload['scope']}")
            return {}

        return work

    kinds = {name: kind(name) for name in ("consolidate", "reflect", "roll_up")}
    worker = employ(kinds)
    for number in range(3):
        record(store, EpisodeRequest(content=f"number {number} of what happened", importance=5.0))
    assert worker.settle(20)
    assert (seen, worker.status().importance) == ([], 15.0)
    worker = employ(kinds)
    assert (worker.status().importance, worker.status().budget) == (15.0, 20.0), "a restart forgets nothing"
    record(store, EpisodeRequest(content="the drop that makes it overflow", importance=5.0))
    assert worker.settle(20)
    assert seen == ["consolidate None", "roll_up None", "reflect None"], "what costs most comes last"
    assert worker.status().importance == 0.0
    assert employ(kinds).status().importance == 0.0


def test_a_session_that_ended_has_its_scope_consolidated(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    scopes: list[str | None] = []

    def consolidate(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        scopes.append(payload["scope"])
        return {}

    worker = employ({"consolidate": consolidate})
    record(store, EpisodeRequest(content="in the shop", scope="shop", importance=5.0))
    record(store, EpisodeRequest(content="elsewhere", scope="other", importance=6.0))
    assert worker.session_ended("shop") is not None
    assert worker.settle(20)
    assert worker.session_ended("shop") is None, "nothing is new in it"
    assert scopes == ["shop"]
    worker.flush()
    assert worker.settle(20)
    assert scopes == ["shop", None]
    assert worker.session_ended("other") is None, "the flush took everything"
    assert worker.status().importance == 0.0, "the flush was a round of all"


def test_all_that_follows_is_done_when_a_session_ends_and_by_a_flush(
    store: Store, employ: Callable[..., MemoryWorker]
) -> None:
    seen: list[tuple[str, str | None]] = []

    def kind(name: str) -> JobWork:
        def work(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
            seen.append((name, payload["scope"]))
            return {}

        return work

    worker = employ({name: kind(name) for name in KINDS})
    record(store, EpisodeRequest(content="in the shop", scope="shop", importance=5.0))
    session = worker.session_ended("shop")
    assert session is not None
    assert session.kind == "consolidate"
    assert worker.settle(20)
    assert worker.flush().kind == "consolidate", "what somebody waits for is the consolidation"
    assert worker.settle(20)
    assert seen == [(name, scope) for scope in ("shop", None) for name in ROUND]
    assert set(ROUND) >= {"promote_systemic", "close_gaps", "reflect", "roll_up"}


def test_sessions_that_end_do_not_keep_enough_from_happening(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    seen: list[str] = []

    def kind(name: str) -> JobWork:
        def work(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
            seen.append(f"{name} {payload['scope']}")
            return {}

        return work

    worker = employ({name: kind(name) for name in ("consolidate", "reflect")})
    for number in range(3):
        record(store, EpisodeRequest(content=f"what happened in talk {number}", scope="shop", importance=9.0))
        worker.session_ended("shop")
        assert worker.settle(20)
    assert seen[:4] == ["consolidate shop", "reflect shop"] * 2
    assert [one for one in seen if one.endswith("None")] == ["consolidate None", "reflect None"]


def test_a_consolidation_that_was_given_up_is_not_asked_for_again_at_once(
    store: Store, employ: Callable[..., MemoryWorker]
) -> None:
    calls: list[str] = []

    def failing(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        calls.append(run.job)
        raise ModelError("no answer")

    worker = employ({"consolidate": failing})
    record(store, EpisodeRequest(content="more than enough", importance=10.0))
    record(store, EpisodeRequest(content="and once more", importance=10.0))
    assert worker.settle(20)
    assert (len(calls), len(set(calls))) == (5, 1)


def test_a_plan_changes_nothing(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    def planned(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        run.say("one memory would be added")
        run.write("step", lambda composer: note_down(composer, run, "never"))
        run.count("memories added")
        return {"looked": 1}

    worker = employ({"planned": planned})
    plan = worker.plan("planned", {})
    assert (plan.lines, plan.counts) == (("one memory would be added",), {"memories added": 1, "looked": 1})
    assert contents(store) == []
    assert worker.status().items == ()


def test_work_rests_while_somebody_is_answered(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    foreground = Foreground()
    steps: list[bool] = []

    def watching(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        for _ in range(3):
            assert not run.cancelled
            steps.append(foreground.quiet() > 0)
        return {}

    worker = employ({"watching": watching}, foreground=foreground)
    with foreground.request():
        item = worker.add("watching", {})
        assert worker.item(item.id).state in (WorkState.QUEUED, WorkState.RUNNING)
    assert ended(worker, item).state is WorkState.DONE
    assert len(steps) == 3


def test_whoever_waits_for_the_work_does_not_wait_for_a_time_of_peace(store: Store) -> None:
    foreground, ages = Foreground(), 3_600.0
    with foreground.request():
        pass
    worker = MemoryWorker(
        store, foreground, kinds={"steps": three_steps}, pace=Pace(quiet=ages, rests=ages, patience=ages)
    )
    worker.start()
    item = worker.add("steps", {})
    assert worker.item(item.id).state is WorkState.QUEUED
    assert worker.settle(60)
    assert worker.item(item.id).state is WorkState.DONE
    worker.stop()


def test_nothing_is_begun_while_a_job_of_somebody_goes_on(store: Store, employ: Callable[..., MemoryWorker]) -> None:
    busy = [True]
    worker = employ({"notes": three_steps}, busy=lambda: busy[0])
    item = worker.add("notes", {})
    assert not worker.settle(0.2)
    assert worker.item(item.id).state is WorkState.QUEUED
    busy[0] = False
    assert ended(worker, item).state is WorkState.DONE


@pytest.mark.parametrize(("stage", "in_time"), [(0.0, True), (3_600.0, False)])
def test_work_that_has_not_caught_up_for_long_rests_less(store: Store, stage: float, in_time: bool) -> None:
    gaps: list[float] = []

    class Watched(Foreground):
        def give_way(
            self, quiet: float, patience: float, stopping: Callable[[], bool] = lambda: False, *, gap: float = math.inf
        ) -> None:
            gaps.append(gap)

    def long(run: Run, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        for _ in range(3):
            time.sleep(0.005)
            assert not run.cancelled
        return {}

    worker = MemoryWorker(store, Watched(), kinds={"long": long}, pace=Pace(rests=math.inf, behind=((stage, 1.0),)))
    worker.start()
    item = worker.add("long", {})
    assert ended(worker, item).state is WorkState.DONE
    worker.stop()
    assert math.isinf(gaps[0]), "the first slice of all follows none"
    assert [math.isfinite(gap) for gap in gaps[-3:]] == [in_time] * 3


def test_a_round_is_asked_for_before_vectors_are_made(settings: Settings) -> None:
    asked: list[str] = []

    class Watched(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            asked.append(" ".join(item.kind for item in worker.status().items))
            return super().embed(texts)

    opened = Store(replace(settings, consolidation_budget=20.0), embedder=Watched())
    worker = MemoryWorker(opened, Foreground(), kinds={"consolidate": lambda run, payload: {}}, pace=SWIFT)
    for number in range(3):
        record(opened, EpisodeRequest(content=f"number {number} of what happened", importance=9.0))
    asked.clear()
    worker.start()
    assert worker.settle(20)
    worker.stop()
    opened.close()
    assert asked and set(asked) == {"consolidate"}
