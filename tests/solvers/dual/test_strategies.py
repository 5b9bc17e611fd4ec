"""Iterative and low-rank fits against exact ones, and the choice between them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import kernreg as kr
from kernreg.errors import ApproximationWarning, AsymmetryError, DataError, MemoryBudgetWarning, ParameterError
from kernreg.kernels.indexed import precomputed
from kernreg.linalg.krylov import block_descent
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual import exact
from kernreg.solvers.dual.strategy import pick

CASES = {
    "ls-svm": LSSVC(kernel="rbf(sigma=2.0)", gamma=2.0),
    "ls-svm indefinite": LSSVC(kernel="tl1(rho=2.8)", gamma=0.05),
    "ask-ls": AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0),
    "ask-ls symmetric": AsKLSClassifier(kernel="rbf(sigma=2.0)", gamma=0.3),
}


def remade(solver, **params):
    return type(solver)(**{**solver.get_params(deep=False), **params})


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_iterative_equals_exact(textbook, blobs, name, weighted):
    X, labels, new = blobs
    weights = 0.5 + np.arange(60) % 3 if weighted else None
    exact = CASES[name].fit(X, labels, sample_weight=weights)
    clf = remade(CASES[name], strategy="iterative", tol=1e-10).fit(X, labels, sample_weight=weights)
    textbook.close(clf.decision_function(new), exact.decision_function(new), 1e-6)
    assert clf.solver_report_.strategy == "iterative"
    assert clf.solver_report_.residual <= 1e-10
    assert clf.solver_report_.iterations > 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_landmarks", [None, 20])
def test_blocks_equal_exact(textbook, blobs, weighted, n_landmarks, monkeypatch):
    X, labels, new = blobs
    monkeypatch.setattr(block_descent, "_PER_ROOT", 3)  # blocks of 23 samples
    weights = 0.5 + np.arange(60) % 3 if weighted else None
    exact = LSSVC(kernel="rbf(sigma=2.0)", gamma=2.0).fit(X, labels, sample_weight=weights)
    clf = remade(exact, strategy="blocks", tol=1e-9, max_iter=2000, n_landmarks=n_landmarks)
    clf.fit(X, labels, sample_weight=weights)
    textbook.close(clf.decision_function(new), exact.decision_function(new), 1e-6)
    report = clf.solver_report_
    assert (report.strategy, report.block, report.residual_is) == ("blocks", 23, "measured")
    assert report.residual <= 1e-9
    assert clf.n_iter_ == report.iterations > 1


def test_blocks_of_regression_with_several_outputs_and_probabilities(textbook, blobs):
    X, labels, new = blobs
    Y = np.c_[np.sin(X[:, 0]), 5.0 + X[:, 1]]
    exact = LSSVR(kernel="laplacian(sigma=4.0)", gamma=100.0).fit(X, Y)
    model = remade(exact, strategy="blocks", tol=1e-9).fit(X, Y)
    textbook.close(model.predict(new), exact.predict(new), 1e-6)
    proba = LSSVC(kernel="rbf(sigma=2.0)", strategy="blocks").fit(X, labels).predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_what_blocks_cannot_do_is_said_with_what_can(blobs):
    X, labels, _ = blobs
    for kernel, known in (("tl1(rho=2.8)", "known not to be so|not known to be so"), ("tanh", "known")):
        with pytest.raises(ParameterError, match=f"({known}).*strategy='iterative'"):
            LSSVC(kernel=kernel, gamma=0.1, strategy="blocks").fit(X, labels)
    with pytest.raises(ParameterError, match="AsK-LS is not positive definite; use strategy='iterative'"):
        AsKLSClassifier(kernel="rbf", gamma=0.1, strategy="blocks").fit(X, labels)
    with pytest.raises(AsymmetryError, match="'ask-ls'"):
        LSSVC(kernel="sne", strategy="blocks").fit(X, labels)
    with pytest.raises(ParameterError, match="strategy='blocks' gives no leave-one-out"):
        LSSVC(strategy="blocks", gamma="loo").fit(X, labels)
    with pytest.raises(ParameterError, match="strategy='blocks' gives none"):
        LSSVC(strategy="blocks").fit(X, labels).loo_views_  # noqa: B018 (asking is the test)
    for wrong in (0, -1.0, "long", np.inf):
        with pytest.raises(ParameterError, match=r"max_seconds=.*positive number or None"):
            LSSVC(max_seconds=wrong).fit(X, labels)


@pytest.mark.parametrize("strategy", ["iterative", "blocks"])
def test_time_that_is_up_is_a_warning_and_a_model(blobs, strategy):
    X, labels, new = blobs
    clf = LSSVC(kernel="rbf(sigma=3.0)", gamma=1e6, strategy=strategy, max_seconds=1e-6, n_landmarks=2, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        clf.fit(X, labels)
    assert not clf.solver_report_.converged
    assert clf.decision_function(new).shape == (9, 3)


def test_an_interrupted_fit_by_blocks_leaves_the_model_as_it_was(blobs, monkeypatch):
    X, labels, new = blobs
    clf = LSSVC(kernel="rbf(sigma=2.0)", strategy="blocks").fit(X, labels)
    before = clf.decision_function(new)

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(block_descent, "block_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        clf.set_params(gamma=100.0).fit(X, labels)
    assert np.array_equal(clf.decision_function(new), before)


def test_models_of_blocks_are_saved_with_their_report(blobs, tmp_path):
    X, labels, new = blobs
    clf = LSSVC(kernel="rbf(sigma=2.0)", strategy="blocks").fit(X, labels)
    kr.save(clf, tmp_path / "model.kern")
    again = kr.load(tmp_path / "model.kern")
    assert np.array_equal(again.decision_function(new), clf.decision_function(new))
    assert again.solver_report_.residual_is == "measured"


@pytest.mark.parametrize("name", CASES)
def test_low_rank_with_every_sample_as_landmark_equals_exact(textbook, blobs, name):
    X, labels, new = blobs
    exact = CASES[name].fit(X, labels)
    everything = {"strategy": "lowrank", "landmarks": np.arange(60)}
    clf = remade(CASES[name], **everything).fit(X, labels)
    textbook.close(clf.decision_function(new), exact.decision_function(new), 1e-5)
    again = remade(CASES[name], gamma=[CASES[name].gamma], **everything).fit(X, labels)
    for view, values in exact.loo_views_.items():
        textbook.close(again.loo_views_[view], values, 1e-4)
    assert clf.solver_report_.strategy == "lowrank"
    with pytest.raises(ParameterError, match="gamma is 'loo' or a sequence"):
        clf.loo_views_  # noqa: B018 (asking is the test)


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # three values, the largest is the best
def test_low_rank_keeps_landmarks_only(blobs):
    X, _, new = blobs
    y = np.sin(X[:, 0])
    model = LSSVR(kernel="rbf(sigma=3.0)", gamma=[0.1, 1.0, 10.0, 1e3, 1e6], strategy="lowrank", n_landmarks=25).fit(
        X, y
    )
    assert model.X_fit_.shape == (25, 4)
    assert model.dual_coef_.shape == (25,)
    np.testing.assert_array_equal(model.X_fit_, X[model.landmarks_])
    assert model.gamma_ in (0.1, 1.0, 10.0, 1e3, 1e6)
    assert model.loo_path_["score"].max() == pytest.approx(model.loo_score_)
    assert model.loo_score_ > 0.3
    assert model.predict(new).shape == (9,)
    two = AsKLSRegressor(kernel="sne(sigma=2.0)", gamma=3.0, strategy="lowrank", n_landmarks=25).fit(X, np.c_[y, -y])
    assert two.predict(new).shape == (9, 2)
    assert two.predict(new)[:, 0] == pytest.approx(-two.predict(new)[:, 1])
    with pytest.raises(ParameterError, match="landmarks only"):
        model.signature_  # noqa: B018 (asking is the test)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_grid_of_low_rank_is_that_of_the_matrix_it_stands_for(blobs, name, weighted):
    X, labels, _ = blobs
    weights = 0.5 + np.arange(60) % 3 if weighted else None
    exact = remade(CASES[name], gamma="loo").fit(X, labels, sample_weight=weights)
    everyone = {"strategy": "lowrank", "landmarks": np.arange(60)}
    clf = remade(CASES[name], gamma="loo", **everyone).fit(X, labels, sample_weight=weights)
    np.testing.assert_allclose(clf.loo_path_["gamma"], exact.loo_path_["gamma"], rtol=1e-6)
    usable = exact.loo_path_["gamma"] < 0.1 * exact.loo_path_["gamma"].max()  # beyond, landmarks lose digits
    np.testing.assert_allclose(
        clf.loo_path_["squared_error"][usable], exact.loo_path_["squared_error"][usable], rtol=1e-3
    )


@pytest.mark.filterwarnings("ignore::kernreg.errors.ApproximationWarning")
def test_gamma_loo_beyond_the_memory_budget_is_chosen_on_landmarks(blobs):
    X, labels, new = blobs
    with kr.config_context(memory=20_000):  # less than K takes
        clf = LSSVC(gamma="loo").fit(X, labels)
    assert len(clf.landmarks_) < 60
    assert clf.solver_report_.strategy == "lowrank"
    assert len(clf.loo_path_["gamma"]) == 36
    assert clf.loo_score_ == clf.loo_path_["score"].max()
    assert clf.predict(new).shape == (9,)
    with pytest.raises(DataError, match="at least 2 samples"):
        LSSVR(strategy="lowrank", gamma="loo").fit(X[:1], X[:1, 0])


def test_stacking_on_landmarks(blobs):
    X, labels, new = blobs
    clf = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0, strategy="lowrank", n_landmarks=30, ensembler="stack")
    assert clf.fit(X, labels).decision_function(new).shape == (9, 3)


def test_pairs_of_samples_by_every_strategy(textbook, blobs):
    X, labels, new = blobs
    Z, settings = X[::-1].copy(), {"kernel": "rbf(sigma=2.0)", "gamma": 3.0}
    exact = AsKLSClassifier(**settings).fit((X, Z), labels).decision_views((new, new))
    iterative = AsKLSClassifier(**settings, strategy="iterative", tol=1e-10, max_iter=2000).fit((X, Z), labels)
    for name, values in iterative.decision_views((new, new)).items():
        textbook.close(values, exact[name], 1e-5)
    lowrank = AsKLSClassifier(**settings, strategy="lowrank", landmarks=np.arange(60)).fit((X, Z), labels)
    for name, values in lowrank.decision_views((new, new)).items():
        textbook.close(values, exact[name], 1e-4)


def test_what_is_asked_for_beyond_the_memory_budget_is_done_with_a_warning(blobs):
    X, labels, _ = blobs
    with kr.config_context(memory=100_000):  # K and a factor fit, what a decomposition takes does not
        LSSVC(strategy="exact").fit(X, labels)
        with pytest.warns(MemoryBudgetWarning, match="strategy='exact' with 60 samples needs about 20"):
            LSSVC(strategy="exact", gamma=[0.1, 1.0]).fit(X, labels)


def test_auto_goes_by_the_memory_budget(blobs):
    X, labels, _ = blobs
    assert LSSVC().fit(X, labels).solver_report_.strategy == "exact"
    with kr.config_context(memory=40_000):
        clf = LSSVC().fit(X, labels)
        assert clf.solver_report_.strategy == "iterative"
        assert "memory budget" in clf.solver_report_.note
        with pytest.warns(ApproximationWarning):
            assert LSSVC(gamma=[0.1, 1.0]).fit(X, labels).solver_report_.strategy == "lowrank"
    with kr.config_context(memory="1GB"):
        assert pick("auto", 200_000, leave_one_out=False) == "lowrank"
        assert pick("auto", 50_000, leave_one_out=False) == "iterative"
        assert pick("auto", 5_000, leave_one_out=False) == "exact"


def test_what_a_strategy_cannot_do_is_said(blobs):
    X, labels, _ = blobs
    for params, message in [
        ({"strategy": "iterative", "gamma": "loo"}, "no leave-one-out values"),
        ({"strategy": "iterative", "multi_class": "one-vs-one"}, "'one-vs-one' needs strategy='exact'"),
        ({"strategy": "iterative", "tol": 0.0}, "tol=0.0 is not accepted"),
        ({"strategy": "iterative", "max_iter": 0}, "max_iter=0 is not accepted"),
        ({"strategy": "lowrank", "n_landmarks": 0}, "n_landmarks=0 is not accepted"),
    ]:
        with pytest.raises(ParameterError, match=message):
            LSSVC(**params).fit(X, labels)
    with pytest.raises(ParameterError, match="no leave-one-out values"):
        AsKLSClassifier(strategy="iterative", ensembler="stack").fit(X, labels)
    with pytest.raises(ParameterError, match="on_pole='damp' needs strategy='exact'"):
        AsKLSClassifier(strategy="lowrank", on_pole="damp").fit(X, labels)
    with pytest.raises(ParameterError, match="strategy='iterative' gives none"):
        LSSVC(strategy="iterative").fit(X, labels).loo_views_  # noqa: B018 (asking is the test)
    with pytest.raises(AsymmetryError, match="'ask-ls'"):
        LSSVC(kernel="sne", strategy="lowrank").fit(X, labels)
    K = np.random.default_rng(0).normal(size=(60, 60))
    with pytest.raises(AsymmetryError, match="'ask-lsr'"):
        LSSVR(kernel=precomputed(K=K), strategy="iterative").fit(np.arange(60), np.arange(60.0))


def test_too_few_iterations_are_a_warning(blobs):
    X, labels, _ = blobs
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LSSVC(strategy="iterative", max_iter=1, n_landmarks=2, gamma=1e4, kernel="rbf(sigma=3.0)").fit(X, labels)


def test_float32_is_kept_by_every_strategy(blobs):
    X, labels, new = blobs
    for strategy in ("iterative", "lowrank"):
        clf = LSSVC(kernel="rbf(sigma=2.0)", strategy=strategy, tol=1e-4).fit(X.astype(np.float32), labels)
        assert clf.decision_function(new.astype(np.float32)).dtype == np.float32


def test_fitting_again_forgets_the_other_strategy(blobs):
    X, labels, new = blobs
    clf = LSSVC(gamma=[0.1, 1.0], strategy="lowrank", n_landmarks=20).fit(X, labels)
    clf.set_params(strategy="exact", gamma=1.0).fit(X, labels)
    assert not hasattr(clf, "landmarks_")
    assert not hasattr(clf, "loo_path_")
    assert np.array_equal(clf.decision_function(new), LSSVC(gamma=1.0).fit(X, labels).decision_function(new))
    assert clf.loo_views_["decision"].shape == (60, 3)


def test_pole_met_by_the_iteration_is_a_warning_not_a_solution(blobs):
    _, labels, _ = blobs
    y, everyone = labels == "cat", np.arange(60)
    clf = LSSVC(kernel=precomputed(K=-np.eye(60)), gamma=1.0, strategy="iterative")  # K̃ + I is zero
    with pytest.warns(ConvergenceWarning, match="pole"):
        clf.fit(everyone, y)
    assert not clf.solver_report_.converged
    assert clf.solver_report_.residual > 0.5
    assert np.abs(clf.decision_function(everyone)).max() < 10


@pytest.mark.parametrize(
    ("solver", "landmarks"), [(LSSVC(kernel="rbf(sigma=2.0)"), 20), (AsKLSClassifier(kernel="sne(sigma=2.0)"), 12)]
)
def test_an_approximation_that_nobody_asked_for_is_told(blobs, solver, landmarks):
    X, labels, _ = blobs
    auto = clone(solver).set_params(gamma=[0.3])
    with kr.config_context(memory=40_000):
        told = rf"60 samples do not fit.*{landmarks} landmarks.* operations"
        with pytest.warns(ApproximationWarning, match=told) as heard:
            model = auto.fit(X, labels)
        assert (model.solver_report_.strategy, heard[0].filename) == ("lowrank", __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            clone(auto).set_params(strategy="lowrank").fit(X, labels)
    auto.fit(X, labels)  # exact: nothing to tell


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({}, "factorisation of 60 × 60"),
        ({"gamma": [0.3]}, "decomposition of 60 × 60"),
        ({"strategy": "lowrank", "n_landmarks": 20}, "features of 20 landmarks"),
        ({"strategy": "lowrank", "gamma": [0.3], "n_landmarks": 20}, "leave-one-out"),
        ({"strategy": "blocks"}, "passes over blocks"),
        ({"strategy": "iterative"}, "iterations"),
    ],
)
def test_every_strategy_shows_progress_on_a_terminal(blobs, capsys, monkeypatch, options, label):
    X, labels, _ = blobs
    monkeypatch.setattr(exact, "_LONG", 60)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    with kr.config_context(progress=True):
        LSSVC(kernel="rbf(sigma=2.0)", **options).fit(X, labels)
    assert label in capsys.readouterr().err


@pytest.mark.parametrize("machine", [LSSVR, AsKLSRegressor])
def test_a_strategy_that_is_asked_for_is_taken_whatever_is_cheaper(machine, monkeypatch):
    for module in ("ls_svm", "ask_ls"):
        monkeypatch.setattr(f"kernreg.solvers.dual.{module}.cheaper_on_landmarks", lambda *_: "sketched")
    X = np.random.default_rng(0).normal(size=(60, 3))
    fitted = machine(kernel="rbf(sigma=2.0)", gamma=1.0, strategy="lowrank", n_landmarks=10).fit(X, X[:, 0])
    assert fitted.solver_report_.strategy == "lowrank"
