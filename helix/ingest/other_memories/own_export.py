"""Own export: what Helix exported, ingested as somebody's word, or as it was where a person stands for it.

What `helix export` wrote, JSON lines or a folder of notes, is read as nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helix import files
from helix.exports.memory_note import MARK, read_note
from helix.ingest.draft import AlreadyHere, LinkDraft
from helix.ingest.other_memories.adapter import Adapter, Asked, ImportedItem, Told
from helix.ingest.other_memories.json_files import objects_in
from helix.ingest.other_memories.peek import Peek
from helix.model.edge import OPEN_RELATIONS, Edge, Label, Ref, Relation, words_of
from helix.model.episode import Episode
from helix.model.foreign_rows import check_row
from helix.model.memory import Memory, Status
from helix.model.operations import PutEdge, PutNode
from helix.model.records import (
    CLASS_OF,
    Node,
    edge_from,
    label_of,
    node_from,
    put_edge,
    put_record,
    spelled,
    to_props,
    unspelled,
)
from helix.model.reports import IngestProblem
from helix.text.cleaning import clean, decode
from helix.text.client_ids import told_id

_SAID = ("trigger", "resolution", "name", "scope", "importance", "confidence", "valid_from", "valid_to", "agent")
_OF_EPISODES = ("session", "scope", "agent", "role")


def _read_own_export(asked: Asked) -> Iterator[Told]:
    """Yield active memories and episodes, and the edges that people draw between memories.

    The file may be anybody's. Nothing that Helix found out or counted is believed: no outcomes, no tasks, no versions.
    """
    sources: dict[str, str] = {}
    for one in records(asked.path):
        if isinstance(one, IngestProblem):
            yield one
        elif isinstance(one, Edge):
            ends = [sources.get(ref.id) for ref in (one.source, one.target) if ref.label is Label.MEMORY]
            if len(ends) == 2 and ends[0] and ends[1] and one.type in OPEN_RELATIONS:
                words = ", ".join(words_of(one.relation))
                yield LinkDraft(type=one.type, source=ends[0], target=ends[1], relation=words)
        elif asked.is_here(Ref(label=label_of(one.node), id=one.node.id)):
            yield AlreadyHere()
        elif (found := _found(one)) is not None:
            sources[one.node.id] = found.source(OWN.name)
            yield found


def _found(one: OwnNode) -> ImportedItem | None:
    node = one.node
    if isinstance(node, Memory) and node.status is Status.ACTIVE:
        told = spelled(Memory, to_props(node))
        attributes = {name: value for name, value in node.attributes.items() if not name.startswith("helix:")}
        says = {name: told[name] for name in _SAID if told.get(name) not in (None, "")}
        says |= {
            "resolution": node.resolution,
            "kind": node.kind.value,
            "attributes": attributes,
            "trust": told["trust"],
        }
        return ImportedItem(key=node.id, says=says, changes=True)
    if isinstance(node, Episode) and node.status is Status.ACTIVE:
        told = spelled(Episode, to_props(node))
        says = {"text": node.content, "ts": told["occurred_at"], "trust": told["trust"]}
        return ImportedItem(key=node.id, says=says | {name: told[name] for name in _OF_EPISODES if told.get(name)})
    return None


OWN = Adapter(
    name="helix",
    looks_for='what `helix export` wrote: JSON lines that begin with {"helix": "export"}, '
    "or a folder of nothing but notes with `helix:` first",
    fits=lambda peek: is_lines(peek) or is_vault(peek),
    read=_read_own_export,
)


_LARGEST_NOTE = 1_000_000
_LONGEST_ID = 1_000
_FAULTS = (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNode:
    """A node of an export, and the texts that it is found by; None where a note does not say them."""

    node: Node
    found_by: tuple[str, ...] | None = None


OwnRecord = OwnNode | Edge | IngestProblem


def is_lines(peek: Peek) -> bool:
    """Return whether a file to import is an export of Helix as JSON lines."""
    return peek.first.get("helix") == "export"


def is_vault(peek: Peek) -> bool:
    """Return whether a folder to import holds notes that Helix exported, and no others."""
    notes = [note for note in sorted(peek.path.glob("*.md")) if note.is_file()] if peek.path.is_dir() else []
    return bool(notes) and all(_begins(note, f"---\n{MARK}: ") for note in notes)


def records(path: Path) -> Iterator[OwnRecord]:
    """Yield every node, then every edge, of a Helix export to import; a problem for what cannot be read as one."""
    yield from _of_notes(path) if path.is_dir() else _of_lines(path)


def _of_lines(path: Path) -> Iterator[OwnRecord]:
    for where, line in objects_in(path):
        if isinstance(line, IngestProblem):
            yield line
        elif "helix" not in line:
            try:
                yield _edge(line) if "edge" in line else _node(line)
            except _FAULTS as error:
                yield IngestProblem(where=where, why=f"no node and no edge: {error}"[:200])


def _node(line: Mapping[str, Any]) -> OwnNode:
    texts = line.get("found_by", [])
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("what it is found by is not a text")
    return OwnNode(node=_made(Label(line["node"]), line["id"], line["props"]), found_by=tuple(texts))


def _edge(line: Mapping[str, Any]) -> Edge:
    ends = [Ref.of(label, _id(node_id)) for label, node_id in (line["from"], line["to"])]
    return _drawn(Relation(line["edge"]), ends[0], ends[1], line["props"])


def _of_notes(folder: Path) -> Iterator[OwnRecord]:
    """Read the notes twice, nodes first: no more than one of them is in memory."""
    for edges in (False, True):
        for path in sorted(folder.glob("*.md")):
            try:
                note = read_note(_text(path))
                if note is None:
                    continue
                memory = OwnNode(node=_made(Label.MEMORY, note.id, note.props))
                if not edges:
                    yield memory
                    continue
                source = Ref.memory(note.id)
                for told in note.edges:
                    target = Ref.memory(_id(told["to"]))
                    props = {name: value for name, value in told.items() if name not in ("type", "to", "note")}
                    yield _drawn(Relation(told["type"]), source, target, props)
            except _FAULTS as error:
                if not edges:
                    yield IngestProblem(where=path.name, why=f"no note of a memory: {error}"[:200])


def _begins(path: Path, words: str) -> bool:
    try:
        with files.open_regular(path, links=False) as file:
            return file.read(len(words) + 8).decode("utf-8-sig", "replace").replace("\r\n", "\n").startswith(words)
    except OSError:
        return False


def _text(path: Path) -> str:
    try:
        return decode(files.read_bytes(path, _LARGEST_NOTE, links=False)) + "\n"
    except OSError:
        return ""


def _made(label: Label, node_id: object, props: Mapping[str, Any]) -> Node:
    cls = CLASS_OF[label]
    put = PutNode(label=label, id=_id(node_id), props=unspelled(cls, props))
    check_row(put)
    node = node_from(put.label, put.id, put.props)
    put_record(node)  # what cannot be stored is found out here
    return node


def _drawn(kind: Relation, source: Ref, target: Ref, props: Mapping[str, Any]) -> Edge:
    put = PutEdge(type=kind, source=source, target=target, props=unspelled(Edge, props))
    check_row(put)
    edge = edge_from(put)
    put_edge(edge)
    return edge


def _id(value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > _LONGEST_ID or clean(value) != value:
        raise ValueError("an id is not a text")
    if told_id(value) != value:
        raise ValueError("an id has the form of a secret")
    return value
