"""The commands `connect` and `disconnect`: coding agents' clients are led to the store, and their settings put back."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from helix.cli.invocation import Invocation
from helix.cli.options import ChoiceParam
from helix.cli.output import Output
from helix.cli.privacy import PLACE_HINT, replaceable
from helix.client_settings.connections import (
    AGENTS_MD,
    ConnectionMemos,
    OwnScriptError,
    WantedSettings,
    advice,
    left_behind,
    overview,
    readable,
    unused_copies,
    wanted,
)
from helix.client_settings.connections import connect as lead
from helix.client_settings.descriptions import CLIENTS, PLUGIN_CLIENT, Description, described
from helix.client_settings.plugin_files import remove, render
from helix.client_settings.settings_file import Memo, SettingsChange, parsed, take_back
from helix.errors import ConfigError, InvalidInputError
from helix.files import real_path
from helix.identity import project_root
from helix.settings import Settings

_PROJECT, _USER, _ALL = "project", "user", "all"
_MOST_COMPARED = 10_000
"""Lines of a file that is shown line by line: of a folder's own file of 240,000, difflib took minutes."""


class _Planned(NamedTuple):
    client: str
    change: SettingsChange
    memo: Memo


def _places(command: Any) -> Any:
    words = {_PROJECT: "This project's settings, for this machine alone.", _USER: "Your own settings."}
    for place, meaning in words.items():
        command = click.option(f"--{place}", "place", flag_value=place, help=meaning)(command)
    command = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")(command)
    command = click.option("--agents-md", is_flag=True, help="The block about Helix in this project's AGENTS.md.")(
        command
    )
    return click.argument("clients", nargs=-1, type=ChoiceParam([*CLIENTS, _ALL]))(command)


@click.command()
@_places
@click.pass_obj
def connect(
    invocation: Invocation, /, clients: tuple[str, ...], place: str | None, dry_run: bool, agents_md: bool
) -> None:
    """Have coding agents use this store: by its MCP server, and where a client has hooks, by themselves.

    Without a name it shows which clients are installed and connected; `all` means those that are installed. It adds
    its entries to a client's settings (`--user` unless you say `--project`) and touches nothing else there.

    \b
    helix connect
    helix connect claude-code --project
    helix connect all --dry-run
    """
    if not clients and not agents_md:
        if place or dry_run:
            raise InvalidInputError("no client is named", hint="name one, or say `all`; `helix connect` lists them")
        _table(invocation)
        return
    settings = invocation.settings
    project = _project() if place == _PROJECT else None
    known = ConnectionMemos(settings.home)
    names = _named(clients)
    planned, refused = _plan(known, names, settings, project, patient=_ALL in clients)
    names = [name for name in names if any(one.client == name for one in planned)]
    if agents_md:
        change, memo = lead(known, AGENTS_MD, advice(_project()))
        planned.append(_Planned(AGENTS_MD, change, memo))
    copy = render(settings.home, settings.store_path, hook_ms=settings.hook_ms) if PLUGIN_CLIENT in names else None
    differing = copy.differing() if copy is not None else []
    if trouble := replaceable(settings):
        invocation.say(f"warning: {trouble}, and clients run what lies there")
        invocation.say(f"hint: {PLACE_HINT}")
    if not dry_run:
        # The daemon is started here, so that what keeps it from starting is seen by a person and not by an agent.
        invocation.client()
        _set_aside(invocation, known)
        if copy is not None:
            copy.write()
        for one in planned:
            known.keep(one.memo)
            one.change.write()
    _show(invocation, "connect", planned, differing, dry_run=dry_run)
    if not dry_run and not invocation.json and names:
        _explain(invocation, settings, [described(name) for name in names], place or _USER)
    for error in refused[1:]:
        invocation.say(f"{error}")
    if refused:
        raise refused[0]


