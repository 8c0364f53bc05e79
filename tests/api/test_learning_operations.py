"""Operations of the learning loop: what agents' work gives to learn, the queue, patterns, and the order of tasks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from api_server import Served, nodes_of

from helix.client import document

EXPLORED = json.dumps(
    {
        "scope": "src/",
        "status": "success",
        "findings": [{"file": "src/api.py", "what": "the routes of the shop", "action": "modify"}],
        "patterns_observed": ["handlers return dataclasses"],
    }
)
OVER = {"status": "completed", "metadata": {"helix_outcome": "delivered"}}


def ask(served: Served, name: str, **arguments: Any) -> Any:
    (answer,) = served.ask(document(name), **arguments).values()
    return answer


def test_observing_alone_writes_nothing(served: Served) -> None:
    seen = ask(served, "observe_explorer", output=EXPLORED)
    assert [(one["kind"], one["confidence"]) for one in seen["candidates"]] == [
        ("FACT", "MEDIUM"),
        ("CONVENTION", "LOW"),
    ]
    assert (seen["stored"], seen["skipped"], seen["queued"]) == ([], [], [])
    assert not nodes_of(ask(served, "learning_queue"))
    assert ask(served, "stats")["total"] == 0


def test_what_is_sure_is_stored_and_the_rest_waits_until_somebody_decides(served: Served) -> None:
    seen = ask(served, "observe_explorer", output=EXPLORED, store=True, queue=True, scope="shop", agent="explorer")
    assert [one["status"] for one in seen["stored"]] == ["ADDED"]
    (waiting,) = nodes_of(ask(served, "learning_queue", scope="shop"))
    assert waiting["id"] == seen["queued"][0]["id"]
    accepted = ask(served, "accept_candidate", id=waiting["id"], by="ada")
    assert (accepted["candidate"]["status"], accepted["result"]["status"]) == ("ACCEPTED", "ADDED")
    memory = ask(served, "get", nameOrId=accepted["result"]["id"])
    assert (memory["kind"], memory["provenance"]["trust"]) == ("CONVENTION", "AGENT_INFERRED")
    assert not nodes_of(ask(served, "learning_queue"))


def test_what_was_rejected_does_not_come_again(served: Served) -> None:
    (waiting,) = ask(served, "observe_builder", task={}, result="BLOCKED: no access to it", queue=True)["queued"]
    assert ask(served, "reject_candidate", id=waiting["id"])["status"] == "REJECTED"
    assert ask(served, "observe_builder", task={}, result="BLOCKED: no access to it", queue=True)["queued"] == []
    assert served.post(document("accept_candidate"), {"id": waiting["id"]}).code == "CONFLICT"
    assert ask(served, "reopen_candidate", id=waiting["id"])["status"] == "WAITING"
    assert [one["id"] for one in nodes_of(ask(served, "learning_queue"))] == [waiting["id"]]


def test_plans_and_sessions_are_observed(served: Served) -> None:
    tasks = [{"seq": "1", "slug": "tokens", "objective": "use JWT instead of sessions", **OVER}]
    plan = ask(served, "observe_planner", tasks=tasks, exploration={"objective": "a login"}, learned=["argon2"])
    assert {one["kind"] for one in plan["candidates"]} == {"DECISION"}
    session = ask(served, "observe_session", objective="a login", tasks=tasks, minConfidence="HIGH", store=True)
    assert session["candidates"][0]["resolution"] == "delivered: tokens"
    assert len(session["stored"]) == 1


def test_how_a_task_was_done_becomes_a_pattern_unless_it_failed(served: Served) -> None:
    told = {"task": "make the suite fast", "approach": "share one model"}
    assert ask(served, "chunk", outcome="failed", **told) is None
    assert ask(served, "chunk", outcome="success", **told)["status"] == "ADDED"


def test_the_loop_is_verified(served: Served) -> None:
    assert ask(served, "verify") == {"status": "ok", "issues": [], "stats": ask(served, "verify")["stats"]}


def test_tasks_and_their_order_are_looked_at(served: Served) -> None:
    tasks = [{"id": "1", **OVER}, {"id": "2", "blockedBy": ["1"]}, {"id": "3", "blockedBy": ["2"]}]
    assert ask(served, "task_state", task=tasks[1], others=tasks)["executable"]
    assert ask(served, "dag_ready", tasks=tasks) == ["2"]
    assert ask(served, "dag_stalled", tasks=tasks) == {"stalled": False, "info": None}
    assert ask(served, "dag_stalled", tasks=tasks[2:])["info"]["missing"] == ["2"]
    assert ask(served, "dag_cycles", dependencies={"1": ["2"], "2": ["1"]}) == [["1", "2"]]
    left = [{"id": "1", "status": "in_progress"}]
    assert ask(served, "dag_clear", tasks=left) == {
        "cleared": ["1"],
        "kept": [],
        "tasks": [{"id": "1", "status": "pending"}],
    }


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("dag_cycles", {"dependencies": {"1": "2"}}),
        ("dag_ready", {"tasks": ["1"]}),
        ("dag_ready", {"tasks": [], "plan": "p"}),
        ("observe_planner", {"tasks": [3]}),
    ],
)
def test_json_of_another_form_is_refused(served: Served, name: str, arguments: dict[str, Any]) -> None:
    assert served.post(document(name), arguments).code == "INVALID_INPUT"


def test_without_a_scope_no_plan_of_a_project_is_read_or_written(served: Served) -> None:
    answer = json.dumps({"objective": "o", "tasks": [{"seq": "1", "objective": "a"}]})
    plan = ask(served, "save_plan", answer=answer, scope="shop")["plan"]
    ask(served, "create_workspace", task="1", scope="shop")
    for name in ("plan", "ready_tasks", "cascade_status", "complete_plan", "dag_ready", "dag_stalled", "dag_clear"):
        assert served.post(document(name), {}).code == "NOT_FOUND", name
    assert served.post(document("create_workspace"), {"task": "1"}).code == "NOT_FOUND"
    told = ask(served, "plan", id=plan["id"])
    assert (told["plan"]["status"], told["tasks"][0]["status"]) == ("open", "in_progress")
    assert ask(served, "dag_clear", scope="shop")["cleared"] == ["001"]
