"""A classifier made of several solvers (or one solver with several kernels) and an ensembler."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernreg.ensemblers.folds import out_of_fold, two_samples
from kernreg.ensemblers.views import Views, predicted_codes
from kernreg.errors import DataError, ParameterError, shown
from kernreg.factory import make_ensembler, make_solver
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.views import learns

LEARNT_FROM = ("auto", "loo", "folds")


def _gives_probabilities(estimator: ViewEnsemble) -> bool:
    ensembler = getattr(estimator, "ensembler_", None)
    return hasattr(make_ensembler(estimator.ensembler) if ensembler is None else ensembler, "proba")


class ViewEnsemble(ClassifierMixin, AtomicFit, _BaseComposition, BaseEstimator):
    """Merge the decision views of several solvers with an ensembler.

    Every solver gives its views (``decision_views``, or ``decision_function`` where it has none). The ensembler is
    fitted to their values on samples that were left out: exact leave-one-out values from solvers that have
    ``loo_views_``, out-of-fold values from the others.

    Parameters
    ----------
    solvers : list of (name, solver)
        A solver is a spec such as ``"ask-ls(kernel='sne(sigma=2.0)')"``, a solver of kernreg, or any classifier of
        scikit-learn with a decision function. Parameters inside are set as ``name__gamma``.
    ensembler : str or ensembler
        A spec such as ``"stack(method='logistic')"``, a class or an object.
    learn_from : {"auto", "loo", "folds"}
        What the ensembler is fitted to: leave-one-out views, out-of-fold views, or whichever is there.
        (``auto`` takes folds where a solver's strategy gives no leave-one-out values.)
    cv : int or splitter
        The folds; a number is stratified, in the order of the samples, with no more folds than the smallest class
        has samples.
    refit : bool
        How new samples are seen where folds were made: by solvers fitted to all samples, or (False) by the mean of the
        fold models, as He et al. (TPAMI 2023) do.
    prefit : bool
        Take the solvers as they are, fitted. ``fit`` then fits the ensembler only, to the views of the samples
        it is given, which should be new to the solvers; or to ``loo_views_`` with ``learn_from="loo"``, and then the
        samples are those the solvers were fitted to.

    Attributes
    ----------
    classes_ : ndarray
    solvers_ : list of (name, models)
        The fitted models of each solver, a list: one, or one for each fold with ``refit=False``.
    ensembler_ : ensembler
    weights_ : dict
        The ensembler's weights, where it has any; views are named ``name.view``, or ``name`` if it is the only one.
    learnt_from_ : dict
        Solver name to "loo", "folds", "given" or "training" (for ensemblers that learn nothing from the values).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.linear_model import RidgeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> both = ViewEnsemble([("lda", LinearDiscriminantAnalysis()), ("ridge", RidgeClassifier())], ensembler="stack")
    >>> both.fit(X, y).score(X, y) > 0.9
    True
    >>> sorted(both.weights_), both.learnt_from_["lda"]
    (['lda', 'ridge'], 'folds')
    """

    def __init__(
        self,
        solvers: Any,
        ensembler: Any = "average",
        learn_from: str = "auto",
        cv: Any = 10,
        refit: bool = True,
        prefit: bool = False,
    ):
        self.solvers = solvers
        self.ensembler = ensembler
        self.learn_from = learn_from
        self.cv = cv
        self.refit = refit
        self.prefit = prefit

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also the solvers by name, and theirs as ``name__gamma``."""
        if not isinstance(self.solvers, list):
            return BaseEstimator.get_params(self, deep=deep)
        return self._get_params("solvers", deep=deep)

    def set_params(self, **params: Any) -> ViewEnsemble:
        """Set parameters, those of a solver as ``name__gamma``."""
        if not isinstance(self.solvers, list):
            return BaseEstimator.set_params(self, **params)
        self._set_params("solvers", **params)
        return self

    # Fit ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any) -> ViewEnsemble:
        """Fit the solvers, then the ensembler to their views of samples left out."""
        solvers = self._check_parameters()
        if y is None:
            raise DataError("ViewEnsemble requires y to be passed, but the target y is None")
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        # Sparse formats without rows become CSR. A tuple is a pair: source and target features of the same samples.
        X = tuple(indexable(*X, y)[:-1]) if isinstance(X, tuple) else indexable(X, y)[0]
        if self.prefit:
            self.classes_ = _common_classes(solvers)
        else:
            self.classes_ = np.unique(y)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise DataError(f"y holds {unknown[0]!r}, which the fitted solvers do not know; they know {self.classes_}")
        codes = np.searchsorted(self.classes_, y)
        if len(self.classes_) < 2:
            raise DataError(
                f"y has {'one class only' if len(y) else 'no samples'} (classes {self.classes_.tolist()}, {len(y)} "
                "samples); a classifier needs at least 2 classes"
            )
        ensembler = make_ensembler(self.ensembler)
        self.ensembler_ = clone(ensembler) if hasattr(ensembler, "get_params") else ensembler
        self.solvers_: list[tuple[str, list[Any]]] = []
        self.learnt_from_: dict[str, str] = {}
        shown, goal = X, np.where(codes == 1, 1, -1) if len(self.classes_) == 2 else codes
        if not learns(self.ensembler_):
            shown, goal = two_samples(X, goal)
        views: Views = {}
        for name, solver in solvers:
            models, found, how = self._fit_one(solver, X, y, shown)
            self.solvers_.append((name, models))
            self.learnt_from_[name] = how
            views.update(self._named(name, found, len(goal)))
        first = self.solvers_[0][1][0]
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, attribute):
                setattr(self, attribute, getattr(first, attribute))
        self.ensembler_.fit(views, goal)
        return self

    def _check_parameters(self) -> list[tuple[str, Any]]:
        if self.learn_from not in LEARNT_FROM:
            accepted = ", ".join(map(repr, LEARNT_FROM))
            raise ParameterError(f"learn_from={shown(self.learn_from)}; accepted are {accepted}")
        pairs = self.solvers
        if not isinstance(pairs, list) or not pairs or not all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
            raise ParameterError(
                f"solvers={shown(pairs)}; give a list of (name, solver), for example [('a', 'ask-ls'), ('b', 'ls-svm')]"
            )
        names = [name for name, _ in pairs]
        wrong = [name for name in names if not isinstance(name, str) or "__" in name or names.count(name) > 1]
        if wrong:
            raise ParameterError(f"the solver name {wrong[0]!r} is not a string, or is given twice, or holds '__'")
        return [(name, make_solver(solver)) for name, solver in pairs]

    def _fit_one(self, solver: Any, X: Any, y: np.ndarray, shown: Any) -> tuple[list[Any], Views, str]:
        """Return the models of one solver, its views of samples left out, and how these were had."""
        if not learns(self.ensembler_):
            model = solver if self.prefit else clone(solver).fit(X, y)
            return [model], _views_of(model, shown), "training"
        folds = self.learn_from == "folds" or (self.learn_from == "auto" and not self.refit)
        if folds and not self.prefit:
            models, found = self._out_of_fold(solver, X, y)
            return [clone(solver).fit(X, y)] if self.refit else models, found, "folds"
        model = solver if self.prefit else clone(solver).fit(X, y)
        if self.learn_from == "loo" or not self.prefit:
            left_out = self._left_out(model)
            if left_out is not None:
                return [model], left_out, "loo"
        if self.prefit:
            return [model], _views_of(model, X), "given"
        return [model], self._out_of_fold(solver, X, y)[1], "folds"

    def _left_out(self, model: Any) -> Views | None:
        """Return the exact leave-one-out views of a fitted model; None where it has none and need not have any."""
        # Asked of the class first: where it is a property it is computed when looked at.
        if hasattr(type(model), "loo_views_") or hasattr(model, "loo_views_"):
            try:
                return dict(model.loo_views_)
            except ParameterError:  # a strategy without leave-one-out
                if self.learn_from == "loo":
                    raise
        elif self.learn_from == "loo":
            raise ParameterError(f"{type(model).__name__} has no loo_views_; use learn_from='folds' or 'auto'")
        return None

    def _out_of_fold(self, solver: Any, X: Any, y: np.ndarray) -> tuple[list[Any], Views]:
        return out_of_fold(lambda X, y: clone(solver).fit(X, y), _views_of, X, y, self.cv, classes=True)

    def _named(self, name: str, views: Views, n: int) -> Views:
        shape = (n,) if len(self.classes_) == 2 else (n, len(self.classes_))
        for view, values in views.items():
            if values.shape != shape:
                raise DataError(
                    f"the view {view!r} of {name!r} has shape {values.shape}, expected {shape}: one decision value for "
                    "two classes, else one per class (one-vs-rest). Were other samples given than in the solver's fit?"
                )
        return {name if len(views) == 1 else f"{name}.{view}": values for view, values in views.items()}

    # Results ------------------------------------------------------------------------------------------------

    @property
    def weights_(self) -> Any:
        """The ensembler's weights of the views."""
        check_is_fitted(self, "ensembler_")
        return self.ensembler_.weights_

    def decision_views(self, X: Any) -> Views:
        """Return the views of all solvers, by name."""
        check_is_fitted(self, "ensembler_")
        views: Views = {}
        for name, models in self.solvers_:
            found = [_views_of(model, X) for model in models]
            mean = {view: np.mean([each[view] for each in found], axis=0) for view in found[0]}
            views.update(self._named(name, mean, len(next(iter(mean.values())))))
        return views

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the merged decision values: (n,) for two classes, positive for ``classes_[1]``; else (n, C)."""
        views = self.decision_views(X)
        return self.ensembler_.merge(views)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample."""
        check_is_fitted(self, "ensembler_")
        return self.classes_[predicted_codes(self.decision_function(X))]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, where the ensembler gives them."""
        views = self.decision_views(X)
        return self.ensembler_.proba(views)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(solver) for _, solver in self.solvers or () if hasattr(solver, "__sklearn_tags__")]
        tags.input_tags.sparse = bool(inner) and all(tag.input_tags.sparse for tag in inner)
        return tags


def _views_of(solver: Any, X: Any) -> Views:
    if hasattr(solver, "decision_views"):
        return dict(solver.decision_views(X))
    if not hasattr(solver, "decision_function"):
        raise ParameterError(
            f"{type(solver).__name__} has neither decision_views nor decision_function, so it has no view to merge"
        )
    return {"decision": np.asarray(solver.decision_function(X))}


def _common_classes(solvers: list[tuple[str, Any]]) -> np.ndarray:
    for name, solver in solvers:
        check_is_fitted(solver)
        if not np.array_equal(solver.classes_, solvers[0][1].classes_):
            raise DataError(
                f"the fitted solvers know different classes: {solvers[0][0]!r} {solvers[0][1].classes_}, {name!r} "
                f"{solver.classes_}"
            )
    return np.asarray(solvers[0][1].classes_)
