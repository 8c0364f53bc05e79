"""The graph's follower: keeps the graph at the journal's heels, and builds it anew where it cannot be used.

The journal is the system of record; the graph may be behind, absent or under construction without a write being
refused. Rows are applied by a thread of the graph's own; only the writer's thread calls `suspend`, `resume` and `swap`.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from helix.errors import (
    DiskFullError,
    GraphUnavailableError,
    HelixError,
    StoreLockedError,
    StoreTooNewError,
)
from helix.graph import build
from helix.graph.engine import GraphEngine
from helix.graph.fold import fold, log_bytes
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions, files_of, size_of
from helix.journal.log import Journal
from helix.journal.state import Records
from helix.model.clock import Clock, to_micros
from helix.model.operations import Row
from helix.store.following import Following

log = logging.getLogger(__name__)

_BATCH_ROWS = 64
SHORT_LOG_BYTES = 200_000
"""A log that is read at once; a longer one is folded in beside (`graph.fold`)."""
_MOST_REPLAYED = 1_000
"""Rows behind which a graph is built anew: replay takes milliseconds for each, and the start waits for it."""
# Room that folding the log in may take: some pages of every table, and a share of the vector index.
_SPARE_BYTES = 16 << 20
_SPARE_SHARE = 8
_BUILDING_SUFFIX = ".building"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What bringing the graph up to date took: rows applied and rows set aside."""

    applied: int
    set_aside: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltGraph:
    """A graph file that is ready to be put in place, and the era it was begun in (see `GraphFollower.suspend`)."""

    path: Path
    era: int


