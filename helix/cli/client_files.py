"""Client files: which settings files of coding clients lead to this home, and how each is put back as it was."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from helix import files
from helix.cli.client_settings import Entries, Memo, memo_of, parsed
from helix.cli.plugin_files import PLUGIN, copy_name, folder_of
from helix.errors import ConfigError
from helix.identity import identify
from helix.settings import Settings

MARKETPLACES, ENABLED = "extraKnownMarketplaces", "enabledPlugins"

_OURS = re.compile(rf"{PLUGIN}(-[0-9a-f]{{6}})?")


class Connections:
    """The memos of a home's connections, in a file that only its owner may read: settings may hold secrets."""

    def __init__(self, home: Path) -> None:
        self._path = folder_of(home, "connections.json")

    def all(self) -> list[Memo]:
        """Return every memo, oldest first; a file that cannot be read counts as none."""
        try:
            return [Memo.from_json(record) for record in json.loads(files.read_text(self._path))]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []

    def of(self, path: Path) -> Memo | None:
        """Return the memo of a settings file."""
        return next((memo for memo in self.all() if memo.path == str(path)), None)

    def keep(self, memo: Memo) -> None:
        """Keep a memo in place of the one of the same file."""
        self._write([*(other for other in self.all() if other.path != memo.path), memo])

    def drop(self, memo: Memo) -> None:
        """Keep a file's memo no longer."""
        self._write([other for other in self.all() if other.path != memo.path])

    def _write(self, memos: Iterable[Memo]) -> None:
        files.private_folder(self._path.parent)
        files.write_private(self._path, json.dumps([memo.as_json() for memo in memos], indent=2))


def user_settings() -> Path:
    """Return where Claude Code keeps the settings of whoever runs this."""
    given = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(given) if given else Path.home() / ".claude") / "settings.json"


def project_settings(folder: Path) -> Path:
    """Return where Claude Code keeps the settings of a project that are for this machine alone and not committed.

    Raises ConfigError where a link is in its place.
    """
    project = identify(folder)
    path = (folder.absolute() if project is None else project.root) / ".claude" / "settings.local.json"
    for place in (path.parent, path):  # a project may bring a link to the settings of its user, or to any other file
        if place.is_symlink():
            raise ConfigError(f"{place} is a link: nothing is written through it", hint="remove it, then try again")
    return path


def entries(settings: Settings, *, project: bool) -> Entries:
    """Return what a settings file must hold for a client to load this store's plugin, and no other one of ours."""
    name = copy_name(settings.home, settings.store_path)
    source = {"source": "directory", "path": str(folder_of(settings.home, name))}
    wanted: dict[tuple[str, str], Any] = {
        (MARKETPLACES, name): {"source": source},
        (ENABLED, f"{PLUGIN}@{name}"): True,
    }
    if project and name != PLUGIN:
        wanted[ENABLED, f"{PLUGIN}@{PLUGIN}"] = False
    return wanted


def left_behind(path: Path) -> Memo | None:
    """Return how to take out entries that a home left which no longer knows of them; None where there are none."""
    known = parsed(path).get(MARKETPLACES)
    names = [name for name, entry in known.items() if _is_ours(name, entry)] if isinstance(known, dict) else []
    if not names:
        return None
    return memo_of(
        path, {**{(MARKETPLACES, name): None for name in names}, **{(ENABLED, f"{PLUGIN}@{n}"): None for n in names}}
    )


def unused_copies(home: Path, memos: Iterable[Memo]) -> list[Path]:
    """Return the copies of the plugin that none of these connections uses."""
    used = {inner for memo in memos for outer, inner, _ in memo.had if outer == MARKETPLACES}
    folders = folder_of(home, "").glob("*/")
    return sorted(folder for folder in folders if _OURS.fullmatch(folder.name) and folder.name not in used)


def _is_ours(name: str, entry: Any) -> bool:
    source = entry.get("source") if isinstance(entry, dict) else None
    path = source.get("path") if isinstance(source, dict) else None
    return (
        bool(_OURS.fullmatch(name)) and isinstance(path, str) and Path(path).parts[-3:-1] == ("clients", "claude-code")
    )
