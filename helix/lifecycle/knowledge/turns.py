"""Turns: what was said again after something that contradicts it was said holds anew, apart from the time before.

Only what was said in so many words takes a turn, or ends one: a casual mention may look back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime

from helix.lifecycle.knowledge.cluster import Bars, Rest, go_on, near_pairs
from helix.lifecycle.knowledge.said import Said
from helix.lifecycle.truth.consolidate import CLOSE_IN_TIME, claims
from helix.lifecycle.truth.contradict import Statement, contradiction

Rivals = Mapping[bytes, Set[bytes]]
"""For what is said (`Said.same`), what surely cannot hold beside it."""


def opposed(
    items: Sequence[Said], bars: Bars, fresh: Iterable[int], rest: Rest = go_on
) -> Iterator[tuple[bytes, bytes]]:
    """Yield what the items at the places `fresh` say, each with what surely contradicts it and is near enough, once."""
    told = [item for item in items if item.candidate.explicit and claims(item.candidate.kind)]
    chosen = {items[place].same for place in fresh}
    for one, two, _ in near_pairs(told, bars, [n for n, item in enumerate(told) if item.same in chosen], rest):
        if two < one and told[two].same in chosen:
            continue  # met already, the other way round
        rest()
        found = contradiction(_statement(told[one]), _statement(told[two]))
        if found is not None and found.sure:
            yield told[one].same, told[two].same


def turns(cluster: Sequence[Said], enders: Iterable[Said]) -> list[list[Said]]:
    """Return what says one thing cut where it was said anew after an ender, each part in the cluster's order.

    Where it, the ender and it again follow each other within `CLOSE_IN_TIME`, nobody can tell which was meant to hold.
    """
    moments = sorted({_at(item) for item in enders if item.candidate.explicit})
    starts: list[datetime] = []
    for moment in sorted({_at(item) for item in cluster if item.candidate.explicit}):
        if not starts or any(_parts(starts[-1], between, moment) for between in moments):
            starts.append(moment)
    bounds = [*starts[1:], None]
    parts: list[list[Said]] = [[] for _ in bounds]
    for item in cluster:
        parts[next(n for n, bound in enumerate(bounds) if bound is None or _at(item) < bound)].append(item)
    return parts


def _parts(start: datetime, between: datetime, again: datetime) -> bool:
    return start < between < again and max(between - start, again - between) >= CLOSE_IN_TIME


def _at(item: Said) -> datetime:
    return item.episode.occurred_at


def _statement(item: Said) -> Statement:
    candidate = item.candidate
    resolution = "" if candidate.resolution == candidate.trigger else candidate.resolution
    return Statement(trigger=candidate.trigger, resolution=resolution)
