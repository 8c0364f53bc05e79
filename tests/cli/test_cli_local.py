"""Commands that need no daemon: init and models."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Command

from helix.errors import InvalidInputError, ModelError, NotFoundError
from helix.providers.addresses import confirm_address, may_be_asked
from helix.providers.model_catalogue import KNOWN, ModelFile


@pytest.fixture(autouse=True)
def model_is_set(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("HELIX_EMBEDDING_MODEL", "bge-small-en-v1.5-int8")


def test_init_makes_a_private_store_and_installs_nothing_without_consent(
    helix_command: Command, tmp_path: Path
) -> None:
    said = helix_command("--home", str(tmp_path / "home"), "init", "--json")
    assert said.code == 0
    store = Path(said.data["init"]["store"])
    assert store == tmp_path / "home" / "store"
    assert store.stat().st_mode & 0o777 == 0o700
    assert said.data["init"]["model"] == "none: `helix models install` installs it"
    assert not (tmp_path / "home" / "models").exists()
    assert helix_command("--home", str(tmp_path / "home"), "init", "--no-model").code == 0


def test_init_local_makes_a_store_of_the_project_in_the_home(
    helix_command: Command, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "project" / "deep" / "below"
    below.mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    subprocess.run(["git", "init", "--quiet"], check=True)
    store = helix_command("init", "--local", "--no-model", "--json").data["init"]["store"]
    assert Path(store).is_relative_to(home)
    status = subprocess.run(["git", "status", "--porcelain", "--ignored"], capture_output=True, text=True, check=True)
    assert status.stdout == ""

    monkeypatch.chdir(below)
    listed = {entry["name"]: entry for entry in helix_command("config", "--json").data["config"]}
    assert (listed["db_path"]["value"], listed["db_path"]["source"]) == (store, "project")


def test_init_local_takes_no_store_over_that_came_with_the_project(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = tmp_path / "project/.helix/store"
    planted.mkdir(parents=True)
    (planted / "journal.db").write_text("planted", "utf-8")
    monkeypatch.chdir(tmp_path / "project")
    store = Path(helix_command("init", "--local", "--no-model", "--json").data["init"]["store"])
    assert not (store / "journal.db").exists()
    assert (planted / "journal.db").read_text("utf-8") == "planted"


def test_models_are_listed_as_what_they_are(helix_command: Command, tmp_path: Path) -> None:
    said = helix_command("--home", str(tmp_path), "models", "list", "--json")
    entries = {entry["name"]: entry for entry in said.data["models"]}
    assert entries["bge-small-en-v1.5-int8"]["kind"] == "embedding"
    assert not any(entry["installed"] for entry in entries.values())
    shown = helix_command("--home", str(tmp_path), "models", "list").out
    assert shown.startswith("MODEL\tKIND\tSIZE\tINSTALLED\tSET\tFROM\tWHAT IT IS\n")
    assert "\tno\tyes\t" in shown
    assert "\treranker\t34.7 MB\tno\twhere asked for\t" in shown


def test_installing_what_is_there_says_nothing_of_a_new_model(
    helix_command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = b"weights"
    file = ModelFile(member="weights.bin", size=len(words), sha256=hashlib.sha256(words).hexdigest())
    tiny = replace(KNOWN["bge-small-en-v1.5-int8"], name="tiny", files=(file,))
    monkeypatch.setattr("helix.providers.model_catalogue.KNOWN", {"tiny": tiny})
    folder = home / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / file.name).write_bytes(words)
    try:
        assert helix_command("hook", "start", "--json").data["start"] is not None
        said = helix_command("models", "install", "tiny")
        assert (said.code, said.out, said.err) == (0, f"tiny is in {folder}\n", "")
    finally:
        shutil.rmtree(folder.parent)  # other tests of this home look at who may read what is in it


def test_a_missing_or_damaged_model_fails_verification_by_name(helix_command: Command, tmp_path: Path) -> None:
    line = ("--home", str(tmp_path), "models", "verify")
    assert "no model is installed" in helix_command(*line).err
    said = helix_command(*line, "bge-small-en-v1.5-int8", "--json")
    assert said.code == ModelError.exit_code
    assert set(said.data["models"]["bge-small-en-v1.5-int8"].values()) == {"missing"}
    assert said.error["hint"] == "helix models install bge-small-en-v1.5-int8"


@pytest.mark.parametrize("command", ["install", "verify"])
def test_an_unknown_model_is_not_found(helix_command: Command, tmp_path: Path, command: str) -> None:
    said = helix_command("--home", str(tmp_path), "models", command, "no-such-model")
    assert said.code == NotFoundError.exit_code
    assert "no-such-model" in said.err


def test_an_address_is_confirmed_by_a_person_in_a_terminal_alone(
    helix_command: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "http://gpu.example:11434"
    said = helix_command("models", "confirm", place)
    assert (said.code, "by a person alone" in said.err) == (InvalidInputError.exit_code, True)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setenv("CLAUDECODE", "1")
    assert helix_command("models", "confirm", place).code == InvalidInputError.exit_code
    assert not may_be_asked(place, home)
    confirm_address(place, home)
    assert helix_command("models", "confirm", f"{place}/v1", "--json").data["confirmed"] == place
