"""Kernels made of kernels, against the same combination of the long double matrices."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels import compose, symmetrize
from kernreg.kernels.builtin import laplacian, linear, rbf, sne, tl1


@pytest.fixture
def X(rng):
    return rng.normal(size=(31, 4))


@pytest.fixture
def Z(rng):
    return rng.normal(size=(17, 4))


def close(K, expected, bar=1e-14):
    assert naive.relative_error(K, np.asarray(expected, dtype=np.longdouble)) <= bar


ELEMENTWISE = {
    "sum": (lambda: rbf(sigma=2.0) + linear(), lambda *s: naive.rbf(*s, sigma=2.0) + naive.linear(*s)),
    "product": (lambda: rbf(sigma=2.0) * linear(), lambda *s: naive.rbf(*s, sigma=2.0) * naive.linear(*s)),
    "multiple": (lambda: 2.5 * laplacian(sigma=3.0), lambda *s: 2.5 * naive.laplacian(*s, sigma=3.0)),
    "negative multiple": (lambda: tl1(rho=3.0) * -0.5, lambda *s: -0.5 * naive.tl1(*s, rho=3.0)),
    "power": (lambda: linear() ** 3, lambda *s: naive.linear(*s) ** 3),
    "polynomial of kernels": (
        lambda: 0.5 * (rbf(sigma=1.0) + linear()) ** 2 * rbf(sigma=3.0),
        lambda *s: 0.5 * (naive.rbf(*s) + naive.linear(*s)) ** 2 * naive.rbf(*s, sigma=3.0),
    ),
    "asymmetric sum": (lambda: sne(sigma=2.0) + linear(), lambda *s: naive.sne(*s, sigma=2.0) + naive.linear(*s)),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_arithmetic_on_kernels_is_arithmetic_on_their_matrices(name, X, Z):
    make, formula = ELEMENTWISE[name]
    k = make()
    close(k(X), formula(X))
    close(k(X, Z), formula(X, Z))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_arithmetic_keeps_float32_and_fills_out(name, X):
    make, formula = ELEMENTWISE[name]
    X = X.astype(np.float32)
    out = np.full((31, 31), np.nan, dtype=np.float32)
    assert make()(X, out=out) is out
    close(out, formula(X), 5e-6)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_blocks_and_products_of_a_combination_agree_with_its_matrix(name, X, Z, rng):
    k = ELEMENTWISE[name][0]()
    K = k(X, Z)
    blocks = [block for _, block in k.blocks(X, Z, block_rows=7)]
    assert np.array_equal(np.vstack(blocks), K)
    v, w = rng.normal(size=17), rng.normal(size=(31, 2))
    np.testing.assert_allclose(k.operator(X, Z) @ v, K @ v, rtol=1e-12, atol=1e-12 * np.abs(K).max())
    np.testing.assert_allclose(k.operator(X, Z).T @ w, K.T @ w, rtol=1e-12, atol=1e-12 * np.abs(K).max())


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if name != "asymmetric sum"])
def test_the_value_of_two_samples_is_the_entry_of_the_matrix(name, X, Z):
    k = ELEMENTWISE[name][0]()
    assert k.scalar(X[3], Z[5]) == pytest.approx(float(k(X, Z)[3, 5]), rel=1e-13)
    assert k.T.scalar(X[3], Z[5]) == pytest.approx(float(k(Z, X)[5, 3]), rel=1e-13)


def test_operators_of_combinations_say_how_products_are_computed(X):
    sparse = sp.csr_array((np.ones(900), (np.arange(900), np.arange(900))))
    for k in (
        2.0 * rbf(sigma=1.0),
        rbf(sigma=1.0) + linear(),
        sne(sigma=1.0).T,
        0.5 * (sne(sigma=1.0) + rbf(sigma=1.0)).T,
        symmetrize(sne(sigma=1.0), "right"),
    ):
        assert k.operator(sparse).form == "separable"
        assert k.operator(X).form == "blocks"
    assert (rbf(sigma=1.0) + laplacian(sigma=1.0)).operator(sparse).form == "blocks"
    assert (rbf(sigma=1.0) * linear()).operator(sparse).form == "blocks"


def test_a_sum_too_large_for_two_matrices_at_once_is_the_same(X):
    k = sne(sigma=1.5) + rbf(sigma=2.0)
    expected = k(X)
    with kr.config_context(memory=int(1.5 * expected.nbytes)):
        assert np.array_equal(k(X), expected)


def test_numpy_scalars_multiply_from_either_side(X):
    assert np.float64(2.0) * rbf(sigma=1.0) == 2.0 * rbf(sigma=1.0) == rbf(sigma=1.0) * np.float32(2.0)


def test_definiteness_and_symmetry_follow_the_parts():
    assert (rbf(sigma=1.0) + linear()).definite is True
    assert (rbf(sigma=1.0) * linear() ** 2).definite is True
    assert (2.0 * rbf(sigma=1.0)).definite is True
    assert (-1.0 * rbf(sigma=1.0)).definite is None
    assert (rbf(sigma=1.0) + tl1()).definite is None
    assert (rbf(sigma=1.0) + linear()).symmetric is True
    assert (rbf(sigma=1.0) + sne(sigma=1.0)).symmetric is False


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "two", None, True])
def test_powers_other_than_positive_integers_are_refused(wrong):
    with pytest.raises(ParameterError, match="integer >= 1"):
        rbf(sigma=1.0) ** wrong


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_multiples_by_what_is_not_finite_are_refused(wrong):
    with pytest.raises(ParameterError, match="finite number"):
        wrong * rbf(sigma=1.0)


def test_adding_a_number_is_not_defined():
    with pytest.raises(TypeError):
        rbf(sigma=1.0) + 1.0


# transposes ---------------------------------------------------------------------------------------------------


def test_transposed_kernel_exchanges_its_arguments(X, Z):
    k = sne(sigma=2.0)
    close(k.T(X), naive.sne(X, sigma=2.0).T)
    close(k.T(X, Z), naive.sne(Z, X, sigma=2.0).T)
    assert k == k.T.T
    assert rbf(sigma=1.0) == rbf(sigma=1.0).T


def test_blocks_of_a_transposed_normalised_kernel_are_normalised_over_all_rows(X, Z):
    k = sne(sigma=2.0).T
    expected = naive.sne(Z, X, sigma=2.0).T
    for block_rows in (1, 7, 31):
        close(np.vstack([block for _, block in k.blocks(X, Z, block_rows=block_rows)]), expected)


@pytest.mark.parametrize("block_rows", [1, 6, 31])
def test_blocks_of_a_transposed_kernel_leave_out_the_self_term(X, block_rows):
    k = sne(sigma=2.0, self_term=False).T
    expected = naive.sne(X, sigma=2.0, self_term=False).T
    close(np.vstack([block for _, block in k.blocks(X, block_rows=block_rows)]), expected)


def test_rows_of_a_transposed_normalised_kernel_are_those_of_its_matrix(X, Z):
    k = sne(sigma=2.0).T
    close(k.rows(X, Z, 4, 9), k(X, Z)[4:9])
    close(k.rows(X, None, 4, 9), k(X)[4:9])


def test_operator_of_a_transposed_kernel(X, Z, rng):
    v = rng.normal(size=17)
    k = sne(sigma=2.0).T
    np.testing.assert_allclose(k.operator(X, Z) @ v, k(X, Z) @ v, rtol=1e-12)


# symmetrised --------------------------------------------------------------------------------------------------


def test_symmetrized_matrices_are_the_mean_and_the_products(X):
    k, K = sne(sigma=2.0), naive.sne(X, sigma=2.0)
    close(symmetrize(k)(X), (K + K.T) / 2)
    close(symmetrize(k, "left")(X), K @ K.T)
    close(symmetrize(k, "right")(X), K.T @ K)


@pytest.mark.parametrize("how", ["mean", "left", "right"])
@pytest.mark.parametrize("self_term", [True, False])
def test_symmetrized_kernel_of_new_samples_uses_the_reference_set(how, self_term, X, Z):
    new = X[:9] + 0.1
    parameters = {"sigma": 2.0, "reference": Z, "self_term": self_term}
    k = symmetrize(sne(sigma=2.0, self_term=self_term), how).bind(Z)
    forward, backward = naive.sne(new, Z, **parameters), naive.sne(Z, new, **parameters)
    train = naive.sne(Z, **parameters)
    expected = {
        "mean": (forward + backward.T) / 2,
        "left": forward @ train.T,
        "right": backward.T @ train,
    }[how]
    close(k(new, Z), expected)
    close(k(Z, new), expected.T)


@pytest.mark.parametrize("how", ["mean", "left", "right"])
def test_symmetrized_kernels_are_symmetric_to_the_last_bit(how, rng):
    X = rng.normal(size=(300, 5))
    for k in (
        symmetrize(sne(sigma=1.0), how),
        symmetrize(sne(sigma=1.0, self_term=False), how),
        symmetrize(sne(sigma=1.0), how).bind(X[:50]),
    ):
        K = k(X)
        assert np.array_equal(K, K.T)


@pytest.mark.parametrize("how", ["mean", "left", "right"])
@pytest.mark.parametrize("self_term", [True, False])
def test_blocks_of_a_symmetrized_kernel_agree_with_its_matrix(how, self_term, X):
    k = symmetrize(sne(sigma=2.0, self_term=self_term), how)
    np.testing.assert_allclose(np.vstack([b for _, b in k.blocks(X, block_rows=5)]), k(X), rtol=1e-13, atol=1e-18)


def test_symmetrized_kernels_say_what_is_known_about_them():
    assert symmetrize(sne(sigma=1.0)).symmetric
    assert symmetrize(sne(sigma=1.0)).definite is None
    assert symmetrize(sne(sigma=1.0), "left").definite is True
    with pytest.raises(ParameterError, match="'mean', 'left', 'right'"):
        symmetrize(sne(sigma=1.0), "both")


# composed -----------------------------------------------------------------------------------------------------


def squares(X):
    return np.asarray(X) ** 2


def test_composed_kernel_sees_mapped_samples(X, Z):
    k = compose(rbf(sigma=2.0), squares)
    close(k(X), naive.rbf(X**2, sigma=2.0))
    close(k(X, Z), naive.rbf(X**2, Z**2, sigma=2.0))
    close(np.vstack([b for _, b in k.blocks(X, Z, block_rows=4)]), naive.rbf(X**2, Z**2, sigma=2.0))


def test_a_sum_applies_the_feature_map_to_its_own_part_only(X, Z):
    for k in (compose(rbf(sigma=1.0), squares) + linear(), linear() + compose(rbf(sigma=1.0), squares)):
        close(k(X, Z), naive.rbf(X**2, Z**2) + naive.linear(X, Z))
        close(np.vstack([b for _, b in k.blocks(X, Z, block_rows=4)]), naive.rbf(X**2, Z**2) + naive.linear(X, Z))
        np.testing.assert_allclose(k.operator(X, Z) @ np.ones(17), k(X, Z).sum(axis=1), rtol=1e-12)
    two = compose(rbf(sigma=1.0), squares) + compose(linear(), np.tanh)
    close(two(X), naive.rbf(X**2) + naive.linear(np.tanh(X)))
    close((2.0 * two * two)(X), 2 * (naive.rbf(X**2) + naive.linear(np.tanh(X))) ** 2)


def test_a_multiple_of_a_sum_sees_what_each_part_of_the_sum_sees(X, Z):
    k = 2.5 * (rbf(sigma=2.0) + compose(linear(), np.tanh))
    expected = 2.5 * (naive.rbf(X, Z, sigma=2.0) + naive.linear(np.tanh(X), np.tanh(Z)))
    close(k(X, Z), expected)
    close(k.operator(X, Z) @ np.ones(len(Z)), expected.sum(axis=1))
    close(k.diagonal(X), np.diag(2.5 * (naive.rbf(X, sigma=2.0) + naive.linear(np.tanh(X)))))
    bound = (2.5 * (sne(sigma=2.0) + compose(linear(), np.tanh))).bind(Z)
    close(bound(X, Z), 2.5 * (naive.sne(X, Z, sigma=2.0) + naive.linear(np.tanh(X), np.tanh(Z))))


def test_compositions_of_compositions(X):
    k = compose(symmetrize(compose(sne(sigma=1.0), np.tanh), "left"), squares)
    K = naive.sne(np.tanh(X**2))
    close(k(X), K @ K.T)


def test_the_value_of_two_samples_of_a_composed_kernel_is_that_of_what_they_are_mapped_to(X, Z):
    k = compose(rbf(sigma=2.0), lambda A: A[:, :2] ** 2)
    assert k.scalar(X[3], Z[5]) == pytest.approx(float(naive.rbf(X[3:4, :2] ** 2, Z[5:6, :2] ** 2, sigma=2.0)[0, 0]))


def test_samples_are_converted_once_for_all_kernels_of_a_sum(X):
    k = rbf(sigma=2.0) + linear()
    checked = k.check_samples(X.tolist())
    assert isinstance(checked, np.ndarray)
    assert np.array_equal(checked, X)


def test_composed_kernel_with_a_map_to_sparse_features(rng):
    X = rng.random((20, 6)) * (rng.random((20, 6)) < 0.4)

    def doubled(values):
        return sp.csr_array(2.0 * np.asarray(values))

    k = compose(linear(), doubled)
    close(k(X), 4 * naive.linear(X))
    close(np.vstack([b for _, b in k.blocks(X, block_rows=3)]), 4 * naive.linear(X))


def test_composed_kernel_of_text():
    k = compose(linear(), lambda words: np.array([[len(word), word.count("a")] for word in words], dtype=float))
    assert k(["abc", "banana"], ["aa"]).tolist() == [[8.0], [18.0]]


def test_a_feature_map_that_fails_says_on_which_samples(X):
    with pytest.raises(DataError, match=r"feature map of compose\(…\) does not accept Z: .*tanh"):
        compose(rbf(sigma=1.0), np.tanh)(X, np.array([["a", "b", "c", "d"]]))


def test_composed_normalised_kernel_is_bound_to_mapped_samples(X, Z):
    k = compose(sne(sigma=2.0), squares).bind(Z)
    close(k(X, Z), naive.sne(X**2, Z**2, sigma=2.0))
    close(k(Z, X), naive.sne(Z**2, X**2, sigma=2.0, reference=Z**2))


def test_combinations_of_bound_kernels_use_the_reference_set(X, Z):
    k = (sne(sigma=2.0) + 0.5 * sne(sigma=1.0)).bind(Z)
    expected = naive.sne(Z, X, sigma=2.0, reference=Z) + 0.5 * naive.sne(Z, X, sigma=1.0, reference=Z)
    close(k(Z, X), expected)


@pytest.mark.parametrize("how", ["left", "right"])
def test_symmetrized_kernels_of_float32_and_float64_samples_are_good_to_float64(how, X, Z):
    X, Z = X.astype(np.float32), Z.astype(np.float32)
    k = symmetrize("sne(sigma=1.5)", how).bind(Z)
    F, G = (naive.sne(A, Z, 1.5) if how == "left" else naive.sne(Z, A, 1.5, reference=Z).T for A in (X, Z))
    for A, B, exact in ((X, Z.astype(float), F @ G.T), (X.astype(float), Z, F @ G.T), (X.astype(float), X, F @ F.T)):
        assert k(A, B).dtype == np.float64
        assert naive.relative_error(k(A, B), exact) <= 1e-13
        assert naive.relative_error(k.operator(A, B) @ np.eye(len(B)), exact) <= 1e-13


@pytest.mark.parametrize("how", ["mean", "left", "right"])
def test_symmetrized_kernels_of_float32_samples_are_float32_whatever_their_reference(how, X, Z):
    k = symmetrize("sne(sigma=1.5)", how).bind(Z)
    single = X.astype(np.float32)
    for K in (k(single), k(single, single[:3]), k(single, out=np.empty((len(X), len(X)), dtype=np.float32))):
        assert K.dtype == np.float32
        np.testing.assert_allclose(K, k(X)[:, : K.shape[1]], rtol=1e-5)


def test_a_transposed_composition_finds_widths_in_samples_on_disk(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 3))
    np.save(tmp_path / "X.npy", X)
    source = kr.open_samples(tmp_path / "X.npy")
    k = compose(kr.make_kernel("rbf(sigma='median')"), np.tanh).T
    np.testing.assert_array_equal(k(source, X[:5]), k(X, X[:5]))
    np.testing.assert_array_equal(k(source), k(X))
