"""Helix: the facade over one store, and the only place where its parts are put together."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from helix import settings as configuration
from helix.errors import ConflictError
from helix.ingest.imports import Imports
from helix.journal.answers import Answers
from helix.learning.context.contexts import Contexts
from helix.learning.events.hooks import Hooks
from helix.learning.events.reacting import Reacting
from helix.learning.observation import Observation
from helix.learning.orchestration.orchestrating import Orchestration
from helix.learning.proof.proving import Proof
from helix.lifecycle import curate, links, neighbours
from helix.lifecycle.asked import StoreRequest
from helix.lifecycle.background import Background
from helix.lifecycle.capture.sessions import is_private
from helix.lifecycle.curate import EditRequest
from helix.lifecycle.erasure import unfinished
from helix.lifecycle.find import memory_of
from helix.lifecycle.intake import known_kind
from helix.lifecycle.oversight import Oversight
from helix.lifecycle.remember import remember
from helix.lifecycle.upkeep import Upkeep
from helix.lifecycle.work.foreground import Foreground
from helix.lifecycle.work.worker import Worker
from helix.lifecycle.worth import maintenance
from helix.model.clock import Clock, system_clock
from helix.model.edge import Edge, Label, Ref
from helix.model.ids import IdMaker, uuid7
from helix.model.memory import Kind, Memory, Status
from helix.model.operations import Row
from helix.model.recall import RecallAnswer, RecallItem, RecallQuery
from helix.model.records import Node
from helix.model.reports import (
    CypherResult,
    DoctorReport,
    EdgeSuggestion,
    GraphTable,
    Health,
    Job,
    JobState,
    MaintenanceReport,
    Page,
    SimilarMemory,
    Stats,
    StatusReport,
    StoreResult,
)
from helix.providers.choose import reranker_for, router_for
from helix.providers.embedder import Embedder
from helix.providers.reranker import Reranker
from helix.recall.last import LastAnswers
from helix.recall.pipeline import Recaller
from helix.recall.recipes import recipe_named, recipes_of
from helix.settings import Settings
from helix.store import ask, backup, doctor, listing, overview
from helix.store.events import Event, Events
from helix.store.jobs import Jobs
from helix.store.opening import open_store
from helix.store.store import Store

_BETWEEN_REBUILDS_SECONDS = 30.0
"""How long after a build that failed a change that is accepted has the graph built once more."""


class Helix(Imports, Background, Oversight, Upkeep, Hooks, Observation, Orchestration, Contexts, Proof):
    """One open store with everything that works on it. Every method blocks and may be called from any thread."""

    def __init__(self, settings: Settings, store: Store, *, reason: str, reranker: Reranker) -> None:
        """Put the parts together; use `Helix.open`."""
        self.settings = settings
        self._store = store
        self._reason = reason
        self._started_at = store.clock()
        self._closing = False
        self._rebuilt_at = -_BETWEEN_REBUILDS_SECONDS
        self._events = Events()
        self._answers = LastAnswers()
        self._answers.from_json(store.kept_answers(), store.records.node)
        self._jobs = Jobs(clock=store.clock, make_id=store.make_id, changed=self._follow_job)
        self._recaller = Recaller(
            catalogue=store.catalogue,
            projection=store.projection,
            vectors=store.graph,
            records=store.records,
            embed=store.embed_query if store.embedder is not None else None,
            reranker=reranker,
            clock=store.clock,
            settings=settings,
        )
        self._foreground = Foreground()
        self._worker = Worker(store, self._foreground, busy=self._is_busy)
        self._reacting = Reacting(
            store, self.recall, close_session=self.close_session, flush=self.flush, foreground=self._foreground
        )
        self._router = router_for(settings, Answers(store.journal.database), clock=store.clock)
        store.language_model = self._router if self._router.available else None
        store.writer.listen(self._events.tell_rows)
        store.writer.listen(self._mend)

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        clock: Clock = system_clock,
        make_id: IdMaker = uuid7,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
    ) -> Helix:
        """Open the store of the settings, with their models unless an embedder or a reranker is handed in.

        What is missing is made good in the background: a graph that could not be used, vectors of passages that were
        stored without a model. Raises StoreLockedError, StoreTooNewError, StoreCorruptError, DiskFullError.
        """
        recipe_named(settings.recipe, recipes_of(settings.recipes))  # wrong ones are told of before anything is open
        store, reason = open_store(settings, embedder=embedder, clock=clock, make_id=make_id)
        unfinished.finish(store)
        return cls(settings, store, reason=reason, reranker=reranker or reranker_for(settings))._catch_up()

    def _catch_up(self) -> Helix:
        store = self._store
        store.graph.rebuild_wanted = self._rebuild_graph
        if store.graph.needs_rebuild:
            self._rebuild_graph()
        self._worker.start()
        return self

    def _is_busy(self) -> bool:
        return any(job.state is JobState.RUNNING for job in self._jobs.all())

    def _mend(self, rows: Sequence[Row] = ()) -> None:
        """Build a graph that could not be built, now that something is written or asked: what kept it may have gone."""
        if self._store.graph.needs_rebuild and time.monotonic() > self._rebuilt_at + _BETWEEN_REBUILDS_SECONDS:
            self._rebuild_graph()

    def _rebuild_graph(self) -> None:
        """Have a job build the graph anew, unless other work goes on: its end is noticed in `_follow_job`."""
        if not self._closing and not self._is_busy():
            self._rebuilt_at = time.monotonic()
            with suppress(ConflictError):  # another thread was quicker
                self.rebuild()

    def _follow_job(self, job: Job) -> None:
        """Tell of a job; build the graph where the last job to end left it to be built, unless that failed."""
        self._events.tell_job(job)
        if job.state is JobState.RUNNING or self._closing or not self._store.graph.needs_rebuild:
            return
        given_up = job.kind == "rebuild" and job.state is not JobState.DONE
        if given_up:
            self._rebuilt_at = time.monotonic()  # another try soon would end the same way
        else:
            self._rebuild_graph()

    def at_work(self) -> bool:
        """Return whether a job or a piece of background work is being done just now."""
        return self._is_busy() or self._worker.status(1).running is not None

    def leave(self) -> None:
        """End what only the graph is still asked, before the service is closed: a statement may take long."""
        self._store.graph.leave()

    def close(self) -> None:
        """Stop the jobs, finish what is being written, and close the store."""
        self._closing = True
        self._reacting.close()
        self._router.close()  # first: a call under way would keep the worker
        self._worker.stop()
        self._jobs.close()
        self._recaller.close()
        self._store.close(self._answers.to_json())

    def __enter__(self) -> Helix:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def store(self, **fields: Any) -> StoreResult:
        """Remember something; the fields are those of `StoreRequest`."""
        self._store.check_capture()
        with self._foreground.request():
            return remember(self._store, StoreRequest(**fields))

    def edit(self, name_or_id: str, **fields: Any) -> Memory:
        """Write a new version of a memory; the fields are those of `EditRequest`."""
        return curate.edit(self._store, name_or_id, EditRequest(**fields))

    def forget(self, name_or_id: str) -> Memory:
        """Hide a memory from every recall, reversibly."""
        return curate.forget(self._store, name_or_id)

    def restore(self, name_or_id: str) -> Memory:
        """Bring a forgotten, archived or quarantined memory back."""
        return curate.restore(self._store, name_or_id)

    def confirm(self, name_or_id: str) -> Memory:
        """Have a person vouch for a memory."""
        return curate.confirm(self._store, name_or_id)

    def edge(self, source: str, target: str, relation: str, weight: float = 1.0, agent: str = "") -> Edge:
        """Create or strengthen an edge between two memories."""
        return links.link(self._store, source, target, relation, weight, agent)

    def decay(self, unused_days: float = 30, min_uses: int = 2, dry_run: bool = False) -> MaintenanceReport:
        """Halve the counters of memories unused for long."""
        return maintenance.decay(self._store, unused_days, min_uses, dry_run)

    def decay_edges(self, unused_days: float = 60, dry_run: bool = False) -> MaintenanceReport:
        """Halve the weight of edges unused for long."""
        return maintenance.decay_edges(self._store, unused_days, dry_run)

    def prune(self, min_effectiveness: float = 0.25, min_uses: int = 3, dry_run: bool = False) -> MaintenanceReport:
        """Archive memories that verified uses speak against."""
        return maintenance.prune(self._store, min_effectiveness, min_uses, dry_run)

    def pause(self, on: bool) -> bool:
        """Pause capture or go on; return what holds now.

        While it is paused nothing new comes in (stored, recorded, imported, noted as a gap, opened as a session) and no
        background job runs; recall and what people do to what is there (edits, feedback, undo and the like) go on.
        """
        self._store.writer.call(lambda: self._store.pause(on))
        self._worker.wake()
        return on

    def recall(self, query: RecallQuery) -> RecallAnswer:
        """Answer a question; the answer is kept as the last one of its session."""
        self._store.check_space()
        with self._foreground.request():
            answer = self._recaller.recall(query)
        if not is_private(self._store, query.session):
            self._answers.keep(answer)
        return answer

    def recall_by_type(
        self, query: str, kinds: Sequence[str], limit: int = 5, scope: str | None = None
    ) -> dict[Kind, RecallAnswer]:
        """Answer a question once for each kind."""
        wanted = [known_kind(kind) for kind in kinds] or list(Kind)
        return {kind: self.recall(RecallQuery(query=query, kinds=(kind,), limit=limit, scope=scope)) for kind in wanted}

    def similar_recent(
        self,
        trigger: str,
        threshold: float = 0.7,
        days: float = 7,
        kind: str | None = None,
        scope: str | None = None,
        limit: int = 10,
    ) -> list[SimilarMemory]:
        """Return memories of the last `days` whose cosine to the text is at least `threshold`, nearest first."""
        return neighbours.recent(
            self._store,
            trigger,
            threshold=threshold,
            days=days,
            kind=known_kind(kind) if kind else None,
            scope=scope,
            limit=limit,
        )

    def suggest_edges(self, name_or_id: str, limit: int = 5) -> list[EdgeSuggestion]:
        """Return edges that would be worth making from a memory."""
        return neighbours.suggest(self._store, memory_of(self._store, name_or_id), limit)

    def last(self, session: str = "") -> RecallAnswer | None:
        """Return the last answer given in a session (empty: in any), or None."""
        return self._answers.of(session)

    def why(self, name_or_id: str, session: str = "") -> RecallItem:
        """Return a memory's place in the last answer of a session; NotFoundError when it was not in it."""
        return self._answers.place_of(name_or_id, session)

    def get(self, name_or_id: str) -> Memory:
        """Return a memory by id or name."""
        return memory_of(self._store, name_or_id)

    def node(self, label: Label, node_id: str) -> Node:
        """Return any node by label and id."""
        return self._store.records.node(Ref(label=label, id=node_id))

    def edges(self, name_or_id: str | None = None, relation: str | None = None, limit: int = 100) -> list[Edge]:
        """Return edges of a memory (by name or id) or of any other node (by id), or of the whole graph."""
        return links.edges(self._store, name_or_id, relation, limit)

    def list_memories(
        self,
        *,
        scope: str | None = None,
        kinds: Sequence[str] = (),
        status: Status | None = Status.ACTIVE,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        """Return a page of memories, newest first."""
        wanted = [known_kind(kind) for kind in kinds]
        return listing.memories(self._store, scope=scope, kinds=wanted, status=status, limit=limit, after=after)

    def cypher(
        self,
        query: str,
        params: Mapping[str, Any] | None = None,
        timeout_ms: int | None = None,
        limit: int | None = None,
    ) -> CypherResult:
        """Run a read-only Cypher statement within its limits; raises CypherRefusedError and QueryTimeoutError."""
        self._mend()
        return ask.cypher(self._store, query, params, timeout_ms, limit)

    def graph_schema(self) -> list[GraphTable]:
        """Return the labels and relationships of the graph with their properties."""
        return ask.graph_schema(self._store)

    def stats(self, scope: str | None = None) -> Stats:
        """Count the memories of a scope, or of all."""
        return overview.stats(self._store, scope)

    def health(self) -> Health:
        """Say whether all is well, and what is not."""
        return overview.health(self._store, reason=self._reason, jobs=self._jobs.all())

    def status(self) -> StatusReport:
        """Describe the store, its model, files, jobs and warnings."""
        report = overview.status(self._store, reason=self._reason, jobs=self._jobs.all(), started_at=self._started_at)
        return replace(report, background=self._worker.status(), models=self._router.usage())

    def doctor(self) -> DoctorReport:
        """Compare the journal with what is served; a graph that waits to be built anew is begun with."""
        self._mend()
        return doctor.examine(self._store, building=self._store.graph.needs_rebuild and self._is_busy())

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have `callback` told of every change after it is durable; return a function that ends it.

        It runs on the writer's or a job's thread and must return at once.
        """
        return self._events.subscribe(callback)


def open_embedded(path: str | Path, **overrides: Any) -> Helix:
    """Open the store in the folder `path` inside this process, for scripts and tests.

    Refused with StoreLockedError while a daemon owns the store.
    """
    return Helix.open(configuration.load({"db_path": Path(path), **overrides}))


def set_aside_closed(settings: Settings) -> None:
    """Put a journal that cannot be opened aside, so that the next start makes a store for `recover` to fill.

    Raises StoreLockedError while the store is in use.
    """
    backup.set_aside_closed(settings.store_path, system_clock())


def restore_closed(settings: Settings, path: Path) -> Mapping[str, object]:
    """Put a backup in the place of a store that nobody has open, even of one that cannot be opened.

    Returns the `rows` of it, where the old journal is `kept` ("" where there was none), and `warnings`.
    """
    return backup.restore_closed(settings.store_path, path, system_clock())
