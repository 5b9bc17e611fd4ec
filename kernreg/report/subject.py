"""What a report is about: a model, the machine at its end, and samples as that machine sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from kernreg.chain.passing import passed_on
from kernreg.common.lazy import computed_once
from kernreg.errors import DataError

#: Samples from which on what needs an inverse of the kernel matrix is left out.
LARGEST = 4000
_ROWS = 2000  # of the table, that intervals and sets are computed for


@dataclass(frozen=True)
class Subject:
    """A fitted model and a table of samples with known targets.

    Attributes
    ----------
    model : fitted estimator
    X : array of shape (n, d)
    y : ndarray of shape (n,)
    feature_names : list of str or None
    coverage : float
        Coverage of intervals and prediction sets.
    random_state : int
        Of which samples are drawn, where there are many.
    """

    model: Any
    X: Any
    y: np.ndarray
    feature_names: list[str] | None = None
    coverage: float = 0.9
    random_state: int = 0

    def __post_init__(self) -> None:
        if np.ndim(self.y) != 1:
            raise DataError(f"y has shape {np.shape(self.y)}; a report is about one output")
        if not hasattr(self.model, "predict"):
            raise DataError(f"{type(self.model).__name__} makes no predictions, and a report is about predictions")

    @computed_once
    def classifies(self) -> bool:
        """Whether the model predicts classes."""
        return is_classifier(self.model)

    @computed_once
    def machine(self) -> Any:
        """The dual machine at the end of the model; None where it ends otherwise."""
        last = self.model
        for attribute in ("steps_", "steps"):
            if isinstance(getattr(last, attribute, None), list):
                last = getattr(last, attribute)[-1][1]
                break
        return last if hasattr(type(last), "loo_views_") and hasattr(last, "dual_coef_") else None

    @computed_once
    def inner(self) -> Any:
        """The samples as the machine sees them."""
        if self.machine is self.model:
            return self.X
        if isinstance(self.model, Pipeline):
            return self.model[:-1].transform(self.X) if len(self.model) > 1 else self.X
        return passed_on([step for _, step in self.model.steps_[:-1]], self.X)

    @computed_once
    def names(self) -> list[str] | None:
        """The names of the features that the machine sees, where they are those of the table."""
        names, width = self.feature_names, np.shape(self.inner)[1] if np.ndim(self.inner) == 2 else None
        return list(names) if names is not None and len(names) == width else None

    @computed_once
    def predictions(self) -> np.ndarray:
        """What the model predicts."""
        return np.asarray(self.model.predict(self.X))

    @computed_once
    def seen(self) -> bool:
        """Whether the model was fitted to these very samples."""
        fitted = getattr(self.machine, "_y", None)
        return fitted is not None and fitted.shape == self.y.shape and bool(np.all(fitted == self.y))

    @computed_once
    def some(self) -> np.ndarray:
        """Rows of the table: all, or as many drawn at random as a page can show."""
        return self.rows(_ROWS)

    def rows(self, count: int) -> np.ndarray:
        """Return at most as many rows, drawn at random, in their order."""
        n = len(self.y)
        return np.arange(n) if n <= count else np.sort(np.random.default_rng(self.random_state).permutation(n)[:count])

    def without_matrix(self) -> str:
        """Return why nothing can be said that needs the inverse of the kernel matrix, nothing where it can."""
        if self.machine is None:
            return "The model does not end in a dual machine (ls-svm, ls-svr, ask-ls, ask-lsr)."
        strategy, m = self.machine.solver_report_.strategy, len(self.machine._y)
        if strategy != "exact":
            return f"The model was fitted by strategy {strategy!r}, without the kernel matrix."
        if self.machine.solver_report_.damped:
            return "The solution is damped at a pole, and has no models without one sample."
        if self.machine._targets.pairwise:
            return "The model has a machine for each pair of classes; fit it with multi_class='one-vs-rest' for this."
        if m > LARGEST:
            return f"The model was fitted to {m} samples; beyond {LARGEST} this takes too long for a page."
        return ""
