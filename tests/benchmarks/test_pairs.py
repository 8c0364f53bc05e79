"""The benchmark of pairs counts precision and recall right, and chooses on one set what it checks on the other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.pairs import CONTRADICTS, REFINED, SAME, Pairs, crossed, figures, halves, read, told

from helix.memory.contradiction.detect import Ground
from helix.providers.fakes import HashEmbedder


def made(name: str, cosine: list[float], score: list[float], label: str = "") -> Pairs:
    return Pairs(
        name=name,
        cosine=np.array(cosine, np.float32),
        score=np.array(score),
        label=np.array([label] * len(cosine)),
        agreeing=np.ones(len(cosine), np.bool_),
        grounds=(None,) * len(cosine),
        sure=np.zeros(len(cosine), np.bool_),
    )


def test_precision_recall_and_f_are_those_of_the_books() -> None:
    said, true = np.array([True, True, True, False, False]), np.array([True, True, False, True, False])
    found = figures(said, true, 0.5, 1.0)
    assert [found.precision, found.recall, found.f] == pytest.approx([2 / 3] * 3)
    half = figures(np.array([True, False, False, False]), np.array([True, True, True, False]), 0.5, 0.5)
    assert half.f == pytest.approx(1.25 * 1.0 * (1 / 3) / (0.25 * 1.0 + 1 / 3))


def test_the_threshold_parts_what_it_is_to_part() -> None:
    pairs = made("one", [0.6, 0.7, 0.8, 0.9], [1.0, 2.0, 4.0, 5.0])
    assert 0.7 < SAME.chosen(pairs).threshold <= 0.8
    assert SAME.chosen(pairs).f == 1.0
    mean, lines = crossed(SAME, pairs, made("two", [0.7, 0.85, 0.9, 0.95], [1.0, 3.0, 4.0, 5.0]))
    assert 0.75 < mean <= 0.9
    assert "on two" in lines[0]


def test_labels_and_words_of_a_folder_are_read(tmp_path: Path) -> None:
    rows = [
        {"a": "use tabs", "b": "never use tabs", "score": 3.0, "label": "contradiction"},
        {"a": "use tabs", "b": "tabs are used", "score": 4.8, "label": "entailment"},
        {"a": "use tabs", "b": "the moon is far", "score": 1.0, "label": "neutral"},
        {"a": "use tabs", "b": "use tabs today", "score": 4.0, "label": "neutral"},
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    pairs = read(tmp_path, HashEmbedder())
    assert pairs.grounds == (Ground.NEGATION, None, None, None)
    assert pairs.same.tolist() == [False, True, False, False]
    assert pairs.refined.tolist() == [False, True, False, True]
    assert CONTRADICTS.at(pairs, 0.0).recall == 1.0
    assert REFINED.at(pairs, -1.0).recall == 1.0
    assert [len(half.cosine) for half in halves(pairs)] == [2, 2]
    assert "negation: contradiction 1, entailment 0, neutral 0" in "\n".join(told([pairs]))
