"""claude-mem: the SQLite file of that plugin of Claude Code: what it observed, and its summaries of sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from helix.errors import InvalidInputError
from helix.ingest.other_memories.adapter import Adapter, Asked, ImportedItem, Told
from helix.ingest.other_memories.json_files import read_json
from helix.ingest.other_memories.peek import Peek
from helix.journal.foreign_database import foreign_database
from helix.model.memory import Kind
from helix.model.reports import IngestProblem

_NEEDED = {"observations", "session_summaries"}
_KINDS: Mapping[str, Kind] = {"decision": Kind.DECISION, "bugfix": Kind.PATTERN, "refactor": Kind.EVOLUTION}
_OBSERVATION = (
    *("id", "memory_session_id", "project", "text", "type", "title", "subtitle", "facts", "narrative", "concepts"),
    *("files_read", "files_modified", "created_at_epoch"),
)
_SUMMARY = (
    *("id", "memory_session_id", "project", "request", "investigated", "learned", "completed", "next_steps", "notes"),
    "created_at_epoch",
)
_TOLD = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def _fits(peek: Peek) -> bool:
    if not peek.is_sqlite:
        return False
    with foreign_database(peek.path) as database:
        return database.tables >= _NEEDED


def _read_claude_mem(asked: Asked) -> Iterator[Told]:
    """Yield a memory for each observation and an episode for each summary, in the order in which they were made."""
    try:
        with foreign_database(asked.path) as database:
            yield from map(_observation, database.rows("observations", _OBSERVATION, ["id"]))
            yield from map(_summary, database.rows("session_summaries", _SUMMARY, ["id"]))
    except InvalidInputError as error:
        yield IngestProblem(where=str(asked.path), why=error.message)


def _observation(row: Mapping[str, Any]) -> ImportedItem:
    facts = "\n".join(f"- {fact}" for fact in _list(row.get("facts")))
    parts = (row.get("subtitle"), row.get("narrative"), facts, row.get("text"))
    told = "\n\n".join(str(part).strip() for part in parts if part and str(part).strip())
    title = str(row.get("title") or "").strip() or told.partition("\n")[0][:120]
    says = {
        "trigger": title,
        "resolution": told or title,
        "kind": _KINDS.get(str(row.get("type")), Kind.FACT).value,
        "session": row.get("memory_session_id"),
        "ts": row.get("created_at_epoch"),
        "files": [*_list(row.get("files_modified")), *_list(row.get("files_read"))],
        "attributes": {
            "project": row.get("project"),
            "type": row.get("type"),
            "concepts": _list(row.get("concepts")),
        },
    }
    return ImportedItem(key=_key(row, "observation"), says=says, changes=True)


def _summary(row: Mapping[str, Any]) -> ImportedItem:
    text = "\n".join(f"{name.replace('_', ' ')}: {row[name]}" for name in _TOLD if row.get(name))
    says = {"text": text, "session": row.get("memory_session_id"), "ts": row.get("created_at_epoch")}
    return ImportedItem(key=_key(row, "summary"), says=says)


def _key(row: Mapping[str, Any], kind: str) -> str:
    """Return what tells it from those of other machines, whose numbers are the same: its session is of one alone."""
    return f"{kind}:{row.get('memory_session_id')}:{row.get('id')}"


def _list(value: object) -> list[str]:
    found = read_json(value)
    return [str(one) for one in found] if isinstance(found, list) else []


CLAUDE_MEM = Adapter(
    name="claude-mem",
    looks_for="the SQLite file of claude-mem, with the tables observations and session_summaries",
    fits=_fits,
    read=_read_claude_mem,
)
