"""A closed store leaves nothing in memory, and a backlog is told from damage."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from helix import settings as configuration
from helix.memory.capture.episodes import EpisodeRequest
from helix.memory.remember.request import StoreRequest
from helix.memory.upkeep import reembed
from helix.operations import capture, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from tests.waiting import UNHURRIED


def opened(settings: Settings, embedder: HashEmbedder) -> Helix:
    return Helix.open(settings, embedder=embedder)


def test_every_closed_store_is_let_go_with_its_model(tmp_path: Path) -> None:
    settings = configuration.load({"home": tmp_path}, environ=UNHURRIED, cwd=tmp_path)
    frozen, held = gc.get_freeze_count(), []
    for number in range(10):
        embedder = HashEmbedder()
        helix = opened(settings, embedder)
        memories.store(
            helix, StoreRequest(trigger=f"opened for the {number}th time", resolution="and closed", kind="fact")
        )
        held += [weakref.ref(helix), weakref.ref(helix.store), weakref.ref(helix.store.catalogue)]
        held.append(weakref.ref(embedder))
        helix.close()
        del helix, embedder
    gc.collect()
    assert not [one for ref in held if (one := ref()) is not None]
    assert gc.get_freeze_count() <= frozen, "what is frozen is never collected"


@pytest.mark.soak
def test_passages_that_wait_for_a_vector_are_a_backlog_and_no_damage(helix: Helix) -> None:
    store = helix.store
    helix.worker.stop()
    for number in range(3):
        capture.record_episode(helix, EpisodeRequest(content=f"waits for its vector {number}", session="s"))
    assert reembed.lacking(store) == 3
    (space,) = (one for one in upkeep.doctor(helix).findings if one.check == "embedding space")
    assert space.ok
    assert "3 passages wait" in space.detail
    store.runtime.embedder = None
    (space,) = (one for one in upkeep.doctor(helix).findings if one.check == "embedding space")
    assert not space.ok
    assert "no model" in space.detail
