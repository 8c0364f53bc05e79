"""Task names: which of a session's tasks is meant by what an agent calls it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from helix.agents.answers.planner_answer import PlannerAnswer, sequence
from helix.agents.answers.task_record import client_task, is_one_word
from helix.agents.tasks.board import find_task, task_id, tasks_of
from helix.model.task import CALL, CLIENT_TASK, DELIVERED, PLAN, SEQ, SLUG, Task
from helix.store.index import StoreIndex

_NUMBER = re.compile(r"[^\W\d_]{0,12}[\s\#._:\-]*(\d{1,18})")
_PLANNED = "plan:"
_SUBJECT = re.compile(r"[\s*_`]*(\d{1,6})\s*[:.)]")


def plan_key(plan: str, seq: str) -> str:
    """Return the key of a plan's task that the client's own list does not have."""
    return f"{_PLANNED}{plan}:{seq}"


def is_clients(key: str) -> bool:
    """Return whether the key of a task that was named is the client's id of it."""
    return not key.startswith(_PLANNED)


def key_of(task: Task) -> str:
    """Return the key that a task has in its session, as far as its attributes tell."""
    said = task.attributes
    if said.get(CLIENT_TASK):
        return str(said[CLIENT_TASK])
    return plan_key(str(said[PLAN]), str(said.get(SEQ, ""))) if said.get(PLAN) else f"agent:{said.get(CALL)}"


def key_named(index: StoreIndex, scope: str, session: str, named: str, subject: str = "") -> str:
    """Return the key of the task of a session that an agent means by an id, and by a subject such as `001: routes`.

    The id is the client's, else a number or slug in the plan; of several that was not delivered, the newest. Where the
    session has no such task it is the id as it was said; empty where that is none.
    """
    said = client_task(named)
    if is_one_word(said) and find_task(index, task_id(scope, session, said)) is not None:
        return said
    numbered = _SUBJECT.match(subject)
    if said or numbered:
        tasks = [task for task in tasks_of(index, scope=scope, session=session) if _is_at(task, scope, session)]
        found = _found(tasks, said, sequence(numbered[1]) if numbered else "")
        if found is not None:
            return key_of(found)
    return said if is_one_word(said) else ""


def mapped(index: StoreIndex, scope: str, session: str, answer: PlannerAnswer) -> PlannerAnswer:
    """Return a planner's answer with its task numbers mapped to the ids that the session knows its tasks by."""
    keys = {seq: key_named(index, scope, session, said) for seq, said in answer.mapping.items()}
    known = {seq: key for seq, key in keys.items() if key and is_clients(key)}
    return replace(answer, mapping={**answer.mapping, **known})


def unknown_to(index: StoreIndex, scope: str, session: str, mapping: Mapping[str, str]) -> list[str]:
    """Return in sentences which of the client's tasks a mapping names that the session has none of.

    Of a session that has told of no task at all nothing is known.
    """
    told = {str(task.attributes.get(CLIENT_TASK, "")) for task in tasks_of(index, scope=scope, session=session)}
    if not session or told <= {""}:
        return []
    lost = {seq: said for seq, said in mapping.items() if said not in told}
    return [
        f"TASK_MAPPING leads from {seq} to {said}, which is not a task of the client's" for seq, said in lost.items()
    ]


def _is_at(task: Task, scope: str, session: str) -> bool:
    return task_id(scope, session, key_of(task)) == task.id


def _found(tasks: list[Task], said: str, subject: str) -> Task | None:
    number = _NUMBER.fullmatch(said)
    seq = sequence(number[1]) if number else said
    by_id = [task for task in tasks if number and task.attributes.get(CLIENT_TASK) == str(int(number[1]))]
    left = [task for task in tasks if task.outcome != DELIVERED]
    by_seq = [task for task in left if seq and seq in (task.attributes.get(SEQ), task.attributes.get(SLUG))]
    by_subject = [task for task in left if subject and task.attributes.get(SEQ) == subject]
    in_plan_first = number is not None and number[1].startswith("0")
    ranked = [*by_seq, *by_id, *by_subject] if in_plan_first else [*by_id, *by_seq, *by_subject]
    return next(iter(ranked), None)
