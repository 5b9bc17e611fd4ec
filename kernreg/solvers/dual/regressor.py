"""Dual machines that predict real outputs: values, and intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kernreg.solvers.dual.machine import DualMachine
from kernreg.solvers.dual.targets import RealTargets
from kernreg.solvers.inference.intervals import predict_interval
from kernreg.solvers.inference.robust import fit_reweighted
from kernreg.solvers.streamed import row_by_row


class DualRegressor(RegressorMixin, DualMachine):
    """One or several real outputs."""

    _flat: bool
    robust: str | None = None

    def _way_to_fit(self, X: Any, y: Any, sample_weight: Any) -> Callable[[], None]:
        """Return what fits, with samples that the others contradict counting less where that is asked for.

        It is called by ``fit`` itself, so that warnings of regressors are as far from their caller as those of others.
        """
        self.__dict__.pop("robust_weights_", None)
        fit = partial(self._fit, X, y)
        if self.robust is None:
            return partial(fit, sample_weight)
        return partial(fit_reweighted, self, self.robust, fit, 0 if y is None else len(y), sample_weight)

    def _encode(self, y: np.ndarray) -> RealTargets:
        return RealTargets(flat=y.ndim == 1)

    @property
    def _targets(self) -> RealTargets:
        return RealTargets(flat=self._flat)

    @row_by_row
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted output(s) of each sample."""
        return self._merge(self.decision_views(X))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, view: str | None = None) -> np.ndarray:
        """Return prediction intervals without assumptions on the noise, by jackknife+ from exact leave-one-out.

        Where samples are exchangeable an interval holds the output with a probability of about ``coverage``, and of at
        least 2 coverage - 1, whatever the kernel and the distribution. With too few samples for the coverage, fewer
        than 1/(1 - coverage) - 1, it is infinite.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d)
        coverage : float
        view : str, optional
            The view to take, ``"source"`` or ``"target"``; by default the merged prediction.

        Returns
        -------
        ndarray of shape (n, 2), or (n, outputs, 2) for several outputs
            The lower and the upper end.

        Examples
        --------
        >>> from kernreg.solvers import LSSVR
        >>> x = np.linspace(0, 6, 100)[:, None]
        >>> y = np.sin(x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(100)
        >>> model = LSSVR(kernel="rbf(sigma=2.0)", gamma=10.0).fit(x, y)
        >>> low, high = model.predict_interval([[3.0]], coverage=0.9)[0]
        >>> bool(low < np.sin(3.0) < high), bool(high - low < 0.5)
        (True, True)
        """
        return predict_interval(self, X, coverage, view)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
