"""Logs: structured lines under the store, one JSON object each, which rotate and stay on this machine."""

from __future__ import annotations

import json
import logging
import os
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from helix import files
from helix.cli.invocation import Invocation
from helix.errors import ConfigError, HelixError
from helix.settings import DAEMON_LOG, LOGS

CLIENT_LOG = "client.log"
_BYTES, _KEPT = 5_000_000, 3
_OWN_FIELDS = logging.makeLogRecord({}).__dict__.keys() | {"message", "asctime", "taskName", "color_message"}
_LEVELS = ("debug", "info", "warning", "error")


class JsonLines(logging.Formatter):
    """Formats a record and its extra fields as one line of JSON; every text goes through `redact` first."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        """Return a log's line for `--log-json`, without its line break."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._redact(record.getMessage()),
        }
        for name in record.__dict__.keys() - _OWN_FIELDS:
            value = record.__dict__[name]
            line[name] = value if isinstance(value, int | float) else self._redact(str(value))
        if record.exc_info:
            line["trace"] = self._redact(self.formatException(record.exc_info))
        return json.dumps(line)


def start_daemon_log(store: Path, level: str, redact: Callable[[str], str]) -> None:
    """Log to the store's daemon log from `level` upwards; ConfigError for an unknown level."""
    _check_level(level)
    logging.basicConfig(level=level.upper(), handlers=[_handler(store / LOGS / DAEMON_LOG, redact)], force=True)


def start_server_log(level: str, redact: Callable[[str], str]) -> None:
    """Log to stderr for `helix engine serve` from `level` upwards; ConfigError for an unknown level."""
    _check_level(level)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines(redact))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)


def _check_level(level: str) -> None:
    if level.lower() not in _LEVELS:
        raise ConfigError(f"unknown log level {level!r}", hint=f"one of: {', '.join(_LEVELS)}")


def note_crash(invocation: Invocation, error: Exception) -> str:
    """Write where a command's unexpected error came from to the store's client log; return the log's path.

    Its message is left out: it may quote text that nothing has redacted.
    """
    try:
        path = invocation.settings.store_path / LOGS / CLIENT_LOG
        handler = _handler(path, lambda text: text)
    except (HelixError, OSError):
        return "no log"
    frames = "".join(traceback.format_tb(error.__traceback__))
    words = f"{type(error).__name__}\n{frames}"
    handler.emit(logging.LogRecord("helix.cli", logging.ERROR, __file__, 0, words, None, None))
    handler.close()
    return str(path)


def _handler(path: Path, redact: Callable[[str], str]) -> RotatingFileHandler:
    files.private_folder(path.parent)
    os.close(files.create_private(path, append=True))
    handler = RotatingFileHandler(path, maxBytes=_BYTES, backupCount=_KEPT, encoding="utf-8")
    handler.setFormatter(JsonLines(redact))
    return handler
