"""Background: declares the commands that ask for a piece of background work, waits for it and shows what it came to."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from helix.cli.declared import ask, asking
from helix.cli.invocation import Invocation
from helix.cli.options import DRY_RUN, EVERY, As
from helix.cli.output import Output
from helix.cli.progress import POLL_SECONDS
from helix.cli.render import by_name
from helix.errors import HelixError

_UNFINISHED = ("QUEUED", "RUNNING")


def working(path: str, kind: str, says: str, *examples: str, **ways: As) -> None:
    """Declare the command of a kind of background work, which goes by `--scope` and `ways` and has a dry run."""
    every = {"kind": None, "payload": None, "scope": EVERY, **ways, "dry_run": DRY_RUN}

    @asking(path, "begin_work", *examples, says=says, **every)
    def begin(invocation: Invocation, dry_run: bool, anew: bool = False, **payload: Any) -> None:
        asked = {
            "kind": "rederive" if anew else kind,
            "payload": {name: value for name, value in payload.items() if value is not None},
        }
        if dry_run:
            ask(invocation, "work_plan", asked, _plan)
        else:
            finish(invocation, invocation.run("begin_work", **asked)["beginWork"])


def finish(invocation: Invocation, item: dict[str, Any], *, wait: bool = True) -> None:
    """Wait in the terminal for background work, which goes on when that is interrupted, and show the result."""
    try:
        while wait and item["state"] in _UNFINISHED and not (item["error"] and item["state"] == "QUEUED"):
            time.sleep(POLL_SECONDS)
            item = invocation.run("work", id=item["id"])["work"]
    except KeyboardInterrupt:
        invocation.say(f"{item['kind']} goes on in the background: `helix work` shows it")
        raise
    if item["state"] == "FAILED":
        from helix.client import error_from  # HTTP: loaded by now, and not for a command's help

        raise error_from(HelixError.code, f"{item['kind']} failed: {item['error']}")

    def show(out: Output) -> None:
        out.line(what(item), f": {came_to(item)}")
        if item["state"] == "DONE" and item["changed"]:
            out.say(f"`helix undo {item['id']}` takes it back")

    invocation.emit({"work": item}, show)


def what(item: Mapping[str, Any]) -> str:
    """Return what a command's background work is and where it stands."""
    return f"{item['kind'].replace('_', ' ')} {item['state'].lower()}"


def came_to(item: Mapping[str, Any]) -> str:
    """Return the result of a command's background work, in a line."""
    if item["error"]:
        return str(item["error"])
    counts = [f"{count:,} {name}" for name, count in by_name(item["result"]).items() if count]
    return ", ".join(counts) or ("nothing to change" if item["state"] == "DONE" else "-")


def _plan(out: Output, plan: Mapping[str, Any]) -> None:
    for line in plan["lines"] or ["nothing would change"]:
        out.line(line)
    out.fields(by_name(plan["counts"]))
    if plan["withoutModel"]:
        out.say("planned without a language model: the work itself asks one, and may come to something else")
