"""Commands that show what an agent would be told: helix context explorer, planner, builder, lineage, brief, action."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from helix import files
from helix.cli.invocation import Invocation
from helix.cli.options import limit_option, plan_option, project_scope_option, seen_scope_option, session_option
from helix.cli.output import Output
from helix.errors import InvalidInputError
from helix.identity import project_at

_limit = limit_option(5)


@click.group()
def context() -> None:
    """Show what an agent would be told, by its task or at its action.

    \b
    helix context builder "make uploads resumable" --file src/upload.py
    helix context action --command "pytest tests/upload.py"
    """


@context.command()
@click.argument("objective", nargs=-1, required=True)
@click.option("--focus", help="What the explorer looks for.")
@seen_scope_option
@_limit
@session_option
@click.pass_obj
def explorer(invocation: Invocation, /, objective: tuple[str, ...], **asked: Any) -> None:
    """Facts that need not be found again, and failures to watch for.

    \b
    helix context explorer "make uploads resumable" --focus "where requests are retried"
    """
    _show(invocation, "explorer_context", objective=" ".join(objective), **asked)


@context.command()
@click.argument("objective", nargs=-1, required=True)
@seen_scope_option
@_limit
@session_option
@click.pass_obj
def planner(invocation: Invocation, /, objective: tuple[str, ...], **asked: Any) -> None:
    """Decisions, conventions and what has changed lately.

    \b
    helix context planner "make uploads resumable"
    """
    _show(invocation, "planner_context", objective=" ".join(objective), **asked)


@context.command()
@click.argument("objective", nargs=-1, required=True)
@click.option("--file", "files", multiple=True, help="A file the task is about. Repeatable.")
@click.option("--lineage", "lineage_", metavar="JSON", help="The tasks before it, a JSON list, or @FILE that holds it.")
@click.option("--warning", help="A warning to put first.")
@click.option("--no-inject", is_flag=True, help="Put no memories in.")
@seen_scope_option
@click.option(
    "--limit", "-n", type=click.IntRange(min=0), default=5, show_default=True, help="At most so many; 0 for none."
)
@session_option
@click.pass_obj
def builder(
    invocation: Invocation, /, objective: tuple[str, ...], files: tuple[str, ...], lineage_: str | None, **asked: Any
) -> None:
    """Warnings, failures, patterns, conventions and facts, and what the tasks before delivered.

    \b
    helix context builder "make uploads resumable" --file src/upload.py --limit 3
    """
    given = None if lineage_ is None else _tasks(lineage_)
    _show(invocation, "builder_context", "prompt", objective=" ".join(objective), files=files, lineage=given, **asked)


@context.command()
@click.option("--tasks", metavar="JSON", help="Tasks as the client lists them, a JSON list, or @FILE that holds it.")
@plan_option()
@project_scope_option
@click.pass_obj
def lineage(invocation: Invocation, /, tasks: str | None, plan: str | None, scope: str | None) -> None:
    """What tasks delivered, in the order of their plan.

    \b
    helix context lineage
    helix context lineage --tasks @tasks.json
    """
    data = invocation.run("lineage", tasks=None if tasks is None else _tasks(tasks), plan=plan, scope=scope)

    def show(out: Output) -> None:
        for one in data["lineage"]:
            out.line((f"{one['seq']} {one['slug']}".strip(), "bold"), f"  {one['delivered']}")
        if not data["lineage"]:
            out.line("nothing was delivered yet")

    invocation.emit(data, show)


@context.command()
@click.option("--budget", "budget_tokens", type=click.IntRange(min=0), help="About how many tokens it may take.")
@seen_scope_option
@click.pass_obj
def brief(invocation: Invocation, /, **asked: Any) -> None:
    """What a session begins with: systemic failures, contradictions, decisions and conventions.

    \b
    helix context brief
    """
    _show(invocation, "brief", **asked)


@context.command()
@click.option("--command", help="A command line, as it is typed.")
@click.option("--file", "files", multiple=True, help="A file that is edited. Repeatable.")
@click.option("--output", type=click.File("r"), help="A file with what the command printed, - for standard input.")
@seen_scope_option
@limit_option(3)
@click.pass_obj
def action(invocation: Invocation, /, command: str | None, files: tuple[str, ...], output: Any, **asked: Any) -> None:
    """What is remembered about exactly a command, the error it ended with, or files that are edited.

    \b
    helix context action --command "pytest tests/upload.py -q"
    helix context action --file src/upload.py
    """
    if not command and not files and output is None:
        raise click.UsageError("say what is done: --command, --file or --output")
    here = Path.cwd()
    _show(
        invocation,
        "at_action",
        command=command,
        files=files,
        output=None if output is None else output.read(),
        folder=str(here),
        project=str(project_at(here).root),
        **asked,
    )


def _show(invocation: Invocation, operation: str, field: str = "text", **asked: Any) -> None:
    data = invocation.run(operation, **{name: value for name, value in asked.items() if value != ()})
    (answer,) = data.values()
    invocation.emit(data, lambda out: out.line(answer[field] or "nothing that is remembered fits"))


def _tasks(given: str) -> list[Mapping[str, Any]]:
    """Return the tasks of a JSON list, given as it stands or as @FILE."""
    try:
        text = files.read_text(given[1:]) if given.startswith("@") else given
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(
            f"{given[1:]} cannot be read: {error}", hint="after @ stands a file with a JSON list of tasks"
        ) from error
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"that is no JSON: {error}") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise click.UsageError("tasks are a JSON list of objects")
    return tasks
