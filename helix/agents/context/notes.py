"""Notes: what a person wrote down that fits a question, ranked by itself, before anything that was derived.

Notes are few and short, and what they say is seldom said in a question's words. So they are not compared with a fixed
score but with what else the store holds: where the history fits a question much better than the best note does, the
question is about the code, and not about how things are done. A note that holds every word of the question is about it
all the same: others may repeat a question as often as they like. Measured in docs/benchmarks.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from helix.errors import EmbeddingSpaceError, ModelError
from helix.model.edge import Label
from helix.model.memory import Kind, Memory
from helix.model.provenance import Trust
from helix.model.recall import RecallQuery
from helix.recall.arms import holding
from helix.recall.relevance import unrelated
from helix.recall.vector import candidates, check_dimension, cosines, scan
from helix.store.node_columns import LABEL_CODE, TRUST_CODE
from helix.store.store import Store
from helix.text.tokens import query_terms

BEHIND, BEHIND_ASKING = 0.24, 0.04
"""How far the best note may be behind the best of all else, in cosine over that of an unrelated text: for who is to do
something, and for who asks how the code works, which the code says."""
STRICTLY = 0.4
"""Share of that for what nobody called for."""
LEAST = 0.1
"""Cosine over that of an unrelated text, 0 to 1, below which no note fits."""
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
class Note:
    """A memory that a person wrote, and how well it fits, 0 to 1."""

    memory: Memory
    fit: float


Written = Callable[[str, str | None], tuple[Note, ...] | None]
"""What a person wrote that fits a question in a scope, best first; None where nobody can tell, without vectors."""


def nothing_written(question: str, scope: str | None) -> None:
    """Tell nothing: what a person wrote is then found as everything else is."""


def written(store: Store, question: str, scope: str | None, *, strict: bool = False) -> tuple[Note, ...] | None:
    """Return the active memories that the user wrote or stands for and that fit a question, best first.

    With `strict` they have to fit better: nobody called for them. None where the store has no vectors or the model
    cannot be asked.
    """
    view = store.catalogue.view
    if store.embedder is None or not view.dimension:
        return None
    try:
        vector = np.asarray(store.embed_query(question), np.float32)
        check_dimension(view, vector)
    except (ModelError, EmbeddingSpaceError):
        return None
    now = store.clock()
    own = view.columns.trust == TRUST_CODE[Trust.USER_ASSERTED]
    mask = view.mask(RecallQuery(query=question, scope=scope, kinds=_KINDS, labels=(Label.MEMORY,)), now) & own
    rows = np.flatnonzero(mask)
    if not len(rows):
        return ()
    cosine, _ = cosines(view, rows, vector)
    floor = unrelated(view, vector)
    fits = np.nan_to_num((cosine - floor) / (1.0 - floor), nan=-1.0)
    others = view.mask(RecallQuery(query=question, scope=scope), now) & ~own
    others &= np.isin(view.columns.label, [LABEL_CODE[Label.MEMORY], LABEL_CODE[Label.EPISODE]])
    best = scan(view, candidates(view, others), vector, 1).scores
    rival = (float(best[0]) - floor) / (1.0 - floor) if len(best) else 0.0
    behind = (BEHIND_ASKING if _ASKS.match(question) else BEHIND) * (STRICTLY if strict else 1.0)
    if fits.max() < max(rival - behind, LEAST):
        whole = np.isin(rows, holding(view, rows, query_terms(question)))
        rows, fits = rows[whole], fits[whole]
        if not len(rows):
            return ()
    order = np.lexsort((rows, -fits))[:_MOST]
    kept = [place for place in order.tolist() if fits[place] >= fits.max() - NEAR_BEST]
    return tuple(Note(memory=store.index.memory(int(rows[place])), fit=float(fits[place])) for place in kept)
