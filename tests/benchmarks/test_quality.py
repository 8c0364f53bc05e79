"""Holds what the quality benchmark promises: metrics, draws, what it reads, and what it asks of a real store."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import quality
from benchmarks.plots import grouped_bars
from benchmarks.quality_data import Given, read_set
from benchmarks.quality_metrics import MEASURES, estimates, macro, of_ranking
from benchmarks.quality_report import Resampling, entries, tables
from benchmarks.quality_systems import SYSTEMS
from click.testing import CliRunner

from helix.errors import InvalidInputError
from helix.providers.fakes import HashEmbedder

PASSAGES: Sequence[Mapping[str, Any]] = (
    {"id": "tea/1 #a", "text": "Green tea is steeped at seventy degrees", "meta": {"scope": "kitchen"}},
    {"id": 2, "text": "The kettle leaks where the handle meets the lid", "meta": {"scope": "kitchen"}},
    {"id": "ß:3", "text": "The tea house at the pond opens in spring", "meta": {"scope": "garden"}},
    {"id": "4", "text": "Roses are cut back to the third eye", "meta": {"scope": "garden"}},
)
QUESTIONS: Sequence[Mapping[str, Any]] = (
    {"id": "q1", "query": "how warm for green tea", "relevant": ["tea/1 #a"], "category": "how", "scope": "kitchen"},
    {"id": "q2", "query": "when does the tea house open", "relevant": ["ß:3"], "scope": "garden"},
    {"id": "q3", "query": "kettle handle leaks", "relevant": [2], "category": "why"},
)
WITHOUT_MODELS = [system for system in SYSTEMS if not system.rerank]
ONLY_DEFAULT = [system for system in SYSTEMS if system.name == "default"]


def write_set(folder: Path, *, packed: bool = False, **parts: Sequence[Mapping[str, Any]]) -> Path:
    folder.mkdir()
    for name, records in parts.items():
        text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n"
        if packed:
            (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return folder


@pytest.fixture
def scoped(tmp_path: Path) -> Path:
    return write_set(tmp_path / "made-up", corpus=PASSAGES, queries=QUESTIONS)


def default_of(folder: Path, **options: Any) -> list[dict[str, Any]]:
    outcomes = quality.measure([folder], ONLY_DEFAULT, HashEmbedder(), **options)
    found: list[dict[str, Any]] = entries(outcomes, Resampling(resamples=50, seed=3))
    return found


def test_metrics_are_those_worked_out_by_hand() -> None:
    ranked = ["x", "a", "y", "z", "w", "b", *(f"n{place}" for place in range(20)), "c"]
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    gain = 1 / math.log2(3) + 1 / math.log2(7)
    assert of_ranking(ranked, {"a", "b", "c"}) == pytest.approx([1 / 3, 2 / 3, 2 / 3, gain / best])
    assert of_ranking([], {"a"}) == [0, 0, 0, 0]
    many = [f"r{place}" for place in range(20)]
    assert of_ranking(many, set(many)) == pytest.approx([0.25, 0.5, 1, 1])


def test_intervals_are_the_same_for_the_same_seed_and_hold_the_mean() -> None:
    values = np.random.default_rng(0).random((40, 4))
    first = estimates(values, resamples=600, seed=7)
    assert first == estimates(values, resamples=600, seed=7)
    assert first != estimates(values, resamples=600, seed=8)
    assert all(one.lower < one.value < one.upper for one in first)
    assert [one.value for one in first] == pytest.approx(values.mean(0))


def test_a_difference_that_every_question_has_needs_no_interval() -> None:
    values = np.random.default_rng(0).random((30, 4))
    for one in estimates((values + 0.25) - values, resamples=100, seed=1):
        assert (one.value, one.lower, one.upper) == pytest.approx((0.25, 0.25, 0.25))


def test_the_macro_average_gives_every_set_the_same_weight() -> None:
    small, large = np.zeros((3, 4)), np.ones((300, 4))
    for one in macro([small, large], resamples=100, seed=1):
        assert (one.value, one.lower, one.upper) == pytest.approx((0.5, 0.5, 0.5))


def test_answers_are_known_by_the_ids_of_the_set_whatever_is_in_them(scoped: Path) -> None:
    (entry,) = default_of(scoped)
    assert entry["metrics"]["recall@5"] == 1
    assert entry["queries"] == 3
    assert entry["search"] == "scoped"


def test_a_packed_set_reads_like_a_plain_one(tmp_path: Path, scoped: Path) -> None:
    packed = write_set(tmp_path / "packed", packed=True, corpus=PASSAGES, queries=QUESTIONS)
    assert read_set(packed).questions == read_set(scoped).questions
    assert read_set(packed).lines == read_set(scoped).lines


def test_a_scoped_question_is_answered_from_its_scope_alone(tmp_path: Path) -> None:
    elsewhere = [{"id": "q", "query": "green tea", "relevant": ["tea/1 #a"], "scope": "garden"}]
    folder = write_set(tmp_path / "elsewhere", corpus=PASSAGES, queries=elsewhere)
    scoped, pooled = default_of(folder, pooled=True)
    assert (scoped["search"], scoped["metrics"]["recall@20"]) == ("scoped", 0)
    assert (pooled["search"], pooled["metrics"]["recall@20"]) == ("pooled", 1)


def test_a_haystack_is_all_that_its_question_is_searched_in(tmp_path: Path) -> None:
    questions = [{**question, "scope": None} for question in QUESTIONS]
    haystacks = [
        {"query_id": "q1", "doc_ids": ["tea/1 #a", "4", "4", "gone"]},
        {"query_id": "q2", "doc_ids": ["tea/1 #a", "4"]},
    ]
    folder = write_set(tmp_path / "hay", corpus=PASSAGES, queries=questions, haystacks=haystacks)
    (entry,) = default_of(folder)
    assert entry["queries"] == 2  # the third has no haystack
    assert entry["metrics"]["recall@20"] == 0.5
    assert default_of(folder, pooled=True)[1]["queries"] == 3


def test_a_time_filters_unless_some_evidence_is_later_than_its_question(tmp_path: Path) -> None:
    def dated(day: str) -> Path:
        corpus = [{**passage, "ts": f"2024-05-0{place}"} for place, passage in enumerate(PASSAGES, 1)]
        questions = [{**question, "ts": f"2024-05-{day}T12:00:00+02:00"} for question in QUESTIONS]
        return write_set(tmp_path / day, corpus=corpus, queries=questions)

    assert read_set(dated("03")).dated.used
    assert not read_set(dated("02")).dated.used
    assert read_set(dated("01"), dated=True).dated == Given(used=True, why="--as-of")


def test_one_piece_of_evidence_in_a_hundred_may_be_later(tmp_path: Path) -> None:
    def dated(late: int) -> Path:
        corpus = [{"id": str(place), "text": f"Note {place}", "ts": "2024-05-01"} for place in range(99)]
        corpus.append({"id": "99", "text": "Note 99", "ts": "2024-06-01"})
        relevant = [str(place) for place in range(late, 100)]
        questions = [{"id": "q", "query": "note", "ts": "2024-05-02", "relevant": relevant}]
        return write_set(tmp_path / str(late), corpus=corpus, queries=questions)

    assert read_set(dated(0)).dated.used
    assert not read_set(dated(1)).dated.used


def test_files_are_given_unless_the_judgements_are_made_of_them(tmp_path: Path) -> None:
    def filed(name: str, relevant: list[str]) -> Path:
        corpus = [{"id": str(place), "text": f"Change {place}", "meta": {"files": ["a.c"]}} for place in range(3)]
        questions = [{"id": "q", "query": "change", "relevant": relevant, "files": ["a.c"]}]
        return write_set(tmp_path / name, corpus=corpus, queries=questions)

    assert read_set(filed("some", ["0"])).filed.used
    assert not read_set(filed("all", ["0", "1", "2"])).filed.used
    assert read_set(filed("told", ["0", "1", "2"]), filed=True).filed == Given(used=True, why="--files")


def test_a_set_without_questions_is_refused(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "labels", corpus=PASSAGES)
    with pytest.raises(InvalidInputError, match=r"queries\.jsonl"):
        read_set(folder)


def test_questions_without_evidence_and_passages_without_text_do_no_harm(tmp_path: Path) -> None:
    corpus = [*PASSAGES, {"id": "empty", "text": ""}, {"id": "bare", "text": "Nothing else is known"}]
    questions = [*QUESTIONS, {"id": "none", "query": "tea", "relevant": []}]
    folder = write_set(tmp_path / "ragged", corpus=corpus, queries=questions)
    (entry,) = default_of(folder)
    assert (entry["documents"], entry["queries"], entry["metrics"]["recall@20"]) == (6, 3, 1)
    assert entry["refused"] == 1
    assert "1 refused" in next(tables([entry]))


@pytest.mark.parametrize("name", ["queries", "haystacks"])
@pytest.mark.parametrize("line", ["{oops", "[1]", '{"id": "q", "query": "x", "relevant": [{}]}'])
def test_a_line_that_cannot_be_read_is_named(scoped: Path, name: str, line: str) -> None:
    path = scoped / f"{name}.jsonl"
    path.write_text((path.read_text("utf-8") if name == "queries" else "\n\n\n") + line, "utf-8")
    with pytest.raises(InvalidInputError, match=rf"{name}\.jsonl, line 4"):
        read_set(scoped)


def test_odd_values_of_a_question_are_read_as_what_they_can_mean(tmp_path: Path) -> None:
    asked: list[Mapping[str, Any]] = [
        {"id": "one", "query": "tea", "relevant": "12", "ts": "2023/05/20 (Sat) 02:21", "files": "a.c"},
        {"id": "graded", "query": "tea", "relevant": {"1": 2, "2": 0}, "ts": 7},
    ]
    one, graded = read_set(write_set(tmp_path / "odd", corpus=PASSAGES, queries=asked)).questions
    assert (set(one.relevant), one.ts, one.files) == ({"12"}, None, ("a.c",))
    assert (set(graded.relevant), graded.ts) == ({"1"}, None)


def test_a_set_with_nothing_to_ask_is_passed_over_with_a_word(runner: CliRunner, tmp_path: Path) -> None:
    nobody = [{"query_id": "nobody", "doc_ids": ["4"]}]
    folders = (
        write_set(tmp_path / "hay", corpus=PASSAGES, queries=QUESTIONS, haystacks=nobody),
        write_set(tmp_path / "silent", corpus=PASSAGES, queries=[{"id": "q", "query": "tea", "relevant": []}]),
        write_set(tmp_path / "blank", corpus=[], queries=QUESTIONS),
    )
    given = [part for folder in folders for part in ("--data", str(folder))]
    run = runner.invoke(quality.quality, [*given, "--only", "default", "--json", "--out", str(tmp_path / "out.json")])
    assert (run.exit_code, json.loads(run.stdout)) == (0, [])
    assert run.stderr.count("skipped") == 3


def test_a_baseline_answers_with_nothing_that_it_gives_no_score(tmp_path: Path) -> None:
    asked = [{"id": "q", "query": "kettle", "relevant": ["4"]}]
    folder = write_set(tmp_path / "words", corpus=PASSAGES, queries=asked)
    systems = [system for system in SYSTEMS if system.name in ("bm25", "rrf")]
    bm25, rrf = entries(quality.measure([folder], systems, HashEmbedder()), Resampling(resamples=20))
    assert (bm25["metrics"]["recall@20"], rrf["metrics"]["recall@20"]) == (0, 1)
    assert "above 0" in list(tables([bm25, rrf]))[-1]


def test_every_system_answers_and_the_default_is_compared(scoped: Path) -> None:
    found = entries(quality.measure([scoped], WITHOUT_MODELS, HashEmbedder()), Resampling(resamples=50))
    assert [entry["name"] for entry in found] == [system.name for system in WITHOUT_MODELS]
    default = next(entry for entry in found if entry["name"] == "default")
    assert set(default["against"]) == {"bm25", "vector", "default-pagerank", "default-mmr"}
    assert set(default["against"]["bm25"]) == set(MEASURES)
    assert default["categories"]["how"] == {"n": 1, "recall@10": 1.0}
    assert all(entry["recipe_hash"] for entry in found if entry["name"] == "default")
    assert any("default - bm25" in line for line in tables(found))


def test_several_sets_end_with_their_mean(scoped: Path, tmp_path: Path) -> None:
    other = write_set(tmp_path / "other", corpus=PASSAGES, queries=QUESTIONS[:1])
    found = entries(quality.measure([scoped, other], ONLY_DEFAULT, HashEmbedder()), Resampling(resamples=50))
    assert [(entry["set"], entry["name"]) for entry in found] == [
        ("made-up", "default"),
        ("other", "default"),
        ("macro", "default"),
    ]
    assert found[-1]["metrics"]["recall@5"] == 1


def test_a_kept_store_is_taken_up_again(scoped: Path, tmp_path: Path) -> None:
    said: list[str] = []
    first = default_of(scoped, kept=tmp_path / "kept", say=said.append)
    taken_in = [words for words in said if "passages" in words]
    again = default_of(scoped, kept=tmp_path / "kept", say=said.append)
    assert [words for words in said if "passages" in words] == taken_in != []
    assert again[0]["metrics"] == first[0]["metrics"]


def test_a_draw_of_questions_is_the_same_for_the_same_seed(scoped: Path) -> None:
    (first,), (second,) = default_of(scoped, queries=2, seed=5), default_of(scoped, queries=2, seed=5)
    assert first["queries"] == 2
    assert first["categories"] == second["categories"]


@pytest.fixture
def runner(tmp_path: Path, models_path: Path) -> CliRunner:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").symlink_to(models_path)
    return CliRunner(env={"HELIX_HOME": str(tmp_path / "home")})


def test_json_is_all_that_is_printed(runner: CliRunner, scoped: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = ["--data", str(scoped), "--only", "default", "--json", "--resamples", "20", "--out", str(out)]
    run = runner.invoke(quality.quality, arguments)
    assert run.exit_code == 0, run.output
    (entry,) = json.loads(run.stdout)
    assert entry["name"] == "default"
    assert list(entry["metrics"]) == list(MEASURES)
    assert json.loads(out.read_text("utf-8")) == [entry]
    assert "made-up" in run.stderr


def test_a_recipe_of_ones_own_is_measured_beside_the_default(runner: CliRunner, scoped: Path) -> None:
    arguments = [
        "--data",
        str(scoped),
        "--only",
        "mine",
        "--recipe",
        'mine={"words": 1}',
        "--json",
        "--resamples",
        "20",
    ]
    run = runner.invoke(quality.quality, arguments)
    assert [entry["name"] for entry in json.loads(run.stdout)] == ["mine"]


def test_an_unknown_system_is_refused_with_those_there_are(runner: CliRunner, scoped: Path) -> None:
    run = runner.invoke(quality.quality, ["--data", str(scoped), "--only", "magic"])
    assert run.exit_code == 2
    assert "default-pagerank" in run.stderr


def test_bars_are_drawn_where_matplotlib_is(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    bars = {"bm25": [(0.5, 0.4, 0.6)], "default": [(0.7, 0.6, 0.8)]}
    assert grouped_bars(tmp_path / "bars.png", ["a set"], bars, title="Recall", unit="recall@10")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")
