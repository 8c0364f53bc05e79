"""mem0: what `get_all` or an export of mem0 answers, a list of memories or one under `results` or `memories`.

Its graph, a list under `relations`, becomes entities with edges between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from helix.ingest.draft import LinkDraft, told_key
from helix.ingest.jsonl import short_label
from helix.ingest.other_memories.adapter import Adapter, Asked, ImportedItem, Told, relation_for_word
from helix.ingest.other_memories.json_files import objects_of
from helix.ingest.other_memories.peek import Peek
from helix.model.memory import Kind
from helix.model.reports import IngestProblem
from helix.text.client_ids import short_digest
from helix.text.excerpts import head

_NAME = "mem0"
_LISTS = ("results", "memories")
_KINDS: Mapping[str, Kind] = {"user_preferences": Kind.PREFERENCE, "preferences": Kind.PREFERENCE}
_KEPT = ("user_id", "agent_id", "app_id", "run_id", "categories", "metadata", "updated_at")
_TITLE = 120
_LONGEST = 1 << 20
"""Characters of one memory with all that mem0 keeps of it."""
_LONGEST_TEXT = 60_000
"""Characters that are told of one end of its relations: a file of 290 MB had one that took seconds for each of them."""


def _fits(peek: Peek) -> bool:
    return peek.holds("memory", "id") and not peek.holds("mapping") and any(peek.holds(key) for key in _MARKS)


_MARKS = ("user_id", "agent_id", "run_id", "hash", "categories")


def _read_mem0(asked: Asked) -> Iterator[Told]:
    """Yield a memory for each; what mem0 keeps of it beside its text becomes attributes."""
    for one in objects_of(asked.path, *_LISTS, longest=_LONGEST):
        yield one if isinstance(one, IngestProblem) else _memory(one)
    yield from _graph(asked)


def _graph(asked: Asked) -> Iterator[Told]:
    """Yield an entity for each end of mem0's relations, told by what it leads to, then the edges between them."""
    told: dict[str, dict[str, None]] = {}
    room: dict[str, int] = {}
    links: list[tuple[str, str, str]] = []
    for number, one in enumerate(objects_of(asked.path, "relations", longest=_LONGEST, beside=True), 1):
        if isinstance(one, IngestProblem):
            yield one
            continue
        start, end = _word(one, "source"), _word(one, "target", "destination")
        word = _word(one, "relationship", "relation")
        if not (start and end and word):
            yield IngestProblem(where=f"relation {number}", why="it lacks a source, a relationship or a target")
            continue
        said, line = told.setdefault(start, {}), f"- {word} {end}\n"
        if line not in said:
            room[start] = room.get(start, _LONGEST_TEXT) - len(line)
            said.update({line: None} if room[start] >= 0 else {})
        told.setdefault(end, {})
        links.append((start, word, end))
    sources: dict[str, str] = {}
    for name, lines in told.items():
        entity = _entity(name, lines, asked.place)
        sources[name] = entity.source(_NAME)
        yield entity
        if room.get(name, 0) < 0:
            yield IngestProblem(where=told_key(name), why=f"only its first {_LONGEST_TEXT:,} characters come in")
    for start, word, end in links:
        kind, relation = relation_for_word(word)
        yield LinkDraft(type=kind, source=sources[start], target=sources[end], relation=relation)


def _word(one: Mapping[str, Any], *names: str) -> str:
    return next((found for name in names if (found := short_label(one.get(name)))), "")


def _entity(name: str, said: Iterable[str], place: str) -> ImportedItem:
    lines = "".join(said).rstrip()
    says = {
        "trigger": name,
        "resolution": lines or f"{name} is known to mem0.",
        "kind": Kind.ENTITY.value,
        "name": name,
    }
    return ImportedItem(key=f"{place}/{name}", says=says, changes=True)


def _memory(one: Mapping[str, Any]) -> ImportedItem:
    text = str(one.get("memory") or "").strip()
    categories = one.get("categories")
    words = [str(word) for word in categories] if isinstance(categories, list) else []
    says = {
        "trigger": head(text.partition("\n")[0], _TITLE),
        "resolution": text,
        "kind": next((_KINDS[word] for word in words if word in _KINDS), Kind.FACT).value,
        "ts": one.get("created_at"),
        "attributes": {name: one[name] for name in _KEPT if one.get(name)},
        "session": one.get("run_id"),
    }
    return ImportedItem(key=str(one.get("id") or short_digest(text)), says=says, changes=True)


MEM0 = Adapter(
    name=_NAME,
    looks_for='a JSON list of mem0, or one under "results": {"id", "memory", "user_id", "created_at", ...}',
    fits=_fits,
    read=_read_mem0,
)
