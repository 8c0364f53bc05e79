"""The store: opens everything one folder holds, in the order that makes it safe, and closes it again."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

from helix import files
from helix.errors import DaemonError, EmbeddingSpaceError, HelixError, PausedError
from helix.graph.graph_files import Place
from helix.graph.graph_follower import GraphFollower
from helix.journal import witnesses
from helix.journal.backend import Backend
from helix.journal.erase import LAST_ANSWERS
from helix.journal.log import Journal
from helix.journal.memory_rows import MemoryRows
from helix.journal.state import Records
from helix.journal.work_queue import Work
from helix.lock import StoreLock
from helix.model.clock import Clock, system_clock, to_micros
from helix.model.edge import Ref
from helix.model.ids import IdMaker, uuid7
from helix.model.loss import Loss
from helix.model.operations import DropEdge, Row
from helix.on_demand_thread import OnDemandThread
from helix.providers.embedder import Embedder, EmbeddingSpace, Vectors
from helix.settings import Settings
from helix.store import moving, snapshot
from helix.store.catalogue import Catalogue
from helix.store.engine import GRAPH_NAME, IMAGE_NAME, JOURNAL_NAME, OpensEngine, open_engine
from helix.store.index import StoreIndex
from helix.store.jobs import Ticket
from helix.store.log_check import LogCheck
from helix.store.near_pairs import NearPairs
from helix.store.projection import Projection
from helix.store.runtime import Runtime
from helix.store.snapshot import ImageKeeper
from helix.store.writer import Decision, Writer
from helix.text.tokens import lexical_tokens

log = logging.getLogger(__name__)

GRAPH_LOCK_NAME = "graph.lock"
PAUSED, WORK_PAUSED = "paused", "work_paused"
_LEAST_ROWS_IN_IMAGE = 5_000
_LEAST_POOL_MB = 128
"""Page memory of a graph that holds vectors: with 64 MiB Kuzu could not follow 5,000 of them (measured)."""
_CHECKED_AT_START, _CHECKED_BYTES = 1_000, 1 << 20
"""Rows of the log up to which the state is compared with a replay of them at every start: 0.1 s; and bytes of them, as
a row of an import has thousands of changes."""
KEPT_JOURNAL = "journal.kept-"
"""How the names of journals begin that a restore put aside."""


_NO_EDGES = Projection().snapshot
_PARTS = (
    *(("logs/", "logs"), (KEPT_JOURNAL, "aside"), (witnesses.KNOWS_MORE, "aside"), (".aside-", "aside")),
    *((JOURNAL_NAME, "journal"), (GRAPH_NAME, "graph"), (IMAGE_NAME, "image")),
)
"""What of a file's place in the store says which part it belongs to, the first that fits."""

_MOST_KEPT = 8
_COSTLY_SECONDS = 0.5
_TIMES_AS_LONG = 30
"""How many times as long as it took an answer is good for though the store has changed: it takes a thirtieth then."""

QUIET_SECONDS = 2.0
"""How long nothing has been written when the log is folded in."""


def _unreadable_state(journal: Journal, at: int) -> Loss:
    """Return the loss of rows that neither the state nor the damaged log can tell."""
    last = journal.last_seq
    why = "rows of the state that cannot be read, beside a damaged log"
    return Loss(found_at=at, store=journal.store_id, held=last, known=last, witnesses=(why,))


