"""The program of the graph's process: it owns Kuzu, follows the journal, and answers questions on its standard input.

It leaves when its parent does. It may be killed at any moment: what the file lacks then comes from the journal.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import stat
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from helix.errors import DiskFullError, HelixError, InvalidInputError, StoreError, StoreLockedError, StoreTooNewError
from helix.graph import analytics
from helix.graph.batch import MISFITS
from helix.graph.build import LEAST_POOL_BYTES, build, pool_bytes
from helix.graph.graph_files import Place
from helix.graph.kuzu_engine import KuzuEngine, KuzuOptions
from helix.graph.on_disk import Progress, files_of, size_of, unseal
from helix.graph.process import LARGEST_ANSWER, error_answer, receive, send
from helix.graph.refusals import OutOfMemoryError
from helix.journal.read_only import JournalReader, JournalView, file_reader
from helix.memory_limit import limit_memory

_ROWS_AT_ONCE = 16
MOST_REPLAYED = 1_000
"""Rows behind which a graph is built anew: replay takes milliseconds for each, and a question waits for it."""
_MOST_CHANGES, _MOST_SHARE = 500, 0.2
"""Changes, and share of the state that they touch, from which building is quicker too: it takes a tenth for each."""
BUILT_AT_ONCE = 3_000
"""Nodes, edges and passages up to which a graph is built where it is missing, within a second or so."""
_OVERGROWN_TIMES, _OVERGROWN_BYTES = 4, 16 << 20
_NICE = 5
_MOST_UNFOLDED = 100
"""Statements that a question of a person may find not folded in: to fold takes 0.1 to 0.3 s, to apply them again 0.7 s.

