"""Builder: how a builder says that it delivered or was blocked, in its last message or in its task's metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from helix.learning.contracts.fields import sections
from helix.learning.contracts.loose import fold, lines, mapping, mappings, values, word, words
from helix.learning.orchestration.tasks import BLOCKED, DELIVERED, OUTCOMES
from helix.model.memory import Kind

_NAMES = ("DELIVERED", "BLOCKED", "TRIED", "ERROR", "UTILIZED", "LEARNED", "FILES_CHANGED", "VERIFIED")
_MOST, _SHORT = 50, 80
_ENDS = re.compile(r"^[ \t>*_`#-]*(?:DELIVERED|BLOCKED|TRIED)\b.*$", re.MULTILINE)
_NEXT = re.compile(
    r"(?<=\S)[ \t]*[;|,]?[ \t]+(?=[*_`]{0,3}(?:TRIED|UTILIZED|LEARNED|FILES_CHANGED|VERIFIED)[*_`]{0,3}:)"
)
_SAYS_NOTHING = re.compile(r"\W*(?:none|nothing|n/?a|no)?\W*|\s*<[^<>]*>\s*", re.IGNORECASE)
_WHEN_THEN = re.compile(r"^(.{3,}?)\s*(?:->|=>|→|: )\s*(.{3,})$", re.DOTALL)
_KIND = re.compile(rf"^\W*({'|'.join(Kind)})\W{{0,4}}(?::|->|-)\s*", re.IGNORECASE)


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
    """Return what a builder's last message says: of several outcomes the last that says something; never raises."""
    said: dict[str, str] = {}
    outcome = ""
    for name, value in sections(_parted(text), _NAMES, bare=True):
        value = "" if len(value) <= _SHORT and _SAYS_NOTHING.fullmatch(value) else value
        if name in ("DELIVERED", "BLOCKED") and (value or not outcome or not said[outcome.upper()]):
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
    """Return what the metadata of a client's task says of it; never raises."""
    given = fold(metadata)
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
    """Return what was learned: objects of `type`, `trigger`, `resolution`, or lines such as `pattern: when -> do`."""
    if isinstance(given, str):
        found = next((value for value in values(given) if mappings(value)), None)
        items: Iterable[object] = mappings(found) if found is not None else lines(given)
    else:
        items = [given] if isinstance(given, Mapping) else given if isinstance(given, list | tuple) else ()
    read = [_learned(item) for item in list(items)[:_MOST]]
    return tuple(dict.fromkeys(one for one in read if one is not None))


def _parted(text: str) -> str:
    """Return an answer whose outcome is told in one line with what follows it, each on a line of its own."""
    return _ENDS.sub(lambda line: _NEXT.sub("\n", line[0]), text)


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
    if not trigger:
        return None
    return Learned(trigger=trigger, resolution=resolution, kind=said if said in tuple(Kind) else "")


def _names(given: object) -> tuple[str, ...]:
    """Return names of memories without the confidence labels and remarks behind them."""
    bare = (re.split(r"[\s:\[(]", name.strip("`\"'* "), maxsplit=1)[0].strip("`\"'*,.") for name in words(given))
    return tuple(dict.fromkeys(name for name in bare if name and not _SAYS_NOTHING.fullmatch(name)))[:_MOST]


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
