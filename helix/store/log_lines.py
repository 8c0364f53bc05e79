"""Log lines: the end of the daemon's log, as it lies under the store."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from helix import files
from helix.model.reports import LogLine
from helix.settings import DAEMON_LOG, LOGS

_READ = 1 << 20
"""Bytes of a log file that are looked at, from its end."""
_OWN = ("at", "level", "logger", "message")


def last_lines(store: Path, count: int) -> list[LogLine]:
    """Return at most `count` of the last lines of a store's log, the oldest of them first; none without a log.

    Where the log has begun a new file just now, the end of the one before it belongs to them.
    """
    found: list[str] = []
    for name in (DAEMON_LOG, f"{DAEMON_LOG}.1"):
        if len(found) < count:
            found = [*_end_of(store / LOGS / name), *found]
    return [_parse_line(line) for line in found[-count:]]


def _end_of(path: Path) -> list[str]:
    try:
        with files.open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _READ))
            lines = file.read(_READ).decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    return lines[1:] if size > _READ else lines


def _parse_line(line: str) -> LogLine:
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        said = json.loads(line)
        more = [f"{name}={value}" for name, value in sorted(said.items()) if name not in _OWN]
        text = " ".join((f"{said['logger']}: {said['message']}", *more))
        return LogLine(at=datetime.fromisoformat(said["at"]), level=str(said["level"]), text=text)
    return LogLine(at=None, level="", text=line)
