"""Stream turns: how fast the subscribers of a store are told of events, so that they leave the loop to others."""

from __future__ import annotations

import asyncio

GAP_SECONDS = 0.001
_REST = 3
"""Times of what the loop was late, by their last turn or by others, that the subscribers of a store rest."""


class StreamTurns:
    """Lets the subscribers of a store go on one after the other: each event is an answer of its own.

    All answers are given on one loop, on a team's server other tenants' too. While a change of much is written, each of
    them costs it several milliseconds, as whoever writes has the interpreter's lock.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def next(self) -> None:
        """Return when it is the turn of a subscriber of the store to be told of an event."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            due = loop.time() + GAP_SECONDS
            await asyncio.sleep(GAP_SECONDS)
            await asyncio.sleep(_REST * (loop.time() - due))
