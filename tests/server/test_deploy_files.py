"""The files that operators begin with: both are what their tools take, and name what there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner

from helix.cli.engine_commands import engine

DEPLOY = Path(__file__).resolve().parent.parent.parent / "deploy"
KUBERNETES = "1.31"


def _manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8")))


def test_the_compose_file_is_one() -> None:
    words = ["-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(DEPLOY / "compose.yaml")]
    ended = subprocess.run([sys.executable, *words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout


@pytest.mark.parametrize("number", range(len(_manifests())))
def test_each_manifest_is_one(number: int) -> None:
    kubernetes_validate.validate(_manifests()[number], KUBERNETES, strict=True)


def _commands() -> Iterator[list[str]]:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    for service in compose["services"].values():
        if (service.get("command") or [""])[0] == "helix":
            yield service["command"]
    for manifest in _manifests():
        if manifest["kind"] == "StatefulSet":
            yield manifest["spec"]["template"]["spec"]["containers"][0]["command"]


@pytest.mark.parametrize("command", list(_commands()), ids=shlex.join)
def test_each_command_is_one_that_helix_has(command: list[str]) -> None:
    assert command[:2] == ["helix", "engine"]
    ended = CliRunner().invoke(engine, [*command[2:], "--help"])
    assert ended.exit_code == 0, ended.output
    known = set(re.findall(r"--[a-z-]+", ended.output))
    assert {word.partition("=")[0] for word in command if word.startswith("--")} <= known


def test_processes_are_told_apart_from_each_other() -> None:
    internal = [word for command in _commands() for word in command if word.startswith("--internal=")]
    assert len(internal) == len(set(internal)) == 3
