"""Which samples are centres, with which bandwidths: a start, steps of descent, centres at the worst residuals.

1. `common_width`: one width for all, centres at equal ranks of the targets; width and ridge by leave-one-out.
2. `descend`, shared: one width for each feature, by the gradient of the leave-one-out error.
3. `selected`: centres chosen anew, one after the other where residuals are worst, each with a width of its own
   (selection.py).
4. `descend`: a width for every feature of every centre.

With as many bandwidths as there are, the leave-one-out error can be learned by heart: some samples are held out from
everything. Their error says when to stop, and a level is taken only if it lowers that error by more than two
standard errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg, optimize

from kernreg_asymmetric.bandwidths.adaptation import Expansion, LeaveOneOutError, Sample, kernel_values, overlaps
from kernreg_asymmetric.bandwidths.selection import Dictionary, ridge_path, select

WIDTHS = np.geomspace(0.125, 8.0, 7)  # of the common width that descent starts at, in units of √d
_LEAST = -18.0  # of log λ: below it large coefficients cancel on the samples, and not between them
_FAR = 30.0  # of |η| and log λ: beyond it nothing changes any more
RIDGES = np.geomspace(1e-10, 1e4, 29)  # relative to the mean diagonal of K̃ᵀVK̃
_SURE = 2.0  # standard errors by which a level has to lower the error held out
_PENALTIES = (1.0, 10.0, 100.0)  # μ of a selection, in units of the ridge


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit.

    Attributes
    ----------
    size : int
        How many centres there may be.
    max_iter, patience : int
        Steps of descent at a level, and how many without a better error held out end it.
    """

    size: int
    max_iter: int
    patience: int


@dataclass
class State:
    """Centres with bandwidths, the ridge and the bandwidths of its penalty; errors held out, and their mean.

    ``dictionary`` is that of the selection which the centres came from, if they did.
    """

    supports: np.ndarray
    log_squares: np.ndarray
    log_ridge: float
    anchor: np.ndarray
    squares: np.ndarray = field(default_factory=lambda: np.zeros(0))
    error: float = np.inf
    path: list[tuple[int, float, float]] = field(default_factory=list)  # centres, leave-one-out error, error held out
    dictionary: Dictionary | None = None


def grow(parts: Sequence[tuple[Sample, Sample]], plan: Plan) -> State:
    """Return the state of the highest level that is worth it, learned on the first part.

    Parameters
    ----------
    parts : sequence of pairs of Sample
        Samples to learn from and samples held out. The errors of all parts together decide: one part is enough
        where many samples are held out.
    plan : Plan
    """
    passages = [passage(train, held_out, plan) for train, held_out in parts]
    share = np.concatenate([held_out.share for _, held_out in parts]) / len(parts)
    errors = [np.concatenate([states[level].squares for states in passages]) for level in range(len(passages[0]))]
    chosen = 0
    for level in range(1, len(errors)):
        if is_better(errors[chosen], errors[level], share):
            chosen = level
    state = passages[0][chosen]
    state.path = passages[0][-1].path
    return state


def passage(train: Sample, held_out: Sample, plan: Plan) -> list[State]:
    """Return the states of the four levels; the last one begins at the better of the two before it."""
    start = common_width(train, held_out, spread_over_targets(train.Y, plan.size))
    features = descend(train, held_out, start, plan, shared=True)
    chosen = selected(train, held_out, features, plan.size)
    base = min(features, chosen, key=lambda state: state.error)
    return [start, features, chosen, descend(train, held_out, base, plan, shared=False)]


def selected(train: Sample, held_out: Sample, base: State, size: int) -> State:
    """Return centres chosen anew, with a width each, by bandwidths of features; μ and ridge by the error held out."""
    log_ridges = np.arange(_LEAST, 3.0)
    best: tuple[float, State] | None = None
    for factor in _PENALTIES:
        dictionary = Dictionary(base.log_squares[0], factor * float(np.exp(base.log_ridge)))
        supports, log_squares = select(train, dictionary, size)
        if not len(supports):
            continue
        errors = ridge_path(train, held_out, supports, log_squares, log_ridges) @ held_out.share
        least = int(np.argmin(errors))
        if best is None or errors[least] < best[0]:
            ridge = float(log_ridges[least])
            state = State(supports, log_squares, ridge, log_squares, path=base.path, dictionary=dictionary)
            best = float(errors[least]), state
    return base if best is None else _judged(train, held_out, best[1])


def on_all(data: Sample, learned: np.ndarray, state: State) -> State:
    """Return the state with samples numbered as in all data; selected centres are selected again, from all."""
    if state.dictionary is None:
        return replace(state, supports=learned[state.supports])
    supports, log_squares = select(data, state.dictionary, len(state.supports))
    return replace(state, supports=supports, log_squares=log_squares, anchor=log_squares)


def is_better(old: np.ndarray, new: np.ndarray, share: np.ndarray) -> bool:
    """Return whether new squared errors are less than the old ones by more than two standard errors.

    >>> old, share = np.array([4.0, 5.0, 6.0]), np.full(3, 1 / 3)
    >>> is_better(old, old - [1.0, 1.2, 0.8], share), is_better(old, old - [5.0, -1.0, -1.0], share)
    (True, False)
    """
    gain = old - new
    mean = float(share @ gain)
    deviation = float(np.sqrt(share**2 @ np.square(gain - mean)))
    return mean > _SURE * deviation


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
