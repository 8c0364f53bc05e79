"""Time words: how times are written in English, and what tells them from verbs, people and plain numbers.

A grammar of times in English; `dates` has the figure.
"""

from __future__ import annotations

import re
from typing import Final

from helix.text.regex import regex
from helix.text.times.calendar_terms import MONTHS

YEAR: Final = r"(?P<year>(?<![\w#$€£./:@+-])(?:19|20)\d\d)(?![\w%]|[./:@-]\w|,\d)"
MONTH: Final = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
DAY: Final = r"(?P<day>(?<![\w.:/#-])[0-3]?\d)(?P<ordinal>st|nd|rd|th)?(?![\w:/%]|\.\d)"
LAST_DAY: Final = r"(?:-|\u2013|to|and|until|through)\s*(?P<last>[0-3]?\d)(?:st|nd|rd|th)?(?![\w:/%]|\.\d)"
OF_YEAR: Final = r"(?:,?\s+(?:of\s+|in\s+)?(?P<year>(?:1\d|20)\d\d)(?![\w%]|[./:@-]\w|,\d))?"
"""A year behind a day of a month: any, since it can't be a plain number there."""
COUNT: Final = (
    r"(?P<count>\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several)"
)
UNIT: Final = r"(?P<unit>minute|hour|day|week|weekend|month|quarter|year|decade)"
WEEKDAY: Final = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
DAYPART: Final = r"(?:\s+(?P<part>morning|afternoon|evening|night)\b)?"
SEASON: Final = r"(?P<season>spring|summer|autumn|fall|winter)\b"
WHICH: Final = r"\b(?P<which>last|past|previous|this|current|next|coming)\s+"

_COUNTED = regex(
    r"\s*(?:bytes?|bits?|[kmg]i?b|px|pixels?|lines?|rows?|columns?|items?|requests?|users?|iterations?|tests?|files?|times|commits?"
    r"|ms|milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|people|tokens?|entries|records?|messages?|words?"
    r"|characters?|chars|connections?|dollars?|euros?|points?|steps?|miles?|km|met(?:er|re)s?|feet|percent|errors?|calories"
    r"|or more|or less)\b",
    re.IGNORECASE,
)
_MEASURED = regex(
    r"\b(?:divid|multipl|increas|decreas|reduc|gr[eo]w|limit|size|port|value|maximum|minimum|total|code|number|version)\w*"
    r"\s+\w+\s+$",
    re.IGNORECASE,
)
_STRONG = (
    "in|during|since|before|after|until|till|between|throughout|prior to|as of|early|mid|late"
    "|(?:end|start|beginning|middle|month|rest) of"
)
_WEAK = "by|of|for|from|on|through|over|around|within|up to"
_STRONGLY_LED = regex(rf"\b(?:{_STRONG})(?:\s+|-)(?:the\s+)?$", re.IGNORECASE)
_LED = regex(rf"(?<!\bout )\b(?:{_STRONG}|{_WEAK})(?:\s+|-)(?:the\s+)?$", re.IGNORECASE)
_JOINED = regex(
    rf"(?:\b(?:{'|'.join(MONTHS)})|(?:19|20)\d\d|day|Q[1-4])\s*(?:\b(?:to|and|or|until|till|through)\b|\u2013)\s*(?:the\s+)?$",
    re.IGNORECASE,
)
_FROM = regex(r"\bfrom\s+$", re.IGNORECASE)
_TO = regex(r"\s+(?:to|until|till|through|on|onwards?)\b|\s*[-\u2013]", re.IGNORECASE)
_SURNAME = regex(r"\s+[A-Z][a-z]")
_END_OF_CLAUSE = regex(r"\s*(?:[?.!,;)]|$)")
_LOOK_BACK = 40

_ROUND_NUMBERS = frozenset({"1900", "2000", "2048"})
_PERSONS = frozenset({"april", "may", "june", "august"})
_VERBS = frozenset({"may", "march", "mar"})


def is_led(match: re.Match[str]) -> bool:
    """Return whether a preposition of time, or an earlier time joined by "and" or "to", stands before words of time."""
    return _before(match, _LED) or _before(match, _JOINED)


def is_day(match: re.Match[str]) -> bool:
    """Tell a day's words in a text, "7 May" without a year, from "it may 7 times" and "dec 10"."""
    if _COUNTED.match(match.string, match.end()) or re.match(
        r",?\s*\d{4}", match.string[match.end() : match.end() + 8]
    ):
        return False
    name = match["month"].rstrip(".")
    if name[0].isupper() or (len(name) > 4 and name not in _VERBS):
        return True
    return bool(match["ordinal"]) or is_led(match)


def is_month(match: re.Match[str]) -> bool:
    """Tell a month's words in a text from the verbs "may" and "march", from people called June and from hex to dec."""
    name = match["month"].rstrip(".")
    lowered, lower = name.lower(), name.islower()
    after = match.string[match.end() : match.end() + 20]
    if lower and lowered not in MONTHS:
        return False
    if lowered in _VERBS and (lower or lowered != "may") and re.match(r"\s+\w" if lower else r"\s+on\b", after):
        return False
    if lowered in _PERSONS and _SURNAME.match(after):
        return False
    if match["which"] or _before(match, _STRONGLY_LED) or _before(match, _JOINED):
        return True
    if lowered in _PERSONS:  # "a letter from June", but "from June to August"
        return _before(match, _FROM) and _TO.match(after) is not None
    return not lower and is_led(match)


def is_year(match: re.Match[str]) -> bool:
    """Tell a year's words in a text, "in 2022", from "in 2048 bytes", "limit of 2000" and "port 2020"."""
    if _COUNTED.match(match.string, match.end()) or _before(match, _MEASURED):
        return False
    return _before(match, _STRONGLY_LED) or (is_led(match) and match["year"] not in _ROUND_NUMBERS)


def is_weekday(match: re.Match[str]) -> bool:
    """Tell a weekday's words, "on Monday" or "what happened Monday?", from a name, "the Monday meeting"."""
    return is_led(match) or _END_OF_CLAUSE.match(match.string, match.end()) is not None


def _before(match: re.Match[str], pattern: re.Pattern[str]) -> bool:
    return pattern.search(match.string, max(0, match.start() - _LOOK_BACK), match.start()) is not None
