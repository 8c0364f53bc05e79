"""Settings: what is out of bounds or misspelt is told, with where it came from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helix.errors import ConfigError, StoreError
from helix.lock import StoreLock
from helix.settings import Settings, described, dump_environment, load, unknown_variables, variable_of


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


@pytest.mark.parametrize("text", ["recipes = " + "[" * 50_000, "a." * 5_000 + "b = 1", "x = " + "{a=" * 20_000])
def test_a_file_nested_deep_is_refused_in_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        load({"home": tmp_path}, environ={}, cwd=tmp_path)


def test_a_variable_nested_deep_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="recipes"):
        load({"home": tmp_path}, environ={"HELIX_RECIPES": "[" * 50_000}, cwd=tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_or_a_folder_in_place_of_the_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        load({"home": tmp_path}, environ={}, cwd=tmp_path)


def test_a_projects_environment_file_says_nothing_of_where_data_goes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    theirs_taken = {"scope", "worktrees"}
    lines = [f"{variable_of(name)}=1" for name, _, _ in described() if name not in theirs_taken]
    (tmp_path / ".env").write_text("\n".join([*lines, "HELIX_SCOPE=shop", "HELIX_WORKTREES=apart"]), "utf-8")
    found = load({"home": home}, environ={}, cwd=tmp_path)
    assert {name for name, source in found.sources.items() if source == ".env"} == theirs_taken
    assert (found.scope, found.worktrees) == ("shop", "apart")
    (words,) = found.warnings
    assert words.startswith(f"{tmp_path}/.env may not set HELIX_ACTION_TOKENS, HELIX_ARCHIVE_DAYS, ")
    assert "HELIX_OLLAMA_URL" in words
    assert "HELIX_SCOPE" not in words


def test_a_clone_in_which_the_daemon_is_started_takes_no_memories_from_other_projects(tmp_path: Path) -> None:
    budgets = ("MONTHLY_TOKEN_BUDGET", "BRIEF_TOKENS", "ACTION_TOKENS", "PROMPT_TOKENS")
    (tmp_path / ".env").write_text("".join(f"HELIX_{name}=0\n" for name in budgets), "utf-8")
    (tmp_path / "config.toml").write_text("monthly_token_budget = 5000\n", "utf-8")
    here = load({"home": tmp_path}, environ={}, cwd=tmp_path)
    assert (here.monthly_token_budget, here.brief_tokens) == (5000, Settings().brief_tokens)
    assert dump_environment(here) == {"HELIX_HOME": str(tmp_path), "HELIX_MONTHLY_TOKEN_BUDGET": "5000"}


def test_a_value_of_a_projects_that_cannot_be_read_is_passed_over_and_told_of(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HELIX_WORKTREES=x\nHELIX_SCOPE=shop\n", "utf-8")
    found = load({"home": tmp_path / "home"}, environ={}, cwd=tmp_path)
    assert (found.worktrees, found.scope) == ("together", "shop")
    (words,) = found.warnings
    assert words.startswith(f"{tmp_path}/.env is passed over: setting 'worktrees'")


def test_a_daemon_takes_no_scope_from_the_folder_it_is_started_in(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HELIX_SCOPE=shop\n", "utf-8")
    here = load({"home": tmp_path}, environ={}, cwd=tmp_path)
    assert here.scope == "shop"
    assert "HELIX_SCOPE" not in dump_environment(here)
    assert load({"home": tmp_path}, environ={}, cwd=tmp_path, for_daemon=True).scope == ""


def test_a_daemon_takes_no_scope_from_the_session_whose_command_starts_it(tmp_path: Path) -> None:
    """The hook pins it there for the session's commands, and the daemon serves every other project too."""
    environ = {"HELIX_SCOPE": "shop"}
    assert load({"home": tmp_path}, environ=environ, cwd=tmp_path).scope == "shop"
    assert load({"home": tmp_path}, environ=environ, cwd=tmp_path, for_daemon=True).scope == ""
    (tmp_path / "config.toml").write_text('scope = "mine"\n', "utf-8")
    assert load({"home": tmp_path}, environ=environ, cwd=tmp_path, for_daemon=True).scope == "mine"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00SECRET=\x80", b"A=" + b"x" * (2 << 20), b"A='" * 10_000])