class Store:
    """One store's files and what is held of them in memory: `index` answers, `records` reads by id, `writer` writes.

    `runtime` is what all of them take from around the store: settings, clock, ids and models.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        embedder: Embedder | None,
        clock: Clock = system_clock,
        make_id: IdMaker = uuid7,
        engine: OpensEngine | None = None,
    ) -> None:
        """Lock and open the store at `settings.store_path`, making it where there is none; with the tables that the
        settings name, or those that `engine` opens. Raises StoreLockedError, StoreTooNewError, StoreCorruptError (the
        journal) or DiskFullError.
        """
        self.runtime = Runtime(settings=settings, embedder=embedder, clock=clock, make_id=make_id)
        self.deriving = threading.Lock()
        """Held by whoever derives memories from episodes: there is one at a time."""
        self.copying = threading.RLock()
        """Held by whoever copies the journal, puts a copy or what it once held in its place, merges a strand, or erases
        something everywhere: what is begun before an erasure and ends after it would keep what was erased."""
        self.path = settings.store_path
        files.private_folder(self.path)
        self._lock = StoreLock(self.path)
        self._lock.acquire()
        self._backend: Backend | None = None
        try:
            self._open(engine)
        except BaseException:
            if self._backend is not None:
                self._backend.close()
            self._lock.release()
            raise

    def _open(self, opens: OpensEngine | None) -> None:
        settings, clock = self.runtime.settings, self.runtime.clock
        engine = open_engine(settings, self.path, to_micros(clock())) if opens is None else opens(self.path)
        self._backend = engine.backend
        self.journal = Journal(engine.backend, tokenise=lexical_tokens, mark=engine.mark)
        moving.check_here(self.journal.meta, to_clients=settings.one_of_many)
        witnesses.learn_losses(self.journal, self.path)
        if self.journal.is_served:
            witnesses.examine_served(self.journal, engine.mark, self.path / GRAPH_NAME, to_micros(clock()))
        self.memory_rows = MemoryRows(self.journal)
        self.near_pairs = NearPairs()
        self.costly = CostlyAnswers()
        self.work = Work(self.journal.database, clock=clock, make_id=self.runtime.make_id)
        self._serving = False
        self.replaced: Callable[[], None] = lambda: None
        """Told when all that is held in memory was read anew: rows and what they hold may be others."""
        self.erased: Callable[[], None] = lambda: None
        """Told when something was erased: whoever keeps words of what happened in memory lets go of them."""
        self.journal.make_good = self.make_good
        self.records = Records(self.journal.database, self.make_good, self._edges_known)
        self.paused = self.journal.meta(PAUSED) == "1"
        """Whether capture is paused; kept in the journal."""
        self.mismatch = self._pin(None if self.runtime.embedder is None else self.runtime.embedder.space)
        self.catalogue = Catalogue(self.dimension or 0, salience_floor=settings.salience_floor)
        self.projection = Projection()
        self.images = ImageKeeper(
            self.path / IMAGE_NAME, self.journal, self.catalogue, self.projection, least_rows=_LEAST_ROWS_IN_IMAGE
        )
        checks = not settings.one_of_many  # a tenant is opened again and again, and its server looks after its pages
        mended = checks and self._check_state()
        if mended or not self.images.load():
            self.reload()
        if settings.low_memory:
            self.images.trim()
        place = Place(
            graph=str(self.path.absolute() / GRAPH_NAME),
            journal=engine.address,
            tenant=engine.tenant,
            lock=str(self.path.absolute() / GRAPH_LOCK_NAME),
            vectors=not settings.low_memory,
            buffer_pool_bytes=max(settings.buffer_pool_mb, 0 if settings.low_memory else _LEAST_POOL_MB) << 20,
            max_db_bytes=settings.max_db_gb << 30,
            threads=settings.kuzu_threads,
            reopen_after=settings.reopen_after,
            heap_bytes=settings.graph_memory_mb << 20,
        )
        self.graph = GraphFollower(self.journal, place, clock=clock, when_asked=settings.one_of_many)
        self.vectors = engine.vectors or self.graph
        self.writer = Writer(self.journal, self.records, self.graph, self.catalogue, self.projection, clock=clock)
        self.writer.listen(self.images.note)
        self.folding = IdleFold(self.journal)
        if not engine.tenant:
            self.writer.listen(self.folding.note)
        self.log_check = LogCheck(self.journal, begins=checks)
        self._serving = True
        if mended:
            self._renew_graph()

    def _pin(self, space: EmbeddingSpace | None) -> str:
        """Pin the embedder's space in a store without vectors; return why it may not be used here, or an empty string.

        One that was pinned and made no vector, as its model cannot be used, gives way.
        """
        spaces = self.journal.spaces
        pinned = spaces.active()
        if space is None or (pinned and (pinned.dimension, pinned.digest) == (space.dimension, space.digest)):
            return ""
        if pinned is None or spaces.is_unused(pinned.id):
            spaces.activate(spaces.prepare(model=space.model, dimension=space.dimension, digest=space.digest))
            return ""
        return (
            f"the store's vectors were made with {pinned.model} ({pinned.dimension} dimensions), "
            f"the model that is set is {space.model} ({space.dimension} dimensions)"
        )

    @property
    def dimension(self) -> int | None:
        """The dimension of the store's vectors, or None while it has none."""
        pinned = self.journal.spaces.active()
        return None if pinned is None else pinned.dimension

    def check_space(self) -> None:
        """Raise EmbeddingSpaceError when the model that is set is not the store's."""
        if self.mismatch:
            raise EmbeddingSpaceError(
                self.mismatch, hint="run `helix reembed`, or set the embedding model back (`helix config`)"
            )

    def rebuild_graph(self, ticket: Ticket) -> int:
        """Build the store's graph anew from the journal, put it in place, return how many rows were replayed on top.

        Raises GraphUnavailableError when the job is stopped: the graph stays as it is then.
        """

        def progress(stage: str, done: int, total: int) -> None:
            ticket.progress(done, total, f"graph: {stage}")

        with self.graph.building:
            try:
                return self.graph.swap(self.graph.build(progress, ticket.stopping))
            except Exception as error:  # passed on; `trouble` says until then that the graph is being rebuilt
                if self.graph.needs_rebuild:
                    self.graph.trouble = f"the graph could not be rebuilt: {error}"
                raise

    def check_capture(self) -> None:
        """Raise PausedError while capture is paused in the store."""
        if self.paused:
            raise PausedError("capture is paused: nothing new is ingested", hint="`helix pause --off` goes on")

    def pause(self, on: bool) -> None:
        """Pause the store's capture or go on, and keep when that was; on the writer's thread."""
        self.journal.set_meta(PAUSED, "1" if on else str(to_micros(self.runtime.clock())))
        self.paused = on

    def adopt_space(self, space: int) -> None:
        """Make a space that holds every passage's vector the store's own; on the writer's thread."""
        self.graph.drop("its vectors belong to the former embedding model; it is being rebuilt")
        self.journal.spaces.activate(space)
        self.mismatch = ""
        self.reload()

    def take_over(self, backup: Path) -> None:
        """Replace all the store holds by a checked backup; on the writer's thread. The graph is to be rebuilt then."""
        self.graph.drop("a backup was restored; the graph is being rebuilt", with_file=True)
        self.images.forget()  # it knows more than the backup may, which is no loss
        self.journal.restore_from(backup)
        self.paused = self.journal.meta(PAUSED) == "1"
        self.mismatch = self._pin(None if self.runtime.embedder is None else self.runtime.embedder.space)
        self.reload()

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the vectors of texts as bytes, or None for each where the store works without a model."""
        self.check_space()
        if self.runtime.embedder is None or not texts:
            return [None] * len(texts)
        return [row.tobytes() for row in self.runtime.embedder.embed(texts)]

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question in the form of the store's model, shape (dimension,).

        Only where there is a model.
        """
        self.check_space()
        assert self.runtime.embedder is not None
        vector: Vectors = self.runtime.embedder.embed([self.runtime.embedder.query_prefix + text])[0]
        return vector

    @property
    def index(self) -> StoreIndex:
        """What is in the store at this moment; it stays as it is for whoever holds it."""
        graph = self.projection.snapshot  # first, so that every row of it is in the view
        view = self.catalogue.view
        return StoreIndex(view, graph if graph.generation == view.generation else _NO_EDGES, self.records)

    def _edges_known(self, ref: Ref) -> list[DropEdge] | None:
        """Return the edges at a node as the projection has them; None for a node it cannot have."""
        index = self.index
        return index.edges_at(ref) if index.whole and ref in index else None

    def reload(self) -> None:
        """Read what the store holds in memory anew from the journal; on the writer's thread, between two changes."""
        self.images.forget()
        try:
            self._read_all()
        except Exception:  # whatever a damaged row makes of reading it
            if not self.make_good():
                raise
            self._read_all()
        self.replaced()

    def _read_all(self) -> None:
        self.records.forget()
        snapshot.fill(self.journal, self.catalogue, self.projection, self.dimension or 0)

    def _is_small(self) -> bool:
        """Whether replaying the log takes no time that anybody would notice at a start."""
        return self.journal.last_seq <= _CHECKED_AT_START and self.journal.log_bytes() <= _CHECKED_BYTES

    def _check_state(self) -> bool:
        """Compare the state with a small log and make it good where they differ; return whether it was."""
        try:
            return self._is_small() and bool(self.journal.compare_state().differences) and self.make_good()
        except HelixError as error:  # whoever needs what cannot be read says so
            log.warning("the state was not compared with its log", extra={"error": str(error)})
            return False

    def make_good(self) -> bool:
        """Make the state of the store's journal anew from its log where they differ; return whether they did.

        Memory and graph are read anew then: they may have been filled from the damaged rows. Rows that the log cannot
        tell any more, because it is damaged as well, are noted as a loss.
        """
        found = self.journal.restate()
        if not found.differences:
            return False
        self.records.forget()
        told = "; ".join(one.sentence for one in found.differences)
        log.error("the state differed from its log and was made anew", extra={"differences": told})
        if found.lost:
            witnesses.note_loss(
                self.journal, self.path, _unreadable_state(self.journal, to_micros(self.runtime.clock()))
            )
        if self._serving:
            self._renew_graph()
            with suppress(DaemonError):  # the store is closing
                self.writer.begin(self._reloaded)
        return True

    def _renew_graph(self) -> None:
        self.graph.drop("the state was made anew from the log; the graph is being rebuilt")
        self.graph.rebuild_wanted()

    def _reloaded(self) -> Decision[None]:
        self.reload()
        return Decision((), None)

    def disk_bytes(self) -> dict[str, int]:
        """Return the store's bytes on disk by part: journal, graph, image of the memory, what was moved aside, logs."""
        parts = dict.fromkeys(("journal", "graph", "image", "aside", "logs"), 0)
        for file in self.path.rglob("*"):
            place = file.relative_to(self.path).as_posix()
            part = next((part for name, part in _PARTS if name in place), "")
            with suppress(FileNotFoundError):  # it was folded in or moved aside meanwhile
                if part and file.is_file():
                    parts[part] += file.stat().st_size
        return parts

    def kept_answers(self) -> str:
        """Return the last answers that the store's `close` kept; `{}` where there is nothing."""
        return self.journal.meta(LAST_ANSWERS) or "{}"

    def close(self, answers: str = "{}") -> None:
        """Close the store: finish the writer's queue, keep the last answers, let go of the files; twice is no error."""
        if self.journal.database.closed:
            return
        with ExitStack() as closing:  # whatever one of these raises, the others are closed, the last one first
            for close in (self._lock.release, self.journal.close, self.graph.close, self.images.close):
                closing.callback(close)
            self.writer.close()
            self.log_check.close()
            self.folding.close()
            try:
                self.journal.set_meta(LAST_ANSWERS, answers)
            except HelixError as error:  # no room, or another process writes the tenant by now
                log.warning("the last answers are not kept", extra={"error": str(error)})


