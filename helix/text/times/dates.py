"""Dates: the time that a question names, as a range of UTC, and moments in the words by which people look for them.

A grammar of times in English. The time that a question names brings LoCoMo 1.4 points of recall and costs
longmemeval_s_lite 0.4.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from helix.text.times.calendar_terms import Span, third_of
from helix.text.times.moments import InYear, TimeExpression, moments_in

LONGEST_TEXT = 500
"""Characters of a question in which a time is looked for: what follows is rather a log that it quotes."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 12, 31, tzinfo=UTC)
"""The open ends of "before" and "since"."""

_Ends = tuple[datetime | None, datetime | None]

_BOUND = re.compile(
    r"\b(since|starting(?:\s+from)?|from|after|later\s+than|before|earlier\s+than|prior\s+to|until|till|up\s+to|by|between)"
    r"\s+(?:(?:on|in|the)\s+){0,2}$",
    re.IGNORECASE,
)
_BOUNDS = {
    **dict.fromkeys(("since", "starting"), "since"),
    **dict.fromkeys(("after", "later"), "after"),
    **dict.fromkeys(("before", "earlier", "prior"), "before"),
    **dict.fromkeys(("until", "till", "up", "by"), "until"),
    **{"from": "from", "between": "between"},
}
_LONGEST_BOUND = 40
_PART = re.compile(
    r"\b(?:(early|late|mid)(?:\s+in)?(?:\s+|-)|(?:the\s+)?(beginning|start|middle|end)\s+of\s+)(?:the\s+)?$",
    re.IGNORECASE,
)
_ONWARDS = re.compile(r"\s+on(?:wards?)?\b", re.IGNORECASE)
_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}
_JOIN = re.compile(
    r"\s*(and|to|until|till|through|-|\u2013)\s*(?:(?:in|on|the|early|late|mid|end of)[\s-]+){0,2}", re.IGNORECASE
)


def day_in_words(moment: datetime) -> str:
    """Return the date of a moment in words: 8 May 2023."""
    return f"{moment.day} {moment:%B %Y}"


def time_range(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """Return the half-open range of time, in UTC, that a question's text names, or None where it names none.

    Days begin at midnight in the zone of `now` (UTC where it has none), weeks on Monday; what lacks a year is the
    latest that has begun. "since" and "before" reach to LATEST and from EARLIEST. Of several times the first one
    counts, or one that lies within it. Only the first LONGEST_TEXT characters are read; any string will do.
    """
    zone = now.tzinfo or UTC
    text = text[:LONGEST_TEXT]
    moments = moments_in(text, now.replace(tzinfo=None))
    best: tuple[datetime, datetime] | None = None
    while moments:
        moment, *moments = moments
        second = _joined(text, moment, moments)
        if second is not None:
            moments = [other for other in moments if other.start >= second.end]
        found = _utc(_between(moment, second) if second else _bounded(text, moment), zone)
        if found and (best is None or (best[0] <= found[0] and found[1] <= best[1])):
            best = found
    return best


def _joined(text: str, first: TimeExpression, later: list[TimeExpression]) -> TimeExpression | None:
    """Return the moment that a "to", or the "and" of a "between", joins to the first one."""
    link = _JOIN.fullmatch(text, first.end, later[0].start) if later else None
    if link is None or (link[1].lower() == "and" and _bound(text, first) not in ("between", "from")):
        return None
    return later[0]


def _bound(text: str, moment: TimeExpression) -> str:
    """Return which of the _BOUNDS the words before a moment say, or nothing."""
    end = moment.start
    if part := _part(text, moment):
        end = part.start()
    match = _BOUND.search(text, max(0, end - _LONGEST_BOUND), end)
    return _BOUNDS[match[1].lower().split()[0]] if match else ""


def _part(text: str, moment: TimeExpression) -> re.Match[str] | None:
    return _PART.search(text, max(0, moment.start - _LONGEST_BOUND), moment.start)


def _between(first: TimeExpression, second: TimeExpression) -> _Ends:
    """Return the range from one moment to another; one that lacks its year takes it from the other."""
    start, end = first.span, second.span
    if first.in_year:
        year = end[0].year
        start = _fitting(first.in_year, (year, year - 1), lambda span: span[0] < end[1]) or start
    elif second.in_year:
        year = start[0].year
        end = _fitting(second.in_year, (year, year + 1), lambda span: span[1] > start[0]) or end
    return start[0], end[1]


def _fitting(in_year: InYear, years: tuple[int, ...], fits: Callable[[Span], bool]) -> Span | None:
    for year in years:
        try:
            span = in_year(year)
        except (ValueError, OverflowError):  # 29 February
            continue
        if fits(span):
            return span
    return None


def _bounded(text: str, moment: TimeExpression) -> _Ends:
    """Return the range that one moment and the words before it name, None for an open end."""
    part = _part(text, moment)
    third = _THIRDS[(part[1] or part[2]).lower()] if part else None
    start, end = moment.span if third is None else third_of(moment.span, third)
    match _bound(text, moment):
        case "since":
            return start, None
        case "from" if _ONWARDS.match(text, moment.end):  # but "the photos from May" are of May
            return start, None
        case "after":
            return end, None
        case "before":
            return None, end if part and part[2] and third == _THIRDS["end"] else start
        case "until":
            return None, end
        case _:
            return start, end


def _utc(ends: _Ends, zone: tzinfo) -> tuple[datetime, datetime] | None:
    """Return local ends in UTC, open ones at EARLIEST and LATEST; None where nothing lies between them."""
    start, end = (None if local is None else _instant(local, zone) for local in ends)
    end = LATEST if end is None else min(end, LATEST)
    if start is None:
        start = EARLIEST if end > EARLIEST else datetime.min.replace(tzinfo=UTC)
    return (start, end) if start < end else None


def _instant(local: datetime, zone: tzinfo) -> datetime:
    try:
        return local.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:  # on the first or the last day that there is
        return local.replace(tzinfo=UTC)
