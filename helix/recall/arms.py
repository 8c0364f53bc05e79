"""Arms: independent searches, each a ranked list of at most ARM_LIMIT rows that pass the query's filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helix.model.edge import Label, Relation
from helix.model.provenance import Trust
from helix.store.catalogue import CatalogueView
from helix.store.csr import RELATION_CODE
from helix.store.eligibility import event_times
from helix.store.node_columns import LABEL_CODE, TRUST_CODE, BoolArray, FloatArray, IndexArray
from helix.store.passages import NO_INDEX
from helix.store.projection import GraphSnapshot
from helix.text.path_patterns import as_path, fits, is_pattern

ARM_LIMIT = 100
MAX_TERMS = 16
"""Most terms of one lexical search: the rarest ones say nearly all of what the rest would."""

FEW, MOST_HOLDERS = 2, 12
"""A name tells things apart that so few hold; and no more rows are looked at to see whether they are few things."""

MENTION_SHARE = 0.5
"""What a file that is only mentioned counts beside one that is touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """One arm's answer, best first: each row once, with the arm's own score and the passage that earned it.

    `passages` holds indexes of the catalogue's passages, NO_INDEX for a row that was not found by a passage.
    """

    arm: str
    rows: IndexArray
    scores: FloatArray
    passages: IndexArray

    @staticmethod
    def plain(arm: str, rows: IndexArray, scores: FloatArray) -> RankedList:
        """Return the list of a recall arm that does not look at passages."""
        return RankedList(arm=arm, rows=rows, scores=scores, passages=np.full(len(rows), NO_INDEX, np.int64))

    @staticmethod
    def empty(arm: str) -> RankedList:
        """Return the list of a recall arm that found nothing."""
        nothing = np.empty(0, np.int64)
        return RankedList(arm=arm, rows=nothing, scores=np.empty(0), passages=nothing)


def by_owner(
    arm: str, view: CatalogueView, passages: IndexArray, scores: npt.NDArray[np.floating], limit: int
) -> RankedList:
    """Return a recall arm's best rows by the score of their best passage; of equals the lower row goes first."""
    owners = view.passages.owner[passages]
    take = 2 * limit
    while True:
        keep: IndexArray = np.arange(len(scores))
        if len(scores) > take:
            # Ties at the edge stay in, so that which of them are taken does not depend on how the array is split.
            keep = np.flatnonzero(scores >= np.partition(scores, -take)[-take])
        order = keep[np.lexsort((passages[keep], owners[keep], -scores[keep]))]
        first = np.sort(np.unique(owners[order], return_index=True)[1])[:limit]
        if len(first) == limit or len(keep) == len(scores):
            best = order[first]
            return RankedList(
                arm=arm,
                rows=owners[best].astype(np.int64),
                scores=scores[best].astype(np.float64),
                passages=passages[best],
            )
        take *= 4