@click.command()
@_places
@click.pass_obj
def disconnect(
    invocation: Invocation, /, clients: tuple[str, ...], place: str | None, dry_run: bool, agents_md: bool
) -> None:
    """Take out of clients' settings what `helix connect` put there; nothing that is remembered goes.

    Without a name: all that are connected. Without `--project` or `--user`: wherever it was put.

    \b
    helix disconnect
    helix disconnect codex gemini
    helix disconnect claude-code --project --dry-run
    """
    settings = invocation.settings
    known = ConnectionMemos(settings.home)
    everyone = _ALL in clients or not (clients or agents_md)
    names = {*(CLIENTS if everyone else clients), *([AGENTS_MD] if agents_md or everyone else [])}
    project = _project()
    memos = [memo for memo in known.all() if memo.client in names and _is_at(memo, place, project)]
    memos += _strays(known, names, place, settings, project, strict=not everyone)
    planned, refused = _taken_back(memos, patient=everyone)
    done = [one.memo for one in planned]
    left = [memo for memo in known.all() if memo not in done]
    unused = unused_copies(settings.home, left)
    if not dry_run:
        _set_aside(invocation, known)
        for one in planned:
            one.change.write()
            known.drop(one.memo)
        for folder in unused:
            remove(folder)
    _show(invocation, "disconnect", planned, unused, dry_run=dry_run)
    if refused:
        raise refused[0]


def _project() -> Path:
    """Return the project that a person stands in, resolved: no name below it is to lead through a link."""
    return real_path(project_root(Path.cwd()))


def _set_aside(invocation: Invocation, known: ConnectionMemos) -> None:
    """Keep what clients' files were where the record of it is broken, and say so: it may hold what a person wants."""
    path = known.set_aside()
    if path is not None:
        invocation.say(f"What was known of clients' files cannot be read, and is kept as {path}.")


def _named(clients: Sequence[str]) -> list[str]:
    """Return the clients that are meant, each once."""
    found = [name for name in CLIENTS if _ALL in clients and described(name).installed()]
    return [name for name in CLIENTS if name in clients or name in found]


def _plan(
    known: ConnectionMemos, names: Sequence[str], settings: Settings, project: Path | None, *, patient: bool
) -> tuple[list[_Planned], list[ConfigError]]:
    """Return what each client's files become, and what was refused where one refusal is to stop no other client."""
    planned: list[_Planned] = []
    refused: list[ConfigError] = []
    for name in names:
        try:
            files = wanted(described(name), settings, project=project)
            if not files and not patient:
                raise ConfigError(f"{described(name).name} has no settings of a project", hint="leave out --project")
            found, own = _led(known, name, files)
            planned += found
            refused += own
        except ConfigError as error:
            if not patient:
                raise
            refused.append(error)
    return planned, refused


def _led(
    known: ConnectionMemos, name: str, files: Sequence[WantedSettings]
) -> tuple[list[_Planned], list[ConfigError]]:
    """Return what a client's files become, and which scripts of the user's own stay in their places."""
    planned: list[_Planned] = []
    own: list[ConfigError] = []
    for file in files:
        try:
            planned.append(_Planned(name, *lead(known, name, file)))
        except OwnScriptError as error:
            own.append(error)
    return planned, own


def _taken_back(memos: Sequence[Memo], *, patient: bool) -> tuple[list[_Planned], list[ConfigError]]:
    """Return what each file becomes without Helix, and what was refused where one refusal is to stop no other file."""
    planned: list[_Planned] = []
    refused: list[ConfigError] = []
    for memo in memos:
        try:
            planned.append(_Planned(memo.client, take_back(memo), memo))
        except ConfigError as error:
            if not patient:
                raise
            refused.append(error)
    return planned, refused


def _is_at(memo: Memo, place: str | None, project: Path) -> bool:
    """Return whether a memo is of the user's own files, or of a file of this project; without a place any is."""
    if place == _PROJECT:
        return bool(memo.real) and project in Path(memo.path).parents
    return place is None or not memo.real


