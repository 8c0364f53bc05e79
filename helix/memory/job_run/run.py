"""Run: one run of a background job, which writes in named steps and can be looked at before it is let go.

At every resting place of its work it gives way to whoever waits for an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from helix.errors import GuardError
from helix.memory.change.compose import Composer
from helix.memory.contradiction.validity import recompute_validity
from helix.model.edge import MERGED, Label, Ref, Relation
from helix.model.memory import Status
from helix.model.operations import DropEdge, DropNode, Operation, Put, PutEdge, PutNode
from helix.model.records import edge_from
from helix.providers.llm import LanguageModel
from helix.store.store import Store
from helix.store.writer import Decision

T = TypeVar("T")

LEAST_GUARDED, ALWAYS_ALLOWED = 20, 5
"""Memories that a job may take out of recall: so many, or half of what is active where that is less; so few always."""
GUARDED_TIME = timedelta(days=1)
"""How long what a job took counts for the next ones of its kind: to ask again must not walk past the guard."""


class Watch(Protocol):
    """Who looks after a run: `helix.store.jobs.Ticket`, or the worker."""

    @property
    def cancelled(self) -> bool:
        """Whether the run of a background job should stop at its next resting place."""

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Take notice of how far the run of a background job is."""


class Run:
    """What the work of a background job holds: where it reads, how it writes, and what it tells of itself.

    Work is a function `work(run, payload)` that reads `run.store` freely, and changes it through `write` alone.
    """

    def __init__(
        self,
        store: Store,
        job: str,
        kind: str,
        *,
        dry_run: bool = False,
        watch: Watch | None = None,
        guarded: bool = True,
    ) -> None:
        """`job` is the id under which the run's changes are known, and taken back by `helix undo`.

        `guarded`: it stops before it takes too many memories out of recall. A person's own work is not.
        """
        self._guarded = guarded
        self.store = store
        self.job = job
        self.kind = kind
        self.dry_run = dry_run
        self.counts: Counter[str] = Counter()
        self.plan: list[str] = []
        self._watch = watch
        self._taken: set[str] | None = None
        self._allowed = 0

    @property
    def now(self) -> datetime:
        """The present moment for the run of a background job."""
        return self.store.runtime.clock()

    @property
    def language_model(self) -> LanguageModel | None:
        """What a background job may ask; None in a dry run, which spends nothing and takes the deterministic path."""
        return None if self.dry_run else self.store.runtime.language_model

    @property
    def cancelled(self) -> bool:
        """Whether a background job was asked to stop at its next resting place; what it has written stays."""
        return self._watch is not None and self._watch.cancelled

    def write(self, step: str, compose: Callable[[Composer], T]) -> T | None:
        """Compose a change of a background job on the writer's thread and make it durable; return what `compose` does.

        `step` names the change within the job: a step that is in the journal already, from a run that was killed, is
        not composed again (None). `compose` sees everything accepted before it and must look again at what it read
        earlier. In a dry run nothing is written. Raises GuardError, with nothing of this step written, where the job
        would take too many memories out of recall.
        """

        def decision() -> Decision[T | None]:
            if self.store.journal.effects.has_step(self.job, step):
                return Decision((), None)
            composer = Composer(self.store, self.store.runtime.clock())
            answer = compose(composer)
            recompute_validity(composer, self.store)
            change = composer.change(self.kind, job=self.job, step=step)
            self._guard(change.operations)
            return Decision((change,) if change.operations and not self.dry_run else (), answer)

        return self.store.writer.submit(decision)

    def count(self, what: str, by: int = 1) -> None:
        """Count something that a background job did: `memories added`, `episodes rolled up`."""
        self.counts[what] += by

    def say(self, line: str) -> None:
        """Add a line to the plan of a background job, for a dry run: what is (to be) done, with the names concerned."""
        self.plan.append(line)

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Tell how far a background job is; `total` 0 means not known."""
        if self._watch is not None:
            self._watch.progress(done, total, message)

    def _guard(self, operations: Sequence[Operation]) -> None:
        """Count the active memories that the job takes out of recall.

        Those of a run that was killed are included, and those that jobs of its kind took in the last day.
        """
        if not self._guarded or not any(isinstance(op, PutNode | DropNode) and _hides(op) for op in operations):
            return
        if self._taken is None:
            self._taken = set().union(*map(self._took, self._kin()))
            active = len(self.store.index.where(Label.MEMORY, statuses=[Status.ACTIVE])) + len(self._taken)
            least = min(LEAST_GUARDED, max(ALWAYS_ALLOWED, active // 2))
            self._allowed = max(least, int(self.store.runtime.settings.guard_share * active))
        followed = _followed(operations)
        taken = self._taken | {
            op.id
            for op in operations
            if isinstance(op, PutNode | DropNode) and _hides(op) and op.id not in followed and self._is_active(op.id)
        }
        if len(taken) > self._allowed:
            told = f"would take {len(taken):,} memories out of recall, and {self._allowed:,} are allowed in a day"
            if not self.dry_run:
                raise GuardError(
                    f"the {self.kind} job {self.job} stopped: it {told}",
                    hint=f"`helix undo {self.job}` takes back what it wrote; a larger `guard_share` allows more",
                )
            if len(self._taken) <= self._allowed:
                self.say(f"the job {told}: it stops here")
        self._taken = taken

    def _kin(self) -> list[str]:
        """Return the job itself, and those of its kind that wrote in the last day and were not undone."""
        journal = self.store.journal
        since = journal.effects.jobs_since(self.now - GUARDED_TIME)
        kinds = {job: kind or self._kind_of(seq) for job, (kind, seq) in since.items()}
        return [self.job, *(job for job, kind in sorted(kinds.items()) if kind == self.kind and job != self.job)]

    def _kind_of(self, seq: int) -> str:
        return next((row.change.kind for row in self.store.journal.rows(seq - 1, 1) if row.seq == seq), "")

    def _took(self, job: str) -> set[str]:
        """Return the memories that a job took out of recall and that are not back since."""
        effects = self.store.journal.effects.of(job)
        drops = [effect.drop for effect in effects if _was_active(effect.before)]
        edges = [effect.drop for effect in effects if isinstance(effect.drop, DropEdge)]
        followed = _followed(op for op in self.store.journal.effects.held(edges) if op is not None)
        return {
            drop.id
            for drop in drops
            if isinstance(drop, DropNode) and drop.id not in followed and not self._is_active(drop.id)
        }

    def _is_active(self, memory_id: str) -> bool:
        return self.store.index.status_of(Ref.memory(memory_id)) is Status.ACTIVE


def _hides(op: PutNode | DropNode) -> bool:
    """Whether the operation leaves a memory that is not recalled by default."""
    if op.label is not Label.MEMORY:
        return False
    return isinstance(op, DropNode) or op.props.get("status", Status.ACTIVE) != Status.ACTIVE


def _was_active(before: Put | None) -> bool:
    return isinstance(before, PutNode) and before.label is Label.MEMORY and before.props.get("status") == Status.ACTIVE


def _followed(operations: Iterable[Operation]) -> set[str]:
    """Return the ids of what a newer version takes the place of: that is no loss, but to be folded into another is."""
    edges = (edge_from(op) for op in operations if isinstance(op, PutEdge) and op.type is Relation.SUPERSEDES)
    return {edge.target.id for edge in edges if MERGED not in edge.attributes}


class SlicedRun(Run):
    """A run in the background. Its work rests whenever it asks whether to stop, tells of itself or writes."""

    def __init__(self, store: Store, job: str, kind: str, *, rest: Callable[[], bool], dry_run: bool = False) -> None:
        """`rest` waits while somebody is being answered, and returns whether to stop."""
        super().__init__(store, job, kind, dry_run=dry_run)
        self._rest = rest
        self.told = ""

    @property
    def cancelled(self) -> bool:
        """Whether a background job was asked to stop; asking costs next to nothing while nobody waits."""
        return self._rest()

    def write(self, step: str, compose: Callable[[Composer], T]) -> T | None:
        """Have a background job rest, and write as `Run.write` does."""
        self._rest()
        return super().write(step, compose)

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Tell how far a background job is, which the worker's status shows, and rest."""
        self.told = f"{message} {done:,} of {total:,}".strip() if total else f"{message} {done:,}".strip()
        self._rest()
