"""The commands `connect` and `disconnect`: a coding agent's client is led to the store, and its settings put back."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from helix.cli.client_files import Connections, entries, left_behind, project_settings, unused_copies, user_settings
from helix.cli.client_settings import Change, parsed, put, take_back
from helix.cli.invocation import Invocation
from helix.cli.options import Choice
from helix.cli.output import Output
from helix.cli.plugin_files import remove, render
from helix.settings import Settings

_PROJECT, _USER = "project", "user"


def _places(command: Any) -> Any:
    words = {_PROJECT: "This project's settings, for this machine alone.", _USER: "Your own settings."}
    for place, meaning in words.items():
        command = click.option(f"--{place}", "place", flag_value=place, help=meaning)(command)
    command = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")(command)
    return click.argument("client", type=Choice(["claude-code"]), default="claude-code")(command)


@click.command()
@_places
@click.pass_obj
def connect(invocation: Invocation, /, client: str, place: str | None, dry_run: bool) -> None:
    """Have a coding agent use this store: memories come to it by themselves, and what comes of them comes back.

    It adds a plugin to the client's settings (`--user` unless you say `--project`) and touches nothing else there.

    \b
    helix connect claude-code --dry-run
    helix connect claude-code
    helix connect claude-code --project
    """
    settings = invocation.settings
    path = project_settings(Path.cwd()) if place == _PROJECT else user_settings()
    known = Connections(settings.home)
    change, memo = put(path, entries(settings, project=place == _PROJECT), known.of(path))
    copy = render(settings.home, settings.store_path, hook_ms=settings.hook_ms)
    if dry_run:
        _show(invocation, "connect", [change], copy.differing(), dry_run=True)
        return
    # The daemon is started here, so that what keeps it from starting is seen by a person and not by an agent.
    invocation.client()
    written = copy.write()
    known.keep(memo)
    change.write()
    _show(invocation, "connect", [change], written, dry_run=False)
    if not invocation.json:
        _explain(invocation, settings, path, project=place == _PROJECT)


@click.command()
@_places
@click.pass_obj
def disconnect(invocation: Invocation, /, client: str, place: str | None, dry_run: bool) -> None:
    """Take out of a client's settings what `helix connect` put there; nothing that is remembered goes.

    Without `--project` or `--user`: wherever it was put.

    \b
    helix disconnect
    helix disconnect claude-code --project --dry-run
    """
    settings = invocation.settings
    known = Connections(settings.home)
    here = {_USER: user_settings(), _PROJECT: project_settings(Path.cwd())}
    paths = list(here.values()) if place is None else [here[place]]
    memos = [memo for memo in known.all() if place is None or memo.path == str(here[place])]
    strays = [left_behind(path) for path in paths if known.of(path) is None]
    memos += [memo for memo in strays if memo is not None]
    changes = [take_back(memo) for memo in memos]
    unused = unused_copies(settings.home, [memo for memo in known.all() if memo not in memos])
    if not dry_run:
        for memo, change in zip(memos, changes, strict=True):
            change.write()
            known.drop(memo)
        for folder in unused:
            remove(folder)
    _show(invocation, "disconnect", changes, unused, dry_run=dry_run)


def _show(
    invocation: Invocation, name: str, changes: Sequence[Change], files: Sequence[Path], *, dry_run: bool
) -> None:
    """Show each change of a settings file as a difference, and which of the plugin's files come or go."""
    changed = [change for change in changes if not change.is_none]
    data = {
        name: {
            "dryRun": dry_run,
            "settings": [{"path": str(change.path), "difference": _difference(change)} for change in changed],
            "files": [str(path) for path in files],
        }
    }

    def show(out: Output) -> None:
        would = "would be " if dry_run else ""
        for change in changed:
            out.line(f"{change.path} {would}{'written' if change.after is not None else 'removed'}:")
            for line in _difference(change).splitlines():
                out.line(line, indent=2)
        for path in files:
            out.line(f"{path} {would}{'written' if name == 'connect' else 'removed'}")
        if not changed and not files:
            out.line("nothing to change")

    invocation.emit(data, show)


def _difference(change: Change) -> str:
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    return "\n".join(list(difflib.unified_diff(before, after, lineterm="", n=2))[2:])


def _explain(invocation: Invocation, settings: Settings, path: Path, *, project: bool) -> None:
    """Tell what a person agrees to by this, and how to end it."""
    share = f"{settings.holdback:.0%} of the tasks get no memories, chosen at random"
    words = [
        "",
        f"From its next session on Claude Code hands {settings.store_path}, on this machine:",
        "  the commands it runs and what they print, the names of files it edits, its tasks, what its sub-agents",
        "  are asked and answer. Secrets are taken out before anything is kept; `helix pause` stops it for a while.",
        "It is shown memories at the start of a session, in its sub-agents' prompts, and at a command, error or file",
        "  that a memory is about; NO_INJECT in a prompt leaves them out.",
        f"To tell whether that helps, {share if settings.holdback else 'no task is held back'}:",
        "  `helix report` compares. HELIX_HOLDBACK, or `holdback` in config.toml, sets the share; 0 ends it.",
        f"Undo: helix disconnect claude-code --{_PROJECT if project else _USER}",
    ]
    if project:
        words.append(
            "The client loads it once you have trusted this project there; keep this settings file out of git."
        )
    if parsed(path).get("disableAllHooks"):
        words.append(f"Nothing of this happens while `disableAllHooks` is set in {path}.")
    for line in words:
        invocation.say(line)
