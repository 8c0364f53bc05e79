"""A matrix grows without disturbing its views, and its codes stand for its rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.store.matrix import BLOCK_ROWS, Matrix, MatrixView, VectorArray, coded
from tests.sampling import draws


def units(seed: int, count: int, dimension: int) -> VectorArray:
    rows = np.random.default_rng(seed).standard_normal((count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def matrix_of(rows: VectorArray) -> Matrix:
    matrix = Matrix(rows.shape[1])
    matrix.append([row.tobytes() for row in rows])
    return matrix


@settings(max_examples=draws(20), deadline=None)
@given(seed=st.integers(0, 10_000), count=st.integers(1, 300), dimension=st.sampled_from([8, 64, 384]))
def test_estimates_are_the_products_within_some_thousandths(seed: int, count: int, dimension: int) -> None:
    rows, vector = units(seed, count, dimension), units(seed + 1, 1, dimension)[0]
    indexes = np.flatnonzero(np.random.default_rng(seed).random(count) < 0.7)
    view = matrix_of(rows).view()
    exact = view.products_of(indexes, vector)
    assert exact == pytest.approx(rows[indexes] @ vector, abs=1e-5)
    assert np.abs(view.estimates_of(indexes, vector) - exact).max(initial=0) < 0.02


def test_rows_without_a_vector_are_estimated_as_nothing() -> None:
    matrix = Matrix(8)
    matrix.append([None, units(1, 1, 8)[0].tobytes(), None])
    estimates = matrix.view().estimates_of(np.arange(3), units(1, 1, 8)[0])
    assert estimates[[0, 2]].tolist() == [0, 0]
    assert estimates[1] == pytest.approx(1, abs=0.02)


def test_codes_of_nothing_are_nothing() -> None:
    codes, scales = coded(np.zeros((2, 4), np.float32))
    assert not codes.any()
    assert not scales.any()


@pytest.mark.parametrize("count", [0, 5, BLOCK_ROWS, BLOCK_ROWS + 3])
def test_a_matrix_restored_from_its_pieces_is_the_same_and_grows_on(count: int) -> None:
    rows = units(2, count + 1, 4)
    first = matrix_of(rows[:count]).view()
    pieces = {name: np.concatenate(parts) for name, parts in first.pieces().items()}
    restored = Matrix(4)
    restored.restore(pieces["vectors"], pieces["codes"], pieces["scales"], first.center[1], first.center[0])
    again = restored.view()
    restored.append([rows[count].tobytes()])
    assert_same(first, again)
    assert restored.view().rows(np.arange(count + 1)) == pytest.approx(rows)
    assert restored.view().center[0] == count + 1
    assert restored.view().center[1] == pytest.approx(rows.mean(axis=0), abs=1e-5)


def assert_same(one: MatrixView, other: MatrixView) -> None:
    assert one.count == other.count
    indexes, vector = np.arange(one.count), np.ones(one.dimension, np.float32)
    assert one.products_of(indexes, vector).tolist() == other.products_of(indexes, vector).tolist()
    assert one.estimates_of(indexes, vector).tolist() == other.estimates_of(indexes, vector).tolist()


def test_a_row_of_an_image_is_filled_in_without_changing_the_image() -> None:
    rows = np.zeros((BLOCK_ROWS, 4), np.float32)
    codes, scales = coded(rows)
    for array in (rows, codes, scales):
        array.flags.writeable = False
    matrix = Matrix(4)
    matrix.restore(rows, codes, scales, np.zeros(4, np.float32), 0)
    before = matrix.view()
    matrix.fill(np.array([7]), [np.array([0, 1, 0, 0], np.float32).tobytes()])
    assert matrix.view().rows(np.array([7])).tolist() == [[0, 1, 0, 0]]
    assert not before.rows(np.array([7])).any()
    assert not rows.any()
