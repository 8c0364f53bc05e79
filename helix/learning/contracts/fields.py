"""Fields: texts written as `NAME: value` with values over several lines, as prompts and agents' last words are."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import lru_cache

from helix.learning.contracts.loose import TEXT_LIMIT

_FENCE = re.compile(r"^\s*(?:```|~~~)")


def sections(text: str, names: Iterable[str], *, bare: bool = False) -> list[tuple[str, str]]:
    """Return what a text says under each of these names, in its order; never raises.

    A name begins a line, in whatever case, perhaps as a heading, bullet or in bold, and is followed by a colon; what
    follows up to the next name is its value. A name that stands somewhere in capitals is read only where it does. Names
    in indented lines and in code are text like any other, unless nothing else has names; a fence around names is none.
    With `bare` a heading that is a name alone needs no colon.
    """
    text = textwrap.dedent(text[:TEXT_LIMIT].expandtabs().replace("\r\n", "\n").replace("\r", "\n"))
    if bare:
        text = _headed(tuple(sorted(names))).sub(r"\1:", text)
    pattern = _pattern(tuple(sorted(names)))
    lines = text.split("\n")
    code, fences = _fenced(lines, pattern)
    lines = ["" if number in fences else line for number, line in enumerate(lines)]
    return list(_read(lines, pattern, code)) or list(_read([line.strip() for line in lines], pattern, set()))


@lru_cache(maxsize=16)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"(?:\#{{1,6}} +|[-*+] +)?[*_`]{{0,3}}({_spoken(names)})[*_`]{{0,3}} ?:[*_`]{{0,3}}(?!:)(.*)", re.IGNORECASE
    )


@lru_cache(maxsize=16)
def _headed(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"^(\#{{1,6}} +[*_`]{{0,3}}(?:{_spoken(names)})[*_`]{{0,3}})[ \t]*$", re.IGNORECASE | re.MULTILINE
    )


def _spoken(names: tuple[str, ...]) -> str:
    return "|".join(re.escape(name).replace("_", r"[_ \-]") for name in sorted(names, key=len, reverse=True))


def _read(lines: list[str], pattern: re.Pattern[str], code: set[int]) -> Iterator[tuple[str, str]]:
    headings = {
        number: found
        for number, line in enumerate(lines)
        if number not in code and (found := pattern.fullmatch(line)) is not None
    }
    shouted = {_name(found) for found in headings.values() if found[1].isupper()}
    name, value = "", list[str]()
    for number, line in enumerate(lines):
        found = headings.get(number)
        if found is None or (_name(found) in shouted and not found[1].isupper()):
            value.append(line)
            continue
        if name:
            yield name, _unfenced(value)
        name, value = _name(found), [found[2]]
    if name:
        yield name, _unfenced(value)


def _name(found: re.Match[str]) -> str:
    return re.sub(r"[ \-]", "_", found[1]).upper()


def _unfenced(lines: list[str]) -> str:
    """Return a value without the fence around the whole of it."""
    inner = "\n".join(lines).strip().split("\n")
    if _FENCE.match(inner[0]):
        inner = inner[1:]
    if inner and inner[-1].strip() in ("```", "~~~"):
        inner = inner[:-1]
    return "\n".join(inner).strip()


def _fenced(lines: list[str], pattern: re.Pattern[str]) -> tuple[set[int], set[int]]:
    """Return the numbers of the lines of code, and those of fences that are around names instead.

    A fence that is never closed is none.
    """
    marks = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    code: set[int] = set()
    fences: set[int] = set()
    for first, last in zip(marks[::2], marks[1::2], strict=False):
        inner = next((line for line in lines[first + 1 : last] if line.strip()), "")
        if pattern.fullmatch(inner.strip()):
            fences |= {first, last}
        else:
            code |= set(range(first, last + 1))
    return code, fences
