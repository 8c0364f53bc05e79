"""Bonds: edges between memories that the outcomes of tasks draw by rule, and take back with the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, cast

from helix.memory.change.compose import Composer
from helix.model.edge import Edge, Ref, Relation
from helix.model.memory import Kind
from helix.model.provenance import Provenance, Trust
from helix.model.records import edge_from
from helix.store.index import StoreIndex

EXTRACTOR = "outcome"
TASKS = "tasks"
"""Attribute of an edge: how many tasks speak for it."""
_MOST_TOGETHER = 6
_MOST_STRENGTH = 5
_PROBLEMS = frozenset({Kind.FAILURE, Kind.SYSTEMIC})
_SOLUTIONS = frozenset({Kind.PATTERN, Kind.CONVENTION, Kind.SNIPPET})


class Bond(NamedTuple):
    """An edge that a task speaks for: its type and the ids of its two memories."""

    relation: str
    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What part a memory had in a task: shown there or learned there, whether it met an error, and what it got."""

    memory: str
    kind: Kind
    learned: bool = False
    at_error: bool = False
    by_evidence: bool = False
    outcome: str = ""
    rank: int = 0


def bonds_of(parts: Iterable[Part], *, passed: bool, failed: bool) -> tuple[Bond, ...]:
    """Return the bonds between memories that the outcome of one task speaks for.

    - CO_OCCURS between memories that helped it, the six shown first at most; only where it was verified.
    - SOLVES from a pattern, convention or snippet to a failure: the failure's error came up in the task, the task
      passed, and the pattern was used by evidence or learned in this very task; to a failure that was met for the first
      time, and mended, in the task itself from what was used by evidence alone.
    - CAUSES from a failure to another one that was learned in the task: the first one's error came up in it, or it was
      used in it, and the task failed all the same.
    """
    held = sorted(parts, key=lambda part: (part.rank, part.memory))
    found: set[Bond] = set()
    if passed:
        helped = [part.memory for part in held if part.outcome == "helped" and not part.learned][:_MOST_TOGETHER]
        found |= {Bond(Relation.CO_OCCURS, *sorted(pair)) for pair in combinations(helped, 2)}
        met = [part for part in held if part.kind in _PROBLEMS and part.at_error and not part.learned]
        fixes = [part for part in held if part.kind in _SOLUTIONS and (part.learned or _helped_surely(part))]
        found |= {Bond(Relation.SOLVES, fix.memory, problem.memory) for fix in fixes for problem in met}
        mended = [part for part in held if part.kind in _PROBLEMS and part.learned]
        used = [part for part in fixes if _helped_surely(part)]
        found |= {Bond(Relation.SOLVES, fix.memory, problem.memory) for fix in used for problem in mended}
    if failed:
        first = [
            part
            for part in held
            if part.kind in _PROBLEMS and not part.learned and (part.at_error or part.outcome == "failed")
        ]
        new = [part for part in held if part.kind is Kind.FAILURE and part.learned]
        found |= {Bond(Relation.CAUSES, one.memory, other.memory) for one in first for other in new}
    return tuple(sorted(bond for bond in found if bond.source != bond.target))


def redraw_bonds(composer: Composer, index: StoreIndex, before: Sequence[Bond], after: Sequence[Bond]) -> None:
    """Redraw the bonds of a task's outcome: take back those it no longer speaks for, strengthen those it does now."""
    for bond in sorted({*before} ^ {*after}):
        _weigh(composer, index, bond, 1 if bond in after else -1)


def _helped_surely(part: Part) -> bool:
    return part.outcome == "helped" and part.by_evidence


def _weigh(composer: Composer, index: StoreIndex, bond: Bond, step: int) -> None:
    kind = Relation(bond.relation)
    source, target = (Ref.memory(ident) for ident in (bond.source, bond.target))
    if any(end not in index for end in (source, target)):
        return
    ends = (kind, source, target)
    held = (op for op in index.records.edges_at(source) if (op.type, op.source, op.target) == ends)
    known = next(map(edge_from, held), None)
    if known is None:
        if step > 0:
            composer.put_edge(_new(composer, kind, source, target))
        return
    tasks = int(cast(int, known.attributes.get(TASKS, 0)))
    after = max(0, tasks + step)
    if after == 0 and known.provenance.extractor == EXTRACTOR:
        composer.drop_edge(kind, source, target)
        return
    composer.put_edge(
        replace(
            known,
            weight=max(0.0, known.weight + min(after, _MOST_STRENGTH) - min(tasks, _MOST_STRENGTH)),
            last_used_at=composer.now if step > 0 else known.last_used_at,
            attributes={**known.attributes, TASKS: after},
        )
    )


def _new(composer: Composer, kind: Relation, source: Ref, target: Ref) -> Edge:
    return Edge(
        type=kind,
        source=source,
        target=target,
        created_at=composer.now,
        attributes={TASKS: 1},
        provenance=Provenance(extractor=EXTRACTOR, trust=Trust.VERIFIED_OUTCOME),
    )
