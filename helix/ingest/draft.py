"""Drafts: what a source says, before it has ids, redaction, vectors or a place in a store.

A `source` string names where a draft came from and nothing else has that name, so a draft whose source is already in
the store is not imported again: that alone makes every import repeatable and resumable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from helix.model.edge import Relation
from helix.model.entity import Mention
from helix.model.memory import Kind
from helix.model.provenance import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeDraft:
    """One thing that happened. `occurred_at` None: the source does not say; `scope` "": the scope of the import."""

    source: str
    content: str
    trust: Trust
    occurred_at: datetime | None = None
    session: str = ""
    scope: str = ""
    agent: str = ""
    role: str = ""
    files: tuple[str, ...] = ()
    entities: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """One thing to remember, got without a model and grounded in the episode whose source is `grounded_in`.

    `files` are paths, or globs that end in `/**`, from the root of the project. `name` "": one is made from the
    trigger; `importance` None: it is judged from the text; `scope` "": the scope of the import.
    """

    source: str
    grounded_in: str
    kind: Kind
    trigger: str
    resolution: str
    trust: Trust
    confidence: float
    importance: float | None = None
    name: str = ""
    scope: str = ""
    agent: str = ""
    files: tuple[str, ...] = ()
    entities: tuple[Mention, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkDraft:
    """An edge between two memories, each named by its source; `relation` is the free word of a RELATED edge.

    An end that is not in the store is no error: there is no edge then.
    """

    type: Relation
    source: str
    target: str
    relation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One unit of a source, written whole or not at all.

    `position` counts the units of the source from 1, the ones that gave no slice included, so it never falls and
    shows progress. Links may name memories of earlier slices. Where `supersedes` is not empty, every memory in the
    store whose source starts with it and is not in this slice is an older reading of the same place, to be retired;
    one that is in the store already, under its source, has not changed and keeps what it has earned.
    """

    episode: EpisodeDraft
    position: int
    memories: tuple[MemoryDraft, ...] = ()
    links: tuple[LinkDraft, ...] = ()
    supersedes: str = ""


def digest(*parts: str) -> str:
    """Return 16 hex digits that stand for the parts: a name for a text that has no other."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
