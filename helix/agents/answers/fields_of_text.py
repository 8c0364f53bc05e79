"""Fields of text: `NAME: value` with values over several lines, as prompts and agents' last words are written.

A grammar of names, colons and values, with the marks of Markdown around them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from helix.agents.answers.loose_json import TEXT_LIMIT, is_rule

_SIGN = r"[^\w\s\x00-\x7f\xab\xbb\u2018-\u201f\u2026\u2039\u203a\u3001-\u301f\uff01-\uff65]"
"""A sign such as an emoji, an arrow or a bullet: no letter, no quotation mark, no bracket and no punctuation."""
LEADS = (
    rf"[ \t]|\#{{1,6}}(?![\w\#])|[-+](?=[ \t])|[*_`]|\(?\d{{1,3}}[.)\u3001\uff09\uff0e]|\d\ufe0f?\u20e3"
    rf"|[\u2460-\u2473]|\[[xX\u2713\u2714]\]|:[a-z][a-z0-9_+\-]{{1,40}}:|{_SIGN}"
)
"""Regular expression of what may stand before a name, any number of times: marks of headings, lists, stress; emoji."""
_LEAD = rf"(?:{LEADS}){{0,24}}"
_STRESS = r"[*_`]{0,3}"
_BEHIND = rf"{_STRESS}(?:[ \t]*{_SIGN}){{0,4}}{_STRESS}"
COLON = r"[:\ufe55\uff1a]"
"""Regular expression of a colon, narrow or wide."""
_DASHES = r"[\u2013\u2014]+"
_LABEL = (
    r"(?:(?:final|task|current)[ _])?(?:helix[ _])?(?:status|outcome|result|verdict|ergebnis|statut|résultat|estado"
    r"|resultado|结果|状态|結果|状態)"
)
_OPENED = re.compile(r"(?<!\w)(?:\*{1,3}|_{1,3}|`{1,3})(?![ \t*_`])")
_SHOWS = re.compile(rf"\#|{_OPENED.pattern}|[^\x00-\x7f]")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_RULE = re.compile(r"\s*([-*_=])(?:[ \t]*\1){2,}\s*")
_ROW = re.compile(r"\s*\|([^|]+)\|([^|]+)\|\s*")
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)*[ \t]*")
_BLANKS = str.maketrans({"\u00a0": " ", "\u3000": " ", "\u200b": None, "\ufeff": None})


@dataclass(frozen=True, slots=True)
class _Heading:
    """A line that begins with a name: the name in capitals, whether it stood so, and what follows it."""

    name: str
    shouted: bool
    rest: str


def sections(
    text: str, names: Iterable[str], *, bare: bool = False, outcomes: Iterable[str] = (), quoted: bool = True
) -> list[tuple[str, str]]:
    """Return the fields of an agent's answer under each of these names, in its order; never raises.

    A name begins a line, in whatever case, behind marks of headings, lists and stress or emoji, and is followed by a
    colon; what follows up to the next name is its value. A name that stands somewhere in capitals is read only where it
    does. Names in indented lines, quotations and code are text like any other, unless nothing else has names; a fence
    around names is none. With `bare` a name alone needs no colon where it is a heading or in bold, and a row of a table
    may have one.

    Of `outcomes` one alone holds, so where one stands in capitals none is read that does not; they may also stand alone
    in capitals, before a dash, or behind a label such as `Status:`. Without `quoted` what stands in quotations, fences
    and indented lines is never read.
    """
    text = text[:TEXT_LIMIT].translate(_BLANKS).expandtabs().replace("\r\n", "\n").replace("\r", "\n")
    form = _form(tuple(sorted(names)), tuple(sorted(outcomes)), bare)
    lines = textwrap.dedent(text).split("\n")
    code, fences = _fenced(lines, form, quoted=quoted)
    lines = ["" if number in fences else line for number, line in enumerate(lines)]
    found = list(_parse_fields(lines, form, code))
    if found or not quoted:
        return found
    return list(_parse_fields([_QUOTED.sub("", line).rstrip() for line in lines], form, set()))


class _Form:
    """How a line looks that begins with one of some names."""

    def __init__(self, names: tuple[str, ...], outcomes: tuple[str, ...], bare: bool) -> None:
        self.bare = bare
        self.outcomes = frozenset(outcomes)
        spoken, ends = _spoken(names), _spoken(outcomes) or r"(?!)"
        self._field = re.compile(
            rf"({_LEAD})({spoken})({_BEHIND})[ \t]?{COLON}({_STRESS})(?!{COLON})(.*)", re.IGNORECASE
        )
        self._alone = re.compile(rf"({_LEAD})({spoken}){_BEHIND}[.!]?{_STRESS}[ \t#]*", re.IGNORECASE)
        self._dashed = re.compile(rf"({_LEAD})({ends}){_BEHIND}(?:[ \t]*{_DASHES}|[ \t]+-{{1,2}}(?=[ \t]))[ \t]*(\S.*)")
        self._labelled = re.compile(
            rf"({_LEAD}){_LABEL}{_BEHIND}[ \t]?{COLON}{_LEAD}({ends})"
            rf"{_BEHIND}[.!]?{_STRESS}[ \t]*(?:(?:{COLON}|{_DASHES}|-+(?=[ \t]))[ \t]*(.*)|(\(.*))?",
            re.IGNORECASE,
        )

    def heading(self, line: str, below: str = "") -> _Heading | None:
        """Return what a line of an agent's answer begins with, if one of the names; `below` is the next line."""
        if not line or line[0].isspace():
            return None
        row = _ROW.fullmatch(line) if self.bare else None
        if row is None:
            return self._heading(line)
        found = None if is_rule(below) else self._heading(f"{row[1].strip()}: {row[2].strip()}")
        return found if found is not None and found.shouted and not self._alone.fullmatch(found.rest) else None

    def _heading(self, line: str) -> _Heading | None:
        if found := self._field.fullmatch(line):
            closed = any(sign in found[3] + found[4] for sign in "*_`")
            return _heading(found[2], found[5] if closed else _closed(found[1], found[5]))
        if self.bare and (found := self._alone.fullmatch(line)):
            alone = not found[1] and found[2].isupper() and found[2] in self.outcomes
            return _heading(found[2], "") if alone or _SHOWS.search(found[1]) else None
        if found := self._dashed.fullmatch(line):
            return _heading(found[2], _closed(found[1], found[3]))
        if found := self._labelled.fullmatch(line):
            return _Heading(found[2].upper(), True, _closed(found[1], found[3] or found[4] or ""))
        return None


