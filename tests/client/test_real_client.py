"""Holds the learning loop in the real coding client, without a network: what it is shown, and what comes of it."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from messages_server import Script, call, say, text_of
from person import Person

import helix
from tests.waiting import until

PLUGIN = Path(helix.__file__).parent / "plugin"


def new_text(script: Script, marker: str) -> list[str]:
    """Return what each request of a conversation said that the one before it did not."""
    said: list[str] = []
    before = 0
    for body in script.of(marker):
        said.append("\n".join(map(text_of, body["messages"][before:])))
        before = len(body["messages"])
    return said


def builder(task: str, objective: str, verify: str, marker: str) -> dict[str, Any]:
    """Return the call of a builder for a task of the client's list."""
    prompt = f"TASK_ID: {task}\nTASK: 00{task}: {marker}\nOBJECTIVE: {objective}\nVERIFY: {verify}\n"
    return dict(call("Agent", description=marker, prompt=prompt, subagent_type="helix:builder"))


def planned(number: int, verify: str) -> dict[str, Any]:
    """Return the creation of a task as a planner does it."""
    metadata = {"seq": f"00{number}", "slug": f"task-{number}", "verify": verify, "budget": 5}
    return dict(call("TaskCreate", subject=f"00{number}: task-{number}", description="a task", metadata=metadata))


def bash(command: str) -> dict[str, Any]:
    return dict(call("Bash", command=command, description="run it"))


def ended(task: str, outcome: str, **metadata: Any) -> dict[str, Any]:
    return dict(call("TaskUpdate", taskId=task, status="completed", metadata={"helix_outcome": outcome, **metadata}))


@pytest.mark.soak
def test_what_is_remembered_reaches_a_builder_and_its_outcome_comes_back(person: Person) -> None:
    person.script("check.sh", "exit 0\n")
    person.script("upload.sh", "echo 'error: upload refused' >&2\nexit 3\n")
    helpful = person.remember("leap-years", "pattern", "changing the date parser", "Test the twenty-ninth of February.")
    harmful = person.remember(
        "retry-uploads", "pattern", "repairing the upload of large files", "Try it three times over."
    )
    script = Script(
        turns={
            "BEGIN": [
                [planned(1, "sh check.sh")],
                [planned(2, "sh upload.sh")],
                [builder("1", "change the date parser so that it takes leap years", "sh check.sh", "first-one")],
                [builder("2", "repair the upload of large files", "sh upload.sh", "second-one")],
                [say("both have ended")],
            ],
            "first-one": [
                [call("TaskUpdate", taskId="1", status="in_progress")],
                [bash("sh check.sh")],
                [ended("1", "delivered", summary="leap years are taken")],
                [
                    say(
                        f"DELIVERED: leap years are taken\nUTILIZED: [{helpful}]\nLEARNED:\n"
                        "- pattern: adding a date format -> extend the table in formats.txt first"
                    )
                ],
            ],
            "second-one": [
                [call("TaskUpdate", taskId="2", status="in_progress")],
                [bash("sh upload.sh")],
                [ended("2", "blocked", blocked_reason="the server refuses", tried="twice", error="upload refused")],
                [say(f"BLOCKED: the server refuses\nTRIED: twice\nERROR: upload refused\nUTILIZED: [{harmful}]")],
            ],
        }
    )
    person.client.work(script, "BEGIN the work")

    assert "twenty-ninth of February" in new_text(script, "first-one")[0]
    assert "three times over" in new_text(script, "second-one")[0]
    assert "three times over" not in "".join(new_text(script, "first-one"))
    assert until(lambda: person.memory(helpful)["helped"]) == 0.5
    assert until(lambda: person.memory(harmful)["failed"]) == 0.3
    assert (person.memory(helpful)["failed"], person.memory(harmful)["helped"]) == (0, 0)
    waiting = until(lambda: person.helix("queue", "list", "--scope", person.scope)["learningQueue"]["edges"])
    assert any("formats.txt" in json.dumps(candidate) for candidate in waiting)


@pytest.mark.soak
@pytest.mark.parametrize("asked", [{}, {"run_in_background": True}], ids=["by default", "in the background"])
def test_planner_and_builders_have_the_task_list_however_they_are_called(person: Person, asked: dict[str, Any]) -> None:
    both = [builder("1", "a", "true", "first-one"), builder("2", "b", "true", "second-one")]
    both = [{**one, "input": {**one["input"], **asked}} for one in both]
    plan = call("Agent", description="plan", prompt="OBJECTIVE: plan-it", subagent_type="helix:planner", **asked)
    script = Script(
        turns={
            "BEGIN": [[plan], both, [say("done")]],
            "plan-it": [[planned(1, "true")], [planned(2, "true")], [say("PLAN_COMPLETE: 2 tasks")]],
            "first-one": [[ended("1", "delivered", summary="a is done")], [say("DELIVERED: a is done")]],
            "second-one": [[ended("2", "delivered", summary="b is done")], [say("DELIVERED: b is done")]],
        }
    )
    person.client.work(script, "BEGIN the work")
    tools = {marker: {tool["name"] for tool in script.of(marker)[0]["tools"]} for marker in script.turns}
    assert {"TaskCreate", "TaskUpdate", "TaskList"} <= tools["plan-it"]
    assert "TaskUpdate" in tools["first-one"] & tools["second-one"]
    assert "a is done" in (told := new_text(script, "BEGIN")[2]) and "b is done" in told


