"""The store: opens everything one folder holds, in the order that makes it safe, and closes it again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import cast

import numpy as np

from helix.errors import DiskFullError, EmbeddingSpaceError, PausedError, StoreCorruptError
from helix.graph.kuzu_engine import KuzuOptions
from helix.journal.database import PAGE_CACHE_KIB
from helix.journal.erase import LAST_ANSWERS
from helix.journal.log import Journal
from helix.journal.state import Records
from helix.journal.work import Work
from helix.lock import StoreLock
from helix.model.clock import Clock, system_clock, to_micros
from helix.model.edge import Label, Ref
from helix.model.ids import IdMaker, uuid7
from helix.model.memory import Memory, Status
from helix.model.operations import DropEdge
from helix.model.records import Node
from helix.providers.embedder import Embedder, EmbeddingSpace, Vectors
from helix.providers.llm import LanguageModel
from helix.settings import Settings
from helix.store import renewing
from helix.store.catalogue import Catalogue
from helix.store.columns import LABEL_CODE, STATUS_CODE
from helix.store.csr import RELATIONS
from helix.store.jobs import Ticket
from helix.store.keeping import ImageKeeper
from helix.store.projection import Projection
from helix.store.replay import GraphFollower
from helix.store.writer import Writer
from helix.text.tokens import lexical_tokens

log = logging.getLogger(__name__)

JOURNAL_NAME = "journal.db"
GRAPH_NAME = "graph.kuzu"
IMAGE_NAME = "memory.image"
PAUSED = "paused"
_LEAST_ROWS_IN_IMAGE = 5_000
_LITTLE_PAGE_CACHE_KIB = 2_048
KEPT_JOURNAL = "journal.kept-"
"""How the names of journals begin that a restore put aside."""


class Store:
    """One store's files and what is held of them in memory, with the embedder, clock and ids that writes use."""

    def __init__(
        self,
        settings: Settings,
        *,
        embedder: Embedder | None,
        clock: Clock = system_clock,
        make_id: IdMaker = uuid7,
    ) -> None:
        """Lock and open the store at `settings.store_path`, making it where there is none.

        Raises StoreLockedError, StoreTooNewError, StoreCorruptError (the journal) or DiskFullError.
        """
        self.settings = settings
        self.embedder = embedder
        self.clock = clock
        self.make_id = make_id
        self.language_model: LanguageModel | None = None
        """What background work may ask; None where no provider is set up. Set by whoever opens the store."""
        self.deriving = threading.Lock()
        """Held by whoever derives memories from episodes: there is one at a time."""
        self.path = settings.store_path
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = StoreLock(self.path)
        self._lock.acquire()
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise

    def _open(self) -> None:
        settings, clock = self.settings, self.clock
        cache = _LITTLE_PAGE_CACHE_KIB if settings.low_memory else PAGE_CACHE_KIB
        self.journal = Journal(self.path / JOURNAL_NAME, tokenise=lexical_tokens, page_cache_kib=cache)
        self.work = Work(self.journal.database, clock=clock, make_id=self.make_id)
        self.records = Records(self.journal.database, self._restate, self._edges_known)
        self.paused = self.journal.meta(PAUSED) == "1"
        """Whether capture is paused; kept in the journal."""
        self.mismatch = self._pin(None if self.embedder is None else self.embedder.space)
        self.catalogue = Catalogue(self.dimension or 0, salience_floor=settings.salience_floor)
        self.projection = Projection()
        self.images = ImageKeeper(
            self.path / IMAGE_NAME, self.journal, self.catalogue, self.projection, least_rows=_LEAST_ROWS_IN_IMAGE
        )
        if not self.images.load():
            self.reload()
        if settings.low_memory:
            self.images.trim()
        options = KuzuOptions(
            buffer_pool_bytes=settings.buffer_pool_mb << 20,
            max_db_bytes=settings.max_db_gb << 30,
            threads=settings.kuzu_threads,
            reopen_after=settings.reopen_after,
            vectors=not settings.low_memory,
        )
        self.graph = GraphFollower(self.path / GRAPH_NAME, self.journal, self.records, options=options, clock=clock)
        fresh = not self.graph.path.exists() and self.journal.last_seq == 0
        self.opens_slowly = self.graph.opens_slowly()
        """Whether `open_graph` is still to be called; everything but Cypher goes on without."""
        self.needs_rebuild = False if self.opens_slowly else not self.graph.open()
        if fresh:
            self.graph.swap(self.graph.build(_silent))
            self.needs_rebuild = False
        self.writer = Writer(self.journal, self.graph, self.catalogue, self.projection, clock=clock)
        self.writer.listen(self.images.note)

    def _pin(self, space: EmbeddingSpace | None) -> str:
        """Pin the embedder's space in a store that has none; return why it may not be used here, or an empty string."""
        if space is None:
            return ""
        pinned = self.journal.spaces.active()
        if pinned is None:
            spaces = self.journal.spaces
            spaces.activate(spaces.prepare(model=space.model, dimension=space.dimension, digest=space.digest))
            return ""
        if (pinned.dimension, pinned.digest) == (space.dimension, space.digest):
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
        """Build the graph anew from the journal and put it in place; return how many rows were replayed on top.

        Raises GraphUnavailableError when the job is stopped: the graph stays as it is then.
        """

        def progress(stage: str, done: int, total: int) -> None:
            ticket.progress(done, total, f"graph: {stage}")

        with self.graph.building:
            try:
                built = self.graph.build(progress, ticket.stopping)
                replayed = self.writer.call(lambda: self.graph.swap(built))
            except Exception as error:  # passed on; `trouble` says until then that the graph is being rebuilt
                if not self.graph.available:
                    self.graph.trouble = f"the graph could not be rebuilt: {error}"
                raise
        self.needs_rebuild = not self.graph.available
        return replayed.applied

    def open_graph(self) -> bool:
        """Open a graph that takes long to; False, and `needs_rebuild`, where it has to be built anew first."""
        self.opens_slowly = False
        self.needs_rebuild = not self.graph.open()
        return not self.needs_rebuild

    def set_graph_aside(self, reason: str) -> None:
        """Write without the graph until `take_graph_back`: for changes by the thousand, which are slow in it."""
        self.writer.call(lambda: self.graph.suspend(reason))

    def take_graph_back(self) -> None:
        """Use the graph again; `needs_rebuild` says whether it has to be built anew first."""

        def back() -> None:
            self.needs_rebuild = not self.graph.resume()

        self.writer.call(back)

    def check_capture(self) -> None:
        """Raise PausedError while capture is paused."""
        if self.paused:
            raise PausedError("capture is paused: nothing new is taken in", hint="`helix pause --off` goes on")

    def pause(self, on: bool) -> None:
        """Pause capture or go on, and keep when that was; on the writer's thread."""
        self.journal.set_meta(PAUSED, "1" if on else str(to_micros(self.clock())))
        self.paused = on

    def adopt_space(self, space: int) -> None:
        """Make a space that holds every passage's vector the store's own; on the writer's thread."""
        self.graph.drop("its vectors belong to the former embedding model; it is being rebuilt")
        self.journal.spaces.activate(space)
        self.mismatch = ""
        self.reload()

    def take_over(self, backup: Path) -> None:
        """Replace everything by a checked backup; on the writer's thread. The graph has to be rebuilt afterwards."""
        self.graph.drop("a backup was restored; the graph is being rebuilt")
        self.journal.restore_from(backup)
        self.paused = self.journal.meta(PAUSED) == "1"
        self.mismatch = self._pin(None if self.embedder is None else self.embedder.space)
        self.reload()

    def embed(self, texts: Sequence[str]) -> list[bytes | None]:
        """Return the vectors of texts as bytes, or None for each where the store works without a model."""
        self.check_space()
        if self.embedder is None or not texts:
            return [None] * len(texts)
        return [row.tobytes() for row in self.embedder.embed(texts)]

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, in the model's own form, shape (dimension,); only where there is a model."""
        self.check_space()
        assert self.embedder is not None
        vector: Vectors = self.embedder.embed([self.embedder.query_prefix + text])[0]
        return vector

    def memory(self, row: int) -> Memory:
        """Return the memory of a catalogue row."""
        return cast(Memory, self.records.node(self.catalogue.ref_of(row)))

    def memories(self, status: Status) -> Iterator[Memory]:
        """Yield every memory of a status, in the order in which they came."""
        columns = self.catalogue.view.columns
        for row in np.flatnonzero(
            (columns.label == LABEL_CODE[Label.MEMORY]) & (columns.status == STATUS_CODE[status])
        ):
            yield self.memory(int(row))

    def memories_named(self, name: str) -> list[Memory]:
        """Return every memory of that name, whatever its scope and status, oldest first."""
        view = self.catalogue.view
        return [self.memory(row) for row in view.lookups.memories.get(name) if row < view.count]

    def nodes_from(self, label: Label, prefix: str, scope: str) -> list[tuple[Ref, Node]]:
        """Return the nodes of a label and of exactly this scope whose source begins with the prefix."""
        refs = self.refs_from(label, prefix, scope)
        return list(zip(refs, self.records.nodes(refs), strict=True))

    def refs_from(self, label: Label, prefix: str, scope: str) -> list[Ref]:
        """Return where the nodes are that `nodes_from` returns."""
        view = self.catalogue.view
        return [
            view.ref_of(row)
            for source, held in view.lookups.sources[LABEL_CODE[label]].items()
            if source.startswith(prefix)
            for row in held
            if row < view.count and view.columns.scope[row] == view.lookups.scopes.code(scope)
        ]

    def last_episode(self, scope: str, session: str) -> Ref | None:
        """Return the episode of a scope's session that was recorded last, or None."""
        view = self.catalogue.view
        columns, lookups = view.columns, view.lookups
        mask = (columns.session == lookups.sessions.code(session)) & (columns.scope == lookups.scopes.code(scope))
        rows = np.flatnonzero(mask & (columns.label == LABEL_CODE[Label.EPISODE]))
        return view.ref_of(int(rows[-1])) if len(rows) else None

    def _edges_known(self, ref: Ref) -> list[DropEdge] | None:
        """Return the edges at a node as the projection has them; None for a node it cannot have."""
        graph = self.projection.snapshot  # first, so that every row of it is in the view
        view = self.catalogue.view
        row = view.row_of(ref)
        if row is None or graph.generation != view.generation:
            return None
        found = graph.neighbours([row])
        here = [
            DropEdge(type=RELATIONS[code], source=ref if outgoing else other, target=other if outgoing else ref)
            for other, code, outgoing in zip(
                map(view.ref_of, found.rows.tolist()), found.relations.tolist(), found.outgoing.tolist(), strict=True
            )
        ]
        return list(dict.fromkeys(here))

    def reload(self) -> None:
        """Read everything held in memory anew from the journal; on the writer's thread, between two changes."""
        self.images.forget()
        try:
            self._read_all()
        except StoreCorruptError:
            self._restate()
            self._read_all()

    def _read_all(self) -> None:
        renewing.fill(self.journal, self.catalogue, self.projection, self.dimension or 0)

    def _restate(self) -> None:
        """Make the rows of the journal's state anew from its log: one of them is damaged."""
        log.error("state damaged, made anew from the log")
        self.journal.restate()

    def disk_bytes(self) -> dict[str, int]:
        """Return the bytes on disk by part: journal, graph, image of the memory, what was moved aside, logs."""
        parts = {"journal": self.journal.database.size_bytes(), "graph": 0, "image": 0, "aside": 0, "logs": 0}
        for file in self.path.rglob("*"):
            if file.is_file():
                part = _part(file.relative_to(self.path))
                if part:
                    parts[part] += file.stat().st_size
        return parts

    def kept_answers(self) -> str:
        """Return the answers that `close` kept; `{}` where there is nothing."""
        return self.journal.meta(LAST_ANSWERS) or "{}"

    def close(self, answers: str = "{}") -> None:
        """Finish the writer's queue, keep the last answers, fold the logs in, close the files, let go of the lock.

        Closing twice is no error.
        """
        if self.journal.database.closed:
            return
        with ExitStack() as closing:  # whatever one of these raises, the others are closed, the last one first
            for close in (self._lock.release, self.journal.close, self.graph.close, self.images.close):
                closing.callback(close)
            self.writer.close()
            try:
                self.journal.set_meta(LAST_ANSWERS, answers)
            except DiskFullError as error:
                log.warning("the last answers are not kept", extra={"error": str(error)})


def _part(relative: Path) -> str:
    if relative.parts[0] == "logs":
        return "logs"
    if relative.name.startswith(IMAGE_NAME):
        return "image"
    if relative.name.startswith(KEPT_JOURNAL):
        return "aside"
    if relative.name.startswith(GRAPH_NAME):
        return "aside" if ".aside-" in relative.name else "graph"
    return ""


def _silent(stage: str, done: int, total: int) -> None:
    """Take no notice: building an empty graph takes a moment only."""
