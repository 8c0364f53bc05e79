"""An orchestrator keeps explorations and plans from the command line, and follows them."""

from __future__ import annotations

import json

from command_line import Command, Result

SCOPE = ("--scope", "orchestra")
EXPLORED = {"objective": "Log in", "targets": {"files": [{"file": "src/a.py"}]}}


def ok(result: Result) -> Result:
    assert result.code == 0, result.err
    return result


def planned(*depends: tuple[str, ...]) -> bytes:
    tasks = [
        {
            "seq": f"{number:03}",
            "slug": f"step-{number}",
            "objective": f"Escape the names in form {number}",
            "delta": ["src/form.py"],
            "verify": "pytest",
            "budget": 6,
            "depends": waits,
        }
        for number, waits in enumerate(depends, 1)
    ]
    return json.dumps({"decision": "PROCEED", "plan": {"objective": "Log in", "tasks": tasks}}).encode()


def test_what_was_explored_is_kept_and_read_back(helix_command: Command) -> None:
    saved = ok(helix_command("exploration", "save", *SCOPE, "--json", stdin=json.dumps(EXPLORED).encode()))
    made = saved.data["saveExploration"]
    loaded = ok(helix_command("exploration", "load", *SCOPE, "--json")).data["exploration"]
    assert loaded == made
    assert loaded["attributes"] == {"targets": EXPLORED["targets"]}
    said = ok(helix_command("exploration", "load", "--id", made["id"], *SCOPE)).out
    assert "Log in" in said
    assert "src/a.py" in said


def test_a_plan_is_kept_and_followed(helix_command: Command) -> None:
    saved = ok(helix_command("plan", "save", *SCOPE, "--json", stdin=planned((), ("001",)))).data["savePlan"]
    ident = saved["plan"]["id"]
    assert saved["taskCount"] == 2
    assert "002  step-2  pending  waits for 001" in ok(helix_command("plan", "load", *SCOPE)).out
    ready = ok(helix_command("plan", "ready-tasks", "--plan-id", ident, "--json")).data["readyTasks"]
    assert [task["seq"] for task in ready] == ["001"]
    said = ok(helix_command("plan", "cascade-status", "--plan-id", ident)).out
    assert said.splitlines() == ["in_progress", "   ready: 001"]
    assert "complete, 2 tasks" in ok(helix_command("plan", "complete", "--id", ident)).out


def test_attempts_are_begun_and_ended_in_their_order(helix_command: Command) -> None:
    """The way of the orchestrator's own prose, command by command."""
    scope = ("--scope", "attempts")
    told = ("Escape the names in form 1", "--resolution", "slowly", "--kind", "pattern", "--file", "src/form.py")
    ok(helix_command("store", *told, "--name", "slowly", *scope))
    plan = ok(helix_command("plan", "save", *scope, "--json", stdin=planned((), ("001",)))).data["savePlan"]
    ident, first = plan["plan"]["id"], plan["tasks"][0]
    made = ok(helix_command("workspace", "create", "--plan-id", ident, "--task", json.dumps(first), "--json"))
    report = made.data["createWorkspace"]
    assert report["task"]["status"] == "in_progress"
    assert report["heldBack"] or "slowly" in report["prompt"]
    ended = ("--id", report["workspace"]["id"], "--delivered", "one", "--utilized", '["slowly"]')
    assert "001 complete  one" in ok(helix_command("workspace", "complete", *ended)).out
    second = ok(helix_command("workspace", "create", "--plan-id", ident, "--task", "002", "--json"))
    blocked = ("--id", second.data["createWorkspace"]["workspace"]["id"], "--reason", "no network", "--error", "E1")
    assert "002 blocked  no network" in ok(helix_command("workspace", "block", *blocked)).out
    listed = ok(helix_command("workspace", "list", "--plan-id", ident, *scope)).out
    assert [line.split("  ", 1)[1] for line in listed.splitlines()] == ["001 complete  one", "002 blocked  no network"]
    again = helix_command("workspace", "complete", *blocked[:2], "--delivered", "after all", "--json")
    assert (again.code, again.error["code"]) == (4, "CONFLICT")
    asked = "MATCH (t:Task)-[:INJECTED]->(m:Memory) WHERE m.name = 'slowly' RETURN t.outcome"
    if not report["heldBack"]:
        assert ["delivered"] in ok(helix_command("cypher", asked, "--json")).data["cypher"]["rows"]


def test_a_plan_in_a_circle_is_refused_with_the_circle(helix_command: Command) -> None:
    refused = helix_command("plan", "save", *SCOPE, "--json", stdin=planned(("002",), ("001",)))
    assert refused.code != 0
    assert "these tasks wait for each other: 001 -> 002 -> 001" in refused.error["message"]


def test_what_could_be_better_in_a_plan_is_told_beside_it(helix_command: Command) -> None:
    plan = planned(()).replace(b'"budget": 6', b'"budget": 60')
    assert "note: the budget of task 001 is 60" in ok(helix_command("plan", "save", *SCOPE, stdin=plan)).err