@pytest.mark.soak
def test_a_failure_is_shown_at_its_command_and_at_no_other(person: Person) -> None:
    for name in ("check.sh", "other.sh", "check_all.sh"):
        person.script(name, "exit 0\n")
    person.remember("fixtures", "failure", "`sh check.sh` fails for want of fixtures", "Run sh prepare.sh before it.")
    commands = ["sh other.sh", "ls", "sh check_all.sh", "sh check.sh", "cat check.sh", "sh other.sh"]
    script = Script(turns={"BEGIN": [*([bash(command)] for command in commands), [say("that was all")]]})
    person.client.work(script, "BEGIN to look around")
    told = ["Run sh prepare.sh before it" in text for text in new_text(script, "BEGIN")]
    assert told == [False, False, False, False, True, False, False]


def test_what_one_session_learned_the_hard_way_the_next_one_is_told_at_the_command(person: Person) -> None:
    person.script("check.sh", "test -f prepared || { echo 'FixtureError: no fixtures are there' >&2; exit 3; }\n")
    person.script("prepare.sh", "touch prepared\n")
    first = Script(
        turns={
            "BEGIN": [
                [planned(1, "sh check.sh")],
                [builder("1", "have the checks pass", "sh check.sh", "first-one")],
                [say("done")],
            ],
            "first-one": [
                [call("TaskUpdate", taskId="1", status="in_progress")],
                [bash("sh check.sh")],
                [bash("sh prepare.sh")],
                [bash("sh check.sh")],
                [ended("1", "delivered", summary="the checks pass")],
                [say("DELIVERED: the checks pass\nUTILIZED: []")],
            ],
        }
    )
    person.client.work(first, "BEGIN the first session")
    (learned,) = until(lambda: person.helix("list", "--kind", "failure", "--scope", person.scope)["memories"]["edges"])
    name = learned["node"]["name"]
    assert "prepare.sh" in learned["node"]["resolution"]

    (person.project / "prepared").unlink()
    second = Script(
        turns={
            "BEGIN": [
                [planned(1, "sh check.sh")],
                [builder("1", "see to it that everything is in order", "sh check.sh", "second-one")],
                [say("done")],
            ],
            "second-one": [
                [call("TaskUpdate", taskId="1", status="in_progress")],
                [bash("ls")],
                [bash("sh check.sh")],
                [bash("sh prepare.sh && sh check.sh")],
                [ended("1", "delivered", summary="all is in order")],
                [say("DELIVERED: all is in order\nUTILIZED: []")],
            ],
        }
    )
    person.client.work(second, "BEGIN the second session")
    told = new_text(second, "second-one")
    assert name in told[0], "the task is verified by that very command"
    assert name in told[3]
    assert not any(name in text for text in (told[1], told[2], told[5]))

    query = "MATCH (t:Task)-[i:INJECTED]->(m:Memory) RETURN t.outcome, i.outcome, m.name"
    until(lambda: ["delivered", "helped", name] in person.helix("cypher", query)["cypher"]["rows"])
    leaders = {leader["name"]: leader for leader in person.helix("report")["report"]["leaders"]}
    assert (leaders[name]["shown"], leaders[name]["helped"], leaders[name]["failed"]) == (1, 1, 0)


@pytest.mark.soak
def test_a_session_begins_with_what_was_decided_in_its_project_and_no_other(person: Person) -> None:
    person.remember("invoices", "decision", "which store invoices are kept in", "They are kept in the cellar.")
    elsewhere = person.project / "other"
    elsewhere.mkdir()
    subprocess.run(["git", "init", "--quiet", str(elsewhere)], check=True)
    for project, told in ((person.project, True), (elsewhere, False)):
        script = Script(turns={"BEGIN": [[say("noted")]]})
        replace(person.client, project=project).work(script, "BEGIN")
        assert ("kept in the cellar" in new_text(script, "BEGIN")[0]) == told


@pytest.mark.soak
def test_a_prompt_that_wants_no_memories_gets_none(person: Person) -> None:
    person.remember("leap-years", "pattern", "changing the date parser", "Test the twenty-ninth of February.")
    objective = "change the date parser so that it takes leap years\nNO_INJECT: true"
    script = Script(turns={"BEGIN": [[builder("1", objective, "true", "first-one")], [say("done")]]})
    person.client.work(script, "BEGIN")
    assert "twenty-ninth of February" not in "".join(new_text(script, "first-one"))
