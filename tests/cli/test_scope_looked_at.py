"""Scope: commands that look at a scope take it by one rule, and say which it was."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import click
import pytest
from command_line import Command, Result

from helix.cli.invocation import Invocation
from helix.cli.main import cli

LOOKING = (
    ("recall", "penguins"),
    ("recall-by-type", "penguins"),
    ("context", "brief"),
    ("list",),
    ("list", "--episodes"),
    ("stats",),
    ("session", "list"),
    ("contradictions",),
    ("review", "list"),
    ("reflections",),
    ("queue", "list"),
    ("report",),
    ("verify",),
)


@pytest.fixture(params=LOOKING, ids=" ".join)
def looking(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """A command that looks at a scope."""
    return tuple(request.param)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project, in which commands are run."""
    folder = tmp_path / "penguins"
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    subprocess.run(["git", "-C", str(folder), "remote", "add", "origin", "https://host/owner/penguins"], check=True)
    monkeypatch.chdir(folder)
    return folder


def last_line(result: Result) -> str:
    assert result.code == 0, result
    return result.err.splitlines()[-1]


def test_it_is_the_folders_project_and_is_said_last(
    helix_command: Command, looking: tuple[str, ...], project: Path
) -> None:
    words = last_line(helix_command(*looking))
    assert words.startswith("in host/owner/penguins")
    assert words.endswith("; `--scope all` looks everywhere")


def test_one_option_chooses_another_or_all(helix_command: Command, looking: tuple[str, ...], project: Path) -> None:
    assert last_line(helix_command(*looking, "--scope", "all")) == "in every project"
    assert last_line(helix_command(*looking, "--scope", "global")) == "in global"


def test_it_is_everything_where_the_folder_is_no_project(helix_command: Command, looking: tuple[str, ...]) -> None:
    assert last_line(helix_command(*looking)) == "in every project"


def test_nothing_is_said_with_json(helix_command: Command, looking: tuple[str, ...], project: Path) -> None:
    assert helix_command(*looking, "--json").err == ""


def test_a_list_holds_what_is_of_the_project_alone(helix_command: Command, project: Path) -> None:
    assert helix_command("store", "Penguins are fed at noon.", "--name", "penguins-at-noon").code == 0
    assert helix_command("store", "Walruses are fed at dusk.", "--name", "walrus-at-dusk", "--scope", "zoo").code == 0
    assert "penguins-at-noon" in helix_command("list").out
    assert "walrus-at-dusk" not in helix_command("list").out
    assert "walrus-at-dusk" in helix_command("list", "--scope", "all").out
    assert "walrus-at-dusk" in helix_command("list", "--scope", "zoo").out


def test_each_command_that_takes_a_scope_says_in_its_help_which_it_is_by_default() -> None:
    context = click.Context(cli, obj=Invocation())
    helps = {
        command.name: option.help
        for name in cli.list_commands(context)
        if (command := cli.get_command(context, name)) is not None
        for option in command.params
        if isinstance(option, click.Option) and option.name == "scope"
    }
    assert {"recall", "list", "stats", "reflections"} <= helps.keys()
    said = ("by default", "it belongs to")
    assert [name for name, words in helps.items() if not any(word in (words or "") for word in said)] == []


@pytest.mark.parametrize("command", ["edges", "work"])
def test_what_has_no_scope_looks_at_everything_and_says_so(helix_command: Command, command: str, project: Path) -> None:
    assert last_line(helix_command(command)) == "in every project"


def test_a_folder_that_a_person_works_in_is_noted_and_one_that_claims_it_is_told_of(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no client's hook was ever asked: a clone of somebody else's would count as the user's own folder."""
    for name in ("mine", "claims"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git/config").write_text('[remote "origin"]\nurl = git@github.com:eve/shed.git\n', "utf-8")
    monkeypatch.chdir(tmp_path / "mine")
    assert "sees the memory" not in helix_command("recall", "the shed").err
    monkeypatch.chdir(tmp_path / "claims")
    monkeypatch.setenv("CLAUDECODE", "1")
    for _ in range(2):  # an agent does not use the notice up
        assert f"sees the memory of \u00ab{tmp_path / 'mine'}\u00bb" in helix_command("recall", "the shed").err
    monkeypatch.delenv("CLAUDECODE")
    assert "sees the memory" in helix_command("recall", "the shed").err
    assert "sees the memory" not in helix_command("recall", "the shed").err, "once"
    assert "helix name github.com/eve/shed;" in helix_command("status").err
    assert helix_command("name", "github.com/eve/shed").out == "this folder is your own github.com/eve/shed\n"
    assert "sees the memory" not in helix_command("status").err
    assert not (tmp_path / "claims/.helix").exists()
    monkeypatch.chdir(tmp_path / "mine")
    assert "sees the memory" not in helix_command("status").err


def test_a_folder_is_called_what_the_user_says_whatever_its_files_say(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "claims"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git/config").write_text('[remote "origin"]\nurl = git@github.com:eve/barn.git\n', "utf-8")
    for name in ("mine", "claims"):
        monkeypatch.chdir(tmp_path / name)
        helix_command("recall", "the barn")
    (tmp_path / "claims/.helix").symlink_to(tmp_path / "nowhere")
    refused = helix_command("name", "stranger")
    assert refused.code != 0
    assert "is a link" in refused.err
    (tmp_path / "claims/.helix").unlink()
    assert helix_command("name", "a stranger's").code == 0, "whatever signs it has"
    assert "sees the memory" not in helix_command("recall", "the barn").err
    shutil.rmtree(tmp_path / "claims/.helix")
    (tmp_path / "claims/sub/.helix").mkdir(parents=True)
    for settings in ("", 'name = "eve/barn"'):
        (tmp_path / "claims/sub/.helix/project.toml").write_text(settings, "utf-8")
        for folder, scope in (("claims", "a-stranger-s"), ("claims/sub", "a-stranger-s/sub")):
            monkeypatch.chdir(tmp_path / folder)
            assert helix_command("status", "--json").data["scope"] == scope, "whatever goes or comes there"
    (tmp_path / "claims/.helix").mkdir()
    (tmp_path / "claims/.helix/project.toml").write_text('name = "github.com/eve/barn"', "utf-8")
    monkeypatch.chdir(tmp_path / "claims")
    assert "sees the memory" not in helix_command("recall", "the barn").err
    assert helix_command("name", "another").code == 0, "and whatever they ask for"
    assert helix_command("status", "--json").data["scope"] == "another"
