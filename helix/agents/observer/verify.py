"""Verify: whether the learning loop is closed: what was shown is judged, what was judged counts, nothing dangles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from helix.agents.answers.cycles import detect_cycles
from helix.agents.observer.queue import LONGEST
from helix.agents.tasks.board import SESSION_KEY, injections, task_id, tasks_of, waits_for
from helix.agents.tasks.workspaces import active_attempts
from helix.model.candidate import Candidate, CandidateStatus
from helix.model.edge import Label, Ref
from helix.model.evidence import Verification
from helix.model.memory import Status
from helix.model.proof import LoopHealth, LoopStats
from helix.model.provenance import Trust
from helix.model.task import COMPLETED, IN_PROGRESS, PLAN, Injection, Task
from helix.store import overview
from helix.store.index import StoreIndex
from helix.store.runtime import Runtime
from helix.store.store import Store

TASKS_READ = 2_000
"""How many tasks are looked at, the newest ones; older ones are history."""
_LONG_AT_WORK = timedelta(days=1)
_LONG_WAITING = timedelta(days=14)
_SPEAKS_AGAINST, _LEAST_USES = 0.25, 3.0
_WELL_COVERED = 0.99
_SESSIONS_TOLD = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """What was read for one look at the loop."""

    now: datetime
    tasks: Sequence[Task]
    shown: Mapping[str, Sequence[Injection]]
    candidates: Sequence[Candidate]

    @property
    def injected(self) -> list[Injection]:
        return [one for each in self.shown.values() for one in each if not one.held_back]

    @property
    def sessions(self) -> list[Task]:
        """The sessions that the observer knows to have been shown memories beside any task, the newest first."""
        return [
            task for task in self.tasks if _is_session(task) and any(not one.held_back for one in self.shown[task.id])
        ]

    @property
    def unjudged(self) -> list[Injection]:
        """What was shown to tasks that are over, and of which the observer sees nothing come.

        A session may be left out for good.
        """
        over = (task for task in self.tasks if task.status == COMPLETED and not _is_session(task))
        return [one for task in over for one in self.shown[task.id] if not one.held_back and not _judged(one)]


def verify(store: Store, scope: str | None = None) -> LoopHealth:
    """Verify the observer's learning loop: return `ok`, or `degraded` with what to look at, and the counts behind it.

    `scope` None: of all scopes. Reads the newest tasks, at most TASKS_READ, and writes nothing.
    """
    tasks = tasks_of(store.index, scope=scope, limit=TASKS_READ)
    seen = _Seen(
        now=store.runtime.clock(),
        tasks=tasks,
        shown={task.id: injections(store.index, task.id) for task in tasks},
        candidates=_candidates(store.index, scope),
    )
    stats = _stats(store, scope, seen)
    issues = (
        *_loop(seen, stats),
        *_dangling(store.index, seen),
        *_memories(store.runtime, stats),
        *_queue_issues(seen),
    )
    return LoopHealth(status="degraded" if issues else "ok", issues=issues, stats=stats)


def _is_session(task: Task) -> bool:
    return task.id == task_id(task.scope, task.session, SESSION_KEY)


def _told_of(task: Task, shown: Sequence[Injection]) -> str:
    """Return in a sentence whether a session without a task was judged, and why."""
    when = f"session {task.session} of {task.recorded_at:%Y-%m-%d %H:%M}"
    real = [one for one in shown if not one.held_back]
    helped = sum(bool(one.credited and one.credited.helped) for one in real)
    failed = sum(bool(one.credited and one.credited.failed) for one in real)
    if task.status != COMPLETED:
        return f"{when}: still going, it is judged at its end"
    if helped or failed:
        return f"{when}: judged by what it ran: of {len(real)} memories {helped} helped, {failed} failed or took room"
    if task.verification == Verification.NONE or not task.verification:
        return f"{when}: excluded, no test, build, lint or commit says how it ended"
    if task.verification == Verification.FAILED:
        return f"{when}: excluded, what it ran failed, and no error that a memory is about came up again"
    return f"{when}: excluded, what it ran passed, and nothing says that a memory was used for it"


def _judged(one: Injection) -> bool:
    """Return whether a task's end has said something of a memory, were it only that it was not used."""
    return bool(one.outcome) or one.credited is not None


