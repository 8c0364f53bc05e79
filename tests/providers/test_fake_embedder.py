"""The fakes: deterministic everywhere, closer where words are shared, unit vectors and scores in input order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helix.providers.fakes import HashEmbedder, OverlapReranker

CHECKOUT = Path(__file__).resolve().parents[2]


@given(st.lists(st.text(max_size=40), max_size=12))
def test_fake_rows_depend_on_their_text_alone_and_keep_its_place(texts: list[str]) -> None:
    embedder = HashEmbedder(16)
    rows = embedder.embed(texts)
    assert rows.shape == (len(texts), 16) and rows.dtype == np.float32
    for text, row in zip(texts, rows, strict=True):
        assert np.array_equal(row, embedder.embed([text])[0])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


def test_fake_gives_the_same_vector_in_every_process() -> None:
    code = "from helix.providers.fakes import HashEmbedder; print(HashEmbedder(8).embed(['a b'])[0].tobytes().hex())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {HashEmbedder(8).embed(["a b"])[0].tobytes().hex() + "\n"}


def test_shared_words_bring_fake_vectors_closer() -> None:
    query, near, far = HashEmbedder(64).embed(
        ["the build fails on main", "why the build fails", "a recipe for onion soup"]
    )
    assert query @ near > 0.5 > query @ far


def test_fake_spaces_differ_by_dimension() -> None:
    assert HashEmbedder(64).space.model == "fake-hash"
    assert HashEmbedder(64).space == HashEmbedder(64).space
    assert HashEmbedder(64).space.digest != HashEmbedder(32).space.digest


def test_fake_scores_a_text_by_the_words_of_the_query_in_it() -> None:
    scores = OverlapReranker().scores("why the build fails", ["why the build FAILS", "the build is red", "", "soup"])
    assert scores.dtype == np.float32
    assert scores.tolist() == [4.0, 0.0, -4.0, -4.0]
    assert OverlapReranker().scores("?", ["anything"]).tolist() == [-4.0]
    assert OverlapReranker().scores("anything", []).shape == (0,)
