"""Store index: what is in the store, asked in the words of its domain; masks, columns and adjacency stay behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import NamedTuple, cast

import numpy as np

from helix.journal.state import Records
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import EntityKind, Mention
from helix.model.memory import SUMMARY_SOURCE, Kind, Memory, Status, TimeKind
from helix.model.operations import DropEdge
from helix.model.provenance import GIT, STRANGERS, Trust
from helix.model.recall import RecallQuery
from helix.model.records import Node
from helix.store.catalogue import CatalogueView
from helix.store.csr import RELATIONS
from helix.store.eligibility import any_of, event_times
from helix.store.node_columns import (
    ENTITY_KINDS,
    LABEL_CODE,
    LABELS,
    NO_END,
    STATUS_CODE,
    STATUSES,
    TRUST_CODE,
    BoolArray,
    IndexArray,
    MicrosArray,
)
from helix.store.projection import GraphSnapshot
from helix.text.tokens import lexical_tokens

_HISTORY = (f"{GIT}:", f"{STRANGERS}{GIT}:")
_GONE = [STATUS_CODE[status] for status in (Status.FORGOTTEN, Status.QUARANTINED, Status.RETIRED)]


class Rows:
    """A set of the catalogue's rows, kept as a mask over all of them; it is gone through in ascending order."""

    __slots__ = ("mask",)

    def __init__(self, mask: BoolArray) -> None:
        self.mask = mask

    def __contains__(self, row: int | None) -> bool:
        return row is not None and bool(self.mask[row])

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.mask).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    def __bool__(self) -> bool:
        return bool(self.mask.any())

    def __and__(self, other: Rows) -> Rows:
        return Rows(self.mask & other.mask)

    def __or__(self, other: Rows) -> Rows:
        return Rows(self.mask | other.mask)

    def without(self, row: int | None) -> Rows:
        """Return these rows of the store without the others."""
        mask = self.mask.copy()
        mask[[] if row is None else row] = False
        return Rows(mask)

    def __sub__(self, other: Rows) -> Rows:
        mask, known = self.mask.copy(), other.mask[: len(self.mask)]  # one of the two may be of an earlier moment
        mask[: len(known)] &= ~known
        return Rows(mask)


class Piece(NamedTuple):
    """One passage of a node: the row of the node, the passage's number, and its vector (None while it has none)."""

    row: int
    number: int
    vector: bytes | None


