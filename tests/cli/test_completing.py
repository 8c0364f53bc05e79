"""Completion: a shell is offered what the store has, and nothing where no daemon runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command

from helix import daemon
from helix.cli.main import run
from helix.settings import load

Offered = Callable[[str], list[str]]


@pytest.fixture
def offered(home: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Offered:
    """Return what bash is offered at the end of a line."""

    def ask(line: str) -> list[str]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("_HELIX_COMPLETE", "bash_complete")
            patch.setenv("COMP_WORDS", line)
            patch.setenv("COMP_CWORD", str(line.count(" ")))
            assert run([]) == 0
        out, err = capsysbinary.readouterr()
        assert err == b""
        return [found.partition(",")[2] for found in out.decode().split()]

    return ask


def test_what_the_store_has_is_offered(helix_command: Command, offered: Offered) -> None:
    assert helix_command("store", "Kites need wind.", "--name", "kites-need-wind", "--scope", "kites").code == 0
    assert helix_command("record", "We flew.", "--session", "kite-day", "--scope", "kites").code == 0
    assert offered("helix get kites-") == ["kites-need-wind"]
    assert "kites" in offered("helix recall x --scope kit")
    assert "kite-day" in offered("helix session close kite")
    assert "depends_on" in offered("helix edge a b --relation dep")
    assert offered("helix recall x --recipe learn") == ["learning"]
    assert "convention" in offered("helix list --kind conv")


@pytest.mark.parametrize(
    "name", ["kites;touch x", "kites$(id)", "kites`id`", "kites&", "kites\t-x", "*", "~kites", "-x"]
)
def test_a_name_that_a_shell_would_obey_is_not_offered(
    helix_command: Command, offered: Offered, tmp_path: Path, name: str
) -> None:
    line = {"text": "We flew.", "scope": name, "session": name}
    (tmp_path / "lines.jsonl").write_text(json.dumps(line), "utf-8")
    assert helix_command("ingest", "jsonl", str(tmp_path / "lines.jsonl")).code == 0
    assert helix_command("store", "Kites need wind.", "--scope", "github.com/ada/kites").code == 0
    scopes, sessions = offered("helix recall x --scope "), offered("helix session close ")
    assert "github.com/ada/kites" in scopes
    assert not {"-x", "x"}.intersection(scopes + sessions)
    assert not set(";$`&*~").intersection("".join(scopes + sessions))


def test_without_a_daemon_nothing_is_offered_and_none_is_started(
    offered: Offered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_HOME", str(tmp_path / "empty"))
    assert offered("helix get kites-") == []
    assert daemon.find(load().store_path) is None
    assert not (tmp_path / "empty").exists()


def test_a_scope_that_nobody_knows_is_met_with_the_one_it_is_like(helix_command: Command) -> None:
    assert helix_command("store", "Kites need wind.", "--scope", "kites-1a2b3c4d").code == 0
    result = helix_command("list", "--scope", "kites-1a2b")
    assert "nothing is kept in kites-1a2b; did you mean kites-1a2b3c4d" in result.err
