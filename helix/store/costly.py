"""Costly answers: what takes seconds to work out of the whole graph is kept for a while, worked out once for all."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

_MOST = 8
_COSTLY_SECONDS = 0.5
_TIMES_AS_LONG = 30
"""How many times as long as it took an answer is good for though the store has changed: it takes a thirtieth then."""


class _KeptAnswer(NamedTuple):
    generation: int
    seq: int
    until: float
    answer: Any


class CostlyAnswers:
    """The last answers to questions about a whole store. Safe from any thread; whoever asks the same at once waits."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """`now` returns seconds."""
        self._now = now
        self._guard = threading.Lock()
        self._kept: dict[Hashable, _KeptAnswer] = {}

    def of(self, question: Hashable, generation: int, seq: int, work: Callable[[], Any]) -> Any:
        """Return the answer that `work` gives to a question about a store at a generation and a row of its log.

        An answer is given again as long as the store is as it was, and one that took long for some time after that.
        """
        with self._guard:
            kept = self._kept.pop(question, None)
            if kept is None or kept.generation != generation or (kept.seq != seq and self._now() >= kept.until):
                kept = self._worked_out(generation, seq, work)
            self._kept[question] = kept
            while len(self._kept) > _MOST:
                del self._kept[next(iter(self._kept))]
            return kept.answer

    def _worked_out(self, generation: int, seq: int, work: Callable[[], Any]) -> _KeptAnswer:
        started = self._now()
        answer = work()
        seconds = self._now() - started
        longer = _TIMES_AS_LONG * seconds if seconds > _COSTLY_SECONDS else 0.0
        return _KeptAnswer(generation, seq, started + seconds + longer, answer)
