"""Facets: how many memories there are of each scope, kind, status and trust, and of each day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One value of a dimension and how many memories have it."""

    value: Annotated[str, "A scope, or the word of a kind, a status or a class of trust, such as `user_asserted`."]
    count: Annotated[int, "How many memories have it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What is of one day, by the time that was asked for."""

    day: Annotated[str, "The day in UTC, such as `2026-10-03`."]
    memories: Annotated[int, "How many memories are of it."]
    episodes: Annotated[int, "How many episodes are of it; the kinds say nothing of these."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """How many memories a filter leaves, and how many there are of each value that it could have instead.

    Each dimension is counted with every filter but its own. The most frequent value comes first, days in their order.
    """

    total: Annotated[int, "How many memories all filters leave."]
    scopes: Annotated[tuple[Facet, ...], "Of each scope."]
    kinds: Annotated[tuple[Facet, ...], "Of each kind."]
    statuses: Annotated[tuple[Facet, ...], "Of each status."]
    trusts: Annotated[tuple[Facet, ...], "Of each class of trust."]
    days: Annotated[tuple[Day, ...], "Of each day that anything is of, the first day first."]
