"""What is missing: where one node is gone, the rest of every answer that would show it stands."""

from __future__ import annotations

from itertools import pairwise

import pytest
from api_server import Served, nodes_of

from helix.client import document
from helix.model.edge import Label
from helix.model.operations import Change, DropNode
from helix.service import Helix
from helix.store.writer import Decision

PLAN = """{"tasks": [
    {"seq": "001", "slug": "one", "objective": "mend part 1", "depends": "none"},
    {"seq": "002", "slug": "two", "objective": "mend part 2", "depends": "none"}
]}"""


def drop(helix: Helix, label: Label, ident: str) -> None:
    """Take a node away as an undone job does, with what is attached to it."""
    gone = Change(kind="undo", operations=(DropNode(label=label, id=ident),))
    helix.store.writer.submit(lambda: Decision((gone,), None))


def store(served: Served, trigger: str, resolution: str) -> str:
    kept = served.ask(document("store"), trigger=trigger, resolution=resolution, kind="FACT")["store"]
    return str(kept["id"])


@pytest.fixture
def ids(served: Served) -> list[str]:
    """The ids of three memories; each is said to contradict the next."""
    found = [store(served, f"the port of service {n}", f"it is {8000 + n * 7}") for n in range(3)]
    for one, other in pairwise(found):
        served.ask(document("edge"), source=one, target=other, relation="CONTRADICTS")
    return found


def test_a_memory_that_is_gone_takes_no_other_along(served: Served, helix: Helix, ids: list[str]) -> None:
    drop(helix, Label.MEMORY, ids[0])
    answer = served.post("query($ids: [ID!]!) { nodes(ids: $ids) { id } memories { totalCount } }", {"ids": ids}).json
    assert "errors" not in answer
    assert answer["data"] == {"nodes": [None, {"id": ids[1]}, {"id": ids[2]}], "memories": {"totalCount": 2}}
    (case,) = nodes_of(served.ask(document("contradictions"))["contradictions"])
    assert (case["first"]["id"], case["second"]["id"]) == (ids[1], ids[2])
    assert served.ask(document("brief"))["brief"]["text"]


def test_one_field_that_fails_leaves_the_others(served: Served, ids: list[str]) -> None:
    answer = served.post(
        """query($id: String!) {
            gone: get(nameOrId: "nobody") { name } there: get(nameOrId: $id) { name }
            edges(nameOrId: "nobody") { totalCount } node(id: "nobody") { id } work(id: "nobody") { kind } }""",
        {"id": ids[0]},
    ).json
    assert {error["path"][0]: error["extensions"]["code"] for error in answer["errors"]} == dict.fromkeys(
        ("gone", "edges", "node", "work"), "NOT_FOUND"
    )
    assert answer["data"]["there"]["name"]
    assert {name for name, value in answer["data"].items() if value is None} == {"gone", "edges", "node", "work"}


def test_a_walk_that_fails_leaves_its_node(served: Served, ids: list[str]) -> None:
    asked = """query($id: String!) { get(nameOrId: $id) {
        name edges(relation: "NO_SUCH") { totalCount } episodes(first: 0) { totalCount } } }"""
    answer = served.post(asked, {"id": ids[0]}).json
    assert {tuple(error["path"]) for error in answer["errors"]} == {("get", "edges"), ("get", "episodes")}
    assert answer["data"]["get"]["name"]
    assert (answer["data"]["get"]["edges"], answer["data"]["get"]["episodes"]) == (None, None)


def test_an_attempt_whose_task_is_gone_takes_no_other_along(served: Served, helix: Helix) -> None:
    tasks = [task["id"] for task in served.ask(document("save_plan"), answer=PLAN)["savePlan"]["tasks"]]
    attempts = [served.ask(document("create_workspace"), task=one)["createWorkspace"]["workspace"] for one in tasks]
    drop(helix, Label.TASK, tasks[0])
    (left,) = nodes_of(served.ask(document("workspaces"))["workspaces"])
    assert left["workspace"]["id"] == attempts[1]["id"]
    lost = served.post(document("complete_workspace"), {"id": attempts[0]["id"], "delivered": "all of it"})
    assert lost.code == "NOT_FOUND"
    assert [task["id"] for task in served.ask(document("plan"))["plan"]["tasks"]] == [tasks[1]]
