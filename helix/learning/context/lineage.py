"""Lineage: what the tasks before a task delivered, as the next agent is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from helix.learning.context.blocks import one_line
from helix.learning.contracts.planner import sequence
from helix.learning.orchestration.tasks import state
from helix.model.planned import PlanTask
from helix.model.task import DELIVERED, SEQ, SLUG, SUMMARY, Task

_LONGEST = 300
_MOST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What a task delivered: its number in the plan, its short name, and what came of it in a line."""

    seq: str
    slug: str
    delivered: str

    @property
    def line(self) -> str:
        """The delivery as a line of a block: what an agent said of its task."""
        return f"{' '.join((*filter(None, (self.seq, self.slug)), '(agent)'))}: {self.delivered}"


def lineage(tasks: Iterable[Mapping[str, Any] | Task | PlanTask | Delivery]) -> tuple[Delivery, ...]:
    """Return the deliveries of tasks in the order of their numbers, at most the last twenty; others deliver nothing.

    A task is one of ours, one of a client's list (`metadata` says what came of it), or a delivery as it stands.
    """
    found = [delivery for task in tasks if (delivery := _delivery(task)) is not None]
    return tuple(sorted(found, key=lambda one: (len(one.seq), one.seq, one.slug))[-_MOST:])


def _delivery(task: Mapping[str, Any] | Task | PlanTask | Delivery) -> Delivery | None:
    match task:
        case Delivery():
            return task
        case PlanTask():
            return _said(task.seq, task.slug, task.delivered) if task.outcome == DELIVERED else None
        case Task():
            said = task.attributes
            return _said(said.get(SEQ), said.get(SLUG), said.get(SUMMARY)) if task.outcome == DELIVERED else None
    if "delivered" in task:
        return _said(task.get("seq"), task.get("slug"), task.get("delivered"))
    if not state(task).successful:
        return None
    metadata = task.get("metadata")
    said = metadata if isinstance(metadata, Mapping) else {}
    return _said(said.get("seq"), said.get("slug") or task.get("subject"), said.get("summary"))


def _said(seq: object, slug: object, delivered: object) -> Delivery | None:
    words = one_line(delivered, _LONGEST) if isinstance(delivered, str) else ""
    if not words:
        return None
    number = sequence(seq) if isinstance(seq, str | int) else ""
    return Delivery(seq=number, slug=one_line(slug, 60) if isinstance(slug, str) else "", delivered=words)
