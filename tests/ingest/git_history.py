"""A real git repository that tests grow commit by commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

START = 1_700_000_000


@dataclass
class History:
    """A repository that grows by one commit a minute; nothing of this machine's configuration reaches it."""

    path: Path
    minutes: int = 0

    def git(self, *arguments: str, stdin: bytes = b"", **environment: str) -> str:
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **environment}
        command = [
            "git",
            "-C",
            os.fspath(self.path),
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.org",
            *arguments,
        ]
        run = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True, env={**os.environ, **own})
        return run.stdout.decode("utf-8", "replace").strip()

    def commit(
        self,
        message: str | bytes,
        files: Mapping[str, str | None] | None = None,
        *,
        author: str = "Ada <ada@example.org>",
    ) -> str:
        """Write the files (None removes one), commit, and return the commit's hash."""
        for name, content in (files or {}).items():
            file = self.path / name
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content, "utf-8")
        self.git("add", "--all")
        self.minutes += 1
        when = f"{START + 60 * self.minutes} +0000"
        raw = message if isinstance(message, bytes) else message.encode()
        options = (
            "--allow-empty",
            "--allow-empty-message",
            "--quiet",
            "--cleanup=verbatim",
            f"--author={author}",
            "--file=-",
        )
        self.git("commit", *options, stdin=raw, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
        return self.git("rev-parse", "HEAD")
