"""The plugin's files: what a client that is connected to a store is given, written out for that store.

A copy lies in the home, private. It holds neither a token nor an address: each hook is a process that finds the store's
daemon by the socket in the store and makes sure that it is this user's. A client that asks over HTTP by itself would
tell whoever took the port of a daemon that has gone. A daemon of another version writes the copy anew (`renew`).
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix import files
from helix.processes import PYTHON, python_command, script_command

PLUGIN = "helix"
_MARGIN = 0.05
"""Seconds of a hook's time that its process leaves to the client for starting it."""

_SOURCE = Path(__file__).resolve().parents[1] / "plugin"
_PROCESS = Path(__file__).resolve().parents[1] / "hooks" / "helix_hook.py"
_HOOKS, _MARKETPLACE, _RECORD = "hooks/hooks.json", ".claude-plugin/marketplace.json", "connection.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A copy of the plugin for one store: where it is, and what its files hold."""

    name: str
    folder: Path
    files: Mapping[str, str]

    def differing(self) -> list[Path]:
        """Return the plugin's files that are not on disk as they should be, and those that should not be there."""
        there = {path.relative_to(self.folder).as_posix(): _text(path) for path in _files(self.folder)}
        names = sorted(there.keys() | self.files.keys())
        return [self.folder / name for name in names if there.get(name) != self.files.get(name)]

    def write(self) -> list[Path]:
        """Bring a connected client's copy of the plugin to this state, each file whole or not at all.

        Return what had to change.
        """
        differing = self.differing()
        for path in differing:
            text = self.files.get(path.relative_to(self.folder).as_posix())
            if text is None:
                path.unlink()
            else:
                _write(path, text)
        return differing


def render(home: Path, store: Path, *, hook_ms: int) -> Copy:
    """Return the files of the client's plugin for a store.

    `hook_ms` is the longest that a client waits for a hook, in milliseconds.
    """
    name = copy_name(home, store)
    files = {path.relative_to(_SOURCE).as_posix(): path.read_text("utf-8") for path in _files(_SOURCE)}
    marketplace = json.loads(files[_MARKETPLACE])
    files[_MARKETPLACE] = _dumped({**marketplace, "name": name})
    files[_HOOKS] = _dumped(_hooks(json.loads(files[_HOOKS]), home, store, hook_ms / 1000))
    files["hooks/" + _PROCESS.name] = _PROCESS.read_text("utf-8")
    files["bin/helix"] = _command(home, store)
    files[".mcp.json"] = _dumped(
        {"mcpServers": {PLUGIN: {"command": "${CLAUDE_PLUGIN_ROOT}/bin/helix", "args": ["mcp"]}}}
    )
    files[_RECORD] = _dumped({"store": str(store)})
    return Copy(name=name, folder=folder_of(home, name), files=files)


def renew(home: Path, store: Path, *, hook_ms: int) -> bool:
    """Renew a store's copy of the client's plugin where it is not as it should be; return whether."""
    if not (folder_of(home, copy_name(home, store)) / _RECORD).is_file():
        return False
    return bool(render(home, store, hook_ms=hook_ms).write())


def remove(folder: Path) -> None:
    """Remove a store's copy of the client's plugin."""
    shutil.rmtree(folder, ignore_errors=True)


def copy_name(home: Path, store: Path) -> str:
    """Return the name of a store's plugin copy: clients mix up two folders that go by one name."""
    if store == home / "store":
        return PLUGIN
    return f"{PLUGIN}-{hashlib.sha256(str(store).encode()).hexdigest()[:6]}"


def folder_of(home: Path, name: str) -> Path:
    """Return the folder of the plugin's copy of that name."""
    return home / "clients" / "claude-code" / name


def hook_command(client: str, home: Path, store: Path, seconds: float, script: str = str(_PROCESS)) -> list[str]:
    """Return the command that is a client's hook for a store; `seconds` is how long the client waits for it."""
    return [
        *(*script_command(script), "--client", client, "--home", str(home), "--store", str(store), "--python", PYTHON),
        *("--seconds", f"{max(seconds - _MARGIN, _MARGIN):g}"),
    ]


def _hooks(packaged: Mapping[str, Any], home: Path, store: Path, seconds: float) -> dict[str, Any]:
    """Return the hooks as processes that ask the store's own daemon, and how long the client waits for them."""
    program, *args = hook_command("claude-code", home, store, seconds, f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{_PROCESS.name}")
    process = {"type": "command", "command": program, "args": args, "timeout": seconds}
    return {
        **packaged,
        "hooks": {
            event: [{**entry, "hooks": [process]} for entry in entries] for event, entries in packaged["hooks"].items()
        },
    }


def _command(home: Path, store: Path) -> str:
    """Return the script that is `helix` to the agent: the same store as the hooks have."""
    words = python_command("helix.cli.main", "--home", str(home), "--store", str(store))
    return f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'


def _files(folder: Path) -> Iterator[Path]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return (path for path in found if "__pycache__" not in path.parts and path.suffix != ".new")


def _text(path: Path) -> str | None:
    try:
        return files.read_text(path)
    except (OSError, UnicodeDecodeError):
        return None


def _write(path: Path, text: str) -> None:
    files.private_folder(path.parent)
    files.write_private(path, text, mode=0o700 if path.parent.name == "bin" else 0o600)


def _dumped(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
