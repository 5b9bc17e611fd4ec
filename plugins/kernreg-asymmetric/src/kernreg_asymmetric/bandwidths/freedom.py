"""How free bandwidths are: one for each feature, or one for each feature of each centre.

More freedom fits some targets much better, and others by heart. So samples are held out in turn, and every centre has
its own bandwidths where that predicts them better. If not, the bandwidth of a feature is the geometric mean of those of
all turns, which varies less than any of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernreg_asymmetric.bandwidths.adaptation import Sample
from kernreg_asymmetric.bandwidths.descent import State, best_ridge, common_width, descend
from kernreg_asymmetric.bandwidths.growth import Plan, grow

FREEDOMS = ("feature", "centre")
_CLEARLY, _PROBABLY = 3.0, 1.0  # standard errors of a gain: no more turns are needed; centres have their own bandwidths


@dataclass(frozen=True)
class Choice:
    """The number of a freedom, mean squared errors held out of both, and η of features, the mean of all turns."""

    freedom: int
    errors: np.ndarray
    by_feature: np.ndarray
    steps: int


def learn(data: Sample, plan: Plan, rng: np.random.Generator) -> tuple[State, Choice]:
    """Return centres and bandwidths of the freedom that predicts held-out samples best, learned on all samples."""
    choice = choose(data, plan, rng)
    supports = rng.permutation(len(data.Y))[: plan.sizes[-1]]
    _, log_ridge = best_ridge(data, supports, choice.by_feature)
    state = State(supports, np.tile(choice.by_feature, (len(supports), 1)), log_ridge)
    return (grow(data, state, plan) if choice.freedom else state), choice


def choose(data: Sample, plan: Plan, rng: np.random.Generator) -> Choice:
    """Hold out parts of the samples in turn; return the freedom that predicts them best.

    Bandwidths of centres are tried until they have shown no gain, or a clear one.
    """
    n = len(data.Y)
    squares = np.full((len(FREEDOMS), n), np.nan)
    by_feature, steps, gain = [], 0, np.inf
    for held_out in np.array_split(rng.permutation(n), plan.folds):
        rest = data.take(np.setdiff1d(np.arange(n), held_out))
        state = common_width(rest, rng.permutation(len(rest.Y))[: plan.sizes[-1]])
        state = descend(rest, state, plan.max_iter, shared=True)
        by_feature.append(state.log_squares[0])
        squares[0, held_out] = _squares(state, rest, data.take(held_out))
        if gain > 0.0:
            state = grow(rest, state, plan)
            squares[1, held_out] = _squares(state, rest, data.take(held_out))
            gain = standard_errors(squares[0] - squares[1], data.share)
        steps += state.steps
        if gain > _CLEARLY:
            break
    seen = np.isfinite(squares)
    errors = np.where(seen, squares, 0.0) @ data.share / (seen @ data.share)
    return Choice(int(gain > _PROBABLY), errors, np.mean(by_feature, axis=0), steps)


def _squares(state: State, data: Sample, held_out: Sample) -> np.ndarray:
    return np.square(state.solve(data).expansion(held_out.X) - held_out.Y).sum(axis=1)


def standard_errors(gains: np.ndarray, share: np.ndarray) -> float:
    """Return the weighted mean of those gains that are known, in units of its standard error.

    >>> standard_errors(np.array([1.0, 3.0, np.nan]), np.full(3, 1 / 3)).__round__(4)
    2.8284
    """
    known = np.isfinite(gains)
    weights, gains = share[known] / share[known].sum(), gains[known]
    mean = float(weights @ gains)
    return mean / max(float(np.sqrt(weights**2 @ np.square(gains - mean))), np.finfo(float).tiny)
