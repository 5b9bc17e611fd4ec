"""Which samples are centres, with which bandwidths: a start, steps of descent, more centres at the worst residuals.

Bandwidths and centres are learned on some of the samples, and everything that is a choice (common width, ridge, when to
stop, how many centres) is made by the squared error of the others, which are held out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import linalg, optimize

from kernreg_asymmetric.bandwidths.adaptation import Expansion, Sample, SquaredError, kernel_values

WIDTHS = np.geomspace(0.125, 8.0, 7)  # of the common width that descent starts at, in units of √d
RIDGES = np.geomspace(1e-10, 10.0, 23)  # relative to the mean diagonal of KᵀK


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit.

    Attributes
    ----------
    sizes : tuple of int
        How many centres there are, stage by stage.
    on : {"all", "supports"}
        The samples that coefficients are solved on.
    ridge : float or None
        Relative ridge; None: chosen by the error held out.
    max_iter, patience : int
        Steps of descent in a stage, and how many without a better error held out end it.
    """

    sizes: tuple[int, ...]
    on: str
    ridge: float | None
    max_iter: int
    patience: int


@dataclass
class State:
    """Centres with bandwidths, how much ridge they need, and the error held out."""

    supports: np.ndarray
    log_squares: np.ndarray
    ridge: float
    error: float
    path: list[tuple[int, float, float]] = field(default_factory=list)  # centres, error learned on, error held out


def grow(train: Sample, held_out: Sample, plan: Plan) -> State:
    """Return the best state, by the error held out, of all that were passed through."""
    supports = spread_over_targets(train.Y, plan.sizes[0])
    state = common_width(train, held_out, supports, plan.ridge)
    best = state = descend(train, held_out, state, plan, shared=True)
    for stage, size in enumerate(plan.sizes):
        if stage:
            state = with_worst(train, held_out, state, size, plan)
        state = descend(train, held_out, state, plan, shared=False)
        best = state if state.error < best.error else best
    best.path = state.path
    return best


def spread_over_targets(Y: np.ndarray, size: int) -> np.ndarray:
    """Return samples at equal ranks of the (first) target: a start that sees small and large values alike.

    >>> spread_over_targets(np.array([[3.0], [1.0], [2.0], [5.0], [4.0]]), 3).tolist()
    [1, 0, 3]
    """
    order = np.argsort(Y.sum(axis=1), kind="stable")
    return order[np.unique(np.linspace(0, len(Y) - 1, min(size, len(Y))).astype(np.intp))]


def common_width(train: Sample, held_out: Sample, supports: np.ndarray, ridge: float | None) -> State:
    """Return the state of the one width for all centres and features that has the least error held out."""
    d = train.X.shape[1]
    states = []
    for width in WIDTHS:
        log_squares = np.full((len(supports), d), -np.log(d * width * width))
        found, error = best_ridge(train, held_out, supports, log_squares, ridge)
        states.append(State(supports, log_squares, found, error))
    return min(states, key=lambda state: state.error)


def best_ridge(
    train: Sample, held_out: Sample, supports: np.ndarray, log_squares: np.ndarray, ridge: float | None
) -> tuple[float, float]:
    """Return the relative ridge of the least error held out, and that error; all ridges by one eigendecomposition."""
    centres = train.X[supports]
    K, new = (kernel_values(data.X, centres, log_squares) for data in (train, held_out))
    means, target = train.share @ K, train.share @ train.Y
    G = (K * train.share[:, None]).T @ K - np.outer(means, means)
    values, vectors = linalg.eigh(G, check_finite=False)
    on_vectors = vectors.T @ (K.T @ (train.share[:, None] * train.Y) - np.outer(means, target))
    new = (new - means) @ vectors
    unit = max(float(values.mean()), np.finfo(float).tiny)
    tried = RIDGES if ridge is None else np.array([ridge])
    errors = []
    for relative in tried:
        f = new @ (on_vectors / (np.maximum(values, 0.0) + max(relative, 1e-14) * unit)[:, None]) + target
        errors.append(float(held_out.share @ np.square(f - held_out.Y).sum(axis=1)))
    place = int(np.argmin(errors))
    return float(tried[place]), errors[place]


