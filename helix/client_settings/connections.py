"""Connections: which files of coding clients lead to this home, and what has to stand in them for it."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from helix import files
from helix.client_settings.descriptions import CLIENTS, PLUGIN_CLIENT, Description, Values, described, unlinked
from helix.client_settings.plugin_files import PLUGIN, copy_name, folder_of, hook_command
from helix.client_settings.settings_file import (
    HOOK,
    Memo,
    SettingsChange,
    SettingsEntry,
    holds,
    is_our_script,
    is_ours,
    memo_of,
    parsed,
    put,
    read,
)
from helix.errors import ConfigError
from helix.model.reports import AgentConnection
from helix.processes import helix_command
from helix.settings import Settings

MARKETPLACES, ENABLED = "extraKnownMarketplaces", "enabledPlugins"
AGENTS_MD = "agents-md"
"""What stands in a memo for a client where a block of AGENTS.md is meant."""

_OURS = re.compile(rf"{PLUGIN}(-[0-9a-f]{{6}})?")
_PROGRAMS, _MODULE = ("helix", "helix.exe"), "helix.cli.main"
_SLASH = re.compile(r"[/\\]")
_ADVICE = """\
## Memory

This project has a memory, Helix. Before you change something you do not know, or after a command fails, ask it:
`memory.search` with what you are about to do, `memory.at_action` with the command, error or file. Note what the next
agent must know (a decision and its reason, a failure and what mended it) with `memory.write`; never a secret."""


class WantedSettings(NamedTuple):
    """A file of a client, and what is to stand in it; the path of a project's is resolved."""

    path: Path
    format: str
    entries: list[SettingsEntry]
    of: tuple[str, ...]
    project: bool = False


class OwnScriptError(ConfigError):
    """A script of the user's stands where one of Helix's would: it is left as it is, and the rest goes on."""


class ConnectionMemos:
    """The memos of a home's connections, in a file that only its owner may read: settings may hold secrets."""

    def __init__(self, home: Path) -> None:
        self._path = home / "clients" / "connections.json"

    def all(self) -> list[Memo]:
        """Return the memo of every client's settings file, oldest first; a file that cannot be read counts as none."""
        return self._read_memos() or []

    def set_aside(self) -> Path | None:
        """Put a file of memos that cannot be read beside its place; return where, None where it can, or there is none.

        Raises OSError where that is not possible.
        """
        if self._read_memos() is not None:
            return None
        taken = (self._path.with_name(f"{self._path.name}.broken-{number}") for number in count(1))
        return self._path.rename(next(path for path in taken if not path.exists()))

    def _read_memos(self) -> list[Memo] | None:
        """Return the memos; None where the file is there and cannot be read."""
        try:
            return [Memo.from_json(record) for record in json.loads(files.read_text(self._path, 1 << 26))]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def of(self, path: Path) -> Memo | None:
        """Return the memo of a client's settings file; None where nothing was connected there."""
        return next((memo for memo in self.all() if memo.path == str(path)), None)

    def keep(self, memo: Memo) -> None:
        """Keep the memo of a client's settings file in place of the one before."""
        self._write([*(other for other in self.all() if other.path != memo.path), memo])

    def drop(self, memo: Memo) -> None:
        """Keep the memo of a client's settings file no longer."""
        self._write([other for other in self.all() if other.path != memo.path])

    def _write(self, memos: Iterable[Memo]) -> None:
        files.private_folder(self._path.parent)
        files.write_private(self._path, json.dumps([memo.as_json() for memo in memos], indent=2))


def wanted(description: Description, settings: Settings, *, project: Path | None) -> list[WantedSettings]:
    """Return each settings file of a client with the entries it is to have, for the user or in a project."""
    values = values_of(description.client, settings)
    found: dict[Path, WantedSettings] = {}
    for file in description.files:
        path = file.path(project=project)
        if path is None or (file.format == "script" and _calls_us(path, description.client)):
            continue
        plugin = file.of == "plugin"
        entries = plugin_entries(settings, project=project is not None) if plugin else file.entries(values)
        before = found.get(path, WantedSettings(path, file.format, [], (), project is not None))
        found[path] = before._replace(entries=[*before.entries, *entries], of=(*before.of, file.of))
    return list(found.values())


def readable(description: Description, settings: Settings, *, project: Path | None) -> list[WantedSettings]:
    """Return a client's settings files as `wanted` does; none where a link is in a project's place."""
    try:
        return wanted(description, settings, project=project)
    except ConfigError:
        return []


def values_of(client: str, settings: Settings) -> Values:
    """Return what is filled into a client's settings: the command of the MCP server, and that of a hook."""
    program, *rest = helix_command()
    usual = settings.home == Path("~/.helix").expanduser() and settings.store_path == settings.home / "store"
    place = [] if usual else ["--home", str(settings.home), "--store", str(settings.store_path)]
    args = [*rest, *place, "mcp"]
    hook = hook_command(client, settings.home, settings.store_path, settings.hook_ms / 1000)
    return {
        "command": program,
        "args": args,
        "argv": [program, *args],
        "hook": shlex.join(hook),
        "hook_argv": hook,
        "milliseconds": max(settings.hook_ms, 1),
        "seconds": max(math.ceil(settings.hook_ms / 1000), 1),  # where a client counts in whole ones
    }


def plugin_entries(settings: Settings, *, project: bool) -> list[SettingsEntry]:
    """Return the entries by which Claude Code's settings load this store's plugin, and no other of ours."""
    name = copy_name(settings.home, settings.store_path)
    source = {"source": "directory", "path": str(folder_of(settings.home, name))}
    entries = [
        SettingsEntry(path=(MARKETPLACES, name), value={"source": source}),
        SettingsEntry(path=(ENABLED, f"{PLUGIN}@{name}"), value=True),
    ]
    if project and name != PLUGIN:
        entries.append(SettingsEntry(path=(ENABLED, f"{PLUGIN}@{PLUGIN}"), value=False))
    return entries


