"""Calendar terms: the words and half-open UTC ranges that dates in a text are built from."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

Range = tuple[datetime, datetime]

DAY = timedelta(days=1)
WEEK = timedelta(days=7)

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two couple", "three few", "four", "five several", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
    for word in words.split()
}
# First month of each season in the northern hemisphere; winter belongs to the year in which it begins.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
SEASON_MONTHS = 3
QUARTER_MONTHS = 3


def month_number(word: str) -> int:
    """Return 1..12 for the name of a month or its first three or four letters."""
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(word.lower()[:3]))


def weekday_number(word: str) -> int:
    """Return 0 (Monday) to 6 for the name of a weekday or its first letters."""
    return next(number for number, name in enumerate(WEEKDAYS) if name.startswith(word.lower()[:3]))


def midnight(moment: datetime) -> datetime:
    """Return the start of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def day_range(year: int, month: int, day: int) -> Range:
    """Return a day. Raises ValueError when the calendar has no such day."""
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + DAY


def months_range(year: int, month: int, count: int = 1) -> Range:
    """Return `count` months from the given one, which may lie outside 1..12. Raises ValueError outside the calendar."""
    return _first_of(year, month), _first_of(year, month + count)


def year_range(year: int, count: int = 1) -> Range:
    """Return `count` years. Raises ValueError outside the calendar."""
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + count, 1, 1, tzinfo=UTC)


def week_range(moment: datetime) -> Range:
    """Return the week of the moment, from Monday on."""
    start = midnight(moment) - DAY * moment.weekday()
    return start, start + WEEK


def unit_range(unit: str, back: int, now: datetime) -> Range:
    """Return the calendar unit that lies `back` units before the one of `now`; an hour or minute as a window around it.

    Raises ValueError or OverflowError outside the calendar.
    """
    match unit:
        case "minute":
            moment = now - timedelta(minutes=back)
            return moment - timedelta(minutes=5), moment + timedelta(minutes=5)
        case "hour":
            moment = now - timedelta(hours=back)
            return moment - timedelta(minutes=30), moment + timedelta(minutes=30)
        case "day":
            start = midnight(now) - DAY * back
            return start, start + DAY
        case "week":
            return week_range(now - WEEK * back)
        case "weekend":
            start, end = week_range(now - WEEK * back)
            return start + DAY * 5, end
        case "month":
            return months_range(now.year, now.month - back)
        case "quarter":
            return months_range(now.year, (now.month - 1) // QUARTER_MONTHS * QUARTER_MONTHS + 1 - back * QUARTER_MONTHS, QUARTER_MONTHS)
        case "decade":
            return year_range((now.year // 10 - back) * 10, 10)
        case _:
            return year_range(now.year - back)


def span_back(unit: str, count: int, now: datetime) -> Range:
    """Return the `count` units that end now ("the last three weeks"). Raises ValueError or OverflowError outside the calendar."""
    match unit:
        case "minute" | "hour" | "day" | "week":
            return now - count * timedelta(**{f"{unit}s": 1}), now
        case "month" | "quarter" | "year" | "decade":
            months = count * {"month": 1, "quarter": 3, "year": 12, "decade": 120}[unit]
            first = _first_of(now.year, now.month - months)
            return first + min(now - _first_of(now.year, now.month), _first_of(first.year, first.month + 1) - first), now
        case _:
            return now - count * WEEK, now


def _first_of(year: int, month: int) -> datetime:
    years, index = divmod(month - 1, 12)
    return datetime(year + years, index + 1, 1, tzinfo=UTC)
