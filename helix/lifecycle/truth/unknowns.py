"""Unknowns: a question that recall could not answer is kept as a gap, for whoever asks to have it kept."""

from __future__ import annotations

from helix.lifecycle.asked import StoreRequest
from helix.lifecycle.remember import remember
from helix.lifecycle.truth.gaps import unanswered
from helix.model.memory import GLOBAL_SCOPE, Kind
from helix.model.provenance import Trust
from helix.model.recall import RecallAnswer
from helix.model.reports import StoreResult
from helix.store.store import Store


def note_gap(store: Store, answer: RecallAnswer, *, agent: str = "") -> StoreResult | None:
    """Keep the question of a recall that found nothing good as a gap of its scope, counted where it is known; or None.

    Asked in every scope, it is a gap of `global`. A question limited to kinds, files or a time says nothing of what is
    known.
    """
    query = answer.query
    limited = query.kinds or query.files or query.as_of or query.known_at or query.since
    if limited or not unanswered(store, answer):
        return None
    request = StoreRequest(
        trigger=query.query,
        resolution="",
        kind=Kind.GAP.value,
        scope=query.scope or GLOBAL_SCOPE,
        trust=Trust.AGENT_INFERRED,
        agent=agent,
    )
    return remember(store, request)
