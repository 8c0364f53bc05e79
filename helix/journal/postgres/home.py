"""Home: a process that serves tenants tells the server that it lives, and takes over from those that are gone."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from helix import files
from helix.errors import ConfigError, HelixError, StoreLockedError
from helix.journal.postgres.postgres_server import Server
from helix.journal.postgres.tenant_states import ACTIVE, step_drawn

log = logging.getLogger(__name__)

LIVES_SECONDS = 7.0
"""How long a process counts as living after it said so last, by the server's clock."""
_RENEWED_SECONDS = 2.0
_CLAIMED_WITHIN_SECONDS = 15.0
"""Longer than a home that was killed counts as living, and than the server keeps a session that was cut off."""
_LOOK_SECONDS = 0.25
_NAME = re.compile(r"process (?P<pid>\d+) on .* \((?P<machine>[0-9a-f]{8})\)")


class ClaimedEpoch(NamedTuple):
    """The epoch of a tenant's new home, and that of the one `before`."""

    epoch: int
    before: int


class Home:
    """This process, as the server knows it; it may be home to many tenants."""

    def __init__(self, server: Server, url: str = "", beside: Sequence[Server] = ()) -> None:
        """Say that this process lives; `url` is where other processes may hand requests on to it.

        Where the server hangs, nobody waits longer than this process counts as living: neither at `server`, by which it
        is home to tenants, nor at those `beside`.

        Raises ConfigError where another process goes on living at the same address.
        """
        # A connection of its own: those of the readers may all be lent while it has to be said that this process lives,
        # and who becomes home to a tenant may wait for a standby.
        self._server = Server(server.url, most=1)
        self._tables = server
        self._all = (self._server, server, *beside)
        self.id = uuid.uuid4()
        self.url = url
        self._name = f"process {os.getpid()} on {socket.gethostname()} ({_machine()})"
        self._ended = threading.Event()
        self._claimed: dict[int, tuple[int, int]] = {}
        """Of each tenant of this process its epoch, and how many transactions of it are known to be durable."""
        self._renewed = _now()
        self._taken: set[int] = set()
        try:
            self._check_address()
            self._server.renew(self.id, self._name, self.url, LIVES_SECONDS)
        except HelixError:
            self._server.close()
            raise
        self._thread = threading.Thread(target=self._renew, name="helix-home", daemon=True)
        self._thread.start()

    def _check_address(self) -> None:
        """Wait for other processes at the same address to count as gone; of this machine it is known who has ended."""
        until = time.monotonic() + _CLAIMED_WITHIN_SECONDS
        while self.url and (other := next(filter(_goes_on, self._server.living_at(self.url)), None)):
            if time.monotonic() >= until:
                raise ConfigError(
                    f"{other} is reached at {self.url} too, and requests would go to the wrong one",
                    hint="say --internal http://ADDRESS-OF-THIS-MACHINE:PORT",
                )
            time.sleep(_LOOK_SECONDS)

    @property
    def lives(self) -> bool:
        """Whether PostgreSQL was told lately that this process lives."""
        return _now() - self._renewed <= LIVES_SECONDS

    def lost(self, tenant: int) -> bool:
        """Return whether another process may hold a tenant's tables in PostgreSQL by now.

        It was taken, PostgreSQL lost what it had acknowledged, or is out of reach.
        """
        return tenant in self._taken or not self.lives

    def claim(self, tenant: int, states: Sequence[str] = (ACTIVE,)) -> ClaimedEpoch:
        """Become a tenant's home in PostgreSQL; waits for a killed home to count as gone.

        Raises StoreLockedError where another one goes on living, and StoreError for a tenant in another state.
        """
        until = time.monotonic() + _CLAIMED_WITHIN_SECONDS
        while True:
            try:
                step = step_drawn()
                epoch = self._tables.claim(tenant, self.id, states, self.url, step)
                self._taken.discard(tenant)
                self._claimed[tenant] = epoch, 0
                return ClaimedEpoch(epoch, before=epoch - step)
            except StoreLockedError:
                if time.monotonic() >= until:
                    raise
            time.sleep(_LOOK_SECONDS)

    def committed(self, tenant: int, epoch: int, commits: int) -> None:
        """Note that so many transactions of a tenant are durable in PostgreSQL, as its home of an epoch was told."""
        if tenant in self._claimed:
            self._claimed[tenant] = max(self._claimed[tenant], (epoch, commits))

    def release(self, tenant: int) -> None:
        """Give a tenant's tables in PostgreSQL free: another process may serve it at once."""
        self._claimed.pop(tenant, None)
        if not self.lives:  # the server is out of reach; who asks it next finds that this process does not live
            return
        try:
            self._tables.release(tenant, self.id)
        except HelixError as error:  # it stays this process's while that lives, which may claim it again
            log.warning("the server was not told that a tenant is free", extra={"error": str(error)})

    def close(self) -> None:
        """Give all tenants of this process back in PostgreSQL; twice is no error."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        try:
            self._server.leave(self.id)
        except HelixError as error:  # it counts as gone a little later
            log.warning("the server was not told that this process ends", extra={"error": str(error)})
        finally:
            self._server.close()

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_SECONDS):
            asked = _now()
            hangs = threading.Timer(LIVES_SECONDS, self._cut)
            hangs.daemon = True
            hangs.start()
            try:
                known = dict(self._claimed)
                self._server.renew(self.id, self._name, self.url, LIVES_SECONDS)
                homes = self._server.homes(self.id)
                # One that knows of less is another's by now, or a standby or a copy that lacks what was acknowledged.
                behind = {tenant for tenant, reach in known.items() if homes.get(tenant, (0, 0)) < reach}
                self._taken |= behind & self._claimed.keys()
                self._renewed = asked  # behind: who slept lives again once it is known what was taken meanwhile
            except HelixError as error:  # whoever takes over fences this process off
                log.warning("the server was not told that this process lives", extra={"error": str(error)})
            finally:
                hangs.cancel()

    def _cut(self) -> None:
        """Give up whoever answers nothing at all: a server that hangs keeps its connections open, and its place."""
        log.warning("the server does not answer: its connections are cut")
        for one in self._all:
            one.cut()


def _machine() -> str:
    """Return what tells this machine, or this container, from others that may have the same name."""
    try:
        own = [str(Path("/proc/self/ns", one).readlink()) for one in ("net", "pid")]
        own.append(files.read_text("/proc/sys/kernel/random/boot_id"))
    except OSError:
        own = [f"{uuid.getnode():x}"]
    return hashlib.sha256(" ".join(own).encode()).hexdigest()[:8]


def _goes_on(name: str) -> bool:
    """Return whether a process that the server knows by a name may go on living."""
    told = _NAME.fullmatch(name)
    if told is None or told["machine"] != _machine():
        return True
    pid = int(told["pid"])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid != os.getpid()


def _now() -> float:
    """Return seconds that go on while the machine sleeps, where it has such a clock: the server's goes on, too."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
