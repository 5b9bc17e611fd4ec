"""Preconditioners against the dense inverses that they stand for, and how many landmarks they take."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.kernels.builtin import rbf, sne, tl1
from kernreg.linalg.krylov import preconditioners
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.cg_and_minres import IterationSettings
from kernreg.linalg.krylov.preconditioners import (
    BlockPreconditioner,
    SymmetricPreconditioner,
    _nystrom,
    _of_picture,
    block_preconditioner,
    default_rank,
    symmetric_preconditioner,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
WEIGHTS = rng.uniform(0.3, 2.0, 30)


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def weights(request):
    return WEIGHTS if request.param else None


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Rows are handled in several pieces."""
    monkeypatch.setattr(preconditioners, "_ROWS", 7)


def centring(weights, n=30):
    """P S as a matrix."""
    root = np.ones(n) if weights is None else np.sqrt(weights)
    border = root / np.linalg.norm(root)
    return (np.eye(n) - np.outer(border, border)) * root


def absolute(M):
    """|M| of a symmetric matrix, eigenvalues below a hundredth of κ raised to that."""
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.abs(values)) @ vectors.T


def test_a_block_preconditioner_is_the_inverse_of_the_absolute_value():
    left, right = (np.linalg.qr(rng.normal(size=(8, 3)))[0] for _ in range(2))
    sigma, kappa, V = np.array([3.0, 1.0, 0.2]), 0.7, rng.normal(size=(16, 2))
    K = (left * sigma) @ right.T
    block = np.block([[kappa * np.eye(8), K], [K.T, kappa * np.eye(8)]])
    found = BlockPreconditioner(left, sigma, right, kappa)
    np.testing.assert_allclose(found(V), np.linalg.solve(absolute(block), V), rtol=1e-10, atol=1e-12)
    assert (found.rank, found.trace_error) == (3, None)


@pytest.mark.parametrize("near", [1.0, 1.001, 0.999, 1.009])
def test_what_is_nearer_to_singular_than_a_hundredth_is_not_believed(near):
    u, v, kappa = np.eye(4)[:, :1], np.eye(4)[:, 1:2], 2.0
    V = np.concatenate([u, -v])  # the eigenvector of κ - σ
    np.testing.assert_allclose(BlockPreconditioner(u, np.array([near * kappa]), v, kappa)(V), V / 0.02)
    found = SymmetricPreconditioner(u, np.array([-near * kappa]), kappa)
    np.testing.assert_allclose(found(u), u / 0.02)
    assert (found.rank, found.rest, found.trace_error) == (1, 0.0, None)


def test_no_landmarks_leave_a_multiple_of_the_identity():
    kernel, none = rbf(sigma=2.0), IterationSettings(rank=0)
    centred, V = CentredOperator(kernel.operator(X)), rng.normal(size=(60, 2))
    for definite in (True, False):
        found = symmetric_preconditioner(kernel, X, centred, 0.5, none, definite=definite)
        assert found.rank == 0
        np.testing.assert_allclose(found(V[:30]), 2.0 * V[:30])
    found = block_preconditioner(kernel, X, None, centred, 0.5, none)
    assert found.rank == 0
    np.testing.assert_allclose(found(V), 2.0 * V)


@pytest.mark.parametrize("landmarks", [[0, 3, 7, 8, 20], "uniform"])
def test_of_a_definite_kernel_it_is_that_of_nystrom(weights, landmarks):
    kernel, kappa = rbf(sigma=1.0), 0.3
    settings = IterationSettings(rank=5, landmarks=landmarks, random_state=4)
    centred = CentredOperator(kernel.operator(X), weights)
    found = symmetric_preconditioner(kernel, X, centred, kappa, settings, definite=True)
    chosen = np.sort(np.random.default_rng(4).choice(30, 5, replace=False)) if landmarks == "uniform" else landmarks
    K, PS = kernel(X), centring(weights)
    picture = PS @ K[:, chosen] @ np.linalg.inv(K[np.ix_(chosen, chosen)]) @ K[chosen] @ PS.T
    values, vectors = (part[..., -5:] for part in np.linalg.eigh(picture))
    dense = picture + kappa * np.eye(30) + values[0] * (np.eye(30) - vectors @ vectors.T)
    V = rng.normal(size=(30, 2))
    assert found.rank == 5
    np.testing.assert_allclose(found(V), np.linalg.solve(dense, V), rtol=1e-8)


