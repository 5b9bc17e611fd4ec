"""AsK-LS as the authors' code solves it: damped, intercepts included, by conjugate gradients on kernel products.

With z = (a, c, b₁, b₂) the system of AsK-LS is A z = r, A symmetric::

    a/γ + K c + b₁ 1 = y,    c/γ + Kᵀ a + b₂ 1 = y,    Σ a = 0,    Σ c = 0

Where γ is at a pole, A is singular, and the solution of the authors' code is (A² + λI)⁻¹ A r with λ = 1. Its matrix has
no eigenvalue below λ and, for a normalised graph, few that are large: some forty products of A with a block of vectors
are enough, and the kernel of a graph is never held densely.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from kernreg.errors import ParameterError

#: From rows and columns to products with that block of a kernel matrix.
Blocks = Callable[[np.ndarray, np.ndarray], LinearOperator]

TOLERANCE = 1e-8
MAX_ITER = 500


def solve_damped(K: Any, Y: np.ndarray, gamma: float, damping: float = 1.0) -> tuple[np.ndarray, ...]:
    """Return a, c (m × C) and b₁, b₂ of the damped solution.

    Parameters
    ----------
    K : LinearOperator or array of shape (m, m)
    Y : ndarray of shape (m, C)
    gamma, damping : float

    Examples
    --------
    >>> a, c, b1, b2 = solve_damped(np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([[1.0], [-1.0]]), gamma=2.0)
    >>> a.shape, b1.shape
    ((2, 1), (1,))
    """
    m, kappa = len(Y), 1.0 / gamma

    def multiply(z: np.ndarray) -> np.ndarray:
        a, c, b = z[:m], z[m:-2], z[-2:]
        first, second = kappa * a + K @ c + b[0], kappa * c + K.T @ a + b[1]
        return np.vstack([first, second, a.sum(axis=0)[None], c.sum(axis=0)[None]])

    r = multiply(np.vstack([Y, Y, np.zeros((2, Y.shape[1]))]))
    z, p, rr = np.zeros_like(r), r.copy(), (r * r).sum(axis=0)
    goal = TOLERANCE**2 * np.where(rr > 0.0, rr, 1.0)
    for _ in range(MAX_ITER):
        if (rr <= goal).all():
            break
        q = multiply(multiply(p)) + damping * p
        pq = (p * q).sum(axis=0)
        step = np.divide(rr, pq, out=np.zeros_like(rr), where=pq > 0.0)  # a column that is done stays
        z += step * p
        r -= step * q
        before, rr = rr, (r * r).sum(axis=0)
        p = r + np.divide(rr, before, out=np.zeros_like(rr), where=before > 0.0) * p
    else:
        raise ParameterError(f"conjugate gradients did not converge in {MAX_ITER} steps at gamma={gamma:g}")
    return z[:m], z[m:-2], z[-2], z[-1]


def views_of(blocks: Blocks, nodes: np.ndarray, train: np.ndarray, solution: tuple[np.ndarray, ...]) -> np.ndarray:
    """Return source and target decisions of nodes, (nodes, 2, C)."""
    a, c, b1, b2 = solution
    return np.stack([blocks(nodes, train) @ c + b1, blocks(train, nodes).T @ a + b2], axis=1)


def fold_views(
    blocks: Blocks, train: np.ndarray, Y: np.ndarray, test: np.ndarray, gamma: float, folds: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return views of training nodes by the model fitted without their fold, and of test nodes, means of all models."""
    inside = np.empty((len(train), 2, Y.shape[1]))
    outside = np.zeros((len(test), 2, Y.shape[1]))
    for rest, fold in KFold(folds, shuffle=True, random_state=seed).split(train):
        solution = solve_damped(blocks(train[rest], train[rest]), Y[rest], gamma)
        inside[fold] = views_of(blocks, train[fold], train[rest], solution)
        outside += views_of(blocks, test, train[rest], solution) / folds
    return inside, outside


def stack_views(inside: np.ndarray, outside: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return the class of each test node: for each class a logistic regression on its views, the most probable wins."""
    probability = [
        _logistic().fit(inside[:, :, c], Y[:, c] > 0.0).predict_proba(outside[:, :, c])[:, 1] for c in range(Y.shape[1])
    ]
    return np.column_stack(probability).argmax(axis=1)


def _logistic() -> LogisticRegression:
    # A penalty would shrink what damping has made small. As good as none: scikit-learn 1.8 warns of infinity.
    return LogisticRegression(C=1e15, max_iter=1000)
