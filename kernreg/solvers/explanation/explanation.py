"""Explanation: what each feature adds to each prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.display import Display
from kernreg.errors import MissingExtra, ParameterError


@dataclass(frozen=True)
class Explanation(Display):
    """Shapley values: the prediction of a sample is the base plus the sum of the values of its features.

    Attributes
    ----------
    values : ndarray of shape (n, d) or (n, d, columns)
    base_values : float or ndarray of shape (columns,)
        The prediction without any feature.
    data : ndarray of shape (n, d)
        The samples.
    feature_names : list of str
    output_names : list of str or None
        Of classes.
    game : {"kernel", "interventional"}
        What stands in for features left out.
    """

    values: np.ndarray
    base_values: Any
    data: np.ndarray
    feature_names: list[str]
    output_names: list[str] | None = None
    game: str = "kernel"

    @property
    def predictions(self) -> np.ndarray:
        """The decision values that are explained, (n,) or (n, columns)."""
        return np.asarray(self.base_values) + self.values.sum(axis=1)

    def importance(self, output: int | None = None) -> np.ndarray:
        """Return the mean magnitude of the values of each feature, (d,), over samples and outputs or one output."""
        values = self.values if output is None else self.of_output(output)
        return np.abs(values).mean(axis=tuple(axis for axis in range(values.ndim) if axis != 1))

    def of_output(self, output: int = 0) -> np.ndarray:
        """Return the values (n, d) of one output."""
        if self.values.ndim == 2:
            return self.values
        if not -self.values.shape[2] <= output < self.values.shape[2]:
            raise ParameterError(f"output={output} is not accepted; there are {self.values.shape[2]} outputs, from 0")
        return self.values[:, :, output]

    def plot(self, kind: str = "beeswarm", **options: Any) -> Any:
        """Draw: ``"beeswarm"`` of all samples, ``"bar"`` of importances, or ``"one"`` prediction (``sample=0``).

        Options are those of `kernreg.plotting.ExplanationDisplay.plot`.
        """
        from kernreg.plotting import ExplanationDisplay

        return ExplanationDisplay.from_explanation(self, kind, **options)

    def to_shap(self) -> Any:
        """Return it as ``shap.Explanation``, for the pictures of that package."""
        try:
            import shap  # type: ignore[import-not-found, import-untyped, unused-ignore]  # optional
        except ImportError as error:
            raise MissingExtra("to_shap needs the package shap, which is not installed: pip install shap") from error
        base = np.asarray(self.base_values, dtype=np.float64)
        return shap.Explanation(
            values=self.values,
            base_values=np.broadcast_to(base, (len(self.values), *base.shape)).copy(),
            data=self.data,
            feature_names=self.feature_names,
            output_names=self.output_names if self.values.ndim == 3 else None,
        )
