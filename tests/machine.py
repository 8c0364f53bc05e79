"""A machine: a home with a daemon of its own, asked by commands in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helix.processes import python_command
from tests.waiting import MOST_SECONDS

SCOPE = "acme/api"


class Machine:
    """A home with a daemon of its own; `settings` are variables that its commands run with."""

    def __init__(self, home: Path, settings: Mapping[str, str] | None = None) -> None:
        self.home = home
        self._settings = settings or {}

    def run(self, *arguments: str, **given: str) -> subprocess.CompletedProcess[str]:
        """Run a command, whatever it comes to."""
        told = {"HELIX_HOME": str(self.home), "HELIX_EMBEDDING_MODEL": "none", "HOME": str(self.home.parent)}
        return subprocess.run(
            python_command("helix.cli.main", *arguments, "--json", program=sys.executable),
            env={"PATH": os.environ["PATH"], **told, **self._settings, **given},
            cwd=self.home.parent,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )

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
