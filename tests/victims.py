"""Processes that are killed on the way: forks of one process that has imported Helix, as loading it takes longest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType

FORKING = Path(__file__).parent / "crash" / "fork_victims.py"


class Victims:
    """Starts the programs of tests/crash, one at a time. What one has to complain of is in the file `errors` of its
    home, and what it prints goes to the file or pipe `words` there."""

    def __init__(self) -> None:
        self._forking = subprocess.Popen(
            [sys.executable, FORKING],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(FORKING.parents[2])},
        )

    def start(self, program: str, home: Path, *arguments: object) -> int:
        """Start a program in a home; return its process id."""
        assert self._forking.stdin is not None
        self._forking.stdin.write(json.dumps([program, str(home), *arguments]) + "\n")
        self._forking.stdin.flush()
        return self._answer()

    def exit_code(self) -> int:
        """Return the exit code of what was started last once it has ended; that of a killed one is negative."""
        return self._answer()

    def run(self, program: str, home: Path, *arguments: object) -> int:
        """Start a program in a home; return its exit code, and fail with its words where it failed by itself."""
        self.start(program, home, *arguments)
        code = self.exit_code()
        assert code <= 0, (home / "errors").read_text("utf-8")
        return code

    def _answer(self) -> int:
        assert self._forking.stdout is not None
        return int(self._forking.stdout.readline())

    def __enter__(self) -> Victims:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._forking as process:
            assert process.stdin is not None
            process.stdin.close()
