"""strategy="sketched": the machines of lowrank, probabilities, what is refused, and the choice of auto."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import kernreg as kr
from kernreg.engine import operator
from kernreg.errors import ApproximationWarning, MemoryBudgetError, ParameterError
from kernreg.linalg.landmarks import landmark_columns
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual import landmark_costs, sketched, strategy
from kernreg.solvers.dual.landmark_costs import cheaper
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import check_training_set

rng = np.random.default_rng(4)
X = rng.normal(size=(900, 4))
labels = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int) + (X[:, 2] > 1.0)
target = np.sin(X).sum(axis=1)
NEW = rng.normal(size=(50, 4))

CASES = {
    "ls-svm": (LSSVC(kernel="rbf(sigma=3.0)", gamma=2.0), labels),
    "ls-svm indefinite": (LSSVC(kernel="tl1(rho=2.8)", gamma=0.5), labels),
    "ls-svr": (LSSVR(kernel="laplacian(sigma=3.0)", gamma=10.0), target),
    "ask-ls": (AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0), labels),
    "ask-lsr": (AsKLSRegressor(kernel="rbf(sigma=3.0)", gamma=0.3), target),
}


def made(name, **params):
    solver, y = CASES[name]
    return type(solver)(**{**solver.get_params(deep=False), "n_landmarks": 60, **params}), y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_it_is_the_machine_of_lowrank(name, weighted):
    weights = 0.5 + np.arange(900) % 3 if weighted else None
    (low, y), (fast, _) = made(name, strategy="lowrank"), made(name, strategy="sketched", tol=1e-8)
    low.fit(X, y, sample_weight=weights)
    fast.fit(X, y, sample_weight=weights)
    assert np.array_equal(fast.landmarks_, low.landmarks_)
    assert fast.X_fit_.shape == (60, 4)
    for view, values in low.decision_views(NEW).items():
        np.testing.assert_allclose(fast.decision_views(NEW)[view], values, rtol=0, atol=1e-5)
    report = fast.solver_report_
    assert (report.strategy, report.landmarks, report.size) == ("sketched", 60, 900)
    assert fast.n_iter_ == report.iterations > 1


@pytest.mark.parametrize("name", ["ls-svm", "ls-svm indefinite", "ask-ls"])
def test_probabilities_are_those_of_samples_held_out(name):
    (low, y), (fast, _) = made(name, strategy="lowrank"), made(name, strategy="sketched")
    expected, found = low.fit(X, y).predict_proba(NEW), fast.fit(X, y).predict_proba(NEW)
    assert len(fast._some_left_out[1]) == 900  # every fifth sample, five times
    assert np.abs(found - expected).max() < 0.05  # of four fifths of the samples, not of all but one


def test_of_many_samples_some_are_held_out(monkeypatch):
    monkeypatch.setattr(sketched, "_ENOUGH", 100)
    clf, y = made("ls-svm", strategy="sketched")
    rows = clf.fit(X, y)._some_left_out[1]
    assert len(rows) == len(np.unique(rows)) == 100


@pytest.mark.parametrize("name", CASES)
def test_it_gives_no_leave_one_out(name):
    solver, y = made(name, strategy="sketched", gamma="loo")
    with pytest.raises(ParameterError, match=r"strategy='sketched' gives no leave-one-out values.*lowrank"):
        solver.fit(X, y)
    solver.set_params(gamma=1.0).fit(X, y)
    with pytest.raises(ParameterError, match="strategy='sketched' gives none"):
        solver.loo_score_  # noqa: B018 (asking is the test)


def test_what_else_it_cannot_do_is_said():
    with pytest.raises(ParameterError, match="one-vs-one"):
        LSSVC(strategy="sketched", multi_class="one-vs-one").fit(X, labels)
    with pytest.raises(ParameterError, match="on_pole"):
        AsKLSClassifier(gamma=1.0, strategy="sketched", on_pole="damp").fit(X, labels)
    clf, y = made("ls-svm", strategy="sketched")
    with pytest.raises(ParameterError, match="landmarks only"):
        clf.fit(X, y).signature_  # noqa: B018 (asking is the test)
    with (
        kr.config_context(memory=2_000_000),
        pytest.raises(MemoryBudgetError, match="with 500 landmarks holds 4 matrices"),
    ):
        LSSVC(strategy="sketched", n_landmarks=500).fit(X, labels)


def test_too_few_iterations_are_a_warning():
    solver, y = made("ls-svr", strategy="sketched", max_iter=2)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations"):
        solver.fit(X, y)
    assert not solver.solver_report_.converged


def test_float32_is_kept():
    clf, y = made("ls-svm", strategy="sketched")
    clf.fit(X.astype(np.float32), y)
    assert clf.dual_coef_.dtype == np.float32
    assert clf.decision_function(NEW.astype(np.float32)).dtype == np.float32


def test_auto_takes_what_costs_less():
    """Many landmarks make normal equations dear, and dear kernel values iterations."""
    assert cheaper(464_809, 10_000, 7, 300.0) == "sketched"
    assert cheaper(464_809, 500, 7, 300.0) == "lowrank"
    assert cheaper(464_809, 10_000, 1, 200.0, symmetric=False, definite=False) == "sketched"
    assert cheaper(464_809, 500, 7, 300.0, symmetric=False, definite=False) == "lowrank"
    assert cheaper(464_809, 10_000, 7, 10_000.0) == "lowrank"
    turns = [cheaper(464_809, k, 7, 300.0) for k in range(500, 10_001, 250)]
    assert turns == sorted(turns)  # once sketched, always sketched
    assert 2000 <= 500 + 250 * turns.index("sketched") <= 4000


def test_auto_takes_it_and_says_so(monkeypatch):
    monkeypatch.setattr(landmark_costs, "cheaper", lambda *args, **more: "sketched")
    model = LSSVR(kernel="rbf(sigma=3.0)", gamma=1.0, n_landmarks=40)
    monkeypatch.setattr(strategy, "_LARGEST_ITERATIVE", 100)
    with (
        kr.config_context(memory=1_000_000),
        pytest.warns(ApproximationWarning, match="strategy='sketched' asks for this"),
    ):
        model.fit(X, target)
    assert model.solver_report_.strategy == "sketched"
    assert "do not fit the memory budget" in model.solver_report_.note


def test_progress_is_shown_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with kr.config_context(progress=True):
        made("ls-svr", strategy="sketched")[0].fit(X, target)
    said = capsys.readouterr().err
    assert "sketch of 60 landmarks" in said
    assert "iterations" in said


def test_an_interrupt_leaves_the_model_as_it_was(monkeypatch):
    model, y = made("ls-svr", strategy="sketched")
    before = model.fit(X, y).predict(NEW)

    def interrupted(*args, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(landmark_columns, "normal_product_of", interrupted)
    monkeypatch.setattr(operator, "normal_product", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[::2], y[::2])
    assert np.array_equal(model.predict(NEW), before)


def test_by_default_there_are_as_many_landmarks_as_samples_allow():
    model = LSSVR(kernel="rbf(sigma=3.0)", gamma=1.0, strategy="sketched").fit(X, target)
    assert len(model.landmarks_) == 500


@pytest.mark.parametrize(
    ("kernel", "each"), [("rbf", "_BY_BLAS"), ("linear", "_BY_BLAS"), ("laplacian", "_ONE_BY_ONE")]
)
def test_a_kernel_value_costs_what_its_features_do(kernel, each, monkeypatch):
    seen = []
    monkeypatch.setattr(landmark_costs, "cheaper", lambda *args, **_: seen.append(args) or "lowrank")
    X = np.random.default_rng(0).normal(size=(50, 7))
    machine = LSSVR(kernel=kernel, gamma=1.0, n_landmarks=10)
    data = check_training_set(machine, machine.resolve_kernel(), X, X[:, 0], None)
    landmark_costs.cheaper_on_landmarks(True, data, X[:, :1], Settings.of(machine))
    assert seen == [(50, 10, 1, landmark_costs._VALUE + 7 * getattr(landmark_costs, each))]
