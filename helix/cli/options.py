"""Options: the types and options that several commands share, and what a shell completes them with."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from helix.cli.invocation import Invocation, Looked
from helix.errors import HelixError, did_you_mean
from helix.folders import note_folder
from helix.identity import NO_PROJECT, Identity, called, project_at
from helix.model.speaker import agent_of
from helix.scopes import is_everywhere
from helix.settings import DOTENV, Settings, load
from helix.text.inert import inert, quoted

Completer = Callable[[click.Context, click.Parameter, str], list[str]]

_MOST_COMPLETIONS = 50
_DAEMON_SECONDS = 1.0
_SHELL_WORD = re.compile(r"\w[\w.@+/:%=-]*", re.ASCII)
"""Words that mean nothing to a shell: bash puts what is offered into the line as it is, and an import names scopes."""


def completer(of: str) -> Completer:
    """Return what completes words of that kind in a shell. Without a daemon there are none, and nothing is said."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        from helix import daemon  # HTTP and processes: not for a command's help

        flags = ctx.find_root().params
        try:
            settings = load({"db_path": flags.get("store"), "home": flags.get("home")})
            client = daemon.running(settings, timeout=_DAEMON_SECONDS)
            if client is None:
                return []
            with client:
                found: list[str] = client.run("completions", of=of, prefix=incomplete, limit=_MOST_COMPLETIONS)[
                    "completions"
                ]
        except (HelixError, OSError):
            return []  # who presses a key waits for words, not for trouble: the command itself tells of that
        return [word for word in found if _SHELL_WORD.fullmatch(word)]

    return complete


MEMORIES, SCOPES, SESSIONS = completer("NAMES"), completer("SCOPES"), completer("SESSIONS")
RELATIONS, RECIPES = completer("RELATIONS"), completer("RECIPES")

_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


_SCOPE: Mapping[str, Any] = {"metavar": "SCOPE", "shell_complete": SCOPES}
_SEEN = "A project's id (`global` is seen too), or `all`; by default this folder's project, all where it is none."
_LISTED = "A project's id, `global`, or `all`; by default this folder's project, all where it is none."
_PROJECT = "A project's id, or `global`; by default this folder's project."
_IMPORT = "A project's id, or `global`; run by an agent: by default this folder's project."


class ChoiceParam(click.Choice[str]):
    """One of a few words; what is like one of them is asked about."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word, or fail with the list of what is allowed."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = did_you_mean(str(value).lower(), self.choices)
            raise click.BadParameter(f"{error.message} {meant}".rstrip(), ctx, param) from error


class WordParam(ChoiceParam):
    """One of a few words, in either case, each of which stands for something."""

    def __init__(self, words: Mapping[str, Any]) -> None:
        super().__init__(list(words), case_sensitive=False)
        self._words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return what the word stands for, or fail with the list of what is allowed."""
        return self._words[super().convert(str(value), param, ctx)]


