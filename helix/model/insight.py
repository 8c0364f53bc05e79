"""Insight: a reflection with what it rests on, down to the episodes, as people look at it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from helix.model.edge import Ref
from helix.model.reflection import Reflection


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """One piece of evidence: the beginning of its text, and for a reflection or memory what that rests on itself.

    `level` is 0 but for reflections; `stands` is False once it was forgotten, quarantined or retired, or, of a
    reflection, archived. `cut` says that it has evidence that is not shown: it was shown before, or lies too deep.
    """

    ref: Ref
    text: str
    at: datetime
    level: int = 0
    stands: bool = True
    cut: bool = False
    evidence: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightTree:
    """A reflection and its evidence, in the order in which it happened."""

    reflection: Reflection
    evidence: tuple[Cited, ...]
