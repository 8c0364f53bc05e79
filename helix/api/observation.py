"""Observation: queries and mutations over what agents' work gives to learn, and over the order of their tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import strawberry

from helix.api.queries import page_size
from helix.learning.observer.chunk import ChunkRequest
from helix.learning.observer.keeping import Keeping
from helix.learning.orchestration.dag import Stall
from helix.learning.orchestration.tasks import TaskState
from helix.model.candidate import Candidate
from helix.model.memory import GLOBAL_SCOPE
from helix.model.observed import Accepted, Observed
from helix.model.reports import Health, StoreResult
from helix.service import Helix


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalled:
    """Whether nothing can go on, and why."""

    stalled: bool
    info: Stall | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """The tasks that are pending again, those whose session may still be at work, and the whole list as it is then."""

    cleared: tuple[str, ...]
    kept: tuple[str, ...]
    tasks: tuple[Mapping[str, Any], ...]


def learning_queue(helix: Helix, *, scope: str | None = None, limit: int = 50) -> list[Candidate]:
    """List what agents' work gave to learn and nobody has looked at, the surest first."""
    return helix.learning_queue(scope, page_size(helix, "limit", limit))


def verify(helix: Helix, *, scope: str | None = None) -> Health:
    """Say whether the learning loop is closed: what was shown is judged, what was judged counts, nothing dangles."""
    return helix.verify(scope)


def task_state(helix: Helix, *, task: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = ()) -> TaskState:
    """Say where a task of a client's list stands; what it waits for was delivered only where `others` say so."""
    return helix.task_state(task, others)


def dag_cycles(helix: Helix, *, dependencies: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """List circles of tasks that wait for each other, a shortest one of each knot."""
    return helix.dag_cycles(dependencies)


def dag_ready(
    helix: Helix,
    *,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    plan: strawberry.ID | None = None,
    scope: str = GLOBAL_SCOPE,
) -> list[str]:
    """List the tasks that can begin now: pending, with everything they wait for delivered."""
    return helix.dag_ready(tasks, plan or "", scope)


def dag_stalled(
    helix: Helix,
    *,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    plan: strawberry.ID | None = None,
    scope: str = GLOBAL_SCOPE,
) -> Stalled:
    """Say whether tasks are left of which none is at work and none can begin, and why."""
    stall = helix.dag_stalled(tasks, plan or "", scope)
    return Stalled(stalled=stall is not None, info=stall)


def dag_clear(
    helix: Helix,
    *,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    plan: strawberry.ID | None = None,
    scope: str = GLOBAL_SCOPE,
    session: str = "",
    force: bool = False,
) -> Cleared:
    """Give back the tasks that a dead session left in progress; a plan is changed, a list only answered."""
    done, listed = helix.dag_clear(tasks, plan or "", scope, session, force=force)
    return Cleared(cleared=done.cleared, kept=done.kept, tasks=tuple(listed))


def observe_explorer(helix: Helix, keeping: Keeping, *, output: str) -> Observed:
    """See what an explorer's answer gives to learn: facts and conventions."""
    return helix.observe_explorer(output, keeping)


def observe_planner(
    helix: Helix,
    keeping: Keeping,
    *,
    tasks: Sequence[Mapping[str, Any]],
    exploration: Mapping[str, Any] | None = None,
    learned: Sequence[str] = (),
) -> Observed:
    """See what a plan gives to learn: decisions."""
    return helix.observe_planner(tasks, exploration or {}, learned, keeping)


def observe_builder(
    helix: Helix, keeping: Keeping, *, task: Mapping[str, Any], result: str = "", files_changed: Sequence[str] = ()
) -> Observed:
    """See what a builder's work gives to learn: what changed, what stood in the way, what it says it learned."""
    return helix.observe_builder(task, result, files_changed, keeping)


def observe_session(
    helix: Helix,
    keeping: Keeping,
    *,
    objective: str,
    tasks: Sequence[Mapping[str, Any]] | None = None,
    outcomes: Mapping[str, Any] | None = None,
) -> Observed:
    """See what a session came to as a whole, by the tasks that are given, else by those that are kept of it."""
    return helix.observe_session(objective, tasks, outcomes or {}, keeping)


def accept_candidate(helix: Helix, *, id: strawberry.ID, by: str = "") -> Accepted:
    """Make a memory of what waits in the learning queue; it is trusted no further than the one who said it."""
    return helix.accept_candidate(id, by)


def reject_candidate(helix: Helix, *, id: strawberry.ID, by: str = "") -> Candidate:
    """Have what waits in the learning queue come to nothing, also when the same is proposed again."""
    return helix.reject_candidate(id, by)


def chunk(helix: Helix, request: ChunkRequest) -> StoreResult | None:
    """Remember how a task was done as a pattern; null where its outcome does not say that it worked."""
    return helix.chunk(request)


QUERIES = (learning_queue, verify, task_state, dag_cycles, dag_ready, dag_stalled)
MUTATIONS = (
    observe_explorer,
    observe_planner,
    observe_builder,
    observe_session,
    accept_candidate,
    reject_candidate,
    chunk,
    dag_clear,
)
