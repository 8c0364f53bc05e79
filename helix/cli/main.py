"""The `helix` command: its subcommands, loaded when they are used, and the one place where errors become words."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from helix import __version__
from helix.cli.invocation import Invocation
from helix.cli.output import clean
from helix.errors import HelixError, InvalidInputError, of_the_system

COMPLETION_VARIABLE = "_HELIX_COMPLETE"
_INTERRUPTED = 130
_PIPE_CLOSED = 141

# Each command with its help in a few words: `helix --help` imports none of them.
SECTIONS = {
    "Remember": {
        "store": "Remember something.",
        "ingest": "Ingest git history, Markdown notes, agents' histories or JSON lines.",
        "import": "Import what another memory keeps, or an export of Helix.",
        "edit": "Correct a memory; the old version is kept.",
        "confirm": "Say that a memory is true.",
        "feedback": "Say that memories helped or failed.",
        "forget": "Take a memory out of recall, or erase it for good.",
        "restore": "Bring back a memory, or the store from a backup.",
        "edge": "Draw an edge between two memories.",
        "record": "Record what happened.",
        "session": "Open, close and list sessions.",
    },
    "Recall": {
        "recall": "Find the memories that answer a question.",
        "recall-by-type": "Find the best few memories of each kind.",
        "similar-recent": "Find recent memories that are alike.",
        "last": "Show what was recalled last, and why.",
        "why": "Show why one memory was recalled.",
    },
    "Look": {
        "get": "Show one memory.",
        "history": "Show what became of one memory.",
        "list": "List memories or episodes.",
        "edges": "List edges.",
        "suggest-edges": "Suggest edges for a memory.",
        "stats": "Count what is stored.",
        "health": "Check whether the store works.",
        "graph": "Look at neighbours, paths and communities in the graph.",
        "cypher": "Ask the graph in Cypher.",
    },
    "Know": {
        "flush": "Turn recent episodes into memories now.",
        "consolidate": "Make memories of what happened repeatedly.",
        "reflect": "Look for insights.",
        "reflections": "List insights.",
        "insight": "Show what an insight rests on.",
        "contradictions": "List memories that contradict each other.",
        "resolve": "Say which of two memories is true.",
        "duplicates": "List memories that say nearly the same.",
        "unmerge": "Undo the merging of a memory.",
        "gap": "Keep questions without an answer.",
        "review": "Review what is quarantined.",
        "work": "Show background jobs.",
        "undo": "Undo a background job.",
    },
    "Learn": {
        "observe": "Find what may be learned from agents' work.",
        "queue": "Review what may be learned.",
        "chunk": "Remember how a task was done.",
        "report": "Show what memory was worth.",
        "effect": "Show what one memory was worth.",
        "verify": "Check whether agents' work is learned from.",
        "task": "Say where a task stands.",
        "dag": "Look at the order of tasks.",
    },
    "Orchestrate": {
        "context": "Show what an agent would be told.",
        "exploration": "Keep what explorers found.",
        "plan": "Keep a plan and follow it.",
        "workspace": "Begin and end attempts at tasks.",
    },
    "Maintain": {
        "merge": "Merge memories that say the same.",
        "roll-up": "Summarise faded episodes.",
        "redact": "Look for secrets in what is stored.",
        "decay": "Let old feedback weigh less.",
        "decay-edges": "Let unused edges weigh less.",
        "prune": "Archive what evidence speaks against.",
        "rebuild": "Rebuild the graph from the journal.",
        "reembed": "Embed everything again, after a change of model.",
        "recover": "Recover what the journal lost.",
        "backup": "Back up the running store.",
        "export": "Export everything as notes, JSON lines or a graph.",
        "sync": "Have your machines hold the same.",
        "share": "Share scopes over HTTP with others, each by a token.",
        "strand": "Carry memory to other machines, signed and encrypted.",
        "keys": "Make keys for strands, and say who is believed.",
    },
    "Service": {
        "init": "Make a store and install the embedding model.",
        "name": "Say what this folder's project is called.",
        "models": "Install, list and verify models.",
        "serve": "Run the daemon here.",
        "service": "Have the system run the daemon from login on.",
        "engine": "Prepare, check and serve a server of PostgreSQL.",
        "tenant": "Make, list and suspend the tenants of such a server.",
        "key": "Make and revoke the keys that agents show it.",
        "user": "Let people use its tenants.",
        "migrate": "Carry a store to such a server, or back.",
        "open": "Open the explorer in the browser.",
        "connect": "Have coding agents use this store.",
        "disconnect": "Undo `connect`.",
        "mcp": "Speak MCP on stdin and stdout, for a coding agent.",
        "hook": "Start a daemon for coding agents' hooks, show what they did.",
        "status": "Show the daemon and its store.",
        "doctor": "Check everything, one by one.",
        "pause": "Stop capturing for a while.",
        "stop": "Stop the daemon.",
        "config": "Show each setting and where it came from.",
        "completion": "Print the shell's completion script.",
    },
}
_ELSEWHERE = {
    "ingest": "ingest_commands",
    "import": "ingest_commands",
    "export": "export_commands",
    "strand": "strand_commands",
    "sync": "strand_commands",
    "share": "strand_commands",
    "keys": "strand_commands",
    "cypher": "cypher_command:command",
    "report": "report",
    "init": "init:init",
    "name": "init:name",
    "models": "models_commands:models",
    "serve": "daemon_commands:serve",
    "service": "service_commands:service",
    "engine": "engine_commands:engine",
    "tenant": "tenant_commands:tenant",
    "key": "tenant_commands:key",
    "user": "tenant_commands:user",
    "migrate": "engine_commands:move",
    "open": "daemon_commands:open_",
    "connect": "connect:connect",
    "disconnect": "connect:disconnect",
    "mcp": "mcp_stdio:mcp",
    "hook": "hook:hook",
    "status": "daemon_commands:status",
    "doctor": "daemon_commands:doctor",
    "pause": "daemon_commands",
    "stop": "daemon_commands:stop",
    "config": "config:config",
    "completion": "config:completion",
}
"""The file of a command that is not in the one of its section, and its name there where it is written by hand."""
_HOW_IS_IT = (
    "How is it? `status` shows the daemon and its store, `stats` counts what is stored, `health` says in a word "
    "whether it works, `doctor` checks everything and says what to do, `verify` whether agents' work is learned from."
)
ALIASES = {"add": "store", "search": "recall"}
_PLACES = {
    name: _ELSEWHERE.get(name, f"{section.lower()}_commands") for section, names in SECTIONS.items() for name in names
}


def _set_json(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.find_object(Invocation).json = True  # type: ignore[union-attr]  # run() always gives one


def _json_option() -> click.Option:
    # Eager: an error found in another option is already to be written as JSON.
    words = "Write the answer as JSON."
    return click.Option(["--json"], is_flag=True, is_eager=True, expose_value=False, callback=_set_json, help=words)


def _take_json(command: click.Command) -> None:
    """Give `--json` to a command and all below it, so that it may stand anywhere in the line."""
    command.params.append(_json_option())
    if isinstance(command, click.Group):
        for below in command.commands.values():
            _take_json(below)


class LazyGroup(click.Group):
    """A group whose commands are imported one by one, when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of their sections, aliases left out."""
        return list(_PLACES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None when there is none of that name."""
        name = ALIASES.get(cmd_name, cmd_name)
        if name not in _PLACES:
            return None
        place, _, attribute = _PLACES[name].partition(":")
        module = importlib.import_module(f"helix.cli.{place}")
        if attribute:
            command: click.Command = getattr(module, attribute)
        else:
            from helix.cli.declared import COMMANDS  # there by now, and needless where no command is asked for

            command = COMMANDS[name]
        if not any(param.name == "json" for param in command.params):
            _take_json(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; an unknown one is compared with those that are not imported yet."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(error.command_name, possibilities=[*_PLACES, *ALIASES], ctx=ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands section by section."""
        also = {name: f"{name}, {alias}" for alias, name in ALIASES.items()}
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(also.get(name, name), words) for name, words in commands.items()])


