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
from benchmarks.speed import speed
from benchmarks.speed_corpus import SELECTIVE, Phrases
from benchmarks.speed_inside import power_iteration
from benchmarks.speed_report import TARGETS, tables, value_at
from click.testing import CliRunner

from helix.model.edge import Label, Ref, Relation
from helix.model.operations import PutEdge, PutNode
from helix.providers import install
from helix.providers.fakes import HashEmbedder
from helix.recall.pagerank import personalised
from helix.store.catalogue import Catalogue
from helix.store.projection import Projection

MODEL = "potion-base-8M"
"""The static model: as real as any, and quick."""


def quiet(text: str) -> None:
    """Say nothing."""


@pytest.fixture(scope="module")
def result(models_path: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command measures of a store of 300 memories, as its JSON says it."""
    install.install(MODEL, models_path)
    home = tmp_path_factory.mktemp("speed")
    (home / "models").symlink_to(models_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HELIX_HOME", str(home))
        patch.setenv("HELIX_EMBEDDING_MODEL", MODEL)
        short = ["--nodes", "300", "--seconds", "0.5", "--queries", "3", "--clients", "1,2"]
        run = CliRunner().invoke(speed, [*short, "--throw-away", "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_the_json_holds_every_figure_and_no_request_failed(result: dict[str, Any]) -> None:
    assert list(result["end_to_end"]) == ["1", "2"]
    for figures in (*result["end_to_end"].values(), result["end_to_end_embedded"]):
        assert figures["error_count"] == 0
        assert 0 < figures["p50_ms"] <= figures["p95_ms"] <= figures["p99_ms"]
        assert figures["per_second"] > 0
    assert {"embed", "filter", "vector", "lexical", "pagerank", "load", "pack"} <= set(result["stages"])
    for stage in result["stages"].values():
        assert stage["p50_ms"] <= stage["p95_ms"] <= stage["p99_ms"]


def test_every_target_but_the_one_for_sixteen_clients_was_measured(result: dict[str, Any]) -> None:
    unmeasured = [target.at for target in TARGETS if value_at(result, target.at) is None]
    assert unmeasured == [("end_to_end", "16", "p95_ms")]


def test_what_is_measured_is_exact(result: dict[str, Any]) -> None:
    assert result["filtered"]["outside_the_filter"] == 0
    assert result["inside"]["vector"]["all"]["recall@20"] == 1.0
    assert result["inside"]["vector"]["filtered"]["recall@20"] == 1.0


def test_the_store_is_as_large_as_was_asked_for(result: dict[str, Any]) -> None:
    assert result["build"]["nodes"]["Memory"] == 300
    assert 2 * 300 < result["build"]["edges"] < 5 * 300
    assert not result["build"]["reused"]
    assert result["disk_bytes"]["journal.db"] > 0


def test_the_tables_show_each_target_as_met_missed_or_not_measured(result: dict[str, Any]) -> None:
    lines = list(tables(result))
    for target in TARGETS:
        line = next(line for line in lines if line.startswith(target.what))
        assert line.endswith(("met", "MISSED", "not measured"))


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
            source=Ref(label=Label.ENTITY, id=str(rng.randrange(60))),
            target=Ref(label=Label.ENTITY, id=str(rng.randrange(60))),
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
