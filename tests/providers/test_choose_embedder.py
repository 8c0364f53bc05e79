"""Which embedder a setting gives: exactly the one asked for, or none and the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.errors import ConfigError
from helix.providers.choose import embedder_for
from helix.providers.local_model import installed_model
from helix.settings import Settings

NAME = "bge-small-en-v1.5-int8"


def test_default_setting_gives_the_installed_model(models_path: Path, tmp_path: Path) -> None:
    (tmp_path / "models").symlink_to(models_path)
    choice = embedder_for(Settings(home=tmp_path))
    assert choice.embedder is not None
    assert choice.embedder.space == installed_model(NAME, models_path).space
    assert NAME in choice.reason


def test_folder_gives_the_model_in_it(models_path: Path, tmp_path: Path) -> None:
    choice = embedder_for(Settings(home=tmp_path, embedding_model=str(models_path / NAME)))
    assert choice.embedder is not None
    assert choice.embedder.space.model == NAME


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("none", "`none`"),
        (NAME, f"helix models install {NAME}"),
        ("/no/such/folder", "/no/such/folder"),
        ("./no/such/folder", "no/such/folder"),
        ("BAAI/bge-small-en-v1.5", "model_hub"),
    ],
)
def test_what_is_not_there_gives_none_and_says_so(tmp_path: Path, setting: str, reason: str) -> None:
    choice = embedder_for(Settings(home=tmp_path, embedding_model=setting))
    assert choice.embedder is None
    assert choice.reason.startswith("lexical only: ") and reason in choice.reason


def test_a_name_is_no_folder_of_the_project_somebody_works_in(
    models_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "BAAI").mkdir()
    (tmp_path / "BAAI/bge-small-en-v1.5").symlink_to(models_path / NAME)
    monkeypatch.chdir(tmp_path)
    for name in ("BAAI/bge-small-en-v1.5", "./BAAI/bge-small-en-v1.5"):
        assert embedder_for(Settings(home=tmp_path / "home", embedding_model=name)).embedder is None
    assert embedder_for(Settings(home=tmp_path, embedding_model="./BAAI/bge-small-en-v1.5")).embedder is not None


def test_truncated_model_is_not_chosen(models_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models" / NAME
    folder.mkdir(parents=True)
    for path in (models_path / NAME).iterdir():
        (folder / path.name).write_bytes(path.read_bytes()[:1000])
    assert embedder_for(Settings(home=tmp_path)).embedder is None


@pytest.mark.parametrize("setting", ["ms-marco-MiniLM-L12-int8", "bge-smal", ""])
def test_setting_that_is_no_embedding_model_is_refused(tmp_path: Path, setting: str) -> None:
    with pytest.raises(ConfigError):
        embedder_for(Settings(home=tmp_path, embedding_model=setting))
