"""Circuit: a provider that keeps failing is left alone for a while, longer each time, so that it costs nobody time."""

from __future__ import annotations

from datetime import datetime, timedelta

FAILURES = 3
"""Failures in a row after which a provider rests."""
FIRST_REST, LONGEST_REST = timedelta(minutes=1), timedelta(hours=1)


class Circuit:
    """How one provider has done lately. One thread notes, any reads."""

    def __init__(self) -> None:
        self.answered()

    def answered(self) -> None:
        """Note an answer: whatever was before is forgotten."""
        self._failures = self._rests = 0
        self._until: datetime | None = None
        self.trouble = ""
        """How it failed last; empty once it answers again."""

    def resting(self, now: datetime) -> datetime | None:
        """Return until when the provider rests, or None when it may be asked."""
        until = self._until
        return until if until is not None and now < until else None

    def failed(self, now: datetime, trouble: str, *, rest: bool, at_least: float = 0.0) -> None:
        """Note a failure. The third in a row is followed by a rest, as is the first after a rest, or where `rest` says.

        A rest is twice as long as the one before it, and not shorter than `at_least` seconds, both up to an hour.
        """
        self._failures += 1
        self.trouble = trouble
        if rest or self._rests or self._failures >= FAILURES:
            asked_for = min(LONGEST_REST, timedelta(seconds=min(at_least, LONGEST_REST.total_seconds())))
            self._until = now + max(asked_for, min(LONGEST_REST, FIRST_REST * 2**self._rests))
            self._rests = min(self._rests + 1, 10)
