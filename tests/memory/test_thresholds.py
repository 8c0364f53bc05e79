"""What cosines mean belongs to the model; a setting overrules it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helix.memory.contradiction.classify import thresholds_of
from helix.providers.fakes import HashEmbedder
from helix.providers.model_catalogue import KNOWN, UNMEASURED, ModelKind, likeness_of
from helix.settings import Settings
from helix.store.store import Store


@pytest.mark.parametrize("name", [name for name, model in KNOWN.items() if model.kind is ModelKind.EMBEDDING])
def test_every_model_that_can_be_installed_was_measured(name: str) -> None:
    likeness = likeness_of(name)
    assert likeness is not UNMEASURED
    assert likeness_of(f"/somewhere/models/{name}") == likeness
    assert likeness.related < likeness.similar <= likeness.update < likeness.duplicate


def test_a_model_nobody_measured_gets_cautious_ones() -> None:
    assert likeness_of("anything/else") is UNMEASURED


@pytest.mark.parametrize(("duplicate", "update"), [(0.0, 0.0), (0.99, 0.0), (0.0, 0.5), (0.9, 0.8)])
def test_a_setting_overrules_what_was_measured(settings: Settings, duplicate: float, update: float) -> None:
    told = replace(settings, duplicate_threshold=duplicate, update_threshold=update)
    store = Store(told, embedder=HashEmbedder())
    try:
        found = thresholds_of(store.runtime)
    finally:
        store.close()
    assert found.duplicate == (duplicate or UNMEASURED.duplicate)
    assert found.update == (update or UNMEASURED.update)
