"""Imports from other memories: each file's shape is known, comes in once, and is never trusted for what it says."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helix.errors import DiskFullError, InvalidInputError
from helix.ingest.other_memories.importing import ADAPTERS
from helix.ingest.other_memories.json_files import objects_of, read_json
from helix.journal import table_check
from helix.journal.foreign_database import foreign_database
from helix.model.edge import Relation
from helix.model.memory import Kind, Memory, Status
from helix.model.provenance import Trust
from helix.model.reports import IngestProblem
from helix.operations import capture, erasure, ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter
from tests.sampling import some
from tests.waiting import finished

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4"
"""In the form of a secret, and none."""


@pytest.fixture
def helix(settings: Settings) -> Iterator[Helix]:
    with Helix.open(settings, embedder=HashEmbedder()) as opened:
        yield opened


def take_in(helix: Helix, path: Path, **asked: Any) -> dict[str, Any]:
    return dict(finished(helix, ingest.import_memories(helix, str(path), **asked)).result)


def lines(path: Path, *objects: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), "utf-8")
    return path


def stored(helix: Helix, **asked: Any) -> dict[str, Memory]:
    return {one.trigger: one for one in memories.memories(helix, MemoryFilter(**asked)).items}


def edges(helix: Helix) -> set[tuple[str, str, str, str]]:
    names = {one.id: one.trigger for one in memories.memories(helix, MemoryFilter(any_status=True)).items}
    return {
        (names[edge.source.id], edge.type.value, edge.relation, names[edge.target.id])
        for kind in (Relation.RELATED, Relation.DEPENDS_ON, Relation.SOLVES, Relation.SUPERSEDES)
        for edge in memories.edges(helix, relation=kind)
    }


DAY = "2026-01-05T09:00:00Z"
ENTITIES = (
    {"type": "relation", "from": "Billing", "to": "Postgres", "relationType": "depends on"},
    {"type": "entity", "name": "Postgres", "entityType": "database", "observations": ["Version 16", f"Key {TOKEN}"]},
    {"type": "entity", "name": "Billing", "entityType": "service", "observations": ["Runs nightly"]},
    {"type": "relation", "from": "Billing", "to": "Gone", "relationType": "uses"},
    {"type": "relation", "from": "Postgres", "to": "Billing", "relationType": "is asked by"},
)


def test_a_graph_of_the_mcp_memory_server_keeps_its_shape(helix: Helix, tmp_path: Path) -> None:
    file = lines(tmp_path / "memory.jsonl", *ENTITIES)
    plan = take_in(helix, file, plan=True)
    assert (plan["source"], plan["memories"], plan["planned"]) == ("mcp-memory", 2, True)
    assert not stored(helix), "a plan writes nothing"
    done = take_in(helix, file)
    assert (done["memories"], done["edges"], done["redacted"], done["problems"]) == (2, 2, 1, ())
    found = stored(helix, kinds=[Kind.ENTITY])
    assert found["Billing (service)"].resolution == "- Runs nightly"
    assert TOKEN not in repr(found)
    assert {one.provenance.trust for one in found.values()} == {Trust.TOOL_OUTPUT}
    assert edges(helix) == {
        ("Billing (service)", "DEPENDS_ON", "", "Postgres (database)"),
        ("Postgres (database)", "RELATED", "is_asked_by", "Billing (service)"),
    }
    again = take_in(helix, file)
    assert (again["memories"], again["edges"], again["skipped"]) == (0, 0, 2)
    copy = lines(tmp_path / "copy.jsonl", *ENTITIES)
    assert (take_in(helix, copy)["memories"], len(stored(helix))) == (0, 2)


def test_what_another_memory_says_anew_takes_the_place_of_what_it_said(helix: Helix, tmp_path: Path) -> None:
    file = lines(tmp_path / "memory.jsonl", *ENTITIES)
    take_in(helix, file)
    entity = {**ENTITIES[2], "observations": ["Runs hourly"]}
    assert take_in(helix, lines(file, entity))["memories"] == 1
    assert stored(helix)["Billing (service)"].resolution == "- Runs hourly"


def test_another_file_of_the_same_name_replaces_nothing(helix: Helix, tmp_path: Path) -> None:
    for home, says in (("a", "Backups run nightly"), ("b", "The house has a red door")):
        (tmp_path / home / "notes").mkdir(parents=True)
        (tmp_path / home / "notes/index.md").write_text(f"# {home}\n\n{says}, see [[Other]].\n", "utf-8")
        take_in(helix, tmp_path / home / "notes", scope="farm")
        entity = {"type": "entity", "name": "default_user", "entityType": "person", "observations": [says]}
        take_in(helix, lines(tmp_path / home / "memory.jsonl", entity), scope="farm")
    told = " ".join(one.resolution for one in memories.memories(helix, MemoryFilter(scope="farm")).items)
    assert told.count("Backups run nightly") == told.count("The house has a red door") == 2


@pytest.mark.parametrize("stood_for", ["confirmed", "imported as one's own"])
def test_what_a_person_stood_for_is_not_replaced_by_a_file(helix: Helix, tmp_path: Path, stood_for: str) -> None:
    one = {"id": "k10", "memory": "Releases are signed with the office key", "user_id": "u"}
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([one]), "utf-8")
    take_in(helix, file, scope="shop", mine=stood_for != "confirmed")
    (memory,) = stored(helix, scope="shop").values()
    if stood_for == "confirmed":
        memories.confirm(helix, memory.name)
    file.write_text(json.dumps([{**one, "memory": "Releases need no signature"}]), "utf-8")
    assert take_in(helix, file, scope="shop")["memories"] == 1
    assert {one.trigger: one.provenance.trust for one in stored(helix, scope="shop").values()} == {
        "Releases are signed with the office key": Trust.USER_ASSERTED,
        "Releases need no signature": Trust.TOOL_OUTPUT,
    }


MEM0 = {
    "results": [
        {
            "id": "0b7c",
            "memory": "Prefers tabs over spaces",
            "user_id": "ada",
            "created_at": "2026-01-02T03:04:05Z",
            "metadata": {"app": "editor", "trust": "user_asserted"},
            "categories": ["user_preferences"],
            "trust": "user_asserted",
        },
        {"id": "1f", "memory": "", "user_id": "ada"},
    ]
}


@pytest.mark.parametrize("data", [MEM0, MEM0["results"]])
def test_memories_of_mem0_come_in_as_a_tools_word(helix: Helix, tmp_path: Path, data: object) -> None:
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps(data, indent=2), "utf-8")
    done = take_in(helix, file, scope="shop")
    assert (done["source"], done["memories"], len(done["problems"])) == ("mem0", 1, 1)
    (memory,) = stored(helix, scope="shop").values()
    assert (memory.kind, memory.provenance.trust) == (Kind.PREFERENCE, Trust.TOOL_OUTPUT)
    assert memory.valid_from is not None and memory.valid_from.year == 2026
    assert memory.attributes["user_id"] == "ada"
    assert take_in(helix, file, scope="shop")["skipped"] == 1


@pytest.mark.parametrize("many", some([0, 4_000], 1))
def test_the_graph_of_mem0_comes_in_as_entities_and_edges(helix: Helix, tmp_path: Path, many: int) -> None:
    relations = [
        {"source": "billing", "relationship": "depends_on", "target": "postgres"},
        {"source": "billing", "relationship": "guards", "destination": "ledger"},
        {"source": "billing", "target": "nowhere"},
    ]
    results = [{"id": f"{n}", "memory": "", "user_id": "ada", "hash": "h" * 80} for n in range(many)] + MEM0["results"][
        :1
    ]
    file = tmp_path / "mem0.json"  # with many, the graph begins behind what is read at once
    file.write_text(json.dumps({"results": results, "relations": relations}), "utf-8")
    done = take_in(helix, file, scope="shop")
    assert (done["memories"], done["edges"]) == (4, 2)
    assert [one for one in done["problems"] if one["where"].startswith("relation")] == [
        {"where": "relation 3", "why": "it lacks a source, a relationship or a target"}
    ]
    found = stored(helix, scope="shop")
    assert (found["billing"].kind, found["billing"].resolution) == (
        Kind.ENTITY,
        "- depends_on postgres\n- guards ledger",
    )
    assert edges(helix) == {
        ("billing", "DEPENDS_ON", "", "postgres"),
        ("billing", "RELATED", "guards", "ledger"),
    }
    again = take_in(helix, file, scope="shop")
    assert (again["memories"], again["edges"]) == (0, 0)


def test_only_a_person_makes_it_their_own(helix: Helix, tmp_path: Path) -> None:
    file = lines(tmp_path / "memory.jsonl", *ENTITIES)
    take_in(helix, file)
    take_in(helix, file, mine=True)
    assert {one.provenance.trust for one in stored(helix).values()} == {Trust.USER_ASSERTED}


def test_a_file_of_no_known_shape_is_told_what_was_looked_for(helix: Helix, tmp_path: Path) -> None:
    strange = tmp_path / "strange.json"
    strange.write_text('{"colour": "blue"}', "utf-8")
    with pytest.raises(InvalidInputError) as refused:
        ingest.import_memories(helix, str(strange))
    assert all(one.name in str(refused.value.hint) for one in ADAPTERS)
    with pytest.raises(InvalidInputError, match="not what mem0 writes"):
        ingest.import_memories(helix, str(strange), source="mem0")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInputError, match="neither a file nor a folder"):
        ingest.import_memories(helix, str(tmp_path / "pipe"))


def test_broken_lines_are_named_and_the_rest_comes_in(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    good = json.dumps(ENTITIES[1]).encode()
    file.write_bytes(good + b"\n{\n\xff\xfe\n" + b"[" * 100_000 + b"\n" + good.replace(b"Postgres", b"Redis") + b"\n")
    done = take_in(helix, file)
    assert (done["memories"], [one["where"] for one in done["problems"]]) == (2, ["line 2", "line 3", "line 4"])


def test_episodes_name_where_they_came_from(helix: Helix, tmp_path: Path) -> None:
    take_in(helix, lines(tmp_path / "memory.jsonl", *ENTITIES))
    assert all(one.source.startswith("mcp-memory:") for one in capture.episodes(helix).items)


def chatgpt() -> list[dict[str, Any]]:
    def node(name: str, parent: str | None, role: str, *parts: object, at: float = 1_700_000_000.5) -> dict[str, Any]:
        content = {"content_type": "text", "parts": list(parts)}
        message = {"id": name, "author": {"role": role}, "content": content, "create_time": at}
        return {"id": name, "message": message, "parent": parent, "children": []}

    mapping = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
        "s": node("s", "root", "system", ""),
        "a": node("a", "s", "user", "How do I rebase?", {"asset": 1}),
        "b": node("b", "a", "assistant", "An answer that was tried again"),
        "c": node("c", "a", "assistant", f"Run git rebase, token {TOKEN}"),
    }
    return [{"title": "Git", "conversation_id": "c1", "mapping": mapping, "current_node": "c"}, {"mapping": 1}]


CLAUDE_CHAT = [
    {
        "uuid": "t1",
        "name": "Zebra",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Why?", "content": [], "created_at": "2026-01-01T00:00:00Z"},
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "tool used",
                "content": [{"type": "tool_use"}, {"type": "text", "text": "Because"}],
            },
        ],
    }
]


def test_conversations_come_in_as_episodes_by_their_last_branch(helix: Helix, tmp_path: Path) -> None:
    (tmp_path / "gpt").mkdir()
    (tmp_path / "gpt" / "conversations.json").write_text(json.dumps(chatgpt()), "utf-8")
    claude = tmp_path / "claude.json"
    claude.write_text(json.dumps(CLAUDE_CHAT), "utf-8")
    done = take_in(helix, tmp_path / "gpt")
    assert (done["source"], done["episodes"], done["memories"], done["redacted"]) == ("chatgpt", 2, 0, 1)
    done = take_in(helix, claude)
    assert (done["source"], done["episodes"], done["memories"]) == ("claude", 2, 0)
    told = {(one.role, one.content) for one in capture.episodes(helix).items}
    assert {("user", "How do I rebase?"), ("user", "Why?"), ("assistant", "Because")} < told
    assert take_in(helix, tmp_path / "gpt")["skipped"] == 2


def test_a_large_export_that_chatgpt_split_is_one(helix: Helix, tmp_path: Path) -> None:
    for number, word in enumerate(("rebase", "squash", "bisect")):
        (talk, _) = chatgpt()
        told = json.loads(json.dumps({**talk, "conversation_id": f"c{number}"}).replace("rebase", word))
        (tmp_path / f"conversations-{number:03}.json").write_text(json.dumps([told]), "utf-8")
    (tmp_path / "export_manifest.json").write_text("{}", "utf-8")
    done = take_in(helix, tmp_path)
    assert (done["source"], done["episodes"], done["problems"]) == ("chatgpt", 6, ())
    assert {f"How do I {word}?" for word in ("rebase", "squash", "bisect")} < {
        one.content for one in capture.episodes(helix).items
    }


def test_what_a_tool_was_given_makes_no_other_kind_of_an_export(helix: Helix, tmp_path: Path) -> None:
    (talk,) = json.loads(json.dumps(CLAUDE_CHAT))
    talk["chat_messages"][1]["content"][0]["input"] = {"title": "a plan", "mapping": {"a": "b"}}
    (tmp_path / "conversations.json").write_text(json.dumps([talk]), "utf-8")
    assert take_in(helix, tmp_path)["source"] == "claude"


def test_a_long_list_is_read_one_object_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text(json.dumps([{"n": n, "text": "x" * 3_000} for n in range(500)], indent=1), "utf-8")
    assert [one["n"] for one in objects_of(file) if not isinstance(one, IngestProblem)] == list(range(500))
    cut = tmp_path / "cut.json"
    cut.write_text(file.read_text("utf-8")[:1_000_000], "utf-8")
    *found, last = objects_of(cut)
    assert isinstance(last, IngestProblem) and len(found) > 300
    empty = tmp_path / "empty.json"
    empty.write_text('{"results": []}', "utf-8")
    assert list(objects_of(empty, "results")) == []


@pytest.mark.parametrize("form", some(["{}", '{{"results": {}}}'], 1))
def test_an_object_of_more_values_than_anybody_has_is_not_read(tmp_path: Path, form: str) -> None:
    file = tmp_path / "many.json"
    many = f'[{{"id": "1", "kept": [{"[]," * 3_000_000}[]]}}]'
    file.write_text(form.format(many), "utf-8")
    (problem,) = objects_of(file, "results")
    assert isinstance(problem, IngestProblem) and "more than 2,000,000 values" in problem.why
    long = tmp_path / "long.json"
    long.write_text(json.dumps([{"id": "1", "memory": "x" * 2_000_000}]), "utf-8")
    (problem,) = objects_of(long, longest=1_000_000)
    assert isinstance(problem, IngestProblem) and "more than 1,000,000 characters" in problem.why
    (one,) = objects_of(long)
    assert not isinstance(one, IngestProblem) and one["id"] == "1"


def claude_mem(path: Path) -> None:
    """Make a file with the tables and columns of claude-mem 13."""
    with closing(sqlite3.connect(path)) as made, made:
        made.executescript(
            """
            CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, memory_session_id TEXT UNIQUE, project TEXT);
            CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT,
              text TEXT, type TEXT, created_at TEXT, created_at_epoch INTEGER, title TEXT, subtitle TEXT, facts TEXT,
              narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, content_hash TEXT);
            CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT,
              request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT,
              created_at TEXT, created_at_epoch INTEGER);
            """
        )
        made.execute(
            "INSERT INTO observations (memory_session_id, project, type, created_at_epoch, title, facts, narrative,"
            " files_modified) VALUES ('s1', 'shop', 'decision', 1767225600000, 'Use WAL', '[\"it is faster\"]',"
            " 'We chose WAL.', '[\"db/open.py\"]')"
        )
        made.execute(
            "INSERT INTO session_summaries (memory_session_id, request, learned, created_at_epoch)"
            " VALUES ('s1', 'speed up', ?, 1767225600000)",
            (f"the key was {TOKEN}",),
        )


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be removed")
def test_a_copy_of_a_database_that_is_being_read_lies_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever kills the reader leaves nothing behind that a hard forget would have to find."""
    path, place = tmp_path / "foreign.db", tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("CREATE TABLE note (id INTEGER, text TEXT)")
        made.executemany("INSERT INTO note VALUES (?, ?)", [(number, "x" * 10_000) for number in range(500)])
    with foreign_database(path) as database:
        assert [one for one in place.rglob("*") if one.is_file()] == []
        assert sum(1 for _ in database.rows("note", ["id", "text"], ["text", "id"])) == 500


