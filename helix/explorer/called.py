"""Called: nodes by words of what they are called, whatever they are: for a field that finds everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from heapq import nsmallest
from itertools import islice
from operator import and_

from helix.explorer.graph_drawing import drawn_nodes
from helix.memory.capture.sessions import session_name, told_sessions
from helix.model.edge import Label
from helix.model.graph_answers import GraphNode
from helix.model.memory import Status
from helix.store.index import Rows, StoreIndex
from helix.store.store import Store

CALLED = (Label.MEMORY, Label.SESSION, Label.PLAN, Label.TASK, Label.ENTITY, Label.REFLECTION)
_MOST_WORDS = 16
_AT_ONCE = 1_000
"""Plans and tasks that are read together; and entities of which the shortest names are looked for."""


def nodes_called(store: Store, text: str, labels: Sequence[Label], limit: int) -> list[GraphNode]:
    """Return at most `limit` nodes of each label that have every word in what they are called, label by label.

    A memory and an insight have it in their text, a plan and a task in the whole of their objective. Memories and
    insights that do not stand in recall are left out, as are private sessions. Without a word there are none.
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
            return (row for row in index.newest(told_sessions(store)) if _has(session_name(index, row), words))
        case Label.ENTITY:
            found = index.with_name(index.where(label), words)
            return [row for _, row in nsmallest(_AT_ONCE, ((len(name), row) for name, row in found))]
        case _:
            return _by_objective(index, index.newest(index.where(label)), words)


def _by_objective(index: StoreIndex, rows: Sequence[int], words: Sequence[str]) -> Iterable[int]:
    """Yield the rows of plans or tasks that have the words; reads on only as long as somebody asks for more."""
    for start in range(0, len(rows), _AT_ONCE):
        some = rows[start : start + _AT_ONCE]
        held = index.records.present([index.ref_of(row) for row in some])
        yield from (row for row, node in zip(some, held, strict=True) if _has(getattr(node, "objective", ""), words))


def _has(name: str, words: Sequence[str]) -> bool:
    folded = name.casefold()
    return all(word in folded for word in words)
