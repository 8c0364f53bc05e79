"""The section Learn: what agents' work gives to learn, and where its tasks stand; report.py is the rest of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from helix.cli import render, report
from helix.cli.declared import command, group
from helix.cli.given import TEXT, TEXT_LIST
from helix.cli.options import OWN_SESSION, As, WordParam
from helix.cli.output import Output, claimed, one_line, shorten

Record = Mapping[str, Any]

_OUTCOMES = {**{word: word for word in ("delivered", "blocked", "skipped")}, "unknown": ""}

group(
    "observe",
    "See what agents' work gives to learn; nothing is written without --store or --queue.",
    "helix observe explorer --output - < answer.txt",
    """helix observe builder --task '{"subject": "routes"}' --result "DELIVERED: added /login" --store""",
)


def _observed(out: Output, seen: Record) -> None:
    for one in seen["candidates"]:
        _candidate(out, one)
    if not seen["candidates"]:
        out.line("there is nothing to learn from it")
    for stored in seen["stored"]:
        out.line(f"{stored['status'].lower()} {stored['name']}")
    for one in seen["skipped"]:
        out.line(f"skipped, {one['confidence'].lower()}: {claimed(one_line(one['trigger']))}")
    if seen["queued"]:
        out.line(f"{len(seen['queued'])} wait to be looked at: `helix queue list`")


def _candidate(out: Output, one: Record) -> None:
    out.line((one["id"], "bold"), f"  {one['kind'].lower()}, {one['confidence'].lower()}, {one['scope']}")
    out.line(claimed(shorten(one["trigger"])), indent=3)
    if one["resolution"]:
        out.line(claimed(shorten(one["resolution"])), indent=3)
    if reasons := one["attributes"].get("suspicious"):
        out.line(("reads like an instruction to an agent: ", "dim"), "; ".join(reasons), indent=3)


command(
    "observe explorer",
    "observe_explorer",
    "helix observe explorer --output - --queue < answer.txt",
    show=_observed,
    output=As("--output", type=TEXT),
    session=OWN_SESSION,
)
command(
    "observe planner",
    "observe_planner",
    'helix observe planner --tasks - --learned "sessions are kept in Redis" --store < tasks.json',
    show=_observed,
    tasks=As("--tasks"),
    session=OWN_SESSION,
)
command(
    "observe builder",
    "observe_builder",
    """helix observe builder --task '{"subject": "routes"}' --result - --files-changed '["api.py"]' < message.txt""",
    show=_observed,
    task=As("--task"),
    result=As(type=TEXT),
    files_changed=As("--files-changed", type=TEXT_LIST, multiple=False, metavar="JSON"),
    session=OWN_SESSION,
)
command(
    "observe session",
    "observe_session",
    'helix observe session --objective "add a login" --queue',
    'helix observe session --objective "add a login" --tasks - --store < tasks.json',
    show=_observed,
    objective=As("--objective"),
    session=OWN_SESSION,
)


@command("effect", "", "helix effect upload-times-out")
def _effect(out: Output, found: Record) -> None:
    counts = {name: found[name] for name in ("shown", "helped", "failed", "unused", "claimed", "withheld")}
    out.fields({"name": found["memory"]["name"], **counts})
    if found["periods"]:
        columns = {name.upper(): name for name in ("start", "shown", "helped", "failed", "unused")}
        render.table(out, found["periods"], columns)


group(
    "queue",
    "Review what may be learned from agents' work. Nothing of it is recalled before you accept it.",
    "helix queue list",
    "helix queue accept ID",
)


@command("queue list", "learning_queue", none="nothing waits", first=As(default=20))
def _queue(out: Output, candidates: Sequence[Record]) -> None:
    for one in candidates:
        _candidate(out, one)


@command(
    "queue accept",
    "accept_candidate",
    "helix queue accept 6f1f0a5b9b0c4d7e8a1b2c3d4e5f6071",
    id=As("candidate"),
)
def _accepted(out: Output, accepted: Record) -> None:
    result = accepted["result"]
    out.line(f"{result['status'].lower()} {result['name']}")
    if result["suspicious"]:
        out.say(f"it reads like an instruction to an agent: {'; '.join(result['suspicious'])}")


@command("queue reject", "reject_candidate", "helix queue reject 6f1f0a5b9b0c4d7e8a1b2c3d4e5f6071", id=As("candidate"))
def _rejected(out: Output, candidate: Record) -> None:
    out.line(f"rejected: {claimed(one_line(candidate['trigger']))}")


command(
    "queue reopen",
    "reopen_candidate",
    "helix queue reopen 6f1f0a5b9b0c4d7e8a1b2c3d4e5f6071",
    show="{trigger} waits again",
    id=As("candidate"),
)


command(
    "chunk",
    "",
    'helix chunk --task "make the suite fast" --outcome "success: 30 s" --approach "share one model between tests"',
    show="{status} {name}",
    none="no pattern: the outcome does not say that it worked, such as `success: the tests pass`",
    task=As("--task"),
    outcome=As("--outcome"),
    approach=As("--approach", type=TEXT),
)


@command("verify", "", "helix verify", "helix verify --scope all")
def _verify(out: Output, found: Record) -> None:
    stats = {re.sub("[A-Z]", lambda big: f"_{big[0].lower()}", name): held for name, held in found["stats"].items()}
    sessions = stats.pop("sessions_without_task")
    tables = {name: render.by_name(held) for name, held in stats.items() if isinstance(held, list)}
    render.health(out, {**found, "stats": {**stats, **tables}})
    for line in sessions:
        out.line(line)


group(
    "task",
    "Say where tasks stand.",
    """helix task state '{"id": "1", "status": "completed", "metadata": {"helix_outcome": "delivered"}}'""",
)
command("task state", "task_state", """helix task state '{"id": "1", "status": "pending"}'""", others=As("--tasks"))
command(
    "task outcome",
    "task_outcome",
    "helix task outcome 7 delivered",
    "helix task outcome 7 unknown",
    says="Say what came of a task, and settle what its memories get. TASK is its id, or what its client calls it.",
    outcome=As(type=WordParam(_OUTCOMES)),
    show=report.task_outcome,
)

group(
    "dag",
    "Look at the order of tasks. TASKS are JSON as the client lists them; - reads stdin.",
    """helix dag ready '[{"id": "1"}, {"id": "2", "blockedBy": ["1"]}]'""",
    "helix dag stalled --plan ID",
)
_TASKS = As("tasks")


@command(
    "dag cycles",
    "dag_cycles",
    """helix dag cycles '{"001": ["002"], "002": ["001"]}'""",
    says="List tasks that wait for each other. DEPENDENCIES lead from each to those it waits for; - reads stdin.",
    none="no task waits for itself",
)
def _cycles(out: Output, circles: Sequence[Sequence[str]], indent: int = 0) -> None:
    for circle in circles:
        out.line(" -> ".join((*circle, circle[0])), indent=indent)


command("dag ready", "dag_ready", "helix dag ready - < tasks.json", tasks=_TASKS)


@command("dag stalled", "dag_stalled", "helix dag stalled --plan ID", tasks=_TASKS)
def _stalled(out: Output, found: Record) -> None:
    out.line(("stalled" if found["stalled"] else "not stalled", "bold"))
    if (info := found["info"]) is None:
        return
    for ident, waits in render.by_name(info["waiting"]).items():
        out.line(f"{ident} waits for {', '.join(waits)}", indent=3)
    for name in ("blocked", "missing"):
        if info[name]:
            out.line(f"{name}: {', '.join(info[name])}", indent=3)
    _cycles(out, info["cycles"], indent=3)


@command(
    "dag clear",
    "dag_clear",
    "helix dag clear --plan ID",
    says="Give back tasks that were left in progress by a session that has ended: they are pending again.\n\n"
    "Tasks of a session that is open and has done something within a day stay as they are.",
    tasks=_TASKS,
    session=OWN_SESSION,
)
def _cleared(out: Output, done: Record) -> None:
    cleared, kept = done["cleared"], done["kept"]
    out.line(f"pending again: {', '.join(cleared)}" if cleared else "nothing was left in progress by a dead session")
    if kept:
        out.say(f"note: the session of {', '.join(kept)} may still be at work; --force gives these back too")
