"""LS-SVM by blocks of samples: coordinate descent with Nesterov's acceleration, for positive semi-definite kernels.

    (K + κI) a + b 1 = y,   Σ a = 0,   κ = 1/γ

A step takes a block B of samples, evaluates its rows, g = K[B, :] z + κ z_B - y_B, and goes by δ = η (K_BB + ρI)⁻¹ g,
see `block_solves`. With ν = m/|B|, 0 < μ ≤ 1/ν, β = 1 - √(μ/ν), θ = 1/√(μν) and α = 1/(1 + θν)::

    w = z,  w_B -= δ;     v = β v + (1 - β) z,  v_B -= θ δ;     z = α v + (1 - α) w

A pass is as many steps as there are blocks, and evaluates every value of K once, twice what a product with a symmetric
K does; its blocks are a random partition of the samples. How much momentum is right depends on the spectrum, which
nobody knows: μ starts at 1/ν, which is none. It falls to a quarter where the residual falls at less than half of the
rate √(μν) a pass that μ promises, and rises again, with the momentum forgotten, where the residual grows.

All right-hand sides take part in each step, and a column of ones beside them: b is what makes Σ a zero.

Any time is a good time to stop. The gradients of a pass are a fair sample of the residual, which is so known without
another product, as an estimate. At the end the residual is measured by a product with all of K, where time allows it.

References
----------
Rathore, Frangella, Yang, Dereziński & Udell, Have ASkotch: a neat solution for large-scale kernel ridge regression,
2024. Its blocks have m/100 samples and Nyström steps of rank 100, and μ = κ; steps with all of a larger block cost less
than evaluating its rows, and need fewer passes.
"""

from __future__ import annotations

import warnings
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernreg.engine.budget import rows_within
from kernreg.engine.threads import configured_blas
from kernreg.kernels.base import Kernel
from kernreg.linalg.exact.report import unit_if_zero
from kernreg.linalg.krylov.block_solves import block_step
from kernreg.linalg.krylov.centred_operator import CentredOperator
from kernreg.linalg.krylov.cg_and_minres import Watch
from kernreg.linalg.krylov.clock import Clock
from kernreg.linalg.krylov.dual_systems import IterativeReport, worst_residual
from kernreg.linalg.randomness import generator
from kernreg.linalg.system_inputs import require_positive, targets_and_weights

_PER_ROOT = 10  # samples of a block, times √m: its Cholesky factor costs about what its rows do
_PATIENCE, _PROGRESS = 25, 0.99  # passes without progress after which nothing more is expected
_WINDOW, _FACTOR, _SLOW = 2, 4.0, 0.5  # passes that a rate is taken from, and how μ follows it


@dataclass(frozen=True)
class BlockSettings:
    """How a system is solved by blocks.

    Attributes
    ----------
    tol : float
        Relative residual ‖r‖/‖JY‖ to reach in every column.
    max_iter : int
        Bound on the passes.
    max_seconds : float, optional
        Bound on the time.
    block : int, optional
        Samples of a block; 10 √m by default, and no more than an eighth of the memory budget holds as a square matrix.
    rank : int, optional
        Of the Nyström approximation of a block; all of it by default.
    random_state : int, numpy Generator or RandomState, optional
    watch : callable, optional
        Called as ``watch(pass, estimated residual / tolerance)``.
    """

    tol: float = 1e-6
    max_iter: int = 500
    max_seconds: float | None = None
    block: int | None = None
    rank: int | None = None
    random_state: Any = 0
    watch: Watch | None = None


_DEFAULTS = BlockSettings()


@dataclass(frozen=True)
class BlocksReport(IterativeReport):
    """An `IterativeReport` of block coordinate descent; an iteration is a pass over all blocks.

    Attributes
    ----------
    block : int
        Samples of a block.
    residual_is : str
        ``"measured"`` by a product with all of K, or ``"estimated"`` from the last steps, where no time was left.
    """

    block: int = 0
    residual_is: str = ""


