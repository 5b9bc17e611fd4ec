"""Learning curves by exact leave-one-out: would more samples help?

Random subsets of the training samples are solved with the kernel and γ of the fit, on their part of the kernel matrix,
which is evaluated once. Leave-one-out scores each without other samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.errors import ParameterError, shown
from kernreg.linalg.exact.smoothers import block_smoother, symmetric_smoother
from kernreg.linalg.randomness import generator
from kernreg.solvers.inference.left_out import require_left_out
from kernreg.solvers.samples import check_fitted

_SHARES = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class LearningCurve(Display):
    """Scores of subsets of the training samples.

    Attributes
    ----------
    sizes : ndarray of shape (s,)
    loo_scores, train_scores : ndarray of shape (s, repeats)
        Accuracy or R², left out and fitted. All repeats of the whole set are the same.
    """

    sizes: np.ndarray
    loo_scores: np.ndarray
    train_scores: np.ndarray


def learning_curve(
    machine: Any, sizes: Sequence[int] | None = None, n_repeats: int = 5, random_state: Any = 0
) -> LearningCurve:
    """Return the learning curve of a fitted dual machine; see `DualMachine.learning_curve`."""
    check_fitted(machine)
    require_left_out(machine)
    if machine._targets.pairwise:
        raise ParameterError("multi_class='one-vs-one' is not accepted here; use 'one-vs-rest'")
    m = len(machine._y)
    given = np.unique([max(3, round(share * m)) for share in _SHARES]) if sizes is None else np.asarray(sizes)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not len(given) or given.min() < 2 or given.max() > m:
        raise ParameterError(
            f"sizes={shown(sizes)} is not accepted; give whole numbers from 2 to {m}, the number of samples"
        )
    K, rng = np.asarray(machine._training_matrix(), dtype=np.float64), generator(random_state)
    loo, train = np.empty((len(given), n_repeats)), np.empty((len(given), n_repeats))
    with progress("learning curve", len(given) * n_repeats, worthwhile=m > 1000) as show:
        for place, size in enumerate(given):
            for repeat in range(n_repeats):
                if size == m and repeat:
                    loo[place, repeat], train[place, repeat] = loo[place, 0], train[place, 0]
                    continue
                rows = np.sort(rng.permutation(m)[:size])
                loo[place, repeat], train[place, repeat] = _scores(machine, K[np.ix_(rows, rows)], rows)
                show(place * n_repeats + repeat + 1)
    return LearningCurve(given, loo, train)


def _scores(machine: Any, K: np.ndarray, rows: np.ndarray) -> tuple[float, float]:
    """Return the scores of one subset, left out and fitted."""
    y = machine._y[rows]
    Y = machine._targets.problems(y)[0].Y
    weights = None if machine._weights is None else machine._weights[rows]
    make = symmetric_smoother if len(machine.views) == 1 else block_smoother
    system = make(K.copy(), weights, machine.gamma_)
    coefficients = {
        name: np.sum([C @ Y for C in smoother.coefficients.values()], axis=0)
        for name, smoother in system.smoothers.items()
    }
    left_out = {name: machine._targets.shaped(Y - e) for name, e in system.residuals(coefficients).items()}
    noise = machine.gamma_ * (np.ones(len(rows)) if weights is None else weights)[:, None]
    # The residual of a view is the coefficient that goes with its equation, over γ v.
    names = dict(zip(system.smoothers, system.unknowns, strict=True))
    fitted = {view: machine._targets.shaped(Y - coefficients[other] / noise) for view, other in names.items()}
    loo, train = (float(machine._targets.score(machine._merge(each), y, weights)) for each in (left_out, fitted))
    return loo, train