@lru_cache(maxsize=16)
def _form(names: tuple[str, ...], outcomes: tuple[str, ...], bare: bool) -> _Form:
    return _Form(names, outcomes, bare)


def _spoken(names: tuple[str, ...]) -> str:
    return "|".join(re.escape(name).replace("_", r"(?:\\?_|[ \-])") for name in sorted(names, key=len, reverse=True))


def _heading(written: str, rest: str) -> _Heading:
    return _Heading(re.sub(r"\\?_|[ \-]", "_", written).upper(), written.isupper(), rest)


def _closed(lead: str, rest: str) -> str:
    """Return what follows a name without the end of the stress that began before the name."""
    opened = _OPENED.search(lead)
    if opened is None:
        return rest
    rest = rest.rstrip()
    return rest.removesuffix(opened[0]) if rest.endswith(opened[0]) else rest.replace("**", "", 1)


def _parse_fields(lines: list[str], form: _Form, code: set[int]) -> Iterator[tuple[str, str]]:
    headings = {
        number: found
        for number, (line, below) in enumerate(zip(lines, [*lines[1:], ""], strict=True))
        if number not in code and (found := form.heading(line, below)) is not None
    }
    shouted = {found.name for found in headings.values() if found.shouted}
    if shouted & form.outcomes:
        shouted |= form.outcomes
    name, value = "", list[str]()
    for number, line in enumerate(lines):
        found = headings.get(number)
        if found is None or (found.name in shouted and not found.shouted):
            value.append(line)
            continue
        if name:
            yield name, _unfenced(value)
        name, value = found.name, [found.rest]
    if name:
        yield name, _unfenced(value)


def _unfenced(lines: list[str]) -> str:
    """Return a value without the fence around the whole of it, and without lines drawn above and below it.

    The first of its lines stands behind the name.
    """
    first, rest = lines[0].strip(), lines[1:]
    while rest and _is_drawn(rest[-1]):
        rest.pop()
    while rest and not first and _is_drawn(rest[0]):
        rest.pop(0)
    inner = "\n".join([first, *rest]).strip().split("\n")
    marks = [number for number, line in enumerate(inner) if _FENCE.match(line)]
    if marks in ([0], [len(inner) - 1], [0, len(inner) - 1]):
        inner = [line for number, line in enumerate(inner) if number not in marks]
    return "\n".join(inner).strip()


def _is_drawn(line: str) -> bool:
    return not line.strip() or _RULE.fullmatch(line) is not None


def _fenced(lines: list[str], form: _Form, *, quoted: bool) -> tuple[set[int], set[int]]:
    """Return the numbers of the lines of code, and those of fences that are around names instead, where these count.

    A fence that is never closed is none.
    """
    marks = [number for number, line in enumerate(lines) if _FENCE.match(line)]
    code: set[int] = set()
    fences: set[int] = set()
    for first, last in zip(marks[::2], marks[1::2], strict=False):
        inner = next((line for line in lines[first + 1 : last] if line.strip()), "")
        if quoted and form.heading(inner.strip()):
            fences |= {first, last}
        else:
            code |= set(range(first, last + 1))
    return code, fences
