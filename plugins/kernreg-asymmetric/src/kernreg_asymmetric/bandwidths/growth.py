"""Centres where they are needed: some samples, then those of the worst residuals, and bandwidths of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernreg_asymmetric.bandwidths.adaptation import Sample
from kernreg_asymmetric.bandwidths.descent import State, descend


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit.

    Attributes
    ----------
    sizes : tuple of int
        How many centres there are, stage by stage; the last is how many there are in the end.
    max_iter : int
        Steps of each descent.
    folds : int
        Parts of the samples that are held out in turn.
    """

    sizes: tuple[int, ...]
    max_iter: int
    folds: int


def grow(data: Sample, state: State, plan: Plan) -> State:
    """Return bandwidths of every centre, most of the centres being at the worst residuals.

    A part of the centres of the state is kept, with one bandwidth for each feature. Stage by stage the samples of the
    largest leave-one-out residuals are added, and these bandwidths learned anew; in the end every centre has its own.
    """
    first = plan.sizes[0]
    state = replace(state, supports=state.supports[:first], log_squares=state.log_squares[:first])
    for size in plan.sizes[1:]:
        state = with_worst(data, descend(data, state, plan.max_iter, shared=True), size)
    state = descend(data, state, plan.max_iter, shared=True)
    return descend(data, state, plan.max_iter, shared=False)


def with_worst(data: Sample, state: State, size: int) -> State:
    """Return the state with the samples of the largest leave-one-out residuals as centres, as wide as the first."""
    residuals = np.square(state.solve(data).left_out).sum(axis=1)
    residuals[state.supports] = -1.0
    more = np.argsort(-residuals, kind="stable")[: size - len(state.supports)]
    supports = np.concatenate([state.supports, more])
    return replace(state, supports=supports, log_squares=np.tile(state.log_squares[0], (len(supports), 1)))


def stage_sizes(largest: int, stages: int) -> tuple[int, ...]:
    """Return how many centres there are stage by stage: each stage about twice as many as the one before.

    >>> stage_sizes(100, 3)
    (25, 50, 100)
    """
    sizes = {max(1, round(largest / 2 ** (stages - 1 - stage))) for stage in range(stages)}
    return tuple(sorted(sizes))
