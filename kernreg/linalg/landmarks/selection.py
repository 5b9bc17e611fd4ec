"""Landmarks: which p of the n samples stand for all of them in Nyström approximations and preconditioners.

Every method is repeatable (``random_state``) and bounded: where n is large, the methods that look at the samples choose
among a uniform pool of candidates, so that their cost does not depend on n (``rpcholesky``: where its factor, n × p,
does not fit a quarter of the memory budget).

============== ====================================================================================================
``uniform``    every sample with the same probability
``kmeans++``   far from the samples already taken, in the features (squared distance sampling)
``entropy``    the subset with the largest quadratic Rényi entropy -log(1/p² Σ_ij k(x_i, x_j)), by improving swaps:
               the choice of fixed-size LS-SVM
``leverage``   with probability proportional to approximate ridge leverage scores, the weight a sample has in its own
               regularised fit
``rpcholesky`` one after the other with probability proportional to what those before leave of k(x, x): the pivots of
               randomly pivoted Cholesky, among all samples where its factor fits; see `pivot_choice` for kernels that
               are not positive semi-definite
``auto``       what pays off nearly always: ``uniform``; for preconditioners of positive semi-definite kernels, pivots
an array       these indices
============== ====================================================================================================

References
----------
Suykens, Van Gestel, De Brabanter, De Moor & Vandewalle, Least squares support vector machines, 2002, chapter 6
(entropy). Arthur & Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007. Alaoui & Mahoney, Fast
randomized kernel ridge regression with statistical guarantees, NeurIPS 2015 (leverage). Rudi, Camoriano & Rosasco, Less
is more: Nyström computational regularization, NeurIPS 2015 (how many).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from kernreg.config import memory_budget
from kernreg.engine import ByRow
from kernreg.engine.gram import gram
from kernreg.engine.threads import configured_blas
from kernreg.errors import ParameterError, shown
from kernreg.kernels.base import Kernel
from kernreg.linalg.landmarks.pivot_choice import Selection, choose_pivots
from kernreg.linalg.randomness import generator

METHODS = ("uniform", "kmeans++", "entropy", "leverage", "rpcholesky")

_POOL = 20_000  # candidates, a tenth of that for entropy, where landmarks are not so many that it takes more
_SWAPS = 10  # for each landmark, at most
_FEWEST_PILOTS = 300  # columns by which rows are scored, and rows by which columns are
_FEWEST, _MOST = 500, 5000  # landmarks by default
_OPERATIONS = 5e12  # that they may cost: one or two minutes on two cores


def default_landmarks(n: int, passes: float = 3.0, matrices: int = 8) -> int:
    """Return how many of n samples are landmarks where nobody says.

    √n log n, the order that costs kernel ridge regression no accuracy, but no more than 5000, than 5·10¹² operations
    allow (``passes`` · n · p² of them, 3 for features and their moments; at least 500), and than fit the memory budget
    with so many ``matrices`` p × p.

    >>> [default_landmarks(n) for n in (1000, 50_000, 200_000)]
    [500, 2419, 2886]
    """
    affordable = min(np.sqrt(n) * np.log(max(n, 2)), _MOST, np.sqrt(_OPERATIONS / (passes * n)))
    return max(1, int(min(n, max(_FEWEST, affordable), np.sqrt(memory_budget() / (8 * matrices)))))


def choose_landmarks(
    kernel: Kernel,
    X: Any,
    n_landmarks: int | None = None,
    method: Any = "uniform",
    *,
    Z: Any = None,
    random_state: Any = None,
) -> np.ndarray:
    """Return the indices of the landmarks, ascending and all different.

    Parameters
    ----------
    kernel : Kernel
        Used by ``"entropy"``, ``"leverage"`` and ``"rpcholesky"``; row normalisation is that of the whole K(X, Z).
    X : array or CSR
        Samples in rows.
    n_landmarks : int, optional
        How many (p); may be left out where indices are given.
    method : {"uniform", "kmeans++", "entropy", "leverage", "rpcholesky", "auto"} or array of int
        How they are chosen, or the indices themselves.
    Z : array or CSR, optional
        Second features of the same samples, for kernels of two spaces.
    random_state : int, numpy Generator or RandomState, optional
        The same seed gives the same landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> indices = choose_landmarks(rbf(sigma=1.0), X, 2, "entropy", random_state=0)
    >>> sorted(int(X[i, 0] > 2) for i in indices)  # one of each pair
    [0, 1]
    """
    return select_landmarks(kernel, X, n_landmarks, method, Z=Z, random_state=random_state).indices


@configured_blas()
def select_landmarks(
    kernel: Kernel,
    X: Any,
    n_landmarks: int | None = None,
    method: Any = "uniform",
    *,
    Z: Any = None,
    random_state: Any = None,
) -> Selection:
    """Return what `choose_landmarks` does, with the trace error that is left where the method knows it."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if not isinstance(method, str):
        return Selection(_given(method, n, n_landmarks))
    method = "uniform" if method == "auto" else method
    if method not in METHODS:
        accepted = ", ".join(map(repr, METHODS))
        raise ParameterError(f"landmarks={shown(method)}; accepted are {accepted}, or an array of sample indices")
    if n_landmarks is None or not 1 <= n_landmarks <= n:
        raise ParameterError(f"n_landmarks={shown(n_landmarks)}; with {n} samples an integer from 1 to {n} is accepted")
    rng = generator(random_state)
    if method == "uniform" or n_landmarks == n:
        return Selection(np.sort(rng.choice(n, n_landmarks, replace=False)))
    if method == "rpcholesky":
        return choose_pivots(kernel.anchored(X, Z), X, Z, n_landmarks, rng)
    pool = _pool(n, n_landmarks, method, rng)
    if method == "kmeans++":
        chosen = _plus_plus(kernel, X[pool], n_landmarks, rng)
    elif method == "entropy":
        bound, Z = kernel.anchored(X, Z), X if Z is None else Z
        chosen = _entropy(bound(X[pool], Z[pool]), n_landmarks)
    else:
        other = None if Z is None else Z[pool]
        pilots = min(len(pool), max(100, n_landmarks // 2))
        scores = _leverage(kernel.anchored(X, Z), X[pool], other, pilots, rng)
        chosen = _weighted_choice(scores, n_landmarks, rng)
    return Selection(np.sort(pool[chosen]))


@configured_blas()
def leverage_of_both(
    block: Callable[[np.ndarray, np.ndarray], np.ndarray],
    shape: tuple[int, int],
    sizes: tuple[int, int],
    rank: int,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns of a rectangular matrix, chosen by ridge leverage scores of one another.

    The scores of rows are those of their entries in some columns, and the other way round. So the first columns are
    uniform, rows are chosen by them, columns by these rows, and both once more: by then they have found where a matrix
    has its weight, also where a uniform choice sees nothing of it (few rows of many, as in sparse graphs). The ridge is
    the rank-th eigenvalue of the centred block, so that scores are those of that many leading directions. Candidates
    of each side are 20 000 (or ten times the landmarks, where that is more), drawn uniformly.

    Parameters
    ----------
    block : callable
        ``block(rows, columns)`` gives that part of the matrix.
    shape : tuple of int
        Of the whole matrix.
    sizes : tuple of int
        How many rows and columns.
    rank : int
        How many directions matter.
    random_state : int, numpy Generator or RandomState, optional

    Examples
    --------
    >>> import numpy as np
    >>> G = np.zeros((200, 300))
    >>> G[7, :9] = G[:9, 5] = 1.0
    >>> rows, columns = leverage_of_both(lambda i, j: G[np.ix_(i, j)], G.shape, (20, 20), 2, random_state=0)
    >>> 7 in rows, 5 in columns
    (True, True)
    """
    rng = generator(random_state)
    pools = [_pool(n, p, "leverage", rng) for n, p in zip(shape, sizes, strict=True)]
    pilots = [min(p, max(_FEWEST_PILOTS, 4 * rank)) for p in sizes]
    columns = rng.choice(shape[1], pilots[1], replace=False)
    for last in (False, True):
        scores = _ridge_scores(block(pools[0], columns), rank)
        rows = pools[0][_mixed_choice(scores, sizes[0] if last else pilots[0], rng)]
        looked_at = rows if len(rows) <= pilots[0] else rng.choice(rows, pilots[0], replace=False)
        scores = _ridge_scores(block(looked_at, pools[1]).T, rank)
        columns = pools[1][_mixed_choice(scores, sizes[1] if last else pilots[1], rng)]
    return np.sort(rows), np.sort(columns)


def _given(indices: Any, n: int, n_landmarks: int | None) -> np.ndarray:
    try:
        chosen = np.asarray(indices)
    except ValueError:  # ragged, or deeper than arrays are
        chosen = np.asarray(None)
    if chosen.ndim != 1 or chosen.size == 0 or chosen.dtype.kind not in "iu":
        raise ParameterError(
            f"landmarks={shown(indices)}, an array of shape {chosen.shape} and type {chosen.dtype}; accepted are flat "
            f"arrays of sample indices, or one of {', '.join(map(repr, METHODS))}"
        )
    if chosen.min() < 0 or chosen.max() >= n or len(np.unique(chosen)) < len(chosen):
        raise ParameterError(
            f"landmarks={shown(indices)}; landmark indices must be different and between 0 and {n - 1}"
        )
    if n_landmarks is not None and n_landmarks != len(chosen):
        raise ParameterError(
            f"n_landmarks={n_landmarks}, and {len(chosen)} landmark indices were given; give only one of the two"
        )
    return np.sort(chosen).astype(np.intp)


def _pool(n: int, p: int, method: str, rng: np.random.Generator) -> np.ndarray:
    """Return the candidates: all samples, or a uniform subset where that would be too much work or memory."""
    size = max(10 * p, _POOL)
    if method == "entropy":  # holds the kernel matrix of the pool
        size = max(4 * p, _POOL // 10)
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


def _plus_plus(kernel: Kernel, X: Any, p: int, rng: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import kmeans_plusplus

    if kernel.family.inputs == "index" or X.shape[1] < 0:
        kind = "indices" if kernel.family.inputs == "index" else "not rows of features"
        raise ParameterError(
            f"landmarks='kmeans++' needs features, and the samples of kernel {kernel.name!r} are {kind}; "
            "use 'uniform', 'entropy', 'leverage' or 'rpcholesky'"
        )
    _, chosen = kmeans_plusplus(X, p, random_state=int(rng.integers(2**31 - 1)))
    distinct = np.unique(chosen)
    missing = p - len(distinct)  # fewer different samples than landmarks: any others will do
    return np.concatenate([distinct, np.setdiff1d(np.arange(X.shape[0]), distinct)[:missing]])


def _entropy(K: np.ndarray, p: int) -> np.ndarray:
    """Return the p rows with a small sum of K over them, by the steepest improving swaps."""
    K = 0.5 * (K + K.T)
    diagonal = K.diagonal().copy()
    inside = np.zeros(len(K), dtype=bool)
    inside[np.linspace(0, len(K) - 1, p).astype(int)] = True
    sums = K[:, inside].sum(axis=1)
    for _ in range(_SWAPS * p):
        # What the sum loses when a member goes, then what it gains when a candidate comes.
        loss = np.where(inside, 2.0 * sums - diagonal, -np.inf)
        out = int(np.argmax(loss))
        gain = np.where(inside, np.inf, 2.0 * (sums - K[:, out]) + diagonal)
        new = int(np.argmin(gain))
        if not gain[new] < loss[out] - 1e-12 * abs(loss[out]):
            break
        inside[out], inside[new] = False, True
        sums += K[:, new] - K[:, out]
    return np.flatnonzero(inside)


def _leverage(kernel: Kernel, X: Any, Z: Any | None, pilots: int, rng: np.random.Generator) -> np.ndarray:
    """Return approximate ridge leverage scores of the rows, from Nyström features Φ of uniform pilots.

    φᵢᵀ(ΦᵀΦ + λI)⁻¹φᵢ, plus what the features miss of k(xᵢ, xᵢ), over λ: else samples unlike every pilot would count for
    nothing. λ is the median eigenvalue of ΦᵀΦ, so that half of the directions count as signal. Magnitudes stand for
    eigenvalues, so indefinite and asymmetric kernels have scores, too (the latter of their rows, without the second
    part).
    """
    chosen = np.sort(rng.choice(X.shape[0], pilots, replace=False))
    symmetric = kernel.symmetric and Z is None  # between two sample sets K is not, whatever the kernel
    landmarks = (X if Z is None else Z)[chosen]
    W = np.asarray(kernel(X[chosen], landmarks), dtype=np.float64)
    if symmetric:
        values, vectors = linalg.eigh(W)
    else:
        _, values, right = linalg.svd(W)
        vectors = right.T
    kept = np.abs(values) > 1e-10 * np.abs(values).max(initial=0.0)
    if not kept.any():
        return np.ones(X.shape[0])
    T, signs = vectors[:, kept] / np.sqrt(np.abs(values[kept])), np.sign(values[kept])
    eigenvalues, rotation = linalg.eigh(kernel.map_rows(X, landmarks, _gram, "add", args=(T,)))
    eigenvalues = np.maximum(eigenvalues, 0.0)
    ridge = max(float(np.median(eigenvalues)), 1e-12 * float(eigenvalues.max()))
    H = rotation / np.sqrt(eigenvalues + ridge)
    own = ByRow(kernel.diagonal(X)) if symmetric else None
    return kernel.map_rows(X, landmarks, _scores, args=(T, H, signs, ridge, own))


def _gram(rows: slice, block: np.ndarray, T: np.ndarray) -> np.ndarray:
    features = block @ T
    return gram(features.T)


def _scores(
    rows: slice,
    block: np.ndarray,
    T: np.ndarray,
    H: np.ndarray,
    signs: np.ndarray,
    ridge: float,
    own: np.ndarray | None,
) -> np.ndarray:
    """Return leverage scores of some samples; `own` is k(x, x), of which a part may be missed."""
    features = block @ T
    scores = ((features @ H) ** 2).sum(axis=1)
    if own is not None:
        scores = scores + np.abs(own - (features * features) @ signs) / ridge
    return np.minimum(scores, 1.0)


def _ridge_scores(B: np.ndarray, rank: int) -> np.ndarray:
    """Return bᵢᵀ(BᵀB + λI)⁻¹bᵢ of the rows of B, its columns centred, λ the rank-th largest eigenvalue of BᵀB."""
    B = B - B.mean(axis=0)
    values, vectors = linalg.eigh(B.T @ B)
    largest = float(values[-1])
    if not largest > 0.0:
        return np.ones(len(B))
    ridge = max(float(values[-min(rank, len(values))]), 1e-10 * largest)
    return ((B @ (vectors / np.sqrt(np.maximum(values, 0.0) + ridge))) ** 2).sum(axis=1)


def _mixed_choice(scores: np.ndarray, p: int, rng: np.random.Generator) -> np.ndarray:
    """Choose by scores, a tenth of the time uniformly: what a score has not seen may still be there."""
    total = float(scores.sum())
    share = scores / total if total > 0.0 else np.zeros(len(scores))
    probabilities = 0.9 * share + (1.0 - 0.9 * float(share.sum())) / len(scores)
    return rng.choice(len(scores), p, replace=False, p=probabilities / probabilities.sum())


def _weighted_choice(scores: np.ndarray, p: int, rng: np.random.Generator) -> np.ndarray:
    scores = np.maximum(scores, 1e-12 * scores.max(initial=0.0))
    if not scores.sum() > 0.0:
        scores = np.ones(len(scores))
    return rng.choice(len(scores), p, replace=False, p=scores / scores.sum())
