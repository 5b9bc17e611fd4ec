"""The Hilbert-Schmidt independence criterion: how much two kernels say about each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError
from kernreg.solvers import check_choice
from kernreg_metric.measures.matrices import doubly_centred, matrix_pair, require_symmetry

ESTIMATORS = ("biased", "unbiased")


def hsic(K: Any, L: Any, estimator: str = "biased") -> float:
    """Return the Hilbert-Schmidt independence criterion of two variables, from their kernel matrices.

    Zero in the limit of many samples exactly for independent variables, if the kernels are characteristic. ``biased``
    is never negative::

        HSIC_0 = tr(K J L J) / (n - 1)²,       J = I - 11ᵀ/n

    ``unbiased`` has the right mean for any n ≥ 4, and may be negative; K̃, L̃ are K, L with zeros on the diagonal::

        HSIC_1 = [tr(K̃L̃) + 1ᵀK̃1 1ᵀL̃1 / ((n-1)(n-2)) - 2 1ᵀK̃L̃1 / (n-2)] / (n(n-3))

    Parameters
    ----------
    K, L : array-like of shape (n, n)
        Symmetric kernel matrices of the two variables, on the same samples in the same order.
    estimator : {"biased", "unbiased"}

    References
    ----------
    Gretton, Bousquet, Smola & Schölkopf, Measuring statistical dependence with Hilbert-Schmidt norms, ALT 2005; Song,
    Smola, Gretton, Bedo & Borgwardt, Feature selection via dependence maximization, JMLR 13 (2012), for both.

    Examples
    --------
    >>> K = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> round(hsic(K, K), 6)
    0.361111
    >>> round(hsic(K, K, "unbiased"), 6)
    0.166667
    """
    check_choice("estimator", estimator, ESTIMATORS)
    left, right = matrix_pair(K, L)
    for name, matrix in (("K", left), ("L", right)):
        require_symmetry(matrix, name, "HSIC is defined for symmetric kernels; say how to make it one: (K + K.T) / 2")
    n, least = len(left), 2 if estimator == "biased" else 4
    if n < least:
        raise DataError(f"the {estimator} estimator of HSIC needs at least {least} samples, these are {n}")
    return _biased(left, right) if estimator == "biased" else _unbiased(left, right)


def _biased(K: np.ndarray, L: np.ndarray) -> float:
    return float(np.vdot(doubly_centred(K), L)) / (len(K) - 1) ** 2


def _unbiased(K: np.ndarray, L: np.ndarray) -> float:
    n = len(K)
    K, L = K.copy(), L.copy()
    np.fill_diagonal(K, 0.0)
    np.fill_diagonal(L, 0.0)
    rows_K, rows_L = K.sum(axis=1), L.sum(axis=1)
    value = float(np.vdot(K, L)) + float(rows_K.sum() * rows_L.sum()) / ((n - 1) * (n - 2))
    return (value - 2.0 * float(rows_K @ rows_L) / (n - 2)) / (n * (n - 3))
