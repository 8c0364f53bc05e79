"""Session recovery: goes on with a session that another daemon saw begin, by the store and the session's history.

The store has what was shown in it and which tasks are at work. The client's history has every command: which failures
are not mended yet, and what no daemon was there to be told of, which then counts as if a hook had told it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from helix.agents.hook_events import tool_use
from helix.agents.hook_events.client_transcripts import latest_events
from helix.agents.hook_events.deferred_queue import Work
from helix.agents.hook_events.hook_context import HookContext
from helix.agents.hook_events.hook_events import ActionEnded, HookEvent, TaskTold
from helix.agents.hook_events.session_state import SessionWorker
from helix.agents.hook_events.subagents import worker_of
from helix.agents.hook_events.task_list import task_told
from helix.agents.tasks.board import SESSION_KEY, injections, task_id, tasks_of
from helix.journal.log import Journal
from helix.memory.extraction.excluded import erased
from helix.model.clock import from_micros, to_micros
from helix.model.edge import Ref
from helix.model.episode import session_id
from helix.model.task import ACTION, AGENT, CALL, CLIENT_TASK, HISTORY_CUT, IN_PROGRESS, ON_ERROR, Task
from helix.store.store import PAUSED

_MOST_AGENTS = 20


def last_written(journal: Journal) -> datetime | None:
    """Return when the newest log row was written, a hook session's last sign of an earlier daemon; None: none."""
    rows = journal.rows(journal.last_seq - 1, 1)
    try:
        return from_micros(rows[0].at) if rows else None
    except OverflowError:
        return None


def recollect(context: HookContext, event: HookEvent, there_until: datetime | None) -> tuple[Work, ...]:
    """Recover a session of hooks that another daemon saw begin; return what is to be done before all else is written.

    `there_until` is when a daemon was last there: what the history tells of later is kept now, once, as far as the
    session was open then and capture was not paused since.
    """
    session = context.session
    with session.turn:
        if session.recollected:
            return ()
        tasks = tasks_of(context.store.index, scope=session.scope, session=session.name)
        session.recollect(_shown(context, tasks), _at_work(context, tasks))
        since, until = _missed_since(context, there_until), context.store.runtime.clock()
    return (partial(_catch_up, context, Path(event.transcript), since, until),) if event.transcript else ()


def _shown(context: HookContext, tasks: Collection[Task]) -> Mapping[str, Collection[str]]:
    """Return the memories that were shown at actions: by agent, by task where the agent is not known, "" for main."""
    found: dict[str, set[str]] = defaultdict(set)
    main = task_id(context.session.scope, context.session.name, SESSION_KEY)
    for task in tasks:
        known, cut = task.attributes, _cut(task)
        agent = str(known.get(AGENT) or "")
        mine = task.id == main or (known.get(CLIENT_TASK) and not known.get(CALL))
        found[agent or ("" if mine else task.id)].update(
            one.memory_id
            for one in injections(context.store.index, task.id)
            if one.arm in (ACTION, ON_ERROR) and to_micros(one.at) > cut
        )
    return found


def _cut(task: Task) -> int:
    cut = task.attributes.get(HISTORY_CUT)
    return cut if isinstance(cut, int) else 0


def _at_work(context: HookContext, tasks: Collection[Task]) -> list[str]:
    """Return the client's ids of the tasks of its list that are in progress, in the order in which they came."""
    keys = [(str(task.attributes.get(CLIENT_TASK) or ""), task) for task in reversed(list(tasks))]
    scope, name = context.session.scope, context.session.name
    return [key for key, task in keys if task.status == IN_PROGRESS and key and task_id(scope, name, key) == task.id]


def _catch_up(context: HookContext, transcript: Path, since: datetime | None, until: datetime) -> None:
    """Follow the commands of a history as if they had just been told; keep what was done since that moment.

    What became of tasks is told by hooks again from `until` on. What was erased is not looked at.
    """
    gone = erased(context.store.index)
    below = transcript.with_suffix("") / "subagents"
    files = sorted(below.glob("agent-*.jsonl"), key=lambda file: file.lstat().st_mtime)[-_MOST_AGENTS:]
    missed: list[tuple[datetime, SessionWorker, HookEvent]] = []
    for agent, file in (("", transcript), *((file.stem.removeprefix("agent-"), file) for file in files)):
        worker = worker_of(context, agent, file)
        for at, event in latest_events(file, context.session.name, agent=agent):
            if isinstance(event, ActionEnded) and gone.has_source(context.source_of(event.action.id)):
                continue
            if since is not None and at is not None and at > since:
                missed.append((at, worker, event))
            elif isinstance(event, ActionEnded):
                tool_use.track_fix(context, worker, event.action)
    for at, worker, event in sorted(missed, key=lambda one: one[0]):
        if isinstance(event, ActionEnded):
            context.when_sure(worker, partial(tool_use.take_in, context, worker, event))()
        elif isinstance(event, TaskTold) and at <= until:
            for work in task_told(context, event).always:
                work()


def _missed_since(context: HookContext, there_until: datetime | None) -> datetime | None:
    """Return the moment from which on what was done is kept; None where nothing is: nobody was told of the session."""
    opened = Ref.session(session_id(context.session.scope, context.session.name))
    if there_until is None or opened not in context.store.index:
        return None
    return max(there_until, from_micros(int(context.store.journal.meta(PAUSED) or 0)))  # when a pause ended, if one did