class GraphFollower:
    """Owns the graph engine of a store."""

    def __init__(self, path: Path, journal: Journal, records: Records, *, options: KuzuOptions, clock: Clock) -> None:
        self.path = path
        self._journal = journal
        self._records = records
        self._options = options
        self._clock = clock
        self._engine: GraphEngine | None = None
        self._condemned: list[GraphEngine | None] = []
        self._turn = threading.RLock()
        self._following = Following(self._apply)
        self._suspended = False
        self._era = 0
        self.building = threading.Lock()
        """Held by who builds a graph, until it is put in place: there is one file to build in."""
        self.trouble = ""
        """Why the graph is absent or behind, in a sentence; empty while all is well."""

    @property
    def engine(self) -> GraphEngine:
        """The graph; raises GraphUnavailableError while there is none."""
        engine = self._engine
        if engine is None:
            raise GraphUnavailableError(
                f"the graph is not there yet: {self.trouble or 'it is being built'}",
                hint="`helix status` shows how far it is",
            )
        return engine

    @property
    def available(self) -> bool:
        """Whether there is a graph to ask."""
        return self._engine is not None

    def check_room(self) -> None:
        """Raise DiskFullError while there is too little room for the graph to fold its log in.

        Asked before a change is accepted, so that a full disk is met here and not inside Kuzu.
        """
        needed = _SPARE_BYTES + size_of(self.path) // _SPARE_SHARE
        free = shutil.disk_usage(self.path.parent).free
        if free < needed:
            raise DiskFullError(
                f"only {free >> 20} MiB are free for {self.path.parent}; {needed >> 20} MiB are kept in reserve",
                hint="free some space and try again: nothing was lost, and recall goes on",
            )

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Ask the vector index; behind the journal it refuses, so that nothing is missed."""
        if self.trouble or self._following.behind:
            raise GraphUnavailableError(
                self.trouble or "the graph is a moment behind", hint="the exact scan answers instead"
            )
        return self.engine.vector_search(vector, k)

    def opens_slowly(self) -> bool:
        """Whether opening takes seconds: the graph was not closed, and its log is read as slowly as it was written."""
        if slow := log_bytes(self.path) > SHORT_LOG_BYTES:
            self.trouble = "the graph was not closed and is being opened"
        return slow

    def open(self) -> bool:
        """Open the graph and replay what it missed. False when it has to be built anew (`trouble` says why).

        Raises StoreLockedError and StoreTooNewError: neither is damage, and nothing is moved aside for them.
        """
        with self._turn:
            if self.opens_slowly() and not fold(self.path, self._options):
                return self._abandon("opening it crashed")
            return self._suspended or self._open()

    def _open(self) -> bool:
        if not self.path.exists():
            self.trouble = "there is no graph file yet"
            return False
        try:
            engine = KuzuEngine(self.path, dimension=self._dimension(), options=self._options)
        except (StoreLockedError, StoreTooNewError):
            raise
        except HelixError as error:
            return self._abandon(error.message)
        reason = self._unusable(engine)
        if reason:
            engine.close()
            return self._abandon(reason)
        if engine.number("dimension") != (self._dimension() or 0):
            # Nothing is damaged: the store got its first model, or another one, while the graph was closed.
            engine.close()
            build.remove(self.path)
            self.trouble = "the graph is being rebuilt, because other vectors belong in it"
            return False
        if (behind := self._journal.last_seq - engine.applied_seq()) > _MOST_REPLAYED:
            engine.close()
            self.trouble = f"the graph is {behind:,} changes behind and is being rebuilt"
            return False
        self._engine = engine
        replayed = self._catch_up()
        if replayed.set_aside > 1 and not replayed.applied:
            # It takes none of what it lacks: what was lost with an unreadable log was more than rows.
            self._engine = None
            engine.close()
            return self._abandon("it refuses all that it lacks")
        return True

    def _dimension(self) -> int | None:
        space = self._journal.spaces.active() if self._options.vectors else None
        return None if space is None else space.dimension

    def _unusable(self, engine: KuzuEngine) -> str:
        """Return why an opened file is not the graph of this journal, or an empty string."""
        if engine.word("store_id") != self._journal.store_id:
            return "it belongs to another journal or was not finished"
        if engine.applied_seq() > self._journal.last_seq:
            return "it is ahead of the journal"
        if self._journal.unreadable(engine.applied_seq(), _MOST_REPLAYED):
            return "a journal row that it lacks is damaged"
        return ""

    def _abandon(self, reason: str) -> bool:
        aside = self.path.with_name(f"{self.path.name}.aside-{to_micros(self._clock()) // 1_000_000}")
        for file, kept in zip(files_of(self.path), files_of(aside), strict=True):
            if file.exists():
                file.rename(kept)
        self.trouble = f"the graph file could not be used ({reason}); it was moved to {aside.name} and is being rebuilt"
        log.warning("graph moved aside", extra={"reason": reason, "moved_to": aside.name})
        return False

    def drop(self, reason: str) -> None:
        """Serve without a graph from now on, until another is swapped in."""
        with self._turn:
            self.trouble = reason
            if self._engine is not None:
                engine, self._engine = self._engine, None
                engine.close()

    def suspend(self, reason: str) -> None:
        """Serve without a graph until `resume`: so many changes are coming that building it anew takes less.

        A graph whose building began before `resume` is never put in place: replaying what it lacks would take longest.
        """
        self._suspended = True
        self.drop(reason)

    def resume(self) -> bool:
        """Take the graph back into use after `suspend`. False when it has to be built anew, as for `open`."""
        with self._turn:
            self._suspended = False
            self._era += 1
            return self.available or self.open()

    def follow(self, rows: Sequence[Row]) -> None:
        """Have journalled rows applied soon. What the graph refuses is set aside; without a graph they are replayed."""
        if self._engine is not None:
            self._following.follow(rows)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait until the graph holds what was acknowledged; False when that takes longer."""
        started = time.monotonic()
        if self.trouble:  # it may be being opened or replaced
            if not self._turn.acquire(timeout=-1 if seconds is None else seconds):
                return False
            self._turn.release()
        return self._following.settle(None if seconds is None else seconds - (time.monotonic() - started))

    def _apply(self, rows: Sequence[Row]) -> None:
        with self._turn:
            if self._engine is None:
                return
            try:
                self._apply_next(self._engine, rows)
            except Exception as error:  # passed on: the next rows find out here that these are missing
                self.trouble = f"the graph is behind: {error}"
                raise

    def _apply_next(self, engine: GraphEngine, rows: Sequence[Row]) -> None:
        """Apply rows that follow on what the graph has; where some before them are missing, read the journal."""
        applied = engine.applied_seq()
        rows = [row for row in rows if row.seq > applied]
        if self.trouble or (rows and rows[0].seq != applied + 1):
            self._catch_up()
        elif rows:
            try:
                engine.apply([op for row in rows for op in row.change.operations], rows[-1].seq)
            except DiskFullError as error:
                self._condemn(error)
            except HelixError as error:
                log.warning("graph refused a batch", extra={"seq": rows[-1].seq, "error": str(error)})
                self._catch_up()

    def _condemn(self, error: DiskFullError) -> None:
        """Never touch an engine again whose disk was full: Kuzu is not sound after that, even for reading or closing.

        It is kept from being collected, because that would close it. A new graph is built once there is room.
        """
        log.error("graph given up", extra={"error": str(error)})
        self._condemned.append(self._engine)
        self._engine = None
        self.trouble = f"the graph is out of use: {error.message}; it is rebuilt when there is room"

    def _catch_up(self) -> Replayed:
        """Replay everything the graph lacks; a row it refuses by itself is set aside with a loud status."""
        applied = poisoned = 0
        engine = self.engine
        try:
            while rows := self._journal.rows(engine.applied_seq(), _BATCH_ROWS):
                if self._try(engine, rows):
                    applied += len(rows)
                    continue
                for row in rows:
                    if self._try(engine, [row]):
                        applied += 1
                    else:
                        poisoned += 1
            self.trouble = ""
        except DiskFullError as error:
            self._condemn(error)
        return Replayed(applied=applied, set_aside=poisoned)

    def _try(self, engine: GraphEngine, rows: Sequence[Row]) -> bool:
        """Apply the rows; a single row that is refused is set aside and passed over. Raises DiskFullError."""
        try:
            engine.apply([op for row in rows for op in row.change.operations], rows[-1].seq)
        except DiskFullError:
            raise
        except HelixError as error:
            if len(rows) == 1:
                self._journal.set_aside(rows[0].seq, str(error), to_micros(self._clock()))
                log.error("journal row set aside", extra={"seq": rows[0].seq, "error": str(error)})
                engine.apply((), rows[0].seq)
            return False
        return True

    def build(self, progress: build.Progress, stop: threading.Event | None = None) -> BuiltGraph:
        """Build a new graph beside the one in use, from the journal's state; any thread but the writer's may do it.

        Raises GraphUnavailableError soon after `stop` is set.
        """
        era = self._era
        target = self.path.with_name(self.path.name + _BUILDING_SUFFIX)
        with self._journal.snapshot() as (seq, state):
            counts, dimension = self._records.counts(), self._dimension()
            room = max(self._options.buffer_pool_bytes, build.LEAST_POOL_BYTES)
            room += build.pool_bytes(dimension, counts["passages"])
            build.build(
                target,
                state.operations(),
                seq=seq,
                store_id=self._journal.store_id,
                dimension=dimension,
                total=sum(counts.values()),
                options=replace(self._options, buffer_pool_bytes=room),
                progress=progress,
                stop=stop,
            )
        return BuiltGraph(path=target, era=era)

    def swap(self, built: BuiltGraph) -> Replayed:
        """Put a built graph in the place of the present one and replay what came in meanwhile.

        One that `suspend` has overtaken is thrown away: who suspended the graph builds another.
        """
        if self._suspended or built.era != self._era:
            build.remove(built.path)
            return Replayed(applied=0, set_aside=0)
        with self._turn:
            self.trouble = "the graph is being put in place"
            if self._engine is not None:
                engine, self._engine = self._engine, None
                engine.close()
            build.remove(self.path)
            for file, place in zip(files_of(built.path), files_of(self.path), strict=True):
                if file.exists():
                    file.rename(place)
            self._journal.clear_poison()
            self._engine = KuzuEngine(self.path, dimension=self._dimension(), options=self._options)
            return self._catch_up()

    def close(self) -> None:
        """Apply what waits, fold the graph's log in and close it."""
        self._following.close()
        if self._engine is not None:
            started = time.perf_counter()
            self._engine.close()
            self._engine = None
            log.info("graph closed", extra={"seconds": round(time.perf_counter() - started, 3)})
