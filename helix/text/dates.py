"""Dates: the time that a question names, as a range of UTC, and moments in the words by which people look for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from helix.model.clock import EPOCH
from helix.text import calendar_terms as calendar
from helix.text.calendar_terms import Range

_READ_CHARACTERS = 8_192
_Match = re.Match[str]
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\w-]|[.:/]\d)"
_DAY = r"(?P<day>[0-3]?\d)(?P<th>st|nd|rd|th)?\b(?![:/%]|\.\d|-\d)"
_WEEKDAY = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
_UNIT = r"(?P<unit>minute|hour|day|week|weekend|month|quarter|year|decade)"
_COUNT = r"(?P<count>\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several)"
_PREPOSITION = re.compile(r"\b(in|on|during|since|before|after|until|till|by|from|of|through|around|early|mid|late|between|last|next|this|past)[\s-]+(?:the\s+)?(?:early[\s-]+|mid[\s-]+|late[\s-]+)?$", re.IGNORECASE)
_FIRM_PREPOSITIONS = frozenset({"in", "during", "since", "last", "next", "this", "past", "until", "early", "mid", "late"})
# Words that are months only now and then: verbs, names, adjectives.
_AMBIGUOUS = frozenset({"may", "march", "mar", "april", "june", "august", "jan", "sep", "dec", "apr", "jun", "jul", "aug", "oct", "nov", "feb", "sept"})
_EARLIER = frozenset({"last", "past", "previous"})


class _Named(NamedTuple):
    start: int
    end: int
    range: Range


def time_range(text: str, now: datetime) -> Range | None:
    """Return the half-open UTC range of the time named in a question, seen from `now`; None when it names none.

    Days, weeks (from Monday), months, quarters, seasons (northern) and years of the UTC calendar; a month or day without
    a year is the latest that has begun. "since" and "after" end with the day of `now`, "before" begins in 1970.
    """
    text = text[:_READ_CHARACTERS]
    now = now.replace(tzinfo=UTC) if now.tzinfo is None else now.astimezone(UTC)
    named = _next_named(text, 0, now)
    if named is None:
        return None
    start, end = named.range
    joined = _joined(text, named, now)
    if joined is not None:
        if start > joined[1]:  # "from January to March 2023": the year stands with the second
            start, end = (_next_named(text[: named.end], named.start, joined[1]) or named).range
        return min(start, joined[0]), max(end, joined[1])
    return _bounded(text[: named.start], start, end, now)


def in_words(moment: datetime) -> str:
    """Return the moment's UTC day as people say it: "Monday 8 May 2023"."""
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    weekday, month = calendar.WEEKDAYS[moment.weekday()], calendar.MONTHS[moment.month - 1]
    return f"{weekday.capitalize()} {moment.day} {month.capitalize()} {moment.year}"


def _next_named(text: str, position: int, now: datetime) -> _Named | None:
    best: _Named | None = None
    for pattern, resolve in _EXPRESSIONS:
        for match in pattern.finditer(text, position):
            if best is not None and match.start() > best.start:
                break
            found = _resolved(match, resolve, now)
            if found is not None:
                if best is None or (match.start(), -match.end()) < (best.start, -best.end):
                    best = _Named(match.start(), match.end(), found)
                break
    return best


def _resolved(match: _Match, resolve: Callable[[_Match, datetime], Range | None], now: datetime) -> Range | None:
    try:
        return resolve(match, now)
    except (ValueError, OverflowError):  # the calendar has no such day, or it lies outside what datetime holds
        return None


def _joined(text: str, first: _Named, now: datetime) -> Range | None:
    connector = _CONNECTOR.match(text, first.end)
    if connector is None:
        return None
    second = _next_named(text, connector.end(), now)
    return second.range if second is not None and second.start - connector.end() <= 4 else None


_CONNECTOR = re.compile(r"\s*(?:to|until|till|through|and|or|-|\u2013)\s+", re.IGNORECASE)
_BOUND = re.compile(r"\b(since|after|before|until|till|up to|prior to|earlier than|later than|from|by)\s+(?:the\s+|on\s+|in\s+)?$", re.IGNORECASE)


def _bounded(before: str, start: datetime, end: datetime, now: datetime) -> Range:
    bound = _BOUND.search(before)
    tomorrow = calendar.midnight(now) + calendar.DAY
    match bound and bound[1].lower():
        case "since" | "from":
            return start, max(end, tomorrow)
        case "after" | "later than":
            return end, max(end + calendar.DAY, tomorrow)
        case "before" | "prior to" | "earlier than":
            return min(EPOCH, start - calendar.DAY), start
        case "until" | "till" | "up to" | "by":
            return min(EPOCH, start), end
        case _:
            return start, end


