"""Calendar: the half-open spans of local time, without a zone, that the dates in a text are built from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

Span = tuple[datetime, datetime]

DAY = timedelta(days=1)
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each northern season of three; winter belongs to the year in which it begins."""
DAYPARTS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
"""Hours from midnight at which a part of a day begins and ends."""

_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_HALF_WIDTH = {"week": 3, "weekend": 3, "month": 15, "quarter": 45, "year": 182, "decade": 1826}
_YEARS_TRIED = 9


def midnight(moment: datetime) -> datetime:
    """Return the start of a day in the calendar, from a moment of it."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day_of(moment: datetime, part: str | None = None) -> Span:
    """Return the calendar span of a moment's whole day, or of a part of it."""
    first, last = DAYPARTS[part] if part else (0, 24)
    start = midnight(moment)
    return start + timedelta(hours=first), start + timedelta(hours=last)


def months_of(year: int, month: int, count: int = 1) -> Span:
    """Return the calendar span of `count` whole months from a given one, which may lie outside 1..12."""
    first = year * 12 + month - 1
    last = first + count
    return datetime(first // 12, first % 12 + 1, 1), datetime(last // 12, last % 12 + 1, 1)


def latest(now: datetime, in_year: Callable[[int], Span]) -> Span:
    """Return a date's calendar span in the latest year in which it has begun by `now`. Raises ValueError if none."""
    for year in range(now.year, now.year - _YEARS_TRIED, -1):
        try:
            span = in_year(year)
        except ValueError:  # 29 February
            continue
        if span[0] <= now:
            return span
    raise ValueError("no such day in any of the last years")


def unit_at(unit: str, shift: int, now: datetime) -> Span:
    """Return the calendar unit (day, week, month ...) that lies `shift` units after today's; weeks begin on Monday."""
    if unit in ("week", "weekend"):
        start = midnight(now) + timedelta(days=7 * shift - now.weekday())
        return (start + 5 * DAY if unit == "weekend" else start), start + 7 * DAY
    months = _MONTHS_IN[unit]
    running = (now.year * 12 + now.month - 1) // months
    return months_of(0, (running + shift) * months + 1, months)


def units_ago(unit: str, count: int, now: datetime) -> Span:
    """Return the calendar span that "`count` units ago" means: the day, or a unit with that time in its middle."""
    then = back(unit, count, now)
    if unit == "day":
        return day_of(then)
    if unit in ("minute", "hour"):
        half = timedelta(**{f"{unit}s": 0.5})
        return then - half, then + half
    days = _HALF_WIDTH[unit]
    return midnight(then) - days * DAY, midnight(then) + (days + 1) * DAY


def last_units(unit: str, count: int, now: datetime) -> Span:
    """Return the calendar span of "the last `count` units": to the end of today, for hours and minutes to now."""
    start = back(unit, count, now)
    return (start, now) if unit in ("minute", "hour") else (midnight(start), midnight(now) + DAY)


def back(unit: str, count: int, now: datetime) -> datetime:
    """Return the calendar moment `count` units before `now`, on the same day of a month as far as the month has it."""
    if months := _MONTHS_IN.get(unit):
        start, end = months_of(now.year, now.month - count * months)
        return now.replace(year=start.year, month=start.month, day=min(now.day, (end - start).days))
    return now - count * timedelta(**{"weeks" if unit == "weekend" else f"{unit}s": 1})


def third_of(span: Span, number: int) -> Span:
    """Return the early (0), middle (1) or late (2) third of a calendar span."""
    length = (span[1] - span[0]) / 3
    return span[0] + number * length, span[1] if number == 2 else span[0] + (number + 1) * length
