"""Processes: a child of Helix runs nothing of the folder that Helix was started in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helix import processes

HOSTILE = ("click", "json", "helix", "sitecustomize", "usercustomize", "encodings", "numpy", "dotenv")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose modules leave a file behind when any of them is imported."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n", "utf-8")
    return folder


@pytest.mark.parametrize("module", ["helix.cli.main", "venv"])
def test_a_child_imports_nothing_of_its_working_folder(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(hostile))
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    command = processes.python_command(module, "--help")
    done = subprocess.run(command, cwd=hostile, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


def test_models_are_loaded_quietly_whatever_the_environment_says(tmp_path: Path) -> None:
    program = "import helix.providers.local_model, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_an_environment_names_no_other_python_and_reports_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONSTARTUP", "/elsewhere/start.py")
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "/nowhere")
    monkeypatch.setenv("HELIX_PASSPHRASE", "open sesame")
    monkeypatch.setenv("KEPT", "yes")
    found = processes.environment(without={"HOME"}, given={"MORE": "1"})
    assert not [name for name in found if name.startswith("PYTHON")]
    assert (found["ORT_DISABLE_TELEMETRY"], found["KEPT"], found["MORE"]) == ("1", "yes", "1")
    assert (found["HF_XET_TELEMETRY_ENABLED"], found["HF_HUB_DISABLE_XET"]) == ("0", "1")
    assert not {"PROMETHEUS_MULTIPROC_DIR", "HELIX_PASSPHRASE"} & found.keys()
    assert "HOME" not in found
