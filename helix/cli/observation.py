"""Commands that learn from agents' work, and say how that goes: observe, queue, chunk, verify."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from helix.cli import given
from helix.cli.invocation import Invocation
from helix.cli.options import (
    F,
    Word,
    limit_option,
    listed_scope_option,
    own_session_option,
    project_scope_option,
    words_of,
)
from helix.cli.output import Output, claimed, one_line, shorten
from helix.model.candidate import Certainty

Record = Mapping[str, Any]
_SESSIONS = "sessions_without_task"
_NO_SUCCESS = "no pattern: the outcome does not say that it worked, such as `success: the tests pass`"


def _keeping(command: F) -> F:
    """Add the options of everything that observes."""
    options: list[Callable[[F], F]] = [
        click.option("--store", is_flag=True, help="Remember what is sure enough."),
        click.option("--queue", is_flag=True, help="Have what is not stored wait to be looked at: `helix queue list`."),
        click.option(
            "--min-confidence",
            type=Word(words_of(Certainty)),
            default=Certainty.MEDIUM.value,
            show_default=True,
            help="With --store: how sure it must be.",
        ),
        project_scope_option,
        own_session_option("The session it happened in."),
        click.option("--task-id", metavar="ID", help="The task it was learned in, by its id on the board."),
        click.option("--agent", help="Whose words they are."),
        click.option("--source", help="Where they come from."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def observe() -> None:
    """See what agents' work gives to learn; nothing is written without --store or --queue.

    \b
    helix observe explorer --output - < answer.txt
    helix observe builder --task '{"subject": "routes"}' --result "DELIVERED: added /login" --store
    """


@observe.command()
@click.option("--output", required=True, metavar="TEXT", help="What the explorer answered; - reads stdin.")
@_keeping
@click.pass_obj
def explorer(invocation: Invocation, /, output: str, **keeping: Any) -> None:
    """Facts and conventions out of an explorer's answer.

    \b
    helix observe explorer --output - --queue < answer.txt
    """
    _told(invocation, invocation.run("observe_explorer", output=given.text_of(output), **keeping))


@observe.command()
@click.option("--tasks", required=True, metavar="JSON", help="The plan's tasks; - reads stdin.")
@click.option("--exploration", metavar="JSON", help="What was explored before.")
@click.option("--learned", multiple=True, metavar="TEXT", help="Something that was decided. Repeatable.")
@_keeping
@click.pass_obj
def planner(
    invocation: Invocation, /, tasks: str, exploration: str | None, learned: tuple[str, ...], **keeping: Any
) -> None:
    """Decisions out of a plan.

    \b
    helix observe planner --tasks - --learned "sessions are kept in Redis" --store < tasks.json
    """
    explored = given.json_object(exploration, "the exploration") if exploration is not None else None
    listed = given.json_objects(tasks, "tasks")
    _told(invocation, invocation.run("observe_planner", tasks=listed, exploration=explored, learned=learned, **keeping))


@observe.command()
@click.option("--task", required=True, metavar="JSON", help="The task as the client lists it; - reads stdin.")
@click.option("--result", metavar="TEXT", help="The builder's last message; - reads stdin.")
@click.option("--files-changed", metavar="JSON", help='The files it changed, such as ["api.py"].')
@_keeping
@click.pass_obj
def builder(
    invocation: Invocation, /, task: str, result: str | None, files_changed: str | None, **keeping: Any
) -> None:
    """What changed, what stood in the way, and what was learned, out of a builder's work.

    \b
    helix observe builder --task '{"subject": "routes"}' --result - --files-changed '["api.py"]' < message.txt
    """
    changed = given.json_texts(files_changed, "the files changed") if files_changed is not None else None
    message = given.text_of(result) if result is not None else None
    subject = given.json_object(task, "the task")
    _told(invocation, invocation.run("observe_builder", task=subject, result=message, files_changed=changed, **keeping))


@observe.command()
@click.option("--objective", required=True, help="What was to be reached.")
@click.option("--tasks", metavar="JSON", help="The tasks; - reads stdin. By default those that are kept of --session.")
@click.option("--outcomes", metavar="JSON", help='What became of them: {"001": "delivered"}.')
@_keeping
@click.pass_obj
def session(invocation: Invocation, /, objective: str, tasks: str | None, outcomes: str | None, **keeping: Any) -> None:
    """What a session came to as a whole.

    \b
    helix observe session --objective "add a login" --queue
    helix observe session --objective "add a login" --tasks - --store < tasks.json
    """
    ended = given.json_object(outcomes, "the outcomes") if outcomes is not None else None
    listed = given.json_objects(tasks, "tasks") if tasks is not None else None
    _told(invocation, invocation.run("observe_session", objective=objective, tasks=listed, outcomes=ended, **keeping))


@click.group()
def queue() -> None:
    """Look through what agents' work gave to learn; nothing of it is recalled before it is accepted.

    \b
    helix queue list
    helix queue accept ID
    """


@queue.command("list")
@listed_scope_option
@limit_option(20)
@click.pass_obj
def list_(invocation: Invocation, /, scope: str | None, limit: int) -> None:
    """List what waits, the surest first.

    \b
    helix queue list
    """
    data = invocation.run("learning_queue", scope=scope, limit=limit)

    def show(out: Output) -> None:
        for one in data["learningQueue"]:
            _candidate(out, one)
        if not data["learningQueue"]:
            out.line("nothing waits")

    invocation.emit(data, show)


@queue.command()
@click.argument("candidate")
@click.option("--by", help="Who accepts it.")
@click.pass_obj
def accept(invocation: Invocation, /, candidate: str, by: str | None) -> None:
    """Remember something; it is trusted no further than the one who said it. `helix confirm` vouches for it.

    \b
    helix queue accept 6f1f0a5b9b0c4d7e8a1b2c3d4e5f6071
    """
    data = invocation.run("accept_candidate", id=candidate, by=by)
    result = data["acceptCandidate"]["result"]
    invocation.emit(data, lambda out: out.line(f"{result['status'].lower()} {result['name']}"))
    if result["suspicious"] and not invocation.json:
        invocation.say(f"it reads like an instruction to an agent: {'; '.join(result['suspicious'])}")


@queue.command()
@click.argument("candidate")
@click.option("--by", help="Who rejects it.")
@click.pass_obj
def reject(invocation: Invocation, /, candidate: str, by: str | None) -> None:
    """Have something come to nothing, also when the same is proposed again.

    \b
    helix queue reject 6f1f0a5b9b0c4d7e8a1b2c3d4e5f6071
    """
    data = invocation.run("reject_candidate", id=candidate, by=by)
    invocation.emit(data, lambda out: out.line(f"rejected: {claimed(one_line(data['rejectCandidate']['trigger']))}"))


@click.command()
@click.option("--task", required=True, help="What was to be done.")
@click.option("--outcome", required=True, help="What came of it, such as `success: the tests pass`.")
@click.option("--approach", required=True, help="How it was gone about; - reads stdin.")
@project_scope_option
@click.option("--task-id", metavar="ID", help="The task on the board.")
@click.option("--agent", help="Who did it.")
@click.option("--source", help="Where this comes from.")
@click.pass_obj
def chunk(invocation: Invocation, /, approach: str, **rest: Any) -> None:
    """Remember how a task was done as a pattern; a task that failed gives none.

    \b
    helix chunk --task "make the suite fast" --outcome "success: 30 s" --approach "share one model between tests"
    """
    data = invocation.run("chunk", approach=given.text_of(approach), **rest)
    result = data["chunk"]
    words = f"{result['status'].lower()} {result['name']}" if result else _NO_SUCCESS
    invocation.emit(data, lambda out: out.line(words))


@click.command()
@listed_scope_option
@click.pass_obj
def verify(invocation: Invocation, /, scope: str | None) -> None:
    """Say whether the learning loop is closed: what was shown is judged, what was judged counts, nothing dangles.

    \b
    helix verify
    helix verify --scope all
    """
    data = invocation.run("verify", scope=scope)
    found = data["verify"]

    def show(out: Output) -> None:
        out.line((found["status"], "bold"))
        for issue in found["issues"]:
            out.line(f"- {issue}")
        out.fields({name: value for name, value in found["stats"].items() if name != _SESSIONS})
        for told_of in found["stats"][_SESSIONS]:
            out.line(told_of)

    invocation.emit(data, show)


def _told(invocation: Invocation, data: Mapping[str, Any]) -> None:
    """Write what was observed, and what was made of it."""
    (seen,) = data.values()

    def show(out: Output) -> None:
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

    invocation.emit(data, show)


def _candidate(out: Output, one: Record) -> None:
    out.line((one["id"], "bold"), f"  {one['kind'].lower()}, {one['confidence'].lower()}, {one['scope']}")
    out.line(claimed(shorten(one["trigger"])), indent=3)
    if one["resolution"]:
        out.line(claimed(shorten(one["resolution"])), indent=3)
    if reasons := one["attributes"].get("suspicious"):
        out.line(("reads like an instruction to an agent: ", "dim"), "; ".join(reasons), indent=3)
