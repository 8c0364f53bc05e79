"""DAG: what the order of tasks allows now, what stands in the way, and what can no longer come about.

Pure functions over the client's own task list (`id`, `status`, `blockedBy`, `metadata.helix_outcome`). A task that
waits for one that is not in the list waits for what nobody can deliver. Ids come back in the order of the list.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from helix.agents.answers.cycles import detect_cycles
from helix.agents.answers.task_record import (
    BLOCKED,
    DELETED,
    IN_PROGRESS,
    PENDING,
    blockers,
    identity,
    state,
    status_of,
)
from helix.model.task_answers import Cascade, Progress, Stall, TaskState

TaskList = Sequence[Mapping[str, Any]]


def get_completed_task_ids(tasks: TaskList) -> list[str]:
    """Return the tasks that are over and were delivered."""
    return [identity(task) for task, at in _states(tasks) if at.successful]


def get_blocked_task_ids(tasks: TaskList) -> list[str]:
    """Return the tasks that are over and came to nothing because something blocked them."""
    return [identity(task) for task, at in _states(tasks) if at.finished and at.outcome == BLOCKED]


def get_ready_tasks(tasks: TaskList) -> list[str]:
    """Return the tasks that can begin: pending, with every task they wait for delivered."""
    return [identity(task) for task, at in _states(tasks) if at.executable]


def check_stalled(tasks: TaskList) -> tuple[bool, Stall | None]:
    """Return whether tasks are left of which none is at work and none can begin, and if so why."""
    states = _states(tasks)
    pending = [task for task, _ in states if status_of(task) == PENDING]
    at_work = any(status_of(task) == IN_PROGRESS for task, _ in states)
    if not pending or at_work or any(at.executable for _, at in states):
        return False, None
    delivered = {identity(task) for task, at in states if at.successful}
    waiting = {identity(task): tuple(one for one in blockers(task) if one not in delivered) for task in pending}
    wanted = {blocker for waits in waiting.values() for blocker in waits}
    known = {identity(task) for task, _ in states if status_of(task) != DELETED}
    return True, Stall(
        pending=tuple(waiting),
        waiting=waiting,
        blocked=tuple(identity(task) for task, at in states if at.blocks_dependents and identity(task) in wanted),
        missing=tuple(sorted(wanted - known)),
        cycles=tuple(detect_cycles(waiting)),
    )


def cascade_status(tasks: TaskList) -> Cascade:
    """Return where a plan's tasks stand: which can begin, which wait, and what stands in the way.

    In progress while a task is at work or can begin; else complete when none is left, all blocked when nothing was
    delivered and something is blocked, stuck when tasks are left that can no longer begin (`unreachable`).
    """
    states = _states(tasks)
    ready, blocked = get_ready_tasks(tasks), get_blocked_task_ids(tasks)
    delivered = get_completed_task_ids(tasks)
    at_work = [identity(task) for task, _ in states if status_of(task) == IN_PROGRESS]
    left = any(status_of(task) == PENDING for task, _ in states)
    if ready or at_work:
        status = Progress.IN_PROGRESS
    elif blocked and not delivered:
        status = Progress.ALL_BLOCKED
    else:
        status = Progress.STUCK if left else Progress.COMPLETE
    return Cascade(
        status=status,
        ready=tuple(ready),
        in_progress=tuple(at_work),
        delivered=tuple(delivered),
        blocked=tuple(blocked),
        unreachable=_unreachable(tasks),
    )


def clear_checkpoints(tasks: TaskList, session: str = "") -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tasks with those that were left in progress pending again, and the ids of these.

    A checkpoint is the saved mark that somebody is at work on a task. Who asks for this says that nobody is; what
    belongs to `session`, the one that goes on, keeps its mark. What is over stays over.
    """
    left = [status_of(task) == IN_PROGRESS and not _belongs(task, session) for task in tasks]
    marked = zip(tasks, left, strict=True)
    cleared = [{**task, "status": PENDING} if was_left else dict(task) for task, was_left in marked]
    return cleared, [identity(task) for task, was_left in zip(tasks, left, strict=True) if was_left]


def _belongs(task: Mapping[str, Any], session: str) -> bool:
    return bool(session) and task.get("session") == session


def _states(tasks: TaskList) -> list[tuple[Mapping[str, Any], TaskState]]:
    delivered = {identity(task) for task in tasks if state(task).successful}
    return [(task, state(task, delivered)) for task in tasks]


def _unreachable(tasks: TaskList) -> tuple[str, ...]:
    """Return the pending tasks that wait, by whatever way, for what is over undelivered, missing, or for themselves."""
    hopeful: set[str] = set()
    waits: dict[str, set[str]] = {}
    frees: dict[str, list[str]] = {}
    arrived: deque[str] = deque()
    for task, at in _states(tasks):
        ident = identity(task)
        if at.successful or status_of(task) == IN_PROGRESS:
            arrived.append(ident)
        elif status_of(task) == PENDING:
            waits[ident] = set(blockers(task))
            for blocker in waits[ident]:
                frees.setdefault(blocker, []).append(ident)
            if not waits[ident]:
                arrived.append(ident)
    while arrived:
        ident = arrived.popleft()
        if ident in hopeful:
            continue
        hopeful.add(ident)
        for dependent in frees.get(ident, ()):
            waits[dependent].discard(ident)
            if not waits[dependent]:
                arrived.append(dependent)
    return tuple(ident for ident in waits if ident not in hopeful)