class Folder(click.Path):
    """A folder by its path; an empty one, as of an unset variable, is none and not the folder one stands in."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=_HOW_IS_IT)
@click.option("--store", metavar="FOLDER", type=Folder(path_type=Path), help="The store to use.")
@click.option("--home", metavar="FOLDER", type=Folder(path_type=Path), help="Where Helix lives (~/.helix).")
@click.option("--debug", is_flag=True, help="Show where an unexpected error came from.")
@click.version_option(__version__, prog_name="helix", message="%(prog)s %(version)s")
@click.pass_obj
def cli(invocation: Invocation, /, store: Path | None, home: Path | None, debug: bool) -> None:
    """A memory for coding agents and the people who work with them.

    \b
    helix store "Always run the linter before pushing" --kind convention
    helix ingest git .
    helix recall "what do we do before pushing?"
    """
    invocation.flags = {"db_path": store and store.absolute(), "home": home and home.absolute()}
    invocation.debug = debug


cli.params.append(_json_option())


def main() -> None:
    """Run the `helix` command line of this process and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one `helix` command line and return its exit code; every error becomes words on stderr here."""
    invocation = Invocation()
    invocation.json = "--json" in arguments
    try:
        if COMPLETION_VARIABLE in os.environ:
            return _complete(os.environ[COMPLETION_VARIABLE])
        with cli.make_context("helix", list(arguments), obj=invocation) as context:
            cli.invoke(context)
            invocation.say_where()
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as nothing:
        click.echo(nothing.format_message())
        return 0
    except click.ClickException as error:
        usage = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "helix"
        return _report(InvalidInputError(_redacted(error.format_message()), hint=f"{usage} --help"), invocation)
    except HelixError as error:
        return _report(error, invocation)
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read this has seen enough; the interpreter must not try to write the rest when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except OSError as error:
        return _report(of_the_system(error), invocation, error)
    except Exception as error:  # the outermost boundary of the command line
        return _unexpected(error, invocation)
    finally:
        invocation.close()


def _complete(instruction: str) -> int:
    from click.shell_completion import shell_complete

    return shell_complete(cli, {"obj": Invocation()}, "helix", COMPLETION_VARIABLE, instruction)


def _redacted(usage_error: str) -> str:
    """Return a usage error, which quotes what was typed, without secrets: a key begins with dashes, as options do."""
    from helix.text.secrets.redact import redact  # only here: a line that was understood is nothing to look through

    return redact(usage_error).text


def _report(error: HelixError, invocation: Invocation, cause: Exception | None = None) -> int:
    if invocation.debug and (shown := cause or error.__cause__) is not None:
        _show_trace(shown)
    if invocation.json:
        body = {"code": error.code, "message": error.message, "hint": error.hint}
        click.echo(json.dumps({"error": body}), err=True)
    else:
        click.echo(clean(f"error [{error.code}]: {error.message}"), err=True)
        if error.hint:
            click.echo(clean(f"hint: {error.hint}"), err=True)
    return error.exit_code


def _unexpected(error: Exception, invocation: Invocation) -> int:
    if invocation.debug:
        _show_trace(error)
    from helix.cli.logs import note_crash

    log = note_crash(invocation, error)
    words = f"something unexpected went wrong: {type(error).__name__}"
    return _report(HelixError(words, hint=f"{log} has the place; `helix --debug ...` shows it"), invocation)


def _show_trace(error: BaseException) -> None:
    import traceback

    click.echo(clean("".join(traceback.format_exception(error))), err=True)


if __name__ == "__main__":
    main()