def test_of_any_other_symmetric_kernel_it_is_projected_on_landmarks(weights):
    kernel, kappa, chosen = tl1(rho=2.0), 0.3, [1, 4, 9, 25]
    settings = IterationSettings(rank=4, landmarks=chosen)
    centred = CentredOperator(kernel.operator(X), weights)
    found = symmetric_preconditioner(kernel, X, centred, kappa, settings, definite=False)
    K, PS = kernel(X), centring(weights)
    span = np.linalg.qr(PS @ K[:, chosen])[0]
    picture = span @ span.T @ PS @ K @ PS.T @ span @ span.T
    V = rng.normal(size=(30, 2))
    np.testing.assert_allclose(found(V), np.linalg.solve(absolute(picture + kappa * np.eye(30)), V), rtol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
def test_of_an_asymmetric_kernel_rows_and_columns_are_projected(weights, sparse):
    kernel, kappa, chosen = sne(sigma=1.0), 0.3, [1, 4, 9, 25]
    samples = sp.csr_array(X) if sparse else X
    centred = CentredOperator(kernel.operator(samples), weights)
    settings = IterationSettings(rank=4, landmarks=chosen)
    found = block_preconditioner(kernel, samples, None, centred, kappa, settings)
    K, PS = kernel(X), centring(weights)
    left, right = np.linalg.qr(PS @ K[:, chosen])[0], np.linalg.qr(PS @ K[chosen].T)[0]
    picture = left @ left.T @ PS @ K @ PS.T @ right @ right.T
    block = np.block([[kappa * np.eye(30), picture], [picture.T, kappa * np.eye(30)]])
    V = rng.normal(size=(60, 2))
    np.testing.assert_allclose(found(V), np.linalg.solve(absolute(block), V), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("m", "form", "definite", "rank"),
    [
        (10_000, "blocks", True, 400),
        (10_000, "blocks", False, 100),
        (10_000, "separable", True, 50),
        (100, "blocks", True, 50),
        (100, "blocks", False, 50),
        (30, "blocks", True, 30),
        (1, "separable", False, 1),
    ],
)
def test_how_many_landmarks_pay_off(m, form, definite, rank):
    centred = SimpleNamespace(size=m, form=form)
    with kr.config_context(memory="1GB"):
        assert default_rank(centred, definite) == rank
    with kr.config_context(memory=4 * 8 * m * 7):
        assert default_rank(centred, definite) == min(rank, 7)
    with kr.config_context(memory=1):
        assert default_rank(centred, definite) == 1


@pytest.mark.parametrize(
    ("values", "kept", "rest"),
    [
        ([4.0, 2.0, 1.0], 3, 1.0),
        ([4.0, 2.0, 1e-9], 2, 2.0),  # one that centring has taken
        ([4.0, 1e-9, 1e-9], 1, 0.0),
        ([1e-9], 0, 0.0),
        ([], 0, 0.0),
    ],
)
def test_a_picture_leaves_out_as_much_as_its_smallest_value(values, kept, rest):
    found = _of_picture(np.eye(5)[:, : len(values)], np.array(values), 0.5, 0.125)
    assert (found.rank, found.rest, found.kappa, found.trace_error) == (kept, rest, 0.5, 0.125)
    assert found.vectors.shape == (5, kept)
    assert found.values.tolist() == values[:kept]


@pytest.mark.parametrize(("times", "kept"), [(0.99, 0), (1.01, 1)])
def test_a_value_counts_from_a_thousandth_of_kappa_on(times, kept):
    assert _of_picture(np.eye(3)[:, :1], np.array([times * 2e-3]), 2.0).rank == kept


def test_more_landmarks_than_samples_are_all_samples():
    kernel = rbf(sigma=1.0)
    centred = CentredOperator(kernel.operator(X))
    for landmarks in ("uniform", "rpcholesky"):
        settings = IterationSettings(rank=99, landmarks=landmarks)
        assert symmetric_preconditioner(kernel, X, centred, 1e-9, settings, definite=True).rank in (29, 30)


def test_nystrom_without_anything_and_with_dependent_landmarks():
    columns = rng.normal(size=(12, 3))
    vectors, values = _nystrom(columns.copy(), np.zeros((3, 3)))
    assert vectors.shape == (12, 0)
    assert values.shape == (0,)
    doubled = columns[:, [0, 1, 1]]
    W = np.array([[2.0, 0.5, 0.5], [0.5, 1.0, 1.0], [0.5, 1.0, 1.0]])
    vectors, values = _nystrom(doubled.copy(), W)
    expected = columns[:, :2] @ np.linalg.inv(W[:2, :2]) @ columns[:, :2].T
    np.testing.assert_allclose((vectors * values) @ vectors.T, expected, rtol=1e-9, atol=1e-12)
    assert len(values) == 2
