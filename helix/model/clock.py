"""Time: aware UTC datetimes in the model, whole microseconds since the epoch in every store."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
DAY_MICROS = 86_400_000_000


def system_clock() -> datetime:
    """Return the present moment of the system clock, as an aware UTC datetime."""
    return datetime.now(UTC)


def to_micros(moment: datetime) -> int:
    """Return a moment in whole microseconds since the epoch; a naive moment is taken as UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the aware UTC moment of `micros` since the epoch."""
    return EPOCH + timedelta(microseconds=micros)


LATEST = to_micros(datetime.max.replace(tzinfo=UTC))
"""The last moment that there is."""
