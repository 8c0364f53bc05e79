"""Runs command lines in the tests' own process, as the installed command would."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from helix.cli.main import run


@dataclass(frozen=True)
class Result:
    """What a command did: its exit code, and what it wrote where."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """The JSON on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def error(self) -> dict[str, Any]:
        """The error on stderr, in JSON."""
        found: dict[str, Any] = json.loads(self.err.splitlines()[-1])["error"]
        return found


class Command(Protocol):
    """Runs one command line."""

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Result: ...


def run_here(*arguments: str, stdin: bytes = b"") -> Result:
    """Run one command line; stdin, stdout and stderr are no terminal."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        code = run(arguments)
    return Result(code, out.getvalue(), err.getvalue())


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


_STYLE = re.compile("\x1b\\[[0-9;]*m")


def run_on_terminal(width: int, *arguments: str) -> Result:
    """Run one command line on a terminal of that width; what it writes comes without colours."""
    out, err = Terminal(), Terminal()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setenv("COLUMNS", str(width))
        patch.setenv("TERM", "xterm")
        code = run(arguments)
    return Result(code, _STYLE.sub("", out.getvalue()), _STYLE.sub("", err.getvalue()))
