"""Commands about the service: status, open, pause, doctor, backup and its kin, against a real daemon."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from helix import bearer
from helix.errors import ConflictError, DaemonError, NotFoundError, PausedError
from helix.lock import StoreLock


def test_status_starts_nothing_and_says_so_by_its_exit_code(helix_command: Command, tmp_path: Path) -> None:
    line = ("--home", str(tmp_path), "status")
    said = helix_command(*line)
    assert said.code == DaemonError.exit_code
    assert said.out.startswith("no daemon runs for ")
    assert helix_command(*line, "--json").data == {"status": None, "daemon": None}
    with StoreLock(tmp_path / "store"):
        assert f"is open in process {os.getpid()}" in helix_command(*line).out
    assert not (tmp_path / "store" / bearer.TOKEN_FILE).exists()


def test_stopping_what_does_not_run_is_no_error(helix_command: Command, tmp_path: Path) -> None:
    said = helix_command("--home", str(tmp_path), "stop", "--json")
    assert (said.code, said.data) == (0, {"stop": {"stopped": False, "pid": None}})


def test_status_shows_the_daemon_its_store_and_that_there_is_no_model(helix_command: Command, home: Path) -> None:
    assert helix_command("stats").code == 0
    data = helix_command("status", "--json").data
    assert data["status"]["store"] == str(home / "store")
    assert data["daemon"]["url"].startswith("http://127.0.0.1:")
    shown = helix_command("status").out
    assert f"process {data['daemon']['pid']}" in shown
    assert "recall:" in shown
    assert "lexical" in shown
    assert "language models:" in shown
    assert "none configured, all is done by rules; 0 of 0 paid tokens used this month" in shown


def test_serve_beside_a_daemon_names_it_and_detached_finds_it(helix_command: Command) -> None:
    helix_command("stats")
    running = helix_command("status", "--json").data["daemon"]
    assert helix_command("serve", "--detach", "--json").data["serve"] == running
    said = helix_command("serve")
    assert said.err.startswith("error [STORE_LOCKED]: ")
    assert f"process {running['pid']}" in said.err


def test_open_prints_a_link_that_lets_a_browser_in(helix_command: Command) -> None:
    said = helix_command("open", "--no-browser")
    assert said.code == 0
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.addheaders = [("Sec-Fetch-Site", "none"), ("Accept", "text/html")]
    with opener.open(said.out.strip(), timeout=10) as page:
        assert page.status == 200


def test_open_hands_the_link_over_in_a_private_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, visited = tmp_path / "browser", tmp_path / "visited"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {visited}\n', "utf-8")
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    line = [sys.executable, "-m", "helix.cli.main", "open"]
    link = subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()
    given = visited.read_text("utf-8")
    page = home / "store" / bearer.LINK_FILE
    assert given == page.as_uri()
    assert page.stat().st_mode & 0o777 == 0o600
    assert link in page.read_text("utf-8")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.addheaders = [("Sec-Fetch-Site", "cross-site"), ("Accept", "text/html")]
    with opener.open(link, timeout=10) as answer:
        assert b'url=/"' in answer.read()
    assert not page.exists()
    opener.addheaders = [("Sec-Fetch-Site", "same-origin"), ("Accept", "text/html")]
    with opener.open(link.partition("/open/")[0] + "/", timeout=10) as answer:
        assert answer.status == 200


def test_open_runs_no_browser_of_the_folder_it_is_asked_in(helix_command: Command, tmp_path: Path) -> None:
    """A PATH often names `node_modules/.bin`, which a clone may bring along."""
    helix_command("stats")
    ran, programs = tmp_path / "ran", tmp_path / "node_modules" / ".bin"
    programs.mkdir(parents=True)
    for name in ("xdg-open", "firefox", "chromium", "uname", "open"):
        (programs / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n", "utf-8")
        (programs / name).chmod(0o700)
    line = [sys.executable, "-m", "helix.cli.main", "open"]
    env = {**os.environ, "PATH": "node_modules/.bin", "DISPLAY": ":0", "BROWSER": ""}
    said = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert "/open/" in said.stdout
    assert not ran.exists()


def test_a_pause_refuses_to_write_and_ends(helix_command: Command) -> None:
    try:
        assert "helix pause --off" in helix_command("pause").out
        assert helix_command("store", "This is not written.").code == PausedError.exit_code
        assert "paused:" in helix_command("status").out
    finally:
        assert helix_command("pause", "--off", "--json").data == {"pause": False}


@pytest.mark.soak
def test_doctor_names_what_other_users_can_read(helix_command: Command, home: Path) -> None:
    def told() -> Any:
        findings = helix_command("doctor", "--json").data["doctor"]["findings"]
        return next(finding for finding in findings if finding["check"] == "privacy")

    assert helix_command("stats").code == 0  # there is a store then
    loose = home / "store" / "journal-of-before.db"  # what the daemon writes beside its journal would take its mode
    loose.write_bytes(b"")
    loose.chmod(0o644)
    try:
        said = told()
        assert (said["ok"], str(loose) in said["detail"]) == (False, True)
    finally:
        loose.unlink()
    said = told()
    assert said["ok"], said


def test_doctor_lists_its_checks(helix_command: Command) -> None:
    said = helix_command("doctor", "--json")
    assert {finding["check"] for finding in said.data["doctor"]["findings"]} >= {"settings", "daemon"}
    assert said.code == (0 if said.data["doctor"]["healthy"] else 5)
    assert "daemon: answers at http://" in helix_command("doctor").out


@pytest.mark.soak
def test_doctor_tells_what_keeps_the_daemon_from_starting(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_LOG_LEVEL", "loud")
    said = helix_command("--home", str(tmp_path), "doctor")
    assert said.code == 5
    assert "WRONG daemon: unknown log level 'loud'" in said.out


@pytest.mark.soak
def test_the_daemon_has_the_settings_of_the_client_that_started_it(helix_command: Command, home: Path) -> None:
    helix_command("stop")  # other tests may have started it with other settings
    assert helix_command("stats").code == 0
    listed = {entry["name"]: entry for entry in helix_command("config", "--daemon", "--json").data["config"]}
    assert listed["home"]["value"] == str(home)
    assert listed["embedding_model"]["value"] == "none"


@pytest.mark.soak
def test_a_backup_is_written_restored_and_never_overwritten(helix_command: Command, tmp_path: Path) -> None:
    name = helix_command("store", "Backups hold this memory.", "--json").data["store"]["name"]
    file = tmp_path / "monday.backup"
    assert helix_command("backup", str(file)).out.startswith(f"backed up to {file}\n")
    again = helix_command("backup", str(file), "--json")
    assert (again.code, again.error["code"]) == (ConflictError.exit_code, ConflictError.code)

    helix_command("forget", name)
    assert helix_command("restore", "--backup", str(file), "--json").data["restoreBackup"]["state"] == "DONE"
    assert helix_command("get", name, "--json").data["get"]["status"] == "ACTIVE"
    assert helix_command("restore", "--backup", str(tmp_path / "none")).code == NotFoundError.exit_code


@pytest.mark.soak
def test_a_backup_takes_the_place_of_a_store_that_is_stopped_or_damaged(helix_command: Command, tmp_path: Path) -> None:
    here, file = ("--home", str(tmp_path / "home")), tmp_path / "monday.backup"
    name = helix_command(*here, "store", "Backups hold this memory.", "--json").data["store"]["name"]
    assert helix_command(*here, "backup", str(file)).code == 0
    helix_command(*here, "forget", name)
    helix_command(*here, "stop")
    said = helix_command(*here, "restore", "--backup", str(file))
    assert (said.code, said.err) == (0, "")
    assert "what was there is kept in" in said.out

    (tmp_path / "home" / "store" / "journal.db").write_bytes(b"garbage" * 1000)
    assert "helix restore --backup FILE" in helix_command(*here, "get", name).err
    said = helix_command(*here, "restore", "--backup", str(file))
    assert said.code == 0
    assert said.err.startswith("warning: the store that was replaced is too damaged to say what was erased from it: ")
    again = helix_command(*here, "restore", "--backup", str(file), "--json").data["restoreBackup"]
    assert (again["state"], again["result"]["warnings"]) == ("DONE", [])
    assert helix_command(*here, "get", name, "--json").data["get"]["status"] == "ACTIVE"
    helix_command(*here, "stop")


@pytest.mark.soak
def test_a_misspelt_variable_is_told_by_config_and_doctor(
    helix_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_RUNTIME", "of another program")
    assert "HELIX_RUNTIME is not a setting of Helix" in helix_command("config").err
    assert "ok    variables: " in helix_command("doctor").out
    monkeypatch.setenv("HELIX_HOLDBAK", "0")
    wrong = "HELIX_HOLDBAK is not a setting; did you mean HELIX_HOLDBACK?"
    assert wrong in helix_command("config").err
    said = helix_command("doctor")
    assert (said.code, f"WRONG variables: {wrong}\n" in said.out) == (5, True)


@pytest.mark.soak
def test_a_rebuild_says_when_it_is_done(helix_command: Command) -> None:
    helix_command("store", "A rebuild keeps this memory.")
    said = helix_command("rebuild")
    assert (said.code, said.out.splitlines()[0]) == (0, "the graph is rebuilt")
