"""The section Remember: what goes into memory, is put right there, and taken out again; ingest_commands.py is more."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from helix.cli.declared import ask, asking, check_erased, command, group
from helix.cli.given import STDIN, TEXT, text_of
from helix.cli.invocation import Invocation
from helix.cli.options import DRY_RUN, GIVEN_SCOPE, MEMORIES, SESSIONS, As, ChoiceParam, flag
from helix.cli.output import Output, printed_label, printed_name, shorten
from helix.cli.progress import follow
from helix.cli.render import Columns, edge_words, erased, memory_line, table, vouched_memory
from helix.errors import InvalidInputError, PersonNeededError
from helix.model.memory import GLOBAL_SCOPE
from helix.model.speaker import agent_of

Record = Mapping[str, Any]

_SENTENCE_END = re.compile("(?<=[.!?])\\s|(?<=[\u3002\uff01\uff1f])|\n")
_TRIGGER_LENGTH = 200
_KEYED = As()
_NAMED = As("name", required=False, shell_complete=MEMORIES)


@asking(
    "store",
    "",
    'helix store "The API needs Node 20. Older versions fail on startup."',
    'helix store --kind failure --trigger "port 8080 is taken" --resolution "stop the old server"',
    "git log -1 --format=%B | helix store --kind decision",
    says="Remember something. TEXT - (or no TEXT in a pipe) is read from stdin.",
    text=As("text", required=False, type=TEXT),
    trigger=As("--trigger", required=False, help="When it matters; by default the first sentence of TEXT."),
    resolution=As("--resolution", required=False, help="What to know or do then; by default the rest of TEXT."),
    kind=As(required=False, default="fact", show_default=True),
    files=As(help="A file or glob that it is about, relative to the project's root."),
    trust=As(
        help="How far its source is to be trusted; by default user_asserted, agent_inferred where --agent names one "
        "or an agent runs this, which may not say more than that."
    ),
    attributes=As("--attribute", multiple=True, type=str, metavar="NAME=VALUE"),
    idempotency_key=_KEYED,
)
def _store(invocation: Invocation, text: str | None, attributes: Sequence[str] = (), **asked: Any) -> None:
    if text is None and "resolution" not in asked:
        text = text_of(STDIN) if not sys.stdin.isatty() else None
    if text is None and not {"trigger", "resolution"} <= asked.keys():
        raise InvalidInputError("there is nothing to remember", hint='helix store "what to remember"')
    if not {"trigger", "resolution"} & asked.keys():
        asked["trigger"], asked["resolution"] = split_sentence(text or "")
    asked = {"trigger": text, "resolution": text, "attributes": _pairs(attributes) or None, **asked}

    def show(out: Output, stored: Record) -> None:
        where = f" in {asked.get('scope') or GLOBAL_SCOPE}"
        out.line(f"{stored['status'].lower()} ", (stored["name"], "bold"), where)
        if agent := agent_of(os.environ):
            out.say(f"it is kept as what an agent says ({agent})")
        if stored["redacted"]:
            out.say(f"taken out first: {', '.join(stored['redacted'])}")
        if stored["suspicious"]:
            held = stored["status"] == "QUARANTINED"
            words = "quarantined until `helix review accept` lets it in" if held else "it is served as yours"
            out.say(f"it reads like an instruction to an agent ({'; '.join(stored['suspicious'])}): {words}")
        if stored["contradicts"]:
            out.say(f"it contradicts {', '.join(stored['contradicts'])}: `helix contradictions` shows how")

    ask(invocation, "store", asked, show)


@asking(
    "edit",
    "",
    'helix edit api-needs-node-20 --resolution "The API needs Node 22."',
    name=As("--rename", metavar="NAME"),
    scope=GIVEN_SCOPE,
)
def _edit(invocation: Invocation, **asked: Any) -> None:
    if asked.keys() <= {"name_or_id", "agent"}:
        raise InvalidInputError("nothing to change was given", hint="helix edit --help lists what can be")
    ask(invocation, "edit", asked, memory_line)


command("confirm", "", "helix confirm api-needs-node-20", show=vouched_memory)


@asking(
    "forget",
    "",
    "helix forget api-needs-node-20",
    "helix forget --hard api-needs-node-20 --dry-run",
    says="Take a memory out of recall; `helix restore` brings it back. With --hard it is erased for good.",
    hard=flag("--hard", words="Erase it from every file, for good; asks first."),
    yes=As(metavar="ID", help="Confirm --hard with the id that is shown, instead of being asked."),
    dry_run=DRY_RUN,
)
def _forget(invocation: Invocation, hard: bool, yes: str | None, dry_run: bool, **asked: Any) -> None:
    if not hard:
        if yes or dry_run:
            raise click.UsageError("--yes and --dry-run go with --hard")
        ask(invocation, "forget", asked, memory_line)
        return
    data = invocation.run("erase_plan", **asked)
    plan, root = data["erasePlan"], data["erasePlan"]["root"]["id"]
    if dry_run or not (plan["goes"] or plan["copies"]):
        invocation.emit(data, lambda out: _plan(out, plan))
        return
    if yes is None:
        _plan(Output(sys.stderr), plan)
        words = "Erase this for good?" if plan["goes"] else "Erase it in the copies that still hold it?"
        yes = root if click.confirm(words, err=True) else ""
        if not yes:
            raise click.Abort
    check_erased(invocation, ask(invocation, "hard_forget", {**asked, "confirm": yes}, erased))


def _plan(out: Output, plan: Record) -> None:
    for word, nodes in (("goes", plan["goes"]), ("stays", plan["stays"])):
        for node in nodes:
            called = f"{node['ref']['label'].lower()} {printed_name(node['ref']['label'], node['name'])}"
            out.line((f"{word}: ", "bold"), called, (f"  {node['why']}", "dim"))
    for copy in plan["copies"]:
        out.line(("in: ", "bold"), copy)
    if not plan["goes"]:
        out.line("there is nothing left of it to erase here")


@asking(
    "restore",
    "",
    "helix restore api-needs-node-20",
    "helix restore --backup ~/helix-monday.backup",
    says="Bring a forgotten memory back, or the whole store from a backup.",
    name_or_id=_NAMED,
    backup=As(
        type=click.Path(path_type=Path),
        help="Replace the store by this backup, whether the store is in use, stopped or damaged. The old journal is "
        "kept.",
    ),
)
def _restore(invocation: Invocation, backup: Path | None, **asked: Any) -> None:
    if bool(asked) == (backup is not None):
        raise InvalidInputError("either a memory or a backup is restored", hint="helix restore NAME | --backup FILE")
    if backup is None:
        ask(invocation, "restore", asked, vouched_memory)
        return
    job = _restored(invocation, backup.absolute())

    def show(out: Output) -> None:
        kept = job["result"].get("kept")
        out.line(f"restored from {backup}" + (f"; what was there is kept in {kept}" if kept else ""))
        for warning in job["result"].get("warnings", ()):
            out.say(f"warning: {warning}")

    invocation.emit({"restoreBackup": job}, show)


def _restored(invocation: Invocation, backup: Path) -> dict[str, Any]:
    """Put a backup in the place of the store and return the job that did it; a store that nobody serves needs none."""
    if agent := agent_of(os.environ):
        hint = "have the user run this in a terminal of their own"
        raise PersonNeededError(f"only a person may put a backup in the place of the store, not {agent}", hint=hint)
    from helix import daemon  # HTTP and processes: not for a command's help

    if daemon.find(invocation.settings.store_path) is not None:
        return follow(invocation, invocation.run("restore_backup", path=backup)["restoreBackup"])
    from helix.cli.serve import restore_closed_store  # the service: seconds to load, and only for this

    return {"state": "DONE", "result": restore_closed_store(invocation.settings, backup)}


@command(
    "feedback",
    "",
    "helix feedback api-needs-node-20 --delta 0.5 --quality 5",
    "helix feedback use-port-8080 --delta -0.3",
    "helix feedback use-port-8080 --undo",
    names=As(shell_complete=MEMORIES),
    idempotency_key=_KEYED,
)
def _feedback(out: Output, memories: Sequence[Record]) -> None:
    for memory in memories:
        memory_line(out, memory)


@command(
    "edge",
    "",
    "helix edge retry-with-backoff upload-times-out --relation solves",
    source=As(shell_complete=MEMORIES),
    target=As(shell_complete=MEMORIES),
    relation=As("--relation"),
)
def _edge(out: Output, edge: Record) -> None:
    out.line(edge_words(edge))


@asking(
    "record",
    "record_episode",
    'helix record "The build failed: libfoo was missing" --session monday',
    "make test 2>&1 | tail -20 | helix record --role tool",
    says="Record what happened, word for word, without secrets. CONTENT - (or none in a pipe) is read from stdin.",
    content=As("content", required=False, type=TEXT),
    role=As(type=ChoiceParam(["user", "assistant", "tool", "system"])),
    files=As(help="A file it is about: .helixignore is asked."),
    project=None,
    idempotency_key=_KEYED,
)
def _record(invocation: Invocation, content: str = "", **asked: Any) -> None:
    content = content or ("" if sys.stdin.isatty() else text_of(STDIN))
    if not content:
        raise InvalidInputError("there is nothing to record", hint='helix record "what happened"')
    about = {"project": Path.cwd()} if "files" in asked else {}
    ask(invocation, "record_episode", {"content": content, **about, **asked}, _recorded)


def _recorded(out: Output, recording: Record) -> None:
    episode = recording["episode"]
    out.line(f"recorded {episode['id']}" if episode else f"not recorded: {recording['reason']}")
    if recording["redacted"]:
        out.say(f"taken out first: {', '.join(recording['redacted'])}")
    if recording["suspicious"]:
        out.say(f"it reads like an instruction to an agent: {'; '.join(recording['suspicious'])}")


group(
    "session",
    "Open, close and list sessions: runs of episodes that belong together.",
    "helix session open monday",
    'helix record "Port 8080 is taken by the old server" --session monday',
    "helix session close monday",
)


@command(
    "session open",
    "open_session",
    "helix session open monday",
    "helix session open --private",
    name=As("name", required=False),
)
def _opened(out: Output, session: Record) -> None:
    out.line(session["name"])
    if session["private"]:
        out.say("private: nothing of this session is written down but a salted digest of its name")


command(
    "session close",
    "close_session",
    "helix session close monday",
    name=As(shell_complete=SESSIONS),
    show="closed {name}, {episodes} episodes",
)


@command("session list", "sessions", none="nothing was recorded in a session yet", first=As(default=20))
def _sessions(out: Output, sessions: Sequence[Record]) -> None:
    named: Columns = {"SESSION": lambda one: printed_label(one["name"]), "SCOPE": "scope", "AGENT": "agent"}
    table(out, sessions, {**named, "STARTED": "startedAt", "ENDED": "endedAt", "EPISODES": "episodes"}, text=False)


def split_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a command's text and the rest of it, which may be empty.

    A sentence too long for a trigger is cut, and the whole text kept beside it.
    """
    first, *rest = _SENTENCE_END.split(text.strip(), maxsplit=1)
    trigger = shorten(first, _TRIGGER_LENGTH)
    if trigger != first:
        return trigger, text.strip()
    return trigger, rest[0].strip() if rest else ""


def _pairs(attributes: Sequence[str]) -> dict[str, Any]:
    pairs = {}
    for attribute in attributes:
        name, sign, value = attribute.partition("=")
        if not sign or not name:
            raise InvalidInputError(f"an attribute is written NAME=VALUE, not {attribute!r}")
        try:
            pairs[name] = json.loads(value)
        except ValueError:
            pairs[name] = value
        except RecursionError as error:
            raise InvalidInputError(f"the attribute {name!r} is JSON that is nested too deep to be read") from error
    return pairs
