"""A process of its own for Kuzu, and the pipe on which it is asked: one question, then its answer.

Nothing that a statement does can reach who asks. A process that ends, hangs or fills its memory costs that one question
an error; the next question starts another.
"""

from __future__ import annotations

import io
import os
import pickle
import selectors
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from subprocess import DEVNULL, PIPE, Popen
from typing import IO, Any

from helix import errors
from helix.errors import GraphUnavailableError, HelixError, InvalidInputError, QueryTimeoutError
from helix.graph.refusals import OutOfMemoryError
from helix.patience import is_ready
from helix.processes import NEUTRAL_FOLDER, bare_environment

_LENGTH = struct.Struct(">Q")
LARGEST_ANSWER = 64 << 20
"""Bytes of one answer: a statement may ask for lists of any length."""
_PIECE = 1 << 20
_GRACE_SECONDS = 2.0
"""How long behind its own time limit a process may answer before it is ended."""
_HEARS_WITHIN_SECONDS = 10.0
"""How long a process may leave a question unread: it reads in a thread of its own, whatever it is doing."""
_HARMLESS = {
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "uuid": {"UUID"},
}
"""What an answer may be made of beside plain values: what Kuzu has types for."""


class ProcessEndedError(GraphUnavailableError):
    """The graph's process ended before it answered."""


class _Plain(pickle.Unpickler):
    """Reads answers that hold values only: what a damaged graph file does to Kuzu must not reach who asks."""

    def find_class(self, module: str, name: str) -> Any:
        if name in _HARMLESS.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no value of a graph")


class GraphProcess:
    """A running process. `ask` is for one thread at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start the command, whose program answers questions; raises GraphUnavailableError where it cannot start."""
        self._asking = threading.RLock()
        try:
            self._process = Popen(
                command,
                cwd=NEUTRAL_FOLDER,
                env=bare_environment(),
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                bufsize=0,
            )
            assert self._process.stdin is not None
            os.set_blocking(self._process.stdin.fileno(), False)
        except OSError as error:
            raise GraphUnavailableError(f"the graph's process cannot be started: {error}") from error

    @property
    def pid(self) -> int:
        """The number of the graph's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the graph's process runs, as far as this end knows."""
        return self._process.returncode is None

    def runs(self) -> bool:
        """Return whether the graph's process runs, asking the system."""
        return self._process.poll() is None

    def ask(self, question: str, seconds: float, **named: Any) -> Any:
        """Ask the graph's process and return the answer; raises the HelixError that it answered with.

        Raises ProcessEndedError when it ended instead, and QueryTimeoutError when it took longer than `seconds` and a
        little: it is ended then.
        """
        with self._using_pipes():
            self.tell(question, **named)
            return self.hear(seconds)[1]

    @contextmanager
    def _using_pipes(self) -> Iterator[None]:
        """Keep the pipes open though another thread ends the graph's process meanwhile: that closes them at its end.

        The number of a closed one may be another file's at once, for which the asking thread would wait.
        """
        with self._asking:
            try:
                yield
            finally:
                if not self.alive:
                    self._close_pipes()

    def tell(self, question: str, **named: Any) -> None:
        """Ask the graph's process without waiting for the answer."""
        assert self._process.stdin is not None
        left, until = memoryview(packed((question, named))), time.monotonic() + _HEARS_WITHIN_SECONDS
        try:
            while left:
                if not is_ready(self._process.stdin, selectors.EVENT_WRITE, until - time.monotonic()):
                    raise TimeoutError("it does not read what it is asked")
                left = left[os.write(self._process.stdin.fileno(), left) :]
        except (OSError, ValueError) as error:  # the latter where the pipe was closed by `kill`
            raise self._ended() from error

    def hear(self, seconds: float) -> tuple[str, Any]:
        """Wait for what the graph's process says, ("progress" or "answer", what); raises what `ask` does."""
        assert self._process.stdout is not None
        until = time.monotonic() + seconds + _GRACE_SECONDS
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size, until))
        if length > LARGEST_ANSWER:
            self.kill()
            raise InvalidInputError(
                f"the answer has more than {LARGEST_ANSWER >> 20} MiB", hint="return less: properties, not lists"
            )
        try:
            kind, *said = _Plain(io.BytesIO(self._read(length, until))).load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError) as error:
            raise self._ended() from error
        if kind == "error":
            name, message, hint = said
            of_its_name = OutOfMemoryError if name == OutOfMemoryError.__name__ else getattr(errors, name, None)
            raise (of_its_name or GraphUnavailableError)(message, hint=hint)
        return kind, said[0]

    def waits(self, seconds: float) -> bool:
        """Return whether an answer of the graph's process comes within the time."""
        assert self._process.stdout is not None
        try:
            return is_ready(self._process.stdout, selectors.EVENT_READ, seconds)
        except (OSError, ValueError) as error:  # `kill` closed it: another thread wants the process gone
            raise self._ended() from error

    def _read(self, length: int, until: float) -> bytes:
        assert self._process.stdout is not None
        pieces = bytearray()
        while len(pieces) < length:
            if not self.waits(until - time.monotonic()):
                self.kill()
                raise QueryTimeoutError(
                    "the query ran into its time limit", hint="narrow the pattern or raise the limit"
                )
            try:
                piece = os.read(self._process.stdout.fileno(), min(_PIECE, length - len(pieces)))
            except (OSError, ValueError) as error:
                raise self._ended() from error
            if not piece:
                raise self._ended()
            pieces += piece
        return bytes(pieces)

    def _ended(self) -> ProcessEndedError:
        code = self.kill()
        return ProcessEndedError(
            f"the graph's process ended (exit code {code}) before it answered",
            hint="nothing is lost, and the next question starts it again; a Cypher statement that ends it is one that "
            "Kuzu fails at: write it in another way",
        )

    def kill(self) -> int:
        """End the graph's process at once; return its exit code."""
        self._process.kill()
        code = self._process.wait()
        if self._asking.acquire(blocking=False):  # else the thread that asks meets the end of the pipe, and closes it
            try:
                self._close_pipes()
            finally:
                self._asking.release()
        return code

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue  # what was still to be written to it is not wanted any more


def ask_once(command: Sequence[str], question: str, seconds: float, **named: Any) -> Any:
    """Ask a graph's process that is started for this one question, and return the answer; raises what asking does."""
    process = GraphProcess(command)
    try:
        return process.ask(question, seconds, **named)
    finally:
        process.kill()


def packed(value: object) -> bytes:
    """Return one value as it goes through the pipe to the graph's process, with its length before it."""
    content = pickle.dumps(value, protocol=5)
    return _LENGTH.pack(len(content)) + content


def send(stream: IO[bytes], value: object) -> None:
    """Write one value to the pipe of the graph's process."""
    stream.write(packed(value))
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one value from the pipe of the graph's process; raises EOFError where the other end has gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    return pickle.loads(stream.read(_LENGTH.unpack(head)[0]))


def error_answer(error: HelixError) -> tuple[str, str, str, str | None]:
    """Return an error as the graph's process answers it."""
    return ("error", type(error).__name__, error.message, error.hint)
