"""Time grows with the length of a text, whatever is repeated in it: each pattern's own marks and what stands between.

Both hangs that testers found were patterns that read on to the end from each of many marks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import helix.text
from helix.ingest.erased_text import _without_beginnings
from helix.memory.capture.quarantine import screen
from helix.model.provenance import Trust
from helix.model.told import said_in
from helix.model.tombstone import _of_texts, kept_out
from helix.text.chunks import chunks
from helix.text.cleaning import clean
from helix.text.inert import inert, visible
from helix.text.own_words import own_words
from helix.text.secrets.redact import redact
from helix.text.sentences import sentences
from helix.text.tokens import estimate_tokens, lexical_tokens
from tests.text.regexes import KINDS, REPEATS, patterns, within

LENGTH, LONGER = 6_000, 4
MOST_TIMES_AS_LONG = 3 * LONGER
"""A text that is four times as long took 16 times as long in a pattern that begins anew at each mark."""
NOTICEABLE = 0.5
"""Seconds of a processor for a text of 24,000 characters below which nothing is said: the fastest took 0.001."""
WITHIN = (("", ""), ("-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----\n"), ('password = "', '"\n'))
"""What a text may stand between: a pattern reads on in what another one has found."""
READERS: tuple[Callable[[str], object], ...] = (
    redact,
    lambda text: screen(Trust.WEB, text),
    sentences,
    own_words,
    lambda text: (clean(text), inert(text), visible(text), chunks(text)),
    lambda text: (lexical_tokens(text), estimate_tokens(text)),
    lambda text: _without_beginnings(text, [f" {'word ' * 40}"], is_title=True),
)


def characters(items: list[Any]) -> list[str]:
    """Return some characters of a class."""
    if items[0][0] is sre.NEGATE:
        taken = {chr(value) if op is sre.LITERAL else KINDS.get(value, "-") for op, value in items[1:]}
        return [one for one in "a -1!" if one not in taken][:2] or ["\u4e2d"]
    told = {sre.LITERAL: chr, sre.RANGE: lambda ends: chr(ends[0]), sre.CATEGORY: lambda kind: KINDS.get(kind, "-")}
    return [told[op](value) for op, value in items if op in told][:4] or ["a"]


def least(parts: Any) -> str:
    """Return a short text that fits a parsed pattern, but for what it looks ahead and back for."""
    said = ""
    for op, value in parts:
        if op is sre.LITERAL:
            said += chr(value)
        elif op is sre.IN:
            said += characters(value)[0]
        elif op in (sre.ANY, sre.NOT_LITERAL):
            said += "a"
        elif op in REPEATS:
            said += least(value[2]) * value[0]
        elif op in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            said += least(value[3] if op is sre.SUBPATTERN else value)
        elif op is sre.BRANCH:
            said += least(value[1][0])
    return said


def pumps(parts: Any, before: str = "", after: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield what is before each part of a pattern that may go on without end, what is repeated, and what follows."""
    for place, part in enumerate(parts):
        op, value = part
        rest = least(parts[place + 1 :]) + after
        if op in REPEATS and value[1] > 60:
            only = value[2][0] if len(value[2]) == 1 else (None, None)
            bodies = {least(value[2]), *(characters(only[1]) if only[0] is sre.IN else "")}
            yield from ((before, body, rest) for body in sorted(bodies - {""}))
        for one in within(op, value):
            yield from pumps(one, before, rest)
        before += least([part])


Pumped = tuple[str, str, str]
"""How a text begins, what it repeats, and how it ends."""


def texts(pattern: str, flags: int) -> list[Pumped]:
    """Return texts that a pattern may take long for."""
    found: dict[Pumped, None] = {}
    for before, body, after in pumps(parser.parse(pattern, flags)):
        alone = ("", before + body, ""), ("", before, ""), ("", f"{before}{body * 20}\n", "")
        for one in ((before, body, ""), (before, body, after), (before, f"{body}\n", after), *alone):
            found[one] = None
    return [one for one in found if one[1]]


def is_slow(reads: Callable[[str], object], pumped: Pumped) -> bool:
    """Return whether a reader takes long for a text, and much longer than for a quarter of it."""
    begins, repeated, ends = pumped
    short, long = (begins + repeated * (size // len(repeated)) + ends for size in (LENGTH, LENGTH * LONGER))
    took = seconds(reads, long)
    return took >= NOTICEABLE and took >= MOST_TIMES_AS_LONG * seconds(reads, short)


def seconds(reads: Callable[[str], object], text: str) -> float:
    begun = time.process_time()
    reads(text)
    return time.process_time() - begun


def test_no_repetition_takes_more_than_its_length(pytestconfig: pytest.Config) -> None:
    told = list(dict.fromkeys(one for pattern in patterns(helix.text) for one in texts(*pattern)))
    assert len(told) > 5_000
    cases = [
        ((f"{before}{begins}", repeated, f"{ends}{after}"))
        for begins, repeated, ends in told
        for before, after in WITHIN
    ]
    for pumped in cases[::25] if pytestconfig.getoption("--soak") else cases[::503]:
        slow = [number for number, reads in enumerate(READERS) if is_slow(reads, pumped)]
        assert not slow, pumped


@pytest.mark.parametrize("repeated", ["\u2039a", "&lt;", "&lt;. ", "](a&lt;", "<!--", '<a x="', "<!-- <a "])
def test_what_was_erased_is_looked_for_in_the_time_of_a_text_s_length(repeated: str) -> None:
    said = "Return the keys of the mill to its keeper."
    erased = kept_out([("a", _of_texts([said_in(said)]))])
    assert erased.cut(said) == ""
    assert not is_slow(erased.cut, ("", repeated, ""))