class TimeParam(click.ParamType[datetime]):
    """A time: ISO 8601 (UTC where it says no other), or how long ago: 12h, 7d, 2w."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return an aware moment, or fail with what would have been understood."""
        if isinstance(value, datetime):
            return value
        try:
            if (ago := _AGO.fullmatch(value.strip())) is not None:
                return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: float(ago[1])})
            moment = datetime.fromisoformat(value)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r} is not a time; write 2025-01-31, 2025-01-31T09:30 or 7d for seven days ago", param, ctx
            )
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _project_scope(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return value or project_scope(ctx.find_object(Invocation), Path.cwd())


def _import_scope(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return value if value or not agent_of(os.environ) else _project_scope(ctx, param, value)


def _looked_at(ctx: click.Context, param: click.Parameter, value: str | None, *, beside: bool = False) -> str | None:
    """Return the scope that a command looks at, None for all, and have the invocation say it."""
    found = _project_scope(ctx, param, value)
    looked = Looked(scope=None if found and is_everywhere(found) else found, beside=beside, chosen=value is not None)
    if (invocation := ctx.find_object(Invocation)) is not None:
        invocation.looked = looked
    return looked.scope


def is_given(option: str) -> bool:
    """Return whether a person named an option of the command that runs."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def project_scope(invocation: Invocation | None, folder: Path) -> str | None:
    """Return the scope of a command in a folder: the setting `scope`, or the project there; None without one."""
    if invocation is None:
        return None
    project = project_here(invocation.settings, folder)
    if not invocation.said_asked:
        invocation.said_asked = True
        before = () if invocation.settings.server else _note(invocation.settings, project)
        if project.asked and not invocation.json:
            invocation.say(asked_words(project))
        for line in claim_words(project, before) if not invocation.json else ():
            invocation.say(line)
    return None if project.scope == NO_PROJECT and not invocation.settings.scope else project.scope


def _note(settings: Settings, project: Identity) -> Sequence[str]:
    """Note where a person works, as a session's first hook does; return the folders whose memory a new one sees."""
    try:
        return note_folder(settings.home, project, keeps=not agent_of(os.environ))
    except OSError:  # a home that cannot be written is told of by what needs it
        return ()


def claim_words(project: Identity, before: Sequence[str]) -> Iterator[str]:
    """Yield what a command tells of a folder that claims a project which other folders were worked in as."""
    if before:
        folder = quoted(inert(before[0]))  # whoever packed an archive named its folders
        yield f"warning: this folder says that it is {project.scope}, so it sees the memory of {folder}"
        yield f"hint: if it is your own clone: helix name {project.scope}; if not, another name: helix name NAME"


def project_here(settings: Settings, folder: Path) -> Identity:
    """Return the project that commands in a folder work in; a name that its files give counts once it is confirmed."""
    theirs = settings.sources.get("scope") == DOTENV
    chosen = "" if theirs else settings.scope
    found = project_at(folder, worktrees=settings.worktrees, chosen=chosen, names=settings.home)
    return called(found, settings.scope, settings.home) if theirs else found


def asked_words(project: Identity) -> str:
    """Return what a command tells the user of a project's name that is not confirmed."""
    return (
        f"the files of this folder ask for the name {project.asked}, which you have not confirmed; until then it works "
        f"in {project.scope}; if that is right: helix name {project.asked}"
    )


class AbsolutePath(click.Path):
    """A path, as the daemon has to be told it: the daemon does not know the client's folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the whole path as a text."""
        return str(Path(os.fsdecode(super().convert(value, param, ctx))).absolute())


class As:
    """How an argument is given: `As("--all")` names the option, a name without dashes makes it positional.

    The attributes are those of click's options and arguments.
    """

    def __init__(self, *names: str, **attributes: Any) -> None:
        self.names = names
        self.attributes = attributes


def flag(*names: str, words: str) -> As:
    """Return a command's option that is given or not, of which no operation knows."""
    return As(*names, is_flag=True, help=words)


DRY_RUN = flag("--dry-run", words="Show what would change, and change nothing.")
_NUMBER = click.IntRange(min=1)
_ABSOLUTE = AbsolutePath()
SEEN = As(**_SCOPE, callback=partial(_looked_at, beside=True), help=_SEEN)
LISTED = As(**_SCOPE, callback=_looked_at, help=_LISTED)
PROJECT = As(**_SCOPE, callback=_project_scope, help=_PROJECT)
EVERY = As(**_SCOPE, help="A project's id, or `global`; by default every one.")
GIVEN_SCOPE = As(**_SCOPE)
IMPORT = As(**_SCOPE, callback=_import_scope, help=_IMPORT)
OWN_SESSION = As(envvar="CLAUDE_CODE_SESSION_ID", show_envvar=True)
WORDS = As(nargs=-1, callback=lambda ctx, param, words: " ".join(words))

USUAL: Mapping[str, As] = {
    **dict.fromkeys(("limit", "first"), As("--limit", "-n", type=_NUMBER)),
    **dict.fromkeys(("path", "paths", "vectors"), As(type=_ABSOLUTE)),
    **dict.fromkeys(("kind", "kinds"), As("--kind", "-k")),
    "status": As("--status"),
    "after": As(metavar="CURSOR"),
    "any_status": As("--all"),
    "budget_tokens": As("--budget"),
    "idempotency_key": As(metavar="KEY"),
    "name_or_id": As("name", shell_complete=MEMORIES),
    "plan": As("--plan", "--plan-id", "--id", metavar="ID"),
    "relation": As(shell_complete=RELATIONS),
    "recipe": As(shell_complete=RECIPES),
    "session": As(metavar="ID", shell_complete=SESSIONS),
}
"""How an argument of this name is given, unless a command says otherwise."""
