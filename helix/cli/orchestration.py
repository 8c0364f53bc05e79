"""Commands by which an orchestrator keeps what was explored and planned: exploration, plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from helix.cli.invocation import Invocation
from helix.cli.options import F, own_session_option, plan_option, project_scope_option
from helix.cli.output import Output, one_line, shorten
from helix.cli.render import moment

Record = Mapping[str, Any]


def _answer_argument(command: F) -> F:
    file = click.File("r", encoding="utf-8", errors="replace")
    return click.argument("answer", type=file, default="-", required=False)(command)


_objective = click.option("--objective", help="What it is for, where the text does not say.")
_session = own_session_option("The session it belongs to.")


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
    data = invocation.run("save_exploration", answer=answer.read(), **told)
    tell_problems(invocation, data["saveExploration"])
    invocation.emit(data, lambda out: _explored(out, data["saveExploration"]["exploration"]))


@exploration.command("load")
@click.option("--id", "ident", metavar="ID", help="Which one; by default the newest of the scope.")
@project_scope_option
@click.pass_obj
def load_exploration(invocation: Invocation, /, ident: str | None, scope: str | None) -> None:
    """Show an exploration, by default the newest of this project.

    \b
    helix exploration load
    """
    data = invocation.run("exploration", id=ident, scope=scope)
    invocation.emit(data, lambda out: _explored(out, data["exploration"]))


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
@click.option("--exploration", metavar="ID", help="What it is based on; by default the newest for this objective.")
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
    helix plan save --objective "let users log in" < answer.txt
    """
    told = {"objective": objective, "scope": scope, "session": session, "exploration": exploration}
    data = invocation.run("save_plan", answer=answer.read(), **told)
    tell_problems(invocation, data["savePlan"])
    _planned(invocation, data, "savePlan")


@plan.command("load")
@plan_option()
@project_scope_option
@click.pass_obj
def load_plan(invocation: Invocation, /, plan: str | None, scope: str | None) -> None:
    """Show a plan with its tasks as they stand.

    \b
    helix plan load
    """
    _planned(invocation, invocation.run("plan", id=plan, scope=scope), "plan")


@plan.command("ready-tasks")
@plan_option()
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
            out.line("nothing can begin; `helix plan cascade-status` says why")

    invocation.emit(data, show)


@plan.command("cascade-status")
@plan_option()
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
@plan_option()
@project_scope_option
@click.pass_obj
def complete_plan(invocation: Invocation, /, plan: str | None, scope: str | None) -> None:
    """Say that nobody works on a plan any more; what is left of it is told.

    \b
    helix plan complete --plan ID
    """
    data = invocation.run("complete_plan", plan=plan, scope=scope)
    tell_problems(invocation, data["completePlan"])
    _planned(invocation, data, "completePlan")


def tell_problems(invocation: Invocation, report: Record) -> None:
    """Say beside the data what a report names as problems."""
    for problem in report["problems"]:
        invocation.say(f"note: {problem}")


def _explored(out: Output, found: Record) -> None:
    out.line((found["id"], "bold"), f"  {moment(found['recordedAt'])}, {found['scope']}")
    out.line(shorten(found["objective"]), indent=3)
    for name, part in sorted(found["attributes"].items()):
        for inner, said in (part if isinstance(part, dict) else {"": part}).items():
            items = said if isinstance(said, list) else [said]
            if lines := [line for item in items if (line := _item(item))]:
                out.line((f"{name} {inner.replace('_', ' ')}".strip(), "dim"), indent=3)
                for line in lines:
                    out.line(line, indent=5)


def _item(item: object) -> str:
    """Return a thing that was found in one line: a file with what is in it, a memory with why it matters, or a text."""
    said = [str(value) for value in item.values() if value] if isinstance(item, dict) else [str(item or "")]
    first, rest = said[:1], ", ".join(said[1:])
    return one_line(": ".join((*first, rest) if rest else first), 200)


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
    waits += f"  (the client's {task['clientTask']})" if task["clientTask"] else ""
    out.line((task["seq"], "bold"), f"  {task['slug']}  {task['outcome'] or task['status']}{waits}")
    out.line(shorten(task["objective"], 200), indent=5)