Without this limit, who asked beside one who crashed a graph of 10,000 memories over and over waited 8 to 20 s, not 2 s.
"""
_MOST_EDGES = 6_000
_LEAST_TO_OPEN_BYTES = 1 << 30
"""What opening a graph may take beside what is set: Kuzu takes 330 MB for an empty one."""


class GraphServer:
    """Answers the questions; each method that begins without an underscore is one."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._path = Path(place.graph)
        self._journal = _reader_of(place.journal, place.tenant)
        self._engine: KuzuEngine | None = None
        self._ahead = 0

    def open(self, *, new: bool = False) -> dict[str, Any]:
        """Open the store's graph and bring it up to date; where it cannot be, say why, and what becomes of the file.

        Answers `reason` ("" where all is well) and `verdict`: "aside" for a file that is no graph of this journal,
        "remove" for one that is only out of date, "build" where there is none. `ahead` is the last row of one that
        knows rows that this journal has no more, or has others in their place, else 0. One that is `new`, as a job has
        just built it, is never out of date for what was written meanwhile: building it anew would meet the same.
        """
        with self._journal.look() as look:
            reason, verdict = self._opened(look)
            if verdict in ("build", "remove") and look.size() <= BUILT_AT_ONCE:
                limit_memory(None)
                self._build(self._path, look, lambda stage, done, total: None)
                reason, verdict = self._opened(look)
        if not reason and not new and self._is_far_behind():
            self._close()
            return {"reason": "the graph is far behind the journal", "verdict": "remove"}
        if reason:
            self._close()
            return {"reason": reason, "verdict": verdict, "ahead": self._ahead}
        limit_memory(self._place.heap_bytes)
        return {"reason": "", "verdict": "", **self.check()}

    def _opened(self, look: JournalView) -> tuple[str, str]:
        if odd := [file.name for file in files_of(self._path) if _is_odd(file)]:
            return f"{odd[0]} is no file of a graph", "aside"
        if not self._path.exists():
            return "there is no graph file yet", "build"
        left = unseal(self._path)
        if left == "damaged":
            return "its file is not what it was when it was closed", "aside"
        dimension, place = self._dimension(look), self._place
        # A page that is damaged may have Kuzu ask for all that the machine has; what it maps counts from here on.
        beside = max(_LEAST_TO_OPEN_BYTES, 2 * self._path.stat().st_size)
        limit_memory(place.max_db_bytes + place.buffer_pool_bytes + place.heap_bytes + beside)
        try:
            self._engine = engine = KuzuEngine(self._path, dimension=dimension, options=_options(self._place))
        except (StoreLockedError, StoreTooNewError):
            raise
        except OutOfMemoryError:
            return "it is damaged: opening it takes more memory than the graph may have", "aside"
        except HelixError as error:
            return error.message, "aside"
        if engine.word("store_id") != look.store_id:
            return self._unusable("it belongs to another journal or was not finished", "aside")
        if engine.applied_seq() > look.last_seq:
            self._ahead = engine.applied_seq()
            return self._unusable("it is ahead of the journal", "aside")
        if not _is_same(engine.applied_chain(), look.chain_at(engine.applied_seq())):
            self._ahead = engine.applied_seq()
            return self._unusable("it is of another history than the journal", "aside")
        if look.unreadable(engine.applied_seq(), MOST_REPLAYED):
            return self._unusable("a journal row that it lacks is damaged", "aside")
        if left == "torn":
            return self._unusable("the machine went down while it was open", "aside")
        if engine.number("dimension") != (dimension or 0):
            # Nothing is damaged: the store got its first model, or another one, while the graph was closed.
            return self._unusable("other vectors belong in the graph", "remove")
        return "", ""

    def _unusable(self, reason: str, verdict: str) -> tuple[str, str]:
        self._close()
        return reason, verdict

    def _dimension(self, look: JournalView) -> int | None:
        return look.dimension if self._place.vectors else None

    def _graph(self) -> KuzuEngine:
        assert self._engine is not None, "`open` comes first"
        return self._engine

    def _is_far_behind(self) -> bool:
        """Whether building anew takes less than replay: for many rows, or changes to a large part of the state."""
        applied = self._graph().applied_seq()
        with self._journal.look() as look:
            if look.last_seq - applied > MOST_REPLAYED:
                return True
            changes = sum(len(row.change.operations) for row in look.rows(applied, MOST_REPLAYED))
            return changes > _MOST_CHANGES and changes > _MOST_SHARE * look.size()

    def follow(self, milliseconds: int) -> dict[str, Any]:
        """Apply rows of the store's journal to its graph for up to so long.

        Answers `applied` and `last`, the newest rows of graph and journal, and `refused`, in sentences all that the
        graph does without: a row that it does not take is noted in it and passed over.
        """
        until = time.monotonic() + milliseconds / 1000
        while True:
            with self._journal.look() as look:
                applied, last = self._apply_next(look), look.last_seq
            if applied >= last or time.monotonic() >= until:
                return {"applied": applied, "last": last, "refused": self._graph().refusals()}

    def _apply_next(self, look: JournalView) -> int:
        engine = self._graph()
        applied = engine.applied_seq()
        rows = look.rows(applied, _ROWS_AT_ONCE)
        if not rows:
            if look.last_seq > applied:  # the last rows cannot be read: the state they came to is compared
                engine.apply((), look.last_seq, look.chain_at(look.last_seq))
            return max(applied, look.last_seq)
        try:
            seq = rows[-1].seq
            engine.apply([op for row in rows for op in row.change.operations], seq, look.chain_at(seq))
        except DiskFullError:
            raise
        except (HelixError, *MISFITS):
            for row in rows:  # one by one, to find the row that the graph does not take
                try:
                    engine.apply(row.change.operations, row.seq, look.chain_at(row.seq))
                except DiskFullError:
                    raise
                except (HelixError, *MISFITS) as error:
                    reason = error.message if isinstance(error, HelixError) else str(error)
                    engine.pass_over(f"row {row.seq}", reason, row.seq, look.chain_at(row.seq))
        return rows[-1].seq

    def check(self) -> dict[str, Any]:
        """Bring the store's graph to this moment and compare its counts with the journal's.

        Answers what `follow` does, `differences` in words, and `overgrown`: whether the file is many times what a new
        one would be.
        """
        with self._journal.look() as look:
            while self._apply_next(look) < look.last_seq:
                continue
            differences = self._differences(look)
            applied = look.last_seq
        engine, size = self._graph(), size_of(self._path)
        built = engine.number("built_bytes")
        overgrown = size > _OVERGROWN_TIMES * built + _OVERGROWN_BYTES
        return {
            "applied": applied,
            "last": applied,
            "refused": engine.refusals(),
            "differences": differences,
            "overgrown": overgrown,
        }

    def _differences(self, look: JournalView) -> list[str]:
        kept, held = look.counts(), self._graph().counts()
        if not self._place.vectors:
            kept["passages"] = 0
        if any(kept.get(name, 0) != count for name, count in held.items()):
            for name, count in look.dangling().items():
                kept[name] = kept.get(name, 0) - count
        names = {**held, **kept}
        return [
            f"{'vectors' if name == 'passages' else name}: journal {kept.get(name, 0):,}, graph {held.get(name, 0):,}"
            for name in names
            if kept.get(name, 0) != held.get(name, 0)
        ]

    def cypher(self, text: str, params: Mapping[str, Any], timeout_ms: int, limit: int) -> Any:
        """Run a statement that has passed the gate on the store's graph; answers (columns, rows, whether more).

        The statement may end this process, and the next one would have to apply again what is not folded in.
        """
        graph = self._graph()
        if graph.unfolded > _MOST_UNFOLDED:
            graph.fold_in()
        return graph.cypher(text, params, timeout_ms=timeout_ms, limit=limit)

    def nearest(self, vector: list[float], k: int) -> list[tuple[str, float]]:
        """Answer (passage id, cosine) of the k nearest of the store's passages by Kuzu's vector index, best first."""
        return self._graph().vector_search(vector, k)

    def tables(self) -> list[tuple[str, str, list[str]]]:
        """Answer (name, NODE or REL, property names) of every table of the store's graph."""
        return [(name, kind, list(columns)) for name, kind, columns in self._graph().tables()]

    def path(self, source: tuple[str, str], target: tuple[str, str], scope: str) -> dict[str, Any]:
        """Answer the nodes of a shortest path in the store's graph as (label, id), and the edges among them."""
        graph = self._graph()
        nodes = analytics.path(graph, source, target, scope=scope)
        return {"nodes": nodes, "edges": analytics.among(graph, nodes, _MOST_EDGES)}

    def communities(self, scope: str, least: int, limit: int, most: int) -> list[tuple[int, list[tuple[str, str]]]]:
        """Answer (size, at most `most` members as (label, id)) of the largest communities of the store's graph."""
        found = analytics.communities(self._graph(), scope=scope, least=least, limit=limit)
        return [(size, members[:most]) for size, members in found]

    def together(self, features: list[list[str]]) -> list[list[int]]:
        """Answer the places of things by communities of what they share, those with most in common first."""
        return analytics.together(features)

    def overview(self, scope: str, limit: int, most: int) -> dict[str, Any]:
        """Answer the store's largest communities as (size, at most `most` members), the links between, both sums."""
        found = analytics.overview(self._graph(), scope=scope, limit=limit)
        groups = [(size, members[:most]) for size, members in found.groups]
        return {"groups": groups, "links": found.links, "nodes": found.nodes, "edges": found.edges}

    def centrality(self, scope: str, labels: list[str], limit: int) -> list[tuple[str, str, float]]:
        """Answer (label, id, rank) of the nodes with the highest PageRank in the store's graph."""
        return analytics.centrality(self._graph(), scope=scope, labels=labels, limit=limit)

    def export(self, label: str, after: str = "") -> list[dict[str, Any]]:
        """Answer a page of the nodes of a label in the store's graph, those behind an id."""
        return self._graph().export(label, after)

    def build(self, target: str) -> int:
        """Build the store's new graph at `target`, telling (stage, done, total) on the way; answer its journal row."""
        with self._journal.look() as look:
            seq = look.last_seq
            self._build(Path(target), look, lambda *stage: send(_out(), ("progress", stage)))
        return seq

    def _build(self, target: Path, look: JournalView, progress: Progress) -> None:
        dimension, total = self._dimension(look), look.size()
        room = max(self._place.buffer_pool_bytes, LEAST_POOL_BYTES)
        room += pool_bytes(dimension, look.counts()["passages"])
        build(
            target,
            look.operations(),
            seq=look.last_seq,
            chain=look.chain_at(look.last_seq),
            store_id=look.store_id,
            dimension=dimension,
            total=total,
            options=KuzuOptions(buffer_pool_bytes=room, max_db_bytes=self._place.max_db_bytes),
            progress=progress,
        )

    def end(self) -> bool:
        """Fold the log of the store's graph in, close file and journal; the process leaves behind it."""
        self._close()
        self._journal.close()
        return True

    def _close(self) -> None:
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.close()


