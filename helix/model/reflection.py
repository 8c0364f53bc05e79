"""Reflection: an insight synthesised from episodes, memories or other reflections, which it cites; and its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from helix.model.edge import Label, Ref
from helix.model.memory import GLOBAL_SCOPE, Status
from helix.model.provenance import Provenance, provenance_word


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """One insight. `level` is 1 above raw evidence and one more than the highest reflection it cites."""

    id: str
    question: Annotated[str, "What was asked."]
    insight: Annotated[str, "What was found."]
    recorded_at: datetime
    level: Annotated[int, "1 above raw evidence, one more above other reflections."] = 1
    confidence: float = 0.5
    status: Annotated[Status, "Where it stands."] = Status.ACTIVE
    scope: str = GLOBAL_SCOPE
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    last_used_at: datetime | None = None
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def said_by(self) -> str:
        """Where it comes from, in a word; see `provenance_word`."""
        return provenance_word(self.provenance)

    @property
    def ref(self) -> Ref:
        """Where it stands in the graph."""
        return Ref(label=Label.REFLECTION, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class InsightEvidence:
    """One piece of evidence of an insight, in its place: `depth` 1 is cited by the insight, 2 by what that rests on."""

    depth: Annotated[int, "How many steps below the insight."]
    ref: Annotated[Ref, "The node."]
    text: Annotated[str, "The beginning of what it says."]
    at: Annotated[datetime, "When it happened or was recorded."]
    level: Annotated[int, "Levels of insights below it; 0 for what is none."]
    stands: Annotated[bool, "Whether it still holds: not forgotten, retired or quarantined."]
    cut: Annotated[bool, "Whether it has evidence that is not shown here."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """An insight with what it rests on, each piece of evidence followed by its own."""

    reflection: Annotated[Reflection, "The insight."]
    evidence: Annotated[
        tuple[InsightEvidence, ...], "What it rests on, each piece followed by what that rests on itself."
    ]


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
