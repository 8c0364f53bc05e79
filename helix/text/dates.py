"""Dates: the time that a question names, as a range, and a day in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from helix.text.moments import MONTHS, WEEKDAYS, Named, Span, moments_in

LONGEST_TEXT = 2_000
"""Characters of a question in which a time is looked for: what follows is quoted logs rather than a question."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, tzinfo=UTC)
"""The open ends of "before" and "since"."""

_LEAD = re.compile(
    r"\b(since|(?:starting |beginning )?from|after|before|prior to|until|till|up to|by|between|through(?:out)?|in|on|of|for|during|within|over|"
    r"around|about|as of|back in)\s+(?:(?:the|about|around)\s+)?$",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\b(early|late|mid|middle|beginning|start|end)(?:\s+(?:of|in)\s+(?:the\s+)?|\s*-\s*|\s+)$", re.IGNORECASE
)
_JOIN = re.compile(r"\s*(?:and|to|until|till|through|-|–|—)\s*(?:(?:the|in|late|early)\s+)?", re.IGNORECASE)
_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def time_range(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the half-open range of time, in UTC, that a question names, or None where it names none.

    Days begin at midnight in the zone of `now` (UTC where it has none). What a year is missing from is the latest such
    time that has begun; "since" and "before" reach to LATEST and from EARLIEST. Of several times named, the first one
    counts, or one inside it.
    """
    text = text[:LONGEST_TEXT]
    zone = now.tzinfo or UTC
    local = now.replace(tzinfo=None)
    best: tuple[datetime, datetime] | None = None
    taken = 0
    named = moments_in(text, local)
    for place, moment in enumerate(named):
        if moment.start < taken:
            continue
        span, taken = _bounded(text, moment, named[place + 1 :])
        found = _utc(span, zone) if span else None
        if found and (best is None or (best[0] <= found[0] and found[1] <= best[1])):
            best = found
    return best


def in_words(moment: datetime) -> str:
    """Return the day of a moment in words: "Monday 8 May 2023"."""
    return f"{WEEKDAYS[moment.weekday()].title()} {moment.day} {MONTHS[moment.month - 1].title()} {moment.year}"


Ends = tuple[datetime | None, datetime | None]


def _bounded(text: str, moment: Named, later: list[Named]) -> tuple[Ends | None, int]:
    """Return what a moment and the words before it mean, None for an open end, and where the expression ends."""
    before = text[max(0, moment.start - 40) : moment.start]
    span = moment.span
    part = _PART.search(before)
    if part and span:
        span = _third(span, _THIRDS[part.group(1).lower()])
        before = before[: part.start()]
    lead = _LEAD.search(before)
    word = lead.group(1).lower().split()[-1] if lead else ""
    if moment.bare and not lead and not part:
        return None, moment.end
    if word in ("between", "from"):
        second = _joined(text, moment, later)
        if second:
            start, end = _year_lent(span, second), second.span
            return ((start[0], end[1]) if start and end and start[0] < end[1] else None), second.end
        if word == "between":
            return (None if moment.bare else span), moment.end
    if span is None:
        return None, moment.end
    start, end = span
    ends: dict[str, Ends] = {
        "since": (start, None),
        "from": (start, None),
        "after": (end, None),
        "before": (None, start),
        "to": (None, start if lead and lead.group(1).lower().startswith("prior") else end),
        "until": (None, end),
        "till": (None, end),
        "by": (None, end),
    }
    return ends.get(word, span), moment.end


def _joined(text: str, moment: Named, later: list[Named]) -> Named | None:
    """Return the moment that "and" or "to" joins to this one."""
    for other in later:
        if other.start >= moment.end and _JOIN.fullmatch(text, moment.end, other.start):
            return other
    return None


def _year_lent(span: Span | None, second: Named) -> Span | None:
    """Return the first of two joined times, in the year of the second one where it comes after that."""
    if span is None or second.span is None or span[0] < second.span[1]:
        gap = None if span is None or second.span is None else second.span[0].year - span[0].year
        if not (gap and second.dated and span):
            return span
    try:
        moved = span[0].replace(year=second.span[0].year) if span and second.span else None
        if moved and second.span and moved >= second.span[1]:
            moved = moved.replace(year=moved.year - 1)
    except ValueError:  # 29 February
        return None
    return (moved, moved + timedelta(days=1)) if moved else None


def _third(span: Span, number: int) -> Span:
    length = (span[1] - span[0]) / 3
    return (span[0] + number * length, span[0] + (number + 1) * length)


def _utc(ends: Ends, zone: tzinfo) -> tuple[datetime, datetime] | None:
    """Return local ends in UTC, open ones at EARLIEST and LATEST; None where nothing lies between them."""
    start, end = (None if local is None else _instant(local, zone) for local in ends)
    end = min(end or LATEST, LATEST)
    if start is None:
        start = EARLIEST if end > EARLIEST else datetime.min.replace(tzinfo=UTC)
    return (start, end) if start < end else None


def _instant(local: datetime, zone: tzinfo) -> datetime:
    try:
        return local.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:  # the first and the last day that there are
        return local.replace(tzinfo=UTC)
