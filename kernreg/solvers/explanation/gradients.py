"""Slopes of decision values by the features, for differentiable kernels: ∂f/∂x_j = Σ_i a_i ∂k(x, x_i)/∂x_j."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError, ParameterError
from kernreg.solvers.kernel_gradients import differentiable, sample_gradients
from kernreg.solvers.samples import check_fitted, check_samples, has_features
from kernreg.solvers.views import Views


def decision_gradients(machine: Any, X: Any) -> Views:
    """Return the slopes of each view of a fitted dual machine; see `DualMachine.decision_gradients`."""
    check_fitted(machine)
    kernel = getattr(machine.kernel_, "unbound", machine.kernel_)
    if not has_features(machine.kernel_, machine.X_fit_) or not differentiable(kernel):
        raise ParameterError(
            f"the derivative of {kernel.name!r} by the features is not known here; rbf, linear, poly, tanh, cauchy, "
            "rational-quadratic, sne and t have one. permutation_importance takes any kernel"
        )
    new = check_samples(machine, X, machine.kernel_, reset=False)
    if hasattr(new, "toarray") or hasattr(machine.X_fit_, "toarray"):
        raise DataError("X is sparse; decision_gradients takes dense samples")
    train, new = (np.asarray(side, dtype=np.float64) for side in (machine.X_fit_, new))
    views = {}
    for number, name in enumerate(machine.views):
        if name == "target" and kernel.normalize:
            continue  # normalised by what stands in the other place: see below
        A = machine._coefficients[number].astype(np.float64)
        K = kernel(new, train)
        slopes = [sample_gradients(kernel, new, train, K, np.broadcast_to(a, K.shape))[0] for a in A.T]
        views[name] = np.stack(slopes, axis=2)
    if "target" in machine.views and kernel.normalize:
        views["target"] = _fixed_normalisers(machine, kernel, train, new)
    flat = machine._targets.is_flat(machine._coefficients.shape[2])
    return {name: views[name][:, :, 0] if flat else views[name] for name in machine.views}


def _fixed_normalisers(machine: Any, kernel: Any, train: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Slopes of Σ_i a_i w(x_i, x) / n_i, whose normalisers belong to the training samples and stay as they are."""
    K = np.asarray(machine.kernel_(train, new), dtype=np.float64)
    number = machine.views.index("target")
    slopes = []
    for a in machine._coefficients[number].astype(np.float64).T:
        slopes.append(sample_gradients(kernel, train, new, K, a[:, None] * np.ones_like(K), fixed=True)[1])
    return np.stack(slopes, axis=2)