def selective_terms(terms: Sequence[str], frequency: Mapping[str, int], limit: int = MAX_TERMS) -> list[str]:
    """Return a recall question's terms that occur at all, the rarest first, at most `limit`; of equals the earlier."""
    known = [term for term in dict.fromkeys(terms) if frequency.get(term, 0) > 0]
    return sorted(known, key=lambda term: frequency[term])[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """Every passage that a search of words found and the filters let through, with its score."""

    passages: IndexArray
    scores: npt.NDArray[np.float32]

    def ranked(self, view: CatalogueView, limit: int = ARM_LIMIT) -> RankedList:
        """Return the best rows that a recall found by words."""
        return by_owner("lexical", view, self.passages, self.scores, limit)

    def of_rows(self, view: CatalogueView, rows: IndexArray) -> FloatArray:
        """Return each row's best score in a recall by words, NaN for a row that was not found."""
        place = np.full(view.count, NO_INDEX, np.int64)
        place[rows] = np.arange(len(rows))
        places = place[view.passages.owner[self.passages]]
        asked = places != NO_INDEX
        best = np.full(len(rows), -np.inf)
        np.maximum.at(best, places[asked], self.scores[asked])
        return np.where(np.isinf(best), np.nan, best)

    def passages_of(self, view: CatalogueView, rows: IndexArray) -> IndexArray:
        """Return each row's best passage in a recall by words, of equals the first, NO_INDEX where not found."""
        best_last = np.lexsort((-self.passages, self.scores))
        of_row = np.full(view.count, NO_INDEX, np.int64)
        of_row[view.passages.owner[self.passages[best_last]]] = self.passages[best_last]
        found: IndexArray = of_row[rows]
        return found


def lexical_matches(view: CatalogueView, mask: BoolArray, terms: Sequence[str]) -> Matches:
    """Return what the words of a question find for recall by BM25 among the rows of the mask."""
    passages, scores = view.words.search(terms)
    passes = mask[view.passages.owner[passages]]
    return Matches(passages=passages[passes], scores=scores[passes])


def named_arm(
    view: CatalogueView, mask: BoolArray, graph: GraphSnapshot, names: Sequence[str], matches: Matches
) -> RankedList:
    """Return the recall arm of rows that alone hold a name of the question, the best by their words first.

    A name counts where at most FEW things hold it: a memory and the episodes it is grounded in are one thing.
    """
    alone: list[int] = []
    for passages in view.words.holders(names).values():
        rows = np.unique(view.passages.owner[passages]).astype(np.int64)
        rows = rows[mask[rows]]
        if not 0 < len(rows) <= MOST_HOLDERS:
            continue
        grounding = graph.neighbours(rows, Relation.GROUNDED_IN)
        grounding = grounding.where(grounding.outgoing & np.isin(grounding.rows, rows))
        spoken_for = np.unique(grounding.rows)
        if len(rows) - len(spoken_for) <= FEW:
            alone += rows[~np.isin(rows, spoken_for)].tolist()
    rows = np.array(list(dict.fromkeys(alone)), np.int64)
    words = np.nan_to_num(matches.of_rows(view, rows))
    order = np.lexsort((rows, -words))
    return RankedList.plain("named", rows[order], words[order])


def yours_arm(
    view: CatalogueView,
    mask: BoolArray,
    terms: Sequence[str],
    affinity: Callable[[IndexArray], FloatArray],
    about: IndexArray,
) -> RankedList:
    """Return the recall arm of the user's own memory that holds every term, or is one of those `about` the files.

    Of several it is the best by `affinity`.
    """
    own = mask & (view.columns.label == LABEL_CODE[Label.MEMORY])
    own &= view.columns.trust == TRUST_CODE[Trust.USER_ASSERTED]
    rows = rows_holding(view, np.flatnonzero(own), terms)
    rows = np.union1d(rows, about[own[about]])
    fit = affinity(rows)
    best = np.lexsort((rows, -fit))[:1]
    return RankedList.plain("yours", rows[best], fit[best])


def rows_holding(view: CatalogueView, rows: IndexArray, terms: Sequence[str]) -> IndexArray:
    """Return those rows of a recall arm that hold every one of the terms, none where there are no terms."""
    frequency = view.words.document_frequency(terms)
    for term in sorted(frequency, key=lambda term: frequency[term]):  # the rarest leave the fewest rows to look at
        if not len(rows):
            break
        held = np.zeros(view.count, np.bool_)
        for passages in view.words.holders([term]).values():
            held[view.passages.owner[passages]] = True
        rows = rows[held[rows]]
    return rows if terms else rows[:0]


def files_arm(
    view: CatalogueView,
    mask: BoolArray,
    graph: GraphSnapshot,
    files: Sequence[str],
    affinity: Callable[[IndexArray], FloatArray],
    limit: int = ARM_LIMIT,
) -> RankedList:
    """Return the recall arm of rows that touch or mention the question's files, by the share they have, in 0..1.

    Each file counts once, by how well its path fits (`path_fit`), by half where it is only mentioned, and the more the
    fewer rows have to do with it: what a change shares with every other change says little. `affinity` says how well
    rows fit the rest of the query, and decides among rows that touch the same files.
    """
    shares, asked = np.zeros(view.count), 0.0
    for path in dict.fromkeys(files):
        fits = {row: path_fit(path, view.name_of(row)) for row in view.files_like(path)}
        entities = np.array([row for row, fit in fits.items() if fit > 0], np.int64)
        if not len(entities):
            continue
        found = graph.neighbours(entities, Relation.TOUCHES, Relation.MENTIONS)
        touches = found.relations == RELATION_CODE[Relation.TOUCHES]
        share = np.array([fits[int(row)] for row in entities])[found.origin] * np.where(touches, 1.0, MENTION_SHARE)
        best = np.zeros(view.count)
        np.maximum.at(best, found.rows, share)
        specific = 1.0 / np.log(np.e + np.count_nonzero(best[mask]))
        asked += specific
        shares += specific * best
    shares /= asked or 1.0
    rows = np.flatnonzero(mask & (shares > 0))
    order = np.lexsort((rows, -event_times(view.columns)[rows], -affinity(rows), -shares[rows]))[:limit]
    return RankedList.plain("files", rows[order], shares[rows[order]])


def time_arm(
    view: CatalogueView,
    mask: BoolArray,
    start: int,
    end: int,
    affinity: Callable[[IndexArray], FloatArray],
    limit: int = ARM_LIMIT,
) -> RankedList:
    """Return the recall arm of rows whose event is in [start, end) microseconds, the best fit to the query first."""
    times = event_times(view.columns)
    rows = np.flatnonzero(mask & (times >= start) & (times < end))
    fit = affinity(rows)
    order = np.lexsort((rows, -times[rows], -fit))[:limit]
    return RankedList.plain("time", rows[order], fit[order])


def path_fit(asked: str, known: str) -> float:
    """Return 0..1 for how a recall question's file fits a path: 1 for the same, less for the end of one, else 0.

    A known name may be a pattern (`src/*.c`, see `helix.text.path_patterns`), which fits what it matches, from its
    start or from any folder on.
    """
    asked, known = asked.replace("\\", "/").strip("/"), known.replace("\\", "/").strip("/")
    if asked in (known, as_path(known)):
        return 1.0
    asked, known = asked.casefold(), known.casefold()
    if is_pattern(known):
        return 0.9 if fits(f"*/{known}", f"/{asked}") else 0.0
    known = as_path(known)
    shorter, longer = sorted((asked.split("/"), known.split("/")), key=len)
    return 0.95 * len(shorter) / len(longer) if longer[-len(shorter) :] == shorter else 0.0
