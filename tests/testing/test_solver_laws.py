"""Every law of solvers is broken by a solver made wrong in just that way, and kept by the right ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

import kernreg as kr
from kernreg.solvers import KernelParameters, check_samples, check_training_set, require_symmetric
from kernreg.testing import LawViolation, check_solver, solver_checks, verdicts


class Ridge(RegressorMixin, BaseEstimator):
    """Regularised least squares on the features, with one view."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.coef_ = np.linalg.solve(X.T @ X + np.eye(X.shape[1]) / self.gamma, X.T @ y)
        return self

    def predict(self, X):
        return self.decision_views(X)["only"]

    def decision_views(self, X):
        check_is_fitted(self)
        # One sample at a time: numpy may sum in another order for another number of rows.
        return {"only": np.array([x @ self.coef_ for x in validate_data(self, X, reset=False)])}


class Sign(ClassifierMixin, BaseEstimator):
    """Nearest of two class means; labels may be anything."""

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


class Scale(TransformerMixin, BaseEstimator):
    """Divides by the standard deviation."""

    def fit(self, X, y=None):
        self.scale_ = validate_data(self, X).std(axis=0)
        return self

    def transform(self, X):
        check_is_fitted(self)
        return validate_data(self, X, reset=False) / self.scale_


class Particular(RegressorMixin, KernelParameters):
    """Kernel ridge regression: needs a symmetric kernel and says so."""

    requires_symmetric_kernel = True

    def __init__(self, kernel=None, gamma=1.0):
        self.kernel = kernel
        self.gamma = gamma

    def fit(self, X, y):
        data = check_training_set(self, self.resolve_kernel(), X, y)
        K = data.matrix()
        self.check(data.kernel, K)
        self.dual_coef_ = np.linalg.solve(K + np.eye(len(K)) / self.gamma, data.y)
        self.kernel_, self.X_fit_ = data.kernel, data.X
        return self

    def check(self, kernel, K):
        require_symmetric(kernel, K, who="Particular")

    def decision_views(self, X):
        check_is_fitted(self)
        return {"only": self.kernel_(check_samples(self, X, self.kernel_, reset=False), self.X_fit_) @ self.dual_coef_}

    def predict(self, X):
        return self.decision_views(X)["only"]


@pytest.mark.parametrize("solver", [Ridge, Ridge(gamma=3.0), Sign, Scale])
def test_a_right_solver_keeps_every_law(solver):
    check_solver(solver)


def test_a_right_solver_also_passes_the_checks_of_scikit_learn():
    check_solver(Scale, sklearn=True)


def test_what_scikit_learn_objects_to_is_a_violation():
    with pytest.raises(LawViolation, match="check_estimator says") as caught:
        check_solver(Ridge, sklearn=True)
    assert caught.value.law == "scikit-learn"


def test_the_law_about_asymmetry_is_only_for_solvers_that_declare_the_requirement():
    outcomes = {v.law: v for v in verdicts(Ridge)}
    assert outcomes["asymmetry refused"].outcome == "not applicable"
    assert "requires_symmetric_kernel" in outcomes["asymmetry refused"].detail


# One wrong solver per law.


class ConstructorValidates(Ridge):
    def __init__(self, gamma=1.0):
        if gamma <= 0:
            raise ValueError("gamma must be positive")
        self.gamma = gamma


class ConstructorConverts(Ridge):
    def __init__(self, gamma=1.0):
        self.gamma = str(gamma)


class ConstructorPrepares(Ridge):
    def __init__(self, gamma=1.0):
        self.gamma = gamma
        self.coef_ = None


class OpenConstructor(Ridge):
    def __init__(self, gamma=1.0, **options):
        self.gamma = gamma


class ForgetsParameter(Ridge):
    def set_params(self, **params):
        super().set_params(**params)
        if "gamma" in params:
            self.gamma = 1.0
        return self


class AcceptsAnyParameter(Ridge):
    def set_params(self, **params):
        params.pop("no_such_parameter", None)
        return super().set_params(**params)


class OtherClone(Ridge):
    def __sklearn_clone__(self):
        return Ridge(gamma=self.gamma + 1)


