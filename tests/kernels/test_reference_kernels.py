"""Centred kernels and kernels with a corrected spectrum: training matrices and new rows."""

from __future__ import annotations

import pickle

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import KernelCenterer

import kernreg as kr
from kernreg.errors import AsymmetryError, ParameterError
from kernreg.kernels import centered, spectrum, symmetrize
from kernreg.kernels.builtin import linear, rbf, sne, tanh_, tl1

METHODS = ("clip", "flip", "shift", "square")


@pytest.fixture
def train(rng):
    return rng.normal(size=(40, 6))


@pytest.fixture
def new(rng):
    return rng.normal(size=(13, 6))


def test_centered_kernel_equals_scikit_learns_centerer(train, new):
    k = rbf(sigma=2.0)
    centerer = KernelCenterer().fit(k(train))
    bound = centered(k).bind(train)
    np.testing.assert_allclose(bound(train), centerer.transform(k(train)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(bound(new, train), centerer.transform(k(new, train)), rtol=0, atol=1e-15)
    np.testing.assert_allclose(bound(train, new), bound(new, train).T, rtol=0, atol=1e-15)


def test_centered_asymmetric_kernel_has_zero_row_and_column_means(train, new):
    k = sne(sigma=2.0)
    K = naive.sne(train, sigma=2.0)
    expected = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    bound = centered(k).bind(train)
    assert naive.relative_error(bound(train), expected) <= 1e-14
    backward = naive.sne(train, new, sigma=2.0, reference=train)
    expected = backward - backward.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    assert naive.relative_error(bound(train, new), expected) <= 1e-14


def test_centered_linear_kernel_is_the_linear_kernel_of_centred_samples(train, new):
    mean = train.mean(axis=0)
    K = centered(linear()).bind(train)(new)
    np.testing.assert_allclose(K, (new - mean) @ (new - mean).T, rtol=0, atol=1e-13)


@pytest.mark.parametrize("make", [lambda: centered(rbf()), lambda: spectrum(tl1(rho=4.0)), lambda: spectrum(tanh_())])
def test_symmetric_reference_kernels_are_symmetric_to_the_last_bit(make, rng):
    X = rng.normal(size=(280, 4))
    for k in (make(), make().bind(X[:60])):
        K = k(X)
        assert np.array_equal(K, K.T)


@pytest.mark.parametrize("method", METHODS)
def test_corrected_training_matrix_has_the_corrected_eigenvalues(method, train):
    K = tanh_(c=0.5, t=-1.0)(train)
    values = np.linalg.eigvalsh(K)
    assert values[0] < -0.1  # the case is indefinite
    expected = {
        "clip": np.maximum(values, 0),
        "flip": np.abs(values),
        "shift": values - values[0],
        "square": values**2,
    }[method]
    corrected = spectrum(tanh_(c=0.5, t=-1.0), method)(train)
    np.testing.assert_allclose(np.linalg.eigvalsh(corrected), np.sort(expected), atol=1e-10)
    vectors = np.linalg.eigh(K)[1]
    np.testing.assert_allclose(corrected, (vectors * expected) @ vectors.T, atol=1e-10)


@pytest.mark.parametrize("method", ["clip", "flip", "square"])
def test_new_rows_are_transformed_as_the_training_rows_were(method, train, new):
    k = tl1(rho=4.0)
    K, rows = k(train), k(new, train)
    values, vectors = np.linalg.eigh(K)
    ratio = {"clip": (values > 0).astype(float), "flip": np.sign(values), "square": values}[method]
    transform = (vectors * ratio) @ vectors.T  # K times this is the corrected training matrix
    bound = spectrum(k, method).bind(train)
    np.testing.assert_allclose(bound(train), K @ transform, atol=1e-9)
    np.testing.assert_allclose(bound(new, train), rows @ transform, atol=1e-9)
    np.testing.assert_allclose(bound(train, new), bound(new, train).T, atol=1e-9)
    # A training row given as a new one gets its training values.
    np.testing.assert_allclose(bound(train[:5], train), bound(train)[:5], atol=1e-9)
    assert np.linalg.eigvalsh(bound(np.vstack([train, new]))).min() > -1e-9


def test_shift_changes_the_diagonal_of_the_training_matrix_only(train, new):
    k = tl1(rho=4.0)
    bound = spectrum(k, "shift").bind(train)
    lowest = np.linalg.eigvalsh(k(train))[0]
    np.testing.assert_allclose(bound(train) - k(train), -min(lowest, 0.0) * np.eye(len(train)), atol=1e-12)
    assert np.array_equal(bound(new, train), k(new, train))


def test_shifted_values_do_not_depend_on_what_else_is_in_the_call(train):
    bound = spectrum(tl1(rho=4.0), "shift").bind(train)
    K = bound(train)
    np.testing.assert_array_equal(bound(train[::-1], train)[::-1], K)
    np.testing.assert_array_equal(bound(train[3:8], train), K[3:8])
    assert spectrum(tl1(rho=4.0), "shift").definite is None


def test_an_unbound_kernel_of_a_reference_set_is_not_its_own_transpose(train, new):
    for k in (symmetrize("sne"), centered("rbf"), symmetrize("rbf", "left")):
        np.testing.assert_allclose(k.T(train, new), k(new, train).T, atol=1e-14)
        assert k.bind(train) == k.bind(train).T


def test_a_positive_definite_kernel_keeps_its_values(train):
    for method in ("clip", "flip", "shift"):
        np.testing.assert_allclose(spectrum(rbf(sigma=2.0), method)(train), rbf(sigma=2.0)(train), atol=1e-12)


def test_spectrum_of_an_asymmetric_kernel_is_refused_with_the_way_out(train):
    with pytest.raises(AsymmetryError, match=r"symmetrize\(k\).*ask-ls"):
        spectrum(sne())(train)
    K = spectrum(symmetrize(sne()))(train)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    with pytest.raises(ParameterError, match="'clip', 'flip', 'shift', 'square'"):
        spectrum(tl1(), "drop")


REFERENCE_KERNELS = {
    "centered": lambda: centered(rbf(sigma=2.0)),
    "centered asymmetric": lambda: centered(sne(sigma=2.0, self_term=False)),
    "transposed centered": lambda: centered(sne(sigma=2.0, self_term=False)).T,
    **{method: (lambda method=method: spectrum(tl1(rho=4.0), method)) for method in METHODS},
    "multiple of a shift": lambda: 2.0 * spectrum(tl1(rho=4.0), "shift"),
    "transposed shift": lambda: (spectrum(tl1(rho=4.0), "shift") + sne()).T,
}


@pytest.mark.parametrize("name", REFERENCE_KERNELS)
def test_blocks_and_products_agree_with_the_matrix(name, train, new, rng):
    k = REFERENCE_KERNELS[name]()
    for kernel, X, Z in ((k, train, None), (k.bind(train), train, train.copy()), (k.bind(train), new, train)):
        K = kernel(X, Z)
        blocks = np.vstack([block for _, block in kernel.blocks(X, Z, block_rows=6)])
        np.testing.assert_allclose(blocks, K, rtol=0, atol=1e-12 * np.abs(K).max())
        v = rng.normal(size=K.shape[1])
        np.testing.assert_allclose(kernel.operator(X, Z) @ v, K @ v, rtol=0, atol=1e-11 * np.abs(K).max())


@pytest.mark.parametrize("name", REFERENCE_KERNELS)
def test_out_and_float32_of_reference_kernels(name, train):
    k = REFERENCE_KERNELS[name]()
    X = train.astype(np.float32)
    out = np.full((40, 40), np.nan, dtype=np.float32)
    assert k(X, out=out) is out
    exact = k(X.astype(np.float64))
    np.testing.assert_allclose(out, exact, rtol=0, atol=2e-5 * np.abs(exact).max())


@pytest.mark.parametrize("k", [centered(sne()), centered(rbf()), symmetrize(sne()), symmetrize(sne(), "left")])
def test_products_with_sparse_samples_cost_no_dense_blocks(k, rng):
    X = sp.csr_array((rng.random(4000) + 0.1, (np.repeat(np.arange(1000), 4), rng.integers(0, 9000, 4000))))
    K, V = k(X.toarray()), rng.normal(size=(1000, 2))
    with kr.config_context(memory=1_000_000):  # K would be 8 MB
        A = k.operator(X)
        np.testing.assert_allclose(A @ V, K @ V, rtol=0, atol=1e-11)
        np.testing.assert_allclose(A.T @ V[:, 0], K.T @ V[:, 0], rtol=0, atol=1e-11)
    assert A.form == "separable"


@pytest.mark.parametrize("make", [centered, spectrum, symmetrize])
def test_bound_kernels_are_equal_when_their_reference_is(make, train, new):
    k = make(rbf(sigma=2.0))
    assert k.bind(train) == k.bind(train.copy())
    assert hash(k.bind(train)) == hash(k.bind(train.copy()))
    assert k.bind(train) != k.bind(new)
    assert k.bind(train) != k


@pytest.mark.parametrize("make", [centered, spectrum, symmetrize])
def test_bound_kernels_pickle_and_keep_their_reference_under_set_params(make, train, new):
    k = make(rbf(sigma=2.0)).bind(train)
    assert pickle.loads(pickle.dumps(k)) == k
    changed = k.set_params(kernel__sigma=3.0)
    assert changed == make(rbf(sigma=3.0)).bind(train)
    assert np.array_equal(changed(new), make(rbf(sigma=3.0)).bind(train)(new))


def test_scalar_of_a_reference_kernel_is_the_matrix_entry(train, new):
    for k in (centered(rbf()).bind(train), spectrum(tl1(rho=4.0)).bind(train)):
        np.testing.assert_allclose(k.scalar(new[0], new[1]), k(new)[0, 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kernel", [linear(), sne(sigma=2.0).T * linear()], ids=["symmetric", "asymmetric"])
def test_centred_on_no_samples_a_kernel_is_itself(kernel, new):
    bound = centered(kernel.bind(new)).bind(np.empty((0, 6)))
    assert np.array_equal(bound(new, new[:4]), kernel.bind(new)(new, new[:4]))


@pytest.mark.parametrize("first", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("second", [np.asarray, sp.csr_array])
def test_a_shift_belongs_to_equal_samples_dense_or_sparse(first, second):
    samples = np.array([[1.0, 0.0, 2.0], [0.0, -0.0, 0.0], [0.0, 3.0, 0.0], [1.0, 0.0, 2.0]])
    k = spectrum("tanh(c=-1.0)", "shift").bind(second(samples))
    expected = k(samples, samples)
    np.testing.assert_allclose(k(first(samples), second(samples)), expected, rtol=1e-12)
    assert expected[1, 1] > 0.1


@pytest.mark.parametrize("method", METHODS)
def test_corrected_spectra_of_float32_samples_are_good_to_float32(method, train, new):
    train, new = train[:12].astype(np.float32), new.astype(np.float32)
    k, exact = (spectrum("rbf(sigma=4.0)", method).bind(R) for R in (train, train.astype(float)))
    double = spectrum("rbf(sigma=4.0)", method).bind(train)
    for X, Z in ((train, train), (new, train), (train, new), (new, new)):
        expected = exact(X.astype(float), Z.astype(float))
        assert k(X, Z).dtype == np.float32
        np.testing.assert_allclose(k(X, Z), expected, rtol=0, atol=3e-6 * np.abs(expected).max())
        np.testing.assert_allclose(double(X.astype(float), Z), expected, rtol=0, atol=1e-10 * np.abs(expected).max())
