"""Smoothers: matrices that take targets to the solution of the textbook system."""

from __future__ import annotations

import numpy as np
import pytest
from textbook import textbook_block, textbook_symmetric

from kernreg.errors import ParameterError
from kernreg.linalg.exact.smoothers import block_smoother, symmetric_smoother

GAMMA = 0.7


@pytest.fixture(params=[False, True], ids=["unweighted", "weighted"])
def problem(request):
    rng = np.random.default_rng(3)
    weights = 0.2 + rng.random(12) if request.param else None
    return rng.normal(size=(12, 12)), rng.normal(size=(12, 2)), weights


def solution(smoother, Y):
    """Coefficients and intercept, the same targets in every equation."""
    return sum(C @ Y for C in smoother.coefficients.values()), sum(w @ Y for w in smoother.intercepts.values())


@pytest.mark.parametrize("kind", ["definite", "far from singular", "indefinite"])
def test_the_symmetric_smoother_gives_the_textbook_solution(problem, kind):
    K, Y, weights = problem
    S = {"definite": K @ K.T, "far from singular": K @ K.T + 20.0 * np.eye(12), "indefinite": K + K.T}[kind]
    system = symmetric_smoother(S.copy(), weights, GAMMA)
    a, b = solution(system.smoothers["decision"], Y)
    expected, intercept = textbook_symmetric(S, Y, GAMMA, weights)
    np.testing.assert_allclose(a, expected, atol=1e-10)
    np.testing.assert_allclose(b, intercept, atol=1e-10)
    np.testing.assert_array_equal(
        system.inverse[:, 0, 0], system.smoothers["decision"].coefficients["decision"].diagonal()
    )


def test_the_block_smoother_gives_the_textbook_solution_of_both_views(problem):
    K, Y, weights = problem
    smoothers = block_smoother(K.copy(), weights, GAMMA).smoothers
    a, c, b1, b2 = textbook_block(K, Y, GAMMA, weights)
    for view, coefficients, intercept in (("source", c, b1), ("target", a, b2)):
        found, b = solution(smoothers[view], Y)
        np.testing.assert_allclose(found, coefficients, atol=1e-9)
        np.testing.assert_allclose(b, intercept, atol=1e-9)


def test_a_smoother_at_a_pole_is_refused():
    K = np.random.default_rng(0).normal(size=(8, 8))
    J = np.eye(8) - 1 / 8
    with pytest.raises(ParameterError, match="pole"):
        block_smoother(K.copy(), None, 1.0 / np.linalg.svd(J @ K @ J, compute_uv=False)[2])
    lowest = np.linalg.eigvalsh(J @ (K + K.T) @ J)[0]
    with pytest.raises(ParameterError, match="pole"):
        symmetric_smoother(K + K.T, None, -1.0 / lowest)