class ReturnsNothing(Ridge):
    def fit(self, X, y):
        super().fit(X, y)


class TunesItself(Ridge):
    def fit(self, X, y):
        self.gamma = 10.0
        return super().fit(X, y)


class PublicName(Ridge):
    def fit(self, X, y):
        self.weights = y
        return super().fit(X, y)


class PredictsUnfitted(Ridge):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "coef_") else np.zeros(len(X))


class CentresInPlace(Ridge):
    def fit(self, X, y):
        super().fit(X, y)
        y -= 1e-3
        return self


class Random(Ridge):
    rng = np.random.default_rng(0)

    def fit(self, X, y):
        super().fit(X, y)
        self.coef_ = self.coef_ + 1e-6 * self.rng.random(len(self.coef_))
        return self


class WarmStarts(Ridge):
    def fit(self, X, y):
        before = getattr(self, "coef_", 0.0)
        super().fit(X, y)
        self.coef_ = self.coef_ + 0.1 * before
        return self


class Unpicklable(Ridge):
    def fit(self, X, y):
        super().fit(X, y)
        self.function_ = lambda x: x
        return self


class DependsOnOthers(Ridge):
    def predict(self, X):
        values = super().predict(X)
        return values - values.mean()


class OneForAll(Ridge):
    def predict(self, X):
        return super().predict(X)[:1]


class ViewsInAList(Ridge):
    def predict(self, X):
        return Ridge.decision_views(self, X)["only"]

    def decision_views(self, X):
        return Ridge.decision_views(self, X)["only"]


class ViewsOfDifferentShapes(Ridge):
    def decision_views(self, X):
        views = super().decision_views(X)
        return {**views, "wide": np.stack([views["only"]] * 2, axis=1)}


class AcceptsNaN(Ridge):
    def fit(self, X, y):
        return super().fit(np.nan_to_num(X), y)


class AcceptsFewerFeatures(Ridge):
    def decision_views(self, X):
        check_is_fitted(self)
        X = np.asarray(X)
        if np.isnan(X).any():
            raise ValueError("nan in X")
        return {"only": np.array([x @ self.coef_[: X.shape[1]] for x in X])}


class SilentError(Ridge):
    def fit(self, X, y):
        try:
            return super().fit(X, y)
        except ValueError:
            raise ValueError from None


class Symmetrises(Particular):
    def check(self, kernel, K):
        K += K.T
        K /= 2.0


class HidesParameters(Particular):
    def get_params(self, deep=True):
        return super().get_params(deep=False)


class SetsNothing(Particular):
    def set_params(self, **params):
        return super().set_params(**{name: value for name, value in params.items() if not name.startswith("kernel__")})


class ForgetsOnCloning(Particular):
    def __sklearn_clone__(self):
        return type(self)(gamma=self.gamma)


class DeafToItsKernel(Particular):
    requires_symmetric_kernel = False

    def fit(self, X, y):
        asked, self.kernel = self.kernel, "rbf(sigma=1.0)"
        super().fit(X, y)
        self.kernel = asked
        return self


class FitsAnotherInASearch(Particular):
    """The kernel of a copy is not quite the one that was set."""

    def set_params(self, **params):
        super().set_params(**params)
        if "kernel__sigma" in params:
            self.gamma = 2.0
        return self


class RequiresWithoutKernel(Ridge):
    requires_symmetric_kernel = True


class Shifted(Ridge):
    """Two attributes, one after the other, with a step between them."""

    def fit(self, X, y):
        self.shift_ = float(np.sum(y)) / max(len(y), 1)
        super().fit(X, y - self.shift_)
        return self

    def predict(self, X):
        return super().predict(X) + self.shift_


class KeepsTheCallersSamples(Ridge):
    def fit(self, X, y):
        super().fit(X, y)
        self.y_ = np.asarray(y)
        return self

    def predict(self, X):
        return super().predict(X) + self.y_.mean()


class ReadsItsParameter(Ridge):
    def predict(self, X):
        return super().predict(X) * (1.0 if self.gamma == 1.0 else 2.0)


class FailsAboutItsParameter(Ridge):
    def predict(self, X):
        return super().predict(X) * float(self.gamma)


