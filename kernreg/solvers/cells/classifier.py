"""Classification in cells: see `CellsClassifier`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from kernreg.solvers.cells.alignment import aligned_decision, aligned_probabilities
from kernreg.solvers.cells.documentation import documented
from kernreg.solvers.cells.machine import CellMachine
from kernreg.solvers.cells.training import CellData
from kernreg.solvers.dual.targets import ClassTargets
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import Views


@documented
class CellsClassifier(ClassifierMixin, CellMachine):
    """Local classifiers for many samples: they are partitioned into cells, and each cell gets an exact machine.

    Parameters
    ----------
    solver : str, class or estimator, optional
        The machine of a cell, any classifier; by default ``"ls-svm(gamma='loo')"``.
    {parameters}

    Attributes
    ----------
    classes_ : ndarray
    {fitted}

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(3000, noise=0.2, random_state=0)
    >>> clf = CellsClassifier(cell_size=500, overlap=0.5).fit(X[:2000], y[:2000])
    >>> clf.solver_report_.cells, bool(clf.score(X[2000:], y[2000:]) > 0.96), bool(clf.loo_score_ > 0.96)
    (4, True, True)
    """

    default_solver = "ls-svm(gamma='loo')"

    classes_: np.ndarray

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CellsClassifier:
        """Fit to samples in rows and their classes.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), a pair of them for ``ask-ls``, or what else the kernel takes
        y : array-like of shape (m,)
        sample_weight : array-like of shape (m,), optional
            As the solver takes it. A sample of weight zero is left out; the partition counts samples, not weights.
        """
        self._fit(X, y, sample_weight)
        return self

    def _targets_of(self, data: CellData) -> dict[str, Any]:
        return {"classes_": ClassTargets.of(data.y).classes}

    def _codes(self, y: np.ndarray, kept: dict[str, Any]) -> np.ndarray:
        return np.unique(ClassTargets(kept["classes_"]).codes(y))

    def _answer(self, cell: int, values: np.ndarray | None, n: int) -> np.ndarray:
        return aligned_decision(values, self._codes_of_cells[cell], len(self.classes_), n)

    def _decision(self, machine: Any, X: Any) -> np.ndarray:
        return np.asarray(machine.decision_function(X))

    @row_by_row
    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: (n,) for two classes, positive for ``classes_[1]``; (n, n_classes) for more."""
        return self._shaped(self._routed(X, self._said))

    @row_by_row
    def decision_views(self, X: Any) -> Views:
        """Return the decision values of each view of the solver, by name; each as `decision_function` gives them."""

        def ask(view: str) -> Any:
            def answer(cell: int, samples: Any, n: int) -> np.ndarray:
                machine = self.solvers_[cell]
                return self._answer(cell, None if machine is None else machine.decision_views(samples)[view], n)

            return answer

        return {view: self._shaped(self._routed(X, ask(view))) for view in self._view_names()}

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sample."""
        decision = self.decision_function(X)
        return ClassTargets(self.classes_).predicted(decision)

    @row_by_row
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities (n, n_classes), calibrated cell by cell on exact leave-one-out decisions.

        A class that no sample of a cell has is given 1/(N + C) there, for N samples and C classes.
        """

        def ask(cell: int, samples: Any, n: int) -> np.ndarray:
            machine, rows = self.solvers_[cell], self._rows[cell]
            size = float(len(rows) if self._weights is None else self._weights[rows].sum())
            found = None if machine is None else machine.predict_proba(samples)
            return aligned_probabilities(found, self._codes_of_cells[cell], len(self.classes_), n, size)

        return self._routed(X, ask)

    @row_by_row
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):  # an isotonic calibration knows impossible classes
            return np.log(self.predict_proba(X))

    @property
    def loo_decision_(self) -> np.ndarray:
        """Exact leave-one-out decision values of the samples of the fit, in the shape of `decision_function`.

        The partition, widths and γ are those of all samples. Samples of zero weight are not among them.
        """
        return self._shaped(self._loo())

    @property
    def loo_score_(self) -> float:
        """Exact leave-one-out accuracy over the samples of all cells."""
        decision = self.loo_decision_
        return ClassTargets(self.classes_).score(decision, self._y, self._weights)

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if values.shape[1] == 1 else values
