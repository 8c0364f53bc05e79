"""mem0: what `get_all` or an export of mem0 answers, a list of memories or one under `results` or `memories`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from helix.ingest.imports.adapter import Adapter, Asked, Found, Told
from helix.ingest.imports.json_array import objects_of
from helix.ingest.imports.peek import Peek
from helix.model.memory import Kind
from helix.model.reports import IngestProblem
from helix.text.client_ids import digest
from helix.text.excerpts import head

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
    return Found(key=str(one.get("id") or digest(text)), says=says, changes=True)


MEM0 = Adapter(
    name="mem0",
    looks_for='a JSON list of mem0, or one under "results": {"id", "memory", "user_id", "created_at", ...}',
    fits=_fits,
    read=_read,
)
