"""What the explorer shows of a daemon's surroundings: the clients that use its store, and the end of its log."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from helix.cli.logs import start_daemon_log
from helix.client_settings import connections, descriptions
from helix.client_settings.connections import ConnectionMemos, wanted
from helix.client_settings.descriptions import described
from helix.errors import InvalidInputError
from helix.operations import upkeep
from helix.service import Helix
from helix.settings import DAEMON_LOG, LOGS


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, with Codex on the path and nothing else."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(descriptions, "_SYSTEM", "linux")
    return tmp_path


@pytest.mark.soak
def test_each_client_says_whether_it_is_here_and_uses_this_store(helix: Helix, person: Path) -> None:
    before = {one.client: one for one in upkeep.agents(helix)}
    assert set(before) == set(descriptions.CLIENTS)
    assert [name for name, one in before.items() if one.installed] == ["codex"]
    assert not any(one.connected for one in before.values())
    for file in wanted(described("codex"), helix.settings, project=None):
        change, memo = connections.connect(ConnectionMemos(helix.settings.home), "codex", file)
        ConnectionMemos(helix.settings.home).keep(memo)
        change.write()
    project = person / "project"
    for file in wanted(described("gemini"), helix.settings, project=project):
        connections.connect(ConnectionMemos(helix.settings.home), "gemini", file)[0].write()
    after = {one.client: one.connected for one in upkeep.agents(helix, str(project))}
    assert (after["codex"], after["gemini"], after["zed"]) == ("user", "project", "")
    assert not {one.client: one.connected for one in upkeep.agents(helix)}["gemini"]
    with pytest.raises(InvalidInputError):
        upkeep.agents(helix, "project")


def test_settings_that_cannot_be_read_are_named(helix: Helix, person: Path) -> None:
    path = Path(next(one.file for one in upkeep.agents(helix) if one.client == "codex"))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[[[")
    assert {one.client: one.connected for one in upkeep.agents(helix)}["codex"] == "unreadable"


def test_the_log_is_shown_from_its_end(helix: Helix) -> None:
    assert upkeep.logs(helix) == []
    root = logging.getLogger()
    kept, level = root.handlers[:], root.level
    try:
        start_daemon_log(helix.settings.store_path, "info", lambda text: text.replace("hunter2", "***"))
        logging.getLogger("helix.test").info("it began with hunter2", extra={"rows": 3})
        logging.getLogger("helix.test").warning("it went on")
        for handler in root.handlers:
            handler.close()
    finally:
        root.handlers[:] = kept
        root.setLevel(level)
    first, second = upkeep.logs(helix)
    assert (first.level, first.text, second.level) == ("info", "helix.test: it began with *** rows=3", "warning")
    assert first.at is not None and second.at is not None and first.at <= second.at
    assert [one.text for one in upkeep.logs(helix, lines=1)] == ["helix.test: it went on"]


def test_a_line_that_is_none_of_ours_is_shown_as_it_is_and_a_new_file_goes_on_from_the_old(helix: Helix) -> None:
    folder = helix.settings.store_path / LOGS
    folder.mkdir(exist_ok=True)
    (folder / f"{DAEMON_LOG}.1").write_text("older\nold\n")
    (folder / DAEMON_LOG).write_text('["no record"]\nnew\n')
    assert [one.text for one in upkeep.logs(helix, lines=3)] == ["old", '["no record"]', "new"]
    assert {one.at for one in upkeep.logs(helix)} == {None}
    with pytest.raises(InvalidInputError):
        upkeep.logs(helix, lines=0)
