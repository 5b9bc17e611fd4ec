"""Shapley values of sums of products, one factor for each of d features, by Gauss-Legendre quadrature.

With factors p_j of the sample to explain and q_j of what stands in for features left out (1, or those of a background
sample), the game of a training sample is v(S) = Π_{j∈S} p_j Π_{j∉S} q_j, and its Shapley values::

    φ_j = (p_j - q_j) ∫₀¹ Π_{l≠j} ((1 - t) q_l + t p_l) dt

because ∫ t^s (1 - t)^(d-1-s) dt = s! (d-1-s)! / d! are the weights of coalitions of s features. The integrand is a
polynomial of degree d - 1 with non-negative factors: ⌈d/2⌉ nodes are exact, nothing cancels, and no coalition is
counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.engine.compiler.compile import compiled
from kernreg.engine.threads import run_tasks
from kernreg.jit import wide

_CHUNK = 64  # training samples at once: their products stay in cache


def make_products() -> Callable[..., None]:
    """Driver: φ of one sample against background samples, summed over training samples with their coefficients."""

    def products(p, q, single, coefficients, nodes, weights, step, before, sums, phi):
        wide()
        d, m = p.shape
        width = before.shape[1]
        after = before[d]
        for start in range(0, m, width):
            count = min(width, m - start)
            for b in range(q.shape[0]):
                sums[:] = 0.0
                for g in range(len(nodes)):
                    t = nodes[g]
                    after[:] = weights[g]
                    before[0] = 1.0
                    for j in range(d):
                        here, now = p[j, start : start + count], step[j]
                        if single:
                            for i in range(count):
                                now[i] = (1.0 - t) + t * here[i]
                        else:
                            other = q[b, j, start : start + count]
                            for i in range(count):
                                now[i] = (1.0 - t) * other[i] + t * here[i]
                    for j in range(d - 1):
                        now, so_far, following = step[j], before[j], before[j + 1]
                        for i in range(width):
                            following[i] = so_far[i] * now[i]
                    for j in range(d - 1, -1, -1):
                        now, so_far, total = step[j], before[j], sums[j]
                        for i in range(width):
                            total[i] += so_far[i] * after[i]
                            after[i] *= now[i]
                for j in range(d):
                    here, total = p[j, start : start + count], sums[j]
                    if single:
                        for i in range(count):
                            total[i] *= here[i] - 1.0
                    else:
                        other = q[b, j, start : start + count]
                        for i in range(count):
                            total[i] *= here[i] - other[i]
                    for c in range(coefficients.shape[0]):
                        each = coefficients[c, start : start + count]
                        added = 0.0
                        for i in range(count):
                            added += total[i] * each[i]
                        phi[j, c] += added

    return products


def product_values(p: np.ndarray, coefficients: np.ndarray, q: np.ndarray | None = None) -> np.ndarray:
    """Return Shapley values (n, d, columns), with background samples the sum over them.

    Parameters
    ----------
    p : ndarray of shape (n, d, m)
        Factors of the samples to explain with the training samples.
    coefficients : ndarray of shape (m, columns)
    q : ndarray of shape (b, d, m), optional
        Factors of background samples; by default all are 1.

    Examples
    --------
    Of two features each brings half of what both bring together:

    >>> product_values(np.array([[[0.5], [0.5]]]), np.ones((1, 1)))[0, :, 0].tolist()
    [-0.375, -0.375]
    """
    n, d = p.shape[:2]
    x, w = np.polynomial.legendre.leggauss(max(1, (d + 1) // 2))
    nodes, weights = 0.5 * (x + 1.0), 0.5 * w
    single = q is None
    others = np.ones((1, 1, 1)) if q is None else np.ascontiguousarray(q, dtype=np.float64)
    A = np.ascontiguousarray(coefficients.T, dtype=np.float64)
    p = np.ascontiguousarray(p, dtype=np.float64)
    phi = np.zeros((n, d, coefficients.shape[1]))
    driver: Any = compiled(make_products, "shapley", fastmath={"contract", "reassoc", "nsz"})

    def task(number: int) -> None:
        step, before, sums = np.ones((d, _CHUNK)), np.empty((d + 1, _CHUNK)), np.empty((d, _CHUNK))
        driver(p[number], others, single, A, nodes, weights, step, before, sums, phi[number])

    run_tasks(task, n)
    return phi
