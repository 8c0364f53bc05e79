"""Planner answer: what a planner answers: a plan of tasks, or the questions that stand before one.

A grammar of the plan or the questions that Helix asks planners for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from helix.agents.answers.cycles import detect_cycles
from helix.agents.answers.fields_of_text import sections
from helix.agents.answers.loose_json import command, folded_keys, lines, mapping, mappings, table, values, word, words
from helix.agents.answers.task_record import client_task, is_one_word

PROCEED, CLARIFY = "PROCEED", "CLARIFY"
LEAST_BUDGET, MOST_BUDGET = 5, 9
"""How many tool calls a task may be given."""
_NAMES = ("TASK_MAPPING", "PLAN_COMPLETE", "DECISION", "QUESTIONS", "TASKS", "LEARNED")
_LIMIT = 500
_ARROW = re.compile(r"[-\u2013\u2014]{1,3}>|={1,3}>|[→⇒➜➔⟶↦]")
_COLON_PAIR = re.compile(r"((?:task\s+)?#?\d[\w.\-]{0,40}[\s`*\"']*)[:=\uff1a](.+)", re.IGNORECASE)
_LEADING = re.compile(r"^[\s>*+•{`\"'\-]+|^\d{1,3}[.)]\s+(?=[\W_]*(?:task\s+)?#?\d)", re.IGNORECASE)
_WORD = re.compile(r"\W*(PROCEED|CLARIFY)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"^\s*(\d{1,6})\s*[:.)\-]\s*(\S.*)$", re.DOTALL)
_COUNT = re.compile(r"\d{1,6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task as it was planned: `delta` are the files it may change, `depends` the `seq` of those before it.

    `budget` is its number of tool calls, 0 where none is said.
    """

    seq: str
    slug: str = ""
    objective: str = ""
    delta: tuple[str, ...] = ()
    verify: str = ""
    depends: tuple[str, ...] = ()
    budget: int = 0
    relevant_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerAnswer:
    """What a planner answered; `mapping` leads from a task's `seq` to the client's id.

    `announced` is how many tasks it says there are, None where it does not. `problems` say in sentences where the
    answer is not what its contract asks for.
    """

    decision: str = ""
    questions: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    tasks: tuple[PlannedTask, ...] = ()
    learned: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_planner(text: str) -> PlannerAnswer:
    """Read a planner's answer from its last message, tolerant of prose, fences and a missing end; never raises."""
    said: dict[str, str] = {}
    for name, value in sections(text, _NAMES, bare=True):
        said[name] = value or said.get(name, "")
    given = _given(text)
    mapped = dict(_pairs(said.get("TASK_MAPPING", ""))) or dict(_named(mapping(given.get("task_mapping"))))
    tasks = plan_tasks(given.get("tasks", said.get("TASKS")))
    questions = _lines_of(given.get("questions")) or lines(said.get("QUESTIONS", ""))
    count = _COUNT.search(said.get("PLAN_COMPLETE", ""))
    decided = word(given.get("decision") or said.get("DECISION"))
    found = _WORD.match(decided)
    decision = found[1].upper() if found else PROCEED if mapped or tasks else CLARIFY if questions else ""
    if found and decision == CLARIFY and not questions:
        questions = _asked(decided[found.end() :])
    answer = PlannerAnswer(
        decision=decision,
        questions=questions,
        mapping=mapped,
        announced=int(count[0]) if count else None,
        tasks=tasks,
        learned=_lines_of(given.get("learned")) or lines(said.get("LEARNED", "")),
    )
    return replace(answer, problems=answer_problems(answer))


def plan_tasks(given: object) -> tuple[PlannedTask, ...]:
    """Return the tasks of a planner's answer, as it writes them or as the client's own list has them, in order."""
    return tuple(_task(item, place) for place, item in enumerate(mappings(given)[:_LIMIT], start=1))


def answer_problems(answer: PlannerAnswer) -> tuple[str, ...]:
    """Return in sentences where a planner's answer does not keep its contract, each once."""
    return tuple(dict.fromkeys((*_problems(answer), *_mismatches(answer), *plan_problems(answer.tasks))))


def plan_problems(tasks: Iterable[PlannedTask]) -> list[str]:
    """Return in sentences what is wrong with a planner's answer: order, budgets, and tasks that cannot be proved."""
    tasks = tuple(tasks)
    problems = order_problems(tasks)
    for task in tasks:
        if not task.verify:
            problems.append(f"task {task.seq} has no command that verifies it")
        if not LEAST_BUDGET <= task.budget <= MOST_BUDGET:
            problems.append(f"the budget of task {task.seq} is {task.budget}, not {LEAST_BUDGET} to {MOST_BUDGET}")
    return problems


