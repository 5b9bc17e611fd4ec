"""krein-svm: libsvm where the kernel is definite, the published program where it is not."""

from __future__ import annotations

import cvxopt
import numpy as np
import pytest
from kernreg_krein import KreinSVC
from kernreg_krein.interior_point import solve_linear
from kernreg_krein.smo import solve_box
from kernreg_krein.spaces import KreinSpace
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernreg import config_context, make_kernel, make_solver
from kernreg.engine import gram
from kernreg.errors import ApproximationWarning, AsymmetryError, MemoryBudgetWarning, ParameterError
from kernreg.kernels import spectrum

INDEFINITE = ["tl1(rho=0.9)", "tanh(c=1.5, t=-0.4)"]


def ksvm(K, y, c):
    """Return α and b: [U, S] = eig(K); quadratic program on U |S| Uᵀ; alpha = U sign(S) Uᵀ (y .* a)."""
    cvxopt.solvers.options.update({"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12})
    m = len(y)
    S, U = np.linalg.eigh(K)
    S[np.abs(S) < 1e-12 * np.abs(S).max()] = 0.0
    associated = U @ np.diag(np.abs(S)) @ U.T
    H = np.diag(y) @ associated @ np.diag(y)
    P, q = cvxopt.matrix(H), cvxopt.matrix(-np.ones(m))
    G = cvxopt.matrix(np.vstack([-np.eye(m), np.eye(m)]))
    h = cvxopt.matrix(np.concatenate([np.zeros(m), c]))
    solution = cvxopt.solvers.qp(P, q, G, h, cvxopt.matrix(y[None, :].astype(float)), cvxopt.matrix(0.0))
    a = np.array(solution["x"]).ravel()
    alpha = U @ np.diag(np.sign(S)) @ U.T @ (y * a)
    inside = np.flatnonzero((a > 1e-6 * c) & (a < (1 - 1e-6) * c))
    f = K @ alpha
    b = np.mean([y[i] - f[i] for i in inside])
    return alpha, b


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(160, noise=0.25, random_state=3)
    return X[:100], y[:100], X[100:], y[100:]


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("kernel", ["rbf(sigma=0.8)", "linear", "laplacian(sigma=1.0)"])
def test_equals_libsvm_on_definite_kernels(kernel, C, moons):
    X, y, new, _ = moons
    k = make_kernel(kernel)
    ours = KreinSVC(kernel, C=C, tol=1e-7).fit(X, y)
    libsvm = SVC(kernel="precomputed", C=C, tol=1e-7).fit(k(X), y)
    np.testing.assert_allclose(ours.decision_function(new), libsvm.decision_function(k(new, X)), atol=1e-4)


def test_equals_libsvm_with_weights_and_one_class_against_one():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    k = make_kernel("rbf(sigma=1.5)")
    ours = KreinSVC(k, C=2.0, tol=1e-8, multi_class="one-vs-one", class_weight={1: 2.0}).fit(X, y, weights)
    libsvm = SVC(kernel="precomputed", C=2.0, tol=1e-8, class_weight={1: 2.0}, decision_function_shape="ovo")
    libsvm.fit(k(X), y, weights)
    pairs = k(X) @ ours.dual_coef_ + ours.intercept_  # libsvm's are of the first class of a pair
    np.testing.assert_allclose(pairs, -libsvm.decision_function(k(X)), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), libsvm.predict(k(X)))


@pytest.mark.parametrize("C", [0.5, 5.0])
@pytest.mark.parametrize("kernel", INDEFINITE)
def test_equals_the_published_program_on_indefinite_kernels(kernel, C, moons):
    X, y, new, _ = moons
    k = make_kernel(kernel)
    ours = KreinSVC(kernel, C=C).fit(X, y)
    alpha, b = ksvm(k(X), np.where(y == 1, 1.0, -1.0), np.full(len(y), C))
    assert ours.signature_[1] > 3
    np.testing.assert_allclose(ours.decision_function(new), k(new, X) @ alpha + b, atol=2e-5)


@pytest.mark.parametrize("kernel", INDEFINITE)
def test_stationary_in_the_krein_space(kernel, moons):
    """The conditions of the indefinite problem: y f ≥ 1 without a multiplier, = 1 inside, ≤ 1 at the bound."""
    X, y, _, _ = moons
    K, sign, C = make_kernel(kernel)(X), np.where(y == 1, 1.0, -1.0), 3.0
    model = KreinSVC(kernel, C=C).fit(X, y)
    values, U = np.linalg.eigh(K)
    a = sign * (U @ (np.sign(values) * (U.T @ model.dual_coef_)))  # the multipliers, by the signs again
    margin = sign * (K @ model.dual_coef_ + model.intercept_)
    assert abs(a @ sign) < 1e-6
    assert a.min() > -1e-6
    assert a.max() < C + 1e-6
    assert (1.0 - margin[a < 1e-6]).max() < 1e-6
    assert (margin[a > C - 1e-6] - 1.0).max() < 1e-6
    np.testing.assert_allclose(margin[(a > 1e-5) & (a < C - 1e-5)], 1.0, atol=1e-6)
    assert model.solver_report_.residual < 1e-6


def test_on_the_samples_it_is_the_svm_of_the_flipped_spectrum(moons):
    X, y, _, _ = moons
    k = make_kernel("tl1(rho=0.9)")
    flipped = KreinSVC(spectrum(k, "flip")).fit(X, y)
    ours = KreinSVC(k).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), flipped.decision_function(X), atol=1e-5)


