"""Home: a process that serves tenants tells the server that it lives, and takes over from those that are gone."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid

from helix.errors import HelixError, StoreLockedError
from helix.journal.postgres.postgres_server import Server

log = logging.getLogger(__name__)

LIVES_SECONDS = 10.0
"""How long a process counts as living after it said so last, by the server's clock."""
_RENEWED_SECONDS = 3.0
_LOOK_SECONDS = 0.25


class Home:
    """This process, as the server knows it; it may be home to many tenants."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._id = uuid.uuid4()
        self._name = f"process {os.getpid()} on {socket.gethostname()}"
        self._ended = threading.Event()
        self._claimed: set[int] = set()
        self._renewed = time.monotonic()
        self._taken = False
        self._server.renew(self._id, self._name, LIVES_SECONDS)
        self._thread = threading.Thread(target=self._renew, name="helix-home", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> bool:
        """Whether another process may serve one of its tenants by now: one was taken, or the server is out of reach."""
        return self._taken or time.monotonic() - self._renewed > LIVES_SECONDS

    def claim(self, tenant: int) -> int:
        """Become the home of a tenant and return its epoch; waits for a home that was killed to count as gone.

        Raises StoreLockedError where another one goes on living.
        """
        until = time.monotonic() + LIVES_SECONDS + 1
        while True:
            try:
                epoch = self._server.claim(tenant, self._id)
                self._claimed.add(tenant)
                return epoch
            except StoreLockedError:
                if time.monotonic() >= until:
                    raise
            time.sleep(_LOOK_SECONDS)

    def close(self) -> None:
        """Give all tenants back; twice is no error."""
        if self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        try:
            self._server.leave(self._id)
        except HelixError as error:  # it counts as gone a little later
            log.warning("the server was not told that this process ends", extra={"error": str(error)})

    def _renew(self) -> None:
        while not self._ended.wait(_RENEWED_SECONDS):
            asked = time.monotonic()
            try:
                self._server.renew(self._id, self._name, LIVES_SECONDS)
                self._renewed = asked
                self._taken = self._taken or not self._claimed <= self._server.homes(self._id)
            except HelixError as error:  # whoever takes over fences this process off
                log.warning("the server was not told that this process lives", extra={"error": str(error)})