def _numeric(match: _Match, now: datetime) -> Range:
    year, month, day = int(match["year"]), int(match["month"]), match["day"]
    if day is None:
        return calendar.months_range(year, month) if 1 <= month <= 12 else calendar.year_range(0)
    return calendar.day_range(year, month, int(day))


def _slashed(match: _Match, now: datetime) -> Range:
    first, second = int(match["first"]), int(match["second"])
    month, day = (second, first) if first > 12 or match["mark"] == "." else (first, second)
    return calendar.day_range(int(match["year"]), month, day)


def _day_of_month(match: _Match, now: datetime) -> Range | None:
    if not match["year"] and not _is_month(match, day_given=True):
        return None
    month, day = calendar.month_number(match["month"]), int(match["day"])
    if match["year"]:
        return calendar.day_range(int(match["year"]), month, day)
    this_year = calendar.day_range(now.year, month, day)
    return this_year if this_year[0] <= now else calendar.day_range(now.year - 1, month, day)


def _month_of_year(match: _Match, now: datetime) -> Range:
    return calendar.months_range(int(match["year"]), calendar.month_number(match["month"]))


def _bare_month(match: _Match, now: datetime) -> Range | None:
    which, month = (match["which"] or "").lower(), calendar.month_number(match["month"])
    if not which and not _is_month(match, day_given=False):
        return None
    year = now.year + (month <= now.month) if which == "next" else now.year - (month > now.month)
    if which in _EARLIER and month == now.month:
        year -= 1
    return calendar.months_range(year, month)


def _is_month(match: _Match, *, day_given: bool) -> bool:
    """Whether the word is a month and no verb or name: its preposition, its day's ending or its capital tells."""
    word = match["month"].rstrip(".")
    if word.lower() not in _AMBIGUOUS:
        return True
    preposition = _PREPOSITION.search(match.string, 0, match.start())
    if day_given:
        return word[0].isupper() or preposition is not None or bool(match["th"])
    if preposition is None:
        return False
    return word[0].isupper() or preposition[1].lower() in _FIRM_PREPOSITIONS


def _year(match: _Match, now: datetime) -> Range | None:
    if _PREPOSITION.search(match.string, 0, match.start()) is None:
        return None
    if re.match(r"\s+(?!was\b|is\b|has\b|as\b|this\b|does\b)[a-z]+s\b|\s*(?:[kmg]i?b|ms|px|%)\b", match.string[match.end() :]):
        return None  # a count: "in 2000 lines"
    return calendar.year_range(int(match["year"]))


def _decade(match: _Match, now: datetime) -> Range:
    return calendar.year_range(int(match["decade"]), 10)


