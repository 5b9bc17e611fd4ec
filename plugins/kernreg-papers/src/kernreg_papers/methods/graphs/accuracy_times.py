"""Seconds until the leading singular vectors of a kernel matrix are accurate enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, eigsh, svds
from sklearn.utils.extmath import randomized_svd

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.graphs import graph_samples
from kernreg.metrics import singular_vector_error
from kernreg.solvers import KernelSVD
from kernreg_papers.data.splits import Split
from kernreg_papers.description import Outcome

#: The last kernel matrix, with its exact decomposition: the columns of a row share it.
_LAST: dict[str, Any] = {}


def time_to_accuracy(
    split: Split, *, solver: str, components: int, tolerances: Sequence[float], repeats: int
) -> Outcome:
    """Run a solver with growing effort until η is below each tolerance, and return the time of the run that is.

    Parameters
    ----------
    split : Split
        ``options["factor"]`` is k in σ = k √(n v), v the variance of the entries of the adjacency matrix.
    solver : {"tsvd", "rsvd", "sym-nystrom", "nystrom", "kernreg"}
        All but the last are given the kernel matrix, and its evaluation is not counted, as in the paper.
    components : int
    tolerances : sequence of float
        From the largest to the smallest.
    repeats : int
        The least time of so many runs counts.
    """
    G, U, s, V = matrix_of(split, components)
    rng_seed = split.seed % 2**32
    scores: dict[str, float] = {}
    chosen: dict[str, Any] = {"eta_of_nothing": 2.0 * float(s.mean())}
    waiting = list(tolerances)
    for effort, attempt in attempts(solver, split, G, components, rng_seed):
        started = time.perf_counter()
        left, right = attempt()
        seconds = time.perf_counter() - started
        eta = singular_vector_error(U, s, V, left, right)
        if not (waiting and eta <= waiting[0]):
            continue
        for _ in range(repeats - 1):
            started = time.perf_counter()
            attempt()
            seconds = min(seconds, time.perf_counter() - started)
        while waiting and eta <= waiting[0]:
            name = f"seconds_{waiting.pop(0):g}"
            scores[name] = seconds
            chosen[name] = {"effort": effort, "eta": eta}
        if not waiting:
            break
    if not scores:
        raise ParameterError(f"{solver} did not reach η ≤ {tolerances[0]} with any effort that was tried")
    return Outcome(chosen=chosen, scores=scores)


def bandwidth(graph: Any, factor: float) -> float:
    """Return σ = k √(n v), v the variance of the entries of the adjacency matrix."""
    n = graph.shape[0]
    share = graph.sum() / n**2
    return factor * float(np.sqrt(n * share * (1.0 - share)))


def matrix_of(split: Split, components: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the SNE matrix of a graph and its leading singular triplets."""
    A, B = graph_samples(split.graph)
    sigma = bandwidth(A, split.options["factor"])
    key = (A.shape, components, sigma, A.indices.tobytes())
    if _LAST.get("key") != key:
        _LAST.clear()
        kind = np.float64 if A.shape[0] < 8000 else np.float32  # 3 GB are too many
        G = np.asarray(make_kernel("sne", sigma=sigma)(A, B), dtype=kind)
        exact = KernelSVD(make_kernel("sne", sigma=sigma), components, center=False, scale=False).fit((A, B))
        _LAST.update(key=key, value=(G, exact.left_vectors_, exact.singular_values_, exact.right_vectors_))
    value: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] = _LAST["value"]
    return value


Attempt = Callable[[], tuple[np.ndarray, np.ndarray]]


def attempts(solver: str, split: Split, G: np.ndarray, r: int, seed: int) -> Iterator[tuple[int, Attempt]]:
    """Give runs of a solver, each with more effort than the one before: oversampling, or the number of landmarks."""
    n = len(G)
    start = np.random.default_rng(seed).standard_normal(n).astype(G.dtype)
    if solver == "tsvd":
        # With scipy's own number of Lanczos vectors, singular values that are close together may never converge.
        yield r, lambda: _ordered(*svds(G, r, v0=start, ncv=min(n - 1, 3 * r)))
    elif solver == "rsvd":
        for extra in (5, 10, 20, 50, 100, 200, 400, 800):
            yield extra, partial(_randomized, G, r, extra, seed)
    elif solver in ("nystrom", "sym-nystrom"):
        extend = asymmetric if solver == "nystrom" else symmetric
        for m in np.unique(np.geomspace(2 * r, n, 12).astype(int)):
            yield int(m), partial(extend, G, int(m), r, seed)
    elif solver == "kernreg":
        A, B = graph_samples(split.graph)
        kernel = make_kernel("sne", sigma=bandwidth(A, split.options["factor"]))

        def run() -> tuple[np.ndarray, np.ndarray]:
            model = KernelSVD(kernel, r, center=False, scale=False).fit((A, B))
            return model.left_vectors_, model.right_vectors_

        yield r, run
    else:
        raise ParameterError(f"solver={solver!r} is not accepted")


def _randomized(G: np.ndarray, r: int, extra: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    return _ordered(*randomized_svd(G, r, n_oversamples=extra, random_state=seed))


def _ordered(U: np.ndarray, s: np.ndarray, Vt: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-s)
    return U[:, order], Vt[order].T


def asymmetric(G: np.ndarray, m: int, r: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Asymmetric Nyström as in the paper: singular vectors of an m × m block, extended by the rest of its rows and
    columns.
    """
    rng = np.random.default_rng(seed)
    rows, columns = (np.sort(rng.choice(size, m, replace=False)) for size in G.shape)
    U, s, Vt = randomized_svd(G[np.ix_(rows, columns)], r, random_state=0)
    s = np.maximum(s, 1e-12 * max(float(s[0]), 1e-300))
    return _unit(G[:, columns] @ (Vt.T / s)), _unit(G[rows].T @ (U / s))


def symmetric(G: np.ndarray, m: int, r: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric Nyström on GGᵀ and on GᵀG, blocks decomposed by Lanczos."""
    rng = np.random.default_rng(seed)
    sides = []
    for M in (G, G.T):
        chosen = np.sort(rng.choice(len(M), m, replace=False))
        columns = M @ M[chosen].T
        block = columns[chosen]
        values, vectors = _leading(block, r)
        order = np.argsort(-values)[:r]
        floor = 1e-12 * max(float(values.max()), 1e-300)
        sides.append(_unit(columns @ (vectors[:, order] / np.maximum(values[order], floor))))
    return sides[0], sides[1]


def _leading(block: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    if len(block) > 4 * r:
        try:
            values, vectors = eigsh(block, r, v0=np.ones(len(block), dtype=block.dtype))
            return values, vectors
        except ArpackError:  # a block of low rank: Lanczos vectors run out
            pass
    return np.linalg.eigh(block)


def _unit(M: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(M, axis=0)
    return M / np.where(lengths > 0.0, lengths, 1.0)
