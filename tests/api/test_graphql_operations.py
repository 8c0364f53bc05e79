"""Operations: what is stored can be found, walked, listed, corrected and forgotten, all by GraphQL."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from api_server import Served, nodes_of

from helix.client import document
from helix.operations import upkeep
from helix.service import Helix
from helix.text.structured import MOST_NESTED
from tests.waiting import until

TRIGGERS = {
    "pip fails behind the proxy": ("use the mirror of the house", "FAILURE"),
    "writing a migration": ("number it and never edit it again", "CONVENTION"),
    "choosing a graph database": ("Kuzu, because it is embedded", "DECISION"),
    "tests are slow on two cores": ("share one model between them", "PATTERN"),
}


@pytest.fixture
def names(served: Served) -> list[str]:
    """The names of four stored memories, in the order they were stored."""
    return [
        served.ask(document("store"), trigger=trigger, resolution=resolution, kind=kind)["store"]["name"]
        for trigger, (resolution, kind) in TRIGGERS.items()
    ]


def test_an_empty_store_answers_with_an_empty_list(served: Served) -> None:
    answer = served.ask(document("recall"), query="anything at all")["recall"]
    assert answer["items"] == []
    assert served.ask(document("last"))["last"]["items"] == []
    assert served.ask(document("memories"))["memories"] == {
        "totalCount": 0,
        "edges": [],
        "pageInfo": {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None},
    }


def test_what_was_stored_is_recalled_with_its_reasons(served: Served, names: list[str]) -> None:
    answer = served.ask(document("recall"), query="pip fails behind the proxy", explain=True, session="s")["recall"]
    best = answer["items"][0]
    assert best["label"] == "MEMORY"
    assert best["node"]["name"] == names[0]
    assert best["node"]["kind"] == "FAILURE"
    assert best["confidenceLabel"] == ""
    assert best["arms"]
    assert best["reason"]
    assert served.ask(document("why"), nameOrId=names[0], session="s")["why"]["score"] == best["score"]
    last = served.ask(document("last"), session="s")["last"]
    assert [item["node"]["id"] for item in last["items"]] == [item["node"]["id"] for item in answer["items"]]
    assert last["query"]["query"] == "pip fails behind the proxy"


def test_null_stands_for_the_default(served: Served, names: list[str]) -> None:
    variables: dict[str, Any] = dict.fromkeys(
        ("limit", "kinds", "labels", "expand", "files", "deep", "session", "scope")
    )
    assert served.ask(document("recall"), query="pip fails behind the proxy", **variables)["recall"]["items"]


def test_kinds_filter_and_recall_by_type_answers_kind_by_kind(served: Served, names: list[str]) -> None:
    only = served.ask(document("recall"), query="graph database", kinds=["DECISION"])["recall"]["items"]
    assert {item["node"]["kind"] for item in only} == {"DECISION"}
    answers = served.ask(document("recall_by_type"), query="tests", kinds=["PATTERN", "FAILURE"])["recallByType"]
    assert [answer["kind"] for answer in answers] == ["PATTERN", "FAILURE"]


def test_pages_follow_each_other_without_gap_or_overlap(served: Served, names: list[str]) -> None:
    found: list[str] = []
    after, more = None, True
    while more:
        page = served.ask(document("memories"), first=3, after=after)["memories"]
        assert page["totalCount"] == 4
        assert page["pageInfo"]["endCursor"] == page["edges"][-1]["cursor"]
        found += [edge["node"]["name"] for edge in page["edges"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    assert found == names[::-1]


def test_a_page_can_be_continued_after_any_of_its_items(served: Served, names: list[str]) -> None:
    edges = served.ask(document("memories"))["memories"]["edges"]
    rest = served.ask(document("memories"), after=edges[1]["cursor"])["memories"]["edges"]
    assert rest == edges[2:]


def test_a_memory_can_be_walked_to_its_evidence_and_its_neighbours(served: Served, names: list[str]) -> None:
    edge = served.ask(document("edge"), source=names[3], target=names[0], relation="SOLVES", weight=2.0)["edge"]
    assert (edge["type"], edge["weight"]) == ("SOLVES", 2.0)
    assert (edge["source"]["node"]["name"], edge["target"]["node"]["name"]) == (names[3], names[0])
    found = served.ask(document("get"), nameOrId=names[0])["get"]
    edges = nodes_of(found["edges"])
    assert [e["source"]["node"]["name"] for e in edges if e["type"] == "SOLVES"] == [names[3]]
    assert "pip fails" in nodes_of(found["episodes"])[0]["content"]
    assert nodes_of(served.ask(document("edges"), relation="SOLVES")["edges"])[0]["weight"] == 2.0


def test_a_node_is_read_by_its_id_alone(served: Served, names: list[str]) -> None:
    memory = served.ask(document("get"), nameOrId=names[0])["get"]
    edges = nodes_of(served.ask(document("edges"), nameOrId=names[0])["edges"])
    ids = [memory["id"], "nobody", *(edge["target"]["id"] for edge in edges), memory["id"]]
    found = served.ask("query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }", ids=ids)["nodes"]
    assert [one and one["id"] for one in found] == [None if one == "nobody" else one for one in ids]
    for one in filter(None, found):
        assert served.ask("query($id: ID!) { node(id: $id) { __typename id } }", id=one["id"])["node"] == one
    assert {"Memory", "Episode"} <= {one["__typename"] for one in found if one}


def test_the_label_tells_apart_what_has_one_id(served: Served) -> None:
    plan = '{"tasks": [{"seq": "001", "slug": "a", "objective": "mend pip", "depends": "none"}]}'
    ident = served.ask(document("save_plan"), answer=plan)["savePlan"]["tasks"][0]["id"]
    served.ask(document("open_session"), name=ident)
    asked = "query($id: ID!, $label: Label) { node(id: $id, label: $label) { __typename } }"
    assert served.ask(asked, id=ident, label="TASK")["node"] == {"__typename": "Task"}
    assert served.ask(asked, id=ident, label="SESSION")["node"] == {"__typename": "Session"}


def test_more_nodes_than_a_page_holds_are_refused(served: Served) -> None:
    asked = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
    assert served.ask(asked, ids=[])["nodes"] == []
    assert served.post(asked, {"ids": ["nobody"] * 201}).code == "INVALID_INPUT"


def test_a_memory_is_corrected_confirmed_forgotten_and_brought_back(served: Served, names: list[str]) -> None:
    edited = served.ask(document("edit"), nameOrId=names[1], resolution="number it, hash it")["edit"]
    assert edited["resolution"] == "number it, hash it"
    assert edited["trigger"] == "writing a migration"
    served.ask(document("confirm"), nameOrId=names[1])
    assert served.ask(document("forget"), nameOrId=names[1])["forget"]["status"] == "FORGOTTEN"
    found = served.ask(document("recall"), query="writing a migration")["recall"]["items"]
    assert names[1] not in [item["node"].get("name") for item in found]
    assert served.ask(document("restore"), nameOrId=edited["id"])["restore"]["status"] == "ACTIVE"


def test_feedback_shows_in_the_label(served: Served, names: list[str]) -> None:
    served.ask(document("feedback"), names=names[:1], delta=3.0)
    (memory,) = served.ask(document("feedback"), names=names[:1], delta=-1.0)["feedback"]
    assert memory["confidenceLabel"] == "[75% of 4]"
    assert memory["effectiveness"] == 0.75


def test_episodes_are_recorded_and_listed(served: Served) -> None:
    recorded = served.ask(
        document("record_episode"),
        content="the build broke at noon",
        session="s1",
        occurredAt="2025-01-31T12:00:00+01:00",
    )["recordEpisode"]
    assert recorded["episode"]["occurredAt"] == "2025-01-31T11:00:00+00:00"
    assert recorded["id"] == recorded["episode"]["id"]
    (edge,) = served.ask(document("episodes"), session="s1")["episodes"]["edges"]
    assert edge["node"]["content"] == "the build broke at noon"


def test_attributes_come_back_as_they_were_given(served: Served) -> None:
    given = {"steps": ["one", "two"], "nested": {"n": 1, "none": None, "x": 2.5}, "umlaut": "ä😀"}
    stored = served.ask(
        document("store"), trigger="a playbook", resolution="follow it", kind="PATTERN", attributes=given
    )
    assert served.ask(document("get"), nameOrId=stored["store"]["id"])["get"]["attributes"] == given


def test_attributes_are_as_deep_as_they_can_be_read_again(served: Served) -> None:
    """Whoever answered with a deeper one had no room for it on the stack: `helix recall` failed wherever it was met."""
    deepest = {"k": json.loads("[" * (MOST_NESTED - 1) + "1" + "]" * (MOST_NESTED - 1))}
    said = {"trigger": "the stable has a green door", "resolution": "", "kind": "FACT"}
    stored = served.ask(document("store"), **said, attributes=deepest)
    assert served.ask(document("get"), nameOrId=stored["store"]["id"])["get"]["attributes"] == deepest
    refused = served.post(document("store"), {**said, "attributes": {"k": [deepest["k"]]}})
    assert "nested more than 20 deep" in str(refused.json)


def test_maintenance_says_what_it_would_change(served: Served, names: list[str]) -> None:
    for operation in ("decay", "decay_edges", "prune"):
        (report,) = served.ask(document(operation), dryRun=True).values()
        assert report["dryRun"] is True
        assert report["changed"] == 0


@pytest.mark.parametrize("name", ["health", "stats", "status", "doctor", "config", "jobs"])
def test_every_report_can_be_read_whole(served: Served, names: list[str], name: str) -> None:
    assert served.ask(document(name))


def test_sizes_beyond_32_bits_fit(served: Served) -> None:
    assert served.ask("{ status { memoryBytes } }")["status"]["memoryBytes"] > 0


def test_the_config_tells_where_each_value_came_from(served: Served) -> None:
    settings = {setting["name"]: setting for setting in served.ask(document("config"))["config"]}
    assert settings["home"]["source"] == "flag"
    assert settings["port"] == {**settings["port"], "value": "0", "source": "default", "variable": "HELIX_PORT"}
    numbers = {"max_tokens", "brief_tokens", "action_tokens", "prompt_tokens", "monthly_token_budget"}
    assert not [name for name in settings if "token" in name and name not in numbers], "no secret is a setting"


def test_json_lines_go_in_and_a_broken_one_is_named(served: Served) -> None:
    lines = [json.dumps({"content": "the first thing that happened"}), "{broken", json.dumps({"content": "the third"})]
    report = served.ask(document("ingest_jsonl"), lines=lines, firstLine=41)["ingestJsonl"]
    assert report["episodes"] == 2
    assert [problem["where"] for problem in report["problems"]] == ["line 42"]


def test_notes_are_taken_in_by_a_job_that_can_be_followed(served: Served, tmp_path: Path) -> None:
    note = tmp_path / "NOTES.md"
    note.write_text("# Habits\n\nWe always number migrations and never edit one that was released.\n", "utf-8")
    job = served.ask(document("ingest_notes"), paths=[str(note)], scope="notes")["ingestNotes"]
    until(lambda: served.ask(document("job"), id=job["id"])["job"]["state"] != "RUNNING")
    job = served.ask(document("job"), id=job["id"])["job"]
    assert job["state"] == "DONE", job
    assert job["result"]["episodes"] >= 1


def test_cypher_reads_the_live_graph(served: Served, names: list[str]) -> None:
    query = "query($q: String!, $p: JSON) { cypher(query: $q, params: $p) { columns rows truncated } }"
    statement = "MATCH (m:Memory) WHERE m.kind = $kind RETURN m.name AS name, m.valid_to AS nothing"
    answer = served.ask(query, q=statement, p={"kind": "failure"})["cypher"]
    assert answer == {"columns": ["name", "nothing"], "rows": [[names[0], None]], "truncated": False}
    tables = {table["name"]: table for table in served.ask("{ graphSchema { name kind properties } }")["graphSchema"]}
    assert "trigger" in tables["Memory"]["properties"]


def by_name(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {one["name"]: one["value"] for one in entries}


@pytest.mark.soak
def test_tables_are_listed_entry_by_entry(served: Served, names: list[str], helix: Helix) -> None:
    counted = served.ask(document("stats"))["stats"]
    assert by_name(counted["byType"]) == upkeep.stats(helix).by_type
    assert by_name(counted["byStatus"]) == upkeep.stats(helix).by_status
    status = served.ask(document("status"))["status"]
    assert by_name(status["nodes"])["Memory"] == 4
    assert by_name(status["diskBytes"]).keys() == upkeep.status(helix).disk_bytes.keys()
    item = served.ask(document("recall"), query="pip fails behind the proxy", explain=True)["recall"]
    assert item["timingsMs"] and all(stage["value"] >= 0 for stage in item["timingsMs"])
    best = item["items"][0]
    assert sum(value for name, value in by_name(best["factors"]).items() if name.startswith("+")) > 0
    assert by_name(served.ask(document("health"))["health"]["stats"])["memory"] == 4
    work = served.ask(document("begin_work"), kind="consolidate")["beginWork"]
    done = until(lambda: (one := served.ask(document("work"), id=work["id"])["work"])["state"] == "DONE" and one)
    assert all(isinstance(value, int) for value in by_name(done["result"]).values())
    totals = by_name(served.ask(document("background"))["background"]["totals"])
    assert by_name(totals["consolidate"]) == by_name(done["result"])
    tasks = [{"id": "2", "blockedBy": ["1"]}, {"id": "1", "blockedBy": ["2"]}]
    stall = served.ask(document("dag_stalled"), tasks=tasks)["dagStalled"]["info"]
    assert by_name(stall["waiting"]) == {"1": ["2"], "2": ["1"]}
    loop = served.ask(document("verify"))["verify"]["stats"]
    assert (loop["memories"], loop["overallEffectiveness"]) == (4, None)
    assert by_name(loop["candidates"])["waiting"] == 0
