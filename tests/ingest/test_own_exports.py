"""Own exports ingested again: the same graph for a person who stands for it, somebody's word for all others."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from git_history import History
from hypothesis import given
from hypothesis import settings as example_settings
from hypothesis import strategies as st

from helix import settings as configuration
from helix.errors import InvalidInputError
from helix.journal.state import Snapshot
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.capture.sessions import SessionRequest
from helix.memory.remember.request import StoreRequest
from helix.model.edge import Label
from helix.model.memory import Kind, Memory
from helix.model.operations import PutEdge, PutNode
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.operations import capture, erasure, exports, ingest, memories, review
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.store.listing import MemoryFilter
from tests.sampling import draws, some
from tests.waiting import UNHURRIED, finished

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"
"""In the form of a secret, and none."""
VAULT = "The vault of the staging server is kept by Zymurgy."
_TEXT = st.text(st.sampled_from("abc é\n-:#[]{}\"'\\|<>&~\u2028"), min_size=1, max_size=30).filter(str.strip)
_NAME = st.sampled_from(["Port", "port", "con", "a.b", "straße", "x" * 250, "Ünï"])
_MEMORIES = st.lists(
    st.tuples(_TEXT, _TEXT, _NAME, st.sampled_from(["shop", "bank", "global"]), st.sampled_from(list(Kind)[:6])),
    min_size=1,
    max_size=6,
)
_EDGES = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(["solves", "causes", "blocks", "frees"]))
)


def opened(folder: Path) -> Helix:
    wanted = configuration.load({"home": folder}, environ=UNHURRIED, cwd=folder.parent)
    return Helix.open(wanted, embedder=HashEmbedder())


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Helix, Helix]]:
    with opened(tmp_path / "one") as one, opened(tmp_path / "two") as other:
        yield one, other


def state(helix: Helix, *labels: Label) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return all nodes and the edges between them, or those of some labels."""

    def read(held: Snapshot) -> tuple[dict[Any, Any], dict[Any, Any]]:
        nodes: list[PutNode] = [one for one in held.nodes() if not labels or one.label in labels]
        edges: list[PutEdge] = [
            one for one in held.edges() if not labels or {one.source.label, one.target.label} <= {*labels}
        ]
        return (
            {(one.label, one.id): dict(one.props) for one in nodes},
            {(one.type, one.source, one.target): dict(one.props) for one in edges},
        )

    with helix.store.journal.snapshot() as (_, held):
        return read(held)


def fill(helix: Helix) -> None:
    ids = []
    for number, kind in enumerate((Kind.FAILURE, Kind.DECISION, Kind.FACT)):
        asked = StoreRequest(
            trigger=f"make migrate fails in db/{number}.sql",
            resolution=f"start the {kind} first",
            kind=kind,
            scope="shop",
            trust=Trust.USER_ASSERTED,
            attributes={"team": ["a", number]},
        )
        ids.append(memories.store(helix, asked).id)
    memories.edge(helix, ids[0], ids[1], "solves")
    memories.edge(helix, ids[1], ids[2], "leads to")
    memories.edge(helix, ids[1], ids[2], "rejects")
    memories.edge(helix, ids[1], ids[0], "leads to")
    memories.edge(helix, ids[1], ids[0], "rejects")
    memories.forget(helix, ids[2])
    memories.feedback(helix, [ids[0]], 1.0)
    capture.record_episode(helix, EpisodeRequest(content="The zebra migration ran", session="s 1", scope="shop"))


