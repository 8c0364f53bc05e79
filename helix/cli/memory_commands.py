"""Memory commands: store, edit, confirm, feedback, forget, restore."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from helix import daemon
from helix.cli import given
from helix.cli.completion import MEMORIES
from helix.cli.invocation import Invocation
from helix.cli.options import (
    Choice,
    Moment,
    Word,
    dry_run_option,
    idempotency_option,
    kind_type,
    new_scope_option,
    project_scope_option,
)
from helix.cli.output import Output, named, shorten
from helix.cli.oversight import erased
from helix.cli.progress import follow
from helix.cli.render import memory_line
from helix.errors import InvalidInputError, PersonNeededError
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.provenance import Trust
from helix.model.speaker import agent_of

_SENTENCE_END = re.compile("(?<=[.!?])\\s|(?<=[\u3002\uff01\uff1f])|\n")
_TRIGGER_LENGTH = 200


@click.command()
@click.argument("text", required=False)
@click.option("--kind", "-k", type=kind_type, default="fact", show_default=True, help="What kind of thing it is.")
@click.option("--trigger", help="When it matters; by default the first sentence of TEXT.")
@click.option("--resolution", help="What to know or do then; by default the rest of TEXT.")
@click.option("--name", help="A readable name; by default one is made.")
@project_scope_option
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, 0 to 1.")
@click.option("--importance", type=click.FloatRange(1, 10), help="How much it matters, 1 to 10.")
@click.option("--file", "files", multiple=True, help="A file or glob it is about, from the project's root. Repeatable.")
@click.option(
    "--trust",
    type=Word(Trust),
    help="How far its source is to be trusted; by default user_asserted, agent_inferred where --agent names one "
    "or an agent runs this, which may not say more than that.",
)
@click.option("--source", help="Where it comes from, in your own words.")
@click.option("--agent", help="Which agent says so.")
@click.option("--valid-from", type=Moment(), help="Since when it holds.")
@click.option("--valid-to", type=Moment(), help="Until when it held.")
@click.option("--attribute", "attributes", multiple=True, metavar="NAME=VALUE", help="Anything else. Repeatable.")
@idempotency_option
@click.pass_obj
def store(
    invocation: Invocation,
    /,
    text: str | None,
    trigger: str | None,
    resolution: str | None,
    attributes: tuple[str, ...],
    **rest: Any,
) -> None:
    """Remember something. TEXT - (or no TEXT in a pipe) is read from stdin.

    \b
    helix store "The API needs Node 20. Older versions fail on startup."
    helix store --kind failure --trigger "port 8080 is taken" --resolution "stop the old server"
    git log -1 --format=%B | helix store --kind decision
    """
    if text is None and resolution is None and not sys.stdin.isatty():
        text = given.STDIN
    text = None if text is None else given.text(text)
    if text is None and (resolution is None or trigger is None):
        raise InvalidInputError("there is nothing to remember", hint='helix store "what to remember"')
    if trigger is None and resolution is None:
        trigger, resolution = split_sentence(text or "")
    data = invocation.run(
        "store",
        trigger=text if trigger is None else trigger,
        resolution=text if resolution is None else resolution,
        attributes=_pairs(attributes) or None,
        **rest,
    )
    stored = data["store"]

    def show(out: Output) -> None:
        where = f" in {rest['scope'] or GLOBAL_SCOPE}"
        out.line(f"{stored['status'].lower()} ", (stored["name"], "bold"), where)

    invocation.emit(data, show)
    if (agent := agent_of(os.environ)) and not invocation.json:
        invocation.say(f"it is kept as what an agent says ({agent})")
    if stored["redacted"] and not invocation.json:
        invocation.say(f"taken out first: {', '.join(stored['redacted'])}")
    if stored["suspicious"] and not invocation.json:
        held = stored["status"] == "QUARANTINED"
        words = "kept from recall until `helix review accept` lets it in" if held else "it is served as yours"
        invocation.say(f"it reads like an instruction to an agent ({'; '.join(stored['suspicious'])}): {words}")
    if stored["contradicts"] and not invocation.json:
        invocation.say(f"it contradicts {', '.join(stored['contradicts'])}: `helix contradictions` shows how")


@click.command()
@click.argument("name", shell_complete=MEMORIES)
@click.option("--trigger", help="When it matters.")
@click.option("--resolution", help="What to know or do then.")
@click.option("--kind", "-k", type=kind_type, help="What kind of thing it is.")
@click.option("--rename", "new_name", metavar="NAME", help="Its new name.")
@new_scope_option
@click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, 0 to 1.")
@click.option("--importance", type=click.FloatRange(1, 10), help="How much it matters, 1 to 10.")
@click.option("--valid-from", type=Moment(), help="Since when it holds.")
@click.option("--valid-to", type=Moment(), help="Until when it held.")
@click.pass_obj
def edit(
    invocation: Invocation,
    /,
    name: str,
    new_name: str | None,
    kind: Kind | None,
    valid_from: datetime | None,
    valid_to: datetime | None,
    **changes: Any,
) -> None:
    """Correct a memory. The old version is kept, and superseded by the new one.

    \b
    helix edit api-needs-node-20 --resolution "The API needs Node 22."
    """
    changes = {**changes, "kind": kind, "valid_from": valid_from, "valid_to": valid_to, "name": new_name}
    if all(value is None for value in changes.values()):
        raise InvalidInputError("nothing to change was given", hint="helix edit --help lists what can be")
    _show_one(invocation, "edit", name, **changes)


@click.command()
@click.argument("name", shell_complete=MEMORIES)
@click.pass_obj
def confirm(invocation: Invocation, /, name: str) -> None:
    """Say that a memory holds: that reinforces it.

    \b
    helix confirm api-needs-node-20
    """
    _show_one(invocation, "confirm", name)


@click.command()
@click.argument("name", shell_complete=MEMORIES)
@click.option("--hard", is_flag=True, help="Erase it from every file, for good; asks first.")
@click.option("--yes", metavar="ID", help="Confirm --hard with the id that is shown, instead of being asked.")
@dry_run_option
@click.pass_obj
def forget(invocation: Invocation, /, name: str, hard: bool, yes: str | None, dry_run: bool) -> None:
    """Take a memory out of recall; `helix restore` brings it back. With --hard it is erased, and nothing does.

    \b
    helix forget api-needs-node-20
    helix forget --hard api-needs-node-20 --dry-run
    """
    if not hard:
        if yes or dry_run:
            raise click.UsageError("--yes and --dry-run go with --hard")
        _show_one(invocation, "forget", name)
        return
    data = invocation.run("erase_plan", name_or_id=name)
    plan, root = data["erasePlan"], data["erasePlan"]["root"]["id"]
    if dry_run or not plan["goes"]:
        invocation.emit(data, lambda out: _plan(out, plan))
        return
    if yes is None:
        _plan(Output(sys.stderr), plan)
        yes = root if click.confirm("Erase this for good?", err=True) else ""
        if not yes:
            raise click.Abort
    job = follow(invocation, invocation.run("hard_forget", name_or_id=name, confirm=yes)["hardForget"])
    invocation.emit({"hardForget": job}, lambda out: erased(out, job["result"]))


@click.command()
@click.argument("name", shell_complete=MEMORIES, required=False)
@click.option(
    "--backup",
    "file",
    type=click.Path(path_type=Path),
    help="Put this backup in the place of the store, whether that is served, stopped or damaged; the old one is kept.",
)
@click.pass_obj
def restore(invocation: Invocation, /, name: str | None, file: Path | None) -> None:
    """Bring a forgotten memory back, or the whole store from a backup.

    \b
    helix restore api-needs-node-20
    helix restore --backup ~/helix-monday.backup
    """
    if (name is None) == (file is None):
        raise InvalidInputError("either a memory or a backup is restored", hint="helix restore NAME | --backup FILE")
    if file is None:
        _show_one(invocation, "restore", name)
        return
    job = _restored(invocation, file.absolute())
    kept = job["result"].get("kept")
    words = f"restored from {file}" + (f"; what was there is kept in {kept}" if kept else "")
    invocation.emit({"restoreBackup": job}, lambda out: out.line(words))
    for warning in () if invocation.json else job["result"].get("warnings", ()):
        invocation.say(f"warning: {warning}")


@click.command()
@click.argument("names", shell_complete=MEMORIES, nargs=-1, required=True)
@click.option("--delta", type=float, default=0.0, help="Above 0: it helped, by so much. Below 0: it failed.")
@click.option(
    "--quality",
    type=Choice(["1", "3", "4", "5"]),
    help="A verified use: 5 used and passed, 4 said to be used and passed, 3 passed, 1 used and failed.",
)
@click.option("--task", metavar="ID", help="In place of what this task's outcome gave to them.")
@click.option("--undo", is_flag=True, help="Take back what was said last of each.")
@idempotency_option
@click.pass_obj
def feedback(
    invocation: Invocation,
    /,
    names: tuple[str, ...],
    delta: float,
    quality: str | None,
    undo: bool,
    **rest: str | None,
) -> None:
    """Say that memories helped or failed. Only with a quality is it a verified use, which keeps from fading.

    \b
    helix feedback api-needs-node-20 --delta 0.5 --quality 5
    helix feedback use-port-8080 --delta -0.3
    helix feedback use-port-8080 --undo
    """
    if not undo and (not math.isfinite(delta) or delta == 0):
        raise InvalidInputError(f"--delta must be a number other than 0, not {delta}", hint="0.5 helped, -0.3 failed")
    grade = None if quality is None else int(quality)
    data = invocation.run("feedback", names=names, delta=delta, quality=grade, undo=undo, **rest)

    def show(out: Output) -> None:
        for memory in data["feedback"]:
            memory_line(out, memory)

    invocation.emit(data, show)


def split_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a text and the rest of it, which may be empty.

    A sentence too long for a trigger is cut, and the whole text kept beside it.
    """
    first, *rest = _SENTENCE_END.split(text.strip(), maxsplit=1)
    trigger = shorten(first, _TRIGGER_LENGTH)
    if trigger != first:
        return trigger, text.strip()
    return trigger, rest[0].strip() if rest else ""