def order_problems(tasks: Iterable[PlannedTask]) -> list[str]:
    """Return in sentences what makes it impossible to work through a planner's answer."""
    tasks = tuple(tasks)
    known = [task.seq for task in tasks]
    problems = [f"two tasks have the number {seq}" for seq in dict.fromkeys(known) if known.count(seq) > 1]
    for task in tasks:
        if not task.objective:
            problems.append(f"task {task.seq} has no objective")
        problems += [
            f"task {task.seq} waits for {one}, which is not a task" for one in task.depends if one not in known
        ]
    for circle in detect_cycles({task.seq: task.depends for task in tasks}):
        problems.append("these tasks wait for each other: " + " -> ".join((*circle, circle[0])))
    return problems


def sequence(value: object) -> str:
    """Return the number of a task in a planner's answer: digits fill up to three, other words stay."""
    text = word(value)
    said = client_task(text)
    return said.zfill(3) if said.isdigit() else text.strip("#`*\"' ")


def _given(text: str) -> dict[str, Any]:
    """Return what all JSON objects of an answer say together; a bare list of objects is its tasks."""
    found: dict[str, Any] = {}
    for value in values(text):
        if isinstance(value, Mapping):
            found |= {key: item for key, item in folded_keys(value).items() if item not in (None, "", [])}
        elif isinstance(value, list) and (tasks := mappings(value)) and any("objective" in task for task in tasks):
            found.setdefault("tasks", value)
    if "tasks" not in found and {"seq", "objective"} <= found.keys():
        found["tasks"] = [value for value in values(text) if isinstance(value, Mapping) and "seq" in folded_keys(value)]
    return found


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield where a mapping leads: from the left to the right of arrows, of colons behind numbers, or of a table."""
    rows = table(text)
    for row in rows:
        numbers = [cell for cell in row[1:] if client_task(cell).isdigit()]
        yield from _named({row[0]: numbers[0] if numbers else row[-1]} if len(row) > 1 else {})
    for line in () if rows else text.splitlines():
        several = len(_ARROW.findall(line)) != 1
        for pair in re.split(r"[,;]", line) if several else (line,):
            bare = _LEADING.sub("", pair)
            sides = _ARROW.split(bare, maxsplit=1)
            if len(sides) == 1 and several and (found := _COLON_PAIR.match(bare)):
                sides = [found[1], found[2]]
            yield from _named({sides[0]: sides[1]} if len(sides) == 2 else {})


def _named(pairs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for left, right in pairs.items():
        seq, client = sequence(left.strip("{\"' ")), client_task(word(right))
        if is_one_word(seq) and is_one_word(client):
            yield seq, client


def _asked(text: str) -> tuple[str, ...]:
    """Return the questions in a text that goes on in whatever words; all of its lines where none is one."""
    said = tuple(line.strip("#*_ ") for line in lines(text))
    said = tuple(line for line in said if any(sign.isalnum() for sign in line))
    return tuple(line for line in said if "?" in line or "\uff1f" in line) or said


def _lines_of(given: object) -> tuple[str, ...]:
    return lines(given) if isinstance(given, str) else words(given)


def _task(given: Mapping[str, Any], place: int) -> PlannedTask:
    extra = given.get("metadata")
    fields = {**(folded_keys(extra) if isinstance(extra, Mapping) else {}), **given}
    subject = word(fields.get("subject"))
    parts = _SUBJECT.match(subject)
    slug = word(fields.get("slug")) or (parts[2].strip() if parts else subject)
    budget = _COUNT.search(word(fields.get("budget")))
    return PlannedTask(
        seq=sequence(fields.get("seq")) or sequence(parts[1] if parts else place),
        slug=slug,
        objective=word(fields.get("objective") or fields.get("description")) or slug,
        delta=words(fields.get("delta")),
        verify=command(word(fields.get("verify"))),
        depends=tuple(sequence(one) for one in words(fields.get("depends", fields.get("depends_on")))),
        budget=int(budget[0]) if budget else 0,
        relevant_files=words(fields.get("relevant_files")),
    )


def _problems(answer: PlannerAnswer) -> Iterable[str]:
    if not answer.decision:
        yield "there is neither a plan nor a question"
    if answer.decision == CLARIFY and not answer.questions:
        yield "it asks to clarify, but nothing in particular"
    if answer.decision == PROCEED:
        if not answer.mapping:
            yield "there is no TASK_MAPPING"
        if answer.announced is None:
            yield "there is no PLAN_COMPLETE"
        elif answer.mapping and answer.announced != len(answer.mapping):
            yield f"PLAN_COMPLETE says {answer.announced} tasks, TASK_MAPPING has {len(answer.mapping)}"


def _mismatches(answer: PlannerAnswer) -> Iterable[str]:
    """Yield where the tasks are not those that the rest of the answer speaks of."""
    if not answer.tasks:
        return
    if answer.announced not in (None, len(answer.tasks)):
        yield f"PLAN_COMPLETE says {answer.announced} tasks, there are {len(answer.tasks)}"
    if answer.mapping:
        known = {task.seq for task in answer.tasks}
        yield from (f"TASK_MAPPING names {seq}, which is not a task" for seq in answer.mapping if seq not in known)
        yield from (f"TASK_MAPPING leaves out {task.seq}" for task in answer.tasks if task.seq not in answer.mapping)
