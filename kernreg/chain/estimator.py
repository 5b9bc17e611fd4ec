"""A chain of steps as one estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from kernreg.chain.branches import Parallel
from kernreg.chain.passing import feature_names, fit_steps, passed_on
from kernreg.chain.spec import Composed, chain_spec, read_chain, read_steps
from kernreg.chain.steps import (
    DECOMPOSER,
    ENSEMBLER,
    LEARNER,
    PREDICTOR,
    TRANSFORMER,
    check_order,
    own_kernel,
    role_of,
    takes_kernel,
)
from kernreg.chain.views import left_out_views, views_of
from kernreg.common.checks import check_sound
from kernreg.ensemblers.folds import out_of_fold, two_samples
from kernreg.ensemblers.views import predicted_codes
from kernreg.errors import ChainError, DataError, ParameterError, shown
from kernreg.kernels.sharing import shared_matrices
from kernreg.solvers.parameters import KernelParameters, check_choice
from kernreg.solvers.samples import rows_of
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import Views, learns

LEARN_FROM = ("auto", "loo", "folds")


def _ends_in(*roles: str) -> Any:
    return available_if(lambda chain: chain._role() in roles)


def _gives_probabilities(chain: Any) -> bool:
    _, last = chain.steps_[-1] if hasattr(chain, "steps_") else chain.steps[-1]
    return hasattr(last, "proba") or hasattr(last, "predict_proba")


def _check_steps(steps: Any) -> None:
    check_sound("steps", steps)
    if not isinstance(steps, list) or not all(isinstance(step, tuple) and len(step) == 2 for step in steps):
        raise ChainError(f"steps={shown(steps)}; give a list of (name, step), or use make_chain, which finds names")
    names, taken = [name for name, _ in steps], {"steps", "kernel", "learn_from", "cv"}
    for name in names:
        if not isinstance(name, str) or "__" in name or names.count(name) > 1 or name in taken:
            raise ChainError(
                f"the name {name!r} of a step is not a string, or is given twice, or holds '__', or is a parameter"
            )
    check_order(steps)


class Chain(_BaseComposition, KernelParameters):
    """Steps in a row: each takes what the step before it gives.

    A kernel learner (``scg-ldk``) passes its ``kernel_`` to the next kernel method; a decomposer (``kpca``, ``ksvd``)
    passes features, both sides side by side where there are two; transformers of scikit-learn pass changed samples; a
    predictor ends in views, and an ensembler merges them. Steps that do not fit together are refused here.

    Parameters
    ----------
    steps : list of (name, step)
        Solvers, ensemblers, estimators of scikit-learn, chains and `Parallel` branches. `make_chain` makes it from
        specs.
    kernel : str, KernelFamily or Kernel, optional
        The kernel of every kernel method that has none of its own, up to the first decomposer. After that
        the features carry it, and ``linear`` takes its place.
    learn_from : {"auto", "loo", "folds"}
        What an ensembler that learns is fitted to: exact leave-one-out views of the last predictor, the steps before
        it held fixed; or out-of-fold views of the whole chain. ``auto`` takes the first where there are any.
    cv : int or splitter
        The folds.

    Attributes
    ----------
    steps_ : list of (name, fitted step)
    named_steps_ : dict
    classes_ : ndarray
        Of a classifier.
    learnt_from_ : str
        "loo", "folds", or "training" for an ensembler that learns nothing from values; where there is one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernreg.chain import make_chain
    >>> X, y = load_iris(return_X_y=True)
    >>> chain = make_chain(StandardScaler(), "ls-svm(gamma='loo')", kernel="rbf(sigma=2.0)").fit(X, y)
    >>> chain.score(X, y) > 0.9
    True
    """

    default_kernel = None  # each step has its own
    _sklearn_auto_wrap_output_keys = frozenset({"transform"})  # which set_output is about

    def __init__(self, steps: Any, kernel: Any = None, learn_from: str = "auto", cv: Any = 5):
        self.steps = steps
        self.kernel = kernel
        self.learn_from = learn_from
        self.cv = cv
        self._check()

    def _check(self) -> None:
        _check_steps(self.steps)
        check_choice("learn_from", self.learn_from, LEARN_FROM)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also the steps by name, and theirs as ``lssvm__kernel__sigma``."""
        return self._get_params("steps", deep=deep)

    def set_params(self, **params: Any) -> Chain:
        """Set parameters, those of a step as ``lssvm__gamma``, those of its kernel as ``lssvm__kernel__sigma``."""
        before = self.get_params(deep=False)
        try:
            if "steps" in params:
                _check_steps(params["steps"])
            self._set_params("steps", **params)
            self._check()
        except BaseException:  # what is refused changes nothing
            for name, value in before.items():
                setattr(self, name, value)
            raise
        return self

    # What a chain around it asks ----------------------------------------------------------------------------

    def _role(self) -> str:
        roles = [role_of(step) for _, step in self.steps]
        if roles[-1] == LEARNER and any(role != LEARNER for role in roles):
            return TRANSFORMER  # a kernel of samples that this chain has changed: of no use outside
        return PREDICTOR if roles[-1] == ENSEMBLER else roles[-1]

    def _kernel_users(self) -> list[Any]:
        """Return the steps that the chain's kernel is for: up to the first decomposer."""
        users = []
        for _, step in self.steps:
            if takes_kernel(step):
                users.append(step)
            if role_of(step) in (DECOMPOSER, LEARNER):
                break
        return users

    def _takes_kernel(self) -> bool:
        return bool(self._kernel_users())

    def _own_kernel(self) -> Any:
        if self.kernel is not None:
            return self.kernel
        kernels = [own_kernel(step) for step in self._kernel_users()]
        return kernels[0] if kernels and all(kernel is not None for kernel in kernels) else None

    # Fit ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Chain:
        """Fit the steps in order.

        Parameters
        ----------
        X : array-like, CSR, or what the first step takes
        y : array-like, optional
            Where a kernel learner has marked unlabelled samples (its ``unlabelled``), predictors after it are fitted to
            the labelled ones only.
        sample_weight : array-like, optional
            Given to every step that takes weights.
        """
        self._check()
        ensembler = self.steps[-1] if role_of(self.steps[-1][1]) == ENSEMBLER else None
        body = self.steps if ensembler is None else self.steps[:-1]
        with shared_matrices():
            for of_an_earlier_fit in ("classes_", "learnt_from_", "n_features_in_", "feature_names_in_"):
                self.__dict__.pop(of_an_earlier_fit, None)
            self.steps_, known = fit_steps(body, self.kernel, X, y, sample_weight)
            if hasattr(self.steps_[-1][1], "classes_"):
                self.classes_ = self.steps_[-1][1].classes_
            if ensembler is not None:
                X, y = (X, y) if known is None else (rows_of(X, known), np.asarray(y)[known])
                self.steps_.append((ensembler[0], self._fit_ensembler(ensembler[1], X, y)))
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.steps_[0][1], attribute):
                setattr(self, attribute, getattr(self.steps_[0][1], attribute))
        return self

    def _fit_ensembler(self, ensembler: Any, X: Any, y: Any) -> Any:
        predictor = self.steps_[-1][1]
        classes = is_classifier(predictor)
        if classes:
            check_classification_targets(y)
            y = column_or_1d(y, warn=True)
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise DataError(f"y has one class only ({self.classes_[0]!r}); a classifier needs at least 2 classes")
        y = np.asarray(y)
        views: Views | None
        if not learns(ensembler):
            some, y = two_samples(X, y)
            views, self.learnt_from_ = self._views(some, upto=len(self.steps_)), "training"
        else:
            views = None if self.learn_from == "folds" else left_out_views(predictor)
            if views is None and self.learn_from == "loo":
                raise ParameterError("the last predictor has no leave-one-out views; use learn_from='folds' or 'auto'")
            self.learnt_from_ = "folds" if views is None else "loo"
            if views is None:
                views = out_of_fold(self._fit_without_ensembler, views_of, X, y, self.cv, classes=classes)[1]
        if classes:
            codes = np.searchsorted(self.classes_, y)
            y = np.where(codes == 1, 1, -1) if len(self.classes_) == 2 else codes
        return clone(ensembler).fit(views, y)

    def _fit_without_ensembler(self, X: Any, y: Any) -> Chain:
        return Chain(self.steps[:-1], self.kernel).fit(X, y)

    # Results ------------------------------------------------------------------------------------------------

    @property
    def named_steps_(self) -> dict[str, Any]:
        """The fitted steps by name."""
        check_is_fitted(self, "steps_")
        return dict(self.steps_)

    @property
    def kernel_(self) -> Any:
        """The kernel of the last kernel learner or method."""
        check_is_fitted(self, "steps_")
        for _, model in reversed(self.steps_):
            if hasattr(model, "kernel_"):
                return model.kernel_
        raise AttributeError("no step of this chain has a kernel_")

    @property
    def loo_views_(self) -> Views | None:
        """Exact leave-one-out views of the last predictor, the steps before it held fixed; None where it has none."""
        check_is_fitted(self, "steps_")
        # Merged values of the samples the ensembler was fitted to would be too good.
        return None if self._merging() else left_out_views(self.steps_[-1][1])

    def _through(self, X: Any, upto: int) -> Any:
        return passed_on([model for _, model in self.steps_[:upto]], X)

    def _views(self, X: Any, upto: int) -> Views:
        return views_of(self.steps_[upto - 1][1], self._through(X, upto - 1))

    def _merging(self) -> bool:
        check_is_fitted(self, "steps_")
        return role_of(self.steps_[-1][1]) == ENSEMBLER

    @_ends_in(PREDICTOR)
    @row_by_row
    def decision_views(self, X: Any) -> Views:
        """Return the views of the last predictor, before any ensembler."""
        return self._views(X, len(self.steps_) - 1 if self._merging() else len(self.steps_))

    @_ends_in(PREDICTOR)
    @row_by_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values: merged by the ensembler, or those of the last predictor."""
        if self._merging():
            return np.asarray(self.steps_[-1][1].merge(self.decision_views(X)))
        last = self.steps_[-1][1]
        inner = self._through(X, len(self.steps_) - 1)
        if hasattr(last, "decision_function"):
            return last.decision_function(inner)
        views = views_of(last, inner)
        if len(views) > 1:
            raise ChainError(f"there are several views, {', '.join(views)}; end the chain with an ensembler")
        return next(iter(views.values()))

    @_ends_in(PREDICTOR)
    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the class, or the target, of each sample."""
        if not self._merging():
            return self.steps_[-1][1].predict(self._through(X, len(self.steps_) - 1))
        decision = self.decision_function(X)
        return self.classes_[predicted_codes(decision)] if hasattr(self, "classes_") else decision

    @available_if(_gives_probabilities)
    @row_by_row
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, where the ensembler or the last predictor gives them."""
        if self._merging():
            return self.steps_[-1][1].proba(self.decision_views(X))
        return self.steps_[-1][1].predict_proba(self._through(X, len(self.steps_) - 1))

    @_ends_in(DECOMPOSER, TRANSFORMER)
    @row_by_row
    def transform(self, X: Any) -> Any:
        """Return what comes out of the last step."""
        check_is_fitted(self, "steps_")
        return _wrap_data_with_container("transform", self._through(X, len(self.steps_)), X, self)

    @_ends_in(DECOMPOSER, TRANSFORMER)
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features that come out of the last step."""
        check_is_fitted(self, "steps_")
        given = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        return feature_names([model for _, model in self.steps_], given)

    def set_output(self, *, transform: str | None = None) -> Chain:
        """Say in what `transform` returns features: ``"default"`` (an array), ``"pandas"`` or ``"polars"``."""
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    @_ends_in(DECOMPOSER, TRANSFORMER)
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return what comes out of the last step for the training samples."""
        return self.fit(X, y).transform(X)

    @_ends_in(PREDICTOR)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or R² of a regression."""
        measure = accuracy_score if hasattr(self, "classes_") else r2_score  # as fitted, not as set since
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    # Form ---------------------------------------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        """Return the chain as a plain dict that JSON and TOML can hold; `from_spec` makes it again."""
        return chain_spec(self)

    def _spec(self, where: str) -> dict[str, Any]:
        return {"chain": self.spec()}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Chain:
        """Return the chain that a dict made by `spec` describes, unfitted."""
        return cls(**read_chain(spec, _COMPOSED))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "steps_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        steps = [step for _, step in self.steps if hasattr(step, "__sklearn_tags__")]
        if steps:
            first = get_tags(steps[0]).input_tags
            tags.input_tags.sparse, tags.input_tags.positive_only = first.sparse, first.positive_only
        predictors = [step for step in steps if is_classifier(step) or is_regressor(step)]
        if predictors:
            last = get_tags(predictors[-1])
            tags.estimator_type = last.estimator_type
            tags.classifier_tags, tags.regressor_tags = last.classifier_tags, last.regressor_tags
            tags.target_tags = last.target_tags
        elif any(get_tags(step).target_tags.required for step in steps):
            tags.target_tags.required = True
        return tags

    def _sk_visual_block_(self) -> Any:
        from sklearn.utils._repr_html.estimator import _VisualBlock

        steps, names = [step for _, step in self.steps], [f"{name}: {type(step).__name__}" for name, step in self.steps]
        return _VisualBlock("serial", steps, names=names, name_details=[*map(str, steps)], dash_wrapped=False)


_COMPOSED: Composed = {
    "chain": Chain.from_spec,
    "parallel": lambda branches: Parallel(read_steps(branches, _COMPOSED)),
}
