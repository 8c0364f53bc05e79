"""A person who works with a real client that is connected to a store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coding_client import CodingClient

from helix.identity import identify


@dataclass(frozen=True, kw_only=True)
class Person:
    """A person with a project, a client, and the `helix` command."""

    client: CodingClient
    settings: dict[str, str]

    @property
    def project(self) -> Path:
        """The folder they work in."""
        return self.client.project

    @property
    def scope(self) -> str:
        """What the project is called in the store."""
        found = identify(self.project)
        assert found is not None
        return found.scope

    def helix(self, *arguments: str) -> Any:
        """Run a command line of Helix and return its data."""
        run = subprocess.run(
            [sys.executable, "-m", "helix.cli.main", *arguments, "--json"],
            cwd=self.project,
            env=os.environ | self.settings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    def remember(self, name: str, kind: str, trigger: str, resolution: str) -> str:
        """Store a memory of this project and return its name."""
        given = ("--kind", kind, "--name", name, "--resolution", resolution)
        return str(self.helix("store", trigger, *given)["store"]["name"])

    def memory(self, name: str) -> dict[str, Any]:
        """Return a memory as it is now."""
        found: dict[str, Any] = self.helix("get", name)["get"]
        return found

    def script(self, name: str, text: str) -> None:
        """Put a shell script into the project."""
        (self.project / name).write_text(text, "utf-8")
