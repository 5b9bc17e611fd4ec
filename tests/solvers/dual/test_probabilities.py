"""Class weights, probabilities calibrated on leave-one-out decisions, labels in several columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.solvers import LSSVC, AsKLSClassifier
from kernreg.solvers.dual.calibration import calibrate, probabilities

BOTH = pytest.mark.parametrize(
    "solver", [LSSVC("rbf(sigma=2.0)"), AsKLSClassifier("sne(sigma=1.5)", gamma=3.0)], ids=["ls-svm", "ask-ls"]
)


def with_params(solver, **params):
    return kr.make_solver(type(solver), **{**solver.get_params(deep=False), **params})


def noisy(n=300, classes=3, seed=0):
    X, y = make_classification(n, 6, n_informative=4, n_classes=classes, flip_y=0.1, random_state=seed)
    return StandardScaler().fit_transform(X), y


def calibration_error(P, y, bins=10):
    confidence, right = P.max(axis=1), P.argmax(axis=1) == y
    part = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum((part == b).mean() * abs(confidence[part == b].mean() - right[part == b].mean()) for b in set(part))


@BOTH
def test_class_weights_are_sample_weights(blobs, solver):
    X, labels, new = blobs
    X, labels = X[5:], labels[5:]
    names = sorted(set(labels))
    factor = dict(zip(names, (3.0, 1.0, 0.5), strict=True))
    own = np.linspace(0.5, 2.0, len(X))
    weighted = with_params(solver, class_weight=factor).fit(X, labels, own)
    by_hand = with_params(solver).fit(X, labels, own * np.array([factor[label] for label in labels]))
    np.testing.assert_allclose(weighted.decision_function(new), by_hand.decision_function(new), atol=1e-12)
    balanced = with_params(solver, class_weight="balanced").fit(X, labels, own)
    sums = {name: own[labels == name].sum() for name in names}
    by_hand = with_params(solver).fit(X, labels, own * np.array([own.sum() / 3 / sums[label] for label in labels]))
    np.testing.assert_allclose(balanced.decision_function(new), by_hand.decision_function(new), atol=1e-12)
    without = with_params(solver, class_weight={names[0]: 0.0}).fit(X, labels)
    assert without.classes_.tolist() == names[1:]


@pytest.mark.parametrize("given", ["even", 3.0, ["a"]])
def test_class_weights_that_are_none(blobs, given):
    X, labels, _ = blobs
    with pytest.raises(ParameterError, match="give 'balanced', a dict"):
        LSSVC(class_weight=given).fit(X, labels)
    with pytest.raises(ParameterError, match="one column of labels"):
        LSSVC(class_weight="balanced").fit(X, np.c_[labels == "cat", labels == "ape"].astype(int))


@BOTH
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_those_of_leave_one_out_decisions(solver, calibration, classes):
    X, y = noisy(classes=classes)
    model = with_params(solver, calibration=calibration).fit(X, y)
    state = dict(vars(model))
    P = model.predict_proba(X)
    assert all(vars(model)[name] is value for name, value in state.items())  # asking changes no attribute
    assert P.shape == (300, classes)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P, atol=1e-12)
    # The mean of the others, which tells y_i, is not calibrated on.
    Y = model._targets.values(y)
    left_out = np.mean(list(model.loo_views_.values()), axis=0) + Y.mean(axis=0) - (Y.sum(axis=0) - Y) / 299
    again = calibrate(calibration, left_out, y, classes, None)
    np.testing.assert_allclose(P, probabilities(again, model.decision_function(X)), atol=1e-6)
    kept = model._calibrations[calibration]
    model.predict_proba(X[:2])
    assert model._calibrations[calibration] is kept


def test_two_classes_have_platts_sigmoid():
    rng = np.random.default_rng(0)
    f = rng.normal(size=400)
    y = (rng.random(400) < 1 / (1 + np.exp(-(2 * f - 1.5)))).astype(int)
    P = probabilities(calibrate("sigmoid", f, y, 2, None), f)[:, 1]
    from sklearn.calibration import _SigmoidCalibration

    np.testing.assert_allclose(P, _SigmoidCalibration().fit(f, y).predict(f), atol=1e-4)
    opposite = probabilities(calibrate("sigmoid", -f, y, 2, None), f)
    assert np.ptp(opposite) < 1.0
    assert np.ptp(opposite[:, 1]) == 0.0  # decisions that say the opposite say nothing
    infinite = probabilities(calibrate("sigmoid", np.append(f, np.nan), np.append(y, 0), 2, None), f)[:, 1]
    np.testing.assert_allclose(infinite, P, atol=1e-12)


def test_tiny_gamma_does_not_calibrate_on_the_mean_of_the_others():
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = np.arange(200) % 2
    P = LSSVC("rbf(sigma=2.0)", gamma=1e-9).fit(X, y).predict_proba(X)
    assert np.abs(P - 0.5).max() < 0.1


def test_class_weights_do_not_change_frequencies():
    X, y = make_moons(800, noise=0.4, random_state=0)
    keep = (y == 0) | (np.random.default_rng(0).random(800) < 0.2)
    X, y = X[keep], y[keep]
    balanced = LSSVC("rbf(sigma=1.0)", class_weight="balanced").fit(X, y)
    assert balanced.predict(X).mean() > 1.3 * y.mean()
    assert balanced.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)


@pytest.mark.parametrize("solver", [LSSVC, AsKLSClassifier])
def test_every_strategy_gives_probabilities(solver):
    X, y = noisy()
    settings = {"kernel": "rbf(sigma=2.0)", "gamma": 0.5}
    exact = solver(**settings).fit(X[::2], y[::2])
    P = exact.predict_proba(X[1::2])
    for more in ({"strategy": "iterative"}, {"strategy": "lowrank", "n_landmarks": len(X[::2])}):
        model = solver(**settings, **more).fit(X[::2], y[::2])
        found = model.predict_proba(X[1::2])
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        assert log_loss(y[1::2], found) < log_loss(y[1::2], P) + 0.02
        assert np.abs(found - P).max() < (0.1 if more["strategy"] == "iterative" else 1e-6)
    few = solver(**settings, strategy="lowrank", n_landmarks=40).fit(X[::2], y[::2])
    assert log_loss(y[1::2], few.predict_proba(X[1::2])) < log_loss(y[1::2], P) + 0.1


def test_low_rank_probabilities_come_from_some_samples_left_out(monkeypatch):
    X, y = noisy()
    monkeypatch.setattr("kernreg.solvers.dual.matrix_free._SOME", 50)
    model = LSSVC("rbf(sigma=2.0)", gamma=0.5, strategy="lowrank", n_landmarks=60).fit(X, y)
    views, rows = model._some_left_out
    whole = LSSVC("rbf(sigma=2.0)", gamma=[0.5], strategy="lowrank", n_landmarks=60).fit(X, y)
    assert len(rows) == 50
    np.testing.assert_allclose(views["decision"], whole.loo_views_["decision"][rows].reshape(50, -1), atol=1e-10)


@pytest.mark.parametrize("strategy", ["lowrank", "sketched"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "given", [{"ensembler": name} for name in ("average", "source", "target")] + [{}], ids=lambda given: str(given)
)
def test_probabilities_from_some_samples_are_near_those_from_all(monkeypatch, given, classes, weighted, strategy):
    X, y = noisy(1200, classes)
    solver = AsKLSClassifier if given else LSSVC
    weights = np.linspace(0.5, 2.0, 1000) if weighted else None
    settings = {"gamma": 0.5, "strategy": strategy, "n_landmarks": 60, **given}

    def probabilities_of_the_others():
        model = solver("rbf(sigma=2.0)", **settings).fit(X[:1000], y[:1000], sample_weight=weights)
        return model.predict_proba(X[1000:])

    P = probabilities_of_the_others()
    monkeypatch.setattr("kernreg.solvers.dual.matrix_free._SOME", 400)
    monkeypatch.setattr("kernreg.solvers.dual.sketched._ENOUGH", 200)
    found = probabilities_of_the_others()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert 1e-6 < np.abs(found - P).mean() < 0.15
    assert log_loss(y[1000:], found) < log_loss(y[1000:], P) + 0.1


def test_an_unknown_calibration_is_refused():
    X, y = noisy()
    with pytest.raises(ParameterError, match="calibration='platt' is not accepted"):
        LSSVC(calibration="platt").fit(X, y)


@pytest.mark.parametrize(
    "data", [load_iris, load_wine, load_breast_cancer, lambda **_: make_moons(500, noise=0.35, random_state=0)]
)
def test_calibration_is_as_good_as_that_of_cross_validated_svc(data):
    X, y = data(return_X_y=True)
    ours, theirs = [], []
    for seed in range(3):
        A, B, a, b = train_test_split(X, y, test_size=0.4, random_state=seed, stratify=y)
        scaler = StandardScaler().fit(A)
        A, B = scaler.transform(A), scaler.transform(B)
        for scores, model in ((ours, LSSVC()), (theirs, CalibratedClassifierCV(SVC(), cv=5))):
            P = model.fit(A, a).predict_proba(B)
            scores.append((log_loss(b, P), calibration_error(P, b)))
    assert np.all(np.mean(ours, axis=0) <= np.mean(theirs, axis=0) + 0.005)


@BOTH
@pytest.mark.parametrize("ensembler", ["average", "stack"])
def test_an_indicator_matrix_is_a_machine_for_each_label(solver, ensembler):
    X, y = noisy()
    Y = np.c_[y == 0, X[:, 0] > 0, np.zeros(300)].astype(int)
    params = {"ensembler": ensembler} if isinstance(solver, AsKLSClassifier) else {}
    model = with_params(solver, **params).fit(X, Y)
    sparse = with_params(solver, **params).fit(X, sp.csr_array(Y))
    np.testing.assert_array_equal(model.predict(X), sparse.predict(X))
    assert model.classes_.tolist() == [0, 1, 2]
    P = model.predict_proba(X)
    assert P.shape == model.decision_function(X).shape == model.predict_log_proba(X).shape == (300, 3)
    assert not model.predict(X)[:, 2].any()
    if ensembler == "average":
        for label in range(2):
            one = with_params(solver).fit(X, Y[:, label])
            np.testing.assert_allclose(model.decision_function(X)[:, label], one.decision_function(X), atol=1e-9)
            np.testing.assert_allclose(P[:, label], one.predict_proba(X)[:, 1], atol=1e-6)
    right = (model.predict(X) == Y).all(axis=1)
    assert model.score(X, Y) == model.score(X, sp.csr_array(Y)) == right.mean()
    chosen = with_params(solver, **params, gamma=[0.7, 5.0]).fit(X, Y)
    assert chosen.loo_score_ == chosen.loo_path_["score"].max()


@BOTH
def test_several_outputs_have_classes_of_their_own(solver):
    X, y = noisy()
    names = np.array(["red", "green", "blue"])[y]
    Y = np.c_[names, np.where(X[:, 0] > 0, "yes", "no")]
    model = with_params(solver).fit(X, Y)
    assert [classes.tolist() for classes in model.classes_] == [["blue", "green", "red"], ["no", "yes"]]
    first, second = with_params(solver).fit(X, names), with_params(solver).fit(X, Y[:, 1])
    np.testing.assert_array_equal(model.predict(X), np.c_[first.predict(X), second.predict(X)])
    P = model.predict_proba(X)
    np.testing.assert_allclose(P[0], first.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(P[1], second.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict_log_proba(X)[1], np.log(P[1]))
    assert model.score(X, Y) == (model.predict(X) == Y).all(axis=1).mean()
    with pytest.raises(DataError, match="one class only"):
        with_params(solver).fit(X, np.c_[names, np.full(300, "yes")])
    with pytest.raises(ParameterError, match="'one-vs-rest' for several"):
        LSSVC(multi_class="one-vs-one").fit(X, Y)
