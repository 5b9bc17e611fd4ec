"""The eliminated block system of AsK-LS, factorised: its numbers against dense ones, and when refinement ends."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.linalg import centre, solve_block
from kernreg.linalg.exact import block_solve
from kernreg.linalg.exact.block_solve import BlockFactor, _refine, _reported

EPS = np.finfo(np.float64).eps


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def kernel(request):
    rng = np.random.default_rng(0)
    return centre(rng.normal(size=(9, 9)), 0.2 + rng.random(9) if request.param else None)


def dense(kernel, gamma, raised):
    """I/γ - γ K̃ᵀK̃, the border's eigenvalue lowered by γτ² where it is raised."""
    K, size = kernel.matrix, kernel.size
    tau2 = np.linalg.norm(K) ** 2 / size + 2.0 / gamma**2
    M = np.eye(size) / gamma - gamma * K.T @ K
    return M - gamma * tau2 * np.outer(kernel.border, kernel.border) if raised else M


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize(("share", "method"), [(1.5, "cholesky"), (0.3, "lu"), (0.05, "lu")])
@pytest.mark.parametrize(("dtype", "digits"), [(np.float64, 1e-11), (np.float32, 1e-3)])
def test_a_factor_is_that_of_the_dense_matrix(kernel, columns, share, method, dtype, digits):
    frobenius = float(np.linalg.norm(kernel.matrix))
    gamma = 1.0 / (share * frobenius)
    factor = BlockFactor(kernel, gamma, frobenius, dtype)
    M = dense(kernel, gamma, raised=method == "lu")
    r = np.random.default_rng(1).normal(size=(9, columns))
    expected = np.linalg.solve(M, r)
    assert factor.method == method
    np.testing.assert_allclose(factor.solve(r), expected, rtol=0, atol=digits * np.abs(expected).max())
    assert factor.solve(np.zeros((9, columns))).tolist() == np.zeros((9, columns)).tolist()
    norm = np.linalg.norm(M, 1)
    assert 1.0 / factor.rcond == pytest.approx(norm * np.linalg.norm(np.linalg.inv(M), 1), rel=max(digits, 1e-9))
    assert factor.gap == pytest.approx(gamma / np.linalg.norm(np.linalg.inv(M), 1), rel=max(digits, 1e-9))


@pytest.mark.parametrize(
    ("change", "method"), [(1.0 + 1e-9, "lu"), (1.0, "lu"), (1.0 - 1e-9, "lu"), (1.01, "cholesky")]
)
def test_cholesky_is_for_gamma_at_which_no_singular_value_is_near(change, method):
    v = np.array([1.0, -2.0, 1.0, 0.0])
    kernel = centre(np.outer(v, v[::-1]))
    frobenius = float(np.linalg.norm(kernel.matrix))  # which is the one singular value
    assert BlockFactor(kernel, 1.0 / (change * frobenius), frobenius).method == method


def test_a_matrix_that_is_singular_has_no_factor():
    kernel = centre(np.zeros((4, 4)))
    assert BlockFactor(kernel, 2.0, 0.0).rcond == pytest.approx(1.0)
    wrong = BlockFactor(centre(np.diag([9.0, 0.0, -3.0, 1.0])), 1.0, 0.1)  # as if it were definite
    assert (wrong.method, wrong.rcond, wrong.gap) == ("cholesky", 0.0, 0.0)


@pytest.mark.parametrize("share", [1.5, 0.3])
def test_a_good_factor_needs_hardly_any_refinement(kernel, share):
    gamma = 1.0 / (share * np.linalg.norm(kernel.matrix))
    T = kernel.targets(np.random.default_rng(2).normal(size=(9, 2)))
    A, C, report = solve_block(kernel, T, gamma)
    assert report.refinements <= 1
    np.testing.assert_allclose(A / gamma + kernel.matrix @ C, T, atol=1e-13)
    np.testing.assert_allclose(C / gamma + kernel.matrix.T @ A, T, atol=1e-13)
    np.testing.assert_allclose(kernel.border @ A, 0.0, atol=1e-14)
    assert (report.size, report.gamma) == (9, gamma)
    assert report.condition == 1.0 / BlockFactor(kernel, gamma, float(np.linalg.norm(kernel.matrix))).rcond


class Inexact:
    """A factor that leaves a share of each error, and counts what it was asked."""

    method, rcond = "lu", 0.25

    def __init__(self, kernel, gamma, left):
        self.M, self.left, self.asked = dense(kernel, gamma, raised=False), left, 0

    def solve(self, r):
        self.asked += 1
        return (1.0 - self.left) * np.linalg.solve(self.M, r)