def test_several_classes_share_one_metric():
    X, y = load_iris(return_X_y=True)
    k = make_kernel("tl1(rho=3.0)")
    model = KreinSVC(k, C=2.0).fit(X, y)
    for c in range(3):
        alpha, b = ksvm(k(X), np.where(y == c, 1.0, -1.0), np.full(len(y), 2.0))
        np.testing.assert_allclose(model.decision_function(X)[:, c], k(X) @ alpha + b, atol=1e-4)
    assert model.score(X, y) > 0.95


def test_weights_repeat_samples(moons):
    X, y, new, _ = moons
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = KreinSVC("tl1(rho=0.9)", C=2.0).fit(X, y, counts)
    repeated = KreinSVC("tl1(rho=0.9)", C=2.0).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.decision_function(new), repeated.decision_function(new), atol=1e-5)


def test_all_samples_as_landmarks_are_exact(moons):
    X, y, new, _ = moons
    exact = KreinSVC("tl1(rho=0.9)", tol=1e-9).fit(X, y)
    lowrank = KreinSVC("tl1(rho=0.9)", tol=1e-9, strategy="lowrank", n_landmarks=len(X)).fit(X, y)
    assert lowrank.solver_report_.residual < 1e-9
    assert lowrank.signature_ == exact.signature_
    np.testing.assert_allclose(lowrank.decision_function(new), exact.decision_function(new), atol=1e-4)


def test_few_landmarks_are_near():
    X, y = make_moons(900, noise=0.2, random_state=0)
    exact = KreinSVC("tl1(rho=0.9)").fit(X[:600], y[:600])
    lowrank = KreinSVC("tl1(rho=0.9)", strategy="lowrank", n_landmarks=120).fit(X[:600], y[:600])
    assert lowrank.dual_coef_.shape == (120,)
    assert lowrank.solver_report_.landmarks == 120
    assert lowrank.score(X[600:], y[600:]) > exact.score(X[600:], y[600:]) - 0.02
    assert ((lowrank.predict_proba(X[600:])[:, 1] - y[600:]) ** 2).mean() < 0.06


def test_low_rank_is_taken_and_told_where_memory_is_short():
    X, y = make_moons(2000, noise=0.2, random_state=0)
    with config_context(memory="64MB"), pytest.warns(ApproximationWarning, match="landmarks are used instead"):
        model = KreinSVC("rbf(sigma=1.0)").fit(X, y)
    assert model.solver_report_.strategy == "lowrank"
    assert model.score(X, y) > 0.9


