"""Holds what scripts/setup promises when it is repeated, interrupted, run twice at once, or lacks something."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("sh", "cat", "cksum", "tr", "grep", "rm", "mkdir", "dirname", "sleep", "ln")

# An installer that installs nothing: it writes down what it was asked for, and breaks off where a file tells it to.
INSTALLER = """#!/bin/sh
printf '%s %s\\n' "$1" "$2" >>"$ASKED"
case "$1 $2" in
"venv --quiet") sleep 0.3; mkdir -p .venv/bin; ln -s "$INTERPRETER" .venv/bin/python ;;
*) if [ -e "$ASKED.break" ]; then rm "$ASKED.break"; kill -KILL "$PPID"; fi ;;
esac
"""


class Checkout:
    """A copy of what the set-up reads, with an own PATH: an installer that only notes, a Python, and no Node."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a checkout"
        self.asked = folder / "asked"
        tools = folder / "tools"
        for name in ("requirements.lock", "requirements-dev.lock", "pyproject.toml", "scripts/setup"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        for name in ("web/explorer", "web/graphiql", "web/shared", "sdk/typescript/src"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("node_modules"))
        tools.mkdir()
        for tool in TOOLS:
            (tools / tool).symlink_to(str(shutil.which(tool)))
        (tools / "python3").symlink_to(sys.executable)
        (tools / "uv").write_text(INSTALLER, "utf-8")
        (tools / "uv").chmod(0o755)
        self.environment = {"PATH": str(tools), "ASKED": str(self.asked), "INTERPRETER": sys.executable}

    def start(self, *parts: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "scripts/setup", *parts],
            cwd="/",
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def set_up(self, *parts: str, **environment: str) -> tuple[int, str]:
        """Run the set-up and return its exit status and what it said."""
        run = self.start(*parts, **environment)
        out, err = run.communicate(timeout=60)
        assert out == ""
        return run.returncode, err

    def requests(self) -> list[str]:
        """Return what the installer was asked for since the last call."""
        lines = self.asked.read_text("utf-8").splitlines() if self.asked.exists() else []
        self.asked.unlink(missing_ok=True)
        return lines


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


WHOLE = ["venv --quiet", "pip install", "pip install"]


def test_a_second_set_up_does_nothing_and_says_nothing(checkout: Checkout) -> None:
    assert checkout.set_up()[0] == 0
    assert checkout.requests() == WHOLE
    assert checkout.set_up() == (0, "")
    assert checkout.requests() == []


@pytest.mark.soak
def test_what_developers_need_is_installed_for_them_alone_and_once(checkout: Checkout) -> None:
    checkout.set_up()
    assert checkout.requests() == WHOLE
    assert checkout.set_up("dev")[0] == 0
    assert checkout.requests() == ["pip install"]
    assert checkout.set_up("dev") == checkout.set_up() == (0, "")
    assert checkout.requests() == []


def test_an_interrupted_set_up_is_made_good_by_the_next(checkout: Checkout) -> None:
    Path(f"{checkout.asked}.break").touch()
    assert checkout.set_up()[0] != 0
    assert checkout.requests() == WHOLE[:2]
    assert checkout.set_up()[0] == 0
    assert checkout.requests() == WHOLE


def test_two_set_ups_at_once_install_once(checkout: Checkout) -> None:
    runs = [checkout.start(), checkout.start()]
    said = [run.communicate(timeout=60)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0]
    assert checkout.requests() == WHOLE
    assert sum("waiting for another set-up" in text for text in said) == 1


def test_only_what_changed_is_made_again(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.requests()
    for name, asked in (("pyproject.toml", WHOLE[2:]), ("requirements.lock", WHOLE)):
        with (checkout.root / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        assert checkout.set_up()[0] == 0
        assert checkout.requests() == asked


@pytest.mark.soak
def test_an_environment_stays_until_another_interpreter_is_asked_for(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.requests()
    assert checkout.set_up(HELIX_PYTHON=sys.executable)[0] == 0
    assert checkout.requests() == WHOLE
    assert checkout.set_up(HELIX_PYTHON=sys.executable) == (0, "")
    assert checkout.set_up() == (0, "")


@pytest.mark.soak
def test_a_moved_checkout_gets_a_new_environment(checkout: Checkout) -> None:
    checkout.set_up()
    checkout.requests()
    checkout.root = checkout.root.rename(checkout.root.with_name("moved"))
    assert checkout.set_up()[0] == 0
    assert checkout.requests() == WHOLE


def test_without_node_one_sentence_says_so_and_all_else_is_set_up(checkout: Checkout) -> None:
    status, said = checkout.set_up()
    assert status == 0
    assert said.count("Node") == 1
    assert checkout.requests() == WHOLE


def test_an_interpreter_that_will_not_do_is_named(checkout: Checkout) -> None:
    said = "setup: HELIX_PYTHON=no-such-python is not a Python 3.11 to 3.14\n"
    assert checkout.set_up(HELIX_PYTHON="no-such-python") == (1, said)
    assert checkout.requests() == []


def test_no_python_at_all_is_said_plainly(checkout: Checkout) -> None:
    tools = Path(checkout.environment["PATH"])
    for name in ("python3", "uv"):
        (tools / name).unlink()
    status, said = checkout.set_up()
    assert status == 1
    assert "needs Python 3.11" in said
    assert os.linesep not in said.strip()
