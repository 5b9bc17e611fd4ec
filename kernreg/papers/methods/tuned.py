"""'kernreg tuned': many kernels, each tuned by exact leave-one-out, and the best of them or the mean of the best three.

Everything is chosen on training samples: each candidate by its leave-one-out decisions, and the mean of three against
the best one by the leave-one-out decisions of the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernreg.errors import KernregError, ParameterError
from kernreg.papers.description import Method, Outcome
from kernreg.papers.methods.tabular import fit_tuned
from kernreg.papers.splitting import Split

_WIDTHS = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0]

#: Kernel, solver, grid, parameters given per feature.
CANDIDATES: list[dict[str, Any]] = [
    {"kernel": "rbf", "grid": {"sigma": _WIDTHS}},
    {"kernel": "laplacian", "grid": {"sigma": [0.03, 0.1, 0.3, 1.0, 3.0]}, "per_feature": ["sigma"]},
    {"kernel": "matern", "grid": {"sigma": _WIDTHS[2:], "nu": [1.5]}},
    {"kernel": "tl1", "grid": {"rho": [0.1, 0.2, 0.4, 0.7, 1.0]}, "per_feature": ["rho"]},
    {"kernel": "poly", "grid": {"degree": [1, 2, 3], "c": [1.0]}},
    {"kernel": "sne", "grid": {"sigma": _WIDTHS[1:6]}, "solver": "ask-ls"},
    {"kernel": "t", "grid": {"sigma": [0.25, 1.0, 4.0]}, "solver": "ask-ls"},
]


def best_of(
    split: Split, *, candidates: Sequence[Mapping[str, Any]], gamma: str | Sequence[float], together: int
) -> Outcome:
    """Fit every candidate, and predict by the best one or by the mean decision of the best few.

    Parameters
    ----------
    split : Split
    candidates : sequence of mapping
        Arguments of `fit_tuned`.
    gamma : "loo" or sequence of float
    together : int
        How many the mean is of.
    """
    classes, codes = np.unique(split.y_train, return_inverse=True)
    fitted: list[tuple[Any, ...]] = []
    skipped = []
    for candidate in candidates:
        try:
            found = fit_tuned(split, gamma=gamma, **candidate).best_estimator
            left_out = _columns(_targets(codes, len(classes)) - found.loo_residuals_)
        except KernregError as error:  # every γ at a pole: this kernel is none for these data
            skipped.append(f"{candidate['kernel']}: {error}")
            continue
        fitted.append((*_quality(left_out, codes), len(fitted), candidate["kernel"], found, left_out))
    if not fitted:
        raise ParameterError(f"none of the candidates could be fitted: {'; '.join(skipped)}")
    fitted.sort(key=lambda item: item[:3])
    best = fitted[:1]
    several = fitted[:together]
    if _quality(np.mean([item[5] for item in several], axis=0), codes) < best[0][:2]:
        best = several
    decision = np.mean([_columns(item[4].decision_function(split.X_test)) for item in best], axis=0)
    chosen = [{"kernel": str(item[4].kernel), "gamma": float(item[4].gamma_), "loo_error": item[0]} for item in best]
    return Outcome(classes[decision.argmax(axis=1)], {"mean_of": chosen, "skipped": skipped})


def _columns(decision: np.ndarray) -> np.ndarray:
    """Return decisions with a column for each class, also of two classes."""
    return np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


def _targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def _quality(decision: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Return error rate and squared error, the smaller the better."""
    goal = np.where(codes[:, None] == np.arange(decision.shape[1]), 1.0, -1.0)
    return float((decision.argmax(axis=1) != codes).mean()), float(((goal - decision) ** 2).mean())


TUNED = Method(
    "tuned",
    "kernreg tuned",
    best_of,
    {"candidates": CANDIDATES, "gamma": "loo", "together": 3},
    {"candidates": CANDIDATES[:1] + CANDIDATES[3:4]},
    ours=True,
    note="seven kernels, each tuned by exact leave-one-out; the best, or the mean of the best three if its "
    "leave-one-out decisions are better.",
)
