"""Runs the real coding client, for one prompt and without a network, against a scripted model."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from messages_server import Script, serving

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / "build/claude-code/node_modules/@anthropic-ai"
TOOLS = "Bash Agent TaskCreate TaskUpdate TaskList Edit Write Read"
SECONDS = 60
"""The longest a session may take before its test fails."""


def program() -> Path | None:
    """Return the client that `scripts/setup client` installed; None where it did not."""
    return next((path for path in sorted(INSTALLED.glob("claude-code-*/claude*")) if path.is_file()), None)


@dataclass(frozen=True, kw_only=True)
class CodingClient:
    """A client on its person's machine: whose home it is, and which project they work in."""

    program: Path
    home: Path
    project: Path

    def work(self, script: Script, prompt: str, *arguments: str) -> str:
        """Run one session to its end and return what it wrote; fails when it did not end well or went elsewhere."""
        with serving(script) as url:
            run = subprocess.run(
                [
                    *(str(self.program), "-p", prompt, "--allowedTools", TOOLS),
                    *("--output-format", "stream-json", "--verbose", *arguments),
                ],
                cwd=self.project,
                env=self.environment(url),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
        assert not script.strays
        return run.stdout

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the client for something that asks no model."""
        return subprocess.run(
            [str(self.program), *arguments],
            cwd=self.project,
            env=self.environment("http://127.0.0.1:9"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def environment(self, url: str) -> dict[str, str]:
        """Return an environment that knows nobody but loopback, and of the person's own nothing."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TERM": "dumb",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "HTTP_PROXY": url,
            "HTTPS_PROXY": url,
            "NO_PROXY": "127.0.0.1,localhost",
        }
