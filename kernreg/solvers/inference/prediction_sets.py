"""Prediction sets of classification machines: the classes that cannot be excluded, by exact leave-one-out.

How little a sample conforms to class c is by how much the largest decision value of another class exceeds that of c::

    s(x, c) = max_{c' ≠ c} f_{c'}(x) - f_c(x)

which for two classes is minus twice the margin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.solvers.inference.conformal import check_coverage, conforming
from kernreg.solvers.inference.left_out import LeftOutModels, check_view, merged_training, one_view
from kernreg.solvers.samples import check_fitted


def predict_set(machine: Any, X: Any, coverage: float, view: str | None, allow_empty: bool) -> Any:
    """Return the sets of a fitted machine, (n, classes) or a list of such for several columns of labels."""
    alpha = check_coverage(coverage)
    check_fitted(machine)
    check_view(machine, view)
    models, targets = LeftOutModels(machine), machine._targets
    labels = machine._y.reshape(models.size, -1).T
    training = [
        true_class(nonconformity(part), output.codes(y))
        for output, part, y in zip(
            targets.outputs, targets.parts(merged_training(machine, models, view)), labels, strict=True
        )
    ]
    sets: list[list[np.ndarray]] = [[] for _ in training]
    for _, _, left_out in models.blocks(X):
        decision = one_view(machine, left_out, view)
        n, m = decision.shape[:2]
        for number, part in enumerate(targets.parts(decision.reshape(n * m, *decision.shape[2:]))):
            scores = nonconformity(part).reshape(n, m, -1)
            found = conforming(scores, training[number], alpha, machine._frequencies)
            if not allow_empty:
                fill_empty(found, np.median(scores, axis=1))
            sets[number].append(found)
    whole = [
        np.concatenate(found) if found else np.empty((0, len(output.classes)), dtype=bool)
        for output, found in zip(targets.outputs, sets, strict=True)
    ]
    return whole[0] if machine._y.ndim == 1 else whole


def nonconformity(decision: np.ndarray) -> np.ndarray:
    """Return s(x, c), (n, classes), of decision values (n,) of two classes or (n, classes).

    >>> nonconformity(np.array([0.5, -1.0])).tolist()
    [[1.0, -1.0], [-2.0, 2.0]]
    >>> nonconformity(np.array([[3.0, 1.0, 2.0]])).tolist()
    [[-1.0, 2.0, 1.0]]
    """
    f = np.asarray(decision, dtype=np.float64)
    if f.ndim == 1 or f.shape[1] == 1:
        return 2.0 * np.column_stack([f.ravel(), -f.ravel()])
    top = np.partition(f, -2, axis=1)
    highest, second = top[:, -1:], top[:, -2:-1]
    return np.where(f == highest, second, highest) - f


def true_class(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the score of each sample's own class."""
    return scores[np.arange(len(codes)), codes]


def fill_empty(sets: np.ndarray, scores: np.ndarray) -> None:
    """Put the class that conforms best into sets that are empty."""
    empty = np.flatnonzero(~sets.any(axis=1))
    sets[empty, scores[empty].argmin(axis=1)] = True
