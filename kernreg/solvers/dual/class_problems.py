"""From class labels to ±1 targets and back: one-vs-rest and one-vs-one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True)
class Problem:
    """Targets (n, C) for some of the samples; ``rows`` None stands for all of them."""

    Y: np.ndarray
    rows: np.ndarray | None = None


def one_vs_rest(codes: np.ndarray, n_classes: int) -> list[Problem]:
    """Return one problem with a ±1 column for each class; of two classes the second is +1, in a single column.

    >>> one_vs_rest(np.array([0, 1, 1]), 2)[0].Y.ravel().tolist()
    [-1.0, 1.0, 1.0]
    """
    if n_classes == 2:
        return [Problem(np.where(codes == 1, 1.0, -1.0)[:, None])]
    return [Problem(np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0))]


def one_vs_one(codes: np.ndarray, n_classes: int) -> list[Problem]:
    """Return a problem for each pair of classes i < j, on their samples only; j is +1."""
    if n_classes == 2:
        return one_vs_rest(codes, 2)
    problems = []
    for i, j in combinations(range(n_classes), 2):
        rows = np.flatnonzero((codes == i) | (codes == j))
        problems.append(Problem(np.where(codes[rows] == j, 1.0, -1.0)[:, None], rows))
    return problems


def pairwise_votes(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Return votes (n, n_classes) from pairwise decisions (n, pairs), ties broken by the sum of decision values.

    The sums are squeezed into (-1/3, 1/3), so that they never outweigh a vote.
    """
    votes = np.zeros((len(decisions), n_classes), dtype=decisions.dtype)
    confidence = np.zeros_like(votes)
    for column, (i, j) in enumerate(combinations(range(n_classes), 2)):
        value = decisions[:, column]
        votes[:, j] += value > 0
        votes[:, i] += value <= 0
        confidence[:, j] += value
        confidence[:, i] -= value
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))


def predicted_codes(decision: np.ndarray) -> np.ndarray:
    """Return class codes from decision values: the sign of one value, the largest of several.

    >>> predicted_codes(np.array([-0.5, 2.0])).tolist()
    [0, 1]
    """
    if decision.ndim == 2 and decision.shape[1] > 1:
        return decision.argmax(axis=1)
    return (decision.ravel() > 0).astype(np.intp)
