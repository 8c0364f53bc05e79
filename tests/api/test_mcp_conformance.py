"""Holds the MCP server against the protocol's own judges: two releases of its conformance suite, and the inspector.

What does not pass stands with its reason in tests/api/conformance, and nothing else fails: a scenario that passes must
not stand there.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from helix.service import Helix
from tests.api.api_server import TOKEN, serving

HERE = Path(__file__).parent / "conformance"
INSTALLED = Path(__file__).parents[2] / "build/conformance/node_modules"
SECONDS = 120


@pytest.fixture
def node() -> Path:
    """The Node that the judges need."""
    found = sorted(INSTALLED.glob("node-*/bin/node"))
    if not found:
        pytest.skip("the conformance suite is not installed: `scripts/setup client` does it where npm is")
    return found[0]


@pytest.fixture
def url(helix: Helix) -> Iterator[str]:
    with serving(helix) as served:
        yield f"{served.origin}/mcp"


def judged(node: Path, home: Path, *arguments: str) -> str:
    """Run a judge, hold that it found nothing wrong, and return what it said."""
    run = subprocess.run(
        [str(node), *arguments],
        env={"PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "HELIX_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.parametrize(
    ("package", "baseline", "scenarios"),
    [
        pytest.param(
            *("@modelcontextprotocol/conformance", "released.yml", ("--suite", "active")), marks=pytest.mark.soak
        ),
        ("conformance-next", "newest.yml", ("--requirements", "2026-07-28")),
    ],
    ids=["released", "newest specification"],
)
def test_every_scenario_passes_but_those_listed_with_their_reason(
    node: Path, url: str, tmp_path: Path, package: str, baseline: str, scenarios: tuple[str, str]
) -> None:
    program = INSTALLED / package / "dist/index.js"
    given = ("--expected-failures", str(HERE / baseline), "--output-dir", str(tmp_path))
    signed = ("--import", (HERE / "bearer.mjs").as_uri())
    said = judged(node, tmp_path, *signed, str(program), "server", "--url", url, *given, *scenarios)
    assert "✓ tools-list" in said
    assert "✓ dns-rebinding-protection" in said


@pytest.mark.soak
def test_the_inspector_finds_no_fault_in_the_tools(node: Path, url: str, tmp_path: Path) -> None:
    program = INSTALLED / ".bin/mcp-inspector"
    signed = ("--header", f"Authorization: Bearer {TOKEN}")
    asked = ("--transport", "http", "--method", "tools/list", "--strict")
    assert "memory.search" in judged(node, tmp_path, str(program), "--cli", url, *signed, *asked)
