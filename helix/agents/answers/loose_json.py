"""Loose json: JSON as agents write it, with prose and fences around it, commas too many, or the end missing.

The json-repair library is not used: it returns values without the places where they begin and end in the prose.

A grammar of JSON with what models add to it or leave away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

TEXT_LIMIT = 100_000
"""Characters of one answer that are read; what comes behind them is excluded."""
_DEEPEST = 60
_WALKS = 5
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_NOTHING = frozenset({"", "none", "null", "n/a", "na", "-", "nothing", "[]", "{}"})
_CLOSES = {"{": "}", "[": "]"}
_TOLD_TO_RUN = re.compile(r"\A(?:please\s+)?(?:run|execute)\b:?\s*(?=`)", re.IGNORECASE)
_CODE = re.compile(r"(`{1,3})(?!`)(?:\w*\n)?(.+?)\1(?!`)", re.DOTALL)
_MORE_CODE = re.compile(r",?\s*(?:(?:and|&&|;|,|\+)\s*)?(?:then\s*)?(`{1,3})(?!`)(?:\w*\n)?(.+?)\1(?!`)", re.DOTALL)
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")


def values(text: str) -> Iterator[Any]:
    """Yield the JSON objects and lists in an agent's answer, outermost ones, mended if need be; never raises."""
    return (value for value, _, _ in placed(text))


def placed(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield JSON values of an agent's answer as `values` does, each with where it begins and ends in the text."""
    text = text[:TEXT_LIMIT]
    at, steps = 0, _WALKS * TEXT_LIMIT
    while steps > 0 and (start := _opening(text, at)) >= 0:
        try:
            value, at = json.JSONDecoder(strict=False).raw_decode(text, start)
        except RecursionError:
            at, steps = start + 1, steps - TEXT_LIMIT
            continue
        except ValueError as error:
            mended, end, walked = _mended(text, start)
            steps -= max(walked, _read_until(error) - start)
            at = start + 1 if mended is None else end
            if mended is None:
                continue
            value = mended
        yield value, start, at


def best_object(text: str, keys: Iterable[str]) -> Mapping[str, Any]:
    """Return the JSON object in an agent's answer that has the most of these keys, the last of equals; else empty."""
    wanted, best, most = frozenset(keys), {}, 0
    for value in values(text):
        if isinstance(value, Mapping):
            folded = folded_keys(value)
            if (has := len(wanted & folded.keys())) and has >= most:
                best, most = dict(folded), has
    return best


def folded_keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a mapping of an agent's answer with its keys in snake_case; of two equal ones, the first that counts."""
    folded: dict[str, Any] = {}
    for key, item in value.items():
        name = re.sub(r"[\s\-]+", "_", _CAMEL.sub("_", str(key).strip())).lower()
        if folded.get(name) in (None, "", [], {}):
            folded[name] = item
    return folded


def word(value: object) -> str:
    """Return a value of an agent's answer as one text: a text stripped, anything else as JSON says it."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


def words(value: object) -> tuple[str, ...]:
    """Return a value of an agent's answer as texts: a list's items, a text's as `listed`; empty ones are left out."""
    if isinstance(value, str):
        return listed(value)
    if isinstance(value, list | tuple):
        return tuple(text for item in value if (text := word(item)) and text.lower() not in _NOTHING)
    return (word(value),) if value is not None and not isinstance(value, bool | Mapping) else ()


def listed(text: str) -> tuple[str, ...]:
    """Return the items of a list in an agent's answer, as JSON, as bullets, as lines, or with commas in one line."""
    text = text.strip()
    if text.lower() in _NOTHING:
        return ()
    if text.startswith("[") and isinstance(found := next(values(text), None), list):
        return words(found)
    rows = [_BULLET.sub("", row).strip() for row in text.strip("[]").splitlines()]
    items = rows if len(rows) > 1 or _BULLET.match(text) else rows[0].split(",") if rows else []
    cleaned = (item.strip().strip("`\"'").strip() for item in items)
    return tuple(item for item in cleaned if item.lower() not in _NOTHING)


def lines(text: str) -> tuple[str, ...]:
    """Return sentences listed in an agent's answer, as JSON, as bullets or as lines; commas part nothing in them."""
    text = text.strip()
    if text.startswith("[") and isinstance(found := next(values(text), None), list):
        return words(found)
    items = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(item for item in items if item.lower() not in _NOTHING)


def mapping(value: object) -> dict[str, Any]:
    """Return a value of an agent's answer as a mapping with folded keys: a text is read as JSON; else empty."""
    if isinstance(value, str):
        value = next((one for one in values(value) if isinstance(one, Mapping)), {})
    return folded_keys(value) if isinstance(value, Mapping) else {}


def mappings(value: object) -> tuple[dict[str, Any], ...]:
    """Return a value of an agent's answer as mappings with folded keys; what is none is left out."""
    if isinstance(value, str):
        value = next((one for one in values(value) if isinstance(one, list)), [])
    if isinstance(value, Mapping):
        value = [value]
    return (
        tuple(folded_keys(item) for item in value if isinstance(item, Mapping))
        if isinstance(value, list | tuple)
        else ()
    )


def command(text: str) -> str:
    """Return the command that a text of an agent's answer begins with: its code, else its first paragraph.

    Several as code at its beginning, one behind the other, are one that runs them in turn.
    """
    text = _TOLD_TO_RUN.sub("", text.strip())
    found = _CODE.match(text)
    if found is None:
        first = _PARAGRAPHS.split(text, maxsplit=1)[0]
        return (first.strip("`") if first.count("`") % 2 else first).strip()
    commands = [found[2].strip()]
    while (more := _MORE_CODE.match(text, found.end())) is not None:
        found = more
        commands.append(found[2].strip())
    return " && ".join(commands)


def table(text: str) -> list[tuple[str, ...]]:
    """Return the rows of the Markdown table in an agent's answer, without its heading; empty where it is none."""
    rows = [line.strip() for line in text.splitlines() if line.strip()]
    if not rows or any(not row.startswith("|") for row in rows):
        return []
    ruled = next((number for number, row in enumerate(rows) if is_rule(row)), -1)
    body = [row for row in rows[ruled + 1 :] if not is_rule(row)]
    return [tuple(cell.strip(" `*") for cell in row.strip("|").split("|")) for row in body]


def is_rule(row: str) -> bool:
    """Return whether a Markdown table's row in an agent's answer only parts its heading from what is below."""
    return "--" in row and "|" in row and not row.strip("|:- \t")


def _read_until(error: ValueError) -> int:
    """Return where a decoder gave up; of a text without an end it tells where that begins."""
    if not isinstance(error, json.JSONDecodeError):
        return TEXT_LIMIT
    return len(error.doc) if error.msg.startswith("Unterminated") else error.pos


def _opening(text: str, at: int) -> int:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=-1)