def _strays(
    known: ConnectionMemos, names: set[str], place: str | None, settings: Settings, project: Path, *, strict: bool
) -> list[Memo]:
    """Return how to take out entries of a home that has gone; `strict` tells of a file that cannot be read."""
    found: list[Memo] = []
    tops: list[Path | None] = [None] * (place != _PROJECT) + [project] * (place != _USER)
    for name in CLIENTS:
        for top in tops if name in names else ():
            for file in readable(described(name), settings, project=top):
                try:
                    memo = left_behind(described(name), file) if known.of(file.path) is None else None
                except ConfigError:
                    if strict:
                        raise
                    continue
                found += [memo] if memo is not None else []
    return found


def _table(invocation: Invocation) -> None:
    """Show every client: whether it is installed and connected, and by which file."""
    rows = [
        {name: getattr(one, name) for name in ("client", "installed", "connected", "file", "hooks")}
        for one in overview(invocation.settings, _project())
    ]

    def show(out: Output) -> None:
        said = {True: "yes", False: "-", "": "-"}
        cells = [tuple(said.get(row[name], row[name]) for name in row) for row in rows]
        out.table(("CLIENT", "INSTALLED", "CONNECTED", "FILE", "HOOKS"), cells, text=False)

    invocation.emit({"connect": {"clients": rows}}, show)


def _show(
    invocation: Invocation, name: str, planned: Sequence[_Planned], files: Sequence[Path], *, dry_run: bool
) -> None:
    """Show each change of a settings file as a difference, and which of the plugin's files come or go."""
    changed = [one for one in planned if not one.change.is_none]
    data = {
        name: {
            "dryRun": dry_run,
            "settings": [
                {"client": one.client, "path": str(one.change.path), "difference": _difference(one.change)}
                for one in changed
            ],
            "files": [str(path) for path in files],
        }
    }

    def show(out: Output) -> None:
        would = "would be " if dry_run else ""
        for one in changed:
            out.line(f"{one.change.path} {would}{'written' if one.change.after is not None else 'removed'}:")
            for line in _difference(one.change).splitlines():
                out.line(line, indent=2)
        for path in files:
            out.line(f"{path} {would}{'written' if name == 'connect' else 'removed'}")
        if not changed and not files:
            out.line("nothing to change")

    invocation.emit(data, show)


def _difference(change: SettingsChange) -> str:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    if max(len(before), len(after)) > _MOST_COMPARED:
        pairs = enumerate(zip(before, after, strict=False))
        same = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
        return f"from line {same + 1} on: {len(before)} lines become {len(after)}"
    return "\n".join(list(difflib.unified_diff(before, after, lineterm="", n=2))[2:])


def _explain(invocation: Invocation, settings: Settings, clients: Sequence[Description], place: str) -> None:
    """Tell what a person agrees to by this, and how to end it."""
    share = f"{settings.holdback:.0%} of the tasks get no memories, chosen at random"
    words = ["", *(f"{client.name} uses it {client.restart}." for client in clients)]
    if any(client.has_hooks for client in clients):
        words += [
            f"Those with hooks ({', '.join(client.name for client in clients if client.has_hooks)}) hand"
            f" {settings.store_path}, on this machine:",
            "  the commands they run and what they print, the names of files they edit, their tasks, what sub-agents",
            "  are asked and answer. Secrets are taken out before anything is kept; `helix pause` stops it for now.",
            "They are shown memories at the start of a session, in sub-agents' prompts, and at a command, error or",
            "  file that a memory is about; NO_INJECT in a prompt leaves them out.",
            f"To tell whether that helps, {share if settings.holdback else 'no task is held back'}:",
            "  `helix report` compares. HELIX_HOLDBACK, or `holdback` in config.toml, sets the share; 0 ends it.",
        ]
    words.append(f"Undo: helix disconnect {' '.join(client.client for client in clients)} --{place}")
    if place == _PROJECT:
        words.append(
            "A client loads them once you have trusted this project there; keep these settings files out of git."
        )
    for client in clients:
        for file in wanted(client, settings, project=_project() if place == _PROJECT else None):
            if client.client == PLUGIN_CLIENT and parsed(file.path, file.format, links=not file.project).get(
                "disableAllHooks"
            ):
                words.append(f"Nothing of this happens while `disableAllHooks` is set in {file.path}.")
    for line in words:
        invocation.say(line)
