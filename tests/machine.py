"""A machine: a home with a daemon of its own, asked by commands in processes of their own, which are forks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix.processes import python_command
from tests.forks import forks_of
from tests.waiting import MOST_SECONDS

SCOPE = "acme/api"
COMMANDS = (
    "helix.cli.declared",
    "helix.cli.daemon_commands",
    "helix.cli.engine_commands",
    "helix.client",
    "helix.daemon",
)
"""What commands load."""


class Machine:
    """A home with a daemon of its own; `settings` are variables that its commands run with."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._settings = settings or {}

    def run(self, *arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a command, whatever it comes to."""
        told = {"HELIX_HOME": str(self.home), "HELIX_EMBEDDING_MODEL": "none", "HOME": str(self.home.parent)}
        command = python_command("helix.cli.main", *arguments, "--json", program=sys.executable)
        with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
            child = forks_of("helix.cli.main", *COMMANDS)(
                command,
                env={"PATH": os.environ["PATH"], **told, **self._settings, **given},
                cwd=self.home.parent,
                stderr=errors.fileno(),
                text=True,
            )
            with child.stdout:
                said = child.stdout.read()
            code = child.wait(MOST_SECONDS)
            errors.seek(0)
            return subprocess.CompletedProcess(command, code, said, errors.read())

    def __call__(self, *arguments: str, **given: str) -> Any:
        """Return what a command says, in JSON."""
        ended = self.run(*arguments, **given)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    def store(self, words: str) -> None:
        """Remember something in SCOPE."""
        self("store", "--trigger", words, "--resolution", "as it was decided", "--scope", SCOPE)

    def names(self) -> set[str]:
        """Return the names of what is remembered there."""
        return {edge["node"]["name"] for edge in self("list", "--scope", SCOPE)["memories"]["edges"]}