def test_whatever_a_projects_environment_file_holds_helix_goes_on(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".env").write_bytes(content)
    assert load({"home": tmp_path / "home"}, environ={}, cwd=tmp_path).home == tmp_path / "home"


def test_of_a_projects_environment_file_the_first_lines_are_read(tmp_path: Path) -> None:
    lines = ["PATH=x", "HELIX_SCOPE=mine", *(f"HELIX_{'X' * number}=1" for number in range(1, 60))] * 100
    (tmp_path / ".env").write_text("\n".join(lines), "utf-8")
    assert load({"home": tmp_path}, environ={}, cwd=tmp_path).scope == "mine"
    (tmp_path / ".env").write_text(
        "\n".join(f"HELIX_A{'_' * (at % 50)}{'B' * (at // 50)}=1" for at in range(500)), "utf-8"
    )
    assert len(unknown_variables({}, tmp_path)) == 100


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_root_writes_nothing_in_the_home_or_store_of_another_user(tmp_path: Path) -> None:
    """One command with `sudo -E` left files there that their owner could not read."""
    (home := tmp_path / "home").mkdir()
    (store := tmp_path / "store").mkdir()
    for folder in (home, store):
        os.chown(folder, 65_534, 65_534)
    with pytest.raises(ConfigError, match="who could not read what root writes there") as refused:
        load({"home": home}, environ={}, cwd=tmp_path)
    assert "sudo -H -u NAME" in str(refused.value.hint)
    with pytest.raises(StoreError, match="who could not read what root writes there"):
        StoreLock(store).acquire()
    assert [*home.iterdir(), *store.iterdir()] == []
    (tmp_path / "link").symlink_to(store / "not" / "there")
    for place in (home / "not" / "there", tmp_path / "link"):
        with pytest.raises(ConfigError, match="who could not read what root writes there"):
            load({"home": place}, environ={}, cwd=tmp_path)
        with pytest.raises(StoreError, match="who could not read what root writes there"):
            StoreLock(place).acquire()
        with pytest.raises(ConfigError, match="who could not read what root writes there"):
            load({"home": tmp_path / "own", "db_path": place}, environ={}, cwd=tmp_path)
    assert [*home.iterdir(), *store.iterdir()] == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("own", [True, False])
def test_settings_that_root_left_in_a_home_are_told_to_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "config.toml").write_text("", "utf-8")
    (tmp_path / "home" / "config.toml").chmod(0o600)
    if own:
        os.chown(tmp_path / "home", 65_534, 65_534)
    os.chown(tmp_path, 65_534, 65_534)
    monkeypatch.chdir(tmp_path)  # the folders above are root's alone
    os.seteuid(65_534)
    try:
        with pytest.raises(ConfigError, match="cannot be read") as told:
            load({"home": Path("home")}, environ={}, cwd=Path())
    finally:
        os.seteuid(0)
    assert ("another user made it in your folder" if own else "set HELIX_HOME") in str(told.value.hint)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", [".", "config.toml", "confirmed.json", "keys"])
def test_a_home_that_another_user_has_put_there_is_not_believed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise they would say which addresses are confirmed, and whose strands are the user's own."""
    (tmp_path / name).mkdir(exist_ok=True) if name in (".", "keys") else (tmp_path / name).touch()
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert load({"home": tmp_path}, environ={}, cwd=tmp_path).home == tmp_path  # root is believed
    os.chown(tmp_path / name, 65_534, 65_534)
    with pytest.raises(ConfigError, match="belongs to another user"):
        load({"home": tmp_path}, environ={}, cwd=tmp_path)
