"""Commands about coding agents' hooks: start a daemon for them, and show what they did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from helix import daemon, files
from helix.cli.invocation import Invocation
from helix.cli.output import Output
from helix.settings import DAEMON_LOG, LOGS

PROCESS_LOG, LOGGER = "hooks.log", "helix.hooks"
"""The log of the process which runs where a client cannot ask the daemon, and whose lines are shown."""

_LARGEST_LOG = 64 << 20
_WORDS = ("at", "client", "event", "agent", "did", "answered", "late", "ms", "trouble")


@click.group()
def hook() -> None:
    """Start a daemon for coding agents' hooks, and show what they did.

    \b
    helix hook log
    """


@hook.command()
@click.pass_obj
def start(invocation: Invocation, /) -> None:
    """See to it that a daemon runs; hooks do this when a session begins.

    \b
    helix hook start
    """
    daemon.ensure_running(invocation.settings)
    found = daemon.find(invocation.settings.store_path)
    data = {"start": None if found is None else {"pid": found.pid, "url": found.url}}
    invocation.emit(data, lambda out: out.line("a daemon runs" if found is not None else "the daemon has left again"))


@hook.command()
@click.option("--limit", "-n", type=click.IntRange(min=1), default=30, show_default=True, help="The most to return.")
@click.pass_obj
def log(invocation: Invocation, /, limit: int) -> None:
    """Show what the hooks did last, the newest at the end; what an agent said or ran is not in it.

    \b
    helix hook log --limit 100
    """
    folder = invocation.settings.store_path / LOGS
    lines = [*_hook_lines(folder / DAEMON_LOG), *_hook_lines(folder / PROCESS_LOG)]
    shown = sorted(lines, key=lambda line: str(line.get("at", "")))[-limit:]
    invocation.emit({"hooks": shown}, lambda out: _show(out, shown))


def _show(out: Output, lines: list[dict[str, Any]]) -> None:
    if not lines:
        out.line("no hook has done anything yet")
        return
    out.table(_WORDS, [[line.get(word) for word in _WORDS] for line in lines])


def _hook_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a log, and of the one before it, that are about hooks."""
    for file in (path.with_name(path.name + ".1"), path):
        try:
            text = files.read_text(file, _LARGEST_LOG, errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            try:
                told = json.loads(line)
            except ValueError:
                continue
            if isinstance(told, dict) and (path.name == PROCESS_LOG or told.get("logger") == LOGGER):
                yield {word: told[word] for word in _WORDS if word in told}
