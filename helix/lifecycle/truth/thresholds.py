"""Thresholds: what cosines mean in the space of the store's embedding model; a setting overrules what was measured."""

from __future__ import annotations

from helix.lifecycle.truth.consolidate import Thresholds
from helix.providers.models import UNMEASURED, likeness_of
from helix.store.store import Store


def thresholds_of(store: Store) -> Thresholds:
    """Return the thresholds that hold for the store."""
    settings = store.settings
    measured = UNMEASURED if store.embedder is None else likeness_of(store.embedder.space.model)
    return Thresholds(
        duplicate=settings.duplicate_threshold or measured.duplicate,
        update=settings.update_threshold or measured.update,
        related=measured.related,
        similar=measured.similar,
    )
