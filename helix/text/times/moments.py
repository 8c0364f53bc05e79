"""Moments: single expressions of time in a text, each resolved against the present.

A grammar of times in English; `dates` has the figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from helix.text.regex import regex
from helix.text.times import calendar_terms as calendar
from helix.text.times import time_words as words
from helix.text.times.calendar_terms import DAY, MONTHS, SEASONS, WEEKDAYS, Span
from helix.text.times.time_words import is_day, is_led, is_month, is_weekday, is_year

InYear = Callable[[int], Span]


class TimeExpression(NamedTuple):
    """What an expression at [start, end) of a text means. `in_year` is there where the year had to be guessed."""

    start: int
    end: int
    span: Span
    in_year: InYear | None = None


_Match = re.Match[str]
_Meaning = Span | InYear | None
_FARTHEST_YEARS = 20
"""How many years ahead a number is still a year: memories don't speak of the far future, but of 2048 bytes."""


def moments_in(text: str, now: datetime) -> list[TimeExpression]:
    """Return the expressions of time in a text, in order and without overlaps; of two at one place the longer one.

    What lacks a year is taken to be the latest that has begun by `now`.
    """
    found: list[TimeExpression] = []
    for pattern, resolve in _GRAMMAR:
        for match in pattern.finditer(text):
            try:
                meaning = resolve(match, now)
                if callable(meaning):
                    found.append(TimeExpression(match.start(), match.end(), calendar.latest(now, meaning), meaning))
                elif meaning is not None:
                    found.append(TimeExpression(match.start(), match.end(), meaning))
            except (ValueError, OverflowError):  # 31 June, or a time that no calendar holds
                continue
    found.sort(key=lambda moment: (moment.start, -moment.end))
    kept: list[TimeExpression] = []
    for moment in found:
        if not kept or moment.start >= kept[-1].end:
            kept.append(moment)
    return kept


def _group(match: _Match, name: str) -> str:
    return (match.groupdict().get(name) or "").lower()


def _year_of(match: _Match, now: datetime) -> int:
    year = int(match["year"])
    if year > now.year + _FARTHEST_YEARS:
        raise ValueError(f"{year} is a number, not a year")
    return year


def _month_of(match: _Match) -> int:
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(match["month"][:3].lower()))


def _numeric(match: _Match, now: datetime) -> _Meaning:
    year, month, day = int(match["year"]), int(match["m"]), _group(match, "day")
    if not day:
        return calendar.months_of(year, month) if 1 <= month <= 12 else None
    return calendar.day_of(datetime(year, month, int(day)))


def _slashed(match: _Match, now: datetime) -> _Meaning:
    first, second = int(match["first"]), int(match["second"])
    if match["mark"] == "." or first > 12:
        first, second = second, first
    elif second <= 12 and first != second:
        return None  # the orders of day and month can't be told apart
    return calendar.day_of(datetime(int(match["year"]), first, second))


def _day_in_month(match: _Match, now: datetime) -> _Meaning:
    month, first = _month_of(match), int(match["day"])
    last = int(_group(match, "last") or first)
    if first > last:
        return None

    def in_year(year: int) -> Span:
        return datetime(year, month, first), datetime(year, month, last) + DAY

    if match["year"]:
        return in_year(_year_of(match, now))
    return in_year if is_day(match) else None


def _month_in_year(match: _Match, now: datetime) -> _Meaning:
    return calendar.months_of(_year_of(match, now), _month_of(match))


def _month(match: _Match, now: datetime) -> _Meaning:
    month = _month_of(match)

    def in_year(year: int) -> Span:
        return calendar.months_of(year, month)

    if not is_month(match):
        return None
    return _in_which_year(match, now, in_year) if match["which"] else in_year


def _season(match: _Match, now: datetime) -> _Meaning:
    month = SEASONS[match["season"].lower()]

    def in_year(year: int) -> Span:
        return calendar.months_of(year, month, 3)

    if _group(match, "year"):
        return in_year(_year_of(match, now))
    return _in_which_year(match, now, in_year) if _group(match, "which") else in_year


def _in_which_year(match: _Match, now: datetime, in_year: InYear) -> Span:
    which = match["which"].lower()
    if which in ("this", "current"):
        return in_year(now.year)
    if which in ("next", "coming"):
        span = in_year(now.year)
        return span if span[0] > now else in_year(now.year + 1)
    span = calendar.latest(now, in_year)
    return span if span[1] <= now else in_year(span[0].year - 1)  # the running one is not the last one