class _KeptAnswer(NamedTuple):
    generation: int
    seq: int
    until: float
    answer: Any


class CostlyAnswers:
    """The last answers to questions about a whole store. Safe from any thread; whoever asks the same at once waits."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """`now` returns seconds."""
        self._now = now
        self._guard = threading.Lock()
        self._kept: dict[Hashable, _KeptAnswer] = {}

    def of(self, question: Hashable, generation: int, seq: int, work: Callable[[], Any]) -> Any:
        """Return the answer that `work` gives to a question about a store at a generation and a row of its log.

        An answer is given again as long as the store is as it was, and one that took long for some time after that.
        """
        with self._guard:
            kept = self._kept.pop(question, None)
            if kept is None or kept.generation != generation or (kept.seq != seq and self._now() >= kept.until):
                kept = self._worked_out(generation, seq, work)
            self._kept[question] = kept
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            return kept.answer

    def _worked_out(self, generation: int, seq: int, work: Callable[[], Any]) -> _KeptAnswer:
        started = self._now()
        answer = work()
        seconds = self._now() - started
        longer = _TIMES_AS_LONG * seconds if seconds > _COSTLY_SECONDS else 0.0
        return _KeptAnswer(generation, seq, started + seconds + longer, answer)


class IdleFold:
    """Folds the log of a journal's file in, in a thread of its own. `note` is told of every change."""

    def __init__(self, journal: Journal, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._journal = journal
        self._quiet_seconds = quiet_seconds
        self._written_at = -math.inf
        self._thread = OnDemandThread("helix-fold", self._look)
        self._unfolded = self._closed = False

    def note(self, rows: Sequence[Row]) -> None:
        """Take notice of a change of the store, whose journal is folded in once it rests."""
        self._written_at = time.monotonic()
        if not self._unfolded:
            self._unfolded = True
            self._thread.wake()

    def close(self) -> None:
        """End the thread that folds the store's journal in; closing twice is no error."""
        self._closed = True
        self._thread.close()

    def _look(self) -> float | None:
        """Fold in where nothing was written lately; return the seconds until the next look, None: after a change."""
        left = self._written_at + self._quiet_seconds - time.monotonic()
        if self._closed or left > 0:
            return left
        self._unfolded = False
        try:
            if self._journal.fold_in_now():
                return None
        except HelixError as error:  # nothing is lost by that: the log stays as it is
            log.warning("the journal's log is not folded in", extra={"error": str(error)})
            return None
        self._unfolded = True  # somebody reads an older state: later
        return self._quiet_seconds
