"""Poles: which is the nearest, from where on γ is at one, and which γ is proposed instead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from kernreg.errors import ParameterError
from kernreg.linalg import centre
from kernreg.linalg.exact import block_solve
from kernreg.linalg.exact.poles import is_pole, nearest, pole_error, safe_gamma
from kernreg.linalg.exact.rounding import matrix_error, residual_errors

EPS = np.finfo(np.float64).eps


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_the_nearest_pole_is_that_of_a_search(count):
    rng = np.random.default_rng(count)
    poles, kappa = rng.normal(size=count), np.append(rng.normal(size=50) * 2, [-9.0, 9.0])
    kappa = np.append(kappa, poles)
    expected = [min(poles, key=lambda pole: abs(pole - k)) for k in kappa]
    assert nearest(kappa, poles).tolist() == expected
    assert nearest(np.array([1.0]), np.array([2.0, 0.0])).tolist() == [0.0]  # of equal distances the smaller


@pytest.mark.parametrize("kappa", [1e-3, 1.0, 50.0])
def test_within_a_billionth_of_it_gamma_is_at_a_pole(kappa):
    steps = np.array([-1.1e-9, -0.9e-9, 0.0, 0.9e-9, 1.1e-9])
    at_pole = [is_pole(kappa, np.array([kappa * (1 + step), -3.0]), 0.0)[0] for step in steps]
    assert at_pole == [False, True, True, True, False]
    assert is_pole(np.array([kappa, 7 * kappa]), np.array([7 * kappa]), 0.0).tolist() == [False, True]
    assert is_pole([kappa, kappa], np.empty(0), 1.0).tolist() == [False, False]


def test_a_distance_below_rounding_errors_is_none():
    poles, scale = np.array([-1e-17, 2.0, 3.0, 4.0]), 4.0
    limit = 4.0 * 2.0 * EPS * scale  # 4 √4 ε times the scale
    assert is_pole(0.9 * limit, poles, scale).tolist() == [True]
    assert is_pole(1.1 * limit, poles, scale).tolist() == [False]


def is_safe(gamma, poles, gap):
    scale = np.abs(poles).max()
    distance = np.abs(1.0 / gamma - poles).min()
    return distance >= gap / gamma and distance >= 1e4 * 4.0 * np.sqrt(len(poles)) * EPS * scale


@pytest.mark.parametrize("seed", range(5))
def test_a_gamma_that_is_proposed_is_safe_and_near(seed):
    rng = np.random.default_rng(seed)
    poles = rng.uniform(0.1, 10.0, 6)
    for pole in poles:
        found = safe_gamma(1.0 / pole, poles)
        assert is_safe(found, poles, 0.005)
        grid = np.exp(np.linspace(-np.log(4), np.log(4), 2001)) / pole
        best = min((g for g in grid if is_safe(g, poles, 0.01)), key=lambda g: abs(np.log(g * pole)))
        assert abs(np.log(found * pole)) <= abs(np.log(best * pole)) + 0.01


def test_a_gamma_that_is_safe_already_is_proposed_in_three_digits():
    assert safe_gamma(0.123456, np.array([100.0])) == 0.123
    assert safe_gamma(0.123456, np.zeros(3)) == 0.123456  # there is no pole
    assert safe_gamma(0.123456, np.empty(0)) == 0.123456


def test_where_nothing_near_is_safe_one_above_every_pole_is_proposed():
    crowd = np.exp(np.linspace(np.log(0.05), np.log(20.0), 2000))  # a pole every third of a percent
    found = safe_gamma(1.0, crowd)
    assert 1.0 / found > crowd.max()
    assert is_safe(found, crowd, 0.005)
    assert found >= 0.5 / crowd.max() * 0.99  # not further than needed
    for gamma in (1e-3, 1e-1):
        assert is_safe(safe_gamma(gamma, crowd), crowd, 0.005)


def test_three_digits_that_meet_a_pole_are_not_proposed():
    poles = 1.0 / np.array([0.123, 0.1255])
    found = safe_gamma(0.123, poles)
    assert is_safe(found, poles, 0.005)


@pytest.mark.parametrize(("what", "said"), [("singular", "1/gamma = 2 cannot"), ("eigen", "-1/gamma = -2 cannot")])
def test_the_error_names_the_side_and_the_value(what, said):
    error = pole_error(0.5, np.array([2.0, 7.0]), what, " More.", safe=0.25)
    assert isinstance(error, ParameterError)
    assert said in str(error)
    assert ("singular value 2 of" in str(error)) == (what == "singular")
    assert ("eigenvalue -2 of" in str(error)) == (what == "eigen")
    assert "gamma=0.25, or" in str(error)
    assert str(error).endswith("leave-one-out. More.")
    assert "gamma=0.49" in str(pole_error(0.5, np.array([2.0, 7.0]), what, ""))


def problem(n=8):
    rng = np.random.default_rng(1)
    kernel = centre(rng.normal(size=(n, n)))
    return kernel, kernel.targets(rng.normal(size=(n, 2)))


@pytest.mark.parametrize(("name", "value"), [("SUSPICIOUS_GAP", np.inf), ("EPS", 1.0)])
def test_a_factor_that_is_suspicious_in_one_way_is_not_believed(monkeypatch, name, value):
    kernel, T = problem()
    assert block_solve.solve_block(kernel, T, 0.3) is not None
    monkeypatch.setattr(block_solve, name, value)
    assert block_solve.solve_block(kernel, T, 0.3) is None


def test_safe_gammas_are_tried_the_nearest_first(monkeypatch):
    kernel, _ = problem()
    values = np.linalg.svd(kernel.matrix, compute_uv=False)
    gamma, tried, accepted = 1.0 / values[2], [], []
    original = block_solve.BlockFactor

    class Factor(original):
        def __init__(self, kernel, at, frobenius):
            super().__init__(kernel, at, frobenius)
            if abs(at / gamma - 1.0) > 1e-5:
                tried.append(at)
                self.gap = 1.0 if len(tried) == len(accepted) else 0.0

    monkeypatch.setattr(block_solve, "BlockFactor", Factor)
    with pytest.raises(ParameterError, match=f"gamma={float(f'{0.5 / np.linalg.norm(values):.3g}'):g}, or"):
        block_solve.refuse_pole(kernel, gamma)
    expected = [0.99, 1.01, 0.95, 1.05, 0.9, 1.1, 0.8, 1.25, 0.5]
    np.testing.assert_allclose(np.array(tried) / gamma, expected, rtol=6e-3)
    assert all(float(f"{at:.3g}") == at for at in tried)
    third = tried[2]
    del tried[:]
    accepted.extend(range(3))
    with pytest.raises(ParameterError, match=f"Use for example gamma={third:g}, or"):
        block_solve.refuse_pole(kernel, gamma)
    assert len(tried) == 3


def test_away_from_poles_and_above_all_nothing_is_refused():
    kernel, _ = problem()
    values = np.linalg.svd(kernel.matrix, compute_uv=False)
    for kappa in (np.sqrt(values[2] * values[3]), 1.01 * np.linalg.norm(values), 1e-9 * values[0]):
        block_solve.refuse_pole(kernel, 1.0 / kappa)
    with pytest.raises(ParameterError, match="singular value"):
        block_solve.refuse_pole(kernel, 1.0 / values[0])


def test_errors_of_the_matrix_and_of_residuals_are_those_written_down():
    rng = np.random.default_rng(0)
    kernel = centre(rng.normal(size=(9, 9)) + np.arange(9.0))
    means = max(np.linalg.norm(kernel.left), np.linalg.norm(kernel.right))
    assert matrix_error(kernel, 5.0) == pytest.approx(EPS * (5.0 + 2.0 * means / 3.0))
    turned = centre((rng.normal(size=(9, 9)) + np.arange(9.0)).T.copy())
    means = max(np.linalg.norm(turned.left), np.linalg.norm(turned.right))
    assert matrix_error(turned, 5.0) == pytest.approx(EPS * (5.0 + 2.0 * means / 3.0))
    inverse, rows = np.full((1, 2, 1), 3.0), np.full((1, 2, 1), 4.0)
    solution, residuals = np.full((1, 1, 1), 5.0), np.array([[[7.0], [8.0]]])
    found = residual_errors(0.1, inverse, rows, solution, residuals)
    np.testing.assert_allclose(found.ravel(), [0.1 * 3 * (2 * 5 + 4 * 7), 0.1 * 3 * (2 * 5 + 4 * 8)])


@pytest.mark.parametrize("gamma", [1e300, 1.7e308])
def test_a_safe_gamma_near_the_largest_number_is_found_without_a_warning(gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        safe = safe_gamma(gamma, np.array([1e-17, -3.0]))
    assert 0.0 < safe < 1e14