def _part_of_year(match: _Match, now: datetime) -> _Meaning:
    name = match["number"].lower()
    number = int(name) if name.isdecimal() else _ORDINALS[name]
    months = 3 if match["division"][0] in "Qq" else 6
    first = ((number or 12 // months) - 1) * months + 1

    def in_year(year: int) -> Span:
        return calendar.months_of(year, first, months)

    if first > 12:  # a third half
        return None
    if match["year"]:
        return in_year(_year_of(match, now))
    return in_year if is_led(match) else None


def _year(match: _Match, now: datetime) -> _Meaning:
    return calendar.months_of(_year_of(match, now), 1, 12) if is_year(match) else None


def _years(match: _Match, now: datetime) -> _Meaning:
    first, last = int(match["year"]), int(match["last"])
    return calendar.months_of(first, 1, 12 * (last - first + 1)) if first < last and is_led(match) else None


def _decade(match: _Match, now: datetime) -> _Meaning:
    return calendar.months_of(int(match["decade"]), 1, 120)


def _named_day(match: _Match, now: datetime) -> _Meaning:
    named = match["word"].lower().split()
    shift = {"yesterday": -1, "last": -1, "tomorrow": 1}.get(named[0], 0)
    if len(named) > 2:  # the day before yesterday
        shift = -2
    part = {"night": "night", "tonight": "night"}.get(named[-1]) or _group(match, "part") or None
    return calendar.day_of(now + shift * DAY, part)


def _this_part(match: _Match, now: datetime) -> _Meaning:
    return calendar.day_of(now, match["part"].lower())


def _weekday(match: _Match, now: datetime) -> _Meaning:
    which, part = _group(match, "which"), _group(match, "part")
    if not (which or part or is_weekday(match)):
        return None
    since = now.weekday() - WEEKDAYS.index(match["weekday"].lower())
    ago = since if which in ("this", "current") else since % 7
    if which in ("last", "past", "previous"):
        ago = ago or 7
    elif which in ("next", "coming"):
        ago -= 7
    return calendar.day_of(now - ago * DAY, part or None)


def _unit(match: _Match, now: datetime) -> _Meaning:
    which = match["which"].lower()
    shift = 0 if which in ("this", "current") else 1 if which in ("next", "coming") else -1
    return calendar.unit_at(match["unit"].lower(), shift, now)


def _weekend(match: _Match, now: datetime) -> _Meaning:
    this = calendar.unit_at("weekend", 0, now)
    return this if this[0] <= now else calendar.unit_at("weekend", -1, now)


def _ago(match: _Match, now: datetime) -> _Meaning:
    count, unit = _count(match), match["unit"].lower()
    if count is None:
        return calendar.back(unit, _FEW[1], now), calendar.back(unit, _FEW[0], now)
    return calendar.units_ago(unit, count, now)


def _last_units(match: _Match, now: datetime) -> _Meaning:
    count = _count(match) if _group(match, "count") else 1
    return calendar.last_units(match["unit"].lower(), count or _FEW[1], now)


_FEW = (1, 7)
"""What "a few" may be, counted back: anything up to seven."""


def _count(match: _Match) -> int | None:
    """Return the number of a count in digits or words, None for "a few"."""
    word = match["count"].lower()
    if "few" in word or "several" in word:
        return None
    if "couple" in word:
        return 2
    return int(word) if word.isdecimal() else _NUMBERS.index(word) if word in _NUMBERS else 1


def _rule(pattern: str, resolve: Callable[[_Match, datetime], _Meaning]) -> tuple[re.Pattern[str], _Resolve]:
    return regex(pattern, re.IGNORECASE | re.ASCII), resolve


_Resolve = Callable[[_Match, datetime], _Meaning]
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 0, "latter": 0}

_GRAMMAR = (
    _rule(
        r"(?<![\w./-])(?P<year>(?:19|20)\d\d)(?P<mark>[-/])(?P<m>\d\d?)(?P=mark)(?P<day>\d\d?)"
        r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w/-]|\.\w)",
        _numeric,
    ),
    _rule(r"(?<![\w./-])(?P<year>(?:19|20)\d\d)-(?P<m>\d\d)(?![\w/-]|\.\w)", _numeric),
    _rule(
        r"(?<![\w./-])(?P<first>\d\d?)(?P<mark>[/.])(?P<second>\d\d?)(?P=mark)(?P<year>(?:19|20)\d\d)(?![\w/-]|\.\w)",
        _slashed,
    ),
    _rule(
        rf"(?:\b{words.WEEKDAY},?\s+(?:the\s+)?)?{words.DAY}\s*{words.LAST_DAY}(?:\s+of)?\s+{words.MONTH}{words.OF_YEAR}",
        _day_in_month,
    ),
    _rule(
        rf"(?:\b{words.WEEKDAY},?\s+(?:the\s+)?)?{words.DAY}(?:\s+of)?\s+{words.MONTH}{words.OF_YEAR}", _day_in_month
    ),
    _rule(
        rf"(?:\b{words.WEEKDAY},?\s+)?\b{words.MONTH}\s+(?:the\s+)?{words.DAY}\s*{words.LAST_DAY}{words.OF_YEAR}",
        _day_in_month,
    ),
    _rule(rf"(?:\b{words.WEEKDAY},?\s+)?\b{words.MONTH}\s+(?:the\s+)?{words.DAY}{words.OF_YEAR}", _day_in_month),
    _rule(rf"(?<![\w.-]){words.MONTH},?\s+(?:of\s+)?{words.YEAR}", _month_in_year),
    _rule(rf"(?:{words.WHICH})?(?<![\w.-]){words.MONTH}(?![\w(-]|\s+\d)", _month),
    _rule(rf"(?:{words.WHICH})?\b{words.SEASON}(?:\s+of)?\s+{words.YEAR}", _season),
    _rule(rf"{words.WHICH}{words.SEASON}", _season),
    _rule(
        r"(?<=\bin the )(?P<season>spring|summer|autumn|fall|winter)\b(?!\s+(?:back|boot|framework|through|of)\b)",
        _season,
    ),
    _rule(r"(?<=\bin )(?P<season>summer|autumn|winter)\b(?!\s+of\b)", _season),
    _rule(rf"\b(?P<division>Q|H)(?P<number>[1-4])\b(?:\s*(?:of|in|,|/)?\s*{words.YEAR})?", _part_of_year),
    _rule(r"(?<![\w./-])(?P<year>(?:19|20)\d\d)[ -]?(?P<division>Q|H)(?P<number>[1-4])\b", _part_of_year),
    _rule(
        rf"\b(?P<number>first|second|third|fourth|last|latter)\s+(?P<division>quarter|half)\s+of\s+{words.YEAR}",
        _part_of_year,
    ),
    _rule(words.YEAR, _year),
    _rule(r"(?<![\w#$./:-])(?P<year>(?:19|20)\d\d)\s?[-\u2013]\s?(?P<last>(?:19|20)\d\d)(?![\w%]|[./:-]\w)", _years),
    _rule(r"\bthe\s+(?P<decade>(?:19|20)\d0)'?s\b", _decade),
    _rule(
        rf"\b(?P<word>(?:the\s+)?day\s+before\s+yesterday|yesterday|today|tomorrow|tonight|last\s+night)\b{words.DAYPART}",
        _named_day,
    ),
    _rule(r"\bthis\s+(?P<part>morning|afternoon|evening)\b", _this_part),
    _rule(rf"(?:{words.WHICH})?\b{words.WEEKDAY}{words.DAYPART}", _weekday),
    _rule(
        r"\b(?P<which>last|previous|this|current|next|coming)\s+(?P<unit>weekend|week|month|quarter|year|decade)\b(?!-)",
        _unit,
    ),
    _rule(r"\b(?:over|during|at|on)\s+the\s+weekend\b", _weekend),
    _rule(rf"(?<!\bhalf )\b{words.COUNT}\s+{words.UNIT}s?\s+(?:ago|back)\b", _ago),
    _rule(rf"\b(?:last|past|previous)\s+{words.COUNT}\s+{words.UNIT}s?\b", _last_units),
    _rule(rf"\b(?:in|over|during|within|for|from)\s+the\s+(?:last|past)\s+{words.UNIT}\b", _last_units),
    _rule(r"\bpast\s+(?P<unit>week|month|quarter|year)\b", _last_units),
)
"""What may be written, and what it means."""