def _relative_day(match: _Match, now: datetime) -> Range:
    word = re.sub(r"\s+", " ", match["word"].lower())
    today = calendar.midnight(now)
    start = today + calendar.DAY * {"the day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1}.get(word, 0)
    part = (match["part"] or word.rpartition(" ")[2]).lower()
    first, hours = {"morning": (5, 7), "afternoon": (12, 6), "evening": (17, 7), "night": (18, 12), "tonight": (18, 12)}.get(part, (0, 24))
    return start + timedelta(hours=first), start + timedelta(hours=first + hours)


def _unit(match: _Match, now: datetime) -> Range:
    which, unit = match["which"].lower(), match["unit"].lower()
    return calendar.unit_range(unit, 1 if which in _EARLIER else -1 if which in ("next", "coming") else 0, now)


def _units_ago(match: _Match, now: datetime) -> Range:
    return calendar.unit_range(match["unit"].lower(), _count(match["count"]), now)


def _last_units(match: _Match, now: datetime) -> Range:
    return calendar.span_back(match["unit"].lower(), _count(match.groupdict().get("count") or "one"), now)


def _count(word: str) -> int:
    return int(word) if word.isdigit() else calendar.NUMBERS[re.sub(r"^a\s+", "", word.lower()).split()[0]]


def _weekday(match: _Match, now: datetime) -> Range:
    which = (match["which"] or "").lower()
    ago = (now.weekday() - calendar.weekday_number(match["weekday"])) % 7
    if which == "next":
        ago = ago - 7
    elif which in _EARLIER and ago == 0:
        ago = 7
    start = calendar.midnight(now) - calendar.DAY * ago
    return start, start + calendar.DAY


def _part_of_year(match: _Match, now: datetime) -> Range | None:
    if not match["year"] and _PREPOSITION.search(match.string, 0, match.start()) is None:
        return None
    letter, number = match["part"][0].upper(), int(match["part"][1])
    months = 3 if letter == "Q" else 6
    year = int(match["year"]) if match["year"] else now.year
    found = calendar.months_range(year, (number - 1) * months + 1, months)
    return found if match["year"] or found[0] <= now else calendar.months_range(year - 1, (number - 1) * months + 1, months)


def _season(match: _Match, now: datetime) -> Range | None:
    month = calendar.SEASONS[match["season"].lower()]
    if match["year"]:
        return calendar.months_range(int(match["year"]), month, calendar.SEASON_MONTHS)
    which = (match["which"] or "").lower()
    preposition = _PREPOSITION.search(match.string, 0, match.start())
    if not which and (preposition is None or preposition[1].lower() not in ("in", "during", "since")):
        return None
    found = calendar.months_range(now.year, month, calendar.SEASON_MONTHS)
    back = 1 if found[0] > now or (which in _EARLIER and found[1] > now) else 0
    return calendar.months_range(now.year - back, month, calendar.SEASON_MONTHS)


def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_EXPRESSIONS: tuple[tuple[re.Pattern[str], Callable[[_Match, datetime], Range | None]], ...] = (
    (
        _expression(
            r"(?<![\w./-])(?P<year>(?:19|20)\d\d)-(?P<month>[01]\d)"
            r"(?:-(?P<day>[0-3]\d)(?:[T ]\d\d:[\d:.]*\d(?:Z|[+-]\d\d:?\d\d)?)?)?(?![\w-]|[./]\w)"
        ),
        _numeric,
    ),
    (_expression(r"(?<![\w./-])(?P<year>(?:19|20)\d\d)/(?P<month>[01]?\d)/(?P<day>[0-3]?\d)(?![\w/-])"), _numeric),
    (
        _expression(
            r"(?<![\w./-])(?P<first>[0-3]?\d)(?P<mark>[/.])(?P<second>[0-3]?\d)(?P=mark)(?P<year>(?:19|20)\d\d)(?![\w/-]|\.\w)"
        ),
        _slashed,
    ),
    (_expression(rf"(?<![\w.:#/-]){_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?"), _day_of_month),
    (_expression(rf"(?<![\w.-]){_MONTH}\s+(?:the\s+)?{_DAY}(?:,?\s+{_YEAR})?"), _day_of_month),
    (_expression(rf"(?<![\w.-]){_MONTH},?\s+(?:of\s+)?{_YEAR}"), _month_of_year),
    (_expression(rf"(?<![\w.-])(?:(?P<which>last|next|this|past|previous)\s+)?{_MONTH}(?!\s+\d|[\w(-])"), _bare_month),
    (
        _expression(
            r"\b(?:(?P<which>last|this|past|previous)\s+)?(?P<season>spring|summer|autumn|fall|winter)\b"
            rf"(?:\s+(?:of\s+)?{_YEAR})?"
        ),
        _season,
    ),
    (_expression(rf"(?<![\w.-])(?P<part>Q[1-4]|H[12])\b(?:[\s/-]*(?:of\s+)?{_YEAR})?"), _part_of_year),
    (_expression(rf"(?<![\w./:#$-]){_YEAR}"), _year),
    (_expression(r"\b(?:in|during|of|from)\s+the\s+(?P<decade>(?:19|20)\d0)s\b"), _decade),
    (
        _expression(
            r"\b(?P<word>the\s+day\s+before\s+yesterday|yesterday|today|tonight|tomorrow|last\s+night|this\s+(?:morning|afternoon|evening))\b"
            r"(?:\s+(?P<part>morning|afternoon|evening|night))?"
        ),
        _relative_day,
    ),
    (_expression(rf"\b(?P<which>last|past|previous|this|next|coming|current)\s+{_UNIT}\b"), _unit),
    (_expression(rf"\b{_COUNT}\s+{_UNIT}s?\s+(?:ago|back|earlier)\b"), _units_ago),
    (_expression(rf"\b(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}s?\b"), _last_units),
    (_expression(rf"\b(?:over|within|during|for|in)\s+the\s+(?:last|past)\s+{_UNIT}\b"), _last_units),
    (_expression(rf"\b(?:(?P<which>last|past|previous|this|next)\s+)?{_WEEKDAY}"), _weekday),
)
