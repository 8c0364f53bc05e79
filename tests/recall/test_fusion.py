"""Reciprocal rank fusion, and the account it keeps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.recall.arms import RankedList
from helix.recall.fusion import RANK_CONSTANT, fuse


def ranked(arm: str, rows: list[int]) -> RankedList:
    places = np.array(rows, np.int64)
    scores = np.linspace(1, 0, len(rows))
    return RankedList(arm=arm, rows=places, scores=scores, passages=np.full(len(rows), -1, np.int64))


lists = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=4)


@given(rankings=lists, weight=st.floats(0.1, 3))
def test_scores_are_sums_of_reciprocal_ranks_and_hits_account_for_them(
    rankings: list[list[int]], weight: float
) -> None:
    fused = fuse([ranked(f"arm{i}", rows) for i, rows in enumerate(rankings)], {"arm0": weight})
    expected: dict[int, float] = {}
    for i, rows in enumerate(rankings):
        for rank, row in enumerate(rows, 1):
            expected[row] = expected.get(row, 0.0) + (weight if i == 0 else 1.0) / (RANK_CONSTANT + rank)
    assert dict(zip(fused.rows.tolist(), fused.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert (np.diff(fused.scores) <= 0).all()
    for row, score in zip(fused.rows, fused.scores, strict=True):
        assert sum(hit.contribution for hit in fused.hits([int(row)])[int(row)]) == pytest.approx(score)


def test_the_share_of_an_arm_falls_with_rank_from_one() -> None:
    fused = fuse([ranked("files", [4, 2])], {})
    assert fused.share_of(np.array([2, 3, 4]), "files").tolist() == pytest.approx([61 / 62, 0.0, 1.0])
    assert fused.share_of(np.array([2, 3, 4]), "time").tolist() == [0.0, 0.0, 0.0]
