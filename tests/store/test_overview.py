"""What is counted in a scope is of that scope."""

from __future__ import annotations

from dataclasses import replace

from helix.memory.remember.request import StoreRequest
from helix.operations import learning, memories, upkeep
from helix.providers.fakes import HashEmbedder
from helix.service import Helix
from helix.settings import Settings

SCOPES = ("here", "there", "global")


def test_edges_count_in_the_scope_they_begin_in(settings: Settings) -> None:
    with Helix.open(settings, embedder=HashEmbedder()) as helix:
        first = memories.store(
            helix, StoreRequest(trigger="uploads time out", resolution="over slow lines", kind="failure", scope="here")
        )
        other = memories.store(
            helix, StoreRequest(trigger="retry with backoff", resolution="three times", kind="pattern", scope="there")
        )
        before = {scope: upkeep.stats(helix, scope).relationships for scope in SCOPES}
        memories.edge(helix, other.name, first.name, relation="solves")
        after = {scope: upkeep.stats(helix, scope).relationships for scope in SCOPES}
        assert after == {**before, "there": before["there"] + 1}
        assert sum(after.values()) == upkeep.stats(helix).relationships
        assert learning.verify(helix, "here").stats.relationships == after["here"]
        assert upkeep.stats(helix, "nowhere").relationships == 0


def test_coverage_is_that_of_the_scopes_own_passages(settings: Settings) -> None:
    with Helix.open(replace(settings, embedding_model="none")) as helix:
        memories.store(helix, StoreRequest(trigger="stored by words alone", resolution="x", kind="fact", scope="here"))
        assert [upkeep.stats(helix, scope).embedding_coverage for scope in ("here", "there", None)] == [0.0, 1.0, 0.0]
