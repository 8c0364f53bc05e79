"""Commands that learn from agents' work and look at the order of their tasks."""

from __future__ import annotations

import json

from command_line import Command, Result

SCOPE = ("--scope", "observation")
MESSAGE = "BLOCKED: main.py is not mine\nTRIED: a router\nERROR: ImportError: no routes\nUTILIZED: []"
TASKS = '[{"id": "1", "status": "in_progress"}, {"id": "2", "blockedBy": ["1"]}, {"id": "3"}]'


def ok(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


def test_what_a_builder_reports_waits_and_is_accepted(helix_command: Command) -> None:
    told = ("observe", "builder", "--task", '{"subject": "routes"}', "--result", "-", *SCOPE)
    seen = ok(helix_command(*told, stdin=MESSAGE.encode()))
    assert "failure, high" in seen.out
    assert "ImportError: no routes" in seen.out
    assert "nothing waits" in ok(helix_command("queue", "list", *SCOPE)).err
    assert "1 wait" in ok(helix_command(*told, "--queue", stdin=MESSAGE.encode())).out
    listed = [line.strip() for line in ok(helix_command("queue", "list", *SCOPE)).out.splitlines() if "routes" in line]
    assert listed and all(line.startswith("\u00ab") and line.endswith("\u00bb") for line in listed)
    (edge,) = ok(helix_command("queue", "list", *SCOPE, "--json")).data["learningQueue"]["edges"]
    waiting = edge["node"]
    assert ok(helix_command("queue", "accept", waiting["id"])).out.startswith("added ")
    again = helix_command("queue", "reject", waiting["id"], "--json")
    assert (again.code, again.error["code"]) == (4, "CONFLICT")


def test_what_is_sure_enough_is_stored_at_once(helix_command: Command) -> None:
    output = json.dumps({"scope": "src/", "status": "success", "patterns_observed": ["dependency injection"]})
    told = ("observe", "explorer", "--output", output, "--store", *SCOPE)
    assert "skipped, low" in ok(helix_command(*told)).out
    assert "added " in ok(helix_command(*told, "--min-confidence", "low")).out


def test_plans_and_sessions_are_observed(helix_command: Command) -> None:
    tasks = b'[{"seq": "1", "slug": "tokens", "objective": "use JWT instead of sessions"}]'
    plan = ok(helix_command("observe", "planner", "--tasks", "-", "--exploration", "{}", *SCOPE, stdin=tasks))
    assert "decision, medium" in plan.out
    told = ("--objective", "a login", "--tasks", "-", "--outcomes", '{"001": "delivered"}')
    one = tasks.strip(b"[]")
    for listed in (tasks, one, one + b"\n" + one.replace(b"1", b"2"), b'{"tasks": ' + tasks + b"}"):
        assert "delivered: tokens" in ok(helix_command("observe", "session", *told, *SCOPE, stdin=listed)).out
    refused = helix_command("observe", "session", *told, *SCOPE, "--json", stdin=b"#1 [completed] 001: tokens")
    assert (refused.code, "stdin" in refused.error.get("hint", "")) == (2, False)


def test_without_tasks_those_of_the_session_are_taken(helix_command: Command) -> None:
    told = ("observe", "session", "--objective", "a login", *SCOPE)
    assert "nothing to learn" in ok(helix_command(*told, "--session", "unheard-of")).out


def test_a_task_that_worked_gives_a_pattern(helix_command: Command) -> None:
    told = ("chunk", "--task", "make the suite fast", "--approach", "share one model", *SCOPE)
    assert ok(helix_command(*told, "--outcome", "success")).out.startswith("added ")
    assert "no pattern" in ok(helix_command(*told, "--outcome", "failed")).err


def test_the_loop_is_verified(helix_command: Command) -> None:
    found = ok(helix_command("verify", "--scope", "untouched", "--json")).data["verify"]
    assert (found["status"], found["issues"]) == ("ok", [])
    assert "candidates" in ok(helix_command("verify")).out


def test_the_order_of_tasks_is_looked_at(helix_command: Command) -> None:
    assert ok(helix_command("dag", "ready", TASKS)).out == "3\n"
    assert ok(helix_command("dag", "ready", "-", stdin=TASKS.encode())).out == "3\n"
    assert "not stalled" in ok(helix_command("dag", "stalled", TASKS)).out
    stalled = ok(helix_command("dag", "stalled", '[{"id": "2", "blockedBy": ["1"]}]')).out
    assert "2 waits for 1" in stalled
    assert "missing: 1" in stalled
    assert ok(helix_command("dag", "clear", TASKS)).out == "pending again: 1\n"
    assert ok(helix_command("dag", "cycles", '{"1": ["2"], "2": ["1"]}')).out == "1 -> 2 -> 1\n"
    state = ok(helix_command("task", "state", '{"id": "1", "status": "completed"}', "--json")).data["taskState"]
    assert state["blocksDependents"]


def test_what_is_no_json_is_refused_with_what_was_wanted(helix_command: Command) -> None:
    for arguments in (("dag", "ready", "{}"), ("dag", "cycles", "[]"), ("task", "state", "nothing")):
        refused = helix_command(*arguments, "--json")
        assert (refused.code, refused.error["code"]) == (2, "INVALID_INPUT"), arguments
