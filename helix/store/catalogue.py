"""Catalogue: every node as one row of a table in memory, its passages and their words, for readers that never wait.

One thread writes, any number read. A reader takes `view` once and works on it: an immutable record of numpy arrays
that no later write changes. New rows are written behind the end of every published array, a changed column is copied
first, and a write becomes visible, whole, by the one attribute store that publishes the next view; the interpreter
makes that store and each dictionary look-up atomic. What a view costs a writer is therefore a copy of the columns it
changes (0.8 MB for 100,000 rows), and nothing to a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np

from helix.model.edge import Label, Ref
from helix.model.entity import EntityKind
from helix.model.memory import Kind, Status
from helix.model.operations import Operation
from helix.model.recall import RecallQuery
from helix.store.bm25 import WordTable, WordView
from helix.store.eligibility import any_of, eligible, walkable
from helix.store.lookups import Lookups, file_key
from helix.store.node_columns import (
    COLUMN_NAMES,
    ENTITY_KIND_CODE,
    FADING_INPUTS,
    HOLE,
    KIND_CODE,
    KINDS,
    LABEL_CODE,
    LABELS,
    NO_CODE,
    POSITION,
    STATUS_CODE,
    STATUSES,
    BoolArray,
    IndexArray,
    NodeColumns,
    RowLayout,
    empty_columns,
    fading_moments,
    grown,
)
from helix.store.passages import PassageChange, PassageTable, PassageView, StagedPassage, TokenBatches
from helix.store.snapshot_file import Image
from helix.store.staging import NewRow, StagedBatch, stage
from helix.text.tokens import lexical_tokens

_FIRST_CAPACITY = 1024
_LOAD_CHUNK = 16_384
MOST_PATTERNS = 500
_MEMORY = LABEL_CODE[Label.MEMORY]
_ACTIVE = STATUS_CODE[Status.ACTIVE]
_KIND = POSITION["kind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many rows there are: of each label, and among memories of each status, and among active ones of each kind."""

    labels: Mapping[Label, int]
    statuses: Mapping[str, int]
    kinds: Mapping[str, int]
    scopes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueView:
    """The catalogue as it was at one moment; rows are 0..count-1. Look-ups leave out what came later or was dropped.

    `generation` changes when the table was loaded anew: row numbers of different generations have nothing in common.
    """

    columns: NodeColumns
    passages: PassageView
    words: WordView
    lookups: Lookups
    generation: int

    @property
    def count(self) -> int:
        """How many rows the store's catalogue has."""
        return len(self.columns.label)

    @property
    def dimension(self) -> int:
        """The dimension of the vectors of the store's passages; 0 where there are none."""
        return self.passages.vectors.dimension

    def mask(self, query: RecallQuery, now: datetime) -> BoolArray:
        """Return for every row of the store's catalogue whether the query may be answered with it; see `eligible`."""
        return eligible(self.columns, self.lookups.scopes, query, now)

    def where(
        self,
        *labels: Label,
        scope: str | None = None,
        statuses: Sequence[Status] = (),
        kinds: Sequence[Kind] = (),
    ) -> BoolArray:
        """Return for every catalogue row whether it has one of the labels and is of exactly that scope (None: of any).

        `statuses` and `kinds` narrow it to rows of one of them.
        """
        columns = self.columns
        mask: BoolArray = any_of(columns.label, [LABEL_CODE[label] for label in labels])
        if scope is not None:
            mask &= self.of_scope(scope)
        if statuses:
            mask &= any_of(columns.status, [STATUS_CODE[status] for status in statuses])
        if kinds:
            mask &= any_of(columns.kind, [KIND_CODE[kind] for kind in kinds])
        return mask

    def of_scope(self, scope: str) -> BoolArray:
        """Return for every row of the store's catalogue whether it is of exactly that scope."""
        mask: BoolArray = self.columns.scope == self.lookups.scopes.code(scope)
        return mask

    def walkable(self, scope: str | None) -> BoolArray:
        """Return for every catalogue row whether a walk on behalf of a scope may pass through it; see `walkable`."""
        return walkable(self.columns, self.lookups.scopes, scope)

    def row_of(self, ref: Ref) -> int | None:
        """Return the row of a node in the store's catalogue, or None."""
        row = self.lookups.row(ref.label, ref.id)
        return row if row is not None and row < self.count else None

    def ref_of(self, row: int) -> Ref:
        """Return the label and id of the node at a row of the store's catalogue."""
        return Ref(label=LABELS[int(self.columns.label[row])], id=self.lookups.ids[row])

    def name_of(self, row: int) -> str:
        """Return the name of a memory or an entity by its row in the store's catalogue; empty for the rest."""
        return self.lookups.names[row]

    def scope_of(self, row: int) -> str:
        """Return the scope of a row of the store's catalogue."""
        return self.lookups.scopes.word(int(self.columns.scope[row]))

    def name_row(self, scope: str, name: str) -> int | None:
        """Return the catalogue row of the active memory of that name in that scope, or None; there is at most one."""
        code = self.lookups.scopes.code(scope)
        rows = self._held(self.lookups.memories.get(name))
        active = (row for row in rows if self.columns.status[row] == _ACTIVE)
        return next((row for row in active if self.columns.scope[row] == code), None)

    def row_of_source(self, source: str, *, label: Label = Label.EPISODE, scope: str | None = None) -> int | None:
        """Return the newest catalogue row of a label from the source, in the scope or (None) in any, or None."""
        rows = self._held(self.lookups.sources[LABEL_CODE[label]].get(source))
        if scope is not None:
            code = self.lookups.scopes.code(scope)
            rows = [row for row in rows if self.columns.scope[row] == code]
        return rows[-1] if rows else None

    def entities(self, kind: EntityKind, name: str) -> list[int]:
        """Return the catalogue rows of the entities of a kind and name, in upper or lower case, in whatever scope."""
        return self._held(self.lookups.entities.get((ENTITY_KIND_CODE[kind], name.casefold())))

    def files_like(self, path: str) -> list[int]:
        """Return the catalogue rows of files whose last part is that of the path, and of patterns that may fit it.

        Of the patterns that go through one part, or name none whole, the newest MOST_PATTERNS are looked at.
        """
        parts = {"", *path.replace("\\", "/").casefold().split("/")}
        patterns = (row for part in sorted(parts) for row in self.lookups.patterns.get(part)[-MOST_PATTERNS:])
        return self._held([*self.lookups.files.get(file_key(path)), *patterns])

    def counts(self, scope: str | None = None) -> Counts:
        """Count the rows of the store's catalogue, of one scope or (None) of all."""
        columns, scopes = self.columns, self.lookups.scopes
        inside = np.ones(self.count, np.bool_) if scope is None else columns.scope == scopes.code(scope)
        memories = inside & (columns.label == _MEMORY)
        labels = np.bincount(columns.label[inside & (columns.label != NO_CODE)], minlength=len(LABELS))
        statuses = np.bincount(columns.status[memories], minlength=len(STATUSES))
        kinds = np.bincount(columns.kind[memories & (columns.status == _ACTIVE)], minlength=len(KINDS))
        by_scope = np.bincount(columns.scope[memories])
        return Counts(
            labels={label: int(n) for label, n in zip(LABELS, labels, strict=True)},
            statuses={status.value: int(n) for status, n in zip(STATUSES, statuses, strict=True)},
            kinds={kind.value: int(n) for kind, n in zip(KINDS, kinds, strict=True) if n},
            scopes={scopes.word(code): int(n) for code, n in enumerate(by_scope) if n},
        )

    def newest(self, mask: BoolArray, limit: int, after: int | None = None) -> IndexArray:
        """Return at most `limit` catalogue rows of the mask, last recorded first, behind `after` in that order."""
        rows = np.flatnonzero(mask)
        recorded = self.columns.recorded_at[rows]
        if after is not None:
            moment = self.columns.recorded_at[after]
            behind = (recorded < moment) | ((recorded == moment) & (rows < after))
            rows, recorded = rows[behind], recorded[behind]
        if len(rows) > limit:
            # Ties at the edge have to stay in, so that the sort below decides them the same way on every page.
            keep = recorded >= np.partition(recorded, -limit)[-limit]
            rows, recorded = rows[keep], recorded[keep]
        return rows[np.lexsort((rows, recorded))[::-1][:limit]]

    def _held(self, rows: Sequence[int]) -> list[int]:
        return [row for row in rows if row < self.count]


