"""Found: one thing spotted in a text, and where."""

from __future__ import annotations

from typing import NamedTuple

from helix.model.entity import EntityKind


class FoundEntity(NamedTuple):
    """An entity at the half-open range [start, end) of a text; `name` is in canonical form."""

    start: int
    end: int
    kind: EntityKind
    name: str