def penalty_of(train: Sample, supports: np.ndarray, log_squares: np.ndarray, ridge: float) -> float:
    """Return the absolute penalty of a relative ridge."""
    K = kernel_values(train.X, train.X[supports], log_squares)
    means = train.share @ K
    return ridge * float((train.share @ (K * K) - means * means).mean())


def descend(train: Sample, held_out: Sample, state: State, plan: Plan, *, shared: bool) -> State:
    """Return the state after steps of L-BFGS, that of the least error held out; ``shared``: one width for a feature."""
    shape = state.log_squares.shape
    penalty = penalty_of(train, state.supports, state.log_squares, state.ridge)
    loss = SquaredError(train, state.supports, penalty, plan.on)
    watch = _Watch(train, held_out, plan.patience)

    def function(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        rows = np.broadcast_to(parameters, shape) if shared else parameters.reshape(shape)
        value, gradient, expansion = loss(rows)
        watch.last = expansion
        return value, gradient.sum(axis=0) if shared else gradient.ravel()

    start = state.log_squares[0] if shared else state.log_squares.ravel()
    function(start)
    watch(start)
    minimize: Any = optimize.minimize  # its stubs know no callback that is an object
    minimize(
        function, start, jac=True, method="L-BFGS-B", callback=watch, options={"maxiter": plan.max_iter, "maxcor": 20}
    )
    assert watch.best is not None
    log_squares = np.array(watch.best.log_squares)
    path = state.path + [(len(state.supports), *errors) for errors in watch.errors]
    if plan.on == "supports":
        return State(state.supports, log_squares, state.ridge, watch.error, path)
    ridge, error = best_ridge(train, held_out, state.supports, log_squares, plan.ridge)
    return State(state.supports, log_squares, ridge, min(error, watch.error), path)


class _Watch:
    """Called after each step: keeps the function of the least error held out, stops when it has not fallen for long."""

    def __init__(self, train: Sample, held_out: Sample, patience: int):
        self._train, self._held_out, self._patience = train, held_out, patience
        self.last: Expansion | None = None
        self.best: Expansion | None = None
        self.error, self._since = np.inf, 0
        self.errors: list[tuple[float, float]] = []

    def __call__(self, parameters: np.ndarray) -> None:
        assert self.last is not None
        error = self.last.error(self._held_out)
        self.errors.append((self.last.error(self._train), error))
        if error < self.error or self.best is None:
            self.best, self.error, self._since = self.last, error, 0
            return
        self._since += 1
        if self._since >= self._patience:
            raise StopIteration


def with_worst(train: Sample, held_out: Sample, state: State, size: int, plan: Plan) -> State:
    """Return the state with the samples of the largest residuals as further centres, as wide as their nearest one."""
    penalty = penalty_of(train, state.supports, state.log_squares, state.ridge)
    expansion = SquaredError(train, state.supports, penalty, plan.on).expansion(state.log_squares)
    residuals = np.square(expansion(train.X) - train.Y).sum(axis=1) * (train.share > 0.0)
    residuals[state.supports] = -1.0
    more = np.argsort(-residuals, kind="stable")[: size - len(state.supports)]
    nearest = [int(np.argmin(np.square(expansion.centres - x).sum(axis=1))) for x in train.X[more]]
    supports = np.concatenate([state.supports, more])
    log_squares = np.vstack([state.log_squares, state.log_squares[nearest]])
    if plan.on == "supports":
        ridge, error = state.ridge, np.inf
    else:
        ridge, error = best_ridge(train, held_out, supports, log_squares, plan.ridge)
    return State(supports, log_squares, ridge, error, state.path)


def stage_sizes(largest: int, stages: int) -> tuple[int, ...]:
    """Return how many centres there are stage by stage: each stage about twice as many as the one before.

    >>> stage_sizes(100, 3)
    (25, 50, 100)
    """
    sizes = {max(1, round(largest / 2 ** (stages - 1 - stage))) for stage in range(stages)}
    return tuple(sorted(sizes))
