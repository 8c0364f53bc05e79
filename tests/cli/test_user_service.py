"""`helix service`: the file by which systemd or launchd starts the daemon, as it is written, told and removed."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Command

from helix.cli.service_commands import is_own, launchd, systemd
from helix.errors import ConfigError
from helix.settings import load

ODD = 'a "home" of 100% $HOME \\ é'
needs_systemctl = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("systemctl") is None, reason="there is no systemctl here"
)


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the unit goes; no manager of the user who runs the tests is told anything."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/none")
    return tmp_path / "config" / "systemd" / "user" / "helix-memory.service"


@needs_systemctl
def test_install_writes_the_unit_and_uninstall_takes_exactly_it_away(
    helix_command: Command, home: Path, unit: Path
) -> None:
    assert "would hold" in helix_command("service", "install", "--dry-run").out
    assert not unit.parent.exists()
    neighbour = unit.with_name("other.service")
    installed = helix_command("service", "install")
    neighbour.write_text("[Unit]\n", "utf-8")
    assert installed.code == 0
    assert "systemctl --user enable --now helix-memory.service" in installed.err  # nothing answers in these tests
    text = unit.read_text("utf-8")
    assert is_own(text) and f'"--home" "{home}"' in text
    assert unit.stat().st_mode & 0o077 == 0
    shown = helix_command("service", "status", "--json").data["service"]
    assert (shown["installed"], shown["current"], shown["running"]) == (True, True, False)
    assert helix_command("service", "install").code == 0
    assert helix_command("service", "uninstall", "--dry-run").code == 0 and unit.exists()
    assert "is removed" in helix_command("service", "uninstall").out
    assert [*unit.parent.iterdir()] == [neighbour]
    assert "no service is installed" in helix_command("service", "uninstall").out


@needs_systemctl
@pytest.mark.parametrize("how", ["changed", "link"])
def test_what_is_not_as_helix_wrote_it_stays(helix_command: Command, unit: Path, tmp_path: Path, how: str) -> None:
    assert helix_command("service", "install").code == 0
    if how == "link":
        unit.replace(tmp_path / "elsewhere")
        unit.symlink_to(tmp_path / "elsewhere")
    else:
        unit.write_text(unit.read_text("utf-8") + "CPUQuota=5%\n", "utf-8")
    before = unit.read_text("utf-8")
    for command in ("install", "uninstall"):
        refused = helix_command("service", command)
        assert (refused.code, str(unit) in refused.err) == (2, True)
    assert unit.is_symlink() == (how == "link")
    assert unit.read_text("utf-8") == before


def test_the_unit_is_one_that_systemd_takes_whatever_the_folders_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    manager = systemd(load({"home": tmp_path / ODD}))
    assert manager.file == tmp_path / "systemd/user/helix-memory.service"
    (line,) = [line for line in manager.text.splitlines() if line.startswith("ExecStart=")]
    assert f'"{sys.executable}"' in line and '100%% $HOME \\\\ é"' in line
    for unfit in ("two\nlines", "no utf-8 \udcff"):
        with pytest.raises(ConfigError):
            systemd(load({"home": tmp_path / unfit}))
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    manager.file.parent.mkdir(parents=True)
    manager.file.write_text(manager.text, "utf-8")
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    command = ["systemd-analyze", "--user", "verify", str(manager.file)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")


def test_the_agent_is_one_that_launchd_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    manager = launchd(load({"home": tmp_path / ODD}))
    assert manager.file == tmp_path / "Library/LaunchAgents/helix-memory.plist"
    assert is_own(manager.text) and not is_own(manager.text.replace("Background", "Interactive"))
    agent = plistlib.loads(manager.text.encode("utf-8"))
    assert agent["Label"] == "helix-memory"
    assert agent["ProgramArguments"][0] == sys.executable
    assert agent["ProgramArguments"][-5:-1] == [
        *("--home", str(tmp_path / ODD), "--store", str(load({"home": tmp_path / ODD}).store_path)),
    ]
    assert agent["ProgramArguments"][-1] == "serve"
    assert (agent["RunAtLoad"], agent["KeepAlive"]) == (True, {"SuccessfulExit": False})
