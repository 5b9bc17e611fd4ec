"""iksvm-dc: convex problems by a quadratic program, an objective that never rises, and one without a minimum told."""

from __future__ import annotations

import subprocess
import sys

import cvxopt
import numpy as np
import pytest
from kernreg_krein import IndefiniteDCSVC, UnboundedObjectiveWarning
from kernreg_krein.dc_program import DCProgram, Geometry
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernreg import make_kernel
from kernreg.errors import AsymmetryError, ParameterError

KERNEL = "tl1(rho=0.9)"


def iksvm_dc(K, y, C, rho, steps):
    """Return β and b after some steps; in each min ½ βᵀ(K + ρI)β - ρ β_lastᵀβ + C Σ ξ², a quadratic program."""
    cvxopt.solvers.options.update({"show_progress": False, "abstol": 1e-13, "reltol": 1e-13, "feastol": 1e-13})
    m = len(y)
    beta, b = np.zeros(m), 0.0
    for _ in range(steps):
        # Unknowns β, b, ξ.
        P = np.zeros((2 * m + 1, 2 * m + 1))
        P[:m, :m] = K + rho * np.eye(m)
        P[m + 1 :, m + 1 :] = 2.0 * C * np.eye(m)
        q = np.concatenate([-rho * beta, [0.0], np.zeros(m)])
        above = -np.hstack([y[:, None] * K, y[:, None], np.eye(m)])
        positive = np.hstack([np.zeros((m, m + 1)), -np.eye(m)])
        G, h = np.vstack([above, positive]), np.concatenate([-np.ones(m), np.zeros(m)])
        solution = cvxopt.solvers.qp(*map(cvxopt.matrix, (P, q, G, h)))
        found = np.array(solution["x"]).ravel()
        beta, b = found[:m], found[m]
    return beta, b


def dc_objective(K, y, C, beta, b):
    """Return ½ βᵀKβ + C Σ max(0, 1 - y f)²."""
    total = 0.5 * beta @ K @ beta
    for i in range(len(y)):
        total += C * max(0.0, 1.0 - y[i] * (K[i] @ beta + b)) ** 2
    return total


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(120, noise=0.25, random_state=3)
    return X[:60], y[:60], X[60:], y[60:]


@pytest.mark.parametrize(("strategy", "steps"), [("exact", 1), ("exact", 4), ("iterative", 2)])
def test_equals_quadratic_programs(strategy, steps, moons):
    X, y, new, _ = moons
    k = make_kernel(KERNEL)
    model = IndefiniteDCSVC(k, C=2.0, max_iter=steps, on_unbounded="ignore", strategy=strategy).fit(X, y)
    beta, b = iksvm_dc(k(X), np.where(y == 1, 1.0, -1.0), 2.0, model.rho_, steps)
    np.testing.assert_allclose(model.decision_function(new), k(new, X) @ beta + b, atol=1e-4)


def test_objectives_are_those_of_the_problem_and_fall(moons):
    X, y, _, _ = moons
    K, sign = make_kernel(KERNEL)(X), np.where(y == 1, 1.0, -1.0)
    model = IndefiniteDCSVC(KERNEL, C=2.0, max_iter=12, on_unbounded="ignore").fit(X, y)
    (objectives,) = model.objectives_
    assert len(objectives) == 13
    assert (np.diff(objectives) < 0.0).all()
    assert objectives[-1] == pytest.approx(dc_objective(K, sign, 2.0, model.dual_coef_, model.intercept_), rel=1e-8)
    assert objectives[0] == pytest.approx(dc_objective(K, sign, 2.0, np.zeros(60), sign.mean()))


def test_a_definite_kernel_is_one_convex_problem(moons):
    X, y, new, _ = moons
    k = make_kernel("rbf(sigma=0.8)")
    model = IndefiniteDCSVC(k, C=2.0).fit(X, y)
    assert model.rho_ == 0.0
    assert not model.unbounded_.any()
    assert model.n_iter_ <= 2
    # Squared hinge loss is a hard margin with I/(2C) added to the kernel matrix.
    libsvm = SVC(kernel="precomputed", C=1e10, tol=1e-9).fit(k(X) + np.eye(60) / 4.0, y)
    np.testing.assert_allclose(model.decision_function(new), libsvm.decision_function(k(new, X)), atol=1e-4)


def test_an_objective_without_a_minimum_is_told_and_is_one(moons):
    X, y, _, _ = moons
    with pytest.warns(UnboundedObjectiveWarning, match="no minimum in 1 of 1 problems"):
        model = IndefiniteDCSVC(KERNEL).fit(X, y)
    assert model.unbounded_.tolist() == [True]
    assert "no minimum" in model.solver_report_.note
    with pytest.raises(ParameterError, match="krein-svm"):
        IndefiniteDCSVC(KERNEL, on_unbounded="raise").fit(X, y)
    # A proof by the plain objective: along the smallest negative eigenvalue it falls without end.
    K, sign = make_kernel(KERNEL)(X), np.where(y == 1, 1.0, -1.0)
    values, U = np.linalg.eigh(K)
    smallest = int(np.argmax(np.where(values < -1e-9, values, -np.inf)))
    assert -1.0 < values[smallest] < 0.0
    far = [min(dc_objective(K, sign, 1.0, s * t * U[:, smallest], 0.0) for s in (1, -1)) for t in (1e4, 1e6, 1e8)]
    assert far[0] > far[1] > far[2]
    assert far[2] < -1e6


