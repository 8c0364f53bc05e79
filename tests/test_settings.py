"""Settings: what is out of bounds or misspelt is told, with where it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.errors import ConfigError
from helix.settings import described, load, unknown_variables, variable_of


@pytest.mark.parametrize("port", ["99999", "-3", "65536"])
def test_a_port_that_is_none_is_refused_with_its_source(tmp_path: Path, port: str) -> None:
    with pytest.raises(ConfigError, match="'port' from environment must be between 0 and 65535") as refused:
        load({"home": tmp_path}, environ={"HELIX_PORT": port}, cwd=tmp_path)
    assert refused.value.hint == "without it Helix takes 0"
    assert load({"home": tmp_path}, environ={"HELIX_PORT": "65535"}, cwd=tmp_path).port == 65_535


@pytest.mark.parametrize(
    ("name", "value"), [("PORT", "abc"), ("HOLDBACK", "2"), ("HOLDBACK", "nan"), ("RERANK", "maybe"), ("RECIPES", "[")]
)
def test_a_value_that_cannot_be_comes_with_a_hint(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"setting '{name.lower()}' from environment must be ") as refused:
        load({"home": tmp_path}, environ={f"HELIX_{name}": value}, cwd=tmp_path)
    assert refused.value.hint


def test_a_file_that_is_no_toml_comes_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("recipe = mine\n", "utf-8")
    with pytest.raises(ConfigError, match="is not valid TOML") as refused:
        load({"home": tmp_path}, environ={}, cwd=tmp_path)
    assert refused.value.hint


def test_a_misspelt_variable_is_told_with_the_setting_it_is_like(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HELIX_EMBEDING_MODEL=none\n", "utf-8")
    environ = {"HELIX_PROT": "9", "HELIX_HOLDBAK": "0", "HELIX_RUNTIME": "elsewhere", "HELIX_port": "9", "PATH": "x"}
    assert unknown_variables(environ, tmp_path) == {
        "HELIX_EMBEDING_MODEL": "HELIX_EMBEDDING_MODEL",
        "HELIX_HOLDBAK": "HELIX_HOLDBACK",
        "HELIX_PROT": "HELIX_PORT",
        "HELIX_RUNTIME": "",
        "HELIX_port": "HELIX_PORT",
    }


def test_no_setting_is_taken_for_a_misspelling(tmp_path: Path) -> None:
    assert unknown_variables({variable_of(name): "x" for name, _, _ in described()}, tmp_path) == {}