def test_probabilities_are_calibrated(moons):
    X, y, new, y_new = moons
    model = KreinSVC("tl1(rho=0.9)").fit(X, y)
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    order = np.argsort(model.decision_function(new))
    assert (np.diff(p[order, 1]) >= 0).all()
    assert ((p[:, 1] - y_new) ** 2).mean() < 0.12
    model.set_params(C=1e-3, calibration="isotonic")  # afterwards: nothing changes
    np.testing.assert_array_equal(model.predict_proba(new), p)


@pytest.mark.parametrize("seed", range(5))
def test_sequential_and_interior_point_solutions_agree(seed):
    rng = np.random.default_rng(seed)
    Psi, y = rng.standard_normal((80, 12)), np.where(rng.random(80) < 0.4, 1.0, -1.0)
    c = rng.uniform(0.1, 5.0, 80)
    box, linear = solve_box(Psi @ Psi.T, y, c, 1e-8, 10**7), solve_linear(Psi, y, c, 1e-10, 200)
    assert box.violation < 1e-8
    assert linear.gap < 1e-10
    np.testing.assert_allclose(Psi @ linear.w + linear.intercept, Psi @ (Psi.T @ box.beta) + box.intercept, atol=1e-5)


def test_samples_that_repeat_are_no_problem():
    X = np.repeat(np.array([[0.0], [1.0], [2.0]]), 4, axis=0)
    y = np.repeat([0, 1, 0], 4)
    model = KreinSVC("rbf(sigma=0.7)", C=10.0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


def test_too_few_steps_are_told(moons):
    with pytest.warns(ConvergenceWarning, match="stopped after 3 iterations"):
        KreinSVC("rbf(sigma=0.5)", C=100.0, max_iter=3).fit(moons[0], moons[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"C": 0.0},
        {"C": "1"},
        {"tol": -1.0},
        {"max_iter": 0},
        {"multi_class": "ovo"},
        {"strategy": "iterative"},
        {"calibration": "platt"},
        {"strategy": "lowrank", "n_landmarks": 0},
    ],
)
def test_wrong_parameters_are_refused(wrong, moons):
    with pytest.raises(ParameterError, match="is not accepted"):
        KreinSVC("rbf", **wrong).fit(moons[0], moons[1])


@pytest.mark.parametrize("strategy", ["exact", "lowrank"])
def test_asymmetric_kernels_are_refused(strategy, moons):
    with pytest.raises(AsymmetryError, match="ask-ls"):
        KreinSVC("sne(sigma=1.0)", strategy=strategy).fit(moons[0], moons[1])


def test_the_associated_matrix_is_made_in_blocks_where_it_is_large(monkeypatch):
    K = np.random.default_rng(0).normal(size=(30, 30))
    space = KreinSpace(K + K.T)
    whole = space.associated()
    monkeypatch.setattr(gram, "LARGEST", 0)
    monkeypatch.setattr(gram, "_HIGH", 7)
    np.testing.assert_allclose(space.associated(), whole, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::kernreg_krein.dc.UnboundedObjectiveWarning")
@pytest.mark.parametrize("name", ["krein-svm", "krein-ridge", "krein-ridge-regressor", "iksvm-dc"])
def test_an_exact_fit_beyond_the_budget_says_so_before(name):
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = (X[:, 0] > 0.0).astype(int)
    machine = make_solver(name, kernel="tanh", strategy="exact")
    with (
        config_context(memory=3_000_000),
        pytest.warns(MemoryBudgetWarning, match="exact' with 400 .* 6.4 MB") as heard,
    ):
        machine.fit(X, y)
    assert heard[0].filename == __file__


def test_interior_point_that_cannot_go_on_says_so():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 2))
    y = (np.sin(X[:, 0]) - 0.5 * X[:, 1] + 0.01 * rng.standard_normal(300) > 0).astype(int)
    model = KreinSVC(C=1e6, strategy="lowrank", n_landmarks=200)
    with pytest.warns(ConvergenceWarning, match="interior-point stopped"):
        model.fit(X, y)
    assert model.score(X, y) > 0.95
