"""Observe: what an agent's work gives to learn, as candidates with what speaks for each; nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from helix.agents.answers.builder_answer import BuilderAnswer, Learned, read_builder, read_task_metadata
from helix.agents.answers.explorer_answer import ExplorerAnswer, read_explorers
from helix.agents.answers.loose_json import folded_keys, mapping, word, words
from helix.agents.answers.planner_answer import PlannedTask, plan_tasks
from helix.model.candidate import Candidate, Certainty
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.provenance import Provenance, Trust
from helix.model.task import BLOCKED, DELIVERED, FAILED, FILES_CHANGED, PASSED, SKIPPED

FILES = "files"
"""Attribute of a candidate: the files it is about."""
_DECISION = re.compile(
    r"\b(?:instead of|rather than|decid\w+|ch[oe]{1,2}se|opt(?:ed)? for|adopt\w*|switch\w* to|stick to|go with)\b",
    re.IGNORECASE,
)
# By the confidence that an explorer states, one of its contract's CONFIDENCES.
_SURE = {"HIGH": Certainty.MEDIUM, "MEDIUM": Certainty.LOW, "LOW": Certainty.LOW}
_FILES_TOLD = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where candidates come from: whose words they are, in which task (its id) and session, and when."""

    at: datetime
    scope: str = GLOBAL_SCOPE
    session: str = ""
    task: str = ""
    agent: str = ""
    source: str = ""


def observe_explorer(output: str | Mapping[str, Any], origin: Origin) -> tuple[Candidate, ...]:
    """Return the observer's candidates of an explorer's answer: facts (framework, files), conventions (patterns).

    The output may be the answers of several explorers, one after another or in a list.
    A file's content counts as strong evidence where the explorer says that it succeeded; a framework as far as it is
    sure of it; a pattern that was only seen has yet to prove itself. Files that are to be made are no facts yet.
    """
    answers = read_explorers(output if isinstance(output, str) else word(dict(output)))
    return _each_once(seen for answer in answers for seen in _explored(answer, origin))


def observe_planner(
    tasks: object, exploration: object, origin: Origin, learned: Sequence[str] = ()
) -> tuple[Candidate, ...]:
    """Return the observer's candidates of a planner's answer: decisions, and tasks that choose one thing over another.

    How the work was cut into tasks is one too, but a weak one.
    """
    explored = mapping(exploration)
    return _each_once(_planned(plan_tasks(tasks), word(explored.get("objective")), origin, learned))


def observe_builder(
    task: Mapping[str, Any], result: str | Mapping[str, Any], files_changed: Sequence[str], origin: Origin
) -> tuple[Candidate, ...]:
    """Return the observer's candidates of a builder's answer: changes, what stood in the way, what it says it learned.

    `result` is its last message or its task's metadata; `verification` of the task, where it is known, counts for more:
    what failed it was not delivered, whatever the builder says.
    """
    known = _flat(task)
    answer = _answer(known, result)
    files = tuple(files_changed) or words(known.get(FILES_CHANGED))
    return _each_once(_built(known, answer, files, origin))


def observe_session(
    objective: str, tasks: object, outcomes: Mapping[str, Any], origin: Origin
) -> tuple[Candidate, ...]:
    """Return the observer's candidate of a session's end: what it set out to do, what its tasks came to; or none.

    `outcomes` lead from a task's id (or number in the plan) to its outcome; what is not there, the task itself says.
    """
    ended: dict[str, list[str]] = {DELIVERED: [], BLOCKED: [], SKIPPED: []}
    listed = tasks if isinstance(tasks, list | tuple) else ()
    for place, task in enumerate(plan_tasks(list(listed))):
        given = _flat(listed[place]) if isinstance(listed[place], Mapping) else {}
        keys = (word(given.get("id", given.get("task_id"))), task.seq)
        said = next((word(outcomes[key]) for key in keys if key in outcomes), word(given.get("helix_outcome")))
        ended.setdefault(said.lower(), []).append(task.slug or task.objective)
    told = [f"{outcome}: {', '.join(ended[outcome])}" for outcome in (DELIVERED, BLOCKED, SKIPPED) if ended[outcome]]
    if not told or not objective.strip():
        return ()
    sure = Certainty.HIGH if ended[DELIVERED] or ended[BLOCKED] else Certainty.LOW
    return (_candidate(Kind.EVOLUTION, objective, "; ".join(told), sure, origin),)


def _explored(answer: ExplorerAnswer, origin: Origin) -> Iterator[Candidate]:
    where = answer.scope or "this project"
    if answer.framework is not None:
        found = answer.framework
        because = f"; {found.evidence}" if found.evidence else ""
        sure = _SURE[found.confidence]
        yield _candidate(Kind.FACT, f"which framework {where} uses", f"{found.detected}{because}", sure, origin)
    for finding in answer.findings:
        if finding.file and finding.what and finding.action != "create":
            sure = Certainty.MEDIUM if answer.succeeded else Certainty.LOW
            yield _candidate(Kind.FACT, f"what is in {finding.file}", finding.what, sure, origin, (finding.file,))
    for pattern in answer.patterns_observed:
        yield _candidate(Kind.CONVENTION, f"how code is written in {where}", pattern, Certainty.LOW, origin)


