"""Scopes by any spelling: what was stored when letter case, ports and `www.` counted is one project's all the same."""

from __future__ import annotations

from helix.memory.remember.request import StoreRequest
from helix.model.recall import RecallQuery
from helix.operations import memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings
from helix.store.listing import MemoryFilter

SPELLINGS = ("example.org/Acme/Shop", "example.org:8443/acme/shop", "www.example.org/acme/shop")


def test_memories_of_a_project_are_found_whichever_way_its_scope_was_written(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        for number, scope in enumerate(SPELLINGS):
            memories.store(
                helix,
                StoreRequest(
                    trigger=f"how the till number {number} counts", resolution="in cents", kind="fact", scope=scope
                ),
            )
        memories.store(
            helix,
            StoreRequest(trigger="how their till counts", resolution="in euros", kind="fact", scope="example.org/b/c"),
        )
        memories.store(
            helix,
            StoreRequest(
                trigger="how the till number 0 counts", resolution="in cents", kind="fact", scope=SPELLINGS[1]
            ),
        )
    for _ in range(2):  # from the log, then from the image that was made of it
        with Helix.open(settings, embedder=HashEmbedder()) as helix:
            for scope in (*SPELLINGS, "EXAMPLE.org/acme/shop"):
                answer = helix.recall(RecallQuery(query="how the till counts", scope=scope))
                assert len(answer.items) == len(SPELLINGS)
                assert upkeep.stats(helix, scope).total == len(SPELLINGS)
                assert len(memories.memories(helix, MemoryFilter(scope=scope)).items) == len(SPELLINGS)
