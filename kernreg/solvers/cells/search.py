"""The machine of one cell, its width and γ chosen by exact leave-one-out.

``full``     every multiple of the kernel's widths is tried, each with every γ the solver chooses from
``pilots``   so in a few cells. In the others the two multiples that were best there, and γ near theirs: three values,
             more while the best is at an end. LS-SVM takes one inverse for each, a sixth of an eigendecomposition
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone, is_regressor

from kernreg.common.checks import is_real
from kernreg.errors import ParameterError, UninformativeKernelWarning
from kernreg.kernels import Kernel
from kernreg.solvers.advice import Advice, collecting

PILOTS = 8  # cells in which everything is tried
_KEPT = 2  # multiples of the width that are tried in the others
_STEP = 10.0**0.5  # from one γ to the next, near that of the pilots
_STEPS = 3  # beyond the three values
_CONDITION = 1e6  # beyond it an inverse is not accurate, and a decomposition is needed anyway


@dataclass(frozen=True)
class Cell:
    """The samples that a machine is fitted to: those of the cell, then neighbours."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None


@dataclass(frozen=True)
class Trial:
    """A multiple of the width, the best γ with it, how good that is by leave-one-out, and the condition there."""

    factor: float
    gamma: float
    score: float
    squared_error: float
    condition: float = 1.0

    @property
    def quality(self) -> tuple[float, float]:
        """What is compared: the score, ties settled by squared error."""
        return self.score, -self.squared_error


