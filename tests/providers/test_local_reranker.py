"""The real cross-encoder: scores of each text alone, in order, found when it is installed and not before."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from helix.errors import ModelError
from helix.providers.install import install
from helix.providers.local_reranker import LocalReranker
from helix.providers.model_catalogue import RERANKER

QUESTION = "why did the tests fail on CI?"
TEXTS = [
    "grandmother's recipe for plum cake",
    "the build server ran out of disk, so that every test failed",
    "",
    "the tests fail on my machine too " * 80,
    "null \x00 byte, lone \ud800 surrogate, 漢字 and 😀",
    "grandmother's recipe for plum cake",
]


@pytest.fixture(scope="module")
def installed(models_path: Path) -> Path:
    """The folder of models with the cross-encoder in it; skipped where it cannot be had."""
    try:
        install(RERANKER.name, models_path)
    except ModelError as error:
        pytest.skip(f"no cross-encoder: {error}")
    return models_path


@pytest.fixture(scope="module")
def reranker(installed: Path) -> LocalReranker:
    return LocalReranker(RERANKER, installed)


def test_scores_are_float32_in_the_order_of_texts(reranker: LocalReranker) -> None:
    scores = reranker.scores(QUESTION, TEXTS)
    assert scores.shape == (len(TEXTS),) and scores.dtype == np.float32
    assert scores[0] == scores[5]
    assert int(np.argmax(scores)) in (1, 3)


def test_what_answers_is_told_from_what_does_not(reranker: LocalReranker) -> None:
    yes, no = reranker.scores("capital of France?", ["Paris is the capital of France.", "Berlin has many lakes."])
    assert yes > 0 > no


def test_score_is_a_function_of_query_and_text_alone(reranker: LocalReranker) -> None:
    together = reranker.scores(QUESTION, TEXTS)
    assert all(reranker.scores(QUESTION, [text])[0] == score for text, score in zip(TEXTS, together, strict=True))


@pytest.mark.soak
def test_threads_may_score_at_the_same_time(reranker: LocalReranker) -> None:
    alone = reranker.scores(QUESTION, TEXTS)
    start = threading.Barrier(4, timeout=30)

    def score(_: int) -> bool:
        start.wait()
        return np.array_equal(reranker.scores(QUESTION, TEXTS), alone)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(score, range(4)))


def test_long_text_and_question_are_cut_before_the_tokenizer_sees_them(reranker: LocalReranker) -> None:
    long = "word " * 20_000
    assert reranker.scores(QUESTION, [long])[0] == reranker.scores(QUESTION, [long + "and more"])[0]
    assert reranker.scores(long, ["word"])[0] == reranker.scores(long + "and more", ["word"])[0]


def test_no_texts_need_no_model(tmp_path: Path) -> None:
    assert LocalReranker(RERANKER, tmp_path).scores(QUESTION, []).shape == (0,)


def test_a_model_installed_later_is_found(installed: Path, tmp_path: Path) -> None:
    reranker = LocalReranker(RERANKER, tmp_path, threads=1)
    with pytest.raises(ModelError, match="not installed") as refused:
        reranker.scores(QUESTION, TEXTS)
    assert refused.value.hint == f"run `helix models install {RERANKER.name}`"
    (tmp_path / RERANKER.name).symlink_to(installed / RERANKER.name)
    assert reranker.scores(QUESTION, TEXTS[:1]).shape == (1,)


def test_damaged_file_is_named(installed: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    folder = shutil.copytree(installed / RERANKER.name, tmp_path / RERANKER.name)
    damage(folder / "model.onnx")
    with pytest.raises(ModelError, match=r"model\.onnx is damaged"):
        LocalReranker(RERANKER, tmp_path).scores(QUESTION, TEXTS)
