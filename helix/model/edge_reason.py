"""Edge reason: why an edge is there, in a short sentence, as far as the edge itself says."""

from __future__ import annotations

from collections.abc import Mapping

from helix.model.edge import DRAWN, MERGED, Edge, Relation

_SAID: Mapping[Relation, str] = {
    Relation.GROUNDED_IN: "It is evidence for it.",
    Relation.CITES: "The insight rests on it.",
    Relation.MENTIONS: "Its text names it.",
    Relation.TOUCHES: "It is about this file.",
    Relation.IN_SESSION: "It happened in this session.",
    Relation.NEXT: "It came next in the session.",
    Relation.HAS_TASK: "The plan has this task.",
    Relation.BLOCKED_BY: "The task waits for it.",
    Relation.LEARNED: "It was learned in this task.",
    Relation.FOR_TASK: "It is an attempt at this task.",
    Relation.PROPOSED: "The work gave it to learn.",
    Relation.BASED_ON: "The plan rests on it.",
    Relation.CO_OCCURS: "Both helped in one task.",
    Relation.SUPERSEDES: "It is a newer version.",
}
_SHOWN = {Relation.INJECTED: "It was shown to the task", Relation.WITHHELD: "It was held out from the task"}


def reason_of(edge: Edge) -> str:
    """Return why an edge is there: who drew it, or what it was made of."""
    attributes, provenance = edge.attributes, edge.provenance
    if DRAWN in attributes:
        return f"Drawn by {provenance.agent or 'a person'}."
    if MERGED in attributes:
        return "The one was folded into the other."
    if edge.type is Relation.CONTRADICTS and (ground := attributes.get("ground")):
        return f"Both cannot hold: {ground}."
    if edge.type in _SHOWN:
        outcome = str(attributes.get("outcome") or "")
        return f"{_SHOWN[edge.type]}; {outcome}." if outcome else f"{_SHOWN[edge.type]}."
    if edge.type in _SAID:
        return _SAID[edge.type]
    told = " and ".join(filter(None, (provenance.agent, provenance.extractor)))
    return f"Told by {told}." if told else "Nothing is kept of why."
