"""Regression in cells: see `CellsRegressor`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kernreg.solvers.cells.documentation import documented
from kernreg.solvers.cells.machine import CellMachine
from kernreg.solvers.cells.training import CellData
from kernreg.solvers.dual.targets import RealTargets
from kernreg.solvers.streamed import row_by_row
from kernreg.solvers.views import Views


@documented
class CellsRegressor(RegressorMixin, CellMachine):
    """Local regression for many samples: they are partitioned into cells, and each cell gets an exact machine.

    Parameters
    ----------
    solver : str, class or estimator, optional
        The machine of a cell, any regression; by default ``"ls-svr(gamma='loo')"``.
    {parameters}

    Attributes
    ----------
    {fitted}

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0.0, 20.0, (3000, 1))
    >>> y = np.sin(x[:, 0]) + 0.1 * rng.standard_normal(3000)
    >>> model = CellsRegressor(cell_size=300, overlap=0.3, n_nearest=2).fit(x, y)
    >>> float(np.abs(model.predict([[2.0], [15.0]]) - np.sin([2.0, 15.0])).max().round(1))
    0.0
    """

    default_solver = "ls-svr(gamma='loo')"

    _flat: bool

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CellsRegressor:
        """Fit to samples in rows and their outputs.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d), a pair of them for ``ask-lsr``, or what else the kernel takes
        y : array-like of shape (m,) or (m, outputs)
        sample_weight : array-like of shape (m,), optional
            As the solver takes it. A sample of weight zero is left out; the partition counts samples, not weights.
        """
        self._fit(X, y, sample_weight)
        return self

    def _targets_of(self, data: CellData) -> dict[str, Any]:
        return {"_flat": data.y.ndim == 1}

    def _codes(self, y: np.ndarray, kept: dict[str, Any]) -> np.ndarray:
        return np.arange(2)  # a machine for every cell

    def _answer(self, cell: int, values: np.ndarray | None, n: int) -> np.ndarray:
        assert values is not None
        return values.reshape(n, -1)

    def _decision(self, machine: Any, X: Any) -> np.ndarray:
        return np.asarray(machine.predict(X))

    @row_by_row
    def decision_views(self, X: Any) -> Views:
        """Return the outputs that each view of the solver predicts, by name; each as `predict` gives them."""

        def ask(view: str) -> Any:
            return lambda cell, samples, n: self._answer(cell, self.solvers_[cell].decision_views(samples)[view], n)

        return {view: self._shaped(self._routed(X, ask(view))) for view in self._view_names()}

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted output(s) of each sample."""
        return self._shaped(self._routed(X, self._said))

    @property
    def loo_decision_(self) -> np.ndarray:
        """Exact leave-one-out predictions of the samples of the fit, in the shape of `predict`.

        The partition, widths and γ are those of all samples. Samples of zero weight are not among them.
        """
        return self._shaped(self._loo())

    @property
    def loo_score_(self) -> float:
        """Exact leave-one-out R² over the samples of all cells."""
        decision = self.loo_decision_
        return RealTargets(flat=self._flat).score(decision, self._y, self._weights)

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
