"""Task record: what the client's own record of a task says of where it stands.

It also gives the id of a task of the client's own list, for the name that people and models use for it.

A grammar of the states and ids of clients' own lists of tasks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from helix.model.letters import normalised
from helix.model.task_answers import TaskState

PENDING, IN_PROGRESS, COMPLETED, DELETED = "pending", "in_progress", "completed", "deleted"
DELIVERED, BLOCKED, SKIPPED = "delivered", "blocked", "skipped"
OUTCOMES = (DELIVERED, BLOCKED, SKIPPED)
"""What a task that was worked on can come to, as `helix_outcome` in its metadata says."""


def helix_task_state(task: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = ()) -> TaskState:
    """Return the state of a task in the client's list; what it waits for is delivered only where `others` say so."""
    return state(task, {identity(other) for other in others if state(other).successful})


def state(task: Mapping[str, Any], delivered: Collection[str] = ()) -> TaskState:
    """Return the state of a client's task when the tasks of the ids `delivered` are."""
    status = status_of(task)
    outcome = _metadata(task).get("helix_outcome")
    said = outcome.strip().lower() if isinstance(outcome, str) else ""
    finished = status == COMPLETED
    return TaskState(
        executable=status == PENDING and all(blocker in delivered for blocker in blockers(task)),
        finished=finished,
        successful=finished and said == DELIVERED,
        outcome=said or status,
        blocks_dependents=finished and said != DELIVERED,
    )


def identity(task: Mapping[str, Any]) -> str:
    """Return the client's id of a task's record, empty where it has none."""
    return _word(task.get("id", task.get("taskId")))


def status_of(task: Mapping[str, Any]) -> str:
    """Read the status in a client's record of a task: pending where it says none."""
    status = task.get("status")
    return status.strip().lower().replace("-", "_") if isinstance(status, str) and status.strip() else PENDING


def blockers(task: Mapping[str, Any]) -> tuple[str, ...]:
    """Read the ids of the tasks that a client's record of a task waits for, each once, in order."""
    given = task.get("blockedBy", task.get("blocked_by"))
    if isinstance(given, str | int):
        given = [given]
    if not isinstance(given, list | tuple | set | frozenset):
        return ()
    words = [_word(one) for one in given]
    return tuple(dict.fromkeys(word for word in words if word))


def _metadata(task: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = task.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _word(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value).strip()


_MARKS = " \t*_`'\"\u201c\u201d\u2018\u2019\xab\xbb()[]{}<>.,;:!|"
_NUMBERED = re.compile(
    r"(?:(?:the|client(?:'s)?|my)\s+)?(?:(?:task|todo|item|id|number|no|nr)\b[\s.:]*){0,3}"
    r"\#?\s*(\d{1,18})(?![\w]|[.\-/]\w)(?:\W.*)?",
    re.IGNORECASE | re.DOTALL,
)
_TALKED_ABOUT = re.compile(r"\s*(?:[,;:](?!\S)|\s[(\[]|\s[-\u2013\u2014]+\s).*", re.DOTALL)
_NOTHING = frozenset({"", "-", "none", "null", "n/a", "na", "nil", "unknown", "tbd", "?"})
_PLACEHOLDER = re.compile(r"\s*[`*]*<[^<>]*>[`*]*\s*")


def client_task(text: str) -> str:
    """Read the client's id of a task out of an answer's way to name it.

    Of `#4`, `Task #4: docs` and `**4** (docs)` it is `4`. Of an id that is no number what stands around it is taken
    off; what is more than a word stays as it is, in one line. Empty where nothing is named.
    """
    said = next((line for line in text.splitlines() if line.strip()), "")
    if _PLACEHOLDER.fullmatch(said):
        return ""
    said = " ".join(normalised("NFKC", said).strip(_MARKS).split())
    if said.lower() in _NOTHING:
        return ""
    numbered = _NUMBERED.fullmatch(said)
    if numbered:
        return numbered[1]
    return _TALKED_ABOUT.sub("", said).strip(_MARKS).removeprefix("#")


def is_one_word(said: str) -> bool:
    """Return whether an id could be a client's id of a task: a word, and no sentence about one."""
    return bool(said) and not any(sign.isspace() for sign in said)
