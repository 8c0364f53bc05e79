"""Worker: does what is left to be done in the background, one piece at a time, while nobody waits for an answer."""

from __future__ import annotations

import json
import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

from helix.errors import EngineError, GuardError, HelixError, InvalidInputError
from helix.journal.work_queue import Work
from helix.memory.capture import sessions
from helix.memory.change.intake import Intake
from helix.memory.job_run.budget import Budget
from helix.memory.job_run.foreground import Foreground, Pace, quick_switching
from helix.memory.job_run.parameters import checked
from helix.memory.job_run.run import SlicedRun
from helix.memory.upkeep import reembed
from helix.memory.worker.kinds import CONSOLIDATE, KINDS, ROUND, JobWork, plan
from helix.model.edge import Label
from helix.model.memory import GLOBAL_SCOPE
from helix.model.operations import Operation, PutNode, PutPassage, Row
from helix.model.reports import BackgroundStatus, GateReport, SessionReport, WorkPlan
from helix.model.work_item import EPISODES_HELD_BACK, EPISODES_READ, WorkItem, WorkState
from helix.on_demand_thread import OnDemandThread
from helix.store.store import WORK_PAUSED, Store

log = logging.getLogger(__name__)

_SLICE_SECONDS = 0.002
"""Work that goes on without a look at who waits: to look more often costs more than it spares anybody."""
_MOST_FAILURES = 5
_MOST_ATTEMPTS = 25
"""Beginnings after which work is given up that never fails and never ends: it may be what kills the process."""