def _is_same(noted: str, chain: str) -> bool:
    """Whether the journal's digest is what a graph noted, as far as both are known."""
    return noted == chain or not noted or not chain


def _options(place: Place) -> KuzuOptions:
    return KuzuOptions(
        buffer_pool_bytes=place.buffer_pool_bytes,
        max_db_bytes=place.max_db_bytes,
        threads=place.threads,
        reopen_after=place.reopen_after,
        vectors=place.vectors,
    )


def _is_odd(file: Path) -> bool:
    """Whether something stands in the place of a file that Kuzu must not open: a link, a pipe, a folder."""
    try:
        return not stat.S_ISREG(file.lstat().st_mode)
    except FileNotFoundError:
        return False


def _lock(path: Path, seconds: float) -> int:
    """Take the lock of the graph; waits for a process that a killed Helix left behind. Raises StoreLockedError."""
    try:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be opened: {error.strerror}", hint="remove it while Helix is stopped: it is made anew"
        ) from error
    until = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise StoreLockedError(
                    "the graph is open in another process", hint="`helix status` shows the daemon"
                ) from error
            time.sleep(0.05)


_answers: list[BinaryIO] = []


def _out() -> BinaryIO:
    return _answers[0]


def _answer(server: GraphServer, question: str, named: Mapping[str, Any]) -> tuple[Any, ...]:
    ask: Callable[..., Any] = getattr(server, question)
    try:
        return ("answer", ask(**named))
    except HelixError as error:
        return error_answer(error)
    except MemoryError:
        return error_answer(
            InvalidInputError("the statement needs more memory than the graph's process may have", hint="ask for less")
        )