def _stats(store: Store, scope: str | None, seen: _Seen) -> LoopStats:
    counted = overview.stats(store, scope)
    statuses = Counter(candidate.status for candidate in seen.candidates)
    injected = seen.injected
    return LoopStats(
        memories=counted.total,
        with_feedback=counted.with_feedback,
        without_feedback=counted.without_feedback,
        overall_effectiveness=counted.overall_effectiveness,
        relationships=counted.relationships,
        embedding_coverage=counted.embedding_coverage,
        ineffective=_ineffective(store.index, scope),
        tasks=len(seen.tasks),
        tasks_by_status=dict(sorted(Counter(task.status for task in seen.tasks).items())),
        tasks_by_outcome=dict(sorted(Counter(task.outcome or "unknown" for task in seen.tasks).items())),
        injected=len(injected),
        withheld=sum(one.held_back for each in seen.shown.values() for one in each),
        judged=sum(map(_judged, injected)),
        credited=sum(bool(one.credited and (one.credited.helped or one.credited.failed)) for one in injected),
        unjudged=len(seen.unjudged),
        sessions_without_task=tuple(_told_of(task, seen.shown[task.id]) for task in seen.sessions[:_SESSIONS_TOLD]),
        candidates={status.value: statuses[status] for status in CandidateStatus},
    )


def _loop(seen: _Seen, stats: LoopStats) -> Iterator[str]:
    if unjudged := stats.unjudged:
        yield (
            f"of {stats.injected} times that a memory was shown to a task, {unjudged} were never judged though the"
            " task is over: nothing is learned from them"
        )
    if stats.credited and not stats.with_feedback:
        yield "memories were credited with outcomes, and none of them has any feedback"
    unsaid = sum(task.status == COMPLETED and not task.outcome and not _is_session(task) for task in seen.tasks)
    if unsaid:
        yield f"{unsaid} tasks are over and do not say whether they were delivered"


def _dangling(index: StoreIndex, seen: _Seen) -> Iterator[str]:
    left = sum(task.status == IN_PROGRESS and seen.now - task.recorded_at > _LONG_AT_WORK for task in seen.tasks)
    if left:
        yield f"{left} tasks have been in progress for more than a day: `helix dag clear` gives them back"
    over = [task for task in seen.tasks if task.status != IN_PROGRESS]
    if open_ended := sum(len(active_attempts(index.records, task.id)) for task in over):
        yield f"{open_ended} attempts at tasks that nobody works on were never ended: `helix workspace list`"
    plans = {str(task.attributes[PLAN]) for task in seen.tasks if task.attributes.get(PLAN)}
    known = set(map(index.id_of, index.where(Label.PLAN)))
    if lost := sorted(plans - known):
        yield f"tasks belong to plans that are not here: {', '.join(lost[:5])}"
    for circle in _circles(index, seen.tasks):
        yield "tasks wait for each other, so that none can begin: " + " -> ".join((*circle, circle[0]))
    became = (Ref.memory(one.memory) for one in seen.candidates if one.memory)
    if gone := sum(ref not in index for ref in became):
        yield f"{gone} candidates became memories that are gone"


def _memories(runtime: Runtime, stats: LoopStats) -> Iterator[str]:
    if stats.ineffective:
        yield f"{stats.ineffective} active memories hardly ever helped: `helix prune` archives them"
    if runtime.embedder is not None and stats.embedding_coverage < _WELL_COVERED:
        yield f"{stats.embedding_coverage:.0%} of the passages have a vector; words find the others"


def _queue_issues(seen: _Seen) -> Iterator[str]:
    waiting = [candidate for candidate in seen.candidates if candidate.status is CandidateStatus.WAITING]
    if len(waiting) >= LONGEST:
        yield f"the learning queue is full ({LONGEST}); the least sure give way: `helix queue list`"
    old = sum(seen.now - candidate.recorded_at > _LONG_WAITING for candidate in waiting)
    if old:
        yield f"{old} candidates have waited for more than {_LONG_WAITING.days} days: `helix queue list`"


def _ineffective(index: StoreIndex, scope: str | None) -> int:
    others = index.where(Label.MEMORY, scope=scope, statuses=[Status.ACTIVE])
    others -= index.of_trust(Trust.USER_ASSERTED)  # what prune leaves alone
    return len(others & index.spoken_against(_LEAST_USES, _SPEAKS_AGAINST))


def _circles(index: StoreIndex, tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    left = (task for task in tasks if task.status != COMPLETED)
    return detect_cycles({task.id: sorted(waits_for(index, task.id)) for task in left})


def _candidates(index: StoreIndex, scope: str | None) -> list[Candidate]:
    rows = index.newest(index.where(Label.CANDIDATE, scope=scope))
    return [cast(Candidate, node) for node in index.present(rows)]
