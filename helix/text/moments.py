"""Moments: single expressions of time in a text, each resolved against the present."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from helix.text import calendar_terms as calendar
from helix.text.calendar_terms import DAY, MONTHS, SEASONS, WEEKDAYS, Span

InYear = Callable[[int], Span]


class Moment(NamedTuple):
    """What an expression at [start, end) of a text means. `in_year` is there where the year had to be guessed."""

    start: int
    end: int
    span: Span
    in_year: InYear | None = None


_Match = re.Match[str]
_Meaning = Span | tuple[Span, InYear] | None
_FARTHEST_YEARS = 20
"""How many years ahead a number is still a year: memories don't speak of the far future, but of 2048 bytes."""

_YEAR = r"(?P<year>(?<![\w#$€£./:@+-])(?:19|20)\d\d)(?![\w%]|[./:@-]\w|,\d)"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>(?<![\w.:/#-])[0-3]?\d)(?P<ordinal>st|nd|rd|th)?(?![\w:/%]|\.\d)"
_LAST_DAY = r"(?:-|\u2013|to|and|until|through)\s*(?P<last>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:/%]|\.\d)"
_OF_YEAR = rf"(?:,?\s+(?:of\s+|in\s+)?{_YEAR})?"
_COUNT = (
    r"(?P<count>\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several)"
)
_UNIT = r"(?P<unit>minute|hour|day|week|weekend|month|quarter|year|decade)"
_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
_DAYPART = r"(?:\s+(?P<part>morning|afternoon|evening|night)\b)?"
_SEASON = r"(?P<season>spring|summer|autumn|fall|winter)\b"
_WHICH = r"\b(?P<which>last|past|previous|this|current|next|coming)\s+"

_COUNTED = re.compile(
    r"\s*(?:bytes?|bits?|[kmg]i?b|px|pixels?|lines?|rows?|columns?|items?|requests?|users?|iterations?|tests?|files?|times|commits?"
    r"|ms|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|people|tokens?|entries|records?|messages?|words?"
    r"|characters?|chars|connections?|dollars?|euros?|points?|steps?|miles?|km|met(?:er|re)s?|feet|percent|errors?|calories"
    r"|or more|or less)\b",
    re.IGNORECASE,
)
_STRONG = "in|during|since|before|after|until|till|between|throughout|prior to|back in|as of|early|mid|late"
_WEAK = "by|of|for|from|on|through|over|around|within|up to|to|and"
_LED = {
    words: re.compile(rf"(?<!\bout )\b(?:{words})(?:\s+|-)(?:the\s+)?$", re.IGNORECASE)
    for words in (_STRONG, f"{_STRONG}|{_WEAK}")
}
_ROUND_NUMBERS = frozenset({"1900", "2000", "2048"})
_PERSONS = frozenset({"april", "may", "june", "august"})
_VERBS = frozenset({"may", "march", "mar"})


def moments_in(text: str, now: datetime) -> list[Moment]:
    """Return the expressions of time in a text, in order and without overlaps; of two at one place the longer one."""
    found: list[Moment] = []
    for pattern, resolve in _GRAMMAR:
        for match in pattern.finditer(text):
            try:
                meaning = resolve(match, now)
            except (ValueError, OverflowError):  # 31 June, or a time before the first year
                continue
            if meaning is None:
                continue
            span, in_year = meaning if callable(meaning[1]) else (meaning, None)
            found.append(Moment(match.start(), match.end(), span, in_year))  # type: ignore[arg-type]
    found.sort(key=lambda moment: (moment.start, -moment.end))
    kept: list[Moment] = []
    for moment in found:
        if not kept or moment.start >= kept[-1].end:
            kept.append(moment)
    return kept
