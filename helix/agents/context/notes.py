"""Notes: what a person wrote down that fits a question, ranked by itself, before anything that was derived.

Notes are few and short, and what they say is seldom said in a question's words. So they are not compared with a fixed
score but with what else the store holds: where the history fits a question much better than the best note does, the
question is about the code, and not about how things are done. A text that repeats the question says no more of that
than one that answers it. A note that holds every word of the question is about it all the same: others may repeat a
question as often as they like. Measured in docs/benchmarks/agents.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from helix.errors import EmbeddingSpaceError, ModelError
from helix.model.edge import Label
from helix.model.memory import Kind, Memory
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.recall.relevance import best_fit, fits_of, holding_terms
from helix.recall.vector import check_dimension
from helix.store.store import Store
from helix.text.tokens import query_terms

BEHIND, BEHIND_ASKING = 0.24, 0.04
"""How far the best note may be behind the best of all else, in cosine over that of an unrelated text: for who is to do
something, and for who asks how the code works, which the code says."""
STRICTLY = 0.4
"""Share of that for what nobody called for."""
LEAST = 0.1
"""Cosine over that of an unrelated text, 0 to 1, below which no note fits."""
MOST_ELSE = 0.5
"""What the best of all else counts at most: of three histories it fits objectives at .55 at most, and what repeats a
question, as anybody can have one text do, at more."""
NEAR_BEST = 0.13
"""How far behind the best note another one may be."""
_MOST = 40
_ASKS = re.compile(
    r"\W*(?:please\s+)?(?:how|what|which|where|when|who|does|do|is|are|explain|describe|summari[sz]e|outline|trace"
    r"|compare|list|(?:find(?:\s+out)?|check|see|read|show|tell\s+me)\s+(?:where|how|which|what))\b",
    re.IGNORECASE,
)
_KINDS = tuple(kind for kind in Kind if kind not in (Kind.SYSTEMIC, Kind.GAP, Kind.EVOLUTION))


@dataclass(frozen=True, slots=True, kw_only=True)
class FittingNote:
    """A memory that a person wrote, and how well it fits, 0 to 1."""

    memory: Memory
    fit: float


Written = Callable[[str, str | None], tuple[FittingNote, ...] | None]
"""What a person wrote that fits a question in a scope, best first; None where nobody can tell, without vectors."""


def no_notes(question: str, scope: str | None) -> None:
    """Return no notes for an agent's context: what a person wrote is then found as everything else is."""


def notes_by_user(
    store: Store, question: str, scope: str | None, *, strict: bool = False
) -> tuple[FittingNote, ...] | None:
    """Return the user's notes for an agent's context: active memories that fit a question, best first.

    With `strict` they have to fit better: nobody called for them. None where the store has no vectors or the model
    cannot be asked.
    """
    index = store.index
    if store.runtime.embedder is None or not index.view.dimension:
        return None
    try:
        vector = store.embed_query(question)
        check_dimension(index.view, vector)
    except (ModelError, EmbeddingSpaceError):
        return None
    now, own = store.runtime.clock(), index.of_trust(Trust.USER_ASSERTED)
    notes = index.matching(RecallQuery(query=question, scope=scope, kinds=_KINDS, labels=(Label.MEMORY,)), now) & own
    fits = fits_of(index, notes, vector)
    if not fits:
        return ()
    said = index.where(Label.MEMORY, Label.EPISODE) - own
    rival = best_fit(index, index.matching(RecallQuery(query=question, scope=scope), now) & said, vector)
    behind = (BEHIND_ASKING if _ASKS.match(question) else BEHIND) * (STRICTLY if strict else 1.0)
    if max(fits.values()) < max(min(rival, MOST_ELSE) - behind, LEAST):
        fits = {row: fits[row] for row in holding_terms(index, notes, query_terms(question))}
    order = sorted(fits, key=lambda row: (-fits[row], row))[:_MOST]
    near_best = (row for row in order if fits[row] >= fits[order[0]] - NEAR_BEST)
    return tuple(FittingNote(memory=index.memory(row), fit=fits[row]) for row in near_best)
