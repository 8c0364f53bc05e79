"""Duplicate: two memories that say nearly the same; and the inbox of what waits for a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from helix.model.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Two active memories of one kind and scope that are nearly the same in meaning."""

    id: Annotated[str, "What tells the pair from others."]
    first: Annotated[Memory, "The better founded one; of equals the one with more use, then the older."]
    second: Annotated[Memory, "The other one."]
    similarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """How much waits for a person to decide."""

    contradictions: Annotated[int, "Contradictions that are open."]
    quarantined: Annotated[int, "Memories and episodes that are quarantined."]
    candidates: Annotated[int, "What may be learned from agents' work."]
    duplicates: Annotated[int, "Pairs of memories that say nearly the same."]
    gaps: Annotated[int, "Questions that nothing answers yet."]
