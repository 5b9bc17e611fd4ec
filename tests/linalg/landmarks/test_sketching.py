"""Sparse sign sketches: what each column holds, that rows may be looked at in any pieces, how well they embed."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.linalg.landmarks.sketching import SEGMENTS, SignSketch


def test_every_column_has_one_sign_in_each_segment():
    sketch = SignSketch.of(columns=40, oversampling=4, seed=7)
    dense = sketch.matrix(slice(0, 500)).toarray()
    assert dense.shape == (sketch.rows, 500) == (160, 500)
    of_segments = dense.reshape(SEGMENTS, sketch.segment_rows, 500)
    assert ((of_segments != 0.0).sum(axis=1) == 1).all()
    np.testing.assert_allclose(np.abs(of_segments).sum(axis=1), 1.0 / np.sqrt(8.0), rtol=1e-15)
    np.testing.assert_allclose((dense**2).sum(axis=0), 1.0, rtol=1e-14)


def test_rows_may_be_looked_at_in_any_pieces():
    sketch = SignSketch.of(columns=10, oversampling=4, seed=2**63 + 1)
    whole = sketch.matrix(slice(0, 100)).toarray()
    pieces = [sketch.matrix(slice(start, start + 25)).toarray() for start in (0, 25, 50, 75)]
    assert np.array_equal(np.hstack(pieces), whole)


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_gram_matrices_of_parts_add_up(count):
    A = np.random.default_rng(0).normal(size=(300, 12))
    sketch = SignSketch.of(columns=12, oversampling=16, seed=3)
    parts = sketch.parts(count)
    assert sum(part.rows for part in parts) == sketch.rows
    B = sketch.matrix(slice(0, 300)) @ A
    total = sum((part.matrix(slice(0, 300)) @ A).T @ (part.matrix(slice(0, 300)) @ A) for part in parts)
    np.testing.assert_allclose(total, B.T @ B, rtol=1e-12, atol=1e-12)


def test_places_and_signs_are_spread_evenly():
    sketch = SignSketch.of(columns=64, oversampling=4, seed=1)
    dense = sketch.matrix(slice(0, 20_000))
    counts = np.bincount(dense.indices, minlength=sketch.rows)  # 625 expected in each row
    assert counts.min() > 500
    assert counts.max() < 750
    assert abs(float(np.sign(dense.data).mean())) < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_singular_values_change_by_the_root_of_columns_over_rows(seed):
    """Coherent matrices too: one whose rows are mostly zero, and one with a few long rows."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(4000, 100))
    long = dense * np.where(rng.random(4000) < 0.02, 100.0, 1.0)[:, None]
    for A in (dense, long, dense * (rng.random(dense.shape) < 0.01)):
        Q = np.linalg.qr(A)[0]
        values = np.linalg.svd(SignSketch.of(100, 4, seed).matrix(slice(0, 4000)) @ Q, compute_uv=False)
        assert values.min() > 0.35
        assert values.max() < 1.65


def test_another_seed_gives_another_sketch():
    first, second = (SignSketch.of(10, 4, seed).matrix(slice(0, 50)).toarray() for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_scales_multiply_columns():
    sketch, scale = SignSketch.of(10, 4, 0), np.arange(1.0, 31.0)
    expected = sketch.matrix(slice(10, 40)).toarray() * scale
    np.testing.assert_allclose(sketch.matrix(slice(10, 40), scale).toarray(), expected, rtol=1e-15)
