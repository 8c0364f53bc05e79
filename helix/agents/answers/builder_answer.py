"""Builder answer: how a builder says that it delivered or was blocked, in its last message or in its task's data.

A grammar of the fields that Helix asks builders for, in the ways in which models write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from helix.agents.answers.fields_of_text import COLON, LEADS, sections
from helix.agents.answers.loose_json import folded_keys, lines, mapping, mappings, table, values, word, words
from helix.agents.answers.task_record import BLOCKED, DELIVERED, OUTCOMES
from helix.model.memory import Kind
from helix.text.regex import regex
from helix.text.structured import map_texts

_NAMES = ("DELIVERED", "BLOCKED", "TRIED", "ERROR", "UTILIZED", "LEARNED", "FILES_CHANGED", "VERIFIED")
_ENDED = ("DELIVERED", "BLOCKED")
_MOST, _SHORT, _LONGEST_TEXT = 50, 80, 20_000
_LATER = r"(?:TRIED|UTILIZED|LEARNED|FILES_CHANGED|VERIFIED)"
_ENDS = regex(rf"^((?:{LEADS})*(?:DELIVERED|BLOCKED|TRIED)\b)(.*)$", re.MULTILINE)
_NEXT = regex(
    r"(?<=\S)(?:[ \t]*+(?:[;|,][ \t]++|(?<=[ \t]))|[\u3001\u3002\uff0c\uff1b])"
    rf"(?=[*_`]{{0,3}}{_LATER}[*_`]{{0,3}}{COLON})"
    rf"|(?<=\S)[ \t]*(?:[;|][ \t]*|[ \t](?=[*_]))(?=[*_`]{{0,3}}ERROR[*_`]{{0,3}}{COLON})"
)
_QUOTED = regex(r"[ \t]*(?:>|```|~~~)|[ \t]{4}")
_LABEL = regex(
    r"\[\s*(?:(?:\d{1,3}\s*%|unproven|claimed)[^\]]{0,40}|you|verified|agent|commit|notes|tool|web)\]", re.IGNORECASE
)
_REMARK = regex(r"\([^()]*\)")
_LISTED = regex(r"\[([^\[\]]*)\]")
_AND = regex(r"(?:\s+(?:and|und|et|y|plus)\s+|\s*[&+]\s*)", re.IGNORECASE)
_NAMED_TOGETHER = regex(rf"[\w.\-]+(?:{_AND.pattern}[\w.\-]+)+", re.IGNORECASE)
_WIDE = str.maketrans("\uff0c\u3001\uff1b\uff3b\uff3d\u3010\u3011\uff08\uff09\uff1a", ",,;[][]():")
_SAYS_NOTHING = regex(r"\W*(?:(?:none|nothing|n/?a|no)\W*)?|\s*<[^<>]*>\s*", re.IGNORECASE)
_NOTHING_LEARNED = regex(
    r"\W*(?:none|nothing|n/?a|no)?(?:\s+(?:really|much|else|at all|new|special|notable|noteworthy|significant"
    r"|surprising|interesting|of note|worth\s+\w+(?:\s+\w+)?|to\s+(?:add|report|note|learn|keep|record|share|remember)"
    r"|(?:was\s+)?learned|learnings?|lessons?|insights?|this time|here))*\W*",
    re.IGNORECASE,
)
_WHEN_THEN = regex(r"^(.{3,}?)\s*(?:->|=>|→|: )\s*(.{3,})$", re.DOTALL)
_KIND = regex(rf"^\W*({'|'.join(Kind)})\W{{0,4}}(?::|->|-)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Something a builder says it learned; `kind` is empty where it does not say, or says a word that is no kind."""

    trigger: str
    resolution: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuilderAnswer:
    """What a builder said of its task. All of it is a claim.

    `outcome` is delivered, blocked, skipped, or empty where it says none; `utilized` are the names of the memories it
    says it used. `problems` say in sentences where the answer is not what its contract asks for.
    """

    outcome: str = ""
    summary: str = ""
    reason: str = ""
    tried: str = ""
    error: str = ""
    utilized: tuple[str, ...] = ()
    learned: tuple[Learned, ...] = ()
    problems: tuple[str, ...] = ()


def read_builder(text: str) -> BuilderAnswer:
    """Read a builder's last message as its answer: of several outcomes the last that says something; never raises."""
    said: dict[str, str] = {}
    outcome = ""
    for name, value in _own_sections(_parted(text)):
        value = "" if len(value) <= _SHORT and _SAYS_NOTHING.fullmatch(value) else value
        if name in _ENDED and (value or not outcome or not said[outcome.upper()]):
            outcome = name.lower()
        said[name] = value or said.get(name, "")
    line = _first_line(said.get(outcome.upper(), ""))
    answer = BuilderAnswer(
        outcome=outcome,
        summary=line if outcome == DELIVERED else "",
        reason=line if outcome == BLOCKED else "",
        tried=said.get("TRIED", ""),
        error=said.get("ERROR", ""),
        utilized=_names(said.get("UTILIZED", "")),
        learned=read_learned(said.get("LEARNED", "")),
    )
    return _checked(answer, utilized_said="UTILIZED" in said)


