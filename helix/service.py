"""Helix: one open store with the parts that work on it, and the only place where they are put together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from helix import settings as configuration
from helix.agents.hook_events.dispatcher import HookDispatcher
from helix.errors import ConflictError, StoreError
from helix.journal.kept_results import Answers
from helix.memory.capture import sessions
from helix.memory.capture.sessions import is_private
from helix.memory.change.intake import Intake
from helix.memory.erasure import unfinished
from helix.memory.job_run.foreground import Foreground
from helix.memory.job_run.run import Watch
from helix.memory.worker.worker import MemoryWorker
from helix.model.clock import Clock, system_clock
from helix.model.ids import IdMaker, uuid7
from helix.model.memory import GLOBAL_SCOPE
from helix.model.operations import Row
from helix.model.recall import RecallAnswer, RecallQuery
from helix.model.reports import Job, JobState, SessionReport
from helix.model.requests import Request
from helix.model.work_item import WorkItem
from helix.providers.choose import reranker_for, router_for
from helix.providers.embedder import Embedder
from helix.providers.reranker import Reranker
from helix.recall.last import LastAnswers
from helix.recall.pipeline import Recaller, Turns
from helix.recall.recipes import recipe_named, recipes_of
from helix.settings import Settings
from helix.store import backup
from helix.store.change_events import ChangeEvents, Event
from helix.store.engine import OpensEngine
from helix.store.jobs import Jobs, Ticket
from helix.store.opening import open_store
from helix.store.store import Store
from helix.strands import arriving, recovering, sync
from helix.strands.keyring import Keyring
from helix.strands.watching import Watching

_BETWEEN_REBUILDS_SECONDS = 30.0
"""How long after a build that failed a change that is accepted has the graph built once more."""


class Helix:
    """The parts that operations work with; see `helix.operations` for what can be done. Safe from any thread."""

    def __init__(
        self, settings: Settings, store: Store, *, reason: str, reranker: Reranker, turns: Turns | None = None
    ) -> None:
        """Put the parts together; use `Helix.open`."""
        self.settings = settings
        self.store = store
        self.reason = reason
        self.started_at = store.runtime.clock()
        self.events = ChangeEvents()
        self.answers = LastAnswers()
        self.answers.from_json(store.kept_answers(), store.records.node)
        self.jobs = Jobs(clock=store.runtime.clock, make_id=store.runtime.make_id, changed=self._follow_job)
        self.recaller = Recaller(
            catalogue=store.catalogue,
            projection=store.projection,
            vectors=store.vectors,
            records=store.records,
            embed=store.embed_query if store.runtime.embedder is not None else None,
            reranker=reranker,
            clock=store.runtime.clock,
            settings=settings,
            turns=turns,
        )
        self.foreground = Foreground()
        self.worker = MemoryWorker(store, self.foreground, busy=self.is_busy, told=self.events.tell_work)
        store.replaced = partial(self.tell_store, "content")
        self.hooks = HookDispatcher(
            store, self.recall, close_session=self.close_session, flush=self.flush, foreground=self.foreground
        )
        store.erased = self._forget_words
        self.router = router_for(settings, Answers(store.journal.database), clock=store.runtime.clock)
        self.watching = Watching(store, self.sync)
        self._closing = False
        self._rebuilt_at = -_BETWEEN_REBUILDS_SECONDS
        store.runtime.language_model = self.router if self.router.available else None
        store.writer.listen(self.events.tell_rows)
        store.writer.listen(self.mend_graph)

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
            helix = cls(settings, store, reason=reason, reranker=reranker or reranker_for(settings), turns=turns)
        except BaseException:
            store.close()
            raise
        try:
            helix._begin()
        except BaseException:  # nobody else could close it, and it would stay locked
            helix.close()
            raise
        return helix

    def _begin(self) -> None:
        """Go on with what was under way when the store was closed."""
        self.store.graph.rebuild_wanted = self._want_rebuild
        if self.store.graph.needs_rebuild:
            self._want_rebuild()
        recovering.recover(self.store, self._bring_to_end)
        self.worker.start()
        if not self.settings.one_of_many:  # a tenant's store may have come from a laptop, whose places are none here
            self.watching.start()

    def _bring_to_end(self, rest: Callable[[Watch], None]) -> None:
        """Do the rest of a job of strands that was cut short, as one."""

        def work(ticket: Ticket) -> Mapping[str, Any]:
            with self.worker.standing_still():
                rest(ticket)
            return {}

        self.jobs.start(arriving.JOB, work)

    def _forget_words(self) -> None:
        """Let go of all that may repeat what was erased: what was answered, is listed by jobs or waits to be told."""
        self.hooks.forget_words()
        self.jobs.forget_words()
        self.answers.clear()

    def leave(self) -> None:
        """End what only the graph is still asked, before the service is closed: a statement may take long."""
        self.store.graph.leave()

    def close(self) -> None:
        """Close the service: stop the jobs, finish what is being written, and close the store."""
        self._closing = True
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

    @contextmanager
    def beside(self, folder: Path) -> Iterator[Store]:
        """Lend a service over another store, in a folder of its own, with the models of this one; closed afterwards."""
        runtime, settings = self.store.runtime, replace(self.settings, db_path=folder, engine="")
        other = Store(settings, embedder=runtime.embedder, clock=runtime.clock, make_id=runtime.make_id)
        with closing(other):
            yield other

    def recall(self, query: RecallQuery) -> RecallAnswer:
        """Answer a question put to the service; the answer is kept as the last one of its session."""
        self.store.check_space()
        with self.foreground.request():
            answer = self.recaller.recall(query)
        if not is_private(self.store.journal, query.session):
            self.answers.keep(answer)
        return answer

    def close_session(self, name: str, scope: str = GLOBAL_SCOPE) -> SessionReport:
        """End a session of the service, and have what is new in its scope consolidated."""
        report = sessions.close_session(self.store, name, scope)
        if not report.private:
            self.worker.session_ended(report.scope)
        return report

    def flush(self, scope: str | None = None) -> WorkItem:
        """Have the service consolidate what happened in a scope (None: in all) now, without waiting for more."""
        self.store.check_capture()
        return self.worker.flush(None if scope is None else Intake(self.settings.text_limit).scope(scope))

    def sync(self, place: str, *, key: str | None = None, passphrase: str | None = None) -> Job:
        """Have the service exchange strands with a place, as a job; see `helix.strands.sync`. ConflictError: one is."""
        keyring = Keyring(self.settings.home, now=self.store.runtime.clock())

        def work(ticket: Ticket) -> Mapping[str, Any]:
            still = self.worker.standing_still
            return sync.carry_out(
                self.store, place, keyring, key=key, passphrase=passphrase, ticket=ticket, still=still
            )

        return self.jobs.start(arriving.JOB, work)

    def acting(self, actor: str) -> AbstractContextManager[None]:
        """Have the changes asked of the service meanwhile, here or in jobs begun here, name who asked for them."""
        return self.store.writer.acting(actor)

    def request(self, request: Request) -> AbstractContextManager[None]:
        """Have what this thread asks of the service meanwhile count once, however often the request is sent."""
        return self.store.writer.request(request)

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Have `callback` told of the service's changes once durable; return a function that ends it.

        It runs on the writer's or a job's thread and must return at once.
        """
        return self.events.subscribe(callback)

    def tell_store(self, what: str) -> None:
        """Tell the service's subscribers that of the store as a whole something is otherwise now."""
        self.events.tell_store(self.store.journal.store_id, what)

    def is_busy(self) -> bool:
        """Return whether the service does a job just now."""
        return any(job.state is JobState.RUNNING for job in self.jobs.all())

    def at_work(self) -> bool:
        """Return whether the service does a job or a piece of background work just now."""
        return self.is_busy() or self.worker.at_work

    def rebuild_graph(self) -> Job:
        """Have the service make good what the journal's state lacks, and build the graph anew, while recall goes on."""

        def work(ticket: Ticket) -> Mapping[str, Any]:
            ticket.progress(0, 0, "comparing the state with the log")
            if self.store.journal.compare_state().differences:  # making good lets nobody write until it is done
                self.store.make_good()
            replayed = self.store.rebuild_graph(ticket)
            return {"replayed": replayed, **self.store.records.counts()}

        return self.jobs.start("rebuild", work)

    def mend_graph(self, rows: Sequence[Row] = ()) -> None:
        """Have the service build a graph that could not be built.

        Now that something is written or asked, what kept it may have gone.
        """
        if self.store.graph.needs_rebuild and time.monotonic() > self._rebuilt_at + _BETWEEN_REBUILDS_SECONDS:
            self._want_rebuild()

    def _want_rebuild(self) -> None:
        """Have a job build the graph anew, unless other work goes on: its end is noticed in `_follow_job`."""
        if not self._closing and not self.is_busy():
            self._rebuilt_at = time.monotonic()
            with suppress(ConflictError):  # another thread was quicker
                self.rebuild_graph()

    def _follow_job(self, job: Job) -> None:
        """Tell of a job; build the graph where the last job to end left it to be built, unless that failed."""
        self.events.tell_job(job)
        if job.state is JobState.RUNNING or self._closing or not self.store.graph.needs_rebuild:
            return
        given_up = job.kind == "rebuild" and job.state is not JobState.DONE
        if given_up:
            self._rebuilt_at = time.monotonic()  # another try soon would end the same way
        else:
            self._want_rebuild()


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
