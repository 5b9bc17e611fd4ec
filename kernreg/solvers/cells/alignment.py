"""Decision values and probabilities of one cell, which may lack classes, as columns of all classes.

A class that no sample of a cell has is -1 there: what least squares machines of one class against the rest find
themselves where all targets are -1. Its probability is 1/(N + C) for N samples and C classes, as of targets smoothed in
Platt's way; those of the classes that are there are scaled to leave room for it. So a cell of one class has no machine.
"""

from __future__ import annotations

import numpy as np


def aligned_decision(decision: np.ndarray | None, present: np.ndarray, n_classes: int, n: int) -> np.ndarray:
    """Return decision values (n, columns): one column for two classes, else one for each class.

    Parameters
    ----------
    decision : ndarray of shape (n,) or (n, classes of the cell), or None
        None where the cell has one class.
    present : ndarray of int
        The codes of its classes among all.
    n_classes : int
    n : int
        Number of samples.

    Examples
    --------
    >>> aligned_decision(np.array([0.5, -2.0]), np.array([0, 2]), 3, 2).tolist()
    [[-0.5, -1.0, 0.5], [2.0, -1.0, -2.0]]
    >>> aligned_decision(None, np.array([0]), 2, 1).tolist()
    [[-1.0]]
    """
    if decision is None:
        values = np.ones((n, 1))
    elif decision.ndim == 1:
        values = np.column_stack([-decision, decision])
    else:
        values = decision
    if len(present) == n_classes == 2:
        return values[:, 1:]
    # Never above all others, whatever the solver's values are.
    absent = np.where(values.max(axis=1, initial=-np.inf) > -1.0, -1.0, values.max(axis=1) - 1.0)
    found = np.repeat(absent.astype(values.dtype)[:, None], n_classes, axis=1)
    found[:, present] = values
    return found[:, 1:] if n_classes == 2 else found


def aligned_probabilities(
    probabilities: np.ndarray | None, present: np.ndarray, n_classes: int, n: int, size: float
) -> np.ndarray:
    """Return probabilities (n, n_classes) that sum to 1.

    Parameters
    ----------
    probabilities : ndarray of shape (n, classes of the cell), or None
        None where the cell has one class.
    present, n_classes, n
        As for `aligned_decision`.
    size : float
        Samples of the cell.

    Examples
    --------
    >>> aligned_probabilities(np.array([[0.25, 0.75]]), np.array([0, 2]), 3, 1, 7.0).tolist()
    [[0.225, 0.1, 0.675]]
    """
    there = np.ones((n, 1)) if probabilities is None else probabilities
    if len(present) == n_classes:
        return there
    found = np.full((n, n_classes), 1.0 / (size + n_classes), dtype=there.dtype)
    found[:, present] = there * (size + len(present)) / (size + n_classes)
    return found