def read_task_metadata(metadata: Mapping[str, Any]) -> BuilderAnswer:
    """Read a builder's answer from the metadata of a client's task, of each text its beginning; never raises."""
    given = folded_keys(map_texts(metadata, lambda _, text: text[:_LONGEST_TEXT]))
    outcome = word(given.get("helix_outcome")).lower()
    return BuilderAnswer(
        outcome=outcome if outcome in OUTCOMES else "",
        summary=word(given.get("summary")),
        reason=word(given.get("blocked_reason")),
        tried=word(given.get("tried")),
        error=word(given.get("error")),
        utilized=_names(given.get("utilized")),
        learned=read_learned(given.get("learned")),
        problems=(f"helix_outcome is {outcome!r}, not one of: " + ", ".join(OUTCOMES),)
        if outcome and outcome not in OUTCOMES
        else (),
    )


def read_learned(given: object) -> tuple[Learned, ...]:
    """Return the lessons in a builder's answer: objects (`type`, `trigger`, `resolution`), or `pattern: when -> do`."""
    if isinstance(given, str):
        found = next((value for value in values(given) if mappings(value)), None)
        items: Iterable[object] = mappings(found) if found is not None else _rows(given) or lines(given)
    else:
        items = [given] if isinstance(given, Mapping) else given if isinstance(given, list | tuple) else ()
    read = [_learned(item) for item in list(items)[:_MOST]]
    return tuple(dict.fromkeys(one for one in read if one is not None))


def _own_sections(text: str) -> list[tuple[str, str]]:
    """Return what an answer says under its names: an outcome that is quoted counts where the answer is the quotation.

    That it is only where it has no outcome of its own, and begins or ends with what it quotes.
    """
    own = sections(text, _NAMES, bare=True, outcomes=_ENDED, quoted=False)
    whole = sections(text, _NAMES, bare=True, outcomes=_ENDED)
    known = {name for name, _ in own}
    if known.isdisjoint(_ENDED):
        said = [line for line in text.splitlines() if line.strip()]
        return whole if said and (_QUOTED.match(said[0]) or _QUOTED.match(said[-1])) else own
    return own + [(name, value) for name, value in whole if name not in known and name not in _ENDED]


def _rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a table as what was learned: kind, where there is one, then trigger and resolution."""
    rows = []
    for row in table(text):
        has_kind = row[0].strip("*_` ").lower() in tuple(Kind)
        kind, said = (row[0].strip("*_` "), row[1:]) if has_kind else ("", row)
        trigger, resolution = (said[0] if said else ""), "; ".join(cell for cell in said[1:] if cell)
        rows.append({"kind": kind, "trigger": trigger, "resolution": resolution})
    return rows


def _parted(text: str) -> str:
    """Return an answer whose outcome is told in one line with what follows it, each on a line of its own."""
    return _ENDS.sub(lambda line: line[1] + _NEXT.sub("\n", line[2]), text)


def _learned(item: object) -> Learned | None:
    if isinstance(item, Mapping):
        fields = mapping(item)
        said = word(fields.get("type", fields.get("kind"))).lower()
        trigger = word(fields.get("trigger") or fields.get("when") or fields.get("what"))
        resolution = word(fields.get("resolution") or fields.get("then") or fields.get("why"))
        if not trigger:
            trigger, resolution = resolution, ""
    else:
        text = word(item)
        found = _KIND.match(text)
        said = found[1].lower() if found else ""
        text = text[found.end() :] if found else text
        parts = _WHEN_THEN.match(" ".join(text.split()))
        trigger, resolution = (parts[1].strip(), parts[2].strip()) if parts else (text.strip(), "")
    if not trigger or (not resolution and len(trigger) <= _SHORT and _NOTHING_LEARNED.fullmatch(trigger)):
        return None
    return Learned(trigger=trigger, resolution=resolution, kind=said if said in tuple(Kind) else "")


def _names(given: object) -> tuple[str, ...]:
    """Return names of memories without the labels before or behind them, and without remarks."""
    items = given if isinstance(given, list | tuple) else [given]
    said = [word(mapping(item).get("name")) if isinstance(item, Mapping) else word(item) for item in items]
    parts = [part for text in said for part in _named_items(_REMARK.sub(" ", _LABEL.sub(" ", text.translate(_WIDE))))]
    bare = (re.split(r"[\s:\[\](]", part.strip("`\"'*_#>- "), maxsplit=1)[0].strip("`\"'*,.;") for part in parts)
    return tuple(dict.fromkeys(name for name in bare if name and not _SAYS_NOTHING.fullmatch(name)))[:_MOST]


def _named_items(text: str) -> Iterator[str]:
    """Yield the pieces of a text that begin with a name: what is in brackets, else the items of a list."""
    for row in (text,) if _LISTED.search(text) else words(text):
        listed = [name for inside in _LISTED.findall(row) for name in re.split(r"[,;\n]", inside)]
        for name in listed or re.split(";", row):
            yield from _AND.split(name.strip()) if _NAMED_TOGETHER.fullmatch(name.strip()) else (name,)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "").strip("*` ")


def _checked(answer: BuilderAnswer, *, utilized_said: bool) -> BuilderAnswer:
    problems = []
    if not answer.outcome:
        problems.append("there is neither DELIVERED nor BLOCKED")
    if answer.outcome == DELIVERED and not answer.summary:
        problems.append("DELIVERED says nothing")
    if answer.outcome == BLOCKED:
        said = {"BLOCKED": answer.reason, "TRIED": answer.tried, "ERROR": answer.error}
        problems += [f"{name} says nothing" for name, text in said.items() if not text]
    if not utilized_said:
        problems.append("UTILIZED is missing")
    return BuilderAnswer(
        outcome=answer.outcome,
        summary=answer.summary,
        reason=answer.reason,
        tried=answer.tried,
        error=answer.error,
        utilized=answer.utilized,
        learned=answer.learned,
        problems=tuple(problems),
    )
