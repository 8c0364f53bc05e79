"""The graph's follower: has the graph's process follow the journal, and has the graph built anew where it is no use.

The journal is the system of record. The graph may be behind, absent, asleep or under construction without a write being
refused or a recall noticing. Its process starts when it is asked something or when rows pile up, and ends when idle.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from helix.errors import DiskFullError, GraphUnavailableError, HelixError, QueryTimeoutError, StoreCorruptError
from helix.graph.build_process import build_beside
from helix.graph.graph_files import BuiltGraph, Place, move_aside
from helix.graph.on_disk import Progress, files_of, remove, size_of
from helix.graph.process import GraphProcess, ProcessEndedError, ask_once
from helix.graph.refusals import OutOfMemoryError
from helix.journal import witnesses
from helix.journal.log import Journal
from helix.model.clock import Clock, to_micros
from helix.model.operations import Row
from helix.on_demand_thread import OnDemandThread
from helix.processes import python_command

log = logging.getLogger(__name__)

_PILE_ROWS = 64
"""Rows behind which a process that sleeps is started: fewer wait for a question."""
_SLICE_MS = 200
"""How long rows are applied before somebody who asks has a turn."""
_START_SECONDS = 120.0
_STEP_SECONDS = 120.0
_IDLE_SECONDS = 60.0
_RETRY_SECONDS = 10.0
"""How long a graph that could not follow is left alone, unless somebody asks."""
_BEHIND = "the graph is behind: "
"""How it begins what the graph is told of until it follows again."""
_CLOSE_SECONDS = 5.0
"""How long closing waits for a question that is being answered; its process is ended then."""
_CHECK_AFTER_SECONDS = 2.0
"""How long after it was opened a store compares its graph; at once where it was not closed."""
_TRIES = 4
_SPARE_BYTES, _SPARE_SHARE = 16 << 20, 8
"""Room that folding the log in may take: some pages of every table, and a share of the vector index."""
_BUILDING_SUFFIX = ".building"


class GraphFollower:
    """Owns the graph of a store and its process. Every method is safe from any thread."""

    def __init__(self, journal: Journal, place: Place, *, clock: Clock, when_asked: bool = False) -> None:
        self.path = Path(place.graph)
        self._journal = journal
        self._place = place
        self._clock = clock
        self._process: GraphProcess | None = None
        self._turn = threading.RLock()
        self._counting = threading.Lock()
        self._asking = 0
        self._era = 0
        self._wanted = journal.last_seq
        self._retry_at = 0.0
        self._when_asked = self._checked = when_asked
        self._mended = self._suspended = self._closed = self._new = False
        unclean = files_of(self.path)[1].exists() or (journal.last_seq > _PILE_ROWS and not self.path.exists())
        self._used = time.monotonic() - _IDLE_SECONDS + (0 if unclean else _CHECK_AFTER_SECONDS)
        self.building = threading.Lock()
        """Held by who builds a graph, until it is put in place: there is one file to build in."""
        self.trouble = ""
        """Why the graph cannot be asked, in a sentence; empty while it can."""
        self.warning = ""
        """What is not right with a graph that can be asked, such as a difference that building anew did not mend."""
        self.needs_rebuild = False
        """Whether the graph is to be built anew by a job; `trouble` says why, where it cannot be asked meanwhile."""
        self.rebuild_wanted: Callable[[], None] = lambda: None
        """Called when `needs_rebuild` becomes true, on any thread; must return at once."""
        self.applied_seq = 0
        """The newest journal row that the graph is known to have."""
        self.refused: tuple[str, ...] = ()
        """What the graph does without, as Kuzu does not take it: a sentence each. Empty until the graph is opened."""
        self._thread = OnDemandThread("helix-graph", self._look)
        self._thread.wake()

    @property
    def pid(self) -> int | None:
        """The number of the process of the store's graph, or None while it sleeps."""
        process = self._process
        return process.pid if process is not None and process.alive else None

    def check_room(self) -> None:
        """Raise DiskFullError while there is too little room for the store's graph to fold its log in.

        Asked before a change is accepted, so that a full disk is met here and not inside Kuzu.
        """
        needed = _SPARE_BYTES + size_of(self.path) // _SPARE_SHARE
        if (free := shutil.disk_usage(self.path.parent).free) < needed:
            raise DiskFullError(
                f"only {free >> 20} MiB are free for {self.path.parent}; {needed >> 20} MiB are kept in reserve",
                hint="free some space and try again: nothing was lost, and recall goes on",
            )

    def follow(self, rows: Sequence[Row]) -> None:
        """Have the store's graph apply journalled rows soon."""
        self._wanted = rows[-1].seq
        if self._due():
            self._thread.wake()

    def ask(self, question: str, seconds: float, **named: Any) -> Any:
        """Ask the store's graph something once it holds what was journalled so far; see `GraphServer` for what.

        Raises GraphUnavailableError, QueryTimeoutError, and what the question raises.
        """
        until = time.monotonic() + seconds
        with self._my_turn(seconds):
            try:
                return self._asked(question, until, named)
            except OutOfMemoryError:  # Kuzu keeps much of what applying changes took: another process has room again
                self._end()
                if question == "cypher":
                    raise  # the statement itself may want too much
                return self._asked(question, until, named)

    def ask_aside(self, question: str, seconds: float, **named: Any) -> Any:
        """Ask a process of its own what needs nothing of the store's graph, and so waits for none; raises as `ask`."""
        return ask_once(self._command(self.path.with_suffix(".aside-lock")), question, seconds, **named)

    def _asked(self, question: str, until: float, named: dict[str, Any]) -> Any:
        self._catch_up(until)
        limit = {"timeout_ms": max(1, int(1000 * (until - time.monotonic())))} if question == "cypher" else {}
        return self._tell(question, until - time.monotonic(), **named, **limit)

    def vector_search(self, vector: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Ask the vector index of the store's graph; refuses at once while that sleeps, is busy or behind."""
        if not self._turn.acquire(blocking=False):
            raise GraphUnavailableError("the graph is busy", hint="the exact scan answers instead")
        try:
            if self.trouble or self._process is None or self.applied_seq < self._journal.last_seq:
                reason = self.trouble or "the graph is a moment behind"
                raise GraphUnavailableError(reason, hint="the exact scan answers instead")
            return [tuple(pair) for pair in self._tell("nearest", 1.0, vector=list(vector), k=k)]
        finally:
            self._turn.release()

    def settle(self, seconds: float = _STEP_SECONDS) -> bool:
        """Bring the store's graph up to date now; False where that takes longer or cannot be done (see `trouble`)."""
        try:
            with self._my_turn(seconds):
                self._catch_up(time.monotonic() + seconds)
        except (GraphUnavailableError, QueryTimeoutError):
            return False
        return True

    def differences(self) -> list[str]:
        """Return, in words, how the counts of the store's graph differ from its journal's at one moment."""
        return list(self.ask("check", _STEP_SECONDS)["differences"])

    @contextmanager
    def _my_turn(self, seconds: float) -> Iterator[None]:
        with self._counting:
            self._asking += 1
        try:
            if not self._turn.acquire(timeout=max(0.0, seconds)):
                raise QueryTimeoutError("the graph is busy with another question", hint="try again, or with more time")
            try:
                self._used = time.monotonic()
                yield
            finally:
                self._used = time.monotonic()
                self._turn.release()
        finally:
            with self._counting:
                self._asking -= 1
            self._thread.wake()

    def _catch_up(self, until: float) -> None:
        """Start the process where it sleeps, and have it apply what it lacks. Raises what `ask` does."""
        self._start()
        wanted = self._journal.last_seq
        for _ in range(_TRIES):
            try:
                while self.applied_seq < wanted:
                    left = until - time.monotonic()
                    if left <= 0:
                        raise QueryTimeoutError(
                            "the graph did not catch up in time with what was stored",
                            hint="try again, or with more time",
                        )
                    self._step(min(_SLICE_MS, int(1000 * left) + 1))
                self._new = False
                return
            except ProcessEndedError:
                self._start()
        self._give_up("its process ended again and again while it applied changes")

    def _step(self, milliseconds: int) -> None:
        wanted, said = self._journal.last_seq, self._tell("follow", _STEP_SECONDS, milliseconds=milliseconds)
        self._note(said)
        if said["last"] < wanted:  # such as on a standby that took over without them: no waiting brings them
            raise GraphUnavailableError("the journal lost rows while it was open", hint="a new start says which")

    def _note(self, said: dict[str, Any]) -> None:
        self.applied_seq = said["applied"]
        if self.trouble.startswith(_BEHIND):  # such as while the server of the journal was away
            self.trouble = ""
        for sentence in sorted(set(said["refused"]) - set(self.refused)):
            log.error("the graph refuses what was journalled", extra={"refused": sentence})
        self.refused = tuple(said["refused"])

    def _tell(self, question: str, seconds: float, **named: Any) -> Any:
        process = self._process
        if process is None or self._suspended:
            raise self._unavailable()
        try:
            return process.ask(question, seconds, **named)
        except ProcessEndedError:
            if self._closed:
                raise self._unavailable() from None
            raise
        except StoreCorruptError:
            self._journal.make_good()  # asking once more finds it mended
            raise
        except DiskFullError:
            process.kill()  # Kuzu is not sound after that; without its log the file is what it was before
            raise
        finally:
            if not process.alive:
                self._process = None
                log.warning("the graph's process was ended", extra={"question": question})

    def _unavailable(self) -> GraphUnavailableError:
        if self._closed:
            return GraphUnavailableError("the store is closing", hint="ask again: the next command opens it")
        return GraphUnavailableError(
            self.trouble or "the graph is not there yet", hint="`helix status` shows how far it is; `helix rebuild`"
        )

    def _start(self) -> None:
        """Have the process run with the graph open; raises GraphUnavailableError where there is no graph to open."""
        if self._suspended or self._closed or (self.needs_rebuild and self.trouble):
            raise self._unavailable()
        if self._process is not None:
            if self._process.runs():
                return
            self._process.kill()  # it has ended; this closes the pipes
        deaths = 0
        for _ in range(_TRIES):
            self._process = GraphProcess(self._command(self.path.with_suffix(".lock")))
            try:
                said = self._tell("open", _START_SECONDS, new=self._new)
            except (ProcessEndedError, QueryTimeoutError):
                if self._suspended:
                    raise self._unavailable() from None
                if deaths := (deaths + 1) % 2:
                    continue
                self._move_aside("opening it ended its process, twice")
                continue
            except HelixError as error:  # locked, or of a newer Helix: nothing is wrong with the file
                self._end()
                self.trouble = error.message
                raise
            if not said["reason"] and not self._worthless(said):
                self.trouble = ""
                self._retry_at = 0.0
                self._note(said)
                self._judge(said)
                return
            self._end()
            if not said["reason"]:
                remove(self.path)
                continue
            self.trouble = f"{said['reason']}; the graph is being rebuilt"
            match said["verdict"]:
                case "aside" if said["ahead"]:
                    self._bear_witness(said["ahead"], said["reason"].removeprefix("it "))
                case "aside":
                    self._move_aside(said["reason"])
                case "remove":
                    remove(self.path)
                case _:
                    break
        self._want_rebuild()
        raise self._unavailable()

    def _worthless(self, said: dict[str, Any]) -> bool:
        """Whether the graph is to be built anew for its counts; once for each time that the store is opened.

        A graph that refused something differs by that: it is told of, and would be refused again.
        """
        if not said["differences"] or self._mended or said["refused"]:
            return False
        log.error("graph differs from the journal", extra={"differences": "; ".join(said["differences"])})
        self._mended = True
        return True

    def _judge(self, said: dict[str, Any]) -> None:
        """Tell of differences that building anew did not mend; have a file built anew that is far too large."""
        self._checked = True
        self.warning = ""
        if said["differences"]:
            self.warning = f"the graph differs from the journal: {'; '.join(said['differences'])}: `helix rebuild`"
        elif said["overgrown"]:
            self._want_rebuild()

    def _want_rebuild(self) -> None:
        self.needs_rebuild = True
        self.rebuild_wanted()

    def _give_up(self, reason: str) -> None:
        self._end()
        self.trouble = f"the graph is out of use: {reason}; it is being rebuilt"
        self._want_rebuild()
        raise self._unavailable()

    def _move_aside(self, reason: str) -> None:
        aside = move_aside(self.path, to_micros(self._clock()), reason)
        self.trouble = f"the graph file could not be used ({reason}); it was moved to {aside} and is being rebuilt"

    def _bear_witness(self, known: int, how: str) -> None:
        at = to_micros(self._clock())
        kept = witnesses.note_graph_ahead(self._journal, self.path, how, known=known, at=at)
        self.trouble = f"the graph {how}; it is kept as {kept} and is being rebuilt"

    def _end(self, *, folded: bool = False) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if folded:
            try:
                process.ask("end", _START_SECONDS)
            except HelixError as error:
                log.warning("the graph's log was not folded in", extra={"error": str(error)})
        process.kill()

    def _command(self, lock: Path) -> list[str]:
        return python_command("helix.graph.graph_server", json.dumps({**asdict(self._place), "lock": str(lock)}))

    def _look(self) -> float | None:
        """Do what is due; return the seconds until the next look, None where only a change can make something due."""
        try:
            if self._closed:
                return None
            if self._due():
                with self._turn:
                    self._follow_on()
            elif not self._at_rest() and time.monotonic() - self._used >= _IDLE_SECONDS:
                self._rest()
        except HelixError as error:
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            if not self.trouble:
                self.trouble = f"{_BEHIND}{error.message}"
            log.warning("the graph does not follow", extra={"error": str(error)})
        except Exception:  # the thread's outermost boundary: without it, nothing would follow any more
            self._retry_at = time.monotonic() + _RETRY_SECONDS
            log.exception("the graph does not follow")
        return 0.0 if self._due() else self._patience()

    def _follow_on(self) -> None:
        self._start()
        try:
            self._step(_SLICE_MS)
        except ProcessEndedError:  # killed, by whomever: once is no reason to tell anybody
            self._start()
            self._step(_SLICE_MS)

    def _patience(self) -> float | None:
        now = time.monotonic()
        if now < self._retry_at:
            return self._retry_at - now
        return None if self._at_rest() else max(0.05, self._used + _IDLE_SECONDS - now)

    def _due(self) -> bool:
        """Whether rows are to be applied now."""
        behind = self._wanted - self.applied_seq
        if self._asking or self._suspended or behind <= 0 or time.monotonic() < self._retry_at:
            return False
        piled = self._checked and not self._when_asked and behind >= _PILE_ROWS
        return not self.needs_rebuild and (self._process is not None or piled)

    def _at_rest(self) -> bool:
        return self._suspended or self.needs_rebuild or (self._process is None and self._checked)

    def _rest(self) -> None:
        """Compare the counts; then let a process that nobody asked for a while end."""
        with self._turn:
            if self._process is None:
                self._start()
            else:
                said = self._tell("check", _STEP_SECONDS)
                self._note(said)
                worthless = self._worthless(said)
                self._end(folded=True)
                if worthless:
                    remove(self.path)
                    self._start()
                else:
                    self._judge(said)
            self._used = time.monotonic()

    def build(self, progress: Progress, stop: threading.Event | None = None) -> BuiltGraph:
        """Build a new graph of the store beside the one in use, in a process of its own, from the journal's state.

        Raises GraphUnavailableError soon after `stop` is set.
        """
        era = self._era
        target = self.path.with_name(self.path.name + _BUILDING_SUFFIX)
        seq = build_beside(self._command(target.with_suffix(".building-lock")), target, progress, stop)
        return BuiltGraph(path=target, seq=seq, era=era)

    def swap(self, built: BuiltGraph) -> int:
        """Put a built graph in the place of the store's present one; return how many rows were applied on top.

        One that `suspend` has overtaken is thrown away: who suspended the graph builds another.
        """
        if self._suspended or built.era != self._era:
            remove(built.path)
            return 0
        with self._turn:
            self._end()
            remove(self.path)
            for file, place in zip(files_of(built.path), files_of(self.path), strict=True):
                if file.exists():
                    file.rename(place)
            # A difference that is left now is told of, and what is lacking is replayed: neither is built anew again.
            self._checked = self._mended = self._new = True
            self.needs_rebuild = False
            self.trouble = self.warning = ""
            self.applied_seq = built.seq
            self._catch_up(time.monotonic() + _STEP_SECONDS)
            return self.applied_seq - built.seq

    def drop(self, reason: str, *, with_file: bool = False) -> None:
        """Serve the store without a graph until another is swapped in; `with_file` removes the graph too."""
        self.trouble = reason
        self.needs_rebuild = True
        self.refused = ()
        if (process := self._process) is not None:
            process.kill()  # whoever asks it just now is told so, and nobody waits for that
        if with_file:
            with self._turn:
                remove(self.path)

    def suspend(self, reason: str) -> None:
        """Serve the store without a graph until `resume`: with so many changes building it anew takes less.

        A graph whose building began before `resume` is never put in place: replaying what it lacks would take longest.
        """
        self._suspended = True
        self.trouble = reason
        self.refused = ()
        if (process := self._process) is not None:
            process.kill()

    def resume(self) -> bool:
        """Take the store's graph back into use after `suspend`. False when it has to be built anew, by a job."""
        with self._turn:
            self._suspended = False
            self._era += 1
            self._end()
            self.trouble = ""
            self.needs_rebuild = False
            try:
                if not self._when_asked:
                    self._start()
            except HelixError as error:
                log.warning("the graph is not taken back yet", extra={"error": str(error)})
            return not self.needs_rebuild

    def leave(self) -> None:
        """Ask the store's graph nothing any more: who waits for it is told at once that the store is closing."""
        self._closed = True
        if self._asking and (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """Fold the log of the store's graph in, end its process and the thread; closing twice is no error."""
        self.leave()
        self._thread.close(_CLOSE_SECONDS)
        if self._turn.acquire(timeout=_CLOSE_SECONDS):
            self._end(folded=True)
            self._turn.release()
        else:
            self.suspend("the store is closing")
        self._thread.close()
