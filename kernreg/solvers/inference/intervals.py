"""Prediction intervals of regression machines without assumptions on the noise: jackknife+ from exact leave-one-out."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.solvers.inference.conformal import check_coverage, interval
from kernreg.solvers.inference.left_out import LeftOutModels, check_view, merged_training, one_view
from kernreg.solvers.samples import check_fitted


def predict_interval(machine: Any, X: Any, coverage: float, view: str | None = None) -> np.ndarray:
    """Return intervals of a fitted machine, (n, 2) or for several outputs (n, outputs, 2)."""
    alpha = check_coverage(coverage)
    check_fitted(machine)
    check_view(machine, view)
    models = LeftOutModels(machine)
    outputs = machine._coefficients.shape[2]
    truth = machine._targets.values(machine._y)
    residuals = np.abs(truth - merged_training(machine, models, view)).reshape(models.size, outputs)
    weights = machine._frequencies
    parts = []
    for _, _, left_out in models.blocks(X):
        predictions = one_view(machine, left_out, view).reshape(-1, models.size, outputs)
        each = [
            interval(np.ascontiguousarray(predictions[:, :, c]), residuals[:, c], alpha, weights)
            for c in range(outputs)
        ]
        parts.append(np.stack(each, axis=1))
    found = np.concatenate(parts) if parts else np.empty((0, outputs, 2))
    return found[:, 0] if machine._targets.flat else found
