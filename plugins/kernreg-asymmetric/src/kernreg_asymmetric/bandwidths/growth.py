"""Which samples are centres, with which bandwidths: a start, steps of descent, more centres at the worst residuals.

Bandwidths and ridge follow the gradient of the leave-one-out error. With as many bandwidths as there are, that error
can be learned by heart as well: some samples are held out from everything, and their error says when to stop and how
many centres are enough.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg, optimize

from kernreg_asymmetric.bandwidths.adaptation import Expansion, LeaveOneOutError, Sample, kernel_values, overlaps

WIDTHS = np.geomspace(0.125, 8.0, 7)  # of the common width that descent starts at, in units of √d
_LEAST = -18.0  # of log λ: below it large coefficients cancel on the samples, and not between them
_FAR = 30.0  # of |η| and log λ: beyond it nothing changes any more
RIDGES = np.geomspace(1e-10, 1e4, 29)  # relative to the mean diagonal of K̃ᵀVK̃


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit.

    Attributes
    ----------
    sizes : tuple of int
        How many centres there are, stage by stage.
    max_iter, patience : int
        Steps of descent in a stage, and how many without a better error held out end it.
    """

    sizes: tuple[int, ...]
    max_iter: int
    patience: int


@dataclass
class State:
    """Centres with bandwidths, the ridge and the bandwidths of its penalty; errors held out, and their mean."""

    supports: np.ndarray
    log_squares: np.ndarray
    log_ridge: float
    anchor: np.ndarray
    squares: np.ndarray = field(default_factory=lambda: np.zeros(0))
    error: float = np.inf
    path: list[tuple[int, float, float]] = field(default_factory=list)  # centres, leave-one-out error, error held out


def grow(train: Sample, held_out: Sample, plan: Plan) -> State:
    """Return the best state, by the error held out, of all that were passed through."""
    state = common_width(train, held_out, spread_over_targets(train.Y, plan.sizes[0]))
    state = best = better(state, descend(train, held_out, state, plan, shared=True), held_out)
    for size in plan.sizes[1:]:  # centres first: few bandwidths cannot be learned by heart
        more = with_worst(train, held_out, state, size)
        state = better(more, descend(train, held_out, more, plan, shared=True), held_out)
        best = better(best, state, held_out)
    for start in {id(state): state, id(best): best}.values():
        found = descend(train, held_out, start, plan, shared=False)
        best, path = better(best, found, held_out), found.path
    best.path = path
    return best


def better(old: State, new: State, held_out: Sample) -> State:
    """Return the new state if its error held out is less by more than half its uncertainty, else the old one."""
    gain = old.squares - new.squares
    mean = float(held_out.share @ gain)
    deviation = float(np.sqrt(held_out.share**2 @ np.square(gain - mean)))
    return new if mean > 0.5 * deviation else old


def spread_over_targets(Y: np.ndarray, size: int) -> np.ndarray:
    """Return samples at equal ranks of the sum of targets: a start that sees small and large values alike.

    >>> spread_over_targets(np.array([[3.0], [1.0], [2.0], [5.0], [4.0]]), 3).tolist()
    [1, 0, 3]
    """
    order = np.argsort(Y.sum(axis=1), kind="stable")
    return order[np.unique(np.linspace(0, len(Y) - 1, min(size, len(Y))).astype(np.intp))]


def common_width(train: Sample, held_out: Sample, supports: np.ndarray) -> State:
    """Return the state of the common width and the ridge of the least leave-one-out error."""
    d, centres, v = train.X.shape[1], train.X[supports], train.share
    best = (np.inf, 0.0, 0.0)
    target = train.Y - v @ train.Y
    for width in WIDTHS:
        log_square = -float(np.log(d * width * width))
        K = kernel_values(train.X, centres, np.full(centres.shape, log_square))
        K -= v @ K
        S = overlaps(centres, np.full(centres.shape, log_square))
        S[np.diag_indices_from(S)] += 1e-9
        values, vectors = linalg.eigh((K * v[:, None]).T @ K, S, check_finite=False)  # every ridge at once
        on_vectors = K @ vectors
        products, squares = on_vectors.T @ (v[:, None] * target), np.square(on_vectors)
        for relative in RIDGES:
            ridge = max(relative * float(values.mean()), np.finfo(float).tiny)
            inverse = 1.0 / (np.maximum(values, 0.0) + ridge)
            residuals = target - on_vectors @ (inverse[:, None] * products)
            keep = np.maximum(1.0 - v * (1.0 + squares @ inverse), 1e-6)
            error = float((v / keep**2) @ np.square(residuals).sum(axis=1))
            best = min(best, (error, log_square, float(np.log(ridge))))
    log_squares = np.full(centres.shape, best[1])
    return _judged(train, held_out, State(supports, log_squares, best[2], log_squares))


