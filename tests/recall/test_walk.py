"""Walks reach what is linked to what was found, and only what the asker may see."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from recall_world import NOW, World

from helix.memory.change.compose import ABOUT
from helix.model.edge import Label, Ref, Relation
from helix.model.entity import EntityKind, Mention
from helix.model.episode import Session
from helix.model.memory import Kind
from helix.model.recall import Expand
from helix.model.records import put_record
from helix.recall.arms import RankedList
from helix.recall.fusion import Fused, fuse
from helix.recall.pagerank import personalised
from helix.recall.relevance import Relevance
from helix.recall.walk import (
    Seeds,
    context_arm,
    entity_rows,
    graph_arm,
    nearness,
    passable,
    seeds_of,
    solves_arm,
    turns_beside,
)
from helix.store.catalogue import CatalogueView
from helix.store.node_columns import LABEL_CODE
from helix.store.projection import GraphSnapshot


def opened(world: World) -> tuple[CatalogueView, GraphSnapshot]:
    catalogue = world.catalogue()
    return catalogue.view, world.projection(catalogue).snapshot


def row(view: CatalogueView, ref: Ref) -> int:
    found = view.row_of(ref)
    assert found is not None
    return found


def found_first(view: CatalogueView, *refs: Ref) -> Fused:
    rows = np.array([row(view, ref) for ref in refs], np.int64)
    scores = np.linspace(1, 0.5, len(rows))
    return fuse([RankedList(arm="vector", rows=rows, scores=scores, passages=np.full(len(rows), -1, np.int64))], {})


def fitting(view: CatalogueView, *refs: Ref) -> Relevance:
    """Return relevance that falls from ref to ref."""
    rows = np.array([row(view, ref) for ref in refs], np.int64)
    nothing, falling = np.full(len(rows), np.nan), np.linspace(0.5, 0.4, len(rows))
    none = np.full(len(rows), -1, np.int64)
    return Relevance(
        rows=rows, cosine=nothing, lexical=nothing, meaning=falling, words=np.zeros(len(rows)), passages=none
    )


def reached(
    view: CatalogueView, graph: GraphSnapshot, fits: Relevance, expand: Expand, *mentions: Mention
) -> list[str]:
    walkable = view.walkable(None)
    entities = entity_rows(view, mentions, walkable)
    seeds = seeds_of(fits, entities, graph)
    near = nearness(view, graph, seeds, passable(view, graph, walkable, entities), expand)
    mask = view.columns.label != LABEL_CODE[Label.ENTITY]
    return [view.ref_of(int(place)).id for place in graph_arm(near, mask, expand).rows]


def test_a_walk_crosses_shared_entities_and_a_neighbour_step_too() -> None:
    world = World()
    start, other, apart = (world.memory(name, name) for name in ("start", "other", "apart"))
    shared, own = world.entity("shared.c"), world.entity("own.c")
    world.edge(start, shared, Relation.MENTIONS)
    world.edge(other, shared, Relation.MENTIONS)
    world.edge(apart, own, Relation.MENTIONS)
    view, graph = opened(world)
    fused = fitting(view, start)
    assert "other" in reached(view, graph, fused, Expand.PAGERANK)
    assert "other" in reached(view, graph, fused, Expand.NEIGHBOURS)
    assert "apart" not in reached(view, graph, fused, Expand.PAGERANK)
    assert reached(view, graph, fused, Expand.NONE) == []


def test_a_seed_that_nothing_leads_to_is_not_found_again() -> None:
    world = World()
    alone, private = world.memory("alone", "a"), world.memory("private", "b")
    world.edge(private, world.entity("only-here.c"), Relation.MENTIONS)
    view, graph = opened(world)
    assert reached(view, graph, fitting(view, alone, private), Expand.PAGERANK) == []


def test_the_only_turn_of_a_session_is_not_found_again_by_it() -> None:
    world = World()
    alone = world.episode("alone", "a")
    world.edge(alone, Ref.session("s"), Relation.IN_SESSION)
    world.operations.append(put_record(Session(id="s", scope="p", started_at=NOW)))
    view, graph = opened(world)
    assert reached(view, graph, fitting(view, alone), Expand.PAGERANK) == []


def test_the_best_candidates_seed_a_walk_and_worse_ones_hardly() -> None:
    world = World()
    refs = [world.memory(name, name) for name in ("best", "near", "far")]
    view, graph = opened(world)
    fits = replace(fitting(view, *refs), meaning=np.array([0.5, 0.49, 0.1]))
    seeds = seeds_of(fits, np.empty(0, np.int64), graph)
    assert [view.ref_of(int(place)).id for place in seeds.rows] == ["best", "near", "far"]
    assert seeds.mass[1] > 0.8 * seeds.mass[0]
    assert seeds.mass[2] < 0.01 * seeds.mass[0]


def test_turns_beside_a_found_one_get_their_chance_where_the_filter_lets_them() -> None:
    world = World()
    turns = [world.episode(name, name) for name in ("before", "found", "after", "later")]
    for one, other in pairwise(turns):
        world.edge(one, other, Relation.NEXT)
    view, graph = opened(world)
    mask = np.ones(view.count, np.bool_)
    beside = context_arm(graph, mask, fitting(view, turns[1])).rows
    assert {view.ref_of(int(place)).id for place in beside} == {"before", "after"}
    mask[row(view, turns[0])] = False
    assert [view.ref_of(int(place)).id for place in context_arm(graph, mask, fitting(view, turns[1])).rows] == ["after"]


def test_pairs_of_turns_are_places_among_the_rows() -> None:
    world = World()
    turns = [world.episode(name, name) for name in ("one", "two", "three")]
    for one, other in pairwise(turns):
        world.edge(one, other, Relation.NEXT)
    view, graph = opened(world)
    rows = np.array([row(view, turns[2]), row(view, turns[0]), row(view, turns[1])])
    assert sorted(map(tuple, turns_beside(graph, rows).T.tolist())) == [(0, 2), (1, 2), (2, 0), (2, 1)]
    assert turns_beside(graph, rows[:2]).size == 0
    assert turns_beside(graph, rows[:0]).size == 0


def test_what_the_query_speaks_of_leads_to_what_mentions_it() -> None:
    world = World()
    about = world.memory("about", "a")
    world.edge(about, world.entity("src/x.c"), Relation.TOUCHES)
    view, graph = opened(world)
    mention = Mention(kind=EntityKind.FILE, name="SRC/X.C")
    assert reached(view, graph, fitting(view), Expand.PAGERANK, mention) == ["about"]


def test_an_entity_that_everything_mentions_weighs_little_as_a_seed() -> None:
    world = World()
    common, rare = world.entity("common.c"), world.entity("rare.c")
    for i in range(10):
        world.edge(world.memory(str(i), "m"), common, Relation.MENTIONS)
    world.edge(Ref.memory("0"), rare, Relation.MENTIONS)
    view, graph = opened(world)
    entities = np.array([row(view, common), row(view, rare)])
    seeds: Seeds = seeds_of(fitting(view), entities, graph)
    assert seeds.mass.tolist() == [0.1, 1.0]


def test_the_solutions_of_a_recalled_failure_get_their_chance() -> None:
    world = World()
    failure = world.memory("failure", "broken", Kind.FAILURE)
    fact = world.memory("fact", "true")
    fix = world.memory("fix", "mend it", Kind.PATTERN)
    hidden = world.memory("hidden", "mend it in secret", Kind.PATTERN)
    caused = world.memory("caused", "another", Kind.FAILURE)
    for source, target in ((fix, failure), (hidden, failure), (failure, caused), (fix, fact)):
        world.edge(source, target, Relation.SOLVES)
    view, graph = opened(world)
    mask = np.ones(view.count, np.bool_)
    mask[row(view, hidden)] = False
    assert solves_arm(view, graph, mask, found_first(view, fact, failure)).rows.tolist() == [row(view, fix)]
    assert len(solves_arm(view, graph, mask, found_first(view, fact)).rows) == 0


def test_a_walk_goes_from_an_entity_to_the_text_that_is_about_it_first() -> None:
    world = World()
    start = world.episode("start", "the treaty was signed in Vienna")
    town = world.entity("Vienna", EntityKind.CONCEPT)
    world.edge(start, town, Relation.MENTIONS)
    for number in range(6):
        world.edge(world.episode(f"beside-{number}", f"letter {number}"), town, Relation.MENTIONS)
    world.edge(world.episode("about", "Vienna is a city"), town, Relation.MENTIONS, ABOUT)
    world.edge(
        world.episode("behind", "a city hall"), other := world.entity("hall", EntityKind.CONCEPT), Relation.MENTIONS
    )
    world.edge(Ref.episode("about"), other, Relation.MENTIONS)
    catalogue = world.catalogue()
    graph = world.projection(catalogue).snapshot

    def row(name: str) -> int:
        return next(n for n in range(catalogue.view.count) if catalogue.view.ref_of(n).id == name)

    near = personalised(graph, np.array([row("start")]), np.ones(1), np.ones(catalogue.view.count, np.bool_))
    assert near[row("about")] > 5 * near[row("beside-0")]
    # A text leads to all that it speaks of alike, its own subject too.
    back = personalised(graph, np.array([row("about")]), np.ones(1), np.ones(catalogue.view.count, np.bool_))
    ends = [row(one.id) for one in (town, other)]
    assert abs(back[ends[0]] - back[ends[1]]) < 0.1
