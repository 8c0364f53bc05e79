"""Departing: what a store holds, or a part of it, goes out as a strand."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from helix.errors import ConflictError, InvalidInputError
from helix.journal import pages
from helix.journal.state import Snapshot
from helix.journal.strand_versions import StoredVersion
from helix.model.edge import Ref
from helix.model.operations import PutNode
from helix.model.tombstone import is_tombstone
from helix.store.jobs import Ticket
from helix.store.store import Store
from helix.strands import container
from helix.strands.keyring import Sealing
from helix.strands.lineage import MOST_ANCESTORS, SHORT, Known, RowsKept, VersionRows, name_version, rows_known
from helix.strands.rows import Key, Selection, StrandRow, Tree, canonical_json, paired_rows, row_digest, schema_number

HISTORIES = ("none", "all", "since")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """What a strand is to hold: a selection, and of it only what changed since a version where one is named.

    `beside`: versions besides `since` that others may have: a row is excluded only where it is the same in all of them.
    `history`: `none`, `all` or `since` (behind that version) of the log's changes. `vectors`: bring them along, so that
    who has the same model need not make them.
    """

    selection: Selection = field(default_factory=Selection)
    since: StoredVersion | None = None
    beside: tuple[str, ...] = ()
    history: str = "none"
    vectors: bool = True
    why: str = ""
    tag: str = ""


def export(store: Store, target: Path, outgoing: Outgoing, sealing: Sealing, ticket: Ticket) -> Mapping[str, object]:
    """Write a strand to a new file; returns its `path`, `version`, `root` and counts.

    Raises ConflictError where the file is there, or the tag is another version's; InvalidInputError for a history that
    cannot be told.
    """
    if outgoing.history not in HISTORIES or (outgoing.history == "since" and outgoing.since is None):
        raise InvalidInputError(f"no history {outgoing.history!r}", hint="none, all, or since with a version")
    with RowsKept(store.path) as kept:
        lines = _StrandLines(store, outgoing, VersionRows(kept), ticket)
        noted: list[StoredVersion] = []

        def fields() -> Mapping[str, Any]:
            noted.append(lines.noted(sealing.name))
            described = _described(store, outgoing, noted[0], lines.counted.tree, sealing.name)
            return {**described, "counts": lines.counts}

        written = container.write(
            target,
            iter(lines),
            fields,
            signer=sealing.signer,
            passphrase=sealing.passphrase,
            recipients=sealing.recipients,
        )
    (version,) = noted
    return {"path": str(target), "version": version.id, "root": version.root, **written.data["counts"]}


class _StrandLines:
    """The lines of a strand, in the order of the rows' keys, all as they were at one moment; what they came to."""

    def __init__(self, store: Store, outgoing: Outgoing, counted: VersionRows, ticket: Ticket) -> None:
        self._store, self._outgoing, self._ticket, self._seq = store, outgoing, ticket, 0
        self.counted = counted
        self.counts = {"nodes": 0, "edges": 0, "texts": 0, "tombstones": 0, "gone": 0, "changes": 0}

    def noted(self, who: str) -> StoredVersion:
        """Note the version whose lines were written; return it."""
        outgoing = self._outgoing
        why = outgoing.why or "export"
        version = self.counted.noted(self._store, outgoing.selection, self._seq, who=who, why=why)
        if outgoing.tag:
            name_version(self._store.journal, version.id, outgoing.tag)
        return version

    def __iter__(self) -> Iterator[bytes]:
        since = self._outgoing.since
        versions = () if since is None else (since.id, *self._outgoing.beside)
        before = _together([rows_known(self._store.path, one) or () for one in versions])
        with self._store.journal.snapshot() as (self._seq, state):
            for done, (row, known) in enumerate(paired_rows(self._outgoing.selection.rows(state), before)):
                if row is None:
                    assert known is not None
                    yield self._gone(known.key)
                    continue
                line = row.line()
                of_row = row_digest(line)
                self.counted.add(row, of_row)
                if known is None or known.digests != [of_row[:SHORT]] * len(versions):
                    yield from self._row(row, line, state)
                if done % 1_000 == 0:
                    self._ticket.progress(done, 0, "writing")
                    if self._ticket.cancelled:
                        raise ConflictError("the export was stopped")
        yield from self._history()

    def _row(self, row: StrandRow, line: bytes, state: Snapshot) -> Iterator[bytes]:
        yield line
        put = row.put
        if not isinstance(put, PutNode):
            self.counts["edges"] += 1
            return
        self.counts["nodes"] += 1
        self.counts["texts"] += len(row.texts)
        self.counts["tombstones"] += is_tombstone(put.props)
        if self._outgoing.vectors and row.texts:
            held = state.vectors_of(Ref(label=put.label, id=put.id))
            if any(vector is not None for vector in held):
                told = [None if vector is None else base64.b64encode(vector).decode() for vector in held]
                yield canonical_json({"id": put.id, "label": put.label.value, "t": "vec", "v": told})

    def _gone(self, key: Key) -> bytes:
        self.counts["gone"] += 1
        return canonical_json({"key": list(key), "t": "gone"})

    def _history(self) -> Iterator[bytes]:
        """Yield the changes of the log that concern what is selected, without what was erased."""
        if self._outgoing.history == "none":
            return
        since = self._outgoing.since
        first = since.seq if self._outgoing.history == "since" and since is not None else 0
        for page in pages.log_rows(self._store.journal):
            for seq, change in page:
                if seq > (first or 0) and seq <= self._seq and self._concerns(change):
                    self.counts["changes"] += 1
                    yield canonical_json({"change": change, "seq": seq, "t": "change"})

    def _concerns(self, change: Mapping[str, Any]) -> bool:
        selection = self._outgoing.selection
        if selection.is_all:
            return True
        nodes = [op for op in change["ops"] if op["op"] == "node"]
        return bool(nodes) and all(selection.holds(op["id"], str(op["props"].get("scope", ""))) for op in nodes)


@dataclass(frozen=True, slots=True)
class _Before:
    """A row as some versions had it: its digests in those that had it at all."""

    key: Key
    digests: list[bytes]


def _together(versions: Sequence[Iterable[Known]]) -> Iterator[_Before]:
    """Yield each row that any of some versions has, in order."""
    by_key = attrgetter("key")
    for key, rows in groupby(merge(*versions, key=by_key), key=by_key):
        yield _Before(key, [row.digest for row in rows])


def _described(store: Store, outgoing: Outgoing, version: StoredVersion, tree: Tree, who: str) -> dict[str, Any]:
    space = store.journal.spaces.active()
    line = store.journal.versions.ancestry([version.id], MOST_ANCESTORS + 1)[1:]
    return {
        "schema": schema_number(),
        "created_at": store.runtime.clock().isoformat(),
        "embedding": None
        if space is None
        else {"digest": space.digest, "dimension": space.dimension, "model": space.model},
        "scopes": sorted(tree.groups),
        "version": {
            "id": version.id,
            "parents": sorted(version.parents),
            "ancestry": [{"id": one.id, "parents": sorted(one.parents)} for one in line],
            "selection": outgoing.selection.named,
            "since": None if outgoing.since is None else outgoing.since.id,
            "why": outgoing.why,
            "tag": outgoing.tag,
            "who": who,
        },
        "root": tree.root,
        "groups": tree.groups,
        "history": outgoing.history,
    }
