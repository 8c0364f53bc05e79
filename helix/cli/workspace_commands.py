"""Commands by which an orchestrator begins and ends attempts at the tasks of a plan: workspace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from helix.cli.invocation import Invocation
from helix.cli.options import Choice, limit_option, plan_option, project_scope_option
from helix.cli.orchestration import tell_problems
from helix.cli.output import Output, one_line

Record = Mapping[str, Any]

_workspace = click.option("--id", "workspace_id", metavar="ID", required=True, help="Which workspace.")
_utilized = click.option(
    "--utilized", multiple=True, metavar="NAMES", help="Memories that were used: a JSON list, or names with commas."
)


@click.group()
def workspace() -> None:
    """Begin attempts at tasks with what memory has for them, and say what they came to.

    \b
    helix workspace create --task 001
    helix workspace complete --id ID --delivered "login works" --utilized ask-twice
    """


@workspace.command("create")
@click.option("--task", required=True, metavar="TASK", help="Its id or number in the plan, or JSON with one.")
@plan_option()
@project_scope_option
@click.option("--warning", help="What the agent is to be told before all else.")
@limit_option(5)
@click.pass_obj
def create_workspace(
    invocation: Invocation, /, task: str, plan: str | None, scope: str | None, warning: str | None, limit: int
) -> None:
    """Begin an attempt at a task: print what to put before the agent, with the memories that fit.

    An earlier attempt at it that nobody has ended is superseded. A task that was delivered is not begun again.

    \b
    helix workspace create --task 001 --json
    """
    told = {"plan": plan, "scope": scope, "warning": warning, "limit": limit}
    data = invocation.run("create_workspace", task=_task_named(task), **told)
    report = data["createWorkspace"]

    def show(out: Output) -> None:
        out.line((report["workspace"]["id"], "bold"), f"  {report['task']['seq']} {report['task']['slug']}")
        out.line(report["prompt"])

    tell_problems(invocation, report)
    if report["heldBack"]:
        invocation.say("memories were held back from this task, to learn what they are worth")
    invocation.emit(data, show)


@workspace.command("complete")
@_workspace
@click.option("--delivered", required=True, help="What was delivered, in a line.")
@_utilized
@click.pass_obj
def complete_workspace(invocation: Invocation, /, workspace_id: str, delivered: str, utilized: tuple[str, ...]) -> None:
    """Say that an attempt delivered.

    \b
    helix workspace complete --id ID --delivered "login works" --utilized '["ask-twice"]'
    """
    data = invocation.run("complete_workspace", id=workspace_id, delivered=delivered, utilized=_names(utilized))
    tell_problems(invocation, data["completeWorkspace"])
    invocation.emit(data, lambda out: _attempt(out, data["completeWorkspace"]))


@workspace.command("block")
@_workspace
@click.option("--reason", required=True, help="Why it came to nothing.")
@click.option("--tried", help="What was tried.")
@click.option("--error", help="The error it ended with.")
@_utilized
@click.pass_obj
def block_workspace(
    invocation: Invocation,
    /,
    workspace_id: str,
    reason: str,
    tried: str | None,
    error: str | None,
    utilized: tuple[str, ...],
) -> None:
    """Say that an attempt came to nothing, and why.

    \b
    helix workspace block --id ID --reason "no access to the registry"
    """
    told = {"reason": reason, "tried": tried, "error": error, "utilized": _names(utilized)}
    data = invocation.run("block_workspace", id=workspace_id, **told)
    tell_problems(invocation, data["blockWorkspace"])
    invocation.emit(data, lambda out: _attempt(out, data["blockWorkspace"]))


@workspace.command("list")
@plan_option("Only those of this plan.")
@project_scope_option
@click.option("--status", type=Choice(["active", "complete", "blocked", "superseded"]), help="Only those.")
@limit_option(50)
@click.pass_obj
def list_workspaces(
    invocation: Invocation, /, plan: str | None, scope: str | None, status: str | None, limit: int
) -> None:
    """List attempts at tasks, the oldest first.

    \b
    helix workspace list --plan ID --json
    """
    data = invocation.run("workspaces", plan=plan, scope=scope, status=status, limit=limit)

    def show(out: Output) -> None:
        for report in data["workspaces"]:
            _attempt(out, report)
        if not data["workspaces"]:
            out.line("nothing was attempted yet")

    invocation.emit(data, show)


def _attempt(out: Output, report: Record) -> None:
    said = report["workspace"]["attributes"]
    came_to = one_line(said.get("delivered") or said.get("reason") or "")
    out.line(
        (report["workspace"]["id"], "bold"), f"  {report['task']['seq']} {report['workspace']['status']}  {came_to}"
    )


def _task_named(given: str) -> str:
    """Return the id or number in a task that was given as JSON; anything else is one already."""
    if not given.lstrip().startswith("{"):
        return given
    try:
        task = json.loads(given)
    except ValueError as error:
        raise click.UsageError(f"--task is no JSON: {error}") from error
    named = task.get("id") or task.get("seq")
    if not named:
        raise click.UsageError("--task names neither an id nor a seq")
    return str(named)


def _names(given: tuple[str, ...]) -> list[str]:
    names: list[str] = []
    for text in given:
        if text.lstrip().startswith("["):
            try:
                names += map(str, json.loads(text))
            except ValueError as error:
                raise click.UsageError(f"--utilized is no JSON: {error}") from error
        else:
            names += (name.strip() for name in text.split(","))
    return [name for name in names if name]
