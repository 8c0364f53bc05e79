"""Facets: counts of memories by scope, kind, status, trust and day, as a filter leaves them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import reduce
from operator import and_

import numpy as np
import numpy.typing as npt

from helix.model.clock import DAY_MICROS, from_micros
from helix.model.edge import Label
from helix.model.facets import Day, Facet, Facets
from helix.store.index import Rows, StoreIndex
from helix.store.listing import MemoryFilter, parts
from helix.store.node_columns import KINDS, STATUSES, TRUSTS, MicrosArray

_OF_EPISODES = ("scope", "status", "trust", "text")
"""What of a filter says anything of an episode's day."""


def count_facets(index: StoreIndex, wanted: MemoryFilter) -> Facets:
    """Count the memories of each value, each dimension with every filter but its own."""
    held, columns = parts(index, wanted), index.view.columns
    memories = index.where(Label.MEMORY)

    def others(dimension: str) -> Rows:
        return reduce(and_, (rows for name, rows in held.items() if name != dimension), memories)

    spoken = reduce(and_, (held[name] for name in _OF_EPISODES if name in held), index.where(Label.EPISODE))
    return Facets(
        total=len(others("")),
        scopes=_counted(columns.scope[others("scope").mask], index.view.lookups.scopes.word),
        kinds=_counted(columns.kind[others("kind").mask], KINDS.__getitem__),
        statuses=_counted(columns.status[others("status").mask], STATUSES.__getitem__),
        trusts=_counted(columns.trust[others("trust").mask], TRUSTS.__getitem__),
        days=_days(index.times(wanted.time), others("time"), spoken),
    )


def _counted(codes: npt.NDArray[np.signedinteger], word: Callable[[int], str]) -> tuple[Facet, ...]:
    values, counts = np.unique(codes, return_counts=True)
    held = zip(map(word, values.tolist()), counts.tolist(), strict=True)
    return tuple(
        Facet(value=str(value), count=count) for value, count in sorted(held, key=lambda one: (-one[1], one[0]))
    )


def _days(times: MicrosArray, memories: Rows, episodes: Rows) -> tuple[Day, ...]:
    ours, theirs = (_by_day(times, rows) for rows in (memories, episodes))
    return tuple(
        Day(day=from_micros(day * DAY_MICROS).date().isoformat(), memories=ours[day], episodes=theirs[day])
        for day in sorted({*ours, *theirs})
    )


def _by_day(times: MicrosArray, rows: Rows) -> Counter[int]:
    days, counts = np.unique(times[rows.mask] // DAY_MICROS, return_counts=True)
    return Counter(dict(zip(days.tolist(), counts.tolist(), strict=True)))