def loss_of(data: Sample, supports: np.ndarray, log_squares: np.ndarray) -> LeaveOneOutError:
    """Return the leave-one-out error with the penalty of these bandwidths."""
    return LeaveOneOutError(data, supports, overlaps(data.X[supports], log_squares))


def _judged(train: Sample, held_out: Sample, state: State) -> State:
    """Return the state with its error held out."""
    loss = loss_of(train, state.supports, state.anchor)
    expansion = loss.solve(state.log_squares, state.log_ridge).expansion
    squares = np.square(expansion(held_out.X) - held_out.Y).sum(axis=1)
    return replace(state, squares=squares, error=float(held_out.share @ squares))


def descend(train: Sample, held_out: Sample, state: State, plan: Plan, *, shared: bool) -> State:
    """Return the state after steps of L-BFGS, that of the least error held out; ``shared``: one width for a feature."""
    shape = state.log_squares.shape
    loss = loss_of(train, state.supports, state.log_squares)
    watch = _Watch(held_out, plan.patience)

    def function(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        rows = np.broadcast_to(parameters[:-1], shape) if shared else parameters[:-1].reshape(shape)
        value, by_width, by_ridge, expansion = loss(rows, parameters[-1])
        watch.last = value, expansion, float(parameters[-1])
        slopes = np.append(by_width.sum(axis=0) if shared else by_width.ravel(), by_ridge)
        # The logarithm: steps and tolerances then mean the same for small errors as for large ones.
        value = max(value, np.finfo(float).tiny)
        return float(np.log(value)), slopes / value

    start = np.append(state.log_squares[0] if shared else state.log_squares.ravel(), max(state.log_ridge, _LEAST))
    function(start)
    watch(start)
    minimize: Any = optimize.minimize  # its stubs know no callback that is an object
    bounds = [(-_FAR, _FAR)] * (len(start) - 1) + [(_LEAST, _FAR)]
    options = {"maxiter": plan.max_iter, "maxcor": 20}
    minimize(function, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=watch, options=options)
    assert watch.best is not None
    expansion, log_ridge = watch.best
    path = state.path + [(len(state.supports), *errors) for errors in watch.errors]
    found = np.array(expansion.log_squares)
    return _judged(train, held_out, State(state.supports, found, log_ridge, state.log_squares, path=path))


class _Watch:
    """Called after each step: keeps the function of the least error held out, stops when it has not fallen for long."""

    def __init__(self, held_out: Sample, patience: int):
        self._held_out, self._patience = held_out, patience
        self.last: tuple[float, Expansion, float] | None = None
        self.best: tuple[Expansion, float] | None = None
        self.error, self._since = np.inf, 0
        self.errors: list[tuple[float, float]] = []

    def __call__(self, parameters: np.ndarray) -> None:
        assert self.last is not None
        value, expansion, log_ridge = self.last
        error = expansion.error(self._held_out)
        self.errors.append((value, error))
        if error < self.error or self.best is None:
            self.best, self.error, self._since = (expansion, log_ridge), error, 0
            return
        self._since += 1
        if self._since >= self._patience:
            raise StopIteration


def with_worst(train: Sample, held_out: Sample, state: State, size: int) -> State:
    """Return the state with the samples of the largest leave-one-out residuals as centres, as wide as their nearest."""
    solved = loss_of(train, state.supports, state.anchor).solve(state.log_squares, state.log_ridge)
    residuals = np.square(solved.left_out).sum(axis=1)
    residuals[state.supports] = -1.0
    more = np.argsort(-residuals, kind="stable")[: size - len(state.supports)]
    centres = solved.expansion.centres
    nearest = [int(np.argmin(np.square(centres - x).sum(axis=1))) for x in train.X[more]]
    supports = np.concatenate([state.supports, more])
    log_squares, anchor = (np.vstack([rows, rows[nearest]]) for rows in (state.log_squares, state.anchor))
    return _judged(train, held_out, State(supports, log_squares, state.log_ridge, anchor, path=state.path))


def stage_sizes(largest: int, stages: int) -> tuple[int, ...]:
    """Return how many centres there are stage by stage: each stage about twice as many as the one before.

    >>> stage_sizes(100, 3)
    (25, 50, 100)
    """
    sizes = {max(1, round(largest / 2 ** (stages - 1 - stage))) for stage in range(stages)}
    return tuple(sorted(sizes))