def test_a_bounded_indefinite_problem_converges_to_a_stationary_point():
    """One large negative eigenvalue that the loss holds: no warning, and the gradient of the objective vanishes."""
    rng = np.random.default_rng(0)
    u = np.where(np.arange(12) % 4 < 2, 1.0, -1.0)
    U = np.linalg.qr(np.column_stack([u, rng.standard_normal((12, 11))]))[0]
    values = np.append(-3.0, rng.uniform(0.05, 0.2, 11))
    # Values f along ±u are wrong for half of the samples, and to mend them by the small eigenvalues costs more.
    sign = np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    K = (U * values) @ U.T
    C = 20.0
    held = make_kernel("precomputed", K=K)
    model = IndefiniteDCSVC(held, C=C, max_iter=5000, tol=1e-9, rho=3.1).fit(np.arange(12), sign)
    assert not model.unbounded_.any()
    beta, b = model.dual_coef_, model.intercept_
    slack = np.maximum(0.0, 1.0 - sign * (K @ beta + b))
    gradient = K @ beta - 2.0 * C * K @ (sign * slack)
    assert np.abs(gradient).max() < 1e-5
    assert abs((sign * slack).sum()) < 1e-6


def test_a_certificate_is_a_direction_along_which_the_objective_falls():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((15, 15))
    K, y = A + A.T, np.where(rng.random(15) < 0.5, 1.0, -1.0)
    geometry = Geometry(15, lambda z: (K @ z, K @ z), lambda v: K @ v, np.ones(15))
    program = DCProgram(geometry, y, 0.01, float(np.linalg.norm(K, 2)))
    solution = program.solve(1e-8, 30)
    assert solution.certificate is not None
    d, e, value = solution.certificate
    for t in (1e3, 1e4):
        assert dc_objective(K, y, 0.01, t * d, t * e) / t**2 == pytest.approx(value, rel=1e-2)
    assert value < 0.0


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = IndefiniteDCSVC("tl1(rho=3.0)", on_unbounded="ignore").fit(X, y)
    assert len(model.objectives_) == 3
    assert model.unbounded_.shape == (3,)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("strategy", ["exact", "iterative"])
def test_weights_repeat_samples(strategy, moons):
    X, y, new, _ = moons
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    options = {"C": 2.0, "on_unbounded": "ignore", "strategy": strategy, "max_iter": 3 if strategy == "exact" else 1}
    weighted = IndefiniteDCSVC(KERNEL, **options).fit(X, y, counts)
    repeated = IndefiniteDCSVC(KERNEL, **options).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.decision_function(new), repeated.decision_function(new), atol=1e-5)


def test_all_samples_as_landmarks_are_exact(moons):
    X, y, new, _ = moons
    options = {"C": 2.0, "on_unbounded": "ignore"}
    exact = IndefiniteDCSVC(KERNEL, **options).fit(X, y)
    lowrank = IndefiniteDCSVC(KERNEL, **options, strategy="lowrank", n_landmarks=60).fit(X, y)
    np.testing.assert_allclose(lowrank.decision_function(new), exact.decision_function(new), atol=1e-5)
    assert lowrank.predict_proba(new).shape == (60, 2)


def test_steps_that_do_not_end_are_told():
    K = np.diag([2.0, 1.5, -3.0, 1.0])
    held = make_kernel("precomputed", K=K)
    y = np.array([1, 0, 1, 0])
    with pytest.warns((ConvergenceWarning, UnboundedObjectiveWarning)):
        IndefiniteDCSVC(held, C=50.0, max_iter=1).fit(np.arange(4), y)


def test_rho_below_the_least_eigenvalue_is_refused(moons):
    with pytest.raises(ParameterError, match="below -λ_min"):
        IndefiniteDCSVC(KERNEL, rho=1e-6).fit(moons[0], moons[1])


@pytest.mark.parametrize("wrong", [{"C": -1.0}, {"rho": "tight"}, {"max_iter": 1.5}, {"on_unbounded": "stop"}])
def test_wrong_parameters_are_refused(wrong, moons):
    with pytest.raises(ParameterError, match="is not accepted"):
        IndefiniteDCSVC("rbf", **wrong).fit(moons[0], moons[1])


@pytest.mark.parametrize("strategy", ["exact", "iterative", "lowrank"])
def test_asymmetric_kernels_are_refused(strategy, moons):
    with pytest.raises(AsymmetryError, match="ask-ls"):
        IndefiniteDCSVC("sne(sigma=1.0)", strategy=strategy).fit(moons[0], moons[1])


def test_the_solvers_load_where_numba_has_no_place_for_its_cache():
    program = """
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
import kernreg_krein.smo
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