@pytest.mark.parametrize(
    ("left", "most", "steps", "done"),
    [(0.1, 3, 3, False), (0.1, 0, 0, False), (0.1, 40, None, True), (0.45, 3, 3, False), (0.55, 3, 1, False)],
)
def test_refinement_goes_on_while_it_halves_the_residual(kernel, left, most, steps, done):
    gamma = 1.0 / (2.0 * np.linalg.norm(kernel.matrix))
    frobenius = float(np.linalg.norm(kernel.matrix))
    T = kernel.targets(np.random.default_rng(2).normal(size=(9, 1)))
    factor = Inexact(kernel, gamma, left)
    a, c, residual, taken, ended = _refine(kernel, T, gamma, frobenius, factor, most)
    assert ended == done
    assert factor.asked == taken + 1
    second = T - c / gamma - kernel.matrix.T @ a
    assert residual == pytest.approx(np.linalg.norm(second) / np.linalg.norm(T), rel=1e-6, abs=1e-16)
    np.testing.assert_allclose(a, gamma * (T - kernel.matrix @ c), atol=1e-14)
    if done:
        assert 12 <= taken <= 17  # as many digits as there are
        assert np.linalg.norm(second) <= EPS * (1.0 / gamma + frobenius) * (np.linalg.norm(a) + np.linalg.norm(c))
    else:
        assert taken == steps
        kept = 0 if left > 0.5 else steps  # the step that did not help is taken back
        first = np.linalg.norm(factor.M @ np.linalg.solve(factor.M, T - gamma * kernel.adjoint(T)))
        assert residual == pytest.approx(left ** (kept + 1) * first / np.linalg.norm(T), rel=1e-6)


def test_a_solution_is_reported_with_the_larger_residual_or_not_at_all(kernel):
    gamma = 0.02
    T = kernel.targets(np.random.default_rng(2).normal(size=(9, 1)))
    A, C, _ = solve_block(kernel, T, gamma)
    factor = Inexact(kernel, gamma, 0.0)
    a, c, report = _reported(kernel, T, gamma, A + 3.0 * kernel.border[:, None], C, 1e-10, factor, 2)
    np.testing.assert_allclose(a, A, atol=1e-14)  # nothing along the border
    assert c is C
    assert (report.residual, report.method, report.condition, report.refinements) == (1e-10, "lu", 4.0, 2)
    rest = gamma * 4e-10 * np.linalg.norm(T, axis=0)
    off = kernel.project(np.eye(9)[:, :1])
    off = A + rest * off / np.linalg.norm(off)
    assert _reported(kernel, T, gamma, off, C, 1e-10, factor, 2)[2].residual == pytest.approx(4e-10, rel=1e-4)
    assert _reported(kernel, T, gamma, A, C, 2e-9, factor, 2) is None
    assert _reported(kernel, T, gamma, A + 1e-3 * off, C, 0.0, factor, 2) is None
    assert _reported(kernel, T, gamma, A * np.nan, C, 0.0, factor, 2) is None


@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_single_precision_is_left_where_a_size_a_gamma_or_both_are_out_of_its_range(monkeypatch, scale):
    rng = np.random.default_rng(5)
    kernel = centre(scale * rng.normal(size=(8, 8)))
    T, frobenius = kernel.targets(rng.normal(size=(8, 1))), float(np.linalg.norm(kernel.matrix))
    gamma, made, original = 0.2 / frobenius, [], BlockFactor
    monkeypatch.setattr(block_solve, "_SINGLE_FROM", 8)
    monkeypatch.setattr(block_solve, "BlockFactor", lambda *args: made.append(args[3:]) or original(*args))

    def first(low, high):
        del made[:]
        monkeypatch.setattr(block_solve, "_SINGLE_RANGE", (low, high))
        assert solve_block(kernel, T, gamma) is not None
        return "single" if made[0] == (np.float32,) else "double"

    numbers = frobenius, gamma, gamma * frobenius
    low, high = 0.9 * min(numbers), 1.1 * max(numbers)
    assert first(low, high) == "single"
    assert first(1.2 * low, high) == "double"
    assert first(low, 0.9 * high) == "double"
    monkeypatch.setattr(block_solve, "_SINGLE_FROM", 9)
    assert first(low, high) == "double"


def test_squares_beyond_the_range_of_numbers_are_left_to_singular_values():
    rng = np.random.default_rng(5)
    kernel = centre(rng.normal(size=(6, 6)))
    T, frobenius = kernel.targets(rng.normal(size=(6, 1))), float(np.linalg.norm(kernel.matrix))
    assert solve_block(kernel, T, 1.01e100) is None
    assert solve_block(centre(1e90 * kernel.matrix), T, 1.01e10 / frobenius) is None
    assert solve_block(centre(1e-90 * kernel.matrix), T, 1e89 / frobenius) is not None