def test_json_lines_give_the_same_graph_to_who_stands_for_them(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    fill(one)
    file = tmp_path / "all.jsonl"
    finished(one, exports.export_jsonl(one, str(file)))
    plan = finished(other, ingest.import_memories(other, str(file), mine=True, plan=True)).result
    assert (plan["memories"], plan["episodes"], state(other)) == (3, 4, ({}, {}))
    done = finished(other, ingest.import_memories(other, str(file), mine=True)).result
    assert (done["memories"], done["problems"]) == (3, ())
    assert state(other) == state(one)
    asked = RecallQuery(query="zebra migration", scope="shop")
    assert {item.node.id for item in other.recall(asked).items} == {item.node.id for item in one.recall(asked).items}
    again = finished(other, ingest.import_memories(other, str(file), mine=True)).result
    assert (again["memories"], again["edges"]) == (0, 0)
    assert state(other) == state(one)


@example_settings(max_examples=draws(6))
@given(given_memories=_MEMORIES, given_edges=_EDGES)
def test_notes_give_the_same_memories_and_edges(given_memories: Any, given_edges: Any) -> None:
    with tempfile.TemporaryDirectory() as name, opened(Path(name) / "one") as one, opened(Path(name) / "two") as other:
        ids, taken = [], set[tuple[str, str]]()
        for trigger, resolution, called, scope, kind in given_memories:
            if (called.casefold(), scope) in taken:
                continue
            taken.add((called.casefold(), scope))
            asked = StoreRequest(trigger=trigger, resolution=resolution, kind=kind, scope=scope, name=called)
            ids.append(memories.store(one, asked).id)
        for start, end, word in given_edges:
            if len({ids[start % len(ids)], ids[end % len(ids)]}) == 2:
                memories.edge(one, ids[start % len(ids)], ids[end % len(ids)], word)
        vault = Path(name) / "vault"
        finished(one, exports.export_markdown(one, str(vault)))
        finished(other, ingest.import_memories(other, str(vault), mine=True))
        assert state(other, Label.MEMORY) == state(one, Label.MEMORY)


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_nobody_elses_export_is_believed(two: tuple[Helix, Helix], tmp_path: Path, form: str) -> None:
    one, other = two
    fill(one)
    place = tmp_path / "export"
    finished(
        one, exports.export_jsonl(one, str(place)) if form == "jsonl" else exports.export_markdown(one, str(place))
    )
    done = finished(other, ingest.import_memories(other, str(place))).result
    assert (done["source"], done["memories"], done["problems"]) == ("helix", 2, ())
    found = memories.memories(other, MemoryFilter(any_status=True)).items
    assert {memory.provenance.trust for memory in found} == {Trust.TOOL_OUTPUT}
    assert not any(memory.helped or memory.uses or memory.label for memory in found)
    mine = {memory.id for memory in memories.memories(one, MemoryFilter(any_status=True)).items}
    assert not mine & {memory.id for memory in found}
    edges = state(other, Label.MEMORY)[1]
    assert {kind: props.get("relation", "") for (kind, _, _), props in edges.items()} == {
        "SOLVES": "",
        "RELATED": "leads_to, rejects",
    }
    again = finished(other, ingest.import_memories(other, str(place))).result
    assert (again["memories"], again["edges"]) == (0, 0)


def test_what_somebody_wrote_into_an_export_is_redacted_and_checked(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    fill(one)
    file = tmp_path / "all.jsonl"
    finished(one, exports.export_jsonl(one, str(file)))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    memory = next(line for line in lines if line.get("node") == "Memory")
    memory["props"] |= {
        "resolution": f"the key is {TOKEN}",
        "agent": TOKEN,
        "attributes": {"helix:x": TOKEN, "y": TOKEN},
    }
    memory["found_by"] = [f"the key is {TOKEN}"]
    broken = [
        {"node": "Memory", "id": "x", "props": {"name": "x"}},
        {"node": "Memory", "id": 7, "props": memory["props"]},
        {"node": "Nothing", "id": "y", "props": {}},
        {"node": "Memory", "id": TOKEN, "props": memory["props"]},
        {"node": "Memory", "id": "z", "props": {**memory["props"], "recorded_at": "soon"}},
        {"edge": "SOLVES", "from": ["Memory"], "to": [], "props": {}},
        {
            "edge": "SOLVES",
            "from": ["Memory", "nowhere"],
            "to": ["Memory", memory["id"]],
            "props": {"created_at": "2026-01-01"},
        },
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in (*lines, *broken)), "utf-8")
    done = finished(other, ingest.import_memories(other, str(file), mine=True)).result
    assert (done["memories"], done["redacted"]) == (3, 1)
    assert [one["where"].split()[0] for one in done["problems"]] == ["line"] * 6
    kept: Memory = memories.get(other, memory["id"])
    assert TOKEN not in repr(kept)
    other.store.journal.database.checkpoint()
    assert not any(TOKEN.encode() in path.read_bytes() for path in other.store.path.iterdir() if path.is_file())


def test_what_somebody_wrote_at_an_edge_or_an_origin_is_redacted_too(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    fill(one)
    file = tmp_path / "all.jsonl"
    finished(one, exports.export_jsonl(one, str(file)))
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    origin = {"extractor": f"x {TOKEN}", "model": f"m {TOKEN}"}
    for line in lines:
        if line.get("node") == "Memory":
            line["props"] |= origin
        if "edge" in line:
            line["props"] |= {"relation": f"knows {TOKEN}", "attributes": {"note": TOKEN, "helix:x": TOKEN}, **origin}
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    done = finished(other, ingest.import_memories(other, str(file), mine=True)).result
    assert done["edges"] > 0 and done["redacted"] > done["memories"]
    other.store.journal.database.checkpoint()
    assert not any(TOKEN.encode() in path.read_bytes() for path in other.store.path.iterdir() if path.is_file())


def test_one_exported_note_does_not_speak_for_a_vault(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    """Whoever wrote a note of a shared vault would else choose the project and the trust of what comes in."""
    one, other = two
    fill(one)
    vault = tmp_path / "vault"
    finished(one, exports.export_markdown(one, str(vault)))
    (vault / "mine.md").write_text("# A note of mine\n\nThe kestrel nests in the tower.\n", "utf-8")
    done = finished(other, ingest.import_memories(other, str(vault), mine=True, scope="notes")).result
    assert done["source"] == "vault"
    held = memories.memories(other, MemoryFilter(any_status=True)).items
    assert {memory.scope for memory in held} == {"notes"}
    assert any("kestrel" in memory.resolution for memory in held)
    assert not any(memory.helped or memory.uses for memory in held)


def test_what_was_exported_goes_back_where_it_came_from(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    fill(one)
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    with pytest.raises(InvalidInputError, match="scopes it came from"):
        ingest.import_memories(other, str(tmp_path / "export"), mine=True, scope="elsewhere")


def told(helix: Helix) -> dict[tuple[str, str], tuple[str, Trust, float]]:
    """Return what is told of all that is recalled: a second one of the same words would make it longer."""
    active = [one for one in memories.memories(helix).items]
    by_words = {(one.trigger, one.resolution): (one.name, one.provenance.trust, one.helped) for one in active}
    assert len(by_words) == len(active)
    return by_words


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_who_stands_for_what_came_in_before_raises_its_trust_and_doubles_nothing(
    two: tuple[Helix, Helix], tmp_path: Path, form: str
) -> None:
    one, other = two
    fill(one)
    place = tmp_path / "export"
    finished(
        one, exports.export_jsonl(one, str(place)) if form == "jsonl" else exports.export_markdown(one, str(place))
    )
    finished(other, ingest.import_memories(other, str(place)))
    assert {trust for _, trust, _ in told(other).values()} == {Trust.TOOL_OUTPUT}
    done = finished(other, ingest.import_memories(other, str(place), mine=True)).result
    assert done["problems"] == ()
    assert told(other) == told(one)
    own, others = ({memory.id for memory in memories.memories(helix).items} for helix in two)
    assert own == others, "what was ingested before went behind"
    said = {node["content"]: node["trust"] for (label, _), node in state(other)[0].items() if label == "Episode"}
    if form == "jsonl":
        assert said["The zebra migration ran"] == "agent_inferred"
        episodes = [node["content"] for (label, _), node in state(other)[0].items() if label == "Episode"]
        assert episodes.count("The zebra migration ran") == 1
    words = {(kind, props.get("relation", "")) for (kind, _, _), props in state(other, Label.MEMORY)[1].items()}
    assert words - {("SUPERSEDES", "")} == {("SOLVES", ""), ("RELATED", "leads_to, rejects")}
    before = state(other)
    again = finished(other, ingest.import_memories(other, str(place), mine=True)).result
    without = finished(other, ingest.import_memories(other, str(place))).result
    assert [(once["memories"], once["episodes"], once["edges"]) for once in (again, without)] == [(0, 0, 0)] * 2
    assert state(other) == before


@pytest.mark.parametrize("mine", [True, False])
def test_an_export_brings_nothing_into_the_store_that_it_came_from(
    two: tuple[Helix, Helix], tmp_path: Path, mine: bool
) -> None:
    one, _ = two
    fill(one)
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    before = state(one)
    done = finished(one, ingest.import_memories(one, str(tmp_path / "export"), mine=mine)).result
    assert (done["memories"], done["episodes"]) == (0, 0)
    assert done["skipped"] >= len(memories.memories(one).items)
    assert state(one) == before


def test_what_was_stored_here_in_the_same_words_is_not_doubled(two: tuple[Helix, Helix], tmp_path: Path) -> None:
    one, other = two
    for helix, trust in ((one, Trust.USER_ASSERTED), (other, Trust.AGENT_INFERRED)):
        asked = StoreRequest(trigger="the gate", resolution="is painted red", kind="fact", trust=trust, agent="codex")
        memories.store(helix, asked)
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    assert told(other) == told(one)


@pytest.mark.parametrize("form", ["jsonl", "markdown"])
def test_a_memory_without_a_resolution_comes_in_again(two: tuple[Helix, Helix], tmp_path: Path, form: str) -> None:
    one, other = two
    memories.store(one, StoreRequest(trigger="the gate is painted red", resolution="", kind="fact"))
    place = tmp_path / "export"
    finished(
        one, exports.export_jsonl(one, str(place)) if form == "jsonl" else exports.export_markdown(one, str(place))
    )
    done = finished(other, ingest.import_memories(other, str(place))).result
    assert (done["memories"], done["problems"]) == (1, ())
    (memory,) = memories.memories(other).items
    assert (memory.trigger, memory.resolution) == ("the gate is painted red", "")


ODD = {
    "a number for a text": {"agent": 5},
    "no number": {"importance": float("nan")},
    "a number without an end": {"helped": float("inf")},
    "a number for a table": {"attributes": 7},
    "nothing for a kind": {"kind": None},
    "too sure": {"confidence": 1e9},
}


@pytest.mark.parametrize("mine", [True, False], ids=["mine", "somebody's"])
@pytest.mark.parametrize("odd", some(ODD, 3))
def test_a_line_with_a_value_that_no_store_has_is_told_of_and_left_out(
    two: tuple[Helix, Helix], tmp_path: Path, odd: str, mine: bool
) -> None:
    one, other = two
    memories.store(one, StoreRequest(trigger="deploys need the vpn", resolution="", kind="fact", scope="shop"))
    file = tmp_path / "odd.jsonl"
    finished(one, exports.export_jsonl(one, str(file)))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    (told,) = (line for line in lines if line.get("node") == "Memory")
    lines.append({**told, "id": told["id"][:-4] + "beef", "props": {**told["props"], "name": "odd", **ODD[odd]}})
    ends = {"from": ["Memory", told["id"]], "to": ["Memory", told["id"]]}
    lines.append({"edge": "GROUNDED_IN", **ends, "props": {"created_at": told["props"]["recorded_at"]}})
    file.write_text("\n".join(map(json.dumps, lines)))
    done = finished(other, ingest.import_memories(other, str(file), mine=mine)).result
    held = memories.memories(other, MemoryFilter(any_status=True)).items
    assert [memory.trigger for memory in held] == ["deploys need the vpn"]
    assert len(done["problems"]) == 2


@pytest.mark.soak
def test_who_stands_for_what_came_of_a_commit_does_not_stand_for_all_of_its_message(
    two: tuple[Helix, Helix], tmp_path: Path, history: History
) -> None:
    one, other = two
    why = "The bank's API failed with HALF_CENT errors for odd amounts, so we always round down now."
    message = f"fix: round amounts down because the bank rejects half cents\n\n{why}\n\nThe audit log is off.\n"
    history.commit("Add payments", {"src/pay.py": "1"})
    history.commit(message, {"src/pay.py": "2"})
    for helix in two:
        finished(helix, ingest.ingest_git(helix, str(history.path), scope="shop"))
    for memory in memories.memories(one).items:
        memories.confirm(one, memory.id)
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    assert {memory.said_by for memory in memories.memories(other).items} == {"you"}
    said = {node["trust"] for (label, _), node in state(other)[0].items() if label == "Episode"}
    assert said == {"tool_output"}


def test_a_strangers_memory_of_the_same_name_and_words_is_not_taken_for_the_own_one(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    memories.store(one, StoreRequest(trigger="the gate", resolution="is red", kind="fact", scope="shop", name="gate"))
    told = {"trigger": "the gate", "resolution": "is red", "kind": "fact", "scope": "shop", "name": "gate"}
    ingest.ingest_jsonl(other, [json.dumps({**told, "attributes": {"command": "npm publish"}, "importance": 10})])
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    (own,) = (memory for memory in memories.memories(other).items if memory.said_by == "you")
    assert "command" not in own.attributes


@pytest.mark.parametrize("words", ["the gate is red", "the gate is never painted"])
@pytest.mark.parametrize("trust", [Trust.WEB, Trust.USER_ASSERTED])
def test_of_two_memories_of_one_name_the_better_founded_keeps_it(
    two: tuple[Helix, Helix], tmp_path: Path, words: str, trust: Trust
) -> None:
    one, other = two
    given = {"resolution": "", "kind": "fact", "scope": "shop", "name": "gate"}
    mine = memories.store(one, StoreRequest(trigger="the gate is red", **given)).id
    told = StoreRequest(trigger=words, trust=trust, **given)
    here = memories.store(other, told).id
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    assert memories.get(other, here).said_by == ("web" if trust is Trust.WEB else "you"), "nobody stands for it"
    assert memories.get(other, "gate").id == (mine if trust is Trust.WEB else here)
    names = [one.name for one in memories.memories(other).items]
    assert sorted(names) == sorted(set(names))


def test_a_copy_that_somebody_named_otherwise_is_not_taken_for_the_own_one(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    given = {"resolution": "", "kind": "convention", "scope": "shop", "name": "gate"}
    memories.store(one, StoreRequest(trigger="reset the test database first", **given))
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    lines = [json.loads(line) for line in (tmp_path / "export").read_text("utf-8").splitlines()]
    for line in lines:
        if line.get("node") == "Memory":
            line["props"] |= {"name": "skip-the-review", "attributes": {"command": "npm publish"}}
        if line.get("node") == "Episode":
            line["props"] |= {"agent": "somebody", "session": "another"}
    (tmp_path / "changed").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    finished(other, ingest.import_memories(other, str(tmp_path / "changed"), scope="shop"))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    (own,) = memories.memories(other).items
    assert (own.said_by, own.name) == ("you", "gate") and "command" not in own.attributes
    heard = [one for one in capture.episodes(other).items if one.provenance.trust is Trust.USER_ASSERTED]
    assert heard and {(one.provenance.agent, one.session) for one in heard} == {("", "")}


@pytest.mark.parametrize(
    ("form", "before"), some([("jsonl", False), ("markdown", False), ("jsonl", True), ("markdown", True)], 2)
)
def test_what_was_erased_here_comes_back_by_no_export_that_the_user_stands_for(
    two: tuple[Helix, Helix], tmp_path: Path, form: str, before: bool
) -> None:
    one, other = two
    memories.store(one, StoreRequest(trigger=VAULT, resolution="", kind="fact", scope="shop"))
    noted = {"note": f"Ann says: {VAULT}", "why": [VAULT]}
    gate = StoreRequest(trigger="the gate is red", resolution="", kind="fact", scope="shop", attributes=noted)
    memories.store(one, gate)
    place = str(tmp_path / "export")
    finished(one, exports.export_jsonl(one, place) if form == "jsonl" else exports.export_markdown(one, place))
    if before:
        finished(other, ingest.import_memories(other, place))
    else:
        memories.store(other, StoreRequest(trigger=VAULT, resolution="", kind="fact", scope="barn"))
    (told,) = (one for one in memories.memories(other).items if one.trigger == VAULT)
    finished(other, erasure.hard_forget(other, told.id, told.id))
    finished(other, ingest.import_memories(other, place, mine=True))
    said = [one.trigger for one in memories.memories(other, MemoryFilter(any_status=True)).items]
    assert "the gate is red" in said and VAULT not in said
    assert VAULT not in [one.content for one in capture.episodes(other).items]
    assert all(VAULT not in str(one.attributes) for one in memories.memories(other).items)
    assert all(VAULT not in piece for piece in passages(other))


def test_a_private_session_is_written_down_by_no_export_that_the_user_stands_for(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    capture.record_episode(one, EpisodeRequest(content="the barn is on fire", session="hush", scope="shop"))
    capture.open_session(other, SessionRequest(name="hush", private=True))
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    assert not capture.episodes(other).items


@pytest.mark.parametrize("scope", ["attic", "global"])
def test_what_an_export_says_stands_in_its_scope_wherever_a_copy_of_it_lies(
    two: tuple[Helix, Helix], tmp_path: Path, scope: str
) -> None:
    one, other = two
    memories.store(one, StoreRequest(trigger="the gate is red", resolution="", kind="fact", scope="shop"))
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), scope=scope))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    (told,) = memories.memories(other).items
    assert (told.scope, told.said_by) == ("shop", "you")
    assert {one.scope for one in capture.episodes(other).items if one.provenance.trust is Trust.USER_ASSERTED} == {
        "shop"
    }


def passages(helix: Helix) -> list[str]:
    """Return the texts that everything in the store is found by."""
    with helix.store.journal.snapshot() as (_, held):
        return [one.text for one in held.passages()]


def test_a_copy_that_somebody_dated_otherwise_is_not_taken_for_the_own_episode(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    capture.record_episode(one, EpisodeRequest(content="the api listens on port 8000", scope="shop", role="user"))
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    lines = [json.loads(line) for line in (tmp_path / "export").read_text("utf-8").splitlines()]
    for line in lines:
        if line.get("node") == "Episode":
            line["props"]["occurred_at"] = "2001-01-01T00:00:00+00:00"
    (tmp_path / "changed").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    finished(other, ingest.import_memories(other, str(tmp_path / "changed"), scope="shop"))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    years = {one.occurred_at.year: one.provenance.trust for one in capture.episodes(other).items}
    assert years[2001] is Trust.TOOL_OUTPUT and len(years) == 2


def test_what_the_user_said_in_the_place_of_a_copy_holds_beside_the_export(
    two: tuple[Helix, Helix], tmp_path: Path
) -> None:
    one, other = two
    memories.store(one, StoreRequest(trigger="the api listens on port 8000", resolution="", kind="fact", scope="p"))
    finished(one, exports.export_jsonl(one, str(tmp_path / "export")))
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), scope="p"))
    later = StoreRequest(trigger="the api listens on port 8002", resolution="", kind="fact", scope="p")
    mine = memories.store(other, later).id
    finished(other, ingest.import_memories(other, str(tmp_path / "export"), mine=True))
    holding = [item.node.id for item in other.recall(RecallQuery(query="api port", scope="p")).items]
    disputes = review.contradictions(other, any_status=True).items
    assert mine in holding and disputes, "the two are set against each other"
