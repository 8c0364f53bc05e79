"""Background: look at the work that goes on behind the foreground, ask for some, stop it, take it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from helix.memory.change.intake import Intake
from helix.memory.worker.undo import undo as take_back
from helix.model.ids import Id
from helix.model.principal import Role
from helix.model.reports import BackgroundStatus, UndoReport, WorkPlan
from helix.model.work_item import WorkItem
from helix.operations.checks import UPKEEP, page_size
from helix.operations.listed import mutation, query
from helix.service import Helix


@query
def background(helix: Helix, limit: int = 10) -> BackgroundStatus:
    """Show which background jobs run, which are queued, and what the last ones did."""
    return helix.worker.status(page_size(helix, "limit", limit))


@query
def work(helix: Helix, id: Annotated[Id, "The id of the piece of work."]) -> WorkItem:
    """Look at one piece of background work."""
    return helix.worker.item(id)


@query
def work_plan(
    helix: Helix,
    kind: Annotated[str, "The kind of work, such as `consolidate` or `reflect`."],
    payload: Mapping[str, Any] | None = None,
) -> WorkPlan:
    """Say what a piece of background work would do now; nothing is changed."""
    return helix.worker.plan(kind, payload or {})


@mutation(Role.AGENT)
def flush(
    helix: Helix,
    scope: Annotated[str | None, "Only what happened in this scope; everywhere where it is not said."] = None,
) -> WorkItem:
    """Turn recent episodes into memories now, instead of when enough have come together."""
    return helix.worker.flush(scope)


def _of_a_person(asked: Mapping[str, Any]) -> str:
    """Only a person may have what was undone brought back (`rederive`), or set more in `payload` than `scope`."""
    if asked["kind"] == "rederive":
        return "bring back what was undone"
    return UPKEEP if {*(asked.get("payload") or {})} - {"scope"} else ""


@mutation(Role.AGENT, person_if=_of_a_person)
def begin_work(
    helix: Helix,
    kind: Annotated[str, "The kind of work, such as `consolidate` or `reflect`."],
    payload: Mapping[str, Any] | None = None,
) -> WorkItem:
    """Ask for a piece of background work; of the same there is one unfinished at most."""
    helix.store.check_capture()
    return helix.worker.add(kind, Intake(helix.settings.text_limit).attributes(payload or {}))


@mutation(Role.ADMIN)
def cancel_work(helix: Helix, id: Annotated[Id, "The id of the piece of work."]) -> WorkItem:
    """Ask a piece of background work to end; `undo` takes back what it has written."""
    return helix.worker.cancel(id)


@mutation(Role.ADMIN, person_where={("on", False): "end a pause of background work"})
def pause_worker(helix: Helix, on: Annotated[bool, "Pause, or go on."] = True) -> bool:
    """Stop background work, also over restarts, or go on with it; returns whether it is paused now."""
    paused = helix.worker.pause(on)
    helix.events.tell_store(helix.store.journal.store_id, "background")
    return paused


@mutation(Role.ADMIN, person_where={("dry_run", False): "take back a piece of work: it may be a person's"})
def undo(helix: Helix, job: Annotated[Id, "The id of the piece of work."], dry_run: bool = False) -> UndoReport:
    """Take a piece of background work back exactly, or list what has been done since that this would take away."""
    return take_back(helix.store, job, dry_run=dry_run)