def test_a_table_whose_pages_come_again_and_again_is_not_read(tmp_path: Path) -> None:
    """A few of them that name each other are more rows than any disk could sort."""
    path, page_size = tmp_path / "foreign.db", 512
    with closing(sqlite3.connect(path)) as made, made:
        made.execute(f"PRAGMA page_size = {page_size}")
        made.execute("CREATE TABLE note (id INTEGER, text TEXT)")
        made.executemany("INSERT INTO note VALUES (?, ?)", [(number, "x" * 300) for number in range(40)])
        ((root,),) = made.execute("SELECT rootpage FROM sqlite_schema")
    data = bytearray(path.read_bytes())
    page = (root - 1) * page_size
    (first,) = struct.unpack(">H", data[page + 12 : page + 14])  # where the first cell of the root lies
    data[page + 8 : page + 12] = data[page + first : page + first + 4]  # its last child is the first one, too
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as made:
        assert made.execute("SELECT count(*) > count(DISTINCT id) FROM note").fetchone() == (1,)
    with pytest.raises(InvalidInputError, match="note is damaged"), foreign_database(path) as database:
        list(database.rows("note", ["id", "text"], ["id"]))


@pytest.mark.parametrize("form", ["CHECK ({})", "more AS ({}) NOT NULL"])
def test_nothing_that_a_table_would_compute_is_computed(tmp_path: Path, form: str) -> None:
    """Some bytes of a file say what would take SQLite a day; here it would end in an error of its own."""
    path = tmp_path / "foreign.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE note (id INTEGER)")
        made.execute("INSERT INTO note VALUES (1)")
        made.execute("PRAGMA writable_schema = ON")
        planted = form.format("abs(-9223372036854775807 - id)")  # an overflow, where it is computed
        made.execute("UPDATE sqlite_schema SET sql = ?", (f"CREATE TABLE note (id INTEGER, {planted})",))
    try:
        with foreign_database(path) as database:
            assert list(database.rows("note", ["id"])) == [{"id": 1}]
    except InvalidInputError as refused:
        assert "the table note has computed columns" in refused.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_log_that_somebody_else_put_beside_a_database_is_not_read(tmp_path: Path) -> None:
    """Whatever it says would be ingested as what the user keeps there."""
    path = tmp_path / "foreign.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE note (id INTEGER)")
    (log := tmp_path / "foreign.db-wal").write_bytes(b"pages of another database")
    with foreign_database(path) as database:
        assert database.tables == {"note"}
    os.chown(log, 65534, 65534)
    with pytest.raises(InvalidInputError, match="may be another user's"), foreign_database(path):
        pass