def _reader_of(address: str, tenant: int) -> JournalReader:
    """Return a reader of tables that another process writes, by what `Engine` says of them."""
    if not tenant:
        return file_reader(Path(address))
    from helix.journal.postgres.at_address import server_at  # comes with these
    from helix.journal.postgres.tenant_database import TenantDatabase  # NumPy, which no file of a graph needs,

    backend = TenantDatabase(server_at(address), tenant, None, Path())
    return JournalReader(backend.snapshot, backend.close)


def _questions(stream: BinaryIO) -> queue.SimpleQueue[tuple[str, dict[str, Any]]]:
    """Read questions in a thread, so that the process leaves at once when its parent does, whatever it is doing."""
    found: queue.SimpleQueue[tuple[str, dict[str, Any]]] = queue.SimpleQueue()

    def read() -> None:
        while True:
            try:
                found.put(receive(stream))
            except (EOFError, OSError):
                os._exit(0)

    threading.Thread(target=read, name="questions", daemon=True).start()
    return found


def main(place: Place) -> None:
    """Run the graph process of a store: serve Kuzu until the parent goes, or asks to `end`."""
    _answers.append(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a library prints is no answer
    os.nice(_NICE)
    with suppress(OSError):  # Linux alone has it, and not for everybody: a machine without memory ends this one first
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    questions = _questions(sys.stdin.buffer)
    try:
        held = _lock(Path(place.lock), place.lock_seconds)
        server = GraphServer(place)
    except HelixError as error:
        questions.get()
        send(_out(), error_answer(error))
        return
    while True:
        question, named = questions.get()
        said = _answer(server, question, named)
        try:
            send(_out(), said)
        except MemoryError:
            send(_out(), error_answer(InvalidInputError(f"the answer has more than {LARGEST_ANSWER >> 20} MiB")))
        if question == "end":
            os.close(held)
            return


if __name__ == "__main__":
    main(Place(**json.loads(sys.argv[1])))
