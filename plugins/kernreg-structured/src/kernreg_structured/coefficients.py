"""The coefficient of Gower for blocks of pairs, compiled: one pass over each column, along the second samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg_structured.compiling import compiled


@compiled
def _complete(X, Z, weights, A, C, unequal, out):
    """Weighted distances where nothing is missing; X is rows × columns, Z columns × rows."""
    total = weights.sum() + unequal.sum()
    for i in range(X.shape[0]):
        row = out[i]
        row[:] = 0.0
        for k in range(0, X.shape[1] - 1, 2):  # two columns in one pass over the row
            x, w, z = X[i, k], weights[k], Z[k]
            y, v, u = X[i, k + 1], weights[k + 1], Z[k + 1]
            for j in range(z.shape[0]):
                apart, other = abs(x - z[j]), abs(y - u[j])
                row[j] += (apart if apart < w else w) + (other if other < v else v)
        if X.shape[1] % 2:
            x, w, z = X[i, -1], weights[-1], Z[-1]
            for j in range(z.shape[0]):
                apart = abs(x - z[j])
                row[j] += apart if apart < w else w
        for k in range(0, A.shape[1] - 1, 2):
            a, w, c = A[i, k], unequal[k], C[k]
            b, v, e = A[i, k + 1], unequal[k + 1], C[k + 1]
            for j in range(c.shape[0]):
                row[j] += (0.0 if a == c[j] else w) + (0.0 if b == e[j] else v)
        if A.shape[1] % 2:
            a, w, c = A[i, -1], unequal[-1], C[-1]
            for j in range(c.shape[0]):
                row[j] += 0.0 if a == c[j] else w
        for j in range(row.shape[0]):
            row[j] = 1.0 - row[j] / total


@compiled
def _with_missing(X, Z, weights, A, C, unequal, out):
    """The same over the columns that both samples of a pair have; 0 where there is none."""
    known = np.empty(out.shape[1])
    for i in range(X.shape[0]):
        row = out[i]
        row[:] = 0.0
        known[:] = 0.0
        for k in range(X.shape[1]):
            x, w, z = X[i, k], weights[k], Z[k]
            if x == x:
                for j in range(z.shape[0]):
                    apart = abs(x - z[j])
                    apart = apart if apart < w else w
                    there = z[j] == z[j]
                    row[j] += apart if there else 0.0
                    known[j] += w if there else 0.0
        for k in range(A.shape[1]):
            a, w, c = A[i, k], unequal[k], C[k]
            if a == a:
                for j in range(c.shape[0]):
                    there = c[j] == c[j]
                    row[j] += 0.0 if (a == c[j] or not there) else w
                    known[j] += w if there else 0.0
        for j in range(row.shape[0]):
            row[j] = 1.0 - row[j] / known[j] if known[j] > 0.0 else 0.0


def coefficients(numbers: Any, categories: Any, complete: bool) -> np.ndarray:
    """Return 1 - Σ_k distance_k / Σ_k w_k of all pairs.

    Parameters
    ----------
    numbers : tuple of ndarray
        Of shape (n, p) and (m, p), multiplied by their weights and divided by their ranges; and the p weights.
    categories : tuple of ndarray
        Of shape (n, q) and (m, q), values that are equal or not; and the q weights.
    complete : bool
        Whether no value is missing.
    """
    (X, Z, weights), (A, C, unequal) = numbers, categories
    out = np.empty((len(X), len(Z)))
    fill = _complete if complete else _with_missing
    X, Z, A, C = (np.ascontiguousarray(table) for table in (X, Z.T, A, C.T))
    fill(X, Z, weights, A, C, unequal, out)
    return out