@configured_blas()
def solve_by_blocks(
    kernel: Kernel,
    X: Any,
    Y: np.ndarray,
    gamma: float,
    *,
    weights: np.ndarray | None = None,
    settings: BlockSettings = _DEFAULTS,
) -> tuple[np.ndarray, np.ndarray, BlocksReport]:
    """Solve LS-SVM for a positive semi-definite kernel: coefficients of f(x) = Σ_i a_i k(x, x_i) + b.

    Parameters
    ----------
    kernel : Kernel
        Symmetric and positive semi-definite; that is the caller's word.
    X : array or CSR of m samples
    Y : ndarray of shape (m,) or (m, C)
        One column for each class or output.
    gamma : float
        Regularisation constant γ.
    weights : ndarray of shape (m,), optional
        Positive sample weights.
    settings : BlockSettings

    Returns
    -------
    A : ndarray of shape (m, C)
    b : ndarray of shape (C,)
    report : BlocksReport

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> X = np.linspace(-2.0, 2.0, 60)[:, None]
    >>> k = rbf(sigma=1.0)
    >>> A, b, report = solve_by_blocks(k, X, np.sin(X), 100.0, settings=BlockSettings(block=20))
    >>> report.converged, report.residual_is, bool(np.abs(k(X) @ A + b - np.sin(X)).max() < 0.01)
    (True, 'measured', True)
    """
    require_positive(gamma)
    clock = Clock(settings.max_seconds)
    X = kernel.check_samples(X)
    kernel = kernel.anchored(X)
    Y, weights = targets_and_weights(X.shape[0], Y, weights)
    centred = CentredOperator(kernel.operator(X), weights)
    offset = np.average(Y, axis=0, weights=weights)
    descent = _Descent(kernel, X, Y - offset, centred, 1.0 / gamma, settings)
    stop = _iterate(descent, settings, clock)
    if stop.measured is None:
        solution = descent.combined(stop.solution)
        b, residual, kind = descent.intercept(stop.solution), stop.estimate, "estimated"
    else:
        solution, b, residual, kind = *stop.measured, "measured"
    converged = kind == "measured" and residual <= settings.tol
    note = ""
    if not converged:
        note = (
            f"blocks stopped after {stop.passes} passes and {clock.elapsed:.3g} s at relative residual {residual:.1e} "
            f"({kind}), tol={settings.tol:.1e}; raise max_iter, max_seconds or tol, or lower gamma"
        )
        warnings.warn(note, ConvergenceWarning, stacklevel=3)  # past the gate of BLAS
    report = BlocksReport(
        "blocks",
        "coordinate descent",
        centred.size,
        gamma,
        residual,
        float("nan"),
        note=note,
        iterations=stop.passes,
        converged=converged,
        rank=descent.block if settings.rank is None else min(settings.rank, descent.block),
        form=centred.form,
        block=descent.block,
        residual_is=kind,
    )
    return centred.scale(solution), b + offset, report


