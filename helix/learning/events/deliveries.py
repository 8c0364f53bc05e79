"""Deliveries: a hook that a client tells of twice is reacted to once, and answered as it was the first time."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

MOST_KNOWN = 4_096
"""How many deliveries are known; what happened before is told apart by its id in the store (`with_evidence`)."""
MOST_ANSWERS = 64
"""Of how many of them the answer is held too."""

_LONGEST_WAIT = 1.0

Answer = dict[str, Any]


class Deliveries:
    """The deliveries that came last, with their answers. Safe from any thread; nothing of it is on disk."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, None] = OrderedDict()
        self._answers: OrderedDict[str, Future[Answer]] = OrderedDict()
        self._turn = threading.Lock()

    def once(self, key: str, answer: Callable[[], Answer], until: float | None = None) -> Answer:
        """Return what `answer` does, or did for the same key; `{}` where that is not there by `until`, or not any more.

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
            return _awaited(first, until)
        said: Answer = {}
        try:
            said = answer()
        finally:
            own.set_result(said)
        return said


def _awaited(first: Future[Answer] | None, until: float | None) -> Answer:
    """Return the answer that is being given to the first of two, which may still be under way."""
    left = _LONGEST_WAIT if until is None else min(max(until - time.monotonic(), 0.0), _LONGEST_WAIT)
    try:
        return {} if first is None else first.result(left)
    except TimeoutError:
        return {}
