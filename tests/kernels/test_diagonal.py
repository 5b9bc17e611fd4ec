"""k(x, x) of every kernel against the diagonal of its matrix, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels import centered, compose, kernel, spectrum, symmetrize
from kernreg.kernels.base import Kernel
from kernreg.kernels.builtin import chi2, laplacian, linear, poly, rbf, sne, t, tanh_, tl1
from kernreg.kernels.combinations.learned import corrected, projected
from kernreg.kernels.indexed import adjacency, precomputed
from kernreg.kernels.samples import SampleParts
from kernreg.registry import get_registry

NAMES = [entry.name for entry in kr.available("kernel") if entry.distribution == "kernreg"]


@kernel(of="rows", symmetric=False)
def lopsided(x, z, a=2.0):
    """Σ_d x_d² z_d + a, which no statistic gives."""
    total = a
    for d in range(len(x)):
        total += x[d] * x[d] * z[d]
    return total


@kernel(of="blocks", symmetric=False)
def from_python(X, Z, a=1.0):
    """a + Σ_d x_d |z_d|, as a function of whole blocks."""
    return a + X @ np.abs(Z).T


S = np.random.default_rng(5).normal(size=(9, 4))
Q = np.random.default_rng(6).normal(size=(9, 9))

COMBINATIONS = [
    rbf(sigma=2.0) + 0.5 * laplacian(sigma=3.0),
    sne(self_term=False) * linear(),
    sne(self_term=False),
    t(self_term=False).T,
    (sne() + rbf()).T,
    poly(degree=2) ** 2,
    lopsided(a=0.5),
    lopsided().T * rbf(),
    from_python(),
    compose("rbf(sigma=2.0)", np.tanh),
    linear() + compose("poly(degree=2)", np.tanh),
    symmetrize(lopsided()),
    symmetrize(sne(), "left"),
    symmetrize(t(), "right"),
    symmetrize(compose("t", np.tanh), "left"),
    centered(rbf(sigma=2.0)),
    centered(sne()),
    centered(lopsided()),
    spectrum(tanh_(c=0.5, t=-1.0), "flip"),
    spectrum(tl1(rho=3.0), "shift"),
    spectrum(tl1(rho=3.0), "square"),
    corrected(rbf(sigma=2.0), S, Q + Q.T),
    corrected(lopsided(), S, Q),
    corrected(sne(sigma=2.0), S, Q),
    corrected(rbf(sigma=2.0), S, Q + Q.T, Q @ Q.T),
    projected(sne(sigma=3.0), S, Q[:, :3]),
]


def agree(k, X, **tolerance):
    expected = np.diag(k(X))
    found = k.diagonal(X)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, **(tolerance or {"rtol": 1e-12, "atol": 1e-12 * np.abs(k(X)).max()}))


@pytest.mark.parametrize("name", NAMES)
def test_of_every_built_in_family(name, rng):
    k, X = get_registry("kernel").get(name).example(rng, 150)
    agree(k, X)


@pytest.mark.parametrize("k", COMBINATIONS, ids=repr)
def test_of_combinations_open_and_bound(k, rng):
    X, R = rng.normal(size=(2, 140, 4))
    agree(k, X)
    agree(k, S)
    bound = k.bind(R)
    agree(bound, X)
    agree(bound, R)
    assert k.diagonal(X[:0]).shape == (0,)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("precomputed", "adjacency")])
def test_of_float32_samples(name, rng):
    k, X = get_registry("kernel").get(name).example(rng, 150)
    X = X.astype(np.float32)
    if k.family.inputs == "distribution":
        X /= X.sum(axis=1, keepdims=True)
    agree(k, X, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    "k",
    [
        linear(),
        poly(degree=2),
        rbf(sigma=2.0),
        tl1(rho=3.0),
        chi2(),
        sne(sigma=2.0),
        t(),
        sne() + linear(),
        centered(sne()),
        symmetrize(sne(), "left"),
        corrected(rbf(), sp.csr_array(np.abs(S) * (np.abs(S) > 1.0)), Q + Q.T),
    ],
    ids=repr,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_of_sparse_samples(k, dtype, rng):
    X = sp.random_array((120, 4), density=0.3, rng=rng, dtype=np.float64).astype(dtype).tocsr()
    agree(k, X, **({} if dtype == np.float64 else {"rtol": 2e-5, "atol": 2e-6}))


@pytest.mark.parametrize("held", [np.arange(30.0).reshape(5, 6), sp.csr_array(np.arange(30.0).reshape(5, 6))])
def test_of_indices(held):
    k = precomputed(K=held)
    assert k.diagonal([4, 0, 2, 2]).tolist() == [28.0, 0.0, 14.0, 14.0]
    agree(adjacency(graph=sp.csr_array(np.ones((4, 4)))), np.arange(4))
    with pytest.raises(DataError, match="index 5 is beyond the held 5 × 6 matrix"):
        k.diagonal([5])


@pytest.mark.parametrize(
    "k", [rbf(), chi2(), lopsided(), from_python(), linear() + laplacian(), compose("rbf", np.tanh)], ids=repr
)
def test_takes_values_in_proportion_to_the_samples(k):
    X = np.abs(np.random.default_rng(0).normal(size=(20_000, 4)))
    with kr.config_context(memory=8_000_000):  # the matrix would take 3.2 GB
        values = k.diagonal(X)
    assert values.shape == (20_000,)
    np.testing.assert_allclose(values[:300], np.diag(k(X[:300])), rtol=1e-12)


def test_a_bound_kernel_looks_at_its_reference_set_only():
    X = np.random.default_rng(0).normal(size=(30_000, 3))
    bound = sne().bind(X[:50])
    with kr.config_context(memory=20_000_000):
        values = bound.diagonal(X)
    np.testing.assert_allclose(values[:200], np.diag(bound(X[:200])), rtol=1e-12)


def test_kernels_of_third_parties_need_nothing_for_it():
    class Plain(Kernel):
        symmetric = takes_reference = False

        def _samples(self, X, name):
            return np.asarray(X, dtype=np.float64)

        def _evaluate(self, X, Z, out, self_start):
            return X @ (X if Z is None else Z).T

    k = Plain(linear().family, {})
    X = np.random.default_rng(0).normal(size=(70, 2))
    np.testing.assert_allclose(k.diagonal(X), (X * X).sum(axis=1))
    assert k.diagonal(X[:0]).shape == (0,)


def test_samples_are_checked():
    with pytest.raises(DataError, match="NaN"):
        rbf().diagonal([[np.nan]])


# What else solvers ask of a kernel --------------------------------------------------------------------------


def test_check_samples_gives_what_the_kernel_computes_with():
    X = rbf().check_samples([[1, 2]], "A")
    assert (X.dtype, X.flags.c_contiguous) == (np.float64, True)
    assert isinstance((rbf() + compose("linear", np.tanh)).check_samples(np.eye(2)), SampleParts)
    with pytest.raises(DataError, match=r"^A has"):
        rbf().check_samples([1.0], "A")


def test_check_sample_pair_says_where_both_are_one():
    X = np.eye(3)
    assert rbf().check_sample_pair(X, X.copy())[1] is None
    assert rbf().check_sample_pair(X)[1] is None
    assert np.array_equal(rbf().check_sample_pair(X, 2.0 * X)[1], 2.0 * X)


@pytest.mark.parametrize("k", [rbf(), sne(), t().T, centered(sne()), sne() + rbf()], ids=repr)
def test_an_anchored_kernel_gives_parts_of_the_matrix(k, rng):
    X, Z = rng.normal(size=(2, 12, 3))
    np.testing.assert_allclose(k.anchored(X, Z)(X[:5], Z[3:]), k(X, Z)[:5, 3:], rtol=1e-12)
    np.testing.assert_allclose(k.anchored(X)(X[:5], X[3:]), k(X)[:5, 3:], rtol=1e-12)


@pytest.mark.parametrize("name", ["sne(sigma=2.0)", "t", "sne(self_term=False)"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_may_be_normalised_over_another_set(name, form, rng):
    k = kr.make_kernel(name).set_params(sigma=1.0)
    X, Z, R = (form(rng.normal(size=(n, 3)) * (rng.random((n, 3)) < 0.5)) for n in (7, 5, 11))
    sums = k.row_normalizers(X, R)
    expected = k.bind(R)(X, Z)
    np.testing.assert_allclose(k.normalized(X, Z, sums), expected, rtol=1e-10)
    np.testing.assert_allclose(k.normalized_operator(X, Z, sums) @ np.eye(5), expected, rtol=1e-10)
    np.testing.assert_allclose(k.row_normalizers(R), k.bind(R).normalizers, rtol=1e-12)
    assert k.bind(R).unbound is k


def test_other_kernels_have_no_normalisers():
    for ask in (lambda: rbf().row_normalizers(np.eye(2)), lambda: rbf().normalized(np.eye(2), np.eye(2), np.ones(2))):
        with pytest.raises(ParameterError, match="rbf is not row-normalised"):
            ask()


def test_products_with_sparse_samples_cost_what_they_share():
    eye = sp.eye_array(1000, format="csr")
    assert rbf().product_cost(eye) == 20_000
    assert linear().product_cost(eye) == 20_000
    assert rbf().product_cost(eye.toarray()[:100]) == 10_000
    assert tl1().product_cost(eye) == 1_000_000
    assert (rbf() + tl1()).product_cost(np.eye(4), np.eye(4)[:2]) == 8


def test_wide_products_are_not_mirrored():
    assert rbf().mirrored_columns(1000) == (1 << 26) // (8 * 16 * 1000)
    assert sne().mirrored_columns(1000) == 0
