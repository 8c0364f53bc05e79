"""Task list: the client's own list is mirrored, and what it says of a task's end is what becomes of its memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helix.agents.answers.builder_answer import BuilderAnswer, read_task_metadata
from helix.agents.answers.loose_json import folded_keys
from helix.agents.answers.planner_answer import plan_tasks
from helix.agents.hook_events.hook_context import HookContext, Reaction
from helix.agents.hook_events.hook_events import TaskTold
from helix.agents.hook_events.unsolved import remember_unsolved
from helix.agents.observer.observe import Origin, observe_builder
from helix.agents.outcomes.noting import note_use
from helix.agents.outcomes.task_end import settle_task
from helix.agents.tasks.board import find_task, task_id
from helix.model.task import (
    AGENT,
    BLOCKED,
    BLOCKED_REASON,
    BUDGET,
    CLIENT_TASK,
    COMPLETED,
    DELTA,
    ERROR,
    IN_PROGRESS,
    PENDING,
    RELEVANT_FILES,
    SEQ,
    SKIPPED,
    SLUG,
    SUMMARY,
    TRIED,
    UTILIZED,
    VERIFY,
    Task,
)

_DELETED = "deleted"
_STATUSES = (PENDING, IN_PROGRESS, COMPLETED)


def task_told(context: HookContext, event: TaskTold) -> Reaction:
    """Update the mirrored task that a client's hook tells of; at its end, settle its memories and what it taught."""
    context.session.follow(event.task, event.status)
    return Reaction(always=(lambda: _keep(context, event),), did=f"task {event.status or 'told'}")


def attributes_said(answer: BuilderAnswer) -> dict[str, object]:
    """Return what a hook's event says of an agent's task as the task's attributes; what it did not say is left out."""
    said: dict[str, object] = {
        SUMMARY: answer.summary,
        BLOCKED_REASON: answer.reason,
        TRIED: answer.tried,
        ERROR: answer.error,
        UTILIZED: list(answer.utilized),
    }
    return {name: value for name, value in said.items() if value}


def observed_task(task: Task | None, **more: object) -> dict[str, Any]:
    """Return the task that a hook tells of as the observer reads it: what the board knows of it."""
    if task is None:
        return dict(more)
    return {
        **task.attributes,
        "objective": task.objective,
        "helix_outcome": task.outcome,
        "verification": task.verification,
        **more,
    }


def _keep(context: HookContext, event: TaskTold) -> None:
    said, deleted = read_task_metadata(event.metadata), event.status == _DELETED
    context.sees(
        event.task,
        {CLIENT_TASK: event.task, **_planned(event), **attributes_said(said)},
        objective=event.description or event.subject or None,
        title=event.subject,
        status=COMPLETED if deleted else event.status if event.status in _STATUSES else None,
    )
    task = task_id(context.session.scope, context.session.name, event.task)
    if said.utilized:
        note_use(context.store, task, utilized=said.utilized)
    outcome = SKIPPED if deleted else said.outcome
    if outcome or event.status == COMPLETED:
        settle_task(context.store, task, outcome=outcome or None)
    if outcome == BLOCKED and not event.agent:
        remember_unsolved(context, context.session.worker(""), task)
    known = find_task(context.store.index, task)
    # What a sub-agent did is learned when it ends, from its last words and these together.
    if said.learned and not event.agent and (known is None or not known.attributes.get(AGENT)):
        origin = Origin(
            at=context.store.runtime.clock(),
            scope=context.session.scope,
            session=context.session.name,
            task=task,
            agent=context.client,
            source=f"{context.client}:{context.session.name}",
        )
        context.propose(observe_builder(observed_task(known), event.metadata, (), origin))


def _planned(event: TaskTold) -> Mapping[str, object]:
    """Return what a planner wrote into a task: its place in the plan and how it is to be proved."""
    given = folded_keys(event.metadata)
    numbered = SEQ in given or event.subject[:1].isdigit()
    task = plan_tasks([{**given, "subject": event.subject, "description": event.description}])[0]
    said: dict[str, object] = {
        SEQ: task.seq if numbered else "",
        SLUG: task.slug if event.subject or given.get(SLUG) else "",
        VERIFY: task.verify,
        DELTA: list(task.delta),
        RELEVANT_FILES: list(task.relevant_files),
        BUDGET: task.budget,
    }
    return {name: value for name, value in said.items() if value}