SEARCH = "kernel parameters in a search"
WRONG = [
    (ConstructorValidates, "constructor only stores", "does more than store"),
    (ConstructorConverts, "constructor only stores", "'gamma' is not stored as given"),
    (ConstructorPrepares, "constructor only stores", "also sets coef_"),
    (OpenConstructor, "constructor only stores", r"takes \*\*options"),
    (ForgetsParameter, "parameters", "does not make get_params"),
    (AcceptsAnyParameter, "parameters", "was accepted"),
    (OtherClone, "clone", "expected another OtherClone"),
    (ReturnsNothing, "fit returns self", "must return the solver itself"),
    (TunesItself, "fit returns self", "changed its parameters gamma"),
    (PublicName, "fitted attributes", "fit sets weights"),
    (PredictsUnfitted, "unfitted refused", "predict before fit: expected NotFittedError"),
    (CentresInPlace, "input untouched", "y was modified"),
    (Random, "determinism", "a clone fitted to the same data differs"),
    (WarmStarts, "determinism", "fitting the same solver again differs"),
    (Unpicklable, "pickle", "it raised"),
    (DependsOnOthers, "one result per sample", "predict of some samples"),
    (OneForAll, "one result per sample", r"predict of 15 samples has shape \(1,\)"),
    (ViewsInAList, "decision views", "returned ndarray, expected a dict"),
    (ViewsOfDifferentShapes, "decision views", "different shapes"),
    (AcceptsNaN, "wrong input", "fit with nan in X: expected ValueError, but nothing was raised"),
    (AcceptsFewerFeatures, "wrong input", "one feature too few"),
    (SilentError, "wrong input", "without a message"),
    (Symmetrises, "asymmetry refused", "fit with an asymmetric kernel"),
    (HidesParameters, SEARCH, "inherit kernreg.solvers.KernelParameters"),
    (SetsNothing, SEARCH, r"get_params\(\) has no kernel__sigma"),
    (ForgetsOnCloning, SEARCH, r"then clone: get_params\(\)\['kernel__sigma'\] is 'scale'"),
    (DeafToItsKernel, SEARCH, "give the same results"),
    (FitsAnotherInASearch, SEARCH, "after a grid search that chose kernel__sigma=1.0 differs"),
    (RequiresWithoutKernel, "asymmetry refused", "no parameter named kernel"),
    (Shifted, "interrupted refit", "predict is a mixture"),
    (KeepsTheCallersSamples, "own samples", "predict follows the caller's arrays"),
    (ReadsItsParameter, "parameters of the fit", r"after set_params\(gamma=…\), predict differs \(keep .* self.gamma_"),
    (FailsAboutItsParameter, "parameters of the fit", r"results raise TypeError.* \(keep what fit used"),
]


@pytest.mark.parametrize(("solver", "law", "message"), WRONG, ids=[solver.__name__ for solver, *_ in WRONG])
def test_a_wrong_solver_fails_at_the_law_it_breaks(solver, law, message):
    with pytest.raises(LawViolation, match=message) as caught:
        check_solver(solver)
    assert caught.value.law == law
    assert caught.value.subject == f"solver {solver.__name__}"


def test_every_law_of_solvers_is_broken_by_some_wrong_solver():
    laws = {check.law.name for check in solver_checks(Particular)}
    assert laws == {law for _, law, _ in WRONG}


def test_a_solver_that_refuses_asymmetry_keeps_the_law():
    check_solver(Particular)


@pytest.mark.parametrize("kernel", ["rbf", "rbf(sigma=2.0)", kr.make_kernel("rbf(sigma=2.0)"), "linear"], ids=repr)
def test_the_law_of_searches_takes_any_form_of_the_kernel(kernel):
    (check,) = [check for check in solver_checks(Particular(kernel=kernel)) if check.law.name == SEARCH]
    check()


def test_a_solver_without_a_kernel_is_excused_from_the_law_of_searches():
    (verdict,) = [verdict for verdict in verdicts(Ridge) if verdict.law == SEARCH]
    assert (verdict.outcome, verdict.detail) == ("not applicable", "it has no parameter kernel")
