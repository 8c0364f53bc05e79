"""Difference: what one strand, or the store, holds that another does not, by scope and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from helix.model.edge import Label
from helix.model.memory import Status
from helix.model.operations import PutEdge
from helix.strands.rows import StrandRow, paired_rows

MOST_LINES = 500
_SHOWN = 100
_NAMES = ("name", "objective", "insight", "content", "trigger")


@dataclass(slots=True)
class DifferenceCounts:
    """Counts of each scope, by what happened, and a line for each of the first nodes that differ."""

    scopes: dict[str, Counter[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


def difference(one: Iterable[StrandRow], other: Iterable[StrandRow]) -> DifferenceCounts:
    """Return what strand `other` adds, changes, ends and lacks as seen from `one`; both come in the order of keys."""
    found = DifferenceCounts()
    for before, after in paired_rows(one, other):
        if before == after:
            continue
        row = after or before
        assert row is not None
        what = _what(before, after)
        edge = isinstance(row.put, PutEdge)
        found.scopes.setdefault(row.scope, Counter())[f"edges {what}" if edge else what] += 1
        if not edge and len(found.lines) < MOST_LINES:
            found.lines.append(f"{what}: {row.table.lower()} {_name(row)}")
    return found


def _what(before: StrandRow | None, after: StrandRow | None) -> str:
    if before is None:
        return "added"
    if after is None:
        return "missing"
    return "ended" if _holds(before) and not _holds(after) else "changed"


def _holds(row: StrandRow) -> bool:
    props = row.put.props
    return props.get("status", Status.ACTIVE) == Status.ACTIVE and props.get("valid_to") is None


def _name(row: StrandRow) -> str:
    said = next((str(row.put.props[name]) for name in _NAMES if row.put.props.get(name)), row.key[-1])
    text = " ".join(said.split())
    return text if len(text) <= _SHOWN or row.table == Label.MEMORY else f"{text[:_SHOWN]}…"
