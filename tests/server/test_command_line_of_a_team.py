"""The command line of somebody in a team: `helix` asks the team's server, by a key from the environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helix.errors import ConfigError
from helix.model.principal import Role
from helix.processes import python_command
from helix.settings import load
from tests.server.team import Team


def _helix(folder: Path, *words: str, as_json: bool = True, **settings: str) -> subprocess.CompletedProcess[str]:
    (folder / "project").mkdir(exist_ok=True)
    return subprocess.run(
        python_command("helix.cli.main", *(["--json"] if as_json else []), *words, program=sys.executable),
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "HELIX_HOME": str(folder / "laptop"), **settings},
        cwd=folder / "project",
        capture_output=True,
        text=True,
        check=False,
    )


def test_commands_ask_the_team_s_server_as_their_key(team: Team, tmp_path: Path) -> None:
    tenant = team.tenant()
    here = {"HELIX_SERVER": team.processes[0].url, "HELIX_KEY": team.key(tenant, Role.EDITOR, name="ada")}

    def told(*words: str) -> dict[str, Any]:
        done = _helix(tmp_path, *words, **here)
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    told("store", "--trigger", "the till jams", "--resolution", "off and on", "--scope", "shop")
    found = told("recall", "the till jams", "--scope", "shop")["recall"]["items"]
    assert [item["node"]["resolution"] for item in found] == ["off and on"]
    assert not list((tmp_path / "laptop").rglob("journal.db"))  # no daemon was started for it
    refused = _helix(tmp_path, "ingest", "notes", ".", **here)
    assert "FORBIDDEN" in refused.stdout + refused.stderr
    assert "HELIX_SERVER empty" in _helix(tmp_path, "sync", "https://h.example/sync/v1", **here).stderr
    reader = _helix(tmp_path, "forget", "the-till-jams", **{**here, "HELIX_KEY": team.key(tenant, Role.READER)})
    assert reader.returncode == 14


@pytest.mark.soak
def test_status_and_doctor_show_the_server_and_the_key_s_tenant(team: Team, tmp_path: Path) -> None:
    tenant, url = team.tenant(), team.processes[0].url
    here = {"HELIX_SERVER": url, "HELIX_KEY": team.key(tenant, Role.READER)}
    told = json.loads(_helix(tmp_path, "status", **here).stdout)
    assert (told["server"], told["daemon"], told["status"]["store"]) == (url, None, tenant)
    assert told["status"]["durability"]
    shown = _helix(tmp_path, "status", as_json=False, **here).stdout
    assert url in shown and tenant in shown
    checked = _helix(tmp_path, "doctor", **here)
    findings = {one["check"]: one["detail"] for one in json.loads(checked.stdout)["doctor"]["findings"]}
    assert url in findings["settings"]
    assert findings["server"] == f"answers at {url}"
    assert not {"daemon", "privacy", "place"} & set(findings)
    assert str(tmp_path / "laptop") not in checked.stdout
    assert url in _helix(tmp_path, "stop", as_json=False, **here).stdout


@pytest.mark.parametrize(("command", "code"), [("status", 10), ("doctor", 5)])
def test_status_and_doctor_say_which_key_is_refused(command: str, code: int, team: Team, tmp_path: Path) -> None:
    done = _helix(tmp_path, command, HELIX_SERVER=team.processes[0].url, HELIX_KEY="hx_0123456789ab_none")
    assert done.returncode == code
    assert "key" in done.stdout + done.stderr


def test_a_server_that_does_not_answer_is_called_one(tmp_path: Path) -> None:
    here = {"HELIX_SERVER": "http://127.0.0.1:9", "HELIX_KEY": "hx_0123456789ab_none"}
    stopped = _helix(tmp_path, "stop", as_json=False, **here)
    assert "http://127.0.0.1:9, which this does not stop" in stopped.stdout
    done = _helix(tmp_path, "status", **here)
    assert done.returncode == 9
    assert "HELIX_SERVER" in done.stderr and "daemon" not in json.loads(done.stderr)["error"]["message"]


def test_without_a_key_the_command_says_where_to_put_it(team: Team, tmp_path: Path) -> None:
    done = _helix(tmp_path, "recall", "the till", HELIX_SERVER=team.processes[0].url)
    assert done.returncode != 0
    assert "HELIX_KEY" in done.stderr


@pytest.mark.parametrize("address", ["http://helix.example", "helix.example", "https://h/team", "https://a:b@h"])
def test_a_key_is_shown_over_tls_alone(address: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="server"):
        load({"home": tmp_path, "server": address}, environ={}, cwd=tmp_path)


def test_a_repository_does_not_say_which_server_is_asked(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("HELIX_SERVER=https://evil.example\n", "utf-8")
    assert load({"home": tmp_path / "home"}, environ={}, cwd=tmp_path).server == ""
