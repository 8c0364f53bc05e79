"""Imports from other memories: each file's shape is known, comes in once, and is never trusted for what it says."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helix.errors import InvalidInputError
from helix.ingest.imports.importing import ADAPTERS
from helix.model.edge import Relation
from helix.model.memory import Kind, Memory
from helix.model.provenance import Trust
from helix.operations import capture, ingest, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
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
    return {one.trigger: one for one in memories.memories(helix, **asked).items}


def edges(helix: Helix) -> set[tuple[str, str, str, str]]:
    names = {one.id: one.trigger for one in memories.memories(helix, any_status=True).items}
    return {
        (names[edge.source.id], edge.type.value, edge.relation, names[edge.target.id])
        for kind in (Relation.RELATED, Relation.DEPENDS_ON, Relation.SOLVES, Relation.SUPERSEDES)
        for edge in memories.edges(helix, relation=kind)
    }


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
    copy = lines(tmp_path / "copy.jsonl", *ENTITIES)
    again = take_in(helix, copy)
    assert (again["memories"], again["edges"], again["skipped"]) == (0, 0, 2)


def test_what_another_memory_says_anew_takes_the_place_of_what_it_said(helix: Helix, tmp_path: Path) -> None:
    file = lines(tmp_path / "memory.jsonl", *ENTITIES)
    take_in(helix, file)
    entity = {**ENTITIES[2], "observations": ["Runs hourly"]}
    assert take_in(helix, lines(file, entity))["memories"] == 1
    assert stored(helix)["Billing (service)"].resolution == "- Runs hourly"


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