@dataclass(frozen=True, slots=True)
class StoreIndex:
    """Catalogue and graph as they were at one moment, and the records they point at, as they are when they are read.

    A node is named by its ref, or by its row where many are compared. Moments are microseconds. While the graph is read
    anew it has no edges, and is not `whole`.
    """

    view: CatalogueView
    graph: GraphSnapshot
    records: Records

    @property
    def whole(self) -> bool:
        """Whether the graph is that of the store's catalogue."""
        return self.graph.generation == self.view.generation

    @property
    def edge_count(self) -> int | None:
        """How many edges the store has; None while the graph is read anew."""
        return self.graph.edge_count if self.whole else None

    @property
    def generation(self) -> int:
        """What changes when the store becomes another one: after a restored backup, or with another model."""
        return self.view.generation

    @property
    def count(self) -> int:
        """How many rows the store's index has."""
        return self.view.count

    def __contains__(self, ref: Ref) -> bool:
        """Return whether there is a node."""
        return self.view.row_of(ref) is not None

    # Nodes

    def row_of(self, ref: Ref) -> int | None:
        """Return the row of a node in the store's index, or None."""
        return self.view.row_of(ref)

    def with_id(self, ident: str, labels: Iterable[Label] = Label) -> Ref | None:
        """Return the store's node of that id with the first of the labels that has one, or None."""
        refs = (Ref(label=label, id=ident) for label in labels)
        return next((ref for ref in refs if ref in self), None)

    def ref_of(self, row: int) -> Ref:
        """Return the label and id of the node at a row of the store's index."""
        return self.view.ref_of(row)

    def nodes(self, rows: Iterable[int]) -> list[Node]:
        """Return the store's nodes at the rows, in their order; NotFoundError for one that was dropped since."""
        return self.records.nodes([self.view.ref_of(row) for row in rows])

    def present(self, rows: Iterable[int]) -> list[Node]:
        """Return the store's nodes at the rows, in their order, without those that were dropped since."""
        held = self.records.present([self.view.ref_of(row) for row in rows])
        return [node for node in held if node is not None]

    def memory(self, row: int) -> Memory:
        """Return the memory at a row of the store's index."""
        return cast(Memory, self.records.node(self.view.ref_of(row)))

    def memory_by_id(self, ident: str) -> Memory | None:
        """Return the store's memory of that id, or None."""
        ref = Ref.memory(ident)
        return cast(Memory, self.records.node(ref)) if ref in self else None

    def memories(self, status: Status, scope: str | None = None) -> Iterator[Memory]:
        """Yield the store's memories of a status and of exactly that scope (None: of any), in the order they came."""
        return map(self.memory, self.where(Label.MEMORY, scope=scope, statuses=[status]))

    def memories_named(self, name: str) -> list[Memory]:
        """Return the store's memories of that name, whatever their scope and status, oldest first."""
        return [self.memory(row) for row in self.view.lookups.memories.get(name) if row < self.view.count]

    def memory_names(self) -> Iterator[tuple[str, list[int]]]:
        """Yield every name that a memory of the store bears, with the rows of those that bear it, oldest first."""
        for name, rows in self.view.lookups.memories.items():
            if here := [row for row in rows if row < self.view.count]:
                yield name, here

    def named(self, scope: str, name: str) -> Ref | None:
        """Return the store's active memory of that name in that scope, or None."""
        row = self.view.name_row(scope, name)
        return None if row is None else self.view.ref_of(row)

    def from_source(self, source: str, *, label: Label = Label.EPISODE, scope: str | None = None) -> Ref | None:
        """Return the store's newest node of a label from the source, in the scope or (None) in any, or None."""
        row = self.view.row_of_source(source, label=label, scope=scope)
        return None if row is None else self.view.ref_of(row)

    def all_from_source(self, label: Label, source: str, scope: str | None) -> list[Ref]:
        """Return the store's nodes of a label, of exactly this scope (None: any), from the source, oldest first."""
        rows = self.view.lookups.sources[LABEL_CODE[label]].get(source)
        return [self.view.ref_of(row) for row in self._of_scope(rows, scope)]

    def from_sources(self, label: Label, prefix: str, scope: str | None = None) -> list[int]:
        """Return the store's rows of a label and of exactly this scope (None: any) whose source has the prefix."""
        sources = self.view.lookups.sources[LABEL_CODE[label]].items()
        return self._of_scope((row for source, held in sources if source.startswith(prefix) for row in held), scope)

    def _of_scope(self, rows: Iterable[int], scope: str | None) -> list[int]:
        code, scopes = None if scope is None else self.view.lookups.scopes.code(scope), self.view.columns.scope
        return [row for row in rows if row < self.view.count and (code is None or scopes[row] == code)]

    def status_of(self, ref: Ref) -> Status | None:
        """Return the status of a node of the store; None where there is no such node, or it has none."""
        row = self.view.row_of(ref)
        code = -1 if row is None else int(self.view.columns.status[row])
        return None if code < 0 else STATUSES[code]

    def name_of(self, ref: Ref) -> str:
        """Return the name of a memory or entity of the store; empty for the rest, and for what is not there."""
        row = self.view.row_of(ref)
        return "" if row is None else self.view.name_of(row)

    def label_of(self, row: int) -> Label:
        """Return the label of the node at a row of the store's index."""
        return LABELS[int(self.view.columns.label[row])]

    def id_of(self, row: int) -> str:
        """Return the id of the node at a row of the store's index."""
        return self.view.lookups.ids[row]

    def scope_of(self, row: int) -> str:
        """Return the scope of the node at a row of the store's index."""
        return self.view.scope_of(row)

    def session_of(self, row: int) -> str:
        """Return the session of the node at a row of the store's index; empty without one."""
        code = int(self.view.columns.session[row])
        return self.view.lookups.sessions.word(code) if code >= 0 else ""

    def source_of(self, row: int) -> str:
        """Return the source of the node at a row of the store's index; empty without one."""
        return self.view.lookups.origins[row]

    def trust_of(self, row: int) -> int:
        """Return the code of the class of trust of the node at a row of the store's index."""
        return int(self.view.columns.trust[row])

    def occurred_at(self, row: int) -> int:
        """Return when what an episode tells of happened, by its row in the store's index."""
        return int(self.view.columns.occurred_at[row])

    def recorded_at(self, row: int) -> int:
        """Return when the node at a row of the store's index was recorded."""
        return int(self.view.columns.recorded_at[row])

    def entities(self, kind: EntityKind, name: str) -> list[int]:
        """Return the store's rows of the entities of a kind and name, in upper or lower case, in whatever scope."""
        return self.view.entities(kind, name)

    def files_like(self, path: str) -> list[tuple[int, str]]:
        """Return row and name of the store's files whose last part is the path's, and of patterns that may fit it."""
        return [(row, self.view.name_of(row)) for row in self.view.files_like(path)]

    def mentions_of(self, rows: Sequence[int]) -> list[tuple[Mention, ...]]:
        """Return, for each row of the store, what it mentions, in the order in which the entities came."""
        kinds = self.view.columns.kind
        return [
            tuple(Mention(kind=ENTITY_KINDS[int(kinds[one])], name=self.view.name_of(one)) for one in held)
            for held in self.supports_of(rows, Relation.MENTIONS)
        ]

    # Sets of nodes

    def where(
        self,
        *labels: Label,
        scope: str | None = None,
        statuses: Sequence[Status] = (),
        kinds: Sequence[Kind] = (),
    ) -> Rows:
        """Return the store's rows of one of the labels, of exactly that scope (None: any), those statuses and kinds."""
        return Rows(self.view.where(*labels, scope=scope, statuses=statuses, kinds=kinds))

    def rows_of(self, refs: Iterable[Ref]) -> Rows:
        """Return the store's rows of these nodes, as far as they are there."""
        mask = np.zeros(self.view.count, np.bool_)
        mask[[row for ref in refs if (row := self.row_of(ref)) is not None]] = True
        return Rows(mask)

    def of_scope(self, scope: str) -> Rows:
        """Return the store's rows of exactly that scope."""
        return Rows(self.view.of_scope(scope))

    def matching(self, query: RecallQuery, now: datetime) -> Rows:
        """Return the store's rows that the query may be answered with."""
        return Rows(self.view.mask(query, now))

    def of_session(self, session: str) -> Rows:
        """Return the store's rows that belong to a session of that name, in any scope."""
        return Rows(self.view.columns.session == self.view.lookups.sessions.code(session))

    def of_trust(self, trust: Trust) -> Rows:
        """Return the store's rows of exactly that class of trust."""
        return Rows(self.view.columns.trust == TRUST_CODE[trust])

    def of_status(self, status: Status) -> Rows:
        """Return the store's rows of that status."""
        return Rows(self.view.columns.status == STATUS_CODE[status])

    def of_statuses(self, statuses: Iterable[Status]) -> Rows:
        """Return the store's rows of one of those statuses."""
        return Rows(any_of(self.view.columns.status, [STATUS_CODE[status] for status in statuses]))

    def with_word(self, word: str) -> Rows:
        """Return the store's rows with a word in their texts, however inflected, and memories with it in their name."""
        mask = np.zeros(self.view.count, np.bool_)
        mask[[row for _, row in self.with_name(self.where(Label.MEMORY), [word])]] = True
        return self.with_all_words(word) | Rows(mask)

    def with_all_words(self, text: str) -> Rows:
        """Return the store's rows with every word of a text in one of theirs, however inflected."""
        passages, mask = self.view.passages, np.zeros(self.view.count, np.bool_)
        tokens = dict.fromkeys(lexical_tokens(text))
        held = self.view.words.holders(list(tokens))
        if tokens and len(held) == len(tokens):
            owners = (passages.owner[found[found < passages.count]] for found in held.values())
            mask[reduce(np.intersect1d, owners)] = True
        return Rows(mask)

    def with_any_token(self, tokens: Iterable[str]) -> Rows:
        """Return the store's rows with one of the lexical index's tokens in their texts."""
        passages, mask = self.view.passages, np.zeros(self.view.count, np.bool_)
        for found in self.view.words.holders(list(tokens)).values():
            mask[passages.owner[found[found < passages.count]]] = True
        return Rows(mask)

    def with_name(self, rows: Rows, words: Iterable[str]) -> list[tuple[str, int]]:
        """Return folded name and row of those of the store's rows whose name has every one of the words in it."""
        names = self.view.lookups.names
        found = [(names[row].casefold(), row) for row in rows]
        for folded in map(str.casefold, words):
            found = [one for one in found if folded in one[0]]
        return found

    def recorded_since(self, moment: int) -> Rows:
        """Return the store's rows that were recorded at the moment or later."""
        return Rows(self.view.columns.recorded_at >= moment)

    def recorded_until(self, moment: int) -> Rows:
        """Return the store's rows that were recorded at the moment or earlier."""
        return Rows(self.view.columns.recorded_at <= moment)

    def times(self, kind: TimeKind) -> MicrosArray:
        """Return when each row of the store was recorded, or what it tells of happened; NO_START for neither."""
        columns = self.view.columns
        return columns.recorded_at if kind is TimeKind.RECORDED else event_times(columns)

    def holding(self, now: int) -> Rows:
        """Return the store's rows of what has not ceased to hold."""
        return Rows(self.view.columns.valid_to > now)

    def faded(self, now: int) -> Rows:
        """Return the store's rows that are below the salience floor."""
        return Rows(self.view.columns.fades_at < now)

    def undecided(self) -> Rows:
        """Return the store's candidates that nothing was decided on."""
        return Rows(self.view.columns.retired_at == NO_END) & self.where(Label.CANDIDATE)

    def spoken_against(self, least: float, share: float) -> Rows:
        """Return the store's rows that outcomes judged at least so often, and less than that share said: it helped."""
        columns = self.view.columns
        judged = columns.helped + columns.failed
        return Rows((judged >= least) & (columns.helped < share * judged))

    def consolidated(self) -> Rows:
        """Return the store's episodes that a consolidation has seen."""
        return Rows(self.view.columns.consolidated)

    def found_by_text(self) -> Rows:
        """Return the store's rows that have a passage of their own."""
        passages = self.view.passages
        mask = np.zeros(self.view.count, np.bool_)
        mask[passages.owner[passages.alive]] = True
        return Rows(mask)

    def standing(self) -> Rows:
        """Return the store's rows that can be evidence: neither forgotten nor quarantined nor retired."""
        return Rows(~any_of(self.view.columns.status, _GONE))

    def ended(self, now: int) -> Rows:
        """Return the store's rows that tell of something that does not hold any more.

        Those are memories whose time is over or against which a person decided, and the episodes that any of them is
        grounded in. Summaries claim nothing of their own; a version that another replaced says nothing of an end.
        """
        over = (self.where(Label.MEMORY) & self.standing() - self.holding(now)).mask
        retired = list(self.where(Label.MEMORY, statuses=[Status.RETIRED]))
        for place in self.graph.neighbours(retired, Relation.CONTRADICTS).origin.tolist():
            over[retired[place]] = True
        claims = [row for row in Rows(over) if not self.source_of(row).startswith(SUMMARY_SOURCE)]
        found = self.graph.neighbours(claims, Relation.GROUNDED_IN)
        over[found.rows[found.outgoing]] = True
        return Rows(over)

    def findable_episodes(self, scope: str | None = None) -> Rows:
        """Return the store's episodes of exactly this scope (None: any) of which something can be made: that stand.

        Each has a passage of its own: for an episode without one a memory speaks already. It is no commit: what a
        history says of why is made a memory when it is imported, and all else that is made of it says what was changed.
        """
        found = self.where(Label.EPISODE, scope=scope) & self.found_by_text() & self.standing()
        found.mask[[row for row in found if self.source_of(row).startswith(_HISTORY)]] = False
        return found

    def scopes_of(self, rows: Rows | Sequence[int]) -> set[str]:
        """Return the scopes of the store's rows."""
        here = rows.mask if isinstance(rows, Rows) else np.asarray(rows, np.int64)
        return {self.view.lookups.scopes.word(int(code)) for code in np.unique(self.view.columns.scope[here])}

    def last_episode(self, scope: str, session: str) -> Ref | None:
        """Return the store's episode of a scope's session that was recorded last, or None."""
        rows = np.flatnonzero((self.where(Label.EPISODE, scope=scope) & self.of_session(session)).mask)
        return self.view.ref_of(int(rows[-1])) if len(rows) else None

    def newest(self, rows: Rows, limit: int | None = None, after: Ref | None = None) -> list[int]:
        """Return at most `limit` (None: all) of the store's rows, last recorded first, behind `after` in that order."""
        most = self.view.count if limit is None else limit
        found = self.view.newest(rows.mask, most, None if after is None else self.view.row_of(after))
        return [int(row) for row in found]

    def most_important(self, rows: Rows) -> list[int]:
        """Return the store's rows by their importance, the highest first; of equals those of the lower id."""
        importance = self.view.columns.importance
        return sorted(rows, key=lambda row: (-importance[row], self.id_of(row)))

    def captured_importance(self, after: Mapping[str, int], otherwise: int = 0, scope: str | None = None) -> float:
        """Return the summed importance of the store's episodes recorded as they happened, in a scope or (None) in all.

        Those count that were recorded after the moment of their scope in `after`, and after `otherwise`.
        """
        columns, scopes = self.view.columns, self.view.lookups.scopes
        since = np.full(len(scopes), otherwise, np.int64)
        for name, moment in after.items():
            if 0 <= (code := scopes.code(name)) < len(since):
                since[code] = max(since[code], moment)
        rows = np.flatnonzero(self.view.where(Label.EPISODE, scope=scope) & columns.captured)
        return float(columns.importance[rows[columns.recorded_at[rows] > since[columns.scope[rows]]]].sum())

    # Edges

    def supports_of(self, rows: Sequence[int], relation: Relation) -> list[list[int]]:
        """Return, for each row of the store, the rows its edges of the type lead to, ascending: what it stands on."""
        return self._beside(rows, relation, outgoing=True)

    def supported_by(self, rows: Sequence[int], relation: Relation) -> list[list[int]]:
        """Return, for each row of the store, the rows whose edges of the type lead to it, ascending."""
        return self._beside(rows, relation, outgoing=False)

    def _beside(self, rows: Sequence[int], relation: Relation, *, outgoing: bool) -> list[list[int]]:
        found = self.graph.neighbours(rows, relation)
        found = found.where(found.outgoing == outgoing)
        beside: list[list[int]] = [[] for _ in rows]
        for origin, row in zip(found.origin.tolist(), found.rows.tolist(), strict=True):
            beside[origin].append(row)
        return [sorted(held) for held in beside]

    def edges_at(self, ref: Ref) -> list[DropEdge]:
        """Return the store's edges that start or end at a node, by their ends alone."""
        row = self.view.row_of(ref)
        found = self.graph.neighbours([] if row is None else [row])
        others = map(self.view.ref_of, found.rows.tolist())
        edges = [
            DropEdge(type=RELATIONS[code], source=ref if outgoing else other, target=other if outgoing else ref)
            for other, code, outgoing in zip(others, found.relations.tolist(), found.outgoing.tolist(), strict=True)
        ]
        return list(dict.fromkeys(edges))

    def degree_of(self, row: int) -> int:
        """Return how many of the store's edges a row has, in both directions."""
        return int(self.graph.degree_of(np.array([row]))[0])

    def sources_of(self, relation: Relation) -> list[Ref]:
        """Return the store's nodes at which an edge of the type begins."""
        return [self.ref_of(row) for row in self.graph.sources_of(relation).tolist() if row < self.view.count]

    # Texts and vectors

    def pieces_of(self, rows: Iterable[int]) -> list[Piece]:
        """Return the passages of the store's rows, in the order in which they came."""
        passages = self.view.passages
        found: IndexArray = passages.of_rows(np.array(list(rows), np.int64), self.view.count)
        vectors, known = passages.vectors_of(found)
        return [
            Piece(row, number, vector.tobytes() if there else None)
            for row, number, vector, there in zip(
                passages.owner[found].tolist(), passages.numbers[found].tolist(), vectors, known.tolist(), strict=True
            )
        ]

    def common(self, terms: Sequence[str], *, at_least: int, share: float) -> list[str]:
        """Return those terms that more of the store's passages hold than `at_least`, and than that share of all."""
        words = self.view.words
        rare = max(at_least, int(words.living * share))
        return [term for term, held in words.document_frequency(terms).items() if held > rare] if terms else []

    def lacking_vectors(self) -> list[int]:
        """Return the numbers of the store's passages that have no vector, in the order in which they came."""
        passages = self.view.passages
        return [int(number) for number in passages.numbers[passages.alive & ~passages.embedded]]

    def vectors_of(self, ref: Ref) -> list[bytes]:
        """Return the vectors that the store has of a node's passages, the first passage's first."""
        row = self.view.row_of(ref)
        return [] if row is None else [one.vector for one in self.pieces_of([row]) if one.vector is not None]
