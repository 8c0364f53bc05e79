"""Commands about the background: record, session, flush, consolidate, reflect, merge, undo, work."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from helix.cli import given
from helix.cli.completion import SESSIONS
from helix.cli.invocation import Invocation
from helix.cli.options import (
    Choice,
    Moment,
    Word,
    dry_run_option,
    idempotency_option,
    limit_option,
    listed_scope_option,
    project_scope_option,
    scope_option,
    whole_store,
)
from helix.cli.output import Output, told
from helix.cli.progress import POLL_SECONDS
from helix.cli.render import gate_line, moment
from helix.client import error_from
from helix.errors import ConflictError, HelixError, InvalidInputError
from helix.model.provenance import Trust

_UNFINISHED = ("QUEUED", "RUNNING")


@click.command()
@click.argument("content", required=False)
@click.option("--session", shell_complete=SESSIONS, metavar="NAME", help="The session it belongs to.")
@project_scope_option
@click.option("--agent", help="Who speaks.")
@click.option("--role", type=Choice(["user", "assistant", "tool", "system"]), help="In which part.")
@click.option("--occurred-at", type=Moment(), help="When it happened, where that is not now.")
@click.option("--importance", type=click.FloatRange(1, 10), help="How much it matters, 1 to 10.")
@click.option(
    "--trust",
    type=Word(Trust),
    help="How far its source is to be trusted; by default tool_output for a tool, else agent_inferred.",
)
@click.option("--source", help="What identifies it; the same source is recorded once.")
@click.option("--file", "files", multiple=True, help="A file it is about: .helixignore is asked. Repeatable.")
@idempotency_option
@click.pass_obj
def record(invocation: Invocation, /, content: str | None, files: tuple[str, ...], **rest: Any) -> None:
    """Record what happened, word for word but for secrets. CONTENT - (or none in a pipe) is read from stdin.

    \b
    helix record "The build failed: libfoo was missing" --session monday
    make test 2>&1 | tail -20 | helix record --role tool
    """
    if content is None and not sys.stdin.isatty():
        content = given.STDIN
    content = given.text(content or "")
    if not content:
        raise InvalidInputError("there is nothing to record", hint='helix record "what happened"')
    about = {"files": files, "project": Path.cwd()} if files else {}
    data = invocation.run("record_episode", content=content, **about, **rest)
    recording = data["recordEpisode"]
    episode = recording["episode"]
    words = f"recorded {episode['id']}" if episode else f"not recorded: {recording['reason']}"
    invocation.emit(data, lambda out: out.line(words))
    if recording["redacted"] and not invocation.json:
        invocation.say(f"taken out first: {', '.join(recording['redacted'])}")
    if recording["suspicious"] and not invocation.json:
        invocation.say(f"it reads like an instruction to an agent: {'; '.join(recording['suspicious'])}")


@click.group()
def session() -> None:
    """Open, close and list sessions: runs of episodes that belong together.

    \b
    helix session open monday
    helix record "Port 8080 is taken by the old server" --session monday
    helix session close monday
    """


@session.command("open")
@click.argument("name", required=False)
@project_scope_option
@click.option("--agent", help="Whose session it is.")
@click.option("--private", is_flag=True, help="Write nothing of it down, ever.")
@click.pass_obj
def open_(invocation: Invocation, /, **request: Any) -> None:
    """Open a session, or go on with one. Its name is printed.

    \b
    helix session open monday
    helix session open --private
    """
    data = invocation.run("open_session", **request)
    invocation.emit(data, lambda out: out.line(data["openSession"]["name"]))
    if data["openSession"]["private"] and not invocation.json:
        invocation.say("private: nothing of this session is written down but a salted digest of its name")


@session.command()
@click.argument("name", shell_complete=SESSIONS)
@project_scope_option
@click.pass_obj
def close(invocation: Invocation, /, name: str, scope: str | None) -> None:
    """End a session; what is new is consolidated in the background.

    \b
    helix session close monday
    """
    data = invocation.run("close_session", name=name, scope=scope)
    closed = data["closeSession"]
    invocation.emit(data, lambda out: out.line(f"closed {closed['name']}, {closed['episodes']} episodes"))


@session.command("list")
@listed_scope_option
@limit_option(20)
@click.pass_obj
def list_(invocation: Invocation, /, scope: str | None, limit: int) -> None:
    """List sessions, the latest first.

    \b
    helix session list
    """
    data = invocation.run("sessions", scope=scope, limit=limit)
    columns = ("SESSION", "SCOPE", "AGENT", "STARTED", "ENDED", "EPISODES")
    rows = [
        (s["name"], s["scope"], s["agent"], moment(s["startedAt"]), moment(s["endedAt"]), s["episodes"])
        for s in data["sessions"]
    ]
    invocation.emit(data, lambda out: out.table(columns, rows, text=False))
    invocation.say_if_none(rows, "nothing was recorded in a session yet")


@click.command()
@scope_option
@click.option("--wait/--no-wait", default=True, help="Wait until it is done.")
@click.pass_obj
def flush(invocation: Invocation, /, scope: str | None, wait: bool) -> None:
    """Have what happened consolidated now, instead of when enough has come together.

    \b
    helix flush
    """
    _finish(invocation, invocation.run("flush", scope=scope)["flush"], wait)


@click.command()
@scope_option
@click.option("--anew", is_flag=True, help="Derive every memory again, undone ones too; edits and feedback are kept.")
@dry_run_option
@click.pass_obj
def consolidate(invocation: Invocation, /, scope: str | None, anew: bool, dry_run: bool) -> None:
    """Make memories of what happened again and again; every one is grounded in its episodes.

    \b
    helix consolidate --dry-run
    helix consolidate
    """
    _work(invocation, "rederive" if anew else "consolidate", {"scope": scope}, dry_run)


@click.command()
@scope_option
@dry_run_option
@click.pass_obj
def reflect(invocation: Invocation, /, scope: str | None, dry_run: bool) -> None:
    """Look for insights in the most important things of late; each cites what it rests on.

    \b
    helix reflect
    helix reflections
    """
    _work(invocation, "reflect", {"scope": scope}, dry_run)


@click.command("roll-up")
@scope_option
@dry_run_option
@click.pass_obj
def roll_up(invocation: Invocation, /, scope: str | None, dry_run: bool) -> None:
    """Sum up what has faded, a few neighbouring episodes at a time; the episodes stay.

    \b
    helix roll-up --dry-run
    """
    _work(invocation, "roll_up", {"scope": scope}, dry_run)


@click.command()
@scope_option
@click.option(
    "--threshold", type=click.FloatRange(0, 1), help="Cosine from which two are alike; by default the model's."
)
@dry_run_option
@click.pass_obj
def merge(invocation: Invocation, /, scope: str | None, threshold: float | None, dry_run: bool) -> None:
    """Fold memories that say nearly the same into one; `helix undo` takes it back.

    \b
    helix merge --dry-run
    """
    _work(invocation, "merge_similar", {"scope": scope, "threshold": threshold}, dry_run)


@click.command()
@click.argument("job")
@dry_run_option
@click.pass_obj
def undo(invocation: Invocation, /, job: str, dry_run: bool) -> None:
    """Take a piece of background work back, exactly; `helix work` lists it. Exit code 4: something is in the way.

    \b
    helix work
    helix undo 0192f0c1-... --dry-run
    """
    data = invocation.run("undo", job=job, dry_run=dry_run)
    report = data["undo"]

    def show(out: Output) -> None:
        for conflict in report["conflicts"]:
            out.line(f"in the way: {told(conflict['what'])}, by {conflict['by']}")
        if not report["conflicts"]:
            out.line(f"{report['restored']} {'would be put' if dry_run else 'put'} back as they were before")
        if report["keptOut"]:
            out.line(f"{report['keptOut']} derived memories stay away until `helix consolidate --anew`")

    invocation.emit(data, show)
    if report["conflicts"]:
        if not invocation.json:
            invocation.say("nothing was changed: what came later would be lost")
        raise click.exceptions.Exit(ConflictError.exit_code)


@click.command()
@limit_option(10)
@click.option("--pause/--go-on", "pause", default=None, help="Stop background work, or go on with it.")
@click.option("--cancel", metavar="ID", help="Ask a piece of work to end.")
@click.pass_obj
@whole_store
def work(invocation: Invocation, /, limit: int, pause: bool | None, cancel: str | None) -> None:
    """Show what goes on in the background and what it came to.

    \b
    helix work
    helix work --pause
    """
    if pause is not None:
        invocation.run("pause_worker", on=pause)
    if cancel is not None:
        invocation.run("cancel_work", id=cancel)
    data = invocation.run("background", limit=limit)
    report = data["background"]

    def show(out: Output) -> None:
        out.fields(
            {
                "paused": "yes: `helix work --go-on` ends it" if report["paused"] else None,
                "running": _named(report["running"]) if report["running"] else None,
                "queued": report["queued"] or None,
                "failed": report["failed"] or None,
                "without a vector": report["lackingVectors"] or None,
                "next consolidation": f"at importance {report['budget']:g}, now {report['importance']:g}",
                "gate": gate_line(report["gate"]),
            }
        )
        rows = [(i["id"], i["kind"], i["state"].lower(), moment(i["createdAt"]), _came_to(i)) for i in report["items"]]
        if rows:
            out.table(("ID", "KIND", "STATE", "ASKED FOR", "CAME TO"), rows)

    invocation.emit(data, show)


def _work(invocation: Invocation, kind: str, payload: Mapping[str, Any], dry_run: bool) -> None:
    given = {name: value for name, value in payload.items() if value is not None}
    if not dry_run:
        _finish(invocation, invocation.run("begin_work", kind=kind, payload=given)["beginWork"], wait=True)
        return
    data = invocation.run("work_plan", kind=kind, payload=given)
    plan = data["workPlan"]

    def show(out: Output) -> None:
        for line in plan["lines"]:
            out.line(line)
        out.fields(plan["counts"])
        if not plan["lines"]:
            out.line("nothing would change")

    invocation.emit(data, show)
    if plan["withoutModel"] and not invocation.json:
        invocation.say("planned without a language model: the work itself asks one, and may come to something else")


def _finish(invocation: Invocation, item: dict[str, Any], wait: bool) -> None:
    """Wait for a piece of work, which goes on when the waiting is interrupted, and show what it came to."""
    try:
        while wait and item["state"] in _UNFINISHED and not _put_off(item):
            time.sleep(POLL_SECONDS)
            item = invocation.run("work", id=item["id"])["work"]
    except KeyboardInterrupt:
        invocation.say(f"{item['kind']} goes on in the background: `helix work` shows it")
        raise
    if item["state"] == "FAILED":
        raise error_from(HelixError.code, f"{item['kind']} failed: {item['error']}")

    def show(out: Output) -> None:
        out.line(_named(item), f": {_came_to(item)}")

    invocation.emit({"work": item}, show)
    if item["state"] == "DONE" and item["changed"] and not invocation.json:
        invocation.say(f"`helix undo {item['id']}` takes it back")


def _put_off(item: Mapping[str, Any]) -> bool:
    return bool(item["error"]) and item["state"] == "QUEUED"


def _named(item: Mapping[str, Any]) -> str:
    return f"{item['kind'].replace('_', ' ')} {item['state'].lower()}"


def _came_to(item: Mapping[str, Any]) -> str:
    if item["error"]:
        return str(item["error"])
    counts = [f"{count:,} {name}" for name, count in item["result"].items() if isinstance(count, int) and count]
    return ", ".join(counts) or ("nothing to change" if item["state"] == "DONE" else "-")
