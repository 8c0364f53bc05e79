"""Provenance: where a node or an edge came from, and how far its source is to be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Trust(StrEnum):
    """Provenance classes, strongest first; anything derived is bounded by its weakest source."""

    USER_ASSERTED = "user_asserted"
    VERIFIED_OUTCOME = "verified_outcome"
    AGENT_INFERRED = "agent_inferred"
    TOOL_OUTPUT = "tool_output"
    WEB = "web"

    @property
    def rank(self) -> int:
        """0 for the strongest class, 4 for the weakest."""
        return list(Trust).index(self)


def weakest(*classes: Trust) -> Trust:
    """Return the weakest of the classes: trust never rises above its source."""
    return max(classes, key=lambda trust: trust.rank)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What produced a record: the slice of the source, the extractor, the model and the agent."""

    slice: str = ""
    extractor: str = ""
    model: str = ""
    agent: str = ""
    trust: Trust = Trust.AGENT_INFERRED