def _planned(
    tasks: Sequence[PlannedTask], objective: str, origin: Origin, learned: Sequence[str]
) -> Iterator[Candidate]:
    about = objective or "this project"
    for decided in learned:
        yield _candidate(Kind.DECISION, about, decided, Certainty.MEDIUM, origin)
    for task in tasks:
        if _DECISION.search(task.objective):
            files = task.delta or task.relevant_files
            yield _candidate(Kind.DECISION, task.slug or about, task.objective, Certainty.MEDIUM, origin, files)
    if objective and tasks:
        steps = "; ".join(_step(task) for task in tasks)
        yield _candidate(Kind.DECISION, f"how to cut into tasks: {objective}", steps, Certainty.LOW, origin)


def _built(
    task: Mapping[str, Any], answer: BuilderAnswer, files: tuple[str, ...], origin: Origin
) -> Iterator[Candidate]:
    objective = word(task.get("objective") or task.get("description") or task.get("subject")) or answer.summary
    failed = word(task.get("verification")).lower() == FAILED
    passed = word(task.get("verification")).lower() == PASSED
    delivered = answer.outcome == DELIVERED and not failed
    if delivered and files:
        told = ", ".join(files[:_FILES_TOLD]) + (" and others" if len(files) > _FILES_TOLD else "")
        done = f"{answer.summary or 'done'} (changed: {told})"
        yield _candidate(Kind.EVOLUTION, objective, done, Certainty.HIGH, origin, files)
    if answer.outcome == BLOCKED:
        yield from _failure(objective, answer, files, origin)
    for learned in answer.learned:
        sure = Certainty.MEDIUM if passed or delivered else Certainty.LOW
        yield _candidate(
            _kind_of(learned, delivered=delivered), learned.trigger, learned.resolution, sure, origin, files
        )


def _failure(objective: str, answer: BuilderAnswer, files: tuple[str, ...], origin: Origin) -> Iterator[Candidate]:
    error = next((line.strip() for line in answer.error.splitlines() if line.strip()), "")
    if not (trigger := error or answer.reason):
        return
    said = (
        ("While", objective),
        ("Blocked", answer.reason if error else ""),
        ("Tried without success", answer.tried),
        ("Error", answer.error if answer.error.strip() != error else ""),
    )
    resolution = "\n".join(f"{name}: {text}" for name, text in said if text)
    sure = Certainty.HIGH if error else Certainty.MEDIUM
    yield _candidate(Kind.FAILURE, trigger, resolution, sure, origin, files)


def _kind_of(learned: Learned, *, delivered: bool) -> Kind:
    if learned.kind:
        return Kind(learned.kind)
    return Kind.PATTERN if delivered else Kind.FAILURE


def _answer(task: Mapping[str, Any], result: str | Mapping[str, Any]) -> BuilderAnswer:
    """Return what the builder said: in its last message, and where that leaves the outcome out, in its task."""
    said = read_builder(result) if isinstance(result, str) else read_task_metadata(result)
    noted = read_task_metadata(task)
    if not said.outcome:
        return noted if noted.outcome else said
    return BuilderAnswer(
        outcome=said.outcome,
        summary=said.summary or noted.summary,
        reason=said.reason or noted.reason,
        tried=said.tried or noted.tried,
        error=said.error or noted.error,
        utilized=said.utilized or noted.utilized,
        learned=said.learned or noted.learned,
    )


def _flat(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return a client's task with its metadata beside what it says itself."""
    return {**mapping(task.get("metadata")), **folded_keys(task)}


def _step(task: PlannedTask) -> str:
    after = f" after {', '.join(task.depends)}" if task.depends else ""
    return f"{task.seq} {task.slug or task.objective}{after}"


def _candidate(
    kind: Kind, trigger: str, resolution: str, sure: Certainty, origin: Origin, files: Sequence[str] = ()
) -> Candidate:
    return Candidate(
        id="",
        kind=kind,
        trigger=trigger.strip(),
        resolution=resolution.strip(),
        recorded_at=origin.at,
        scope=origin.scope,
        confidence=sure,
        agent=origin.agent,
        session=origin.session,
        task=origin.task,
        source=origin.source,
        attributes={FILES: list(files)} if files else {},
        provenance=Provenance(
            slice=origin.source, extractor="observer", agent=origin.agent, trust=Trust.AGENT_INFERRED
        ),
    )


def _each_once(candidates: Iterator[Candidate]) -> tuple[Candidate, ...]:
    """Return candidates that say something, of those that say the same the surest, in the order of the first."""
    best: dict[tuple[Kind, str, str], Candidate] = {}
    for one in candidates:
        key = (one.kind, one.trigger.casefold(), one.resolution.casefold())
        if one.trigger and (key not in best or one.confidence.rank < best[key].confidence.rank):
            best[key] = one
    return tuple(best.values())
