"""Lists that grow: every one of them is a connection, whose pages neither skip nor repeat what was there all along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from api_server import Served, nodes_of

from helix.client import document
from tests.sampling import some
from tests.waiting import until

PLAN = '{"tasks": [{"seq": "%03d", "slug": "a", "objective": "mend part %d", "depends": "none"}]}'


def store(served: Served, trigger: str, resolution: str = "as it is") -> str:
    kept = served.ask(document("store"), trigger=trigger, resolution=resolution, kind="FACT")["store"]
    return str(kept["name"])


def edge(served: Served, number: int) -> None:
    ends = [store(served, f"subject {number} {side}", f"{side} {number * 7}") for side in ("left", "right")]
    served.ask(document("edge"), source=ends[0], target=ends[1], relation="SOLVES")


def session(served: Served, number: int) -> None:
    served.ask(document("open_session"), name=f"day {number}")


def job(served: Served, number: int) -> None:
    begun = served.ask(document("scan_secrets"))["scanSecrets"]
    until(lambda: served.ask(document("job"), id=begun["id"])["job"]["state"] != "RUNNING")


def candidate(served: Served, number: int) -> None:
    said = {"tasks": [{"id": "1", "metadata": {"decision": f"matter {number}"}}]}
    learned = [f"Decision {number}: keep part {number} in its own file because it changes alone."]
    served.ask(document("observe_planner"), queue=True, tasks=said["tasks"], learned=learned)


def dispute(served: Served, number: int) -> None:
    one = store(served, f"port of service {number}", f"service {number} listens on port {8000 + number}")
    other = store(served, f"the port that service {number} has", f"it is {9000 + number} since spring")
    served.ask(document("edge"), source=one, target=other, relation="CONTRADICTS")


def workspace(served: Served, number: int) -> None:
    task = served.ask(document("save_plan"), answer=PLAN % (number, number))["savePlan"]["tasks"][0]["id"]
    served.ask(document("create_workspace"), task=task)


LISTS: dict[str, Callable[[Served, int], None]] = {
    "edges": edge,
    "sessions": session,
    "jobs": job,
    "learning_queue": candidate,
    "contradictions": dispute,
    "workspaces": workspace,
}


def page(served: Served, name: str, **asked: Any) -> Any:
    """Return one page of a list."""
    (found,) = served.ask(document(name), **asked).values()
    return found


@pytest.mark.parametrize("name", some(LISTS, 2))
def test_pages_follow_each_other_without_gap_or_overlap(served: Served, name: str) -> None:
    for number in range(1, 4):
        LISTS[name](served, number)
    whole = page(served, name)
    assert whole["totalCount"] == len(whole["edges"]) >= 3
    assert whole["pageInfo"]["hasNextPage"] is whole["pageInfo"]["hasPreviousPage"] is False
    found, after = [], None
    while True:
        part = page(served, name, first=2, after=after)
        assert part["totalCount"] == whole["totalCount"]
        found += part["edges"]
        after = part["pageInfo"]["endCursor"]
        if not part["pageInfo"]["hasNextPage"]:
            break
    assert found == whole["edges"]
    assert page(served, name, after=whole["edges"][0]["cursor"])["edges"] == whole["edges"][1:]


@pytest.mark.parametrize("name", some(LISTS, 2))
def test_what_comes_meanwhile_shifts_nothing(served: Served, name: str) -> None:
    for number in range(1, 4):
        LISTS[name](served, number)
    whole = page(served, name)["edges"]
    first = page(served, name, first=1)
    LISTS[name](served, 4)
    rest = nodes_of(page(served, name, after=first["pageInfo"]["endCursor"]))
    there = [one["node"] for one in whole[1:]]
    assert [one for one in rest if one in there] == there


@pytest.mark.parametrize("name", some(LISTS, 2))
def test_a_text_that_is_no_cursor_is_refused(served: Served, name: str) -> None:
    LISTS[name](served, 1)
    for text in ("nonsense", "", "W10", "e30", "W251bGxd", "\x00", "[" * 5000, "é"):
        answer = served.post(document(name), {"after": text})
        assert (answer.code, "is not a cursor of this list" in answer.message) == ("INVALID_INPUT", True), text


def test_the_rest_of_a_queue_follows_when_its_beginning_is_decided(served: Served) -> None:
    for number in range(1, 5):
        candidate(served, number)
    first = page(served, "learning_queue", first=2)
    rest = page(served, "learning_queue", after=first["pageInfo"]["endCursor"])["edges"]
    for one in nodes_of(first):
        served.ask(document("reject_candidate"), id=one["id"])
    left = page(served, "learning_queue", after=first["pageInfo"]["endCursor"])
    assert (left["edges"], left["totalCount"]) == (rest, 2)


def test_the_rest_of_the_contradictions_follows_when_the_first_is_resolved(served: Served) -> None:
    for number in range(1, 4):
        dispute(served, number)
    first = page(served, "contradictions", first=1)
    (case,) = nodes_of(first)
    rest = page(served, "contradictions", after=first["pageInfo"]["endCursor"])["edges"]
    sides = {"a": case["first"]["id"], "b": case["second"]["id"], "winner": "both"}
    served.ask(document("resolve_contradiction"), **sides)
    left = page(served, "contradictions", after=first["pageInfo"]["endCursor"])
    assert (left["edges"], left["totalCount"]) == (rest, 2)


def test_the_edges_and_grounds_of_a_memory_are_paged_too(served: Served) -> None:
    hub = store(served, "the hub of everything", "all leads here")
    for number in range(5):
        spoke = store(served, f"spoke {number} of the wheel", f"it has length {number * 7}")
        served.ask(document("edge"), source=spoke, target=hub, relation="DEPENDS_ON")
    asked = """query($name: String!, $first: Int, $after: String) { get(nameOrId: $name) {
        edges(first: $first, after: $after) { totalCount pageInfo { endCursor hasNextPage }
            edges { node { type source { id } target { id } } } }
        episodes { totalCount edges { node { content } } } } }"""
    whole = served.ask(asked, name=hub, first=100)["get"]
    parts, after = [], None
    for _ in range(100):
        part = served.ask(asked, name=hub, first=2, after=after)["get"]["edges"]
        parts += nodes_of(part)
        after = part["pageInfo"]["endCursor"]
        if not part["pageInfo"]["hasNextPage"]:
            break
    assert parts == nodes_of(whole["edges"])
    assert len(parts) == whole["edges"]["totalCount"] >= 6
    assert [one["type"] for one in parts[:5]] == ["DEPENDS_ON"] * 5, "what is drawn comes before what Helix writes"
    assert whole["episodes"]["totalCount"] == 1
    assert "hub of everything" in nodes_of(whole["episodes"])[0]["content"]