@dataclass(frozen=True)
class Fitted:
    """The machine of a cell, the multiple of the width it has, all that was tried, and what it warns of."""

    machine: Any
    factor: float = 1.0
    trials: tuple[Trial, ...] = ()
    warnings: tuple[Advice, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What to try in a cell.

    Attributes
    ----------
    solver : estimator
        Not fitted.
    kernel : Kernel or None
        None where the solver takes none.
    factors : tuple of float
        Multiples of the kernel's widths.
    gammas : tuple of float, optional
        For each of them the γ near which to look; by default as the solver chooses.
    """

    solver: Any
    kernel: Kernel | None
    factors: tuple[float, ...] = (1.0,)
    gammas: tuple[float, ...] | None = None

    @property
    def compares(self) -> bool:
        """Whether several machines are compared by leave-one-out."""
        return len(self.factors) > 1 or self.gammas is not None

    def narrowed(self, pilots: Sequence[Fitted]) -> Plan:
        """Return the plan for the other cells: the best factors of the pilots, and γ near theirs where quick."""
        trials = [trial for pilot in pilots for trial in pilot.trials if np.isfinite(trial.squared_error)]
        if not trials:
            return self
        means = {}
        for factor in self.factors:
            own = [trial for trial in trials if trial.factor == factor]
            if own:
                score = 0.0 if is_regressor(self.solver) else np.mean([trial.score for trial in own])
                gamma = float(np.exp(np.median([np.log(trial.gamma) for trial in own])))
                means[factor] = (float(score), -float(np.mean([trial.squared_error for trial in own])), gamma)
        best = sorted(means, key=lambda factor: means[factor][:2], reverse=True)[:_KEPT]
        chosen = isinstance(self.solver.gamma, str) and self.solver.gamma == "loo"
        condition = np.median([trial.condition for trial in trials if trial.factor == best[0]])
        quick = chosen and getattr(self.solver, "requires_symmetric_kernel", False) and condition < _CONDITION
        return replace(self, factors=tuple(best), gammas=tuple(means[f][2] for f in best) if quick else None)


def fit_cell(cell: Cell, plan: Plan, settings: dict[str, Any]) -> Fitted:
    """Return the machine of a cell, here or on another computer.

    Parameters
    ----------
    cell : Cell
    plan : Plan
    settings : dict
        Those of scikit-learn in force; other threads start with the defaults.
    """
    with sklearn.config_context(**settings):
        if plan.gammas is not None:
            try:
                return _near_pilots(cell, plan, plan.gammas)
            except ParameterError:  # every γ there is at a pole of this cell
                plan = replace(plan, gammas=None)
        found = [_fit(cell, plan, factor) for factor in plan.factors]
    return _best_of(found) if plan.compares else found[0]


def _near_pilots(cell: Cell, plan: Plan, gammas: tuple[float, ...]) -> Fitted:
    factor, gamma = plan.factors[0], gammas[0]
    found = [_fit(cell, plan, factor, [gamma / _STEP, gamma, gamma * _STEP])]
    direction = np.sign(np.round(np.log(found[0].trials[0].gamma / gamma), 6))
    for step in range(2, 2 + _STEPS if direction else 2):
        further = _fit(cell, plan, factor, [gamma * _STEP ** (direction * step)])
        if _quality(further) <= _quality(found[0]):
            break
        found[0] = further
    for other, near in zip(plan.factors[1:], gammas[1:], strict=True):
        found.append(_fit(cell, plan, other, [found[0].trials[0].gamma * near / gamma]))
    return _best_of(found)


def _best_of(found: list[Fitted]) -> Fitted:
    """Return the best machine, of equals the first.

    Where leave-one-out prefers a kernel that says nothing to others, it is the targets that cannot be told, and no
    warning about the kernel is due.
    """
    best = max(found, key=_quality)
    warnings = best.warnings
    if any(not _uninformative(each) for each in found):
        warnings = tuple(heard for heard in warnings if not issubclass(heard.category, UninformativeKernelWarning))
    return replace(best, trials=tuple(trial for each in found for trial in each.trials), warnings=warnings)


def _uninformative(fitted: Fitted) -> bool:
    return any(issubclass(heard.category, UninformativeKernelWarning) for heard in fitted.warnings)


def _quality(fitted: Fitted) -> tuple[float, float]:
    return fitted.trials[0].quality


def _fit(cell: Cell, plan: Plan, factor: float, gammas: list[float] | None = None) -> Fitted:
    """Return the machine with one multiple of the widths, and γ as the solver has it or the best of some."""
    machine = clone(plan.solver)
    if plan.kernel is not None:
        machine.kernel = scaled(plan.kernel, factor)
    given: Any = getattr(machine, "gamma", None)
    if gammas is not None:
        machine.gamma = gammas
    elif plan.compares and (is_real(given) or (isinstance(given, str) and given != "loo")):
        machine.gamma = [given]  # leave-one-out values come with the fit
    weights = {} if cell.weights is None else {"sample_weight": cell.weights}
    with collecting() as heard:
        machine.fit(cell.X, cell.y, **weights)
    if hasattr(machine, "gamma"):
        machine.gamma = given
    return Fitted(machine, factor, tuple(_trials(machine, factor)), tuple(heard))


def _trials(machine: Any, factor: float) -> Iterator[Trial]:
    path = getattr(machine, "loo_path_", None)
    if path is not None:
        at = int(np.flatnonzero(path["gamma"] == machine.gamma_)[0])
        quality = float(path["score"][at]), float(path["squared_error"][at])
        yield Trial(factor, machine.gamma_, *quality, machine.solver_report_.condition)


def width_names(kernel: Kernel, prefix: str = "") -> list[str]:
    """Return the parameters of a kernel, and of those inside it, that are widths.

    >>> from kernreg import make_kernel
    >>> width_names(make_kernel("rbf") + make_kernel("linear"))
    ['left__sigma']
    """
    found = [f"{prefix}{name}" for name in kernel.family.widths]
    for name, value in kernel.get_params(deep=False).items():
        if isinstance(value, Kernel):
            found += width_names(value, f"{prefix}{name}__")
    return found


def scaled(kernel: Kernel, factor: float) -> Kernel:
    """Return the kernel with every width multiplied.

    >>> from kernreg import make_kernel
    >>> scaled(make_kernel("rbf(sigma='2*scale')"), 2.0), scaled(make_kernel("rbf(sigma=3.0)"), 0.5)
    (rbf(sigma='4.0*scale'), rbf(sigma=1.5))
    """
    if factor == 1.0:
        return kernel
    given, wider = kernel.get_params(), {}
    for name in width_names(kernel):
        before, _, word = given[name].rpartition("*") if isinstance(given[name], str) else (given[name], "", "")
        number = factor * float(before or 1.0)
        wider[name] = f"{number!r}*{word}" if word else number
    return kernel.set_params(**wider)
