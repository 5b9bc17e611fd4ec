"""Iterations for a few eigenpairs, from the inside: how many steps they take, what they keep, and where they end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import kernreg as kr
from kernreg.errors import AsymmetryError, DataError
from kernreg.linalg.spectra import arpack, lanczos, lapack, partial, products
from kernreg.linalg.spectra.basis import largest_norm, peak_signs, qr, relative_residual
from kernreg.linalg.spectra.lanczos import (
    Settings,
    _Copies,
    _kept,
    _restart,
    block_golub_kahan,
    block_lanczos,
    ordered,
    require_symmetry,
)
from kernreg.linalg.spectra.products import NotFiniteError, Products, is_finite
from kernreg.linalg.spectra.randomized import randomized_eigenpairs, randomized_triplets

EPS = np.finfo(np.float64).eps


def settings(tol=1e-10, most=100, **more):
    return Settings(tol, most, np.random.default_rng(0), **more)


def with_spectrum(d, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(d), len(d))))[0]
    return (Q * d) @ Q.T


# sizes and orders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "k", "sizes"),
    [
        (1000, 1, (7, 57)),  # six columns more than pairs, and eight blocks
        (1000, 24, (30, 264)),
        (1000, 40, (50, 440)),  # a quarter more
        (3000, 100, (96, 868)),
        (10_000, 2000, (96, 4192)),  # twice the pairs and two blocks
        (20, 10, (16, 20)),
        (5, 5, (5, 5)),
        (1, 1, (1, 1)),
    ],
)
def test_columns_of_blocks_and_bases(n, k, sizes):
    assert settings().sizes(n, k) == sizes


def test_columns_that_are_asked_for_are_taken_as_far_as_there_is_room():
    assert settings(block=3, columns=40).sizes(100, 5) == (3, 40)
    assert settings(block=3, columns=400).sizes(100, 5) == (3, 100)
    assert settings(block=3, columns=2).sizes(100, 5) == (3, 11)
    assert settings(block=300).sizes(100, 5) == (100, 100)


def test_orders():
    values = np.array([2.0, -3.0, 3.0, -2.0, 0.0])
    assert values[ordered(values, "value")].tolist() == [3.0, 2.0, 0.0, -2.0, -3.0]
    assert values[ordered(values, "magnitude")].tolist() == [3.0, -3.0, 2.0, -2.0, 0.0]


@pytest.mark.parametrize(
    ("k", "end", "columns", "block", "kept"),
    [(4, 60, 64, 6, 34), (4, 60, 64, 20, 24), (4, 30, 64, 6, 30), (4, 3, 64, 6, 3), (40, 60, 64, 20, 40)],
)
def test_a_restart_leaves_room_for_two_blocks_and_half_of_the_rest(k, end, columns, block, kept):
    assert _kept(k, end, columns, block) == kept


def test_a_restart_keeps_vectors_and_their_values():
    rng = np.random.default_rng(0)
    V, S = np.linalg.qr(rng.normal(size=(9, 5)))[0], np.linalg.qr(rng.normal(size=(5, 5)))[0]
    basis, T, values = np.column_stack([V, np.ones((9, 2))]), np.ones((7, 7)), np.arange(5.0)
    assert _restart(basis, T, values, S, np.array([3, 0])) == 2
    np.testing.assert_allclose(basis[:, :2], V @ S[:, [3, 0]], atol=1e-15)
    assert T.tolist() == np.diag([3.0, 0.0, 0, 0, 0, 0, 0]).tolist()


@pytest.mark.parametrize(("gap", "refused"), [(1.9e-8, False), (2.1e-8, True)])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_an_asymmetry_is_refused_from_where_it_is_more_than_rounding(gap, refused, noise):
    H = np.array([[1.0, 0.5 + gap + noise], [0.5, 1.0]])
    how = settings(noise=lambda: noise)
    if refused:
        with pytest.raises(AsymmetryError, match=f"differ by {(gap + noise) / 2:.2g} of"):
            require_symmetry(H, 2.0, how)
    else:
        require_symmetry(H, 2.0, how)


# copies of repeated values ---------------------------------------------------------------------------------------


def copies(k, block, by_value=True, n=100, tol=1e-10):
    return _Copies(n, k, block, tol, by_value)


@pytest.mark.parametrize(
    ("found", "block", "by_value", "suspects"),
    [
        ([3.0, 3.0, 2.0, 1.0], 2, True, [3.0]),
        ([3.0, 3.0, 3.0, 1.0], 2, True, [3.0, 3.0]),
        ([3.0, 3.0, 2.0, 1.0], 3, True, []),
        ([3.0, 2.0, 2.0, 1.0], 2, True, [2.0]),
        ([3.0, 2.0, 1.0, 1.0], 2, True, []),  # as good as the last
        ([3.0, 3.0, 2.0, 1.0], 4, True, []),
        ([3.0, 3.0, 2.0, 1.0], 1, True, [2.0, 3.0, 3.0]),
        ([-3.0, -3.0, 2.0, 1.0], 2, False, [-3.0]),
        ([3.0, -3.0, 2.0, 1.0], 2, False, []),
        ([2.0, 1.0, 1.0, -1.0], 2, False, []),
    ],
)
def test_values_that_were_found_once_for_each_column_are_suspected(found, block, by_value, suspects):
    assert copies(len(found), block, by_value)._filling(np.array(found), 1e-6).tolist() == suspects


@pytest.mark.parametrize(("apart", "same"), [(0.9e-6, True), (1.1e-6, False)])
def test_how_near_copies_are(apart, same):
    assert len(copies(3, 2)._filling(np.array([3.0 + apart, 3.0, 1.0]), 1e-6)) == same


@pytest.mark.parametrize(("above", "suspected"), [(1.9e-6, False), (2.1e-6, True)])
def test_how_far_above_the_last_one_they_are(above, suspected):
    assert len(copies(3, 2)._filling(np.array([1.0 + above, 1.0 + above, 1.0]), 1e-6)) == suspected


def test_copies_are_told_by_a_hundred_tolerances_but_no_less_than_a_part_in_ten_to_the_eight():
    assert copies(3, 2, tol=1e-12).same == 1e-8
    assert copies(3, 2, tol=1e-6).same == pytest.approx(1e-4)
    assert copies(3, 2, n=400).trace == pytest.approx(0.01 / 20)


def test_verdicts():
    values, rest = np.array([1.0, 3.0, 0.5, 3.0, 0.1]), np.full(5, 1e-12)
    order, told = ordered(values, "value"), copies(3, 2)
    assert told.verdict(values, order, rest, 3.0) == "elsewhere"  # new directions, and then again the same
    assert told.verdict(values, order, rest, 3.0) == "enough"
    rest[2] = 1.0  # the first of the others may still become a copy
    assert told.verdict(values, order, rest, 3.0) == "further"
    moved = values + np.array([1e-3, 0, 0, 0, 0])
    assert told.verdict(moved, order, rest, 3.0) == "elsewhere"
    assert copies(3, 3).verdict(values, order, rest, 3.0) == "enough"
    only = np.array([3.0, 3.0, 1.0])
    told = copies(3, 2)
    assert [told.verdict(only, np.arange(3), np.zeros(3), 3.0) for _ in range(2)] == ["elsewhere", "further"]


@pytest.mark.parametrize(("rest", "settled"), [(0.99, True), (1.01, False)])
@pytest.mark.parametrize("end", [1.0, -1.0])
def test_a_residual_allows_no_copy_where_it_is_less_than_a_trace_of_the_distance(rest, settled, end):
    told = copies(2, 1, by_value=False)
    told.suspects = np.array([3.0 * end])
    values = np.array([3.0 * end, 2.0 * end, 0.5 * end, -0.4 * end])
    residuals = np.array([0.0, 0.0, rest * 0.001 * 2.5, 9.0])  # that of the other end does not matter
    assert told._settled(values, np.array([2, 3]), residuals, 3.0) == settled
    residuals[2] = 3e-10
    assert told._settled(values, np.array([2, 3]), residuals, 3.0)


def test_by_value_only_the_upper_end_matters():
    told = copies(2, 1, by_value=True)
    told.suspects = np.array([-1.0])
    values, rest = np.array([-1.0, -1.0, -2.0, -3.0]), np.array([0.0, 0.0, 0.0, 9.0])
    assert told._settled(values, np.array([2, 3]), rest, 3.0)
    rest[2] = 9.0
    assert not told._settled(values, np.array([2, 3]), rest, 3.0)


def test_vectors_near_a_suspect_are_kept_first():
    told, values = copies(1, 1), np.array([5.0, 0.1, 2.9, 1.0, 3.2])
    told.suspects = np.array([3.0])
    assert told.first(values, np.array([0, 4, 2, 3, 1])).tolist() == [0, 2, 4, 3, 1]
    told.suspects = np.empty(0)
    assert told.first(values, np.array([0, 4, 2, 3, 1])).tolist() == [0, 4, 2, 3, 1]


# steps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [None, 12])
def test_iterations_follow_exact_block_krylov_spaces(columns):
    """Ritz values after each step are those of the block Krylov space, until it is restarted."""
    d = np.concatenate([[5.0, 4.0, 3.5], np.linspace(0.0, 3.0, 57)])
    A, seen = with_spectrum(d), []
    how = settings(1e-9, 60, block=3, columns=columns)
    found = block_lanczos(lambda V: A @ V, 60, 2, "value", how)
    np.testing.assert_allclose(found.values, [5.0, 4.0], atol=1e-9)
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0).max() / 5.0
    assert found.residual == pytest.approx(true, abs=1e-14)
    start = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 3)))[0]
    space = start
    for step in (1, 2, 3):
        ritz = np.linalg.eigvalsh(space.T @ A @ space)[::-1][:2]
        stopped = block_lanczos(lambda V: A @ V, 60, 2, "value", settings(1e-9, step, block=3, columns=columns))
        np.testing.assert_allclose(stopped.values, ritz, atol=1e-10)
        assert (stopped.iterations, stopped.converged) == (step, False)
        seen.append(stopped.residual)
        space = np.linalg.qr(np.column_stack([space, A @ space[:, -3:]]))[0]
    assert seen == sorted(seen, reverse=True)
    assert found.iterations <= (20 if columns is None else 25)


def test_triplets_follow_exact_block_krylov_spaces():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(40, 25))
    space = np.linalg.qr(np.random.default_rng(0).normal(size=(25, 3)))[0]
    for step in (1, 2, 3):
        stopped = block_golub_kahan(lambda V: A @ V, lambda U: A.T @ U, (40, 25), 2, settings(1e-9, step, block=3))
        expected = np.linalg.svd(A @ space, compute_uv=False)[:2]
        np.testing.assert_allclose(stopped.values, expected, atol=1e-10)
        true = np.linalg.norm(A.T @ stopped.left - stopped.vectors * stopped.values, axis=0).max()
        assert stopped.residual * np.linalg.svd(A @ space, compute_uv=False)[0] == pytest.approx(true, rel=1e-6)
        np.testing.assert_allclose(A @ stopped.vectors, stopped.left * stopped.values, atol=1e-10)
        space = np.linalg.qr(np.column_stack([space, A.T @ (A @ space[:, -3:])]))[0]


@pytest.mark.parametrize("fixed", [0, 1, 3])
def test_subspace_iterations_are_powers_of_the_matrix(fixed):
    d = 0.7 ** np.arange(50.0)
    A, start = with_spectrum(d), np.linalg.qr(np.random.default_rng(0).normal(size=(50, 13)))[0]
    found = randomized_eigenpairs(lambda V: A @ V, 50, 3, "magnitude", settings(), fixed)
    space = np.linalg.qr(np.linalg.matrix_power(A, 2 * fixed) @ start)[0]
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(space.T @ A @ space)[::-1][:3], rtol=1e-10)
    assert found.iterations == 2 * fixed + 1
    found = randomized_triplets(lambda V: A @ V, lambda U: A.T @ U, (50, 50), 3, settings(), fixed)
    np.testing.assert_allclose(found.values, np.linalg.svd(A @ space, compute_uv=False)[:3], rtol=1e-10)
    assert found.iterations == fixed + 1


def test_subspace_iterations_end_at_the_tolerance_or_the_last_one():
    d = 0.7 ** np.arange(50.0)
    A = with_spectrum(d)
    for tol, most, converged in ((1e-6, 100, True), (1e-6, 3, False)):
        found = randomized_eigenpairs(lambda V: A @ V, 50, 3, "magnitude", settings(tol, most), None)
        assert (found.residual <= tol) == found.converged == converged
        assert found.iterations <= most
        other = randomized_triplets(lambda V: A @ V, lambda U: A.T @ U, (50, 50), 3, settings(tol, most), None)
        assert (other.residual <= tol) == other.converged == (other.iterations < most or other.residual <= tol)


# LAPACK, ARPACK and LOBPCG -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 30])
@pytest.mark.parametrize("order", ["magnitude", "value"])
def test_some_pairs_by_lapack_are_those_of_all(n, order):
    d = np.where(np.arange(n) % 2, -1.0, 1.0) * (1.0 + np.arange(n))
    A = with_spectrum(d)
    for k in range(1, n + 1):
        for given in (A.copy(), np.asfortranarray(A)):
            values, V = lapack.dense_eigenpairs(given, k, order)
            np.testing.assert_allclose(values, d[ordered(d, order)][:k], atol=1e-11)
            np.testing.assert_allclose(A @ V, V * values, atol=1e-10)
            np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-11)
            assert np.array_equal(given, A)


def test_clusters_across_both_ends_have_orthonormal_vectors(monkeypatch):
    """Where the vectors of the two ends are not orthogonal, all are computed together."""
    d = np.concatenate([np.full(3, 2.0), np.full(3, -2.0), np.linspace(-0.5, 0.5, 34)])
    A = with_spectrum(d)
    for limit in (1e-11, -1.0):
        monkeypatch.setattr(lapack, "_ORTHOGONAL", limit)
        values, V = lapack.dense_eigenpairs(A.copy(), 6, "magnitude")
        np.testing.assert_allclose(np.sort(values), [-2.0] * 3 + [2.0] * 3, atol=1e-12)
        np.testing.assert_allclose(A @ V, V * values, atol=1e-11)
        np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-11)


@pytest.mark.parametrize("failed", ["no convergence", "error"])
@pytest.mark.parametrize("shape", [(40, 40), (50, 30), (30, 50)])
def test_what_arpack_has_when_it_fails_is_completed(monkeypatch, failed, shape):
    A = np.linalg.qr(np.random.default_rng(0).normal(size=shape))[0] if shape[0] >= shape[1] else None
    A = np.random.default_rng(0).normal(size=shape) if A is None else A * 0.9 ** np.arange(shape[1])
    U, s, Vt = np.linalg.svd(A, full_matrices=False)

    def fail(*_, **__):
        if failed == "error":
            raise arpack.ArpackError(-9999)
        some = Vt[:2].T if shape[0] >= shape[1] else U[:, :2]
        raise arpack.ArpackNoConvergence("stopped", s[:2], some)

    monkeypatch.setattr(arpack, "svds", fail)
    found = arpack.arpack_triplets(Products(A), 4, settings())
    assert (found.values.shape, found.left.shape, found.vectors.shape) == ((4,), (shape[0], 4), (shape[1], 4))
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(4), atol=1e-12)
    true = np.linalg.norm(A.T @ found.left - found.vectors * found.values, axis=0).max()
    largest = np.linalg.svd(A @ found.vectors, compute_uv=False)[0]
    assert found.residual == pytest.approx(true / largest, rel=1e-6)
    assert found.converged == (found.residual <= 1e-10)
    if failed == "no convergence":
        np.testing.assert_allclose(found.values[:2], s[:2], rtol=0.2)
        assert found.values[0] >= s[0] * (1 - 1e-12)


def test_the_norm_that_lobpcg_is_told_is_about_that_of_the_matrix():
    for size in (1e-3, 1.0, 1e3):
        A = size * with_spectrum(np.linspace(-3.0, 1.0, 40))
        assert (
            0.9 * 3.0 * size <= arpack._largest(Products(A, symmetric=True), settings(), 30) <= 3.0 * size * (1 + EPS)
        )
    assert arpack._largest(Products(np.zeros((6, 6)), symmetric=True), settings()) == 0.0


@pytest.mark.parametrize("definite", [True, False])
@pytest.mark.parametrize("order", ["value", "magnitude"])
def test_lobpcg_looks_at_the_ends_that_may_hold_what_is_wanted(monkeypatch, definite, order):
    ends, original = [], arpack.lobpcg
    monkeypatch.setattr(
        arpack,
        "lobpcg",
        lambda *args, largest, **more: ends.append(largest) or original(*args, largest=largest, **more),
    )
    A = with_spectrum(0.8 ** np.arange(60))
    arpack.lobpcg_eigenpairs(Products(A, symmetric=True), 2, order, settings(1e-6), definite)
    assert ends == ([True] if order == "value" or definite else [True, False])


# products and what the rest is made of -------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-289, 1e-200, 1e-101, 1e101, 1e200, 1e300])
def test_matrices_out_of_the_range_of_squares_are_brought_into_it(size):
    A = Products(size * np.array([[3.0, 1.0], [1.0, 2.0]]))
    once = A.product(np.eye(2))
    assert A.factor == 2.0 ** -np.round(np.log2(size * 3.0))
    np.testing.assert_allclose(once, A.factor * size * np.array([[3.0, 1.0], [1.0, 2.0]]))
    np.testing.assert_allclose(A.dense()[0], once)
    np.testing.assert_allclose(A.adjoint(np.eye(2)[:, :1]), once[:, :1])
    assert (A.count, A.passes) == (3, 2)


@pytest.mark.parametrize("size", [1e-99, 1.0, 1e99])
def test_others_are_multiplied_as_they_are(size):
    A = Products(size * np.eye(2))
    A.product(np.eye(2))
    assert A.factor == 1.0


def test_numbers_that_have_lost_digits_are_refused_and_zeros_are_not():
    with pytest.raises(DataError, match="the values of the matrix are 9e-291 at most"):
        Products(9e-291 * np.eye(2)).product(np.eye(2))
    A = Products(np.zeros((2, 2)))
    assert not A.product(np.eye(2)).any()
    assert A.factor == 1.0


def test_only_a_matrix_that_can_be_is_worked_in():
    A = np.eye(3)
    locked = A.copy()
    locked.flags.writeable = False
    for given, itself in ((A, True), (locked, False), (np.ones((3, 4))[:, 1:], False), (A.astype(np.float32), False)):
        D, same = Products(given).dense(overwrite=True)
        assert same == itself
        assert (D is given) == itself
        assert (D.dtype, D.flags.c_contiguous) == (np.float64, True)
    D, same = Products(A).dense()
    assert not same
    assert D is not A
    D, same = Products(aslinearoperator(np.diag([1.0, 2.0]))).dense(overwrite=True)
    assert not same
    assert D.tolist() == [[1.0, 0.0], [0.0, 2.0]]


def test_finite_values_whose_sum_is_not_are_finite():
    assert is_finite(np.full(3, 1e308))
    assert not is_finite(np.array([np.inf, -np.inf]))
    assert not is_finite(np.array([1.0, np.nan]))
    with pytest.raises(NotFiniteError, match="a product"):
        Products(np.full((2, 2), np.nan), check=False).product(np.eye(2))


def test_residuals_norms_and_signs():
    assert relative_residual(np.array([[3.0, 0.0], [4.0, 1.0]]), np.array([-2.0, 1.0])) == 2.5
    assert relative_residual(np.ones((2, 1)), np.zeros(1)) == 0.0
    assert relative_residual(np.empty((2, 0)), np.empty(0)) == 0.0
    assert largest_norm(np.array([[3.0, 0.0], [4.0, 1.0]])) == 5.0
    assert largest_norm(np.empty((2, 0))) == 0.0
    assert peak_signs(np.empty((0, 2))).tolist() == [1.0, 1.0]
    assert peak_signs(np.zeros((3, 1))).tolist() == [1.0]


@pytest.mark.parametrize("ratio", [1.0, 1e-3, 1e-5, 1e-8, 1e-13])
def test_orthonormal_columns_whatever_the_condition(ratio):
    W = np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 1.0, 1.0, ratio]
    W[:, 3] += W[:, 0]
    Q, R = qr(np.asfortranarray(W))
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(Q @ R, W, atol=1e-13)
    assert not np.tril(R, -1).any()


# which method ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "k", "many"),
    [((500, 900), 1, True), ((501, 900), 50, False), ((501, 900), 51, True), ((900, 501), 51, True)],
)
def test_lapack_is_for_small_matrices_and_for_many_pairs(shape, k, many):
    assert partial.many_for_iterations(shape, k) == many


@pytest.mark.parametrize(
    ("n", "k", "room", "method"),
    [(500, 1, True, "dense"), (501, 1, True, "krylov"), (500, 1, False, "krylov"), (600, 150, True, "krylov"),
     (600, 151, True, "dense")],
)  # fmt: skip
def test_operators_become_arrays_where_they_are_small_or_many_pairs_are_wanted(n, k, room, method):
    A = Products(aslinearoperator(np.zeros((n, n))))
    assert partial._choose(A, "auto", k, room)[0] == method
    assert partial._choose(A, "arpack", k, room) == ("arpack", "")


@pytest.mark.parametrize(("shape", "most"), [((300, 700), 20), ((500, 700), 25), ((9000, 9000), 299)])
def test_krylov_gives_up_where_lapack_would_have_been_faster(shape, most):
    class Held:
        held = True

    A = Held()
    A.shape = shape
    how = settings(most=300)
    assert partial._worthwhile(A, "auto", how, True).max_iter == most
    assert partial._worthwhile(A, "krylov", how, True) is how
    assert partial._worthwhile(A, "auto", how, False) is how
    A.held = False
    assert partial._worthwhile(A, "auto", how, True) is how


@pytest.mark.parametrize(
    ("method", "dtype", "tol", "goal"),
    [
        ("krylov", np.float64, None, 1e-12),
        ("lobpcg", np.float64, None, 1e-9),
        ("krylov", np.float32, None, 20 * np.finfo(np.float32).eps),
        ("krylov", np.float64, 1e-3, 1e-3),
        ("krylov", np.float64, 1e-17, 4 * EPS),
        ("krylov", np.float32, 1e-12, 4 * np.finfo(np.float32).eps),
    ],
)
def test_tolerances_are_no_less_than_rounding(method, dtype, tol, goal):
    A = Products(np.eye(8, 5, dtype=dtype))
    how, fixed = partial._settings(A, 2, method, tol, None, 0, partial.Hints())
    assert how.tol == pytest.approx(goal)
    assert how.max_iter == 300
    assert fixed is None
    assert how.asymmetry == (1e-8 if dtype is np.float64 else 1e-4)
    assert partial._settings(A, 2, "arpack", tol, None, 0, partial.Hints())[0].max_iter == 80
    assert partial._settings(A, 2, method, tol, 7, 0, partial.Hints())[0].max_iter == 7


@pytest.mark.parametrize(("tol", "most", "fixed"), [(None, None, 7), (None, 3, 3), (1e-3, 3, None), (1e-3, None, None)])
def test_without_a_tolerance_passes_are_counted(tol, most, fixed):
    assert partial._settings(Products(np.eye(5)), 2, "randomized", tol, most, 0, partial.Hints())[1] == fixed


def test_names_of_modules_are_those_that_tests_patch():
    """Else what is patched above would change nothing."""
    assert partial.block_lanczos is lanczos.block_lanczos
    assert arpack.Products is products.Products
    with kr.config_context(memory="1GB"):
        assert partial._choose(Products(np.eye(3)), "auto", 1, True)[0] == "dense"
