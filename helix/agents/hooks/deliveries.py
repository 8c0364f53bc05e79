"""Deliveries: a hook that a client tells of twice is reacted to once, and answered as it was the first time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

MOST_KNOWN = 4_096
"""How many deliveries are known; what happened before is told apart by its id in the store (`with_evidence`)."""
MOST_ANSWERS = 64
"""Of how many of them the answer is held too."""

_LONGEST_WAIT = 1.0

T = TypeVar("T")


class Deliveries(Generic[T]):
    """The deliveries that came last, with their answers. Safe from any thread; nothing of it is on disk."""

    def __init__(self, nothing: Callable[[], T]) -> None:
        """`nothing` makes what is answered where there is no answer, or none any more."""
        self._nothing = nothing
        self._known: OrderedDict[str, None] = OrderedDict()
        self._answers: OrderedDict[str, Future[T]] = OrderedDict()
        self._turn = threading.Lock()

    def once(self, key: str, answer: Callable[[], T], until: float | None = None) -> T:
        """Return what `answer` does, or did for the same key; nothing where that is not there by `until` or any more.

        An empty key is known to nobody: such a delivery is answered each time.
        """
        if not key:
            return answer()
        with self._turn:
            known, first = key in self._known, self._answers.get(key)
            if not known:
                own = self._answers[key] = Future()
                self._known[key] = None
                if len(self._known) > MOST_KNOWN:
                    self._known.popitem(last=False)
                if len(self._answers) > MOST_ANSWERS:
                    self._answers.popitem(last=False)
        if known:
            return self._awaited(first, until)
        said = self._nothing()
        try:
            said = answer()
        finally:
            own.set_result(said)
        return said

    def forget(self) -> None:
        """Let go of the answers; what was delivered stays known."""
        with self._turn:
            self._answers.clear()

    def _awaited(self, first: Future[T] | None, until: float | None) -> T:
        """Return the answer that is being given to the first of two, which may still be under way."""
        left = _LONGEST_WAIT if until is None else min(max(until - time.monotonic(), 0.0), _LONGEST_WAIT)
        try:
            return self._nothing() if first is None else first.result(left)
        except TimeoutError:
            return self._nothing()
