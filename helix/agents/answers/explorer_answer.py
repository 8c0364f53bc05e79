"""Explorer answer: what an explorer answers, and the one exploration that the answers of several come to.

A grammar of the fields that Helix asks explorers for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from helix.agents.answers.loose_json import best_object, folded_keys, mapping, mappings, placed, values, word, words

KEYS = ("scope", "focus", "status", "findings", "framework", "patterns_observed", "memories")
ACTIONS = ("modify", "create", "reference", "test")
"""What is to be done with a file that was found."""
CONFIDENCES = ("HIGH", "MEDIUM", "LOW")
_LIMIT = 200
_ENTRY = frozenset({"main", "__main__", "app", "cli", "index", "server", "manage", "wsgi", "asgi"})
_ENTRY_WORDS = re.compile(r"\bentry[ -]?points?\b", re.IGNORECASE)
_FAILURE = re.compile(
    r"\b(?:fail\w*|errors?|avoid\w*|break\w*|broke\w*|bugs?|crash\w*|wrong\w*|never|don'?t|must not|races?|leaks?)\b",
    re.IGNORECASE,
)
_FIRST = ("modify", "create", "test", "reference", "")
"""Of two things to be done with one file the one that asks for more."""
_FENCE_LINE = re.compile(r"^[^\S\n]*+(?:```|~~~)\w*+[^\S\n]*+$", re.MULTILINE)
_LINE_NUMBER = re.compile(r"(?::\d+(?:[:-]\d+)*)?\Z")
_PROSE = 4
"""Words from which on what stands beside JSON may be an answer of its own."""
_FUNCTION = re.compile(r"\b([A-Za-z_][\w.]{0,80})\(\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerFinding:
    """A file that matters, what is in it, and what is to be done with it (one of ACTIONS, or empty)."""

    file: str
    what: str = ""
    action: str = ""
    task_hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framework:
    """A framework that was recognised, how surely (one of CONFIDENCES), and by what."""

    detected: str
    confidence: str = "LOW"
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A memory that an explorer found to matter, and why."""

    name: str
    trigger: str = ""
    why: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether a memory in an explorer's answer reads like something that went wrong."""
        return _FAILURE.search(f"{self.name.replace('-', ' ')} {self.trigger} {self.why}") is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerAnswer:
    """What an explorer answered; `problems` say in sentences where that is not what its contract asks for."""

    scope: str = ""
    focus: str = ""
    status: str = ""
    findings: tuple[ExplorerFinding, ...] = ()
    framework: Framework | None = None
    patterns_observed: tuple[str, ...] = ()
    memories: tuple[Recalled, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether an explorer's answer has nothing found, recognised, observed or remembered."""
        return not (self.findings or self.framework or self.patterns_observed or self.memories)

    @property
    def succeeded(self) -> bool:
        """Whether an explorer's answer says it found what it was sent for, or has findings and says nothing of it."""
        return self.status in ("success", "ok", "done", "complete", "completed") or (
            not self.status and bool(self.findings)
        )


def read_explorer(text: str) -> ExplorerAnswer:
    """Read an explorer's answer from its last message, tolerant of prose, fences and a missing end; never raises."""
    given = best_object(text, KEYS)
    if not given:
        return ExplorerAnswer(problems=("there is no JSON object with any of: " + ", ".join(KEYS),))
    return _answer(given)


def read_explorers(text: str) -> tuple[ExplorerAnswer, ...]:
    """Return the answers of one or more explorers in a text, one after another or in a list, in their order."""
    objects = (folded_keys(one) for value in values(text) for one in mappings(value))
    return tuple(_answer(one) for one in objects if not one.keys().isdisjoint(KEYS))


def beside_json(text: str) -> tuple[str, ...]:
    """Return an agent's answer beside its JSON, such as an explorer's prose, without what introduces JSON."""
    said, at = [], 0
    for _, start, end in placed(text):
        said.append(text[at:start])
        at = end
    bare = (_without_introduction(_FENCE_LINE.sub("", piece)) for piece in (*said, text[at:]))
    return tuple(" ".join(piece.split()) for piece in bare if len(piece.split()) > _PROSE)


def _without_introduction(text: str) -> str:
    """Return a text without its last line where that ends in a colon."""
    bare = text.rstrip()
    return bare[: bare.rfind("\n") + 1] if bare.endswith(":") else text


def _answer(given: Mapping[str, Any]) -> ExplorerAnswer:
    problems = [f"`{key}` is missing" for key in ("scope", "status", "findings") if key not in given]
    found = given.get("findings")
    findings = tuple(_finding(item, problems) for item in mappings(found)[:_LIMIT])
    if isinstance(found, list) and len(mappings(found)) < len(found):
        problems.append("a finding is not an object")
    return ExplorerAnswer(
        scope=word(given.get("scope")),
        focus=word(given.get("focus")),
        status=word(given.get("status")).lower(),
        findings=tuple(finding for finding in findings if finding.file or finding.what),
        framework=_framework(given.get("framework")),
        patterns_observed=words(given.get("patterns_observed"))[:_LIMIT],
        memories=_memories(given.get("memories")),
        problems=tuple(dict.fromkeys(problems)),
    )


def merge_explorations(answers: Sequence[ExplorerAnswer], objective: str) -> dict[str, Any]:
    """Merge several explorers' answers to one exploration: each file and thing once, in the order said.

    Its keys are `objective`, `structure{directories, entry_points}`, `patterns{framework, idioms}`,
    `memory{relevant_failures, relevant_patterns}`, `targets{files, functions}`; `targets.files` are the findings.
    """
    findings = list(dict.fromkeys(finding for answer in answers for finding in answer.findings))
    files = _each_file([finding for finding in findings if finding.file])
    memories = {memory.name: memory for answer in reversed(answers) for memory in reversed(answer.memories)}
    recalled = list(reversed(memories.values()))
    said = [_plain(memory) for memory in recalled if memory.is_failure]
    others = [_plain(memory) for memory in recalled if not memory.is_failure]
    scopes = [answer.scope for answer in answers if "/" in answer.scope or "." in answer.scope]
    folders = [str(PurePosixPath(_path(finding.file)).parent) for finding in files]
    functions = [name for finding in findings for name in _FUNCTION.findall(finding.what)]
    entries = [finding.file for finding in files if _is_entry(finding)]
    idioms = [idiom for answer in answers for idiom in answer.patterns_observed]
    return {
        "objective": objective,
        "structure": {
            "directories": _once([scope.rstrip("/") or "/" for scope in scopes] + folders),
            "entry_points": _once(entries),
        },
        "patterns": {"framework": _surest(answers), "idioms": _once(idioms)},
        "memory": {"relevant_failures": said, "relevant_patterns": others},
        "targets": {
            "files": [
                {"file": one.file, "what": one.what, "action": one.action, "task_hint": one.task_hint} for one in files
            ],
            "functions": _once(functions),
        },
    }


def _each_file(findings: Sequence[ExplorerFinding]) -> list[ExplorerFinding]:
    """Return each file once, with all that was said of it."""
    files: dict[str, list[ExplorerFinding]] = {}
    for finding in findings:
        name = _LINE_NUMBER.sub("", finding.file.replace("\\", "/"))
        files.setdefault(str(PurePosixPath(name)), []).append(finding)
    return [
        ExplorerFinding(
            file=same[0].file,
            what="; ".join(_once([one.what for one in same])),
            action=min((one.action for one in same), key=_FIRST.index),
            task_hint="; ".join(_once([one.task_hint for one in same])),
        )
        for same in files.values()
    ]


def _finding(given: Mapping[str, Any], problems: list[str]) -> ExplorerFinding:
    action = word(given.get("action")).lower()
    if action not in ACTIONS:
        problems.append(f"the action of a finding is {action!r}, not one of: " + ", ".join(ACTIONS))
        action = ""
    if not (file := word(given.get("file", given.get("path")))):
        problems.append("a finding names no file")
    return ExplorerFinding(
        file=file, what=word(given.get("what")), action=action, task_hint=word(given.get("task_hint"))
    )


def _framework(given: object) -> Framework | None:
    if isinstance(given, str) and not mapping(given):
        return Framework(detected=given.strip()) if given.strip().lower() not in ("", "none", "unknown") else None
    fields = mapping(given)
    detected, confidence = word(fields.get("detected")), word(fields.get("confidence")).upper()
    if detected.lower() in ("", "none", "unknown"):
        return None
    return Framework(
        detected=detected,
        confidence=confidence if confidence in CONFIDENCES else "LOW",
        evidence=word(fields.get("evidence")),
    )


def _memories(given: object) -> tuple[Recalled, ...]:
    if isinstance(given, list):
        given = [{"name": item} if isinstance(item, str) else item for item in given]
    found = (
        Recalled(name=word(item.get("name")), trigger=word(item.get("trigger")), why=word(item.get("why")))
        for item in mappings(given)[:_LIMIT]
    )
    return tuple(memory for memory in found if memory.name)


def _plain(memory: Recalled) -> dict[str, str]:
    return {"name": memory.name, "trigger": memory.trigger, "why": memory.why}


def _surest(answers: Sequence[ExplorerAnswer]) -> str:
    """Return the framework that was named most surely, of equals the one named most often, then first."""
    named = [answer.framework for answer in answers if answer.framework is not None]
    often = Counter(framework.detected for framework in named)
    ranked = sorted(named, key=lambda one: (CONFIDENCES.index(one.confidence), -often[one.detected]))
    return ranked[0].detected if ranked else ""


def _is_entry(finding: ExplorerFinding) -> bool:
    stem = PurePosixPath(_path(finding.file)).stem.lower()
    return stem in _ENTRY or _ENTRY_WORDS.search(finding.what) is not None


def _path(file: str) -> str:
    """Return a file without the line or symbol behind it."""
    return file.replace("\\", "/").split(":", 1)[0] or file


def _once(items: Sequence[str]) -> list[str]:
    return [item for item in dict.fromkeys(items) if item not in ("", ".")]
