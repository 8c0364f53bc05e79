"""Stored twins: what somebody stored and episodes ask for too; it stays alone, and is grounded in those."""

from __future__ import annotations

from helix.lifecycle.compose import Composer, Prepared
from helix.lifecycle.knowledge import derived
from helix.lifecycle.knowledge.derive import Desired
from helix.lifecycle.neighbours import nearest_active
from helix.lifecycle.truth.consolidate import (
    Newcomer,
    Thresholds,
    Verdict,
    against,
    decide,
    same_words,
    says_the_same,
)
from helix.lifecycle.worth.certainty import count_sighting
from helix.model.edge import Label, Ref, Relation
from helix.model.episode import Episode
from helix.model.memory import Memory, Status
from helix.scopes import same_scope
from helix.store.store import Store
from helix.text.names import slug

NEAREST = 20
"""How many memories something wanted is compared with: a contradiction is often farther off than a twin."""


def newcomer_of(wanted: Desired) -> Newcomer:
    """Return something wanted as what the decision looks at."""
    return Newcomer(kind=wanted.kind, trigger=wanted.trigger, resolution=wanted.resolution, trust=wanted.trust)


def compared(
    store: Store, scope: str, newcomer: Newcomer, prepared: Prepared, thresholds: Thresholds
) -> tuple[Verdict, Memory | None]:
    """Return what something wanted is against the active memories of a scope: without a model by their words alone."""
    vector = prepared.vectors[0]
    if vector is None:
        twins = [one for one in store.memories_named(slug(newcomer.trigger)) if _told(one, scope, newcomer)]
        return (Verdict.NOOP, min(twins, key=lambda one: one.id)) if twins else (Verdict.ADD, None)
    return decide(newcomer, nearest_active(store, vector, scope, NEAREST), thresholds)


def twin_of(store: Store, scope: str, newcomer: Newcomer, prepared: Prepared, thresholds: Thresholds) -> Memory | None:
    """Return the active memory that says the same, was stored, and is no weaker founded than what is wanted."""
    verdict, other = compared(store, scope, newcomer, prepared, thresholds)
    if verdict is not Verdict.NOOP or other is None or other.is_derived:
        return None
    return other if other.provenance.trust.rank <= newcomer.trust.rank else None


def speaks_for(store: Store, memory: Memory, newcomer: Newcomer, prepared: Prepared, thresholds: Thresholds) -> bool:
    """Return whether a stored memory that took a derived one over says still what the episodes say.

    It may say it in other words; it was edited to say something else where a number, a name or a negation differs.
    """
    if same_words(memory, newcomer):
        return True
    vector = prepared.vectors[0]
    if vector is None or memory.kind is not newcomer.kind or against(memory, newcomer) is not None:
        return False
    found = nearest_active(store, vector, memory.scope, NEAREST)
    near = any(one.id == memory.id and cosine >= thresholds.update for one, cosine in found)
    return near and says_the_same(memory, newcomer)


def sight(composer: Composer, store: Store, known: Memory, wanted: Desired) -> bool:
    """Count a stored memory once for each episode that says it too, and ground it in those; False where none is new."""
    ref = Ref(label=Label.MEMORY, id=known.id)
    grounded = {
        op.target.id for op in store.records.edges_at(ref) if op.type is Relation.GROUNDED_IN and op.source == ref
    }
    fresh = [episode for episode in wanted.grounding if episode not in grounded]
    for episode in store.records.nodes([Ref(label=Label.EPISODE, id=each) for each in fresh]):
        voice = (episode.session or episode.id) if isinstance(episode, Episode) else ""
        known = count_sighting(composer, known, wanted.trust, voice)
    derived.ground(composer, known, fresh)
    return bool(fresh)


def _told(memory: Memory, scope: str, newcomer: Newcomer) -> bool:
    return memory.status is Status.ACTIVE and same_scope(memory.scope, scope) and same_words(memory, newcomer)
