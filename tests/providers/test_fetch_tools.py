"""Fetching with whatever installer there is, in environments that really lack the others."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helix.providers.install import FileState, states
from helix.providers.model_catalogue import Model

CHECKOUT = Path(__file__).resolve().parents[2]

INSTALL = """
import pickle, sys
from pathlib import Path
from helix.providers.install import install_all
install_all(pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2]))
"""


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """The interpreter of an environment without pip, as uv makes them."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    return tmp_path / "bare" / "bin" / "python"


def only(tmp_path: Path, *programs: str) -> Path:
    """Return a folder to be the whole PATH: env(1) and the given programs."""
    folder = tmp_path / "path"
    folder.mkdir()
    for program in ("env", *programs):
        beside = Path(sys.executable).with_name(program)
        found = str(beside) if beside.is_file() else shutil.which(program)
        if found is None:
            pytest.skip(f"{program} is not on this machine")
        (folder / program).symlink_to(found)
    return folder


def installs(python: Path, path: Path, models: tuple[Model, ...], tmp_path: Path) -> bool:
    pickled = tmp_path / "models.pickle"
    pickled.write_bytes(pickle.dumps(models))
    environment = {**os.environ, "PATH": str(path), "PYTHONPATH": str(CHECKOUT), "VIRTUAL_ENV": ""}
    command = [str(python), "-c", INSTALL, str(pickled), str(tmp_path / "models")]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    found = [states(tmp_path / "models" / model.name, model.hashes) for model in models]
    return all(set(state.values()) == {FileState.RIGHT} for state in found)


def test_uv_fetches_where_there_is_no_pip(bare_python: Path, tiny_models: tuple[Model, ...], tmp_path: Path) -> None:
    assert installs(bare_python, only(tmp_path, "uv"), tiny_models, tmp_path)


@pytest.mark.soak
def test_pip_of_another_python_fetches(bare_python: Path, tiny_models: tuple[Model, ...], tmp_path: Path) -> None:
    path = only(tmp_path)
    # A launcher as systems install it, bound to a Python that has pip.
    launcher = path / "pip3"
    launcher.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip "$@"\n')
    launcher.chmod(0o755)
    if subprocess.run([launcher, "--version"], check=False, capture_output=True).returncode != 0:
        pytest.skip("the Python of the tests has no pip")
    assert installs(bare_python, path, tiny_models, tmp_path)


@pytest.mark.soak
def test_throw_away_environment_fetches_where_there_is_no_installer(
    bare_python: Path, tiny_models: tuple[Model, ...], tmp_path: Path
) -> None:
    if subprocess.run([bare_python, "-c", "import ensurepip"], check=False, capture_output=True).returncode != 0:
        pytest.skip("this Python comes without ensurepip")
    assert installs(bare_python, only(tmp_path), tiny_models, tmp_path)
    assert not list((tmp_path / "models" / ".cache").glob("fetch-*"))
