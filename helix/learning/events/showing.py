"""Showing: an answer on its way to an agent, and what follows from its having reached it, or having got lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from helix.learning.events.afterwards import Work


class Showing:
    """One answer on its way. What it shows counts once somebody says that it has arrived.

    An answer that is given twice, as its client asked twice, is shown when one of the two has arrived. Safe from any
    thread.
    """

    def __init__(
        self,
        *,
        at_once: Sequence[Work] = (),
        then: Sequence[Work] = (),
        undone: Sequence[Work] = (),
        do: Callable[[Work], object] = lambda work: work(),
    ) -> None:
        """`at_once` was done already and is taken back by `undone` where the answer is lost; `do` has `then` done."""
        self._at_once, self._then, self._undone, self._do = at_once, then, undone, do
        self._turn = threading.Lock()
        self._arrived = self._lost = False

    @property
    def counts(self) -> bool:
        """Whether it makes any difference that it arrives."""
        return bool(self._at_once or self._then)

    def arrived(self) -> None:
        """Have what was shown count, once."""
        with self._turn:
            if self._arrived:
                return
            again, self._arrived = self._lost, True
            for work in self._at_once if again else ():
                work()
            for work in self._then:
                self._do(work)

    def lost(self) -> None:
        """Have nothing be shown, unless it has arrived: it is shown the next time."""
        with self._turn:
            if self._arrived or self._lost:
                return
            self._lost = True
            for work in self._undone:
                work()
