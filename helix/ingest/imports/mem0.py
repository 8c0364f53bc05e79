"""mem0: what `get_all` or an export of mem0 answers, a list of memories or one under `results` or `memories`.

Its graph, a list under `relations`, becomes entities with edges between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from helix.ingest.draft import LinkDraft
from helix.ingest.imports.adapter import Adapter, Asked, Found, Told, relation_for_word
from helix.ingest.imports.json_files import objects_of
from helix.ingest.imports.peek import Peek
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


def _fits(peek: Peek) -> bool:
    return peek.holds("memory", "id") and not peek.holds("mapping") and any(peek.holds(key) for key in _MARKS)


_MARKS = ("user_id", "agent_id", "run_id", "hash", "categories")


def _read(asked: Asked) -> Iterator[Told]:
    """Yield a memory for each; what mem0 keeps of it beside its text becomes attributes."""
    for one in objects_of(asked.path, *_LISTS, longest=_LONGEST):
        yield one if isinstance(one, IngestProblem) else _memory(one)
    yield from _graph(asked)


def _graph(asked: Asked) -> Iterator[Told]:
    """Yield an entity for each end of mem0's relations, told by what it leads to, then the edges between them."""
    told: dict[str, list[str]] = {}
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
        told.setdefault(start, []).append(f"{word} {end}")
        told.setdefault(end, [])
        links.append((start, word, end))
    entities = {name: _entity(name, said, asked.place) for name, said in told.items()}
    yield from entities.values()
    for start, word, end in links:
        kind, relation = relation_for_word(word)
        ends = (entities[name].source(_NAME) for name in (start, end))
        yield LinkDraft(type=kind, source=next(ends), target=next(ends), relation=relation)


def _word(one: Mapping[str, Any], *names: str) -> str:
    return next((found for name in names if (found := str(one.get(name) or "").strip())), "")


def _entity(name: str, said: Sequence[str], place: str) -> Found:
    lines = "\n".join(f"- {one}" for one in dict.fromkeys(said))
    says = {
        "trigger": name,
        "resolution": lines or f"{name} is known to mem0.",
        "kind": Kind.ENTITY.value,
        "name": name,
    }
    return Found(key=f"{place}/{name}", says=says, changes=True)


def _memory(one: Mapping[str, Any]) -> Found:
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
    return Found(key=str(one.get("id") or short_digest(text)), says=says, changes=True)


MEM0 = Adapter(
    name=_NAME,
    looks_for='a JSON list of mem0, or one under "results": {"id", "memory", "user_id", "created_at", ...}',
    fits=_fits,
    read=_read,
)
