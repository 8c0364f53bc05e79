"""Outcomes are told, and what memory was worth is shown, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Command, Result

SCOPE = ("--scope", "worth")


def ok(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


def planned() -> bytes:
    tasks = [{"seq": "001", "slug": "forms", "objective": "Escape the names", "budget": 6, "delta": [], "depends": []}]
    return json.dumps({"decision": "PROCEED", "plan": {"objective": "Log in", "tasks": tasks}}).encode()


def test_an_outcome_is_told_taken_back_and_counted(helix_command: Command, tmp_path: Path) -> None:
    ok(helix_command("plan", "save", *SCOPE, stdin=planned()))
    (task,) = ok(helix_command("plan", "ready-tasks", *SCOPE, "--json")).data["readyTasks"]
    said = ok(helix_command("task", "outcome", task["id"], "delivered"))
    assert said.out.splitlines() == ["delivered, checks: passed"]
    claim = ("task", "outcome", task["id"], "blocked", "--claimed")
    assert ok(helix_command(*claim)).out.splitlines() == ["delivered, checks: passed"], "a claim leaves a person's word"
    assert ok(helix_command("task", "outcome", task["id"], "unknown")).out.startswith("no outcome")
    claimed = ok(helix_command(*claim, "--json")).data["taskOutcome"]
    assert (claimed["outcome"], claimed["verification"], claimed["evidence"]) == ("blocked", "NONE", [])
    assert ok(helix_command("task", "outcome", task["id"], "unknown")).out.startswith("no outcome")
    wrong = helix_command("task", "outcome", "nobody", "delivered")
    assert wrong.code != 0
    assert "helix cypher" in wrong.err


def test_the_report_says_that_there_is_too_little_and_writes_a_page(helix_command: Command, tmp_path: Path) -> None:
    said = ok(helix_command("report", *SCOPE, "--since", "30d")).out
    assert said.startswith("Too little to compare: 0 tasks with memory and 0 without have ended; 30 of each")
    assert "held back" in said
    found = ok(helix_command("report", "--json")).data["report"]
    assert (found["enough"], found["holdback"]) == (False, 0.1)
    page = tmp_path / "report.html"
    assert ok(helix_command("report", "--html", str(page))).out.strip() == str(page)
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert helix_command("report", "--html", str(tmp_path / "none" / "report.html")).code != 0


def test_this_folders_project_is_counted_and_all_of_them_where_that_is_said(
    helix_command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok(helix_command("plan", "save", "--scope", "far-away", stdin=planned()))
    (task,) = ok(helix_command("plan", "ready-tasks", "--scope", "far-away", "--json")).data["readyTasks"]
    ok(helix_command("task", "outcome", task["id"], "delivered"))
    monkeypatch.setenv("HELIX_SCOPE", "this-folder")
    for command, count in (("report", "neither"), ("verify", "tasks")):
        here, there, everywhere = (
            ok(helix_command(command, *more, "--json")).data[command]
            for more in ((), ("--scope", "far-away"), ("--scope", "all"))
        )
        counts = [found.get("stats", found)[count] for found in (here, there, everywhere)]
        assert counts[0] == 0
        assert 0 < counts[1] <= counts[2]
        assert "this folder's project" in " ".join(ok(helix_command(command, "--help")).out.split())
    assert ok(helix_command("queue", "list")).out == ok(helix_command("queue", "list", "--scope", "this-folder")).out


def test_the_status_tells_of_what_is_held_back(helix_command: Command) -> None:
    ok(helix_command("stats"))
    assert "10% of the tasks get no memories" in ok(helix_command("status")).out


def test_feedback_for_a_task_that_was_shown_nothing_is_refused(helix_command: Command) -> None:
    name = ok(helix_command("store", "Escape with the form's own helper", *SCOPE, "--json")).data["store"]["name"]
    ok(helix_command("plan", "save", "--scope", "other-worth", stdin=planned()))
    (task,) = ok(helix_command("plan", "ready-tasks", "--scope", "other-worth", "--json")).data["readyTasks"]
    refused = helix_command("feedback", name, "--delta", "0.5", "--task", task["id"])
    assert refused.code != 0
    assert "was not shown to that task" in refused.err
