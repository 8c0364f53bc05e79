"""The daemons that the soak starts and kills: whole process trees, single children, and what they said at their end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix.client import Client

ROOT = Path(__file__).resolve().parents[2]
MARK = "SOAK_RUN"
PAUSE = 0.01
START_LIMIT = 45.0
"""Seconds after which a start counts as hung on a machine that has nothing else to do."""


def within(limit: float) -> float:
    """Return a limit in seconds for a machine as busy as this one: longer by what wants its cores at once."""
    return limit * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Ended(Exception):
    """A daemon ended before it was ready: `code` is its exit code, negative for a signal; `words` what it wrote."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(f"ended with {code}: {words[-600:]}")
        self.code = code
        self.words = words


class Hung(Exception):
    """A daemon that is neither ready nor gone within the limit, or one that does not answer."""


class Zygote:
    """The process that forks daemons; every process of a run carries the run's mark in its environment."""

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        path = os.pathsep.join((str(ROOT / "scripts"), str(ROOT)))
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.soak_zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": path,
                MARK: self.mark,
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
            },
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and return its answer."""
        with self._turn:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._process.stdout.readline())
            return answer

    def others(self) -> list[int]:
        """Return the processes of the run, the zygote left out."""
        wanted, found = f"{MARK}={self.mark}".encode(), []
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal() and int(entry.name) != self._process.pid:
                with suppress(OSError):
                    if wanted in Path(entry.path, "environ").read_bytes().split(b"\0"):
                        found.append(int(entry.name))
        return found

    def kill_others(self) -> None:
        """SIGKILL every process of the run, until there is none."""
        until = time.monotonic() + within(START_LIMIT)
        doomed: set[int] = set()
        # A process that is ending has no environment any more and still holds its files: it is watched by its number.
        while (fresh := set(self.others()) - doomed) or any(map(_alive, doomed)):
            doomed |= fresh
            for pid in fresh:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if time.monotonic() > until:
                raise Hung(f"processes that SIGKILL does not end: {doomed}")
            time.sleep(0.002)

    def close(self) -> None:
        """Kill everything and leave."""
        self.kill_others()
        self._process.kill()
        self._process.communicate()


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
        # The first thread of a process may be over while another still holds its files.
        return state != "Z" or len(os.listdir(f"/proc/{pid}/task")) > 1  # noqa: PTH208  # a list is wanted
    except OSError:
        return False


@dataclass(slots=True)
class Running:
    """A daemon that answers. `started_in` is in seconds, from the fork to its announcement."""

    pid: int
    url: str
    token: str
    started_in: float

    def client(self, timeout: float = 30.0) -> Client:
        """Return a client of its own connection."""
        return Client(self.url, self.token, timeout)


class Home:
    """One HELIX_HOME with one store, and the daemons of it."""

    def __init__(self, folder: Path, zygote: Zygote, settings: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.zygote = zygote
        self.store = folder / "store"
        self.settings = dict(settings or {})
        self.pid = 0
        self._begun = 0.0
        folder.mkdir(parents=True, exist_ok=True)

    def environment(self) -> dict[str, str]:
        """Return what the daemon's environment has beside this process's."""
        given = {f"HELIX_{name.upper()}": value for name, value in self.settings.items()}
        return {"HELIX_HOME": str(self.folder), "HELIX_MODELS": "", "HOME": str(self.folder), **given}

    def begin(self) -> None:
        """Fork a daemon and return at once."""
        self._begun = time.monotonic()
        arguments = ["--json", "serve", "--idle-exit", "0"]
        words = str(self.folder / "words")
        self.pid = self.zygote.ask(serve=arguments, env=self.environment(), words=words)["pid"]

    def ended(self) -> int | None:
        """Return the exit code of the daemon, negative for a signal, or None while it runs."""
        status = self.zygote.ask(poll=self.pid)["ended"]
        return None if status is None else os.waitstatus_to_exitcode(status)

    def words(self) -> str:
        """Return what the daemon wrote."""
        path = self.folder / "words"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    def ready(self, limit: float = START_LIMIT) -> Running:
        """Wait until the daemon that was begun answers; raises Ended and Hung."""
        until = self._begun + within(limit)
        while True:
            with suppress(OSError, ValueError, KeyError, TypeError):
                path = self.store / "daemon.json"
                if path.is_file():
                    record = json.loads(path.read_text("utf-8"))
                    if record["pid"] == self.pid:
                        token = (self.store / "token").read_text("ascii").strip()
                        return Running(self.pid, record["url"], token, time.monotonic() - self._begun)
            code = self.ended()
            if code is not None:
                raise Ended(code, self.words())
            if time.monotonic() > until:
                raise Hung(f"not ready after {time.monotonic() - self._begun:.0f} s")
            time.sleep(PAUSE)

    def start(self, limit: float = START_LIMIT) -> Running:
        """Fork a daemon and wait for it."""
        self.begin()
        return self.ready(limit)

    def stop(self, limit: float = START_LIMIT) -> bool:
        """Send SIGTERM and wait; False where the daemon stays, which is then killed."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        until = time.monotonic() + within(limit)
        while self.ended() is None:
            if time.monotonic() > until:
                self.kill()
                return False
            time.sleep(PAUSE)
        return True

    def kill(self) -> None:
        """SIGKILL the daemon and all that it started."""
        self.zygote.kill_others()
        while self.pid and self.ended() is None:
            time.sleep(0.002)

    def kill_child(self, rng: random.Random) -> str:
        """SIGKILL one child of the daemon; return its command line, empty where there is none."""
        children = [pid for pid in self.zygote.others() if pid != self.pid]
        if not children:
            return ""
        pid = rng.choice(children)
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            os.kill(pid, signal.SIGKILL)
            return line.strip()
        return ""
