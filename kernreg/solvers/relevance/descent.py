"""From equal weights downhill: one batch and one step of Adam after another, in the logarithms of weights and of γ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernreg.common.display import Display
from kernreg.common.progress import progress
from kernreg.kernels import Kernel
from kernreg.kernels.sharing import unshared_matrices
from kernreg.solvers.relevance.batches import Batches
from kernreg.solvers.relevance.loss import POWERS, left_out_errors, loss

_RATE, _MOMENTUM, _MEMORY = 0.15, 0.9, 0.95  # of Adam: first step in logarithms, averages of slopes and their squares
_AVERAGED = 0.25  # the last steps, whose mean is taken
_CHECKS = 8  # batches that compare the weights before and after
_STARTS, _START_BATCHES = 2.0 ** np.arange(-2.0, 6.0), 3  # widths tried for equal weights, and on how many batches
_GAMMAS = 10.0 ** np.arange(0.0, 4.0)
_GAMMA_RANGE = np.log(1e-2), np.log(1e6)


@dataclass(frozen=True)
class RelevanceReport(Display):
    """What was learned.

    Attributes
    ----------
    steps, batch_size : int
    held_out_error : float
        Mean squared error at samples that were not learned from, predicted from those around them.
    equal_error : float
        The same with equal weights of standardised features.
    kept : bool
        Whether the learned weights are the better ones; if not, the equal ones are used.
    """

    steps: int
    batch_size: int
    held_out_error: float
    equal_error: float
    kept: bool


@dataclass(frozen=True)
class Learned:
    """Weights of features, γ that goes with them, the loss of each step, and how good they are."""

    weights: np.ndarray
    gamma: float
    losses: np.ndarray
    report: RelevanceReport


def descend(kernel: Kernel, batches: Batches, steps: int, batch_size: int) -> Learned:
    """Return weights under which a kernel predicts samples from their neighbours best.

    Parameters
    ----------
    kernel : Kernel
        Its widths are numbers.
    batches : Batches
    steps : int
    batch_size : int
    """
    equal, gamma = _start(kernel, batches)
    used = equal > 0.0
    place = np.append(np.log(equal[used]), np.log(gamma))  # logarithms of weights, then of γ
    slopes, squares = np.zeros_like(place), np.zeros_like(place)
    losses, places = np.empty(steps), []
    with unshared_matrices(), progress("relevance", steps) as report:
        for step in range(1, steps + 1):
            X, Y = batches.training(_weights(place, used))
            found = loss(kernel, X[:, used], Y, float(np.exp(place[-1])))
            losses[step - 1] = found.value
            by_place = np.append(found.by_weights, found.by_gamma)
            if np.all(np.isfinite(by_place)):  # else the system is singular: another batch will do
                slopes = _MOMENTUM * slopes + (1.0 - _MOMENTUM) * by_place
                squares = _MEMORY * squares + (1.0 - _MEMORY) * by_place**2
                mean, size = slopes / (1.0 - _MOMENTUM**step), np.sqrt(squares / (1.0 - _MEMORY**step))
                fading = min(1.0, 2.0 * (1.0 - (step - 1) / steps))
                place = place - _RATE * fading * np.divide(mean, size, out=np.zeros_like(mean), where=size > 0.0)
                place[-1] = np.clip(place[-1], *_GAMMA_RANGE)
            places.append(place)
            report(step)
    place = np.mean(places[-max(1, int(_AVERAGED * steps)) :], axis=0)
    weights, learned_gamma = _weights(place, used), float(np.exp(place[-1]))
    rows = batches.checks(equal, weights, count=_CHECKS)
    before, after = (
        _held_out_error(kernel, batches, rows, *pair) for pair in ((equal, gamma), (weights, learned_gamma))
    )
    summary = RelevanceReport(steps, batch_size, min(before, after), before, bool(after < before))
    return Learned(*((weights, learned_gamma) if summary.kept else (equal, gamma)), losses, summary)


def _weights(place: np.ndarray, used: np.ndarray) -> np.ndarray:
    weights = np.zeros(len(used))
    weights[used] = np.exp(place[:-1])
    return weights


def _start(kernel: Kernel, batches: Batches) -> tuple[np.ndarray, float]:
    """Return equal weights of standardised features, zero for constant ones, and γ: the best of some of both."""
    spread = batches.spread
    unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
    unit /= max(1.0, float(np.count_nonzero(unit))) ** (1.0 / POWERS[kernel.family.of])
    unit *= kernel.get_params()[kernel.family.widths[0]] if kernel.family.widths else 1.0
    drawn = [batches.training(unit) for _ in range(_START_BATCHES)]
    best = np.inf, unit, 1.0
    for factor in _STARTS:
        errors = np.empty((len(_GAMMAS), len(drawn)))
        for number, (X, Y) in enumerate(drawn):
            K = kernel(factor * X)
            errors[:, number] = [(left_out_errors(K, Y, gamma) ** 2).mean() for gamma in _GAMMAS]
        for gamma, error in zip(_GAMMAS, errors.mean(axis=1), strict=True):
            if error < best[0]:
                best = float(error), factor * unit, float(gamma)
    return best[1], best[2]


def _held_out_error(
    kernel: Kernel, batches: Batches, checks: list[np.ndarray], weights: np.ndarray, gamma: float
) -> float:
    total, count = 0.0, 0
    for rows in checks:
        X, Y, held_out = batches.checked(rows, weights)
        errors = left_out_errors(kernel(X), Y, gamma)[held_out]
        total, count = total + float((errors**2).sum()), count + errors.size
    return total / count if count else np.inf
