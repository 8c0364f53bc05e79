"""Oversight: queries and mutations over background work, contradictions, insights, review, undo and erasure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import strawberry

from helix.api.queries import connection, page_size
from helix.api.types import Connection
from helix.lifecycle.capture.sessions import SessionRequest
from helix.model.dispute import Dispute, DisputeStatus
from helix.model.edge import Ref
from helix.model.erasure import ErasePlan
from helix.model.held import Held
from helix.model.insight import Cited
from helix.model.memory import GLOBAL_SCOPE, Memory
from helix.model.records import Node
from helix.model.reflection import Reflection
from helix.model.reports import BackgroundStatus, Job, SessionReport, StoreResult, WorkPlan
from helix.model.undo import UndoReport
from helix.model.work import WorkItem
from helix.service import Helix


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One piece of evidence of an insight, in its place: `depth` 1 is cited by the insight, 2 by what that rests on."""

    depth: int
    ref: Ref
    text: str
    at: datetime
    level: int
    stands: bool
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """An insight with what it rests on, each piece of evidence followed by its own."""

    reflection: Reflection
    evidence: tuple[Evidence, ...]


def sessions(helix: Helix, *, scope: str | None = None, limit: int = 50) -> list[SessionReport]:
    """List sessions, the latest start first; private ones are not among them."""
    return helix.list_sessions(scope, page_size(helix, "limit", limit))


def background(helix: Helix, *, limit: int = 10) -> BackgroundStatus:
    """Show what goes on behind the foreground, what is queued, and what the last pieces of work came to."""
    return helix.background(page_size(helix, "limit", limit))


def work(helix: Helix, *, id: strawberry.ID) -> WorkItem:
    """Look at one piece of background work."""
    return helix.work_item(id)


def work_plan(helix: Helix, *, kind: str, payload: Mapping[str, Any] | None = None) -> WorkPlan:
    """Say what a piece of background work would do now; nothing is changed."""
    return helix.plan_work(kind, **(payload or {}))


def contradictions(
    helix: Helix, *, scope: str | None = None, status: DisputeStatus = DisputeStatus.OPEN, any_status: bool = False
) -> list[Dispute]:
    """List pairs of memories that cannot both hold, the oldest first."""
    return helix.contradictions(scope, None if any_status else status)


def review(helix: Helix, *, scope: str | None = None, first: int = 50, after: str | None = None) -> Connection[Held]:
    """List what is kept from recall until a person has looked at it, newest first, with the reasons."""
    return connection(helix.review(scope, page_size(helix, "first", first), after), after)


def reflections(
    helix: Helix, *, scope: str | None = None, first: int = 50, after: str | None = None
) -> Connection[Reflection]:
    """List insights page by page, newest first."""
    return connection(helix.reflections(scope, page_size(helix, "first", first), after), after)


def insight_tree(helix: Helix, *, id: strawberry.ID) -> Insight:
    """Show an insight with what it rests on, down to the episodes."""
    tree = helix.insight_tree(id)
    return Insight(reflection=tree.reflection, evidence=tuple(_laid_out(tree.evidence, 1)))


def erase_plan(helix: Helix, *, name_or_id: str) -> ErasePlan:
    """Show what a hard forget would take away for good; nothing is changed."""
    return helix.erase_plan(name_or_id)


def open_session(helix: Helix, request: SessionRequest) -> SessionReport:
    """Open a session, or go on with one. Nothing of a private one is ever written down."""
    return helix.open_session(**{field.name: getattr(request, field.name) for field in fields(request)})


def close_session(helix: Helix, *, name: str, scope: str = GLOBAL_SCOPE) -> SessionReport:
    """End a session; what is new in its scope is consolidated in the background."""
    return helix.close_session(name, scope)


def flush(helix: Helix, *, scope: str | None = None) -> WorkItem:
    """Have what happened consolidated now, without waiting until enough of it has come together."""
    return helix.flush(scope)


def begin_work(helix: Helix, *, kind: str, payload: Mapping[str, Any] | None = None) -> WorkItem:
    """Ask for a piece of background work; of the same there is one unfinished at most."""
    return helix.begin_work(kind, **(payload or {}))


def cancel_work(helix: Helix, *, id: strawberry.ID) -> WorkItem:
    """Ask a piece of background work to end; `undo` takes back what it has written."""
    return helix.cancel_work(id)


def pause_worker(helix: Helix, *, on: bool = True) -> bool:
    """Stop background work, also over restarts, or go on with it; returns whether it is paused now."""
    return helix.pause_worker(on)


def note_gap(helix: Helix, *, session: str = "", agent: str = "") -> StoreResult | None:
    """Remember that the last question of a session was not answered, until something answers it; null where it was."""
    return helix.note_gap(session, agent)


def reopen_gap(helix: Helix, *, name_or_id: str) -> Memory:
    """Say that what closed a gap did not answer it."""
    return helix.reopen_gap(name_or_id)


def undo(helix: Helix, *, job: strawberry.ID, dry_run: bool = False) -> UndoReport:
    """Take a piece of background work back exactly, or list what has been done since that this would take away."""
    return helix.undo(job, dry_run=dry_run)


def unmerge(helix: Helix, *, name_or_id: str) -> Memory:
    """Bring back a memory that was merged into another one."""
    return helix.unmerge(name_or_id)


def resolve_contradiction(helix: Helix, *, a: str, b: str, winner: str, note: str = "") -> Dispute:
    """Say, as a person, which of two memories holds: the name or id of one, `both` or `neither`."""
    return helix.resolve_contradiction(a, b, winner, note)


def reopen_contradiction(helix: Helix, *, a: str, b: str) -> Dispute:
    """Take back what was said of a contradiction."""
    return helix.reopen_contradiction(a, b)


def accept(helix: Helix, *, name_or_id: str, by: str = "") -> Node:
    """Let something quarantined be recalled; its trust stays what it was."""
    return helix.accept(name_or_id, by)


def reject(helix: Helix, *, name_or_id: str, by: str = "") -> Node:
    """Have something quarantined forgotten."""
    return helix.reject(name_or_id, by)


def hard_forget(helix: Helix, *, name_or_id: str, confirm: strawberry.ID) -> Job:
    """Erase a memory or an episode from every file, for good; `confirm` is the id of the root of its `erasePlan`."""
    return helix.hard_forget(name_or_id, confirm)


def scan_secrets(helix: Helix, *, apply: bool = False) -> Job:
    """Look with today's rules for secrets in everything that is stored, and with `apply` take them out for good."""
    return helix.scan_secrets(apply)


def _laid_out(cited: Sequence[Cited], depth: int) -> Iterator[Evidence]:
    for one in cited:
        own = {field.name: getattr(one, field.name) for field in fields(one) if field.name != "evidence"}
        yield Evidence(depth=depth, **own)
        yield from _laid_out(one.evidence, depth + 1)


QUERIES = (
    sessions,
    background,
    work,
    work_plan,
    contradictions,
    review,
    reflections,
    insight_tree,
    erase_plan,
)
MUTATIONS = (
    open_session,
    close_session,
    flush,
    begin_work,
    cancel_work,
    pause_worker,
    note_gap,
    reopen_gap,
    undo,
    unmerge,
    resolve_contradiction,
    reopen_contradiction,
    accept,
    reject,
    hard_forget,
    scan_secrets,
)
