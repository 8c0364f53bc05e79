"""Holds what the speed benchmark promises: what it makes, what it measures of a real daemon, and how it says so."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import speed_corpus
from benchmarks.growth import plot
from benchmarks.speed import speed, throughput
from benchmarks.speed_corpus import SELECTIVE, Phrases
from benchmarks.speed_exact import agreement, exact_nearest, power_iteration
from benchmarks.speed_report import TARGETS, tables, value_at
from click.testing import CliRunner

from helix.model.edge import Label, Ref, Relation
from helix.model.operations import PutEdge, PutNode, PutPassage
from helix.providers import install
from helix.providers.fakes import HashEmbedder
from helix.recall.pagerank import personalised
from helix.store.catalogue import Catalogue
from helix.store.projection import Projection

COUNT = 40
MODEL = "potion-base-8M"
"""The static model: as real as any, and quick."""


def quiet(text: str) -> None:
    """Say nothing."""


@pytest.fixture(scope="module")
def result(models_path: Path, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> dict[str, Any]:
    """What the command measures of a store of 40 memories, as its JSON says it; in a soak with low memory, too."""
    install.install(MODEL, models_path)
    home = tmp_path_factory.mktemp("speed")
    (home / "models").symlink_to(models_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELIX_HOME", str(home))
        patch.setenv("HELIX_EMBEDDING_MODEL", MODEL)
        short = ["--nodes", str(COUNT), "--seconds", "0.2", "--queries", "3", "--clients", "1,2"]
        if not pytestconfig.getoption("--soak"):
            short += ["--low-memory", ""]  # it takes two daemons more
        run = CliRunner().invoke(speed, [*short, "--throw-away", "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.soak
def test_the_json_holds_every_figure_and_no_request_failed(result: dict[str, Any]) -> None:
    assert list(result["end_to_end"]) == ["1", "2"]
    for figures in (*result["end_to_end"].values(), result["end_to_end_embedded"]):
        assert figures["error_count"] == 0
        assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
        assert figures["per_second"] > 0
    assert {"embed", "filter", "vector", "lexical", "pagerank", "load", "pack"} <= set(result["stages"])
    for stage in result["stages"].values():
        assert stage["p50_ms"] <= stage["p95_ms"] <= stage["p99_ms"]


@pytest.mark.soak
def test_what_is_not_measured_of_a_small_store_says_why(result: dict[str, Any]) -> None:
    unmeasured = {target.at for target in TARGETS if value_at(result, target.at) is None}
    # The share of a busy machine is not plausible, and is then not measured either.
    unmeasured -= {("throughput", "share_of_cores_in_use"), ("low_memory", "memory", "resident_mb")}
    assert unmeasured == {("end_to_end", "16", "p95_ms"), ("build", "bulk_per_second")}
    assert "too few for a bulk import" in result["build"]["why"]
    assert result["build"]["index_build_seconds"] is None


@pytest.mark.soak
def test_memory_is_told_by_settings_and_without_what_is_mapped_from_files(result: dict[str, Any]) -> None:
    assert result["low_memory"]["settings"]["low_memory"] == "true"
    for held in (result["memory"], result["low_memory"]["memory"]):
        assert 0 < held.get("anonymous_mb", held["resident_mb"]) <= held["resident_mb"]
    assert any(line.startswith("resident, low_memory=true") for line in tables(result))


def test_a_share_above_the_whole_is_not_measured() -> None:
    assert throughput(100.0, 15.0, 2.0, 16)["share_of_cores_in_use"] == 0.75
    disturbed = throughput(100.0, 25.0, 2.0, 16)
    assert disturbed["share_of_cores_in_use"] is None
    assert "not plausible" in disturbed["why"]
    assert throughput(100.0, 25.0, None, 16)["share_of_cores_in_use"] is None


@pytest.mark.soak
def test_what_is_measured_is_exact(result: dict[str, Any]) -> None:
    assert result["filtered"]["outside_the_filter"] == 0
    assert result["inside"]["vector"]["all"]["recall@20"] == 1.0
    assert result["inside"]["vector"]["filtered"]["recall@20"] == 1.0
    assert result["inside"]["pagerank"]["overlap@100"] > 0.99


@pytest.mark.soak
def test_the_store_is_as_large_as_was_asked_for(result: dict[str, Any]) -> None:
    assert result["build"]["nodes"]["Memory"] == COUNT
    assert 2 * COUNT < result["build"]["edges"] < 5 * COUNT
    assert not result["build"]["reused"]
    assert result["disk_bytes"]["journal.db"] > 0


@pytest.mark.soak
def test_the_tables_show_each_target_as_met_missed_or_not_measured(result: dict[str, Any]) -> None:
    lines = list(tables(result))
    for target in TARGETS:
        line = next(line for line in lines if line.startswith(target.what))
        assert line.endswith(("met", "MISSED")) or "not measured" in line


@pytest.mark.soak
def test_a_plot_is_drawn_where_matplotlib_is_and_none_where_it_is_not(result: dict[str, Any], tmp_path: Path) -> None:
    runs = [{**result, "nodes": size} for size in (300, 3_000)]
    drawn = plot(tmp_path / "growth.svg", runs)
    assert drawn == (tmp_path / "growth.svg").exists()


def test_memories_come_out_the_same_each_time_with_unit_vectors_and_one_in_a_hundred_selective(tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        lines, vectors = speed_corpus.write(tmp_path / name, 400, HashEmbedder(), quiet)
        made.append((lines.read_text("utf-8"), np.load(vectors)))
    (text, rows), (again, rows_again) = made
    assert text == again and np.array_equal(rows, rows_again)
    assert rows.shape == (400, 64) and rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    memories = [json.loads(line) for line in text.splitlines()]
    assert sum(memory["scope"] == SELECTIVE for memory in memories) == 4
    assert 15 < np.mean([len(f"{memory['trigger']} {memory['resolution']}".split()) for memory in memories]) < 35


def test_questions_do_not_come_twice() -> None:
    phrases = Phrases(random.Random(1))
    assert len({phrases.question() for _ in range(500)}) == 500


def test_the_exact_pagerank_is_where_the_fast_one_ends() -> None:
    rng = random.Random(3)
    catalogue, projection = Catalogue(0), Projection()
    catalogue.load([PutNode(label=Label.ENTITY, id=str(row), props={}) for row in range(60)])
    edges = [
        PutEdge(
            type=Relation.SIMILAR,
            source=Ref.entity(str(rng.randrange(60))),
            target=Ref.entity(str(rng.randrange(60))),
            props={"weight": rng.uniform(0.1, 2.0)},
        )
        for _ in range(150)
    ]
    projection.load(edges[:120], catalogue)
    projection.apply(edges[120:], catalogue)
    walkable = np.array([row % 7 != 0 for row in range(60)])
    seeds, mass = np.array([1, 5, 9]), np.array([1.0, 2.0, 0.5])
    exact = power_iteration(projection.snapshot, seeds, mass, walkable)
    fast = personalised(projection.snapshot, seeds, mass, walkable, epsilon=1e-12)
    assert np.abs(exact - fast).sum() < 2e-3


def test_the_exact_search_ranks_rows_by_their_best_passage_and_passes_over_what_the_filter_hides() -> None:
    catalogue = Catalogue(2)
    angles = [(0, 80), (0, 10), (1, 5), (2, 20), (2, 30)]
    passages = [
        PutPassage(
            id=f"p{number}",
            number=number,
            owner=Ref.memory(str(row)),
            text="",
            vector=np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))], np.float32).tobytes(),
        )
        for number, (row, angle) in enumerate(angles, 1)
    ]
    catalogue.load([*(PutNode(label=Label.MEMORY, id=str(row), props={}) for row in range(3)), *passages])
    asked, shown = np.array([1.0, 0.0], np.float32), np.ones(3, np.bool_)
    assert exact_nearest(catalogue.view, shown, asked).tolist() == [1, 0, 2]
    assert exact_nearest(catalogue.view, shown, asked, limit=2).tolist() == [1, 0]
    assert exact_nearest(catalogue.view, np.array([True, False, True]), asked).tolist() == [0, 2]


def test_agreement_counts_what_is_as_near_as_the_last_of_the_exact_top() -> None:
    exact = np.array([0.5, 0.2, 0.2, 0.1, 0.0])
    assert agreement(np.array([0.5, 0.0, 0.2, 0.0, 0.0]), exact, depth=2) == 1.0
    assert agreement(np.array([0.5, 0.0, 0.0, 0.2, 0.0]), exact, depth=2) == 0.5
    assert agreement(np.zeros(5), np.zeros(5)) == 1.0
    assert agreement(np.zeros(5), exact) == 0.0
