"""The `helix` command: its subcommands, loaded when they are used, and the one place where errors become words."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from helix import __version__, resources
from helix.cli.invocation import Invocation
from helix.cli.output import clean, continued
from helix.errors import HelixError, InvalidInputError, of_the_system

COMPLETION_VARIABLE = "_HELIX_COMPLETE"
_INTERRUPTED = 130
_PIPE_CLOSED = 141

SECTIONS: Mapping[str, Sequence[str]] = {
    "Remember": (
        *("store", "ingest", "import", "edit", "confirm", "feedback", "forget", "restore", "edge", "record"),
        "session",
    ),
    "Recall": ("recall", "recall-by-type", "similar-recent", "last", "why"),
    "Look": ("get", "history", "list", "edges", "suggest-edges", "stats", "health", "graph", "cypher"),
    "Know": (
        *("flush", "consolidate", "reflect", "reflections", "insight", "contradictions", "resolve", "duplicates"),
        *("unmerge", "gap", "review", "work", "undo"),
    ),
    "Learn": ("observe", "queue", "chunk", "report", "effect", "verify", "task", "dag"),
    "Orchestrate": ("context", "exploration", "plan", "workspace"),
    "Maintain": (
        *("merge", "roll-up", "redact", "decay", "decay-edges", "prune", "rebuild", "reembed", "recover", "backup"),
        *("export", "sync", "share", "strand", "keys"),
    ),
    "Service": (
        *("init", "name", "models", "serve", "service", "engine", "tenant", "key", "user", "migrate", "open"),
        *("connect", "disconnect", "mcp", "hook", "status", "doctor", "pause", "stop", "config", "completion"),
    ),
}
"""The commands of each section of `helix --help`; what each does is in queries/commands.json, by scripts/schema."""
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
        says = json.loads(resources.text("queries", "commands.json"))  # the commands themselves take long to import
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(also.get(name, name), says[name]) for name in names])


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
        click.echo(continued(clean(f"error [{error.code}]: {error.message}")), err=True)
        if error.hint:
            click.echo(continued(clean(f"hint: {error.hint}")), err=True)
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
