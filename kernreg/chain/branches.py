"""Several steps side by side, on the same samples and with the same kernel in force."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition, available_if
from sklearn.utils.validation import check_is_fitted

from kernreg.chain.passing import feature_names, features_of, fit_step
from kernreg.chain.spec import steps_spec
from kernreg.chain.steps import DECOMPOSER, PREDICTOR, TRANSFORMER, own_kernel, role_of, takes_kernel
from kernreg.chain.views import left_out_views, views_of
from kernreg.errors import ChainError, shown
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.views import Views


def _gives_views(branches: Any) -> bool:
    return branches._role() == PREDICTOR


def _gives_features(branches: Any) -> bool:
    return branches._role() != PREDICTOR


class Parallel(AtomicFit, _BaseComposition, BaseEstimator):
    """Branches that all see the same samples: predictors, whose views are merged by the ensembler that follows, or
    steps that give features, which are put side by side.

    Parameters
    ----------
    branches : list of (name, step)
        Steps or chains, all predictors or all givers of features. `parallel` makes it from specs.

    Attributes
    ----------
    branches_ : list of (name, fitted step)

    Examples
    --------
    >>> from kernreg.chain import parallel
    >>> [name for name, _ in parallel("ls-svm", "ask-ls").branches]
    ['lssvm', 'askls']
    """

    def __init__(self, branches: Any):
        self.branches = branches

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also the branches by name, and theirs as ``name__gamma``."""
        return self._get_params("branches", deep=deep)

    def set_params(self, **params: Any) -> Parallel:
        """Set parameters, those of a branch as ``name__gamma``."""
        self._set_params("branches", **params)
        return self

    # What the chain around it asks --------------------------------------------------------------------------

    def _role(self) -> str:
        if not isinstance(self.branches, list) or not self.branches:
            raise ChainError(f"parallel has branches={shown(self.branches)}; give at least one step")
        roles = {name: role_of(step) for name, step in self.branches}
        if all(role == PREDICTOR for role in roles.values()):
            return PREDICTOR
        if all(role in (DECOMPOSER, TRANSFORMER) for role in roles.values()):
            return DECOMPOSER if DECOMPOSER in roles.values() else TRANSFORMER
        listed = ", ".join(f"{name!r} is a {role}" for name, role in roles.items())
        raise ChainError(
            f"the branches of parallel cannot be combined: {listed}. All must be predictors, or all must give features "
            "(kernels are combined by + and *)"
        )

    def _takes_kernel(self) -> bool:
        return any(takes_kernel(step) for _, step in self.branches)

    def _own_kernel(self) -> Any:
        kernels = [own_kernel(step) for _, step in self.branches if takes_kernel(step)]
        return kernels[0] if kernels and all(kernel is not None for kernel in kernels) else None

    def _spec(self, where: str) -> dict[str, Any]:
        return {"parallel": steps_spec(self.branches, f"{where}.")}

    def _map(self, function: Any) -> Parallel:
        return Parallel([(name, function(step)) for name, step in self.branches])

    # Estimator ----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Parallel:
        """Fit every branch to the same samples."""
        self._role()
        self.branches_ = [(name, fit_step(clone(step), X, y, sample_weight)) for name, step in self.branches]
        return self

    @available_if(_gives_views)
    def decision_views(self, X: Any) -> Views:
        """Return the views of all branches, named ``branch`` or ``branch.view``."""
        check_is_fitted(self, "branches_")
        return self._named([views_of(model, X) for _, model in self.branches_])

    @property
    def loo_views_(self) -> Views | None:
        """Exact leave-one-out views of all branches; None where one of them has none."""
        check_is_fitted(self, "branches_")
        found = [left_out_views(model) for _, model in self.branches_]
        return None if any(each is None for each in found) else self._named(found)  # type: ignore[arg-type]  # just asked

    @available_if(_gives_views)
    def predict(self, X: Any) -> Any:
        """Not answered: several views need an ensembler to become one prediction."""
        raise ChainError(
            f"parallel({', '.join(name for name, _ in self.branches)}) gives several views and no single prediction; "
            "put an ensembler after it, for example 'average' or 'stack'"
        )

    @available_if(_gives_features)
    def transform(self, X: Any) -> Any:
        """Return the features of all branches side by side."""
        check_is_fitted(self, "branches_")
        parts = [features_of(model, X) for _, model in self.branches_]
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack(parts).tocsr()
        return np.hstack(parts)

    @available_if(_gives_features)
    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features, each after its branch: ``kpca__kernelpca0``."""
        check_is_fitted(self, "branches_")
        found = [(branch, feature_names([model], input_features)) for branch, model in self.branches_]
        return np.array([f"{branch}__{name}" for branch, names in found for name in names], dtype=object)

    def _named(self, found: list[Views]) -> Views:
        views: Views = {}
        for (name, _), each in zip(self.branches_, found, strict=True):
            views.update({name if len(each) == 1 else f"{name}.{view}": values for view, values in each.items()})
        shapes = {name: view.shape[1:] for name, view in views.items()}
        if len(set(shapes.values())) > 1:
            raise ChainError(f"the views of the branches have different shapes and cannot be merged: {shapes}")
        return views

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [step for _, step in self.branches if hasattr(step, "__sklearn_tags__")]
        tags.input_tags.sparse = bool(inner) and all(get_tags(step).input_tags.sparse for step in inner)
        if inner and (is_classifier(inner[0]) or is_regressor(inner[0])):
            first = get_tags(inner[0])
            tags.estimator_type = first.estimator_type
            tags.classifier_tags, tags.regressor_tags = first.classifier_tags, first.regressor_tags
            tags.target_tags.required = True
        return tags

    def _sk_visual_block_(self) -> Any:
        from sklearn.utils._repr_html.estimator import _VisualBlock

        names, steps = zip(*self.branches, strict=True)
        return _VisualBlock("parallel", steps, names=names)