def advice(project: Path) -> WantedSettings:
    """Return the file that tells every agent of a connected project of its memory, and the block in it.

    Raises ConfigError where a link is in its place.
    """
    path = unlinked(project, project / "AGENTS.md")
    return WantedSettings(path, "marked", [SettingsEntry(path=("helix",), value=_ADVICE)], (AGENTS_MD,), project=True)


def connect(known: ConnectionMemos, client: str, file: WantedSettings) -> tuple[SettingsChange, Memo]:
    """Return the change that connects a client's settings file to the store, and how to take it back.

    Raises ConfigError where it cannot be written, OwnScriptError where a script of the user's is there.
    """
    text = read(file.path, file.format, links=not file.project) if file.format == "script" else None
    if text and not is_our_script(text):
        command = str(file.entries[0].value).splitlines()[-1].removeprefix("exec ")
        hint = f"it stays as it is; to have both, let it hand its input to this and print what that prints: {command}"
        raise OwnScriptError(f"{file.path} is a script of your own", hint=hint)
    change, memo = put(client, file.path, file.format, file.entries, known.of(file.path), links=not file.project)
    return change, _placed(memo, file)


def overview(settings: Settings, project: Path | None) -> list[AgentConnection]:
    """Return every client: whether it is installed, and by whose settings it is connected, the user's or a project's.

    Without a project only the user's settings are looked at.
    """
    return [_connection(described(name), settings, project) for name in CLIENTS]


def _connection(description: Description, settings: Settings, project: Path | None) -> AgentConnection:
    places = {"user": None, **({} if project is None else {"project": project})}
    files_of = {place: readable(description, settings, project=top) for place, top in places.items()}
    states = {place: _state(held) for place, held in files_of.items()}
    connected = next((place for place, state in states.items() if state == "yes"), "")
    return AgentConnection(
        client=description.client,
        name=description.name,
        installed=description.installed(),
        connected=connected or ("unreadable" if states["user"] == "unreadable" else ""),
        file=str(files_of["user"][0].path),
        hooks=description.has_hooks,
    )


def _state(held: Sequence[WantedSettings]) -> str:
    try:
        return "yes" if held and all(is_connected(file) for file in held) else ""
    except ConfigError:
        return "unreadable"


def is_connected(file: WantedSettings) -> bool:
    """Return whether a client's settings file has all its entries. Raises ConfigError for an unreadable one."""
    return holds(parsed(file.path, file.format, links=not file.project), file.entries)


def left_behind(description: Description, file: WantedSettings) -> Memo | None:
    """Return how to take out a client's entries that a home left and no longer knows of; None where none are."""
    held = parsed(file.path, file.format, links=not file.project)
    if description.client != PLUGIN_CLIENT:
        there = [entry for entry in file.entries if not entry.kept and _stands(held, entry)]
        return _placed(memo_of(description.client, file.path, file.format, there), file) if there else None
    known = held.get(MARKETPLACES)
    names = [name for name, entry in known.items() if _is_ours(name, entry)] if isinstance(known, dict) else []
    entries = [SettingsEntry(path=(MARKETPLACES, name), value=None) for name in names]
    entries += [SettingsEntry(path=(ENABLED, f"{PLUGIN}@{name}"), value=None) for name in names]
    return _placed(memo_of(description.client, file.path, file.format, entries), file) if names else None


def unused_copies(home: Path, memos: Iterable[Memo]) -> list[Path]:
    """Return the copies of the plugin that no client's connection uses."""
    used = {path[1] for memo in memos for path, _, _ in memo.had if path[0] == MARKETPLACES}
    folders = folder_of(home, "").glob("*/")
    return sorted(folder for folder in folders if _OURS.fullmatch(folder.name) and folder.name not in used)


def _placed(memo: Memo, file: WantedSettings) -> Memo:
    """Return the memo of a settings file with where a project's file lies: it must lie there when it is taken back."""
    return replace(memo, real=str(file.path)) if file.project else memo


def _calls_us(path: Path, client: str) -> bool:
    """Return whether a script of the user's own calls a client's hook of Helix."""
    try:
        text = files.read_text(path)
    except (OSError, UnicodeDecodeError):
        return False
    return HOOK in text and f"--client {client}" in text and not is_our_script(text)


def _stands(held: dict[str, Any], entry: SettingsEntry) -> bool:
    """Return whether an entry of ours stands in a file, whichever store it leads to."""
    there: Any = held
    for name in entry.path:
        there = there.get(name) if isinstance(there, dict) else None
    if entry.item:
        return isinstance(there, list) and any(is_ours(one) for one in there)
    return holds(held, [entry]) or _runs_helix(there) or (isinstance(there, str) and is_our_script(there))


def _runs_helix(entry: Any) -> bool:
    """Return whether an entry runs `helix mcp`, of whichever installation, and not another program of a like name."""
    told = entry if isinstance(entry, dict) else {}
    line = [word for name in ("command", "cmd", "args") for word in _words(told.get(name))]
    return line[-1:] == ["mcp"] and (_SLASH.split(line[0])[-1] in _PROGRAMS or _MODULE in line)


def _words(told: Any) -> list[str]:
    return [one for one in (told if isinstance(told, list) else [told]) if isinstance(one, str)]


def _is_ours(name: str, entry: Any) -> bool:
    source = entry.get("source") if isinstance(entry, dict) else None
    path = source.get("path") if isinstance(source, dict) else None
    return (
        bool(_OURS.fullmatch(name)) and isinstance(path, str) and Path(path).parts[-3:-1] == ("clients", "claude-code")
    )
