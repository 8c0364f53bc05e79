"""Commands that look at the order of tasks, of a client's own list or of a saved plan: task, dag."""

from __future__ import annotations

from typing import Any

import click

from helix.cli import given
from helix.cli.invocation import Invocation
from helix.cli.options import Choice, F, own_session_option, plan_option, project_scope_option
from helix.cli.output import Output
from helix.cli.report import task_outcome
from helix.errors import InvalidInputError


def _tasks_or_plan(command: F) -> F:
    """Add the argument TASKS, `--plan` and `--scope`."""
    command = project_scope_option(command)
    command = plan_option("A saved plan; without TASKS the newest of exactly the scope.")(command)
    return click.argument("tasks", required=False, metavar="[TASKS]")(command)


@click.group()
def task() -> None:
    """Say where tasks stand.

    \b
    helix task state '{"id": "1", "status": "completed", "metadata": {"helix_outcome": "delivered"}}'
    """


@task.command("state")
@click.argument("task_json", metavar="TASK")
@click.option("--tasks", metavar="JSON", help="The other tasks of the list; - reads stdin.")
@click.pass_obj
def state(invocation: Invocation, /, task_json: str, tasks: str | None) -> None:
    """Say where one task stands. TASK is JSON as the client lists it; - reads stdin.

    \b
    helix task state '{"id": "1", "status": "pending"}'
    """
    if task_json == tasks == given.STDIN:
        raise InvalidInputError("the task and the others cannot both be read from stdin", hint="give one as JSON")
    others = given.json_objects(tasks, "tasks") if tasks is not None else None
    data = invocation.run("task_state", task=given.json_object(task_json, "the task"), others=others)
    invocation.emit(data, lambda out: out.fields(data["taskState"]))


@task.command("outcome")
@click.argument("name", metavar="TASK")
@click.argument("outcome", type=Choice(["delivered", "blocked", "skipped", "unknown"]))
@click.option("--claimed", is_flag=True, help="It is the agent's own word, and nobody has looked.")
@click.pass_obj
def outcome_(invocation: Invocation, /, name: str, outcome: str, claimed: bool) -> None:
    """Say what came of a task, and settle what its memories get. TASK is its id, or what its client calls it.

    \b
    helix task outcome 7 delivered
    helix task outcome 7 unknown
    """
    word = "" if outcome == "unknown" else outcome
    data = invocation.run("task_outcome", task=name, outcome=word, claimed=claimed)
    invocation.emit(data, lambda out: task_outcome(out, data["taskOutcome"]))


@click.group()
def dag() -> None:
    """Look at the order of tasks. TASKS are JSON as the client lists them; - reads stdin.

    \b
    helix dag ready '[{"id": "1"}, {"id": "2", "blockedBy": ["1"]}]'
    helix dag stalled --plan ID
    """


@dag.command()
@click.argument("dependencies")
@click.pass_obj
def cycles(invocation: Invocation, /, dependencies: str) -> None:
    """List tasks that wait for each other. DEPENDENCIES lead from each to those it waits for; - reads stdin.

    \b
    helix dag cycles '{"001": ["002"], "002": ["001"]}'
    """
    data = invocation.run("dag_cycles", dependencies=given.json_object(dependencies, "the dependencies"))

    def show(out: Output) -> None:
        for circle in data["dagCycles"]:
            out.line(" -> ".join((*circle, circle[0])))
        if not data["dagCycles"]:
            out.line("no task waits for itself")

    invocation.emit(data, show)


@dag.command()
@_tasks_or_plan
@click.pass_obj
def ready(invocation: Invocation, /, tasks: str | None, plan: str | None, scope: str | None) -> None:
    """List the tasks that can begin now, one a line.

    \b
    helix dag ready - < tasks.json
    """
    data = invocation.run("dag_ready", **_given(tasks, plan, scope))

    def show(out: Output) -> None:
        for ident in data["dagReady"]:
            out.line(ident)

    invocation.emit(data, show)


@dag.command()
@_tasks_or_plan
@click.pass_obj
def stalled(invocation: Invocation, /, tasks: str | None, plan: str | None, scope: str | None) -> None:
    """Say whether nothing can go on though tasks are left, and why.

    \b
    helix dag stalled --plan ID
    """
    data = invocation.run("dag_stalled", **_given(tasks, plan, scope))
    found = data["dagStalled"]

    def show(out: Output) -> None:
        out.line(("stalled" if found["stalled"] else "not stalled", "bold"))
        if (info := found["info"]) is None:
            return
        for ident, waits in info["waiting"].items():
            out.line(f"{ident} waits for {', '.join(waits)}", indent=3)
        for name in ("blocked", "missing"):
            if info[name]:
                out.line(f"{name}: {', '.join(info[name])}", indent=3)
        for circle in info["cycles"]:
            out.line(" -> ".join((*circle, circle[0])), indent=3)

    invocation.emit(data, show)


@dag.command()
@_tasks_or_plan
@own_session_option("The session that goes on: its tasks stay in progress.")
@click.option("--force", is_flag=True, help="Also the tasks of other sessions that may still be at work.")
@click.pass_obj
def clear(
    invocation: Invocation,
    /,
    tasks: str | None,
    plan: str | None,
    scope: str | None,
    session: str | None,
    force: bool,
) -> None:
    """Give back tasks that were left in progress by a session that is no more: they are pending again.

    Tasks of a session that is open and has done something within a day stay as they are.

    \b
    helix dag clear --plan ID
    """
    data = invocation.run("dag_clear", **_given(tasks, plan, scope), session=session, force=force or None)
    cleared, kept = data["dagClear"]["cleared"], data["dagClear"]["kept"]
    words = f"pending again: {', '.join(cleared)}" if cleared else "nothing was left in progress by a dead session"
    if kept:
        invocation.say(f"note: the session of {', '.join(kept)} may still be at work; --force gives these back too")
    invocation.emit(data, lambda out: out.line(words))


def _given(tasks: str | None, plan: str | None, scope: str | None) -> dict[str, Any]:
    listed = given.json_objects(tasks, "tasks") if tasks is not None else None
    return {"tasks": listed, "plan": plan, "scope": scope}
