"""Operations of outcomes and proof: a task's end is told over GraphQL, and what its memories got can be read."""

from __future__ import annotations

from typing import Any

from api_server import Served

from helix.agents.outcomes.noting import note_use
from helix.agents.tasks.board import TaskSighting, inject, mirror
from helix.client import document
from helix.model.memory import claimed_of
from helix.model.speaker import HEADER
from helix.model.task import Shown
from helix.operations import memories
from helix.service import Helix


def ask(served: Served, name: str, **arguments: Any) -> Any:
    (answer,) = served.ask(document(name), **arguments).values()
    return answer


def begun(helix: Helix, memory: str) -> str:
    store = helix.store
    task = mirror(store, TaskSighting(session="s", key="7", objective="fix it", attributes={"client_task": "7"})).id
    inject(store, task, [Shown(memory_id=memory, name="", kind="", rank=1, score=1.0)], held_back=False)
    note_use(store, task, commands=["uv sync --frozen"])
    return task


def test_a_persons_word_settles_a_task_and_feedback_overrules_what_came_of_it(served: Served, helix: Helix) -> None:
    stored = ask(served, "store", trigger="modules are missing", resolution="run `uv sync --frozen`", kind="PATTERN")
    task = begun(helix, stored["id"])
    told = ask(served, "task_outcome", task="7", outcome="delivered")
    assert (told["task"], told["outcome"], told["verification"], told["changed"]) == (task, "delivered", "PASSED", True)
    (gain,) = told["gains"]
    assert (gain["use"], gain["outcome"], gain["helped"], gain["quality"]) == ("evidence", "helped", 0.5, 5)
    assert told["evidence"][0]["kind"] == "PERSON"
    (memory,) = ask(served, "feedback", names=[stored["name"]], delta=-1.0, task="7")
    assert (memory["helped"], memory["failed"], memory["uses"]) == (0, 1, 1)
    again = ask(served, "task_outcome", task=task, outcome="delivered")
    assert again["gains"][0]["overridden"]
    found = ask(served, "report")
    assert (found["undrawn"]["tasks"], found["leaders"][0]["failed"]) == (1, 1)
    assert ask(served, "report_page", scope="elsewhere").startswith("<!doctype html>")


def test_an_agent_s_word_of_a_task_is_a_claim_and_leaves_a_persons(served: Served, helix: Helix) -> None:
    stored = ask(served, "store", trigger="modules are missing", resolution="run `uv sync --frozen`", kind="PATTERN")
    task = begun(helix, stored["id"])

    def by_agent(outcome: str) -> tuple[str, str]:
        asked = {"task": task, "outcome": outcome, "utilized": [stored["name"]]}
        answer = served.post(document("task_outcome"), asked, headers={HEADER: "claude-code"})
        told = answer.json["data"]["taskOutcome"]["result"]
        return told["outcome"], told["verification"]

    assert by_agent("delivered") == ("delivered", "NONE")
    memory = memories.get(helix, stored["id"])
    assert (memory.helped, claimed_of(memory), memory.last_used_at) == (0.25, 0.25, None)
    assert ask(served, "task_outcome", task=task, outcome="blocked")["verification"] == "FAILED"
    for word in ("delivered", ""):
        assert by_agent(word) == ("blocked", "FAILED")
    assert memories.get(helix, stored["id"]).failed == 0.3


def test_what_a_session_was_shown_is_listed_and_what_one_memory_was_shown_to(served: Served, helix: Helix) -> None:
    stored = ask(served, "store", trigger="modules are missing", resolution="run `uv sync --frozen`", kind="PATTERN")
    task = begun(helix, stored["id"])
    here = {"task": task, "name": stored["name"], "session": "s", "rank": 1, "score": 1.0}
    for asked in ({"session": "s"}, {"session": "s", "scope": "global"}, {"nameOrId": stored["name"]}):
        page = ask(served, "showings", **asked)
        assert [{key: edge["node"][key] for key in here} for edge in page["edges"]] == [here]
    for asked in ({"session": "other"}, {"session": "s", "scope": "app"}):
        assert ask(served, "showings", **asked)["totalCount"] == 0
    for asked in ({}, {"session": "s", "nameOrId": stored["name"]}):
        assert served.post(document("showings"), asked).code == "INVALID_INPUT"


def test_any_agent_can_tell_what_it_did_and_have_it_judged(served: Served, helix: Helix) -> None:
    stored = ask(served, "store", trigger="modules are missing", resolution="run `uv sync --frozen`", kind="PATTERN")
    task = mirror(helix.store, TaskSighting(session="s", key="8", attributes={"verify": "make proof"})).id
    inject(helix.store, task, [Shown(memory_id=stored["id"], name="", kind="", rank=1, score=1.0)], held_back=False)
    assert ask(served, "note_action", task=task, command="uv sync --frozen", exitStatus=0) is None
    assert ask(served, "note_action", task=task, files=["a.py"]) is None
    assert ask(served, "note_action", task=task, command="pytest | tail", exitStatus=0, output="ok") is None
    proof = ask(served, "note_action", task=task, command="make proof", exitStatus=0, id="1")
    assert (proof["kind"], proof["passed"], proof["verify"]) == ("OTHER", True, True)
    told = ask(served, "task_outcome", task=task, outcome="delivered", claimed=True)
    assert [(gain["use"], gain["outcome"]) for gain in told["gains"]] == [("evidence", "helped")]
    failed = ask(served, "note_action", task=task, command="make proof", exitStatus=2, id="2")
    assert not failed["passed"]
    assert ask(served, "get", nameOrId=stored["id"])["failed"] == 0.3


def test_the_agents_own_word_is_worth_half(served: Served, helix: Helix) -> None:
    stored = ask(served, "store", trigger="modules are missing", resolution="run `uv sync --frozen`", kind="PATTERN")
    begun(helix, stored["id"])
    told = ask(served, "task_outcome", task="7", outcome="delivered", claimed=True)
    assert (told["outcome"], told["verification"], told["claimed"]) == ("delivered", "NONE", "delivered")
    assert [(gain["outcome"], gain["helped"]) for gain in told["gains"]] == [("claimed", 0.25)]


def test_an_unknown_task_and_an_unknown_outcome_are_refused(served: Served, helix: Helix) -> None:
    assert served.post(document("task_outcome"), {"task": "nobody", "outcome": "delivered"}).code == "NOT_FOUND"
    mirror(helix.store, TaskSighting(session="s", key="1", attributes={"client_task": "1"}))
    assert served.post(document("task_outcome"), {"task": "1", "outcome": "fine"}).code == "INVALID_INPUT"
