"""Strands: what is told of a memory that was written to a file to be carried elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from helix.model.provenance import Trust

SYNC_PATH = "/sync/v1"
"""Where a Helix that is shared serves that, below the address of the host or of a proxy's path."""


def is_shared(address: str) -> bool:
    """Return whether the address in a strand's record is that of a Helix that is shared over HTTP."""
    return address.startswith(("http://", "https://")) and urlsplit(address).path.rstrip("/").endswith(SYNC_PATH)


@dataclass(frozen=True, slots=True, kw_only=True)
class StrandVersion:
    """What the store held at a moment, or what a strand held that was imported."""

    id: Annotated[str, "Made of its root and its parents: equal for the same content that came about the same way."]
    parents: Annotated[tuple[str, ...], "The versions that it was made from; two for a merge."]
    at: Annotated[datetime, "When it was made, or imported."]
    who: Annotated[str, "The key that it was written or signed with; `this store` where it was made here without one."]
    why: Annotated[str, "What it was made for."]
    tag: Annotated[str, "Its name; empty for none."]
    root: Annotated[str, "The digest over every row: equal for two stores that hold the same."]
    scopes: Annotated[tuple[str, ...] | None, "What it is of; null for the whole store."]
    nodes: Annotated[int | None, "To how many nodes there it is confined, as a question found them; null for all."]
    held: Annotated[bool, "Whether this store itself has held exactly this, so that it can be rolled back to."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrandTable:
    """The rows of one kind in one scope of a strand, by which two strands compare without being opened."""

    scope: str
    table: Annotated[str, "A label of nodes or a type of edges."]
    rows: Annotated[int, "How many there are."]
    digest: Annotated[str, "The digest over them."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrandInfo:
    """What a strand says of itself without being opened: its signature was verified, its content was not read."""

    path: str
    version: Annotated[str, "The id of its version."]
    parents: Annotated[tuple[str, ...], "The versions that this one was made from."]
    since: Annotated[str | None, "It holds only what changed since this version; null where it holds all."]
    created_at: Annotated[datetime, "When it was written."]
    created_by: Annotated[str, "What the signer calls the key."]
    signer: Annotated[str, "The public key that signed it."]
    known_as: Annotated[str, "The name that the key has here; empty for an unknown one."]
    trust: Annotated[Trust | None, "How far its rows would be believed; null where the key is unknown or revoked."]
    why: Annotated[str, "What it was made for."]
    tag: Annotated[str, "The name of its version; empty for none."]
    root: Annotated[str, "The digest over every row."]
    schema: Annotated[int, "The number of the graph's newest migration when it was written."]
    model: Annotated[str, "The embedding model of the vectors; empty where there are none."]
    opens_with: Annotated[tuple[str, ...], "`a passphrase`, or whom it is for: names of keys here, or public parts."]
    scopes: Annotated[tuple[str, ...], "The scopes it has something of."]
    history: Annotated[str, "The changes of the log that it brings to be read: `none`, `all`, or `since` that version."]
    counts: Annotated[Mapping[str, int], "How many nodes, edges, texts, tombstones and changes of the log it has."]
    tables: Annotated[tuple[StrandTable, ...], "Its rows by scope and kind."]
    verified: Annotated[bool, "Whether every byte of the file was checked, not only the signature."]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrandDifference:
    """How one strand, or the store, differs from another: what is added, changed, ended and missing."""

    scopes: Annotated[Mapping[str, Mapping[str, int]], "Counts by scope."] = field(default_factory=dict)
    lines: Annotated[tuple[str, ...], "A line for each node that differs, 500 at most."] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StrandKey:
    """A key that signs strands: one's own, or somebody else's, whose public part alone is known here."""

    name: str
    public: Annotated[str, "The public part, which others need to read what is signed, and to seal for it."]
    own: Annotated[bool, "Whether its private part is in this home."]
    trust: Annotated[Trust, "How far the rows are believed that it signed."]
    since: Annotated[datetime | None, "Since when it is known; null for an own key."] = None
    revoked_at: Annotated[datetime | None, "Since when what it signed is refused."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryShare:
    """A part of the memory that is shared over HTTP with the holder of one key."""

    name: str
    key: Annotated[str, "The public key of who it is shared with: what that key signed is imported, and no other."]
    scopes: Annotated[tuple[str, ...], "What it is of: nothing else is given, and nothing else is taken."]
    write: Annotated[bool, "Whether what they leave is imported; otherwise they only read."]
    since: Annotated[datetime, "When it was made."]
    token: Annotated[str, "What lets them in, told when the share is made and never again; empty afterwards."] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedPlace:
    """A place that the store is synced with: a folder, a git repository, a bucket, a shared Helix, or a share."""

    place: Annotated[str, "Its path or address."]
    scopes: Annotated[tuple[str, ...] | None, "What of the store is synced; null for all of it."]
    minutes: Annotated[float | None, "How often it is synced in the background; null where only when it is asked for."]
    at: Annotated[datetime | None, "When it was tried last; null for never."]
    error: Annotated[str, "Why that failed; empty where it did not."]
    problems: Annotated[tuple[str, ...], "What was passed over, in a sentence each."]
