"""A real daemon under measurement: how it starts, what it holds, and how it ends, well or not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks.quality_store import ROOT
from benchmarks.speed_corpus import Phrases
from helix import bearer, daemon
from helix.client import Client
from helix.errors import DaemonError
from helix.settings import Settings

_PAUSE_SECONDS = 0.01
_GONE_SECONDS = 30.0


class Running:
    """A daemon that was started by this process, with one client of it. `started_in` ends with its first answer."""

    def __init__(self, settings: Settings) -> None:
        """Start it; `started_in` is in seconds, from the call to the answer to a question."""
        if daemon.find(settings.store_path) is not None:
            raise DaemonError(f"a daemon already serves {settings.store_path}", hint="`helix stop` stops it")
        question = Phrases(random.Random(time.time_ns())).question()
        started = time.perf_counter()
        self.client: Client = daemon.ensure_running(settings, idle_minutes=0)
        self.client.run("recall", query=question)
        self.started_in = time.perf_counter() - started
        found = daemon.find(settings.store_path)
        assert found is not None  # it has just answered
        self.pid = found.pid
        self.url = found.url
        self._settings = settings

    def stop(self) -> None:
        """Have it close its store and leave."""
        self.client.close()
        daemon.stop(self._settings)

    def kill(self) -> None:
        """End it at once, as a power cut would, unless it is gone already."""
        self.client.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        until = time.monotonic() + _GONE_SECONDS
        while daemon.find(self._settings.store_path) is not None and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)

    def memory(self) -> dict[str, float]:
        """Return resident memory, the anonymous part of it, and the most there was, in MB (10^6 bytes).

        The rest is mapped from files, the image of the store for one, and the system drops it where memory is short.
        Without /proc there is only what the daemon says itself.
        """
        status = Path(f"/proc/{self.pid}/status")
        if not status.exists():
            return {"resident_mb": round(self.client.run("status")["status"]["memoryBytes"] / 1e6, 1)}
        fields = dict(line.split(":", 1) for line in status.read_text("ascii").splitlines() if ":" in line)
        return {
            name: round(int(fields[key].split()[0]) * 1024 / 1e6, 1)
            for name, key in (("resident_mb", "VmRSS"), ("anonymous_mb", "RssAnon"), ("peak_mb", "VmHWM"))
            if key in fields
        }

    def cpu_seconds(self) -> float | None:
        """Return the CPU time it has used so far, or None where there is no /proc to say so."""
        stat = Path(f"/proc/{self.pid}/stat")
        if not stat.exists():
            return None
        fields = stat.read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def ask(self, **work: Any) -> dict[str, Any]:
        """Have clients in a process of their own ask; the fields are those of `benchmarks.speed_clients.Work`."""
        token = (self._settings.store_path / bearer.TOKEN_FILE).read_text("utf-8").strip()
        return asked({"url": self.url, "token": token, **work})

    def settle(self) -> None:
        """Wait until nothing is at work in the background."""
        while any(job["state"] == "RUNNING" for job in self.client.run("status")["status"]["jobs"]):
            time.sleep(0.5)

    def wait(self, job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield a job as it stands, again and again until it has ended."""
        while job["state"] == "RUNNING":
            yield job
            time.sleep(0.1)
            job = self.client.run("job", id=job["id"])["job"]
        yield job


@contextmanager
def running(settings: Settings) -> Iterator[Running]:
    """Yield a daemon that is stopped at the end, also where something failed."""
    started = Running(settings)
    try:
        yield started
    finally:
        if daemon.find(settings.store_path) is not None:
            started.stop()


def asked(work: Mapping[str, Any]) -> dict[str, Any]:
    """Run `benchmarks.speed_clients` on the work and return what it measured."""
    command: Sequence[str] = (sys.executable, "-m", "benchmarks.speed_clients")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "scripts"), str(ROOT)))}
    answer = subprocess.run(command, input=json.dumps(work), env=environment, stdout=subprocess.PIPE, text=True)
    if answer.returncode:
        raise DaemonError("the process that asks has failed", hint="what it said is above")
    result: dict[str, Any] = json.loads(answer.stdout)
    return result
