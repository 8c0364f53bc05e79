"""One way: what a pattern repeats, and what is not always as long, reads each text in one way alone.

Where there are two, a text of sixty characters that fits nothing behind them has more ways than a lifetime has seconds.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import helix
from tests.text.regexes import KINDS, patterns, within

FEW, MANY = 8, 36
"""Times that a word is repeated. What is read in two ways each time is read in billions by then."""
SECONDS = 0.2
LEAST_PATTERNS, LEAST_REPEATS = 900, 60
TOLD: Mapping[Any, Callable[[Any], str]] = {
    sre.LITERAL: chr,
    sre.RANGE: lambda ends: chr(ends[0]),
    sre.CATEGORY: lambda kind: KINDS.get(kind, "-"),
}
"""A character that a part of a class holds."""
GREEDY_OR_NOT = (sre.MAX_REPEAT, sre.MIN_REPEAT)
"""What is tried again: a possessive repeat keeps what it has."""


def varies(parts: Any) -> bool:
    """Return whether a part of a pattern fits texts of several kinds."""
    return any(
        (op in GREEDY_OR_NOT and value[0] != value[1]) or op is sre.BRANCH or any(map(varies, within(op, value)))
        for op, value in parts
    )


def repeated(parts: Any) -> Iterator[Any]:
    """Yield what a pattern repeats and what varies."""
    for op, value in parts:
        if op in GREEDY_OR_NOT and value[1] > FEW and varies(value[2]):
            yield value[2]
        for one in within(op, value):
            yield from repeated(one)


def signs(parts: Any) -> Iterator[str]:
    """Yield characters that a part of a pattern fits."""
    for op, value in parts:
        if op is sre.LITERAL:
            yield chr(value)
        elif op in (sre.NOT_LITERAL, sre.ANY) or (op is sre.IN and value[0][0] is sre.NEGATE):
            yield from "a! "
        elif op is sre.IN:
            yield from (TOLD[kind](one) for kind, one in value if kind in TOLD)
        for one in within(op, value):
            yield from signs(one)


def word_of_two_ways(body: Any, state: Any, flags: int) -> str | None:
    """Return a word that a repeated part of a pattern reads in several ways; None for none."""
    never = parser.SubPattern(state, [(sre.MAX_REPEAT, (0, sre.MAXREPEAT, body)), (sre.FAILURE, ())])
    reads = compiler.compile(never, flags | state.flags).match
    some = list(dict.fromkeys(signs(body)))[:9]
    for word in ("".join(one) for length in (1, 2, 3) for one in itertools.product(some, repeat=length)):
        for times in range(FEW, MANY + 1, 4):
            begun = time.process_time()
            reads(word * times)
            if time.process_time() - begun > SECONDS:
                return word
    return None


def test_what_a_pattern_repeats_reads_a_text_in_one_way() -> None:
    known = patterns(helix)
    assert len(known) > LEAST_PATTERNS
    looked_at, found = 0, []
    for pattern, flags in known:
        tree = parser.parse(pattern, flags & ~re.DEBUG)
        for body in repeated(tree):
            looked_at += 1
            if (word := word_of_two_ways(body, tree.state, flags)) is not None:
                found.append((pattern, word))
    assert looked_at > LEAST_REPEATS
    assert found == []
