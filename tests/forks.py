"""Processes of the tests that are forks of one which has loaded what they run, as loading it takes longest.

Run as a program it is that one. On a socket at its standard input it reads messages, each answered by one: a process to
start, in JSON and with its standard streams, is answered with its number; a number with the exit code of that process,
or with nothing while it runs.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

_PIECE = 1 << 16
_END = b"\n"
_RUNNING = b"-"


class Forks:
    """Starts processes in place of `Popen`: `python -m MODULE ...`, where loading MODULE is most of what they do."""

    def __init__(self, *modules: str) -> None:
        """Load some modules, for all forks."""
        self._turn = threading.Lock()
        self._asks, answers = socket.socketpair()
        calm = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # NumPy reads it as it is loaded
        path = {"PYTHONPATH": str(Path(__file__).parent.parent)}
        with answers:
            self._forking = subprocess.Popen(
                [sys.executable, __file__, *modules], stdin=answers, env={**os.environ, **calm, **path}
            )

    def __call__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | str,
        env: Mapping[str, str],
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.PIPE,
        stderr: int | None = None,
        text: bool = False,
        bufsize: int = 0,
    ) -> Fork:
        """Start a process as `Popen` does; its standard output is a pipe, and a file may take its errors."""
        sys.audit("subprocess.Popen", command[0], list(command), str(cwd), dict(env))
        null = os.open(os.devnull, os.O_RDWR)
        reads, asks = os.pipe() if stdin == subprocess.PIPE else (os.dup(null), -1)
        answers, writes = os.pipe()
        try:
            told = json.dumps({"command": list(command), "cwd": str(cwd), "env": dict(env)})
            errors = {None: 2, subprocess.DEVNULL: null}.get(stderr, stderr)
            assert errors is not None
            pid = int(self.ask(told, reads, writes, errors))
        finally:
            for one in (null, reads, writes):
                os.close(one)
        hears = os.fdopen(answers, "r", encoding="utf-8") if text else os.fdopen(answers, "rb", buffering=bufsize)
        return Fork(self, pid, None if asks < 0 else os.fdopen(asks, "wb", buffering=0), hears)

    def ask(self, message: str, *streams: int) -> bytes:
        """Send a message, and return the answer."""
        with self._turn:
            socket.send_fds(self._asks, [message.encode() + _END], streams)
            return _read(self._asks)[0]

    def close(self) -> None:
        """End it; what it forked goes on."""
        self._asks.close()
        self._forking.wait()


@cache
def forks_of(*modules: str) -> Forks:
    """Return what forks processes that run some modules, the same whenever it is asked for."""
    made = Forks(*modules)
    atexit.register(made.close)
    return made


class Fork:
    """A process that was started so, with what is used of a `Popen`."""

    def __init__(self, forks: Forks, pid: int, stdin: IO[Any] | None, stdout: IO[Any]) -> None:
        self._forks = forks
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self._turn = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        with self._turn:  # how it ended is told once
            if self.returncode is None and (code := self._forks.ask(str(self.pid))) != _RUNNING:
                self.returncode = int(code)
            return self.returncode

    def wait(self, timeout: float = 600.0) -> int:
        """Return the exit code once there is one."""
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            assert time.monotonic() < until, "it never ended"
            time.sleep(0.002)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal while it runs."""
        with self._turn:  # its number may be another's once that was told
            if self.returncode is None:
                os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it: -9."""
        self.send_signal(signal.SIGKILL)


def _read(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next message and what came with it; an empty one where the other end has gone."""
    message, streams = b"", list[int]()
    while not message.endswith(_END):
        piece, more, _, _ = socket.recv_fds(connection, _PIECE, 3)
        if not piece:
            return b"", streams
        message += piece
        streams += more
    return message.removesuffix(_END), streams


def _become(streams: Sequence[int], command: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
    """Be the process of a command; never returns."""
    for stream, place in zip(streams, range(3), strict=True):
        os.dup2(stream, place)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    os.nice = lambda _: 0  # a test waits for it: on a busy machine it is to take turns with all else
    module, sys.argv = command[command.index("-m") + 1], [*command[command.index("-m") + 1 :]]
    code: object = 0
    try:
        sys.modules.pop(module, None)
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def main(modules: Sequence[str]) -> None:
    """Serve until nobody asks any more."""
    asked = socket.socket(fileno=os.dup(0))
    for module in modules:
        importlib.import_module(module)
    gc.freeze()  # or each fork would copy what it looks at
    while True:
        message, streams = _read(asked)
        if not message:
            return
        if streams:
            pid = os.fork()
            if not pid:
                asked.close()
                _become(streams, **json.loads(message))
            for stream in streams:
                os.close(stream)
            asked.sendall(str(pid).encode() + _END)
        else:
            pid, status = os.waitpid(int(message), os.WNOHANG)
            asked.sendall((str(os.waitstatus_to_exitcode(status)).encode() if pid else _RUNNING) + _END)


if __name__ == "__main__":
    main(sys.argv[1:])
