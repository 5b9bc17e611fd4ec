"""Diagonal Gaussian mixtures as samples, and divergences between distributions.

A mixture is a row of numbers: its weights, then the means of the components one after the other, then the variances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.datasets import Dataset

DIMENSION = 8
COMPONENTS = 6


def make_mixtures(n_samples: int, n_classes: int = 10, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return mixtures of several classes: those of a class are the same mixture, disturbed.

    A class is some of a common stock of components, as images of a kind share some textures. Weights, means and
    variances vary from sample to sample.

    >>> X, y = make_mixtures(20, 10)
    >>> X.shape == (20, COMPONENTS * (1 + 2 * DIMENSION)), bool(np.allclose(X[:, :COMPONENTS].sum(axis=1), 1.0))
    (True, True)
    """
    rng = np.random.default_rng(random_state)
    stock = 2.0 * rng.standard_normal((3 * COMPONENTS, DIMENSION))
    kinds = [rng.choice(len(stock), COMPONENTS, replace=False) for _ in range(n_classes)]
    y = np.arange(n_samples) % n_classes
    rows = []
    for label in y:
        weights = rng.dirichlet(np.full(COMPONENTS, 1.0))
        means = stock[kinds[label]] + 1.5 * rng.standard_normal((COMPONENTS, DIMENSION))
        variances = np.exp(0.7 * rng.standard_normal((COMPONENTS, DIMENSION)))
        rows.append(np.concatenate([weights, means.ravel(), variances.ravel()]))
    return np.array(rows), y


def load_mixtures(n_samples: int) -> Any:
    """Return generated mixtures as a data set."""
    return generated(f"mixtures-{n_samples}", *make_mixtures(n_samples))


def generated(name: str, X: np.ndarray, y: np.ndarray) -> Dataset:
    """Return samples that were made as a data set."""
    nothing: dict[str, Any] = {"target_names": None, "feature_names": None, "splits": {}}
    return Dataset(name=name, kind="tabular", data=X, target=y, source="generated", **nothing)


def mixture_divergences(A: np.ndarray, draws: int, seed: int) -> np.ndarray:
    """Return KL(A_i ‖ A_j) for all pairs of mixtures, as means over draws from A_i.

    >>> X, _ = make_mixtures(4, 2)
    >>> D = mixture_divergences(X, 200, 0)
    >>> bool((np.diag(D) == 0.0).all()), bool((D[~np.eye(4, dtype=bool)] > 0.0).all())
    (True, True)
    """
    rng = np.random.default_rng(seed)
    weights, means, variances = _parts(A)
    found = np.empty((len(A), len(A)))
    scale = np.log(weights) - 0.5 * np.log(2.0 * np.pi * variances).sum(axis=2)  # (n, components)
    precision = 1.0 / variances
    offset = scale - 0.5 * (means**2 * precision).sum(axis=2)
    linear, square = (means * precision).reshape(-1, DIMENSION), -0.5 * precision.reshape(-1, DIMENSION)
    for i in range(len(A)):
        which = rng.choice(COMPONENTS, draws, p=weights[i])
        x = means[i, which] + np.sqrt(variances[i, which]) * rng.standard_normal((draws, DIMENSION))
        terms = (x @ linear.T + x**2 @ square.T).reshape(draws, *offset.shape) + offset
        top = terms.max(axis=2)
        found[i] = (top + np.log(np.exp(terms - top[:, :, None]).sum(axis=2))).mean(axis=0)
    return np.diag(found)[:, None] - found


def _parts(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    shape = (len(A), COMPONENTS, DIMENSION)
    means, variances = np.split(A[:, COMPONENTS:], 2, axis=1)
    return A[:, :COMPONENTS], means.reshape(shape), variances.reshape(shape)


def histogram_divergences(A: Any, smoothing: float) -> np.ndarray:
    """Return KL(p_i ‖ p_j) for all pairs of rows of counts; every count is raised by a small number.

    >>> D = histogram_divergences(np.array([[1.0, 0.0], [1.0, 1.0]]), 0.1)
    >>> bool(D[0, 1] > 0.0), bool(D[0, 1] != D[1, 0])
    (True, True)
    """
    counts = np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64) + smoothing
    p = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log(p)
    return np.maximum((p * logs).sum(axis=1)[:, None] - p @ logs.T, 0.0)
