"""The section Orchestrate: what agents are told, and what was explored, planned and attempted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from helix.cli.declared import Show, ask, asking, command, group
from helix.cli.given import FILE
from helix.cli.invocation import Invocation
from helix.cli.options import OWN_SESSION, SEEN, WORDS, As, ChoiceParam
from helix.cli.output import Output, one_line, printed_label, printed_text
from helix.cli.render import moment
from helix.identity import project_at

Record = Mapping[str, Any]

_ANSWER = As("answer", type=FILE, default="-", required=False)
_LONGEST_LINE = 200
_LIST = As(help="Tasks as the client lists them, a JSON list, or @FILE that holds it.")


def _show_text(field: str = "text") -> Show:
    def show(out: Output, answer: Record) -> None:
        out.line(answer[field] or "nothing that is remembered fits")

    return show


group(
    "context",
    "Show what an agent would be told, by its task or at its action.",
    'helix context builder "make uploads resumable" --file src/upload.py',
    'helix context action --command "pytest tests/upload.py"',
)
command(
    "context explorer",
    "explorer_context",
    'helix context explorer "make uploads resumable" --focus "where requests are retried"',
    show=_show_text(),
    objective=WORDS,
    scope=SEEN,
)
command(
    "context planner",
    "planner_context",
    'helix context planner "make uploads resumable"',
    show=_show_text(),
    objective=WORDS,
    scope=SEEN,
)
command(
    "context builder",
    "builder_context",
    'helix context builder "make uploads resumable" --file src/upload.py --limit 3',
    show=_show_text("prompt"),
    objective=WORDS,
    scope=SEEN,
    lineage=As(help="The tasks before it, a JSON list, or @FILE that holds it."),
    limit=As(type=click.IntRange(min=0)),
)


@command(
    "context lineage",
    "lineage",
    "helix context lineage",
    "helix context lineage --tasks @tasks.json",
    none="nothing was delivered yet",
    tasks=_LIST,
)
def _lineage(out: Output, delivered: Sequence[Record]) -> None:
    for one in delivered:
        out.line((f"{one['seq']} {one['slug']}".strip(), "bold"), f"  {_told(one['delivered'])}")


command("context brief", "brief", show=_show_text(), scope=SEEN)


@asking(
    "context action",
    "at_action",
    'helix context action --command "pytest tests/upload.py -q"',
    "helix context action --file src/upload.py",
    output=As(type=FILE, metavar="FILE", help="A file with what the command printed."),
    folder=None,
    project=None,
    scope=SEEN,
)
def _action(invocation: Invocation, **asked: Any) -> None:
    if not {"command", "files", "output"} & asked.keys():
        raise click.UsageError("say what is done: --command, --file or --output")
    here = {"folder": str(Path.cwd()), "project": str(project_at(Path.cwd()).root)}
    ask(invocation, "at_action", {**asked, **here}, _show_text())


group(
    "exploration",
    "Keep what explorers found, and read it back.",
    "helix exploration save < answer.json",
    "helix exploration load --json",
)


@command(
    "exploration save",
    "save_exploration",
    'helix exploration save --objective "let users log in" < answers.txt',
    says="Keep an exploration as JSON, or the answers of explorers. ANSWER is a file, or - (the default) for stdin.",
    answer=_ANSWER,
    session=OWN_SESSION,
)
def _explored(out: Output, report: Record) -> None:
    _exploration(out, report["exploration"])
    _problems(out, report)


@command("exploration load", "exploration", id=As("--id"))
def _exploration(out: Output, found: Record) -> None:
    out.line((found["id"], "bold"), f"  {moment(found['recordedAt'])}, {printed_label(found['scope'])}")
    out.line(_told(found["objective"]), indent=3)
    for name, part in sorted(found["attributes"].items()):
        for inner, said in (part if isinstance(part, dict) else {"": part}).items():
            items = said if isinstance(said, list) else [said]
            if lines := [line for item in items if (line := _item(item))]:
                out.line((one_line(f"{name} {inner.replace('_', ' ')}"), "dim"), indent=3)
                for line in lines:
                    out.line(printed_text(line), indent=5)


def _told(text: str) -> str:
    """Return what an agent said of its work as one printed line."""
    return printed_text(one_line(text, _LONGEST_LINE))


def _item(item: object) -> str:
    """Return a thing that was found in one line: a file with what is in it, a memory with why it matters, or a text."""
    said = [str(value) for value in item.values() if value] if isinstance(item, dict) else [str(item or "")]
    first, rest = said[:1], ", ".join(said[1:])
    return one_line(": ".join((*first, rest) if rest else first), _LONGEST_LINE)


def _problems(out: Output, report: Record) -> None:
    for problem in report["problems"]:
        out.say(f"note: {problem}")


group(
    "plan",
    "Keep a plan as tasks and their order, and follow it.",
    "helix plan save < answer.json",
    "helix plan ready-tasks",
    "helix plan cascade-status",
)


def _plan(out: Output, report: Record) -> None:
    known = report["plan"]
    out.line(
        (known["id"], "bold"), f"  {known['status']}, {report['taskCount']} tasks, {printed_label(known['scope'])}"
    )
    out.line(_told(known["objective"]), indent=3)
    _tasks(out, report["tasks"])


def _tasks(out: Output, tasks: Sequence[Record]) -> None:
    for task in tasks:
        waits = f"  waits for {', '.join(task['depends'])}" if task["depends"] else ""
        waits += f"  (the client's {task['clientTask']})" if task["clientTask"] else ""
        out.line((task["seq"], "bold"), f"  {task['slug']}  {task['outcome'] or task['status']}{waits}")
        out.line(_told(task["objective"]), indent=5)


def _changed_plan(out: Output, report: Record) -> None:
    _problems(out, report)
    _plan(out, report)


command(
    "plan save",
    "save_plan",
    'helix plan save --objective "let users log in" < answer.txt',
    says="Keep what a planner answered. ANSWER is a file, or - (the default) for stdin.\n\n"
    "Refused are tasks that wait for each other or for none there is, and two of one number.",
    show=_changed_plan,
    answer=_ANSWER,
    session=OWN_SESSION,
)
command("plan load", "plan", show=_plan, id=As("--plan", "--plan-id", "--id"))
command(
    "plan ready-tasks",
    "ready_tasks",
    "helix plan ready-tasks --json",
    show=_tasks,
    none="nothing can begin; `helix plan cascade-status` says why",
)


@command("plan cascade-status", "cascade_status")
def _cascade(out: Output, cascade: Record) -> None:
    out.line((cascade["status"].lower(), "bold"))
    for name in ("ready", "inProgress", "delivered", "blocked", "unreachable"):
        if cascade[name]:
            out.line((f"{name.replace('P', ' p')}: ", "dim"), ", ".join(cascade[name]), indent=3)


command("plan complete", "complete_plan", "helix plan complete --plan ID", show=_changed_plan)

group(
    "workspace",
    "Begin attempts at tasks with what memory has for them, and say what they came to.",
    "helix workspace create --task 001",
    'helix workspace complete --id ID --delivered "login works" --utilized ask-twice',
)


def _task_named(ctx: click.Context, param: click.Parameter, given: str) -> str:
    """Return the id or number in a task that was given as JSON; anything else is one already."""
    if not given.lstrip().startswith("{"):
        return given
    try:
        task = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"--task is not JSON: {error}") from error
    named = task.get("id") or task.get("seq")
    if not named:
        raise click.UsageError("--task names neither an id nor a seq")
    return str(named)


def _names(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    names: list[str] = []
    for text in given:
        if text.lstrip().startswith("["):
            try:
                names += map(str, json.loads(text))
            except (ValueError, RecursionError) as error:
                raise click.UsageError(f"--utilized is not JSON: {error}") from error
        else:
            names += (name.strip() for name in text.split(","))
    return tuple(name for name in names if name)


def _attempt(out: Output, report: Record) -> None:
    _problems(out, report)
    said, task = report["workspace"]["attributes"], report["task"]
    came_to = one_line(said.get("delivered") or said.get("reason") or "")
    out.line(
        (report["workspace"]["id"], "bold"), f"  {task['seq']} {report['workspace']['status']}  {printed_text(came_to)}"
    )


@command(
    "workspace create",
    "create_workspace",
    "helix workspace create --task 001 --json",
    says="Begin an attempt at a task: print what to put before the agent, with the memories that fit.\n\n"
    "An earlier attempt at it that nobody has ended is superseded. A task that was delivered is not begun again.",
    task=As("--task", metavar="TASK", callback=_task_named, help="Its id or number in the plan, or JSON with one."),
)
def _created(out: Output, report: Record) -> None:
    out.line((report["workspace"]["id"], "bold"), f"  {report['task']['seq']} {report['task']['slug']}")
    out.line(report["prompt"])
    _problems(out, report)
    if report["heldBack"]:
        out.say("memories were held back from this task, to learn what they are worth")


_WORKSPACE = As("--id")
_UTILIZED = As(
    "--utilized", metavar="NAMES", callback=_names, help="Memories that were used: a JSON list, or names with commas."
)
command(
    "workspace complete",
    "complete_workspace",
    """helix workspace complete --id ID --delivered "login works" --utilized '["ask-twice"]'""",
    show=_attempt,
    id=_WORKSPACE,
    delivered=As("--delivered"),
    utilized=_UTILIZED,
)
command(
    "workspace block",
    "block_workspace",
    'helix workspace block --id ID --reason "no access to the registry"',
    show=_attempt,
    id=_WORKSPACE,
    reason=As("--reason"),
    utilized=_UTILIZED,
)


@command(
    "workspace list",
    "workspaces",
    "helix workspace list --plan ID --json",
    none="nothing was attempted yet",
    status=As(type=ChoiceParam(["active", "complete", "blocked", "superseded"])),
)
def _attempts(out: Output, reports: Sequence[Record]) -> None:
    for report in reversed(reports):
        _attempt(out, report)
