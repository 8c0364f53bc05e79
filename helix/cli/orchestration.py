"""Commands by which an orchestrator keeps what was explored and planned: exploration, plan."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from helix.cli.invocation import Invocation
from helix.cli.options import project_scope_option
from helix.cli.output import Output, one_line, shorten
from helix.cli.render import moment

Record = Mapping[str, Any]
F = TypeVar("F", bound=Callable[..., Any])


def plan_option(command: F) -> F:
    """Add `--plan-id`, also called `--id`."""
    words = "Which plan; by default the newest of the scope."
    return click.option("--plan-id", "--id", "plan", metavar="ID", help=words)(command)


def _answer_argument(command: F) -> F:
    file = click.File("r", encoding="utf-8", errors="replace")
    return click.argument("answer", type=file, default="-", required=False)(command)


_objective = click.option("--objective", help="What it is for, where the text does not say.")
_session = click.option("--session", metavar="ID", help="The session it belongs to.")


@click.group()
def exploration() -> None:
    """Keep what explorers found, and read it back.

    \b
    helix exploration save < answer.json
    helix exploration load --json
    """


@exploration.command("save")
@_answer_argument
@_objective
@project_scope_option
@_session
@click.pass_obj
def save_exploration(
    invocation: Invocation, /, answer: Any, objective: str | None, scope: str | None, session: str | None
) -> None:
    """Keep an exploration as JSON, or the answers of explorers. ANSWER is a file, or - (the default) for stdin.

    \b
    helix exploration save --objective "let users log in" < answers.txt
    """
    told = {"objective": objective, "scope": scope, "session": session}
    _found(invocation, invocation.run("save_exploration", answer=answer.read(), **told), "saveExploration")


@exploration.command("load")
@click.option("--id", "ident", metavar="ID", help="Which one; by default the newest of the scope.")
@project_scope_option
@click.pass_obj
def load_exploration(invocation: Invocation, /, ident: str | None, scope: str | None) -> None:
    """Show an exploration, by default the newest of this project.

    \b
    helix exploration load
    """
    _found(invocation, invocation.run("exploration", id=ident, scope=scope), "exploration")


@click.group()
def plan() -> None:
    """Keep a plan as tasks and their order, and follow it.

    \b
    helix plan save < answer.json
    helix plan ready-tasks
    helix plan cascade-status
    """


@plan.command("save")
@_answer_argument
@_objective
@project_scope_option
@_session
@click.option("--exploration", metavar="ID", help="The exploration it is based on.")
@click.pass_obj
def save_plan(
    invocation: Invocation,
    /,
    answer: Any,
    objective: str | None,
    scope: str | None,
    session: str | None,
    exploration: str | None,
) -> None:
    """Keep what a planner answered. ANSWER is a file, or - (the default) for stdin.

    Refused are tasks that wait for each other or for none there is, and two of one number.

    \b
    helix plan save --exploration ID < answer.json
    """
    told = {"objective": objective, "scope": scope, "session": session, "exploration": exploration}
    data = invocation.run("save_plan", answer=answer.read(), **told)
    for problem in data["savePlan"]["problems"]:
        invocation.say(f"note: {problem}")
    _planned(invocation, data, "savePlan")


@plan.command("load")
@plan_option
@project_scope_option
@click.pass_obj
def load_plan(invocation: Invocation, /, plan: str | None, scope: str | None) -> None:
    """Show a plan with its tasks as they stand.

    \b
    helix plan load
    """
    _planned(invocation, invocation.run("plan", id=plan, scope=scope), "plan")


@plan.command("ready-tasks")
@plan_option
@project_scope_option
@click.pass_obj
def ready_tasks(invocation: Invocation, /, plan: str | None, scope: str | None) -> None:
    """List the tasks that can begin: pending, with all they wait for delivered.

    \b
    helix plan ready-tasks --json
    """
    data = invocation.run("ready_tasks", plan=plan, scope=scope)

    def show(out: Output) -> None:
        for task in data["readyTasks"]:
            _task(out, task)
        if not data["readyTasks"]:
            out.line("none; `helix plan cascade-status` says why")

    invocation.emit(data, show)


@plan.command("cascade-status")
@plan_option
@project_scope_option
@click.pass_obj
def cascade_status(invocation: Invocation, /, plan: str | None, scope: str | None) -> None:
    """Say where a plan stands: complete, in_progress, all_blocked, or stuck, with the tasks that cannot begin any more.

    \b
    helix plan cascade-status
    """
    data = invocation.run("cascade_status", plan=plan, scope=scope)
    cascade = data["cascadeStatus"]

    def show(out: Output) -> None:
        out.line((cascade["status"].lower(), "bold"))
        for name in ("ready", "inProgress", "delivered", "blocked", "unreachable"):
            if cascade[name]:
                out.line((f"{name.replace('P', ' p')}: ", "dim"), ", ".join(cascade[name]), indent=3)

    invocation.emit(data, show)


@plan.command("complete")
@plan_option
@project_scope_option
@click.pass_obj
def complete_plan(invocation: Invocation, /, plan: str | None, scope: str | None) -> None:
    """Say that nobody works on a plan any more.

    \b
    helix plan complete --plan-id ID
    """
    _planned(invocation, invocation.run("complete_plan", plan=plan, scope=scope), "completePlan")


def _found(invocation: Invocation, data: Record, field: str) -> None:
    found = data[field]

    def show(out: Output) -> None:
        out.line((found["id"], "bold"), f"  {moment(found['recordedAt'])}, {found['scope']}")
        out.line(shorten(found["objective"]), indent=3)
        for name, part in sorted(found["attributes"].items()):
            out.line((f"{name}: ", "dim"), one_line(json.dumps(part, ensure_ascii=False), 200), indent=3)

    invocation.emit(data, show)


def _planned(invocation: Invocation, data: Record, field: str) -> None:
    report = data[field]

    def show(out: Output) -> None:
        known = report["plan"]
        out.line((known["id"], "bold"), f"  {known['status']}, {report['taskCount']} tasks, {known['scope']}")
        out.line(shorten(known["objective"]), indent=3)
        for task in report["tasks"]:
            _task(out, task)

    invocation.emit(data, show)


def _task(out: Output, task: Record) -> None:
    waits = f"  waits for {', '.join(task['depends'])}" if task["depends"] else ""
    out.line((task["seq"], "bold"), f"  {task['slug']}  {task['outcome'] or task['status']}{waits}")
    out.line(shorten(task["objective"], 200), indent=5)
