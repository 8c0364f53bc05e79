"""Dispute: two memories that cannot both hold, what was done about them, and how far it is settled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from helix.model.memory import Memory
from helix.model.worded import Worded


class DisputeStatus(Worded):
    """Where a contradiction stands: open for a person, settled by rule, or resolved by a person."""

    OPEN = "open", "A person has to say which holds."
    SETTLED = "settled", "A rule decided it."
    RESOLVED = "resolved", "A person decided it."


def dispute_status(attributes: Mapping[str, object]) -> DisputeStatus:
    """Return where the contradiction of an edge with these attributes stands; what says nothing of it is open."""
    return DisputeStatus(str(attributes.get("status", DisputeStatus.OPEN)))


class Outcome(Worded):
    """What of two contradicting memories stays."""

    FIRST = "first", "The one that came later holds."
    SECOND = "second", "The one that was there before holds."
    BOTH = "both", "Both hold."
    NEITHER = "neither", "Neither holds."


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """One contradiction: `first` is what came later. `left` and `right` are what in them stands against each other.

    `outcome` is None while it is open; `note` is what whoever resolved it had to say.
    """

    first: Annotated[Memory, "The one that came later."]
    second: Annotated[Memory, "The one that was there before."]
    status: Annotated[DisputeStatus, "Where it stands."]
    ground: Annotated[str, "Why the two cannot both hold."]
    left: Annotated[str, "What in the first stands against the second."]
    right: Annotated[str, "What in the second stands against the first."]
    since: Annotated[datetime, "When it was found."]
    outcome: Annotated[Outcome | None, "What stays; null while it is open."] = None
    resolved_at: Annotated[datetime | None, "When a person resolved it."] = None
    note: Annotated[str, "What that person had to say."] = ""
    drawn_by: Annotated[str, "Who says by hand that they contradict, `you` or `agent`; empty where it was found."] = ""


REWORDED = "reworded"
"""Attribute of a contradiction that a person decided for words in whose place somebody else has put others since."""
_OF_BOTH = frozenset({"outcome", "before", "note", "resolved_at"})


def reworded(attributes: Mapping[str, object], side: str) -> dict[str, object]:
    """Return what a contradiction says of itself once its `first` or `second` side has words of no person.

    What was decided against stays so, but the new words were not chosen; whether they may hold beside others is open.
    """
    if attributes.get("status") != DisputeStatus.RESOLVED.value:
        return dict(attributes)
    if attributes.get("outcome") == Outcome.BOTH.value:
        kept = {name: value for name, value in attributes.items() if name not in _OF_BOTH}
        return {**kept, "status": DisputeStatus.OPEN.value}
    return {**attributes, REWORDED: True} if attributes.get("outcome") == side else dict(attributes)


def restated(attributes: Mapping[str, object], side: str, told: Mapping[str, datetime | None]) -> Mapping[str, object]:
    """Return what a contradiction says of itself once it is said anew since or until when a side holds."""
    before = attributes.get("before")
    if not told or not isinstance(before, Mapping):
        return attributes
    moments = {name: None if moment is None else moment.isoformat() for name, moment in told.items()}
    return {**attributes, "before": {**before, side: {**before.get(side, {}), **moments}}}