def _mended(text: str, start: int) -> tuple[Any, int, int]:
    """Return what a value comes to that has commas too many or no end, where it ends, and how many signs were read.

    Without an end it is closed where the text stops, else behind the last item that is whole; None where nothing will
    do.
    """
    kept: list[str] = []
    closers: list[str] = []
    wholes: dict[str, tuple[int, str]] = {}
    inside = escaped = False
    place = start
    for place in range(start, len(text)):
        sign = text[place]
        if inside:
            inside, escaped = escaped or sign != '"', not escaped and sign == "\\"
        elif sign == '"':
            inside = True
        elif sign in _CLOSES:
            closers.append(_CLOSES[sign])
        elif sign in "}]":
            if closers[-1] != sign:
                return None, start, place - start + 1
            _drop_comma(kept)
            closers.pop()
        elif sign == ",":
            wholes[sign] = len(kept), "".join(reversed(closers))
        kept.append(sign)
        if not closers or len(closers) > _DEEPEST:
            break
        if sign in '}]"' and not inside:
            wholes[sign] = len(kept), "".join(reversed(closers))
    said = "".join(kept)
    attempts = [said + ('"' if inside else "") + "".join(reversed(closers))]
    if closers:
        attempts += [said[:end] + closing for end, closing in sorted(wholes.values(), reverse=True)]
    for attempt in attempts if len(closers) <= _DEEPEST else ():
        try:
            return json.loads(attempt, strict=False), place + 1, len(kept)
        except (ValueError, RecursionError):
            continue
    return None, start, len(kept)


def _drop_comma(kept: list[str]) -> None:
    place = len(kept) - 1
    while place >= 0 and kept[place].isspace():
        place -= 1
    if place >= 0 and kept[place] == ",":
        del kept[place:]