class _Descent:
    """The iterates of all right-hand sides, a column of ones last, in the coordinates of diag(√v) K diag(√v)."""

    def __init__(
        self, kernel: Kernel, X: Any, Y: np.ndarray, centred: CentredOperator, kappa: float, settings: BlockSettings
    ):
        self._kernel, self._X, self._Y, self._centred, self._kappa = kernel, X, Y, centred, kappa
        self._rank, self._rng = settings.rank, generator(settings.random_state)
        m = centred.size
        largest = max(1, int(np.sqrt(rows_within(1, 8, 1 / 8))))
        wanted = int(_PER_ROOT * np.sqrt(m)) if settings.block is None else settings.block
        self.block = max(1, min(m, wanted, largest))
        self.steps = -(-m // self.block)
        self._nu = m / self.block
        self._mu = 1.0 / self._nu
        self._targets = centred.scale(np.column_stack([Y, np.ones(m)]))
        self.Z = np.zeros_like(self._targets)
        self._V = self.Z.copy()
        self._size = unit_if_zero(np.linalg.norm(centred.targets(Y), axis=0))
        self._recent: deque[np.ndarray] = deque(maxlen=self.steps)

    def blocks(self) -> list[np.ndarray]:
        """Return a random partition into blocks of the same size; the last takes samples of the first as well."""
        order = self._rng.permutation(self._centred.size)
        order = np.append(order, order[: self.steps * self.block - len(order)])
        return [np.sort(part) for part in np.split(order, self.steps)]

    def step(self, B: np.ndarray) -> None:
        """Take one step."""
        centred, Z, kappa = self._centred, self.Z, self._kappa
        samples, root = self._X[B], None if centred.root is None else centred.root[B]
        rows = np.asarray(self._kernel.product(samples, self._X, centred.scale(Z)), dtype=np.float64)
        K = np.asarray(self._kernel(samples), dtype=np.float64)
        if root is not None:
            rows, K = root[:, None] * rows, root[:, None] * K * root
        g = rows + kappa * Z[B] - self._targets[B]
        self._recent.append(((g[:, :-1] - g[:, -1:] * self.intercept(Z)) ** 2).sum(axis=0))
        delta = block_step(K, g, kappa, self._rank, self._rng)
        mu, nu = self._mu, self._nu
        beta, theta = 1.0 - np.sqrt(mu / nu), 1.0 / np.sqrt(mu * nu)
        alpha = 1.0 / (1.0 + theta * nu)
        V = beta * self._V + (1.0 - beta) * Z
        V[B] -= theta * delta
        W = Z.copy()
        W[B] -= delta
        self._V, self.Z = V, alpha * V + (1.0 - alpha) * W

    @property
    def estimate(self) -> float:
        """The largest relative residual, from the steps of the last pass."""
        if not self._recent:
            return 1.0
        norms = np.sqrt(self._nu * np.mean(self._recent, axis=0))
        return float((norms / self._size).max(initial=0.0))

    def follow(self, before: float, now: float) -> None:
        """Adapt the momentum to how the residual went in a window of passes."""
        rate = np.log(max(before, 1e-300) / max(now, 1e-300)) / _WINDOW
        if rate < 0.0:
            self._mu, self._V = min(_FACTOR * self._mu, 1.0 / self._nu), self.Z.copy()
        elif rate < _SLOW * np.sqrt(self._mu * self._nu):
            self._mu /= _FACTOR

    def restart(self, Z: np.ndarray) -> None:
        """Go on from there, without momentum."""
        self.Z, self._V, self._mu = Z.copy(), Z.copy(), 1.0 / self._nu

    def intercept(self, Z: np.ndarray) -> np.ndarray:
        """Return the b for which Σ a is zero."""
        sums = self._centred.border @ Z
        return sums[:-1] / sums[-1] if sums[-1] != 0.0 else np.zeros(len(sums) - 1)

    def combined(self, Z: np.ndarray) -> np.ndarray:
        """Return the solutions with Σ a = 0."""
        return self._centred.project(Z[:, :-1] - Z[:, -1:] * self.intercept(Z))

    def measure(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Return solution, intercept and true relative residual, by one product with K."""
        centred, kappa, solution = self._centred, self._kappa, self.combined(Z)
        full = centred.scale(self._Y - centred.raw(centred.scale(solution))) - kappa * solution
        residual = worst_residual(centred.project(full), solution, kappa, centred.targets(self._Y))
        return solution, (centred.border @ full) / centred.norm, residual


@dataclass(frozen=True)
class _Stop:
    """Where an iteration ended: the iterate and its estimated residual, or what was measured of the best."""

    solution: np.ndarray
    estimate: float
    measured: tuple[np.ndarray, np.ndarray, float] | None
    passes: int


def _iterate(descent: _Descent, settings: BlockSettings, clock: Clock) -> _Stop:
    """Go on until the measured residual is within the tolerance, nothing is gained, or passes or time are used up."""
    best, best_estimate, improved = descent.Z, np.inf, 0
    measured: tuple[np.ndarray, np.ndarray, float] | None = None
    window: list[float] = []
    target, done, a_pass = settings.tol, 0, 0.0
    clock.lap()
    while done < settings.max_iter:
        in_time = _one_pass(descent, clock, a_pass)
        a_pass = max(a_pass, clock.lap()) if in_time else a_pass
        if not in_time:
            break
        done += 1
        estimate = descent.estimate
        if settings.watch is not None:
            settings.watch(done, estimate / settings.tol)
        if not estimate <= 1e3 * max(best_estimate, 1.0):  # momentum has run away, or overflowed
            descent.restart(best)
            window = []
            continue
        if estimate < _PROGRESS * best_estimate:
            improved = done
        if estimate < best_estimate:
            best, best_estimate = descent.Z, estimate
        if estimate <= target:
            measured = _better(measured, descent.measure(descent.Z))
            target = 0.5 * min(estimate, target)
            clock.lap()
            if measured[2] <= settings.tol:
                return _Stop(descent.Z, estimate, measured, done)
        if done - improved >= _PATIENCE:
            break
        window.append(estimate)
        if len(window) > _WINDOW:
            descent.follow(window[0], window[-1])
            window = []
    last = descent.Z if descent.estimate <= 2.0 * best_estimate else best
    if settings.max_seconds is None or (2.0 * a_pass <= settings.max_seconds and a_pass > 0.0):
        measured = _better(measured, descent.measure(last))
    return _Stop(last, min(descent.estimate, best_estimate), measured, done)


def _one_pass(descent: _Descent, clock: Clock, a_pass: float) -> bool:
    """Take the steps of a pass; return whether the time sufficed, with a reserve for measuring the residual."""
    reserve = a_pass if clock.seconds is not None and 2.0 * a_pass <= clock.seconds else 0.0
    for B in descent.blocks():
        if clock.over(reserve):
            return False
        descent.step(B)
    return True


def _better(first: Any, second: Any) -> Any:
    return second if first is None or second[2] <= first[2] else first
