"""MCP memory: the JSON lines of the reference memory server of the Model Context Protocol, a graph of entities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from helix.ingest.draft import LinkDraft
from helix.ingest.other_memories.adapter import Adapter, Asked, ImportedItem, Told, relation_for_word
from helix.ingest.other_memories.json_files import objects_in
from helix.ingest.other_memories.peek import Peek
from helix.model.memory import Kind
from helix.model.reports import IngestProblem

_NAME = "mcp-memory"


def _fits(peek: Peek) -> bool:
    first = peek.first
    return (first.get("type"), "entityType" in first, "relationType" in first) in (
        ("entity", True, False),
        ("relation", False, True),
    )


def _read_mcp_memory(asked: Asked) -> Iterator[Told]:
    """Yield a memory for each entity, its observations as it has them, and a link for each relation."""
    sources: dict[str, str] = {}
    relations: list[tuple[str, str, str]] = []
    for where, line in objects_in(asked.path):
        if isinstance(line, IngestProblem):
            yield line
        elif line.get("type") == "entity":
            found = _entity(line, asked.place)
            sources[str(line.get("name") or "")] = found.source(_NAME)
            yield found
        elif line.get("type") == "relation":
            relations.append((str(line.get("from")), str(line.get("to")), str(line.get("relationType"))))
        else:
            yield IngestProblem(where=where, why="neither an entity nor a relation")
    for start, end, word in relations:
        if start in sources and end in sources:
            kind, relation = relation_for_word(word)
            yield LinkDraft(type=kind, source=sources[start], target=sources[end], relation=relation)


def _entity(line: Mapping[str, Any], place: str) -> ImportedItem:
    name, kind, told = str(line.get("name") or ""), str(line.get("entityType") or ""), line.get("observations")
    observations = [str(one) for one in told if str(one).strip()] if isinstance(told, list) else []
    says = {
        "trigger": f"{name} ({kind})" if kind else name,
        "resolution": "\n".join(f"- {one}" for one in observations) or f"{name} is of the type {kind or 'entity'}.",
        "kind": Kind.ENTITY.value,
        "name": name,
        "attributes": {"entity_type": kind},
    }
    return ImportedItem(key=f"{place}/{name}", says=says, changes=True)


MCP_MEMORY = Adapter(
    name=_NAME,
    looks_for='JSON lines of the MCP memory server: {"type": "entity", "name", "entityType", "observations"}',
    fits=_fits,
    read=_read_mcp_memory,
)
