"""Proving: what the service offers to whoever tells outcomes, and asks what memory was worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from helix.errors import InvalidInputError, NotFoundError
from helix.learning.action.ends import succeeded
from helix.learning.action.fixes import looks
from helix.learning.contracts.ids import client_task
from helix.learning.orchestration.board import find_task, tasks_of
from helix.learning.outcomes import noting, settle
from helix.learning.outcomes.evidence import classify
from helix.learning.outcomes.feedback import feedback, undo_feedback
from helix.learning.outcomes.taking_back import takes_back
from helix.learning.proof.page import page
from helix.learning.proof.report import report
from helix.lifecycle.work.foreground import Foreground
from helix.model.action import Action
from helix.model.evidence import Evidence
from helix.model.memory import Memory
from helix.model.outcome import Settlement
from helix.model.proof import Report
from helix.model.task import CLIENT_TASK, VERIFY, Task
from helix.store.store import Store


class Proof:
    """The part of the service that learns from outcomes; every method blocks and may be called from any thread."""

    _store: Store
    _foreground: Foreground

    def task_outcome(self, task: str, outcome: str, claimed: bool = False, utilized: Sequence[str] = ()) -> Settlement:
        """Say what came of a task: as a person who has looked, or (`claimed`) as the agent that did it.

        `utilized` are the memories that the agent says it used.
        """
        with self._foreground.request():
            ident = task_named(self._store, task).id
            if utilized:
                noting.note_use(self._store, ident, utilized=utilized)
            return settle.tell(self._store, ident, outcome, claimed=claimed)

    def note_action(self, task: str, action: Action) -> Evidence | None:
        """Write down what was done in a task, a command that has ended or files edited; return what that says of it.

        None where it says nothing for certain. It is looked through for use of what the task was shown.
        """
        with self._foreground.request():
            held = task_named(self._store, task)
            now = self._store.clock()
            found = classify(replace(action, at=action.at or now), str(held.attributes.get(VERIFY) or ""))
            if found is not None:
                noting.note_evidence(self._store, held.id, found)
            ran = succeeded(action, looks)
            edited = (action.at or now) if action.is_edit or takes_back(action) else None
            noting.note_use(
                self._store, held.id, files=action.files, commands=ran, at=action.at or now, edited_at=edited
            )
            return found

    def feedback(
        self,
        names: Sequence[str],
        delta: float = 0.0,
        quality: int | None = None,
        task: str = "",
        agent: str = "",
        undo: bool = False,
    ) -> list[Memory]:
        """Record that memories helped (positive delta) or failed (negative); a `Quality` makes it a verified use.

        With a task it takes the place of what that task's outcome gave to them, whatever comes out later. That an
        agent says so is a claim, and bounded. `undo` takes the newest feedback of each back, with nothing beside it.
        """
        with self._foreground.request():
            if undo:
                if delta or quality is not None or task:
                    raise InvalidInputError(
                        "feedback is given or taken back, not both", hint="helix feedback NAME --undo"
                    )
                return undo_feedback(self._store, names, claimed=bool(agent))
            if not task:
                return feedback(self._store, names, delta, quality, claimed=bool(agent))
            return settle.override(self._store, task_named(self._store, task).id, names, delta, quality)

    def report(self, since: datetime | None = None, scope: str | None = None) -> Report:
        """Compare tasks that were shown memories with tasks that were not."""
        return report(self._store, since, scope)

    def report_page(self, since: datetime | None = None, scope: str | None = None) -> str:
        """Return the report as one HTML document that needs nothing else."""
        return page(report(self._store, since, scope))


def task_named(store: Store, name: str) -> Task:
    """Return the task of an id, or the newest that its client knows by that name; raises NotFoundError."""
    found = find_task(store, name.strip())
    if found is not None:
        return found
    for task in tasks_of(store):
        if task.attributes.get(CLIENT_TASK) in (name.strip(), client_task(name)):
            return task
    raise NotFoundError(
        f"no task {name!r}", hint='list them: helix cypher "MATCH (t:Task) RETURN t.id, t.objective, t.outcome"'
    )
