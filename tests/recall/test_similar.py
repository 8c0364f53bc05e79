"""Likeness by meaning alone: recent repeats, and edges worth having."""

from __future__ import annotations

from datetime import timedelta

import pytest
from recall_world import DIMENSION, NOW, World

from helix.errors import EmbeddingSpaceError
from helix.model.edge import Ref, Relation
from helix.model.memory import Kind, Status
from helix.providers.fakes import HashEmbedder
from helix.recall.similar import similar_recent, suggest_edges
from helix.store.catalogue import CatalogueView


def row(view: CatalogueView, ref: Ref) -> int:
    found = view.row_of(ref)
    assert found is not None
    return found


def test_only_recent_active_memories_of_the_scope_and_kind_that_are_alike_count() -> None:
    world = World()
    text = "the build breaks on a missing header"
    wanted = world.memory("wanted", text, Kind.FAILURE, scope="p", importance=1.0, half_life_days=1.0)
    world.memory("old", text, Kind.FAILURE, scope="p", recorded_at=NOW - timedelta(days=8))
    world.memory("fact", text, Kind.FACT, scope="p")
    world.memory("elsewhere", text, Kind.FAILURE, scope="q")
    world.memory("forgotten", text, Kind.FAILURE, scope="p", status=Status.FORGOTTEN)
    world.memory("unlike", "lunch is at noon", Kind.FAILURE, scope="p")
    view = world.catalogue().view
    vector = HashEmbedder(DIMENSION).embed([text])[0]
    found = similar_recent(view, vector, now=NOW, kinds=[Kind.FAILURE], scope="p")
    assert [place for place, _ in found] == [row(view, wanted)]
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)


def test_a_vector_of_another_space_is_refused() -> None:
    with pytest.raises(EmbeddingSpaceError):
        similar_recent(World().catalogue().view, HashEmbedder(8).embed(["x"])[0], now=NOW)


def test_suggested_edges_know_their_direction_and_skip_what_is_linked() -> None:
    world = World()
    failure = world.memory("failure", "the build breaks on a missing header file", Kind.FAILURE)
    fix = world.memory("fix", "the build works with the missing header file", Kind.PATTERN)
    linked = world.memory("linked", "the build breaks on a missing header too", Kind.FAILURE)
    world.memory("unlike", "lunch is at noon")
    header = world.entity("include/header.h")
    world.edge(failure, header, Relation.MENTIONS)
    world.edge(fix, header, Relation.TOUCHES)
    world.edge(failure, linked, Relation.SIMILAR)
    catalogue = world.catalogue()
    view, graph = catalogue.view, world.projection(catalogue).snapshot
    (found,) = suggest_edges(view, graph, row(view, failure), now=NOW)
    assert (found.source, found.target, found.relation) == (row(view, fix), row(view, failure), Relation.SOLVES)
    assert "include/header.h" in found.reason


def test_a_memory_without_a_vector_has_no_suggestions() -> None:
    world = World()
    world.memory("m", "text")
    world.operations[:] = world.operations[:1]
    catalogue = world.catalogue()
    assert suggest_edges(catalogue.view, world.projection(catalogue).snapshot, 0, now=NOW) == []
