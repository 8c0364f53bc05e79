"""Exports: what they hold, that they can be read, and what they leave alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.exports.memory_note import MemoryNote, note_text, read_note
from helix.memory.remember.request import StoreRequest
from helix.model.provenance import Trust
from helix.model.reports import Job, JobState
from helix.operations import exports, memories
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from tests.waiting import ended, finished

_XML = "{http://graphml.graphdrawing.org/xmlns}"


@pytest.fixture
def helix(settings: Settings) -> Iterator[Helix]:
    with Helix.open(settings, embedder=HashEmbedder()) as opened:
        ids = []
        for name, scope in (("port-taken", "shop"), ("old-server", "shop"), ("port-taken", "bank")):
            asked = StoreRequest(
                trigger=f"{name} in {scope} & <b>",
                resolution="Stop it \x07 first",
                kind="failure",
                name=name,
                scope=scope,
            )
            ids.append(memories.store(opened, asked).id)
        memories.edge(opened, ids[1], ids[0], "blocks the port")
        yield opened


def result(helix: Helix, job: Job) -> dict[str, Any]:
    done = finished(helix, job)
    assert done.state is JobState.DONE, done.error
    return dict(done.result)


def test_json_lines_hold_every_node_and_edge(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    done = result(helix, exports.export_jsonl(helix, str(file)))
    head, *lines = map(json.loads, file.read_text("utf-8").splitlines())
    counts = helix.store.records.counts()
    assert sum("edge" in line for line in lines) == done["edges"] == counts["edges"] == head["edges"]
    assert sum("node" in line for line in lines) == done["nodes"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert any(line.get("edge") == "RELATED" and line["props"]["relation"] == "blocks_the_port" for line in lines)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.jsonl", "home"]


def test_graphml_is_xml_that_names_every_node_and_edge(helix: Helix, tmp_path: Path) -> None:
    file = tmp_path / "all.graphml"
    done = result(helix, exports.export_graphml(helix, str(file)))
    graph = ElementTree.parse(file).getroot()
    nodes, edges = list(graph.iter(f"{_XML}node")), list(graph.iter(f"{_XML}edge"))
    assert (len(nodes), len(edges)) == (done["nodes"], done["edges"])
    ids = {node.get("id") for node in nodes}
    assert all({edge.get("source"), edge.get("target")} <= ids for edge in edges)
    keys = {key.get("id") for key in graph.iter(f"{_XML}key")}
    assert {data.get("key") for data in graph.iter(f"{_XML}data")} <= keys
    assert "port-taken in shop & <b>" in {data.text for data in graph.iter(f"{_XML}data")}


def test_a_vault_has_a_note_for_each_memory_with_links(helix: Helix, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    done = result(helix, exports.export_markdown(helix, str(folder)))
    assert (done["memories"], done["edges"]) == (3, 1)
    names = sorted(path.name for path in folder.iterdir())
    assert len({name.casefold() for name in names}) == 3
    assert "- blocks_the_port [[port-taken" in (folder / "old-server.md").read_text("utf-8")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {(folder / name).stat().st_mode & 0o777 for name in names} == {0o600}


@pytest.mark.parametrize(
    ("trust", "inert"), [(Trust.WEB, True), (Trust.TOOL_OUTPUT, True), (Trust.USER_ASSERTED, False)]
)
def test_nothing_in_the_words_of_strangers_is_shown_or_run_by_what_opens_the_vault(
    helix: Helix, tmp_path: Path, trust: Trust, inert: bool
) -> None:
    image, script = "![x](http://tracker.example/x.png)", "````dataviewjs\napp.vault.delete(1)\n````"
    memories.store(helix, StoreRequest(trigger=image, resolution=script, kind="fact", name="told", trust=trust))
    result(helix, exports.export_markdown(helix, str(tmp_path / "vault")))
    note = (tmp_path / "vault" / "told.md").read_text("utf-8")
    assert (f"```text\n{image}\n```\n" in note) is inert
    assert (f"`````text\n{script}\n`````\n" in note) is inert


def test_no_note_is_called_as_the_files_that_agents_take_rules_from(helix: Helix, tmp_path: Path) -> None:
    """Somebody else may have named what was imported, and a disk may not tell `claude.md` from `CLAUDE.md`."""
    for name in ("CLAUDE", "Agents", "claude.local"):
        memories.store(helix, StoreRequest(trigger=f"about {name}", resolution="x", kind="fact", name=name))
    result(helix, exports.export_markdown(helix, str(tmp_path / "vault")))
    names = {path.name for path in (tmp_path / "vault").iterdir()}
    assert names.isdisjoint({"claude.md", "agents.md", "claude.local.md"})
    assert sum(name.startswith(("claude~", "agents~", "claude.local~")) for name in names) == 3


def test_what_is_there_is_left_alone(helix: Helix, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.md").write_text("mine", "utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "file").symlink_to(tmp_path / "nowhere")
    for start, name in (
        (exports.export_markdown, "mine"),
        (exports.export_markdown, "link"),
        (exports.export_jsonl, "file"),
        (exports.export_graphml, "mine"),
    ):
        assert ended(helix, start(helix, str(tmp_path / name))).error_code == "CONFLICT"
    assert ended(helix, exports.export_jsonl(helix, str(tmp_path / "no" / "file"))).error_code == "NOT_FOUND"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["note.md"]
    assert not list((tmp_path / "empty").iterdir())
    assert not (tmp_path / "nowhere").exists()


_PIECES = [*"ab \n-:#[]\"'\\\x85\u2028é`", "```text\n", "\n````\n", "## What", "\n## Links\n", "---\n", "## When\n"]
_WORDS = st.lists(st.sampled_from(_PIECES), max_size=12).map(lambda pieces: "".join(pieces).strip())


@given(trigger=_WORDS, resolution=_WORDS, name=_WORDS, trust=st.sampled_from(["user_asserted", "web"]))
def test_a_note_is_read_back_as_it_was_written(trigger: str, resolution: str, name: str, trust: str) -> None:
    told = {"name": name, "trigger": trigger, "resolution": resolution, "trust": trust}
    props = {**told, "attributes": {"a: b": [1, None, name]}}
    edges = [{"type": "SOLVES", "to": "1", "note": "other", "weight": 2.0}]
    note = MemoryNote(id="7", props=props, edges=edges)
    read = read_note(note_text(note))
    assert read is not None and (read.id, dict(read.props), list(read.edges)) == ("7", props, edges)
