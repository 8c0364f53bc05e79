"""Descriptions: what is known of each client, read from `clients/*.toml`, and what is written for it on this machine.

A description says how one knows that the client is installed (`programs` on the path, `folders`), and its files. A
`path` is one for every system or one for each, and of several the first that is there counts; `${NAME:-else}` is a
variable, `~` the home folder. A `value` stands at its `key`; an `item` stands in the list of each of `events`, whose
matcher goes where `{matcher}` is. A `script` is a file for each of `events`. What else is in braces is filled in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from helix.client_settings.settings_file import SettingsEntry
from helix.errors import ConfigError

CLIENTS = (
    *("claude-code", "claude-desktop", "codex", "gemini", "opencode", "cursor"),
    *("windsurf", "vscode", "zed", "cline", "goose", "continue"),
)
PLUGIN_CLIENT = "claude-code"

_FOLDER = Path(__file__).resolve().parent / "clients"
_SYSTEM = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
_VARIABLE = re.compile(r"\$\{([A-Z_]+)(?::-([^}]*))?\}")

Values = Mapping[str, Any]
"""What `{command}`, `{args}`, `{argv}`, `{hook}`, `{milliseconds}` and `{seconds}` stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """A file of a client: `of` is "mcp", "hooks" or "plugin"; the rest as the description says it."""

    of: str
    format: str
    told: Mapping[str, Any]

    def path(self, *, project: Path | None) -> Path | None:
        """Return where it lies, in a project or for the user; None where the client has none in projects.

        Raises ConfigError where a link is in a project's place: a project may bring one to any other file.
        """
        told = _of_system(self.told.get("path" if project is None else "project", []))
        places = [one.replace("{event}", self.told.get("event", "")) for one in told]
        if not places:
            return None
        if project is None:
            return _first([Path(_expanded(one)) for one in places])
        return unlinked(project, _first([project / one for one in places]))

    def entries(self, values: Values) -> list[SettingsEntry]:
        """Return what is to stand in it."""
        if "template" in self.told:
            text = (_FOLDER / self.told["template"]).read_text("utf-8")
            return [SettingsEntry(path=("text",), value=_filled_text(text, values))]
        if self.format == "script":
            return [SettingsEntry(path=("text",), value=self.told["text"].replace("{hook}", values["hook"]))]
        needed = [
            SettingsEntry(path=(name,), value=value, kept=True) for name, value in self.told.get("needs", {}).items()
        ]
        key = tuple(self.told.get("key", ()))
        if "value" in self.told:
            return [*needed, SettingsEntry(path=key, value=_filled(self.told["value"], values))]
        items = {
            event: _filled(self.told["item"], {**values, "matcher": matcher})
            for event, matcher in self.told.get("events", {}).items()
        }
        return [*needed, *(SettingsEntry(path=(*key, event), value=item, item=True) for event, item in items.items())]


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A client: `client` is what the command line calls it, `restart` says from when on it uses Helix."""

    client: str
    name: str
    programs: tuple[str, ...]
    folders: tuple[str, ...]
    restart: str
    files: tuple[ClientFile, ...]

    @property
    def has_hooks(self) -> bool:
        """Whether it tells Helix by itself what happens."""
        return any(file.of != "mcp" for file in self.files)

    def installed(self) -> bool:
        """Return whether a client is on this machine, as far as its programs and folders tell."""
        return any(shutil.which(program) for program in self.programs) or any(
            Path(_expanded(folder)).is_dir() for folder in self.folders
        )


@cache
def described(client: str) -> Description:
    """Return the description of a coding client from `clients/*.toml`, for this machine."""
    told = tomllib.loads((_FOLDER / f"{client}.toml").read_text("utf-8"))
    return Description(
        client=client,
        name=told["name"],
        programs=tuple(told.get("programs", ())),
        folders=tuple(_of_system(told["folders"])),
        restart=told["restart"],
        files=tuple(
            ClientFile(of=file["of"], format=file["format"], told=one) for file in told["file"] for one in _each(file)
        ),
    )


def _each(file: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a description of one file for each event that has a script of its own."""
    return [{**file, "event": event} for event in file["events"]] if file["format"] == "script" else [file]


def unlinked(project: Path, path: Path) -> Path:
    """Return a client's settings path below a project. Raises ConfigError for a link in its place or on the way."""
    for place in (*(above for above in path.parents if project in above.parents), path):
        if place.is_symlink():
            raise ConfigError(f"{place} is a link: nothing is written through it", hint="remove it, then try again")
    return path


def _of_system(told: str | list[str] | dict[str, Any]) -> list[str]:
    """Return the paths that are told for this system; none where it has none."""
    told = told.get(_SYSTEM, []) if isinstance(told, dict) else told
    return [told] if isinstance(told, str) else told


def _expanded(path: str) -> str:
    said = _VARIABLE.sub(lambda found: os.environ.get(found[1]) or found[2] or "", path)
    return os.path.expanduser(said)  # noqa: PTH111  (also where what was put in begins with it)


def _first(paths: list[Path]) -> Path:
    return next((path for path in paths if path.exists() or path.is_symlink()), paths[0])


def _filled(told: Any, values: Values) -> Any:
    """Return a value with what is in braces filled in; a name whose value is an empty matcher is left out."""
    if isinstance(told, dict):
        filled = {name: _filled(value, values) for name, value in told.items()}
        return {name: value for name, value in filled.items() if value != ""}
    if isinstance(told, list):
        return [_filled(one, values) for one in told]
    return values[told[1:-1]] if isinstance(told, str) and told.startswith("{") else told


def _filled_text(text: str, values: Values) -> str:
    for name, value in values.items():
        text = text.replace(f'"{{{name}}}"', json.dumps(value))
    return text
