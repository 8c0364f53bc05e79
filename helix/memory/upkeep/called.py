"""Called: nodes by words of what they are called, whatever they are: for a field that finds everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from heapq import nsmallest
from itertools import islice
from operator import and_

from helix.memory.capture.sessions import name_of, told_sessions
from helix.model.edge import Label
from helix.model.graph_answers import GraphNode
from helix.model.memory import Status
from helix.store.graph_drawing import drawn_nodes, title
from helix.store.index import Rows
from helix.store.store import Store

CALLED = (Label.MEMORY, Label.SESSION, Label.PLAN, Label.TASK, Label.ENTITY, Label.REFLECTION)
_MOST_WORDS = 16
_MOST_READ = 1_000
"""Of plans and of tasks so many of the newest are looked at."""


def called(store: Store, text: str, labels: Sequence[Label], limit: int) -> list[GraphNode]:
    """Return at most `limit` nodes of each label that have every word in what they are called, label by label.

    A memory and an insight have it in their text; those that do not stand in recall are left out, as are private
    sessions. Without a word there are none.
    """
    words = text.casefold().split()[:_MOST_WORDS]
    told = cache(lambda: reduce(and_, map(store.index.with_word, words)))
    rows = [row for label in labels if words for row in islice(_rows(store, label, words, told), limit)]
    return list(drawn_nodes(store.index, map(store.index.ref_of, rows)).values())


def _rows(store: Store, label: Label, words: Sequence[str], told: Callable[[], Rows]) -> Iterable[int]:
    index = store.index
    match label:
        case Label.MEMORY | Label.REFLECTION:
            return index.newest(index.where(label, statuses=[Status.ACTIVE]) & told())
        case Label.SESSION:
            return (row for row in index.newest(told_sessions(store)) if _has(name_of(index, row), words))
        case Label.ENTITY:
            found = index.with_name(index.where(label), words)
            return [row for _, row in nsmallest(_MOST_READ, ((len(name), row) for name, row in found))]
        case _:
            rows = index.newest(index.where(label), _MOST_READ)
            held = zip(rows, index.records.present([index.ref_of(row) for row in rows]), strict=True)
            return (row for row, node in held if node is not None and _has(title(node), words))


def _has(name: str, words: Sequence[str]) -> bool:
    folded = name.casefold()
    return all(word in folded for word in words)
