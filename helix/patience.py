"""Patience: how long a connection is waited for as a whole; its time-out begins anew with every byte."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

_LOOK_SECONDS = 0.2


@dataclass(slots=True)
class Patience:
    """How many seconds something may take, from now on or from when `measure` was last another one."""

    seconds: float
    measure: Callable[[], int] = lambda: 0
    _last: tuple[int, float] = field(init=False)

    def __post_init__(self) -> None:
        self._last = self.measure(), time.monotonic()

    def is_over(self) -> bool:
        """Return whether a connection has taken longer than patience lasts."""
        now, measured = time.monotonic(), self.measure()
        if measured != self._last[0]:
            self._last = measured, now
        return now - self._last[1] > self.seconds


@contextmanager
def ending(connected: socket.socket, is_over: Callable[[], bool]) -> Iterator[None]:
    """End a connection from this side once patience `is_over`: whoever reads from it then meets its end."""
    left = threading.Event()

    def watch() -> None:
        while not left.wait(_LOOK_SECONDS):
            if is_over():
                with suppress(OSError):
                    # Not that of TLS, behind which whoever reads finds no connection at all.
                    socket.socket.shutdown(connected, socket.SHUT_RDWR)
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        left.set()
        watching.join()


class _Opened(Protocol):
    """A file or a socket."""

    def fileno(self) -> int:
        """Return the number that the system has for a connection."""


_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)
"""`select` itself fails for numbers from 1,024 on, which a process with many connections has."""


def is_ready(opened: _Opened, event: int, seconds: float) -> bool:
    """Return whether an event of a connection, an end or an error comes within the time; at once where that is 0."""
    with _Selector() as selector:
        selector.register(opened, event)
        return bool(selector.select(max(0.0, seconds)))