class Catalogue:
    """The writer's side. `load` and `apply` belong to one thread; everything else is for anyone."""

    def __init__(
        self,
        dimension: int,
        *,
        salience_floor: float = 0.5,
        tokenise: Callable[[str], Sequence[str]] = lexical_tokens,
    ) -> None:
        """`tokenise` turns a passage's text into the tokens it is found by."""
        self._floor = salience_floor
        self._tokenise = tokenise
        self._generation = 0
        self._reset(dimension)

    @property
    def view(self) -> CatalogueView:
        """The store's catalogue as it is now, and as it stays for whoever holds it."""
        return self._view

    @property
    def next_passage_number(self) -> int:
        """The lowest number above that of every passage in the store; the first is 1."""
        return self._passages.next_number

    def load(
        self, operations: Iterable[Operation], *, dimension: int | None = None, tokens: TokenBatches | None = None
    ) -> None:
        """Replace the store's catalogue by what the operations say; readers see the old one until the new one is whole.

        `tokens` are those of all passages, by number, where they need not be made from the texts.
        """
        self._generation += 1
        self._reset(self._view.dimension if dimension is None else dimension, publish=False)
        source = iter(operations)
        while chunk := list(islice(source, _LOAD_CHUNK)):
            change = self._commit(stage(chunk, self._lookups, self._layout, self._passages.matrix))
            if tokens is None:
                self._index(change)
        if tokens is not None:
            passages = self._passages.view()
            self._words.load(passages.by_index(tokens), passages.count)
        self._publish()

    def restore(self, image: Image, dimension: int) -> None:
        """Replace the store's catalogue by what an image holds (see `helix.store.snapshot`), as `load` does."""
        self._generation += 1
        self._reset(dimension, publish=False)
        columns = {name: image.array(f"column {name}") for name in COLUMN_NAMES}
        self._count = len(columns["label"])
        self._arrays = grown(columns, self._count, self._count + _FIRST_CAPACITY)
        self._lookups = Lookups(image.texts["scopes"], image.texts["sessions"])
        texts = (list(image.texts[name]) for name in ("ids", "names", "origins"))
        self._lookups.load(*texts, labels=columns["label"], kinds=columns["kind"])
        self._layout = RowLayout(self._lookups.scopes, self._lookups.sessions)
        self._passages.restore(image)
        self._words.restore(image)
        self._set_fading(np.arange(self._count))
        self._publish()

    def apply(self, operations: Sequence[Operation]) -> None:
        """Apply one batch to the store's catalogue; a reader sees all of it or nothing.

        Raises InvalidInputError or EmbeddingSpaceError with nothing changed. Applying a batch twice, or an old batch
        again before the ones that followed it, ends in the same state.
        """
        self._index(self._commit(stage(operations, self._lookups, self._layout, self._passages.matrix)))
        self._publish()

    def _reset(self, dimension: int, *, publish: bool = True) -> None:
        self._count = 0
        self._arrays = empty_columns(_FIRST_CAPACITY)
        self._lookups = Lookups()
        self._layout = RowLayout(self._lookups.scopes, self._lookups.sessions)
        self._passages = PassageTable(dimension)
        self._words = WordTable()
        if publish:
            self._publish()

    def _publish(self) -> None:
        published = {name: array[: self._count] for name, array in self._arrays.items()}
        for array in published.values():
            array.flags.writeable = False
        self._view = CatalogueView(
            columns=NodeColumns(**published),
            passages=self._passages.view(),
            words=self._words.view(),
            lookups=self._lookups,
            generation=self._generation,
        )

    def take_over(self, other: Catalogue) -> None:
        """Replace the store's catalogue by another one, which nobody may use any more, as `load` does."""
        self._generation += 1
        self._count, self._arrays = other._count, other._arrays
        self._lookups, self._layout = other._lookups, other._layout
        self._passages, self._words = other._passages, other._words
        self._publish()

    def _commit(self, batch: StagedBatch) -> PassageChange:
        self._append(batch.new)
        self._update(batch.updates)
        for row, name in batch.renames.items():
            self._lookups.rename(row, name)
        for row, (label, source) in batch.sources.items():
            self._lookups.move(row, label, source)
        if batch.holes:
            self._bury(sorted(batch.holes))
        return self._passages.update(batch.passages, batch.dropped)

    def _index(self, change: PassageChange) -> None:
        self._words.update([self._tokens(passage) for passage in change.fresh], change.dead)

    def _tokens(self, passage: StagedPassage) -> Sequence[str]:
        return self._tokenise(passage.text) if passage.tokens is None else passage.tokens.split()

    def _append(self, new: Sequence[NewRow]) -> None:
        if not new:
            return
        start, stop = self._count, self._count + len(new)
        if stop > len(self._arrays["label"]):
            self._arrays = grown(self._arrays, start, max(stop, len(self._arrays["label"]) * 3 // 2))
        for name, values in zip(COLUMN_NAMES, zip(*(row.values for row in new), strict=True), strict=True):
            self._arrays[name][start:stop] = values
        self._set_fading(np.arange(start, stop))
        for number, row in enumerate(new, start):
            self._lookups.append(row.id, row.name, row.source)
            self._lookups.register(number, row.label, row.values[_KIND])
        self._count = stop

    def _update(self, updates: Mapping[int, Mapping[int, Any]]) -> None:
        for position, values in updates.items():
            name = COLUMN_NAMES[position]
            changed = self._arrays[name].copy()
            changed[list(values)] = list(values.values())
            self._arrays[name] = changed
        refaded = {row for position in FADING_INPUTS & updates.keys() for row in updates[position]}
        if refaded:
            self._arrays["fades_at"] = self._arrays["fades_at"].copy()
            self._set_fading(np.array(sorted(refaded)))

    def _bury(self, rows: Sequence[int]) -> None:
        """Make holes of rows: nothing finds, counts or lists them, and the next start leaves them behind."""
        for row in rows:
            self._lookups.bury(row, LABELS[int(self._arrays["label"][row])], int(self._arrays["kind"][row]))
        self._update({POSITION[name]: dict.fromkeys(rows, value) for name, value in HOLE.items()})

    def _set_fading(self, rows: IndexArray) -> None:
        self._arrays["fades_at"][rows] = fading_moments(
            importance=self._arrays["importance"][rows],
            half_life=self._arrays["half_life"][rows],
            recorded_at=self._arrays["recorded_at"][rows],
            last_used_at=self._arrays["last_used_at"][rows],
            floor=self._floor,
        )