def _restored(invocation: Invocation, backup: Path) -> dict[str, Any]:
    """Put a backup in the place of the store and return the job that did it; a store that nobody serves needs none."""
    if agent := agent_of(os.environ):
        hint = "have the user run this in a terminal of their own"
        raise PersonNeededError(f"only a person may put a backup in the place of the store, not {agent}", hint=hint)
    if daemon.find(invocation.settings.store_path) is not None:
        return follow(invocation, invocation.run("restore_backup", path=backup)["restoreBackup"])
    from helix.cli.serve import restore_closed_store  # the service: seconds to load, and only for this

    return {"state": "DONE", "result": restore_closed_store(invocation.settings, backup)}


def _show_one(invocation: Invocation, operation: str, name_or_id: str | None, **arguments: Any) -> None:
    data = invocation.run(operation, name_or_id=name_or_id, **arguments)
    invocation.emit(data, lambda out: memory_line(out, data[operation]))


def _pairs(attributes: tuple[str, ...]) -> dict[str, Any]:
    pairs = {}
    for attribute in attributes:
        name, sign, value = attribute.partition("=")
        if not sign or not name:
            raise InvalidInputError(f"an attribute is written NAME=VALUE, not {attribute!r}")
        try:
            pairs[name] = json.loads(value)
        except ValueError:
            pairs[name] = value
    return pairs


def _plan(out: Output, plan: dict[str, Any]) -> None:
    for word, nodes in (("goes", plan["goes"]), ("stays", plan["stays"])):
        for node in nodes:
            out.line(
                (f"{word}: ", "bold"),
                f"{node['ref']['label'].lower()} {named(node['ref']['label'], node['name'])}",
                (f"  {node['why']}", "dim"),
            )
    for copy in plan["copies"]:
        out.line(("in: ", "bold"), copy)
    if not plan["goes"]:
        out.line("there is nothing left of it to erase")