def test_a_database_that_the_disk_has_no_room_for_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "foreign.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE note (id INTEGER)")
    os.truncate(path, shutil.disk_usage(tempfile.gettempdir()).free)  # a sparse file takes no room where it lies
    with pytest.raises(DiskFullError, match="larger than half of the room"), foreign_database(path):
        pass


def test_a_database_that_grows_while_it_is_copied_fills_no_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, copied = tmp_path / "foreign.db", list[int]()
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("CREATE TABLE note (id INTEGER)")
        made.execute("INSERT INTO note VALUES (1)")
    size, room, harden = path.stat().st_size, shutil.disk_usage, table_check.harden

    def growing(folder: str) -> object:
        os.truncate(path, 1 << 26)  # once it was looked at
        return room(folder)

    def watched(connection: sqlite3.Connection) -> None:
        copied.extend(file.stat().st_size for file in tmp_path.glob("helix-import-*/database"))
        harden(connection)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", growing)
    monkeypatch.setattr(table_check, "harden", watched)
    with foreign_database(path) as database:
        assert list(database.rows("note", ["id"])) == [{"id": 1}]
    assert copied == [size]


def test_what_claude_mem_observed_comes_in_and_its_file_stays_as_it_is(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "claude-mem.db"
    claude_mem(file)
    before = file.read_bytes()
    done = take_in(helix, file, scope="shop")
    assert (done["source"], done["memories"], done["episodes"], done["redacted"]) == ("claude-mem", 1, 2, 1)
    (memory,) = stored(helix, scope="shop").values()
    assert (memory.kind, memory.trigger, memory.attributes["project"]) == (Kind.DECISION, "Use WAL", "shop")
    assert memory.resolution == "We chose WAL.\n\n- it is faster"
    assert memory.valid_from is not None and memory.valid_from.year == 2026
    assert file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claude-mem.db", "home"]
    assert take_in(helix, file, scope="shop")["skipped"] == 2


def test_a_database_of_views_is_none_of_claude_mem(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "claude-mem.db"
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE VIEW observations AS SELECT load_extension('x') AS id")
        made.execute("CREATE TABLE session_summaries (id)")
    with pytest.raises(InvalidInputError, match="nothing that can be imported"):
        ingest.import_memories(helix, str(file))


def vault(folder: Path) -> Path:
    (folder / "ideas").mkdir(parents=True)
    (folder / "ideas" / "Billing.md").write_text(
        "---\ntitle: Billing service\ntype: decision\npermalink: ideas/billing\ntags:\n- money\n---\n\n"
        "# Billing\n\nIt runs nightly, see [[Postgres|the database]].\n\n"
        f"- [decision] Invoices are immutable #audit\n- [x] a task that is done\n- [secret] {TOKEN}\n"
        "- depends_on [[Postgres]]\n- uses [[Nowhere]]\n- guards [[Postgres]]\n- backs_up [[Postgres]]\n",
        "utf-8",
    )
    (folder / "Postgres.md").write_text("Asked by [[ideas/billing]].\n", "utf-8")
    (folder / "out.md").symlink_to(folder.parent / "elsewhere.md")
    (folder.parent / "elsewhere.md").write_text("Not of the vault [[Postgres]]", "utf-8")
    return folder


def test_a_vault_gives_its_notes_observations_and_links(helix: Helix, tmp_path: Path) -> None:
    folder = vault(tmp_path / "brain")
    done = take_in(helix, folder, scope="shop")
    assert (done["source"], done["memories"], done["redacted"]) == ("vault", 4, 1)
    assert [one["why"].partition(" of ")[0] for one in done["problems"]] == ["a link that leads out"]
    found = stored(helix, scope="shop")
    assert (found["Billing service"].kind, found["Billing service"].attributes["tags"]) == (Kind.DECISION, ["money"])
    assert "runs nightly" in found["Billing service"].resolution
    assert found["Billing service: decision"].attributes == {"category": "decision", "tags": ["audit"]}
    assert edges(helix) == {
        ("Billing service", "DEPENDS_ON", "", "Postgres"),
        ("Billing service", "RELATED", "links_to, guards, backs_up", "Postgres"),
        ("Postgres", "RELATED", "links_to", "Billing service"),
        ("Billing service: decision", "RELATED", "about", "Billing service"),
        ("Billing service: secret", "RELATED", "about", "Billing service"),
    }
    observed = found["Billing service: decision"].source
    assert re.fullmatch(r"vault:brain~\w{8}/ideas/Billing\.md#Billing~[0-9a-f]{16}@[0-9a-f]{16}", observed)
    assert observed != found["Billing service: secret"].source
    assert re.fullmatch(r"vault:brain~\w{8}/ideas/Billing\.md@[0-9a-f]{16}", found["Billing service"].source)
    os.utime(folder / "Postgres.md", (1, 1))
    again = take_in(helix, folder, scope="shop")
    assert (again["memories"], again["edges"], again["skipped"]) == (0, 0, 4)
    (folder / "Postgres.md").write_text("Version 17 now. Asked by [[ideas/billing]].\n", "utf-8")
    assert take_in(helix, folder, scope="shop")["memories"] == 1
    assert "Version 17" in stored(helix, scope="shop")["Postgres"].resolution


@pytest.mark.parametrize("mine", [False, True])
def test_what_a_vault_says_no_more_is_said_no_more(helix: Helix, tmp_path: Path, mine: bool) -> None:
    folder = tmp_path / "brain"
    folder.mkdir()

    def said(*observations: str, other: str = "other.md") -> set[str]:
        for file in folder.glob("*.md"):
            file.unlink()
        lines = "".join(f"- [convention] {one}\n" for one in observations)
        (folder / "Api.md").write_text(f"# Api\n\nSee [[other]].\n\n{lines}", "utf-8")
        (folder / other).write_text("# Other\n\nSee [[Api]].\n\n- [convention] Ask first\n", "utf-8")
        finished(helix, ingest.import_memories(helix, str(folder), scope="shop", mine=mine))
        standing = memories.memories(helix, MemoryFilter(scope="shop", status=[Status.ACTIVE])).items
        return {one.resolution for one in standing if "convention" in one.trigger}

    make, just = "Deploy with `make deploy` only", "Deploy with `just ship` only"
    assert said(make) == {make, "Ask first"}
    assert said(just) == {just, "Ask first"}
    assert said(make) == {make, "Ask first"}
    assert said() == {"Ask first"}
    assert said(just, other="renamed.md") == {just, "Ask first"}


@pytest.mark.parametrize("said", ["[PG, the database]", "PG, the database", "\n- PG\n- the database"])
def test_a_link_to_a_notes_other_name_leads_to_the_note(helix: Helix, tmp_path: Path, said: str) -> None:
    folder = tmp_path / "brain"
    folder.mkdir()
    (folder / "A.md").write_text("It needs [[pg]], [[The Database]] and [[B]].\n", "utf-8")
    (folder / "Postgres.md").write_text(f"---\naliases: {said}\n---\nVersion 17.\n", "utf-8")
    (folder / "Also.md").write_text("---\naliases: [B]\n---\nIt is called as another note is.\n", "utf-8")
    (folder / "B.md").write_text("A note of that name goes first.\n", "utf-8")
    take_in(helix, folder, scope="shop")
    assert edges(helix) == {("A", "RELATED", "links_to", "Postgres"), ("A", "RELATED", "links_to", "B")}


def test_a_plan_shows_no_secret(helix: Helix, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(chatgpt()), "utf-8")
    shown = take_in(helix, tmp_path / "chat.json", plan=True)["examples"]
    assert shown[0] == "How do I rebase?"
    assert "Run git rebase" in shown[1] and TOKEN not in "".join(shown)


def test_a_note_that_is_cut_is_told_of(helix: Helix, tmp_path: Path) -> None:
    (tmp_path / "brain").mkdir()
    (tmp_path / "brain/long.md").write_text("word " * 10_000 + "[[other]]", "utf-8")
    (tmp_path / "brain/other.md").write_text("short", "utf-8")
    done = take_in(helix, tmp_path / "brain")
    assert done["memories"] == 2
    assert [(one["where"], one["why"]) for one in done["problems"]] == [
        ("long.md", "only its first 30,000 characters come in")
    ]


@pytest.mark.parametrize("line", ["- " + " " * 300_000 + "x", "- a" + " " * 300_000 + "[[", "[[" + "a" * 300_000])
def test_a_line_that_is_nearly_a_link_in_many_ways_costs_no_more_than_another(
    helix: Helix, tmp_path: Path, line: str
) -> None:
    """One such line kept the whole daemon for weeks, SIGTERM included: nothing else of Python runs meanwhile."""
    (tmp_path / "brain").mkdir()
    (tmp_path / "brain/a.md").write_text(f"It leads to [[b]].\n{line}\n- knows [[b]]\n", "utf-8")
    (tmp_path / "brain/b.md").write_text("It is led to.\n", "utf-8")
    assert (take_in(helix, tmp_path / "brain")["memories"], edges(helix)) == (
        2,
        {("a", "RELATED", "links_to, knows", "b")},
    )


def test_no_link_leads_out_of_a_clients_memory(helix: Helix, tmp_path: Path) -> None:
    private = tmp_path / "private/memory"
    private.mkdir(parents=True)
    (private / "own.md").write_text("# Keys\n\nThe spare key hangs behind the barn door.\n", "utf-8")
    given = tmp_path / "given/barn/memory"
    given.mkdir(parents=True)
    (given / "notes.md").write_text("# Gates\n\nThe gate closes at eight in the evening.\n", "utf-8")
    (tmp_path / "given/link").symlink_to(tmp_path / "private")
    assert take_in(helix, tmp_path / "given", scope="farm")["source"] == "claude-code"
    assert "gate" in " ".join(one.resolution for one in stored(helix, scope="farm").values())
    assert "spare key" not in " ".join(one.resolution for one in stored(helix, scope="farm").values())


def test_a_strangers_folder_of_a_clients_memory_takes_the_place_of_nothing(helix: Helix, tmp_path: Path) -> None:
    """Whoever wrote its sessions says which project's memory it is. A project may have a folder of that name, too."""
    barn, mine, theirs = tmp_path / "barn", "Always close the gate at eight.", "Never close the gate."
    subprocess.run(["git", "init", "-q", str(barn)], check=True)

    def kept(place: str, said: str) -> set[str]:
        (folder := tmp_path / place / "projects/-barn/memory").mkdir(parents=True, exist_ok=True)
        (folder.parent / "s.jsonl").write_text(json.dumps({"sessionId": "s", "cwd": str(barn)}) + "\n", "utf-8")
        (folder / "notes.md").write_text(f"# Gates\n\n{said}\n", "utf-8")
        take_in(helix, tmp_path / place / "projects")
        return {one.resolution for one in memories.memories(helix).items}

    (barn / "memory").mkdir()
    (barn / "memory" / "of-the-barn.md").write_text("# Hay\n\nThe hay lies in the loft.\n", "utf-8")
    finished(helix, ingest.ingest_notes(helix, [str(barn)]))
    hay = "The hay lies in the loft."
    assert kept("own", mine) == {hay, mine}
    assert kept("evil", theirs) == kept("empty", "") == {hay, mine, theirs}
    assert kept("evil", "Always close the gate at ten.") == {hay, mine, "Always close the gate at ten."}
    assert kept("own", "Always close the gate at six.") == {
        hay,
        "Always close the gate at six.",
        "Always close the gate at ten.",
    }


@pytest.mark.parametrize("mine", [True, False])
def test_of_a_client_s_memory_what_names_an_ignored_file_is_left_out(helix: Helix, tmp_path: Path, mine: bool) -> None:
    barn = tmp_path / "barn"
    barn.mkdir()
    (barn / ".helixignore").write_text("secret/\n", "utf-8")
    given = tmp_path / "given/projects/-barn"
    (given / "memory").mkdir(parents=True)
    (given / "s.jsonl").write_text(json.dumps({"sessionId": "s", "cwd": str(barn)}) + "\n", "utf-8")
    said = "# Gates\n\nThe gate closes at eight.\n\n# Prices\n\nIn secret/plan.md the hay is 12 dollars.\n"
    (given / "memory/notes.md").write_text(said, "utf-8")
    take_in(helix, tmp_path / "given", scope="farm", mine=mine)
    kept = " ".join(str(one) for one in (*stored(helix, scope="farm").values(), *capture.episodes(helix).items))
    assert ("gate closes" in kept, "12 dollars" in kept) == (True, mine)


def test_what_an_import_showed_goes_with_what_is_erased(helix: Helix, tmp_path: Path) -> None:
    words = "The launch of the quokka is on the ninth of may"
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": [{"id": "1", "memory": words, "user_id": "ada", "created_at": DAY}]}))
    assert take_in(helix, file, plan=True)["examples"] == [words]
    take_in(helix, file)
    (held,) = stored(helix).values()
    finished(helix, erasure.hard_forget(helix, held.id, erasure.erase_plan(helix, held.id).root.id))
    assert "quokka" not in repr(helix.jobs.all())
    assert [job.result["memories"] for job in helix.jobs.all() if job.kind == "ingest"] == [1, 1]


@pytest.mark.soak
def test_nobody_who_writes_waits_for_many_long_texts(helix: Helix, tmp_path: Path) -> None:
    words, written = "words of a log " * 2_000, list[int]()
    file = tmp_path / "mem0.json"
    told = [{"id": str(one), "memory": f"{one} {words}", "user_id": "ada", "created_at": DAY} for one in range(24)]
    file.write_text(json.dumps({"results": told}))
    helix.store.writer.listen(lambda rows: written.append(len(rows)))
    assert take_in(helix, file)["memories"] == 24
    assert len(written) >= 4 and max(written) <= 6


@pytest.mark.parametrize(
    "value", ["[" + "[]," * 100_001 + "[]]", "{" + '"a":{},' * 100_001 + '"b":1}', "[1", "[" * 9_000]
)
def test_a_column_with_more_values_than_it_should_have_is_not_read(value: str) -> None:
    assert read_json(value) is None


def test_a_column_of_json_is_read() -> None:
    assert (read_json('["a"]'), read_json(None), read_json(1)) == (["a"], None, None)
