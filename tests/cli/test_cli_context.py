"""Commands that show what an agent would be told: by its task, at its action, as its session begins."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from command_line import Command, Result

from helix.errors import InvalidInputError
from helix.identity import folder_identity

SCOPE = ("--scope", "contexts")


def ok(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


def stored(helix: Command, trigger: str, resolution: str, kind: str, *more: str) -> str:
    said = ok(helix("store", "--trigger", trigger, "--resolution", resolution, "--kind", kind, *SCOPE, "--json", *more))
    return str(said.data["store"]["name"])


def test_an_action_is_told_what_is_about_it_and_nothing_else(helix_command: Command) -> None:
    failure = stored(helix_command, "`pytest tests/proxy.py` hangs behind the proxy", "set NO_PROXY", "failure")
    touching = stored(helix_command, "the lexer loses the last token", "flush it", "failure", "--file", "src/lex.py")
    command = ("context", "action", *SCOPE)
    told = ok(helix_command(*command, "--command", "python -m pytest tests/proxy.py -q | tail", "--json")).data
    assert [site["memory"]["name"] for site in told["atAction"]["sites"]] == [failure]
    assert "set NO_PROXY" in ok(helix_command(*command, "--command", "pytest tests/proxy.py")).out
    assert "nothing" in ok(helix_command(*command, "--command", "git status")).out
    edited = ok(helix_command(*command, "--file", "src/lex.py", "--json")).data["atAction"]
    assert [site["memory"]["name"] for site in edited["sites"]] == [touching]
    assert helix_command(*command).code != 0


def test_each_agent_is_told_its_own(helix_command: Command) -> None:
    stored(helix_command, "resumable uploads lose the last chunk", "flush before closing", "failure")
    stored(helix_command, "resumable uploads are kept in object storage", "because disks fill up", "decision")
    objective = "make resumable uploads keep the last chunk"
    builder = ok(helix_command("context", "builder", objective, *SCOPE, "--warning", "careful"))
    assert builder.out.startswith("WARNING: careful\nFAILURES_TO_AVOID:\n- [you] ")
    assert ok(helix_command("context", "explorer", objective, *SCOPE)).out.startswith("# MEMORY CONTEXT\n")
    planner = ok(helix_command("context", "planner", "where resumable uploads are kept", *SCOPE, "--json")).data
    assert planner["plannerContext"]["decisions"]
    assert "nothing that is remembered fits" in ok(helix_command("context", "builder", objective, "--no-inject")).out
    assert "DECISIONS:\n- " in ok(helix_command("context", "brief", *SCOPE)).out


def test_a_lineage_is_told_from_a_clients_list(helix_command: Command, tmp_path: Path) -> None:
    tasks = [{"status": "completed", "metadata": {"helix_outcome": "delivered", "seq": "1", "summary": "set it up"}}]
    listed = tmp_path / "tasks.json"
    listed.write_text(json.dumps(tasks), "utf-8")
    expected = [{"seq": "001", "slug": "", "delivered": "set it up", "line": "001 (agent): set it up"}]
    for given in (json.dumps(tasks), f"@{listed}"):
        assert ok(helix_command("context", "lineage", "--tasks", given, "--json")).data["lineage"] == expected
    assert (
        "- 001 (agent): set it up"
        in ok(helix_command("context", "builder", "go on", "--lineage", json.dumps(tasks))).out
    )
    assert "not JSON" in helix_command("context", "lineage", "--tasks", "{").err


def test_a_builder_may_be_told_no_memories_and_is_told_its_warning_all_the_same(helix_command: Command) -> None:
    stored(helix_command, "parsing dates loses the zone", "use aware datetimes", "failure")
    asked = ("context", "builder", "parse dates with their zone", *SCOPE, "--warning", "careful", "--limit")
    assert "aware datetimes" in ok(helix_command(*asked, "3")).out
    assert ok(helix_command(*asked, "0")).out.strip() == "WARNING: careful"


def test_a_file_of_tasks_that_is_not_there_is_named_with_what_should_stand_there(helix_command: Command) -> None:
    refused = helix_command("context", "builder", "x", "--lineage", "@/nonexistent/tasks.json")
    assert refused.code != 0
    assert "/nonexistent/tasks.json cannot be read" in refused.err
    assert "after @ stands a file that holds JSON" in refused.err
    assert "helix config" not in refused.err


def test_a_folder_without_a_repository_is_a_project_for_the_command_line_as_for_hooks(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path / "notes")
    scope = folder_identity(tmp_path / "notes").scope
    kept = ("--trigger", "`make paper` fails", "--resolution", "install the fonts", "--kind", "failure")
    assert f"in {scope}" in ok(helix_command("store", *kept)).out
    asked = ok(helix_command("context", "action", "--command", "make paper"))
    assert "install the fonts" in asked.out and scope in asked.err
    assert scope in ok(helix_command("status")).out
    monkeypatch.chdir(tmp_path)
    assert "install the fonts" not in ok(helix_command("context", "action", "--command", "make paper")).out
    git = ["git", "-C", str(tmp_path / "notes")]
    subprocess.run([*git, "init", "-q"], check=True)
    monkeypatch.chdir(tmp_path / "notes")
    own = ok(helix_command("status", "--json")).data["scope"]
    ok(helix_command("store", *kept))
    subprocess.run([*git, "remote", "add", "origin", "https://example.org/a/notes"], check=True)
    said = ok(helix_command("status", "--json")).data
    assert (said["scope"], said["formerScopes"]) == ("example.org/a/notes", [own, scope])
    assert f"helix name {own}" in ok(helix_command("status")).err
    (tmp_path / "notes" / ".helix").mkdir()
    (tmp_path / "notes" / ".helix" / "project.toml").write_text(f'name = "{own}"\n', "utf-8")
    said = ok(helix_command("status", "--json")).data
    assert (said["scope"], said["asked"]) == ("example.org/a/notes", own)
    assert f"helix name {own}" in ok(helix_command("recall", "paper")).err
    monkeypatch.setenv("CLAUDECODE", "1")
    assert helix_command("name", own, "--json").error["code"] == "PERSON_NEEDED"
    monkeypatch.delenv("CLAUDECODE")
    assert ok(helix_command("name", own, "--json")).data["name"]["scope"] == own
    assert ok(helix_command("status", "--json")).data["formerScopes"] == [scope]
    (tmp_path / "notes" / ".env").write_text("HELIX_SCOPE=someone/elses\n", "utf-8")
    said = ok(helix_command("status", "--json")).data
    assert (said["scope"], said["asked"]) == (own, "someone/elses")


@pytest.mark.parametrize("asked", [False, True], ids=["given", "asked for by a file"])
def test_a_name_with_a_secret_in_it_is_written_nowhere(
    helix_command: Command, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    """Such as a remote's address with a password: the file may be committed, and is kept in the home."""
    name = "https://ann:kr4ken-bay-2216@example.org/a/notes.git"
    (project := tmp_path / "notes").mkdir()
    subprocess.run(["git", "-C", str(project), "init", "-q"], check=True)
    if asked:
        (project / ".helix").mkdir()
        (project / ".helix" / "project.toml").write_text(f'name = "{name}"\n', "utf-8")
    monkeypatch.chdir(project)
    said = helix_command("name", name)
    assert said.code == InvalidInputError.exit_code and "kr4ken" not in said.err
    assert (project / ".helix").exists() is asked
    assert not (home / "confirmed.json").exists() or "kr4ken" not in (home / "confirmed.json").read_text("utf-8")


def test_a_name_that_no_file_could_hold_is_written_nowhere(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project's own settings are read up to a length: no command of its folder started any more."""
    (project := tmp_path / "notes").mkdir()
    monkeypatch.chdir(project)
    assert helix_command("name", "n" * 5_000).code == InvalidInputError.exit_code
    assert not (project / ".helix").exists()
