"""Iterates of conjugate gradients and MINRES are the best of their Krylov spaces; and when a checked iteration ends."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.linalg.krylov import cg_and_minres
from kernreg.linalg.krylov.cg_and_minres import (
    CentredSystem,
    KrylovResult,
    conjugate_gradients,
    minimal_residuals,
    rounding,
    solve_checked,
)

N = 24
rng = np.random.default_rng(3)
Q, _ = np.linalg.qr(rng.normal(size=(N, N)))
DEFINITE = (Q * np.geomspace(0.5, 50.0, N)) @ Q.T
INDEFINITE = (Q * np.where(np.arange(N) % 3, 1.0, -1.0) * np.geomspace(0.5, 50.0, N)) @ Q.T
WEIGHTS = rng.uniform(0.3, 3.0, N)  # of a preconditioner
B = rng.normal(size=(N, 2))
UNREACHABLE = np.full(2, 1e-30)


def krylov_space(A, b, steps):
    """An orthonormal basis of the span of (PA)ʲ P b, P the preconditioner."""
    basis = np.zeros((N, 0))
    v = WEIGHTS * b
    for _ in range(steps):
        for _ in range(2):
            v = v - basis @ (basis.T @ v)
        basis = np.column_stack([basis, v / np.linalg.norm(v)])
        v = WEIGHTS * (A @ basis[:, -1])
    return basis


def best(method, A, b, steps):
    """The point of the space with the smallest error in the norm of A, or residual in that of P."""
    V = krylov_space(A, b, steps)
    if method is conjugate_gradients:
        return V @ np.linalg.solve(V.T @ A @ V, V.T @ b)
    root = np.sqrt(WEIGHTS)
    return V @ np.linalg.lstsq(root[:, None] * (A @ V), root * b, rcond=None)[0]


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 9])
@pytest.mark.parametrize(
    ("method", "A"), [(conjugate_gradients, DEFINITE), (minimal_residuals, DEFINITE), (minimal_residuals, INDEFINITE)]
)
def test_iterates_are_the_best_of_their_krylov_space(method, A, steps):
    seen = []
    bounds = np.array([1e-9, 4e-9])
    found = method(
        lambda V: A @ V, B, lambda V: WEIGHTS[:, None] * V, bounds, steps, lambda i, ratio: seen.append((i, ratio))
    )
    for j in range(2):
        np.testing.assert_allclose(found.solution[:, j], best(method, A, B[:, j], steps), rtol=1e-8, atol=1e-10)
    assert (found.iterations, found.indefinite) == (steps, False)
    assert [i for i, _ in seen] == list(range(1, steps + 1))
    norms = np.linalg.norm(B - A @ found.solution, axis=0)
    assert seen[-1][1] == pytest.approx((norms / bounds).max(), rel=1e-7)


@pytest.mark.parametrize("method", [conjugate_gradients, minimal_residuals])
def test_as_many_steps_as_there_are_different_eigenvalues_are_enough(method):
    values = np.repeat([1.0, 3.0, 7.0, 20.0], 6) * (1.0 if method is conjugate_gradients else np.tile([1, -1], 12))
    found = method(lambda V: values[:, None] * V, B, lambda V: V, np.full(2, 1e-10), 100)
    np.testing.assert_allclose(found.solution, B / values[:, None], rtol=1e-8)
    assert found.iterations == (4 if method is conjugate_gradients else 8)


@pytest.mark.parametrize("method", [conjugate_gradients, minimal_residuals])
def test_columns_end_one_after_another_and_what_ended_stays(method):
    """Columns of one, two and five eigenvectors: each has its answer after so many steps."""
    values = np.linspace(1.0, 8.0, N)
    columns = np.zeros((N, 4))
    for j, count in enumerate([5, 1, 0, 2]):
        columns[:count, j] = 1.0 + np.arange(count)
    widths = []

    def product(V):
        widths.append(V.shape[1])
        return values[:, None] * V

    found = method(product, columns, lambda V: V, np.full(4, 1e-9), 100)
    np.testing.assert_allclose(found.solution, columns / values[:, None], atol=1e-9)
    assert widths == [3, 2, 1, 1, 1]


@pytest.mark.parametrize("method", [conjugate_gradients, minimal_residuals])
def test_an_iteration_ends_when_it_is_watched_and_when_nothing_is_asked(method):
    def product(V):
        return DEFINITE @ V

    assert method(product, B, lambda V: V, UNREACHABLE, 50, lambda i, _: i == 3).iterations == 3
    idle = method(product, B, lambda V: V, np.linalg.norm(B, axis=0), 50)
    assert idle.iterations == 0
    assert not idle.solution.any()
    assert method(product, B, lambda V: V, UNREACHABLE, 0).iterations == 0


def test_a_direction_without_curvature_is_told_with_the_steps_before_it():
    A = np.diag([2.0, 1.0, 0.0, *np.ones(N - 3)])
    first = np.eye(N)[:, [2]]
    found = conjugate_gradients(lambda V: A @ V, first, lambda V: V, np.full(1, 1e-9), 9)
    assert (found.indefinite, found.iterations) == (True, 1)
    assert not found.solution.any()
    b = np.diag([1.0, -5.0, *np.zeros(N - 2)]).sum(axis=1, keepdims=True)
    A = np.diag([3.0, 1e-3, *np.ones(N - 2)]) - 0.5 * np.eye(N)[[1]].T @ np.eye(N)[[1]]
    A[1, 1] = 0.3
    A[0, 1] = A[1, 0] = 1.5  # the second direction has a curvature below zero
    found = conjugate_gradients(lambda V: A @ V, b, lambda V: V, np.full(1, 1e-9), 9)
    assert found.indefinite
    step = float(b[:, 0] @ b[:, 0]) / float(b[:, 0] @ A @ b[:, 0])
    np.testing.assert_allclose(found.solution, (found.iterations - 1) * step * b, atol=1e-12)


@pytest.mark.parametrize("multiple", [0.0, 2.0])
def test_an_exhausted_space_ends_minres(multiple):
    """After one step of a multiple of the identity there is nothing left to look at."""
    b = np.eye(N)[:, :1]
    found = minimal_residuals(lambda V: multiple * V, b, lambda V: V, np.full(1, 1e-30), 50)
    np.testing.assert_allclose(found.solution, b / multiple if multiple else 0.0 * b)
    assert found.iterations == 1


def system(A, b, claimed=None):
    """What is solved, whose products may be those of another matrix."""
    return CentredSystem((lambda V: (A if claimed is None else claimed) @ V), b, lambda V: b - A @ V, lambda V: V, 0.5)


def test_a_checked_iteration_counts_and_watches_over_several_starts(monkeypatch):
    """Each start leaves a tenth of what was there; the watch goes on counting."""
    starts = []

    def start(multiply, rest, precondition, bounds, max_iter, watch):
        starts.append((float(np.linalg.norm(rest)), float(bounds[0]), max_iter))
        watch(1, 7.0)
        watch(2, 3.0)
        return KrylovResult(0.9 * np.linalg.solve(DEFINITE, rest), 2)

    monkeypatch.setattr(cg_and_minres, "conjugate_gradients", start)
    seen, size = [], float(np.linalg.norm(B[:, 0]))
    bounds = np.array([2e-3 * size])
    found = solve_checked(
        "cg", system(DEFINITE, B[:, :1]), lambda V: V, bounds, 100, lambda *said: bool(seen.append(said))
    )
    assert [i for i, _ in seen] == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose([rest for rest, _, _ in starts], [size, 0.1 * size, 0.01 * size])
    np.testing.assert_allclose([bound for _, bound, _ in starts], 0.9 * bounds[0])
    assert [most for _, _, most in starts] == [100, 98, 96]
    assert (found.iterations, found.method, found.note, found.timed_out) == (6, "cg", "", False)
    np.testing.assert_allclose(found.rest, B[:, :1] - DEFINITE @ found.solution)
    np.testing.assert_allclose(np.linalg.norm(found.rest), 1e-3 * size, rtol=1e-9)
    del starts[:]
    assert solve_checked("cg", system(DEFINITE, B[:, :1]), lambda V: V, bounds, 4, None).iterations == 4
    assert len(starts) == 2
    stopped = solve_checked("cg", system(DEFINITE, B[:, :1]), lambda V: V, bounds, 100, lambda i, _: i >= 2)
    assert (stopped.iterations, stopped.timed_out) == (2, True)


@pytest.mark.parametrize(("left", "starts"), [(0.4, 5), (0.6, 1), (-3.0, 1)])
@pytest.mark.parametrize("method", ["cg", "minres"])
def test_a_start_that_does_not_halve_the_residual_is_the_last(monkeypatch, left, starts, method):
    """The first steps of conjugate gradients count whatever they leave; of MINRES what is worse is taken back."""
    done = []

    def start(multiply, rest, *_):
        done.append(1)
        return KrylovResult((1.0 - left) * np.linalg.solve(DEFINITE, rest), 1)

    monkeypatch.setattr(cg_and_minres, "conjugate_gradients", start)
    monkeypatch.setattr(cg_and_minres, "minimal_residuals", start)
    size = np.linalg.norm(B[:, 0])
    found = solve_checked(method, system(DEFINITE, B[:, :1]), lambda V: V, np.array([0.011 * size]), 100, None)
    assert len(done) == starts
    share = left**starts if abs(left) < 1.0 or method == "cg" else 1.0
    np.testing.assert_allclose(found.solution, (1.0 - share) * np.linalg.solve(DEFINITE, B[:, :1]), atol=1e-12)
    np.testing.assert_allclose(found.full, B[:, :1] - DEFINITE @ found.solution, atol=1e-12)
    np.testing.assert_allclose(found.rest, found.full if abs(share) != 1.0 else B[:, :1])


def test_an_indefinite_matrix_is_handed_to_minres_and_that_is_noted():
    found = solve_checked("cg", system(INDEFINITE, B), lambda V: V, np.full(2, 1e-9), 500, None)
    assert found.method == "minres"
    assert "MINRES took over" in found.note
    assert (np.linalg.norm(B - INDEFINITE @ found.solution, axis=0) <= 1e-9).all()


def test_columns_that_are_zero_ask_for_nothing():
    columns = np.column_stack([B[:, 0], np.zeros(N)])
    found = solve_checked(
        "cg", system(DEFINITE, columns), lambda V: V, 1e-8 * np.linalg.norm(columns, axis=0), 99, None
    )
    assert found.iterations <= N + 6
    assert not found.solution[:, 1].any()


def test_rounding_errors_grow_with_the_solution():
    V = np.array([[3.0, 0.0], [4.0, 2.0]])
    np.testing.assert_allclose(rounding(8.0, V), np.finfo(np.float64).eps * 8.0 * np.array([5.0, 2.0]))