class MemoryWorker:
    """One thread, while there is work, over the journal's queue, and over passages without a vector, which come first.

    Work has its effects once, whenever the process is killed: what was begun is begun again at the next start, and a
    step that is in the journal is not written twice (`Run.write`).
    """

    def __init__(
        self,
        store: Store,
        foreground: Foreground,
        *,
        kinds: Mapping[str, JobWork] = KINDS,
        busy: Callable[[], bool] = lambda: False,
        pace: Pace | None = None,
        told: Callable[[WorkItem], None] = lambda _: None,
    ) -> None:
        """`busy` says whether work that somebody waits for is going on, such as an import: nothing is begun then.

        `told` is called with each piece of work that was asked for, begun, put off or ended.
        """
        self._told = told
        self._store = store
        self._foreground = foreground
        self._kinds = kinds
        self._busy = busy
        self._pace = pace or Pace()
        self._work = Work(store.journal.database, clock=store.runtime.clock, make_id=store.runtime.make_id)
        self._budget = Budget(store, store.runtime.settings.consolidation_budget)
        self._paused = store.journal.meta(WORK_PAUSED) == "1"
        self._hurried = self._stopping = self._started = self._taken_up = False
        self._standing = self._awaited = 0
        self._running: SlicedRun | None = None
        self._vectors_after = 0.0
        self._slice_began = -math.inf
        self._behind_since = math.inf
        self._cancelled: set[str] = set()
        self._totals: dict[str, Counter[str]] = {}
        self._thread = OnDemandThread("helix-worker", self._look)
        store.writer.listen(self._note)

    def start(self) -> None:
        """Begin the worker's jobs with what an earlier process left undone: now, or once its server takes writes."""
        with suppress(EngineError):
            self._take_up()
        self._started = True
        self.wake()

    def _take_up(self) -> None:
        if not self._taken_up:
            self._work.recover()
            self._taken_up = True

    def stop(self) -> None:
        """Stop the worker at its next resting place; what is left is done after the next start."""
        self._stopping = True
        self.wake()
        self._thread.close()

    def add(self, kind: str, payload: Mapping[str, Any]) -> WorkItem:
        """Ask the worker for a job, soon and in the background; the same that is queued already is returned instead.

        Raises InvalidInputError for a kind there is not, and for a payload that is not one of this kind.
        """
        self._check(kind)
        payload = checked(kind, payload)
        item = self._work.add(kind, key=_key(payload), payload=payload)
        self._told(item)
        self.wake()
        return item

    def plan(self, kind: str, payload: Mapping[str, Any]) -> WorkPlan:
        """Return what the worker would do in a job now, and change nothing; see `worker.kinds`, `add` for errors."""
        self._check(kind)
        work, foreground, pace = self._kinds[kind], self._foreground, self._pace
        return plan(self._store, kind, work, checked(kind, payload), foreground=foreground, pace=pace)

    def flush(self, scope: str | None = None) -> WorkItem:
        """Have the worker do all that follows on a scope's new episodes (None: every one's), as soon as nobody waits.

        Returns the consolidation among it. Raises PausedError while capture is paused.
        """
        self._store.check_capture()
        if scope is not None:
            scope = Intake(self._store.runtime.settings.text_limit).scope(scope)
        self._hurried = True
        return self._ask_for_all(scope)[CONSOLIDATE]

    def close_session(self, name: str, scope: str = GLOBAL_SCOPE) -> SessionReport:
        """End a session, and have the worker do what follows on what is new in its scope."""
        report = sessions.close_session(self._store, name, scope)
        if not report.private:
            self.session_ended(report.scope)
        return report

    def session_ended(self, scope: str) -> WorkItem | None:
        """Have the worker do what follows on a scope's new episodes; return the consolidation, None: nothing new."""
        return self._ask_for_all(scope)[CONSOLIDATE] if self._budget.spent(scope) > 0 else None

    def pause(self, on: bool) -> bool:
        """Stop the worker at its next resting place, also over restarts, or go on; return what holds now."""
        self._store.journal.set_meta(WORK_PAUSED, "1" if on else "0")
        self._paused = on
        self.wake()
        return on

    def cancel(self, item_id: str) -> WorkItem:
        """Ask queued or running work of the worker to end unfinished; what it has written stays."""
        item = self._work.item(item_id)
        if item.state in (WorkState.QUEUED, WorkState.RUNNING):
            self._cancelled.add(item_id)
            self.wake()
        return item

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Have the worker do nothing for a while: what is under way stops at a resting place, to be done later."""
        changed = self._thread.changed
        with changed:
            self._standing += 1
        self.wake()
        with changed:
            changed.wait_for(lambda: self._thread.resting)
        try:
            yield
        finally:
            with changed:
                self._standing -= 1
            self.wake()

    def item(self, item_id: str) -> WorkItem:
        """Return a piece of the worker's work as it stands; raises NotFoundError."""
        return self._work.item(item_id)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until the worker has nothing left, or it or capture is paused; return whether nothing is left.

        What somebody waits for is done as soon as nobody waits for an answer.
        """
        with self._thread.changed:
            self._awaited += 1
            self._foreground.wake()
            self._thread.changed.wait_for(self._is_idle, seconds)
            self._awaited -= 1
            return not self._left()

    @property
    def at_work(self) -> bool:
        """Whether the worker does a piece of work just now, as far as memory tells."""
        return self._running is not None

    def status(self, limit: int = 10) -> BackgroundStatus:
        """Describe what the worker does, what waits for it, and the work asked for last."""
        items, run = self._work.items(limit), self._running
        return BackgroundStatus(
            paused=self._paused,
            running=next((item for item in items if item.state is WorkState.RUNNING), None),
            progress=run.told if run is not None else "",
            queued=sum(item.state is WorkState.QUEUED for item in items),
            failed=sum(item.state is WorkState.FAILED for item in items),
            lacking_vectors=reembed.lacking(self._store),
            importance=self._budget.waiting,
            budget=self._budget.limit,
            items=tuple(items),
            totals={kind: dict(counts) for kind, counts in self._totals.items()},
            gate=self._gate(),
        )

    def _gate(self) -> GateReport:
        counts = self._work.came_to(EPISODES_READ, EPISODES_HELD_BACK)
        return GateReport(read=counts[EPISODES_READ], dropped=counts[EPISODES_HELD_BACK])

    def _check(self, kind: str) -> None:
        if kind not in self._kinds:
            known = ", ".join(sorted(self._kinds))
            raise InvalidInputError(f"no background job is called {kind!r}", hint=f"one of: {known}")

    def _note(self, rows: Sequence[Row]) -> None:
        """Look at accepted rows, on the writer's thread: is there anything to do?"""
        if any(_is_news(op) for row in rows for op in row.change.operations):
            self.wake()

    def wake(self) -> None:
        """Have the worker look again whether there is anything to do, or a reason to rest."""
        if self._started:
            self._thread.wake()
        self._foreground.wake()

    @property
    def _halted(self) -> bool:
        run = self._running
        cancelled = run is not None and run.job in self._cancelled
        return self._stopping or self._paused or self._store.paused or self._standing > 0 or cancelled

    @property
    def _in_a_hurry(self) -> bool:
        return self._hurried or self._awaited > 0

    def _rest(self) -> bool:
        """Give way to whoever waits for an answer; return whether to stop."""
        took = time.monotonic() - self._slice_began
        if took >= _SLICE_SECONDS:
            pace, quiet = self._pace, 0.0 if self._in_a_hurry else self._pace.quiet
            asked = (lambda: self._halted or self._in_a_hurry) if quiet else lambda: self._halted
            rests = pace.rests_after(time.monotonic() - self._behind_since)
            self._foreground.give_way(quiet, pace.patience, asked, gap=rests * took)
            self._slice_began = time.monotonic()
        return self._halted

    def _look(self) -> float | None:
        try:
            with quick_switching():
                return self._turn()
        except Exception:  # the thread's outermost boundary: without it nothing would be done any more
            log.exception("background work came to nothing")
            return self._pace.trouble

    def _is_idle(self) -> bool:
        paused = self._paused or self._store.paused
        return self._stopping or (self._thread.resting and (paused or not self._left()))

    def _left(self) -> bool:
        return self._work.next_due() is not None or reembed.lacking(self._store) > 0

    def _turn(self) -> float | None:
        """Do all that can be done now; return the seconds until the next look, None for "when there is news"."""
        self._take_up()
        while not self._halted:
            if self._busy():
                return self._pace.again
            self._behind_since = min(self._behind_since, time.monotonic())
            if self._budget.reached and not self._consolidating():
                self._ask_for_all(None)
            if self._fill_in():
                continue
            due, now = self._work.next_due(), self._store.runtime.clock()
            if due is None or due > now:
                self._behind_since = math.inf
                self._hurried &= due is not None
                return None if due is None else min((due - now).total_seconds(), self._pace.trouble)
            if not self._rest() and (item := self._work.take(now)) is not None:
                self._do(item)
        return None

    def _fill_in(self) -> bool:
        """Make some of the lacking vectors, without which words find things; return whether any was made."""
        if time.monotonic() < self._vectors_after:
            return False
        try:
            lacking = reembed.lacking(self._store) > 0 and not self._rest()
            return lacking and reembed.fill_in(self._store, self._rest) > 0
        except HelixError as error:
            log.warning("vectors not filled in", extra={"error": str(error)})
            self._vectors_after = time.monotonic() + self._pace.trouble
        return False

    def _consolidating(self) -> bool:
        """Return whether a consolidation is asked for and has not ended."""
        return any(item.ended_at is None and item.kind == CONSOLIDATE for item in self._work.items())

    def _ask_for_all(self, scope: str | None) -> dict[str, WorkItem]:
        """Ask for those kinds that there are of what follows on new episodes in a scope, or (None) in all."""
        now = self._store.runtime.clock()
        asked = {kind: self.add(kind, {"scope": scope}) for kind in ROUND if kind in self._kinds}
        if scope is None:
            self._budget.begin_round(now)
        return asked

    def _do(self, item: WorkItem) -> None:
        run = self._running = SlicedRun(self._store, item.id, item.kind, rest=self._rest)
        started = self._store.runtime.clock()
        self._told(item)
        try:
            if self._may_begin(item):
                result = self._kinds[item.kind](run, item.payload)
                if item.id in self._cancelled:
                    self._work.fail(item.id, "it was cancelled; what it had written stays", run.counts)
                elif self._halted:
                    self._work.postpone(item.id, "", self._store.runtime.clock())
                else:
                    self._finish(item, {**result, **run.counts}, started)
        except Exception as error:  # whatever the work of a job raises must not end the others
            self._missed(item, run, error, started)
        finally:
            self._running = None
            self._cancelled.discard(item.id)
            self._told(self._work.item(item.id))

    def _may_begin(self, item: WorkItem) -> bool:
        if item.kind not in self._kinds:
            self._work.fail(item.id, f"this Helix has no background job called {item.kind!r}")
        elif item.attempts > _MOST_ATTEMPTS:
            self._work.fail(item.id, f"it was begun {_MOST_ATTEMPTS} times and never ended")
        elif item.id in self._cancelled:
            self._work.fail(item.id, "it was cancelled before it began")
        else:
            return True
        return False

    def _finish(self, item: WorkItem, result: Mapping[str, int], started: datetime) -> None:
        if item.kind == CONSOLIDATE:
            self._budget.start_again(item.payload.get("scope"), started)
        self._work.finish(item.id, result)
        self._totals.setdefault(item.kind, Counter()).update(result)
        log.info("background job done", extra={"job": item.id, "kind": item.kind})

    def _missed(self, item: WorkItem, run: SlicedRun, error: Exception, started: datetime) -> None:
        """Put work off that failed, longer each time, or give it up."""
        told = error.message if isinstance(error, HelixError) else f"{type(error).__name__}: {error}"
        log.warning("background job failed", extra={"job": item.id, "kind": item.kind, "error": told}, exc_info=error)
        if isinstance(error, GuardError) or item.attempts >= _MOST_FAILURES:
            if item.kind == CONSOLIDATE:  # what it choked on must not be asked for again at once
                self._budget.start_again(item.payload.get("scope"), started)
            self._work.fail(item.id, told, run.counts)
        else:
            delay = self._pace.backoff * 4 ** (item.attempts - 1)
            self._work.postpone(item.id, told, self._store.runtime.clock() + timedelta(seconds=delay))


def _key(payload: Mapping[str, Any]) -> str:
    return json.dumps(dict(payload), sort_keys=True)


def _is_news(op: Operation) -> bool:
    """Whether an accepted operation may leave something to be done: an episode to weigh, a vector to make."""
    return (isinstance(op, PutNode) and op.label is Label.EPISODE) or (isinstance(op, PutPassage) and op.vector is None)
