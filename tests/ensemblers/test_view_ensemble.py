from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernreg.ensemblers import Stack, ViewEnsemble
from kernreg.errors import DataError, ParameterError
from kernreg.solvers import AsKLSClassifier


class TwoViews(ClassifierMixin, BaseEstimator):
    """Regularised least squares on X and on its squares: two views, exact leave-one-out values by hat matrices."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def _features(self, X):
        one = np.ones((len(X), 1))
        return {"source": np.hstack([X, one]), "target": np.hstack([X**2, one])}

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        codes = np.searchsorted(self.classes_, y)
        T = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        self.flat_ = len(self.classes_) == 2
        T = T[:, 1] if self.flat_ else T
        self.coef_, self.loo_views_ = {}, {}
        for name, F in self._features(X).items():
            inverse = np.linalg.inv(F.T @ F + self.alpha * np.eye(F.shape[1]))
            self.coef_[name] = inverse @ F.T @ T
            keep = 1 - np.einsum("ij,jk,ik->i", F, inverse, F)
            residual = T - F @ self.coef_[name]
            self.loo_views_[name] = T - (residual.T / keep).T
        return self

    def decision_views(self, X):
        return {name: F @ self.coef_[name] for name, F in self._features(X).items()}

    def predict(self, X):
        raise NotImplementedError


@pytest.fixture(params=[2, 3])
def data(request):
    return make_classification(
        150, 6, n_informative=4, n_classes=request.param, n_clusters_per_class=1, flip_y=0.1, random_state=0
    )


SOLVERS = [("two", TwoViews()), ("ridge", RidgeClassifier())]


def test_average_is_the_mean_of_all_views(data):
    X, y = data
    ensemble = ViewEnsemble(SOLVERS).fit(X, y)
    two, ridge = TwoViews().fit(X, y).decision_views(X), RidgeClassifier().fit(X, y).decision_function(X)
    np.testing.assert_allclose(ensemble.decision_function(X), (two["source"] + two["target"] + ridge) / 3, rtol=1e-12)
    assert sorted(ensemble.decision_views(X)) == ["ridge", "two.source", "two.target"]
    assert ensemble.weights_ == pytest.approx(dict.fromkeys(["ridge", "two.source", "two.target"], 1 / 3))
    assert ensemble.learnt_from_ == {"two": "training", "ridge": "training"}
    assert ensemble.score(X, y) > 0.7


def test_stack_is_fitted_to_leave_one_out_and_out_of_fold_views(data):
    X, y = data
    ensemble = ViewEnsemble(SOLVERS, ensembler="stack").fit(X, y)
    assert ensemble.learnt_from_ == {"two": "loo", "ridge": "folds"}
    solver = TwoViews().fit(X, y)
    folds = cross_val_predict(RidgeClassifier(), X, y, cv=StratifiedKFold(10), method="decision_function")
    views = {f"two.{name}": view for name, view in solver.loo_views_.items()} | {"ridge": folds}
    expected = Stack().fit(views, np.where(y == 1, 1, -1) if len(ensemble.classes_) == 2 else y)
    for name, weight in expected.weights_.items():
        np.testing.assert_allclose(ensemble.weights_[name], weight, rtol=1e-8)


def test_leave_one_out_views_of_the_test_solver_are_exact(data):
    X, y = data
    loo = TwoViews().fit(X, y).loo_views_
    for i in (0, 17):
        rest = np.delete(np.arange(len(y)), i)
        again = TwoViews().fit(X[rest], y[rest]).decision_views(X[[i]])
        for name, view in again.items():
            np.testing.assert_allclose(loo[name][i], view[0], rtol=1e-10)


def test_out_of_fold_views_can_be_asked_for(data):
    X, y = data
    ensemble = ViewEnsemble([("two", TwoViews())], ensembler="stack", learn_from="folds", cv=4).fit(X, y)
    assert ensemble.learnt_from_ == {"two": "folds"}
    with pytest.raises(ParameterError, match="RidgeClassifier has no loo_views_"):
        ViewEnsemble(SOLVERS, ensembler="stack", learn_from="loo").fit(X, y)


def test_fold_models_are_averaged_without_refit(data):
    X, y = data
    ensemble = ViewEnsemble([("two", TwoViews())], ensembler="stack(method='logistic')", cv=5, refit=False).fit(X, y)
    models = [TwoViews().fit(X[train], y[train]) for train, _ in StratifiedKFold(5).split(X, y)]
    expected = np.mean([model.decision_views(X)["source"] for model in models], axis=0)
    np.testing.assert_allclose(ensemble.decision_views(X)["two.source"], expected, rtol=1e-10)


def test_probabilities_where_the_ensembler_gives_them(data):
    X, y = data
    assert not hasattr(ViewEnsemble(SOLVERS), "predict_proba")
    ensemble = ViewEnsemble(SOLVERS, ensembler="stack(method='logistic')").fit(X, y)
    p = ensemble.predict_proba(X)
    assert p.shape == (len(y), len(ensemble.classes_))
    np.testing.assert_array_equal(ensemble.classes_[p.argmax(axis=1)], ensemble.predict(X))


def test_fitted_solvers_are_taken_as_they_are(data):
    X, y = data
    first, second = slice(0, 90), slice(90, None)
    solvers = [(name, clone(solver).fit(X[first], y[first])) for name, solver in SOLVERS]
    ensemble = ViewEnsemble(solvers, ensembler="best", prefit=True).fit(X[second], y[second])
    assert ensemble.solvers_[0][1][0] is solvers[0][1]
    assert set(ensemble.learnt_from_.values()) == {"given"}
    own = ViewEnsemble(solvers[:1], ensembler="best", prefit=True, learn_from="loo").fit(X[first], y[first])
    assert own.learnt_from_ == {"two": "loo"}
    with pytest.raises(DataError, match="Were other samples given"):
        ViewEnsemble(solvers[:1], ensembler="best", prefit=True, learn_from="loo").fit(X[second], y[second])
    with pytest.raises(NotFittedError):
        ViewEnsemble(SOLVERS, prefit=True).fit(X, y)


def test_labels_may_be_strings(data):
    X, y = data
    names = np.array(["alpha", "beta", "gamma"])[y]
    ensemble = ViewEnsemble(SOLVERS, ensembler="best").fit(X, names)
    assert set(ensemble.predict(X)) <= set(names)
    np.testing.assert_array_equal(
        ensemble.predict(X), np.unique(names)[ViewEnsemble(SOLVERS, ensembler="best").fit(X, y).predict(X)]
    )


def test_parameters_inside_are_reached_by_a_grid_search():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        ViewEnsemble([("lda", LinearDiscriminantAnalysis()), ("ridge", RidgeClassifier())], ensembler="stack"),
        {"ridge__alpha": [0.1, 100.0], "cv": [3], "ensembler": ["stack", "average"]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.get_params()["ridge__alpha"] in (0.1, 100.0)


def test_pickle_and_clone(data):
    X, y = data
    ensemble = ViewEnsemble(SOLVERS, ensembler="stack").fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ensemble)).predict(X), ensemble.predict(X))
    np.testing.assert_array_equal(clone(ensemble).fit(X, y).decision_function(X), ensemble.decision_function(X))


@pytest.mark.parametrize(
    ("ensemble", "error", "message"),
    [
        (ViewEnsemble([]), ParameterError, "give a list of"),
        (ViewEnsemble("ask-ls"), ParameterError, "give a list of"),
        (ViewEnsemble([("a", RidgeClassifier()), ("a", RidgeClassifier())]), ParameterError, "given twice"),
        (ViewEnsemble([("a__b", RidgeClassifier())]), ParameterError, "'a__b'"),
        (ViewEnsemble(SOLVERS, learn_from="nothing"), ParameterError, "learn_from='nothing'"),
        (ViewEnsemble([("k", KNeighborsClassifier())]), ParameterError, "neither decision_views nor"),
        (ViewEnsemble(SOLVERS, "stack", cv=KFold(2), learn_from="folds"), DataError, "leaves a class without"),
    ],
)
def test_wrong_parameters_are_refused(ensemble, error, message):
    X = np.random.default_rng(0).standard_normal((40, 3))
    with pytest.raises(error, match=message):
        ensemble.fit(X, np.repeat([0, 1], 20))


def test_one_class_is_refused():
    with pytest.raises(DataError, match="one class only"):
        ViewEnsemble([("a", RidgeClassifier())]).fit(np.eye(4), np.zeros(4))


def test_solvers_by_spec_are_merged_by_leave_one_out_views():
    X, y = load_iris(return_X_y=True)
    specs = [("sne", "ask-ls(kernel='sne(sigma=1.0)', gamma=0.5)"), ("rbf", "ls-svm(kernel='rbf(sigma=2.0)')")]
    ensemble = ViewEnsemble(specs, ensembler="stack(method='logistic')").fit(X[::2], y[::2])
    assert ensemble.learnt_from_ == {"sne": "loo", "rbf": "loo"}
    assert sorted(ensemble.weights_) == ["rbf", "sne.source", "sne.target"]
    assert ensemble.score(X[1::2], y[1::2]) > 0.9


def test_folds_take_the_place_of_leave_one_out_values_a_strategy_does_not_give():
    X, y = load_iris(return_X_y=True)
    solvers = [("all", "ls-svm"), ("some", "ls-svm(strategy='lowrank', n_landmarks=30)")]
    both = ViewEnsemble([*solvers, ("krylov", "ls-svm(strategy='iterative')")], ensembler="stack", cv=3).fit(X, y)
    assert both.learnt_from_ == {"all": "loo", "some": "folds", "krylov": "folds"}
    assert both.score(X, y) > 0.9
    with pytest.raises(ParameterError, match="no leave-one-out values"):
        ViewEnsemble(solvers[1:], ensembler="stack", learn_from="loo").fit(X, y)


def test_pairs_of_source_and_target_samples_are_cut_into_folds_together():
    X, y = load_iris(return_X_y=True)
    source, target = X[:, :2], X[:, 2:]
    solver = AsKLSClassifier(kernel="rbf(sigma=3.0)", gamma=0.01)
    merged = ViewEnsemble([("only", solver)], ensembler="stack", learn_from="folds", cv=3).fit((source, target), y)
    views = {name: np.empty((150, 3)) for name in ("source", "target")}
    for train, test in StratifiedKFold(3).split(X, y):
        model = clone(solver).fit((source[train], target[train]), y[train])
        for name, values in model.decision_views((source[test], target[test])).items():
            views[name][test] = values
    for name, weights in Stack().fit(views, y).weights_.items():
        np.testing.assert_allclose(merged.weights_[f"only.{name}"], weights, rtol=1e-6)


@parametrize_with_checks(
    [ViewEnsemble([("logistic", LogisticRegression()), ("ridge", RidgeClassifier())], "stack", cv=3)]
)
@pytest.mark.filterwarnings("ignore")  # the checks provoke warnings of scikit-learn's own estimators
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
