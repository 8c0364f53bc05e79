"""Helix: one open store with the parts that work on it, and the only place where they are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from helix import settings as configuration
from helix.agents.hook_events.dispatcher import HookDispatcher
from helix.errors import StoreError
from helix.journal.kept_results import Answers
from helix.memory.capture.session_recall import SessionRecall
from helix.memory.erasure import unfinished
from helix.memory.job_run.foreground import Foreground
from helix.memory.worker.worker import MemoryWorker
from helix.model.clock import Clock, system_clock
from helix.model.ids import IdMaker, uuid7
from helix.providers.choose import reranker_for, router_for
from helix.providers.embedder import Embedder
from helix.providers.litellm_router import Router
from helix.providers.reranker import Reranker
from helix.recall.last import LastAnswers
from helix.recall.pipeline import Recaller, Turns
from helix.recall.recipes import recipe_named, recipes_of
from helix.settings import Settings
from helix.store import backup, erasing
from helix.store.change_events import ChangeEvents
from helix.store.engine import OpensEngine
from helix.store.graph_rebuilds import GraphRebuilds
from helix.store.jobs import Jobs
from helix.store.opening import open_store
from helix.store.store import Store
from helix.strands import recovering, sync, whole
from helix.strands.watching import Watching


@dataclass(frozen=True, kw_only=True, eq=False)
class Helix:
    """The parts that operations work with; see `helix.operations` for what can be done. Safe from any thread."""

    settings: Settings
    store: Store
    reason: str
    """A sentence on the embedding model, or on why there is none."""
    started_at: datetime
    events: ChangeEvents
    answers: LastAnswers
    jobs: Jobs
    graph_rebuilds: GraphRebuilds
    foreground: Foreground
    recaller: Recaller
    recall: SessionRecall
    worker: MemoryWorker
    hooks: HookDispatcher
    router: Router
    watching: Watching

    @classmethod
    def open(
        cls,
        settings: Settings,
        *,
        clock: Clock = system_clock,
        make_id: IdMaker = uuid7,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        engine: OpensEngine | None = None,
        turns: Turns | None = None,
    ) -> Helix:
        """Open the service: the store of the settings, with models, tables and threads unless others are handed in.

        What is missing is made good in the background: a graph that could not be used, vectors of passages that were
        stored without a model. Raises StoreLockedError, StoreTooNewError, StoreCorruptError, DiskFullError.
        """
        recipe_named(settings.recipe, recipes_of(settings.recipes))  # wrong ones are told of before anything is open
        store, reason = open_store(settings, embedder=embedder, clock=clock, make_id=make_id, engine=engine)
        unfinished.finish(store)
        try:
            helix = cls._put_together(store, reason, reranker or reranker_for(settings), turns)
        except BaseException:
            store.close()
            raise
        try:
            helix._begin()
        except BaseException:  # nobody else could close it, and it would stay locked
            helix.close()
            raise
        return helix

    @classmethod
    def _put_together(cls, store: Store, reason: str, reranker: Reranker, turns: Turns | None) -> Helix:
        settings, clock, make_id = store.runtime.settings, store.runtime.clock, store.runtime.make_id
        events, foreground, jobs = ChangeEvents(), Foreground(), Jobs(clock=clock, make_id=make_id)
        answers = LastAnswers()
        answers.from_json(store.kept_answers(), store.records.node)
        recaller = Recaller(
            catalogue=store.catalogue,
            projection=store.projection,
            vectors=store.vectors,
            records=store.records,
            embed=store.embed_query if store.runtime.embedder is not None else None,
            reranker=reranker,
            clock=clock,
            settings=settings,
            turns=turns,
        )
        recall = SessionRecall(store, recaller, answers, foreground)
        worker = MemoryWorker(store, foreground, busy=jobs.are_running, told=events.tell_work)
        return cls(
            settings=settings,
            store=store,
            reason=reason,
            started_at=clock(),
            events=events,
            answers=answers,
            jobs=jobs,
            graph_rebuilds=GraphRebuilds(store, jobs),
            foreground=foreground,
            recaller=recaller,
            recall=recall,
            worker=worker,
            hooks=HookDispatcher(store, recall, worker, foreground),
            router=router_for(settings, Answers(store.journal.database), clock=clock),
            watching=Watching(store, partial(sync.start, store, jobs, worker)),
        )

    def _begin(self) -> None:
        """Have the parts hear of each other, and go on with what was under way when the store was closed."""
        store = self.store
        store.runtime.language_model = self.router if self.router.available else None
        store.replaced = lambda: self.events.tell_store(store.journal.store_id, "content")
        store.erased = self._forget_words
        store.writer.listen(self.events.tell_rows)
        self.jobs.listen(self.events.tell_job)
        self.graph_rebuilds.begin()
        recovering.recover(store, self.jobs, self.worker)
        self.worker.start()
        if not self.settings.one_of_many:  # a tenant's store may have come from a laptop, whose places are none here
            self.watching.start()

    def _forget_words(self) -> None:
        """Forget all that may repeat what was erased: what was answered, is listed by jobs or waits to be told."""
        self.hooks.forget_words()
        self.jobs.forget_words()
        self.answers.clear()

    def left_unfinished(self) -> bool:
        """Whether an erasure, an import or a rollback is no job any more and not whole: the next opening ends that.

        Raises what asking the journal does.
        """
        journal = self.store.journal
        if self.jobs.are_running():
            return False
        return erasing.under_way(journal) is not None or whole.under_way(journal) is not None

    def close(self) -> None:
        """Close the service: stop the jobs, finish what is being written, and close the store."""
        self.graph_rebuilds.stop()
        self.watching.stop()
        self.hooks.close()
        self.router.close()  # first: a call under way would keep the worker
        self.worker.stop()
        self.jobs.close()
        self.recaller.close()
        self.store.close(self.answers.to_json())

    def __enter__(self) -> Helix:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_embedded(path: str | Path, **overrides: Any) -> Helix:
    """Open the service over the store in the folder `path` inside this process, for scripts and tests.

    Refused with StoreLockedError while a daemon owns the store.
    """
    return Helix.open(configuration.load({"db_path": Path(path), "engine": "", **overrides}))


def _check_has_file(settings: Settings) -> None:
    if settings.engine:
        raise StoreError(
            "a server keeps this store's journal: there is no file to put in its place",
            hint="restore it with the server's own tools",
        )


def set_aside_closed(settings: Settings) -> None:
    """Put a service's unreadable journal aside, so that the next start makes a store for `recover` to fill.

    Raises StoreLockedError while the store is in use.
    """
    _check_has_file(settings)
    backup.set_aside_closed(settings.store_path, system_clock())


def restore_closed(settings: Settings, path: Path) -> Mapping[str, object]:
    """Restore a backup to a store whose service is not open, even to one that cannot be opened.

    Returns the `rows` of it, where the old journal is `kept` ("" where there was none), and `warnings`.
    """
    _check_has_file(settings)
    return backup.restore_closed(settings.store_path, path, system_clock())
