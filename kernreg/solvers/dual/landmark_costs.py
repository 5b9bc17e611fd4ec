"""How many landmarks there are, and which way to solve on them costs less: normal equations, or sketch and iterations.

Costs are counted, not timed, so that the choice is the same on every run: in operations of a matrix product, of which a
kernel value and the products with it are worth some. With m samples, k landmarks and c right-hand sides,

normal equations  3 m k² for features and their moments, and the decompositions of two k × k matrices
sketched          m k for each pass, times what a kernel value and 2 c products with it are worth; some passes for the
                  sketch, one for each iteration; and factorisations with 4 k rows for each landmark

The first grows faster with k. For ten classes of samples with some tens of features they meet at about 2000 landmarks.
"""

from __future__ import annotations

import numpy as np

from kernreg.linalg.landmarks.selection import default_landmarks
from kernreg.solvers.dual.strategy import Settings
from kernreg.solvers.dual.training import TrainingSet

_GAMMAS = 36  # values of γ that "loo" begins with

# In operations of a matrix product, measured by asv_benchmarks/benchmarks/sketched.py on one core.
_VALUE, _FEATURE = 60.0, 4.0  # a kernel value, and each feature it looks at
_COLUMN = 9.0  # both products of a value with one right-hand side
_SCATTER = 700.0  # a value that is added to the sketch in eight places
_PASSES = 20.0  # iterations of conjugate gradients; with MINRES, twice as many
_DECOMPOSED, _FACTORISED = 40.0, 10.0  # times k³: two eigenproblems; the sketched matrix whitened, squared, factorised


def landmark_passes(symmetric: bool, data: TrainingSet, settings: Settings) -> int:
    """Return the operations for each sample and pair of landmarks: features and moments, then leave-one-out.

    The latter takes one pass for all γ where the kernel is positive semi-definite.
    """
    gammas = _GAMMAS if settings.gammas is None else settings.chooses * len(settings.gammas)
    once = symmetric and data.kernel.definite
    return (3 + (2 * min(gammas, 1) if once else 4 * gammas)) if symmetric else 6 + 12 * gammas


def landmark_count(m: int, passes: float, settings: Settings) -> int:
    """Return how many landmarks m samples get: as many as asked for, or as affordable."""
    if settings.n_landmarks is not None:
        return settings.n_landmarks
    return default_landmarks(m, passes) if isinstance(settings.landmarks, str) else len(settings.landmarks)


def cheaper_on_landmarks(symmetric: bool, data: TrainingSet, Y: np.ndarray, settings: Settings) -> str:
    """Return ``"lowrank"`` or ``"sketched"``, whichever costs less for one γ."""
    m, columns = Y.shape
    k = landmark_count(m, landmark_passes(symmetric, data, settings), settings)
    sides = data.X if isinstance(data.X, tuple) else (data.X,)
    features = max(side.shape[1] if len(side.shape) > 1 else 1 for side in sides)
    definite = symmetric and bool(data.kernel.definite)
    return cheaper(m, k, columns, max(1, features), symmetric=symmetric, definite=definite)


def cheaper(m: int, k: int, columns: int, features: int, *, symmetric: bool = True, definite: bool = True) -> str:
    """Return ``"lowrank"`` or ``"sketched"`` for m samples and k landmarks.

    >>> [cheaper(400_000, k, columns=7, features=54) for k in (1000, 10_000)]
    ['lowrank', 'sketched']
    """
    sides = 1 if symmetric else 2
    system = (sides * k) ** 3  # of AsK-LS both sides are one system
    normal = sides * 3 * m * k**2 + _DECOMPOSED / 2 * (sides * k**3 + system)
    value = _VALUE + _FEATURE * features
    iterations = _PASSES * (1 if definite else 2)
    passes = m * k * ((value + _COLUMN * columns) * (1 + iterations) + 4 * value + _SCATTER)
    decomposed = _FACTORISED * k**3 if definite else _DECOMPOSED / 2 * (sides * k**3 + system)
    sketched = sides * (passes + _FACTORISED * k**3) + decomposed
    return "sketched" if sketched < normal else "lowrank"
