"""Proof: queries and mutations over the outcomes of tasks, and what memory was worth to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime

import strawberry

from helix.model.action import Action
from helix.model.evidence import Evidence, EvidenceKind, Verification
from helix.model.outcome import Gain
from helix.model.proof import Report
from helix.service import Helix


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One command that said whether the work holds."""

    kind: EvidenceKind
    command: str
    passed: bool
    exit_status: int | None
    tests_passed: int | None
    tests_failed: int | None
    commit: str
    verify: bool
    at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutcome:
    """How a task stands by its evidence, and what the memories got that were shown to it."""

    task: strawberry.ID
    outcome: str
    claimed: str
    verification: Verification
    evidence: tuple[Check, ...]
    gains: tuple[Gain, ...]
    changed: bool


def report(helix: Helix, *, since: datetime | None = None, scope: str | None = None) -> Report:
    """Compare tasks that were shown memories with tasks that they were held back from."""
    return helix.report(since, scope)


def report_page(helix: Helix, *, since: datetime | None = None, scope: str | None = None) -> str:
    """Write the report as one HTML document that asks for nothing from anywhere."""
    return helix.report_page(since, scope)


def task_outcome(
    helix: Helix,
    *,
    task: strawberry.ID,
    outcome: str,
    claimed: bool = False,
    utilized: Sequence[str] = (),
) -> TaskOutcome:
    """Say what came of a task: delivered, blocked, skipped, or nothing to take that back."""
    told = helix.task_outcome(task, outcome, claimed, utilized)
    return TaskOutcome(
        task=strawberry.ID(told.task),
        outcome=told.outcome,
        claimed=told.claimed,
        verification=told.verification,
        evidence=tuple(map(_check, told.evidence)),
        gains=told.gains,
        changed=told.changed,
    )


def note_action(
    helix: Helix,
    *,
    task: strawberry.ID,
    command: str = "",
    files: Sequence[str] = (),
    exit_status: int | None = None,
    output: str = "",
    id: str = "",
) -> Check | None:
    """Say what was done in a task: a command that ended, or files that were edited; null where it proves nothing."""
    action = Action(id=id, command=command, files=tuple(files), exit_status=exit_status, output=output)
    found = helix.note_action(task, action)
    return None if found is None else _check(found)


def _check(evidence: Evidence) -> Check:
    return Check(**{field.name: getattr(evidence, field.name) for field in fields(Check)})


QUERIES = (report, report_page)
MUTATIONS = (task_outcome, note_action)
