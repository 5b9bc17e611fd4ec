"""How many landmarks there are, and which way to solve on them costs less: normal equations, or sketch and iterations.

Costs are counted, not timed, so that the choice is the same on every run: in operations of a matrix product, of which a
kernel value and the products with it are worth some. With m samples, k landmarks and c right-hand sides,

normal equations  3 m k² for features and their moments, and the decompositions of two k × k matrices
sketched          m k for each pass, times what a kernel value and 2 c products with it are worth; some passes for the
                  sketch, one for each iteration; and factorisations with 4 k rows for each landmark

The first grows faster with k. For some tens of features and a few right-hand sides they meet at about 3000 landmarks.
"""

from __future__ import annotations

import numpy as np

from kernreg.linalg.landmarks.selection import default_landmarks
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet

_GAMMAS = 36  # values of γ that "loo" begins with

# In operations of a matrix product, measured by asv_benchmarks/benchmarks/sketched.py on one core.
_VALUE = 150.0  # a kernel value,
_BY_BLAS, _ONE_BY_ONE = 2.2, 4.5  # and each feature it looks at, in a matrix product or not
_COLUMN = 9.0  # both products of a value with one right-hand side
_SCATTER = 700.0  # a value that is added to the sketch in eight places
_ITERATIONS = 20.0  # of conjugate gradients; with MINRES, twice as many
_DECOMPOSED = 10.0  # times k³: eigenpairs
_FACTORISED = 10.0  # times k³: the sketched matrix, whitened, squared and factorised


def landmark_passes(symmetric: bool, data: TrainingSet, settings: Settings) -> int:
    """Return the operations for each sample and pair of landmarks: features and moments, then leave-one-out.

    The latter takes one pass for all γ where the kernel is positive semi-definite.
    """
    gammas = _GAMMAS if settings.gammas is None else settings.chooses * len(settings.gammas)
    once = symmetric and data.kernel.definite
    return (3 + (2 * min(gammas, 1) if once else 4 * gammas)) if symmetric else 6 + 12 * gammas


def matrices_held(symmetric: bool) -> int:
    """Return how many matrices of landmarks by landmarks the normal equations and leave-one-out hold at once.

    Measured: of AsK-LS both sides are one system of twice the size, with its eigenvectors and LAPACK's workspace.
    """
    return 12 if symmetric else 33


def landmark_count(m: int, passes: float, settings: Settings, matrices: int) -> int:
    """Return how many landmarks m samples get: as many as asked for, or as affordable.

    ``matrices`` of landmarks by landmarks are held at once.
    """
    if settings.n_landmarks is not None:
        return settings.n_landmarks
    return default_landmarks(m, passes, matrices) if isinstance(settings.landmarks, str) else len(settings.landmarks)


def cheaper_on_landmarks(symmetric: bool, data: TrainingSet, Y: np.ndarray, settings: Settings) -> str:
    """Return ``"lowrank"`` or ``"sketched"``, whichever costs less for one γ."""
    m, columns = Y.shape
    k = landmark_count(m, landmark_passes(symmetric, data, settings), settings, matrices_held(symmetric))
    sides, of = data.X if isinstance(data.X, tuple) else (data.X,), getattr(data.kernel.family, "of", None)
    features = max(abs(side.shape[1]) if len(side.shape) > 1 else 1 for side in sides)
    value = _VALUE + features * (_BY_BLAS if of in ("dot", "sqeuclidean") else _ONE_BY_ONE)
    definite = symmetric and bool(data.kernel.definite)
    return cheaper(m, k, columns, value, symmetric=symmetric, definite=definite)


def cheaper(m: int, k: int, columns: int, value: float, *, symmetric: bool = True, definite: bool = True) -> str:
    """Return ``"lowrank"`` or ``"sketched"`` for m samples, k landmarks, and kernel values of so many operations.

    >>> [cheaper(400_000, k, columns=7, value=300.0) for k in (1000, 10_000)]
    ['lowrank', 'sketched']
    """
    sides = 1 if symmetric else 2
    decomposed = _DECOMPOSED * (sides * k**3 + (sides * k) ** 3)  # of AsK-LS both sides are one system
    normal = sides * 3 * m * k**2 + decomposed
    passes = 1 + _ITERATIONS * (1 if definite else 2)
    swept = m * k * (passes * (value + _COLUMN * columns) + 4 * value + _SCATTER)
    sketched = sides * (swept + _FACTORISED * k**3) + (0.0 if definite else decomposed)
    return "sketched" if sketched < normal else "lowrank"
