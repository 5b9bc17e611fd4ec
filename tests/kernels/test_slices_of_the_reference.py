"""Rows and blocks of bound combinations, where a block is the reference set, contains it, or begins with it."""

from __future__ import annotations

import numpy as np
import pytest

import kernreg as kr
from kernreg.kernels import centered, spectrum, symmetrize
from kernreg.kernels.combinations.algebra import transpose
from kernreg.kernels.combinations.learned import corrected

RNG = np.random.default_rng(3)
R = RNG.normal(size=(6, 3))
KERNELS = {
    "centered": centered("tl1(rho=3.0)"),
    "centered sne": centered("sne(sigma=2.0)"),
    "clip": spectrum("tl1(rho=2.0)", "clip"),
    "shift": spectrum("tl1(rho=2.0)", "shift"),
    "transposed clip": transpose(spectrum("tl1(rho=2.0)", "clip")),
    "transposed sne": kr.make_kernel("sne(sigma=2.0)").T,
    "transposed centered": transpose(centered("sne(sigma=2.0)")),
    "mean": symmetrize(centered("sne(sigma=2.0)"), "mean"),
    "left": symmetrize("sne(sigma=2.0)", "left"),
    "twice": transpose(transpose(centered("sne(sigma=2.0)"))),
    "sum": transpose(spectrum("tl1(rho=2.0)", "clip")) + centered("sne(sigma=2.0)"),
}


@pytest.mark.parametrize("before", [0, 2, 6])
@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("name", KERNELS)
def test_blocks_that_meet_the_reference_set_agree_with_the_matrix(name, before, after):
    kernel = KERNELS[name].bind(R)
    X = np.vstack([RNG.normal(size=(before, 3)), R, RNG.normal(size=(after, 3))])
    # The oracle never asks for a set and its slice together.
    expected = np.array([[kernel(x[None], z[None])[0, 0] for z in X] for x in X])
    for rows in (6, 2, 1, 4):
        for part, block in kernel.blocks(X, block_rows=rows):
            np.testing.assert_allclose(block, expected[part], atol=1e-12)
    np.testing.assert_allclose(kernel.rows(X, None, before, before + 6), expected[before : before + 6], atol=1e-12)
    np.testing.assert_allclose(kernel(X), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.operator(X) @ np.eye(len(X)), expected, atol=1e-12)


@pytest.mark.parametrize("before", [0, 2])
def test_a_learned_kernel_with_its_training_matrix_does_so(before):
    A = np.random.default_rng(0).normal(size=(6, 6))
    plain = corrected("rbf(sigma=2.0)", samples=R, correction=A + A.T)
    kernel = corrected("rbf(sigma=2.0)", samples=R, correction=A + A.T, training=plain(R))
    X = np.vstack([RNG.normal(size=(before, 3)), R, RNG.normal(size=(3, 3))])
    for made in (kernel, transpose(kernel), kernel + kernel.T):
        expected = plain(X) * (2.0 if made.name == "add" else 1.0)
        for rows in (6, 1, 4):
            for part, block in made.blocks(X, block_rows=rows):
                np.testing.assert_allclose(block, expected[part], atol=1e-12)
    np.testing.assert_allclose(transpose(kernel)._evaluate(R, X, None, before), plain(R, X), atol=1e-12)


def test_a_shifted_spectrum_has_no_rows_where_there_are_none():
    kernel = spectrum("tl1(rho=2.0)", "shift").bind(R)
    assert kernel(R[:0], R).shape == (0, 6)
    assert kernel.rows(R, None, 6, 6).shape == (0, 6)


@pytest.mark.parametrize("method", ["clip", "flip", "square"])
def test_the_spectrum_of_a_kernel_that_is_symmetric_on_the_reference_set_only(method):
    kernel = spectrum("sne(sigma=2.0)", method).bind(R[:2])  # two samples: row sums are the same, and K is symmetric
    X = np.vstack([R[:2], R[4:]])
    expected = np.array([[kernel(x[None], z[None])[0, 0] for z in X] for x in X])
    assert np.abs(expected - expected.T).max() > 1e-3
    np.testing.assert_allclose(kernel(X), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), expected.diagonal(), atol=1e-12)
    assert kernel.definite is None
