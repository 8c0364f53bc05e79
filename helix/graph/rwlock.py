"""A fair shared/exclusive lock: whoever asks first goes first, so that neither readers nor writers starve."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class _Ticket:
    __slots__ = ("admitted", "exclusive")

    def __init__(self, exclusive: bool) -> None:
        self.exclusive = exclusive
        self.admitted = threading.Event()


class FairLock:
    """Shared for readers, exclusive for a writer, strictly first come first served. Not re-entrant."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[_Ticket] = deque()
        self._readers = 0
        self._writing = False

    @property
    def waiting(self) -> int:
        """How many ask for the lock and have not got it."""
        return len(self._waiting)

    @property
    def held_shared(self) -> int:
        """How many readers hold the lock."""
        return self._readers

    @contextmanager
    def shared(self, timeout: float | None = None) -> Iterator[bool]:
        """Hold the lock beside other readers. Yields False, holding nothing, when `timeout` seconds ran out."""
        ticket = self._enter(exclusive=False)
        if not ticket.admitted.wait(timeout) and self._give_up(ticket):
            yield False
            return
        try:
            yield True
        finally:
            self._leave(exclusive=False)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock alone."""
        ticket = self._enter(exclusive=True)
        ticket.admitted.wait()
        try:
            yield
        finally:
            self._leave(exclusive=True)

    def _enter(self, *, exclusive: bool) -> _Ticket:
        ticket = _Ticket(exclusive)
        with self._guard:
            self._waiting.append(ticket)
            self._admit()
        return ticket

    def _give_up(self, ticket: _Ticket) -> bool:
        """Leave the queue; False when the ticket was admitted at the last moment."""
        with self._guard:
            if ticket.admitted.is_set():
                return False
            self._waiting.remove(ticket)
            self._admit()
            return True

    def _leave(self, *, exclusive: bool) -> None:
        with self._guard:
            if exclusive:
                self._writing = False
            else:
                self._readers -= 1
            self._admit()

    def _admit(self) -> None:
        while self._waiting and not self._writing:
            ticket = self._waiting[0]
            if ticket.exclusive and self._readers:
                return
            self._waiting.popleft()
            if ticket.exclusive:
                self._writing = True
            else:
                self._readers += 1
            ticket.admitted.set()
