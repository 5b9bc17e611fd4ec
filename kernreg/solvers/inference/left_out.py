"""The models without one training sample each, f⁽⁻ⁱ⁾, at any new sample: f⁽⁻ⁱ⁾(x) = f(x) - H_i(x) e_i, no refits.

See `kernreg.linalg.exact.smoothers` for H and e. What a kernel learnt from its reference set (a width, the normaliser
of ``sne``) and γ are those of all samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kernreg.errors import DataError, ParameterError, shown
from kernreg.linalg.exact.smoothers import SmoothedSystem, block_smoother, symmetric_smoother
from kernreg.solvers.samples import check_fitted, check_pair, check_samples
from kernreg.solvers.views import Views

_BLOCK = 64e6  # bytes of left-out predictions held at once
#: The smoothers of models in use. They go with the model, and are in no model file.
_kept: WeakKeyDictionary[Any, tuple[np.ndarray, list[SmoothedSystem]]] = WeakKeyDictionary()


class LeftOutModels:
    """The models without one sample each of a fitted dual machine.

    Parameters
    ----------
    machine : fitted dual machine
        By strategy ``exact``.

    Attributes
    ----------
    problems : list of Problem
        What was solved: one problem, or one for each pair of classes.
    residuals : dict of str to ndarray of shape (m, columns)
        y_i - f⁽⁻ⁱ⁾(x_i) of each view; NaN for samples that a problem of two classes has not seen.

    Raises
    ------
    ParameterError
        Where the machine has no kernel matrix, or its solution is damped.
    """

    def __init__(self, machine: Any):
        check_fitted(machine)
        require_left_out(machine)
        self._machine = machine
        self.problems = machine._targets.problems(machine._y)
        self._systems = _systems(machine, self.problems)
        self.residuals = self._residuals()

    @property
    def size(self) -> int:
        """The number of samples, and of models."""
        return len(self._machine._y)

    def _residuals(self) -> Views:
        found = {
            name: np.full((self.size, self._machine._coefficients.shape[2]), np.nan) for name in self._machine.views
        }
        for system, (rows, columns) in self.parts():
            coefficients = {
                name: self._machine._coefficients[number][rows, columns].astype(np.float64)
                for number, name in enumerate(self._machine.views)
            }
            for name, residuals in system.residuals(coefficients).items():
                found[name][rows, columns] = residuals
        return found

    def parts(self) -> Iterator[tuple[SmoothedSystem, tuple[Any, slice]]]:
        """Yield the system of each problem with its samples and its columns."""
        start = 0
        for system, problem in zip(self._systems, self.problems, strict=True):
            stop = start + problem.Y.shape[1]
            rows = slice(None) if problem.rows is None else problem.rows
            yield system, (rows, slice(start, stop))
            start = stop

    def blocks(self, X: Any) -> Iterator[tuple[slice, Views, Views]]:
        """Yield (rows, views, left out): f (n, columns) and f⁽⁻ⁱ⁾ (n, m, columns) of each view, a few rows at a time.

        Parameters
        ----------
        X : array-like or CSR of shape (n, d), or a pair
            What the machine predicts.
        """
        machine = self._machine
        new, train = _both_sides(machine, X)
        count = new[0].shape[0]
        columns = machine._coefficients.shape[2]
        step = max(1, int(_BLOCK / (8 * self.size * (2 + columns) * len(machine.views))))
        for start in range(0, count, step):
            rows = slice(start, min(start + step, count))
            yield rows, *self._block(kernel_rows(machine, [side[rows] for side in new], train))

    def _block(self, kernel_rows: Views) -> tuple[Views, Views]:
        machine, views, left_out = self._machine, {}, {}
        for number, (name, K) in enumerate(kernel_rows.items()):
            coefficients, intercepts = machine._coefficients[number], machine._intercepts[number]
            f = K @ coefficients.astype(np.float64) + intercepts
            without = np.repeat(f[:, None, :], self.size, axis=1)
            for system, (rows, columns) in self.parts():
                parts = system.smoothers[name].weights(K if isinstance(rows, slice) else K[:, rows])
                for other, H in parts.items():
                    change = H[:, :, None] * self.residuals[other][rows, columns]
                    if isinstance(rows, slice):
                        without[:, :, columns] -= change
                    else:
                        without[:, rows, columns] -= change
            views[name], left_out[name] = f, without
        return views, left_out


def require_left_out(machine: Any) -> None:
    """Raise ParameterError where a fitted machine has no models without one sample."""
    strategy = machine.solver_report_.strategy
    if strategy != "exact":
        raise ParameterError(
            f"models without one sample need the kernel matrix, and strategy={strategy!r} does without it; put "
            f"{_wrapper(machine)} around the machine and fit that, which uses folds instead; or use strategy='exact'"
        )
    if machine.solver_report_.damped:
        raise ParameterError(
            f"gamma={machine.gamma_:g} is at a pole and the solution is damped, which has no models without one sample "
            f"here; take another gamma, or put {_wrapper(machine)} around the machine, which uses folds instead"
        )
    if len(machine._y) < 2:
        raise DataError(f"leave-one-out needs at least 2 samples, and this model was fitted to {len(machine._y)}")


def _wrapper(machine: Any) -> str:
    return f"kernreg.solvers.CrossConformal{'Classifier' if hasattr(machine, 'classes_') else 'Regressor'}"


def _systems(machine: Any, problems: list[Any]) -> list[SmoothedSystem]:
    kept = _kept.get(machine)
    if kept is not None and kept[0] is machine._coefficients:
        return kept[1]
    make = symmetric_smoother if len(machine.views) == 1 else block_smoother
    K = machine._training_matrix()
    systems = []
    for problem in problems:
        part = K if problem.rows is None else K[np.ix_(problem.rows, problem.rows)]
        weights = machine._weights
        inner = weights if weights is None or problem.rows is None else weights[problem.rows]
        systems.append(make(part, inner, machine.gamma_))
    _kept[machine] = machine._coefficients, systems
    return systems


def _both_sides(machine: Any, X: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return new samples as sources and as targets, and those of the fit."""
    pair = isinstance(machine.X_fit_, tuple)
    if pair != (isinstance(X, tuple) and len(X) == 2 and len(machine.views) == 2):
        given = "one set of samples" if pair else "a pair"
        raise DataError(f"fitted to {'a pair' if pair else 'one set of samples'}, asked about {given}")
    if pair:
        return check_pair(machine, X, machine.kernel_, reset=False), machine.X_fit_
    new = check_samples(machine, X, machine.kernel_, reset=False)
    return (new, new), (machine.X_fit_, machine.X_fit_)


def kernel_rows(machine: Any, new: Any, train: tuple[Any, Any]) -> Views:
    """Return k(x, x_i), and for the target view k(x_i, x), (n, m) for each view."""
    rows = {}
    for name in machine.views:
        if name == "target":
            values = machine.kernel_(train[0], new[1]).T
        else:
            values = machine.kernel_(new[0], train[1])
        rows[name] = np.asarray(values, dtype=np.float64)
    return rows


def left_out_views(machine: Any, X: Any) -> Views:
    """Return f⁽⁻ⁱ⁾(x) of each view, (n, m) or (n, m, columns): one model for each training sample."""
    models = LeftOutModels(machine)
    parts: dict[str, list[np.ndarray]] = {name: [] for name in machine.views}
    for _, _, left_out in models.blocks(X):
        for name, values in left_out.items():
            parts[name].append(shaped(machine, values))
    empty = np.empty((0, models.size, machine._coefficients.shape[2]))
    return {name: np.concatenate(found) if found else shaped(machine, empty) for name, found in parts.items()}


def shaped(machine: Any, values: np.ndarray) -> np.ndarray:
    """Return decision values (n, m, columns) as users see them in their last axes."""
    n, m, columns = values.shape
    flat = machine._targets.shaped(values.reshape(n * m, columns))
    return flat.reshape(n, m, *flat.shape[1:])


def merged(machine: Any, left_out: Views) -> np.ndarray:
    """Return the one decision (n, m) or (n, m, columns) of the views of all models left out."""
    views = {name: shaped(machine, values) for name, values in left_out.items()}
    n, m = next(iter(views.values())).shape[:2]
    decision = np.asarray(machine._merge({name: view.reshape(n * m, *view.shape[2:]) for name, view in views.items()}))
    return decision.reshape(n, m, *decision.shape[1:])


def merged_training(machine: Any, models: LeftOutModels, view: str | None = None) -> np.ndarray:
    """Return f⁽⁻ⁱ⁾(x_i) of the training samples, (m,) or (m, columns), by the models left out: merged, or of one view.

    An ensembler that learns merges it in folds, so that it has not seen the target left out.
    """
    targets, values = machine._targets, {}
    for name, residuals in models.residuals.items():
        whole = np.empty_like(residuals)
        if targets.pairwise:  # samples outside a problem were never in it: the whole machine answers
            K = kernel_rows(machine, [machine.X_fit_] * 2, (machine.X_fit_,) * 2)[name]
            whole = K @ machine._coefficients[0].astype(np.float64) + machine._intercepts[0]
        for (_, (rows, columns)), problem in zip(models.parts(), models.problems, strict=True):
            whole[rows, columns] = problem.Y - residuals[rows, columns]
        values[name] = whole
    views = {name: targets.shaped(view) for name, view in values.items()}
    return views[view] if view is not None else machine._merged_left_out(views)


def check_view(machine: Any, view: str | None) -> None:
    """Raise ParameterError unless a view is one of the machine's, or None for all of them merged."""
    if view is not None and view not in machine.views:
        accepted = ", ".join(map(repr, machine.views))
        raise ParameterError(f"view={shown(view)} is not accepted; give {accepted}, or None for the merged prediction")


def one_view(machine: Any, left_out: Views, view: str | None) -> np.ndarray:
    """Return what the models left out predict: merged, or of one view."""
    return merged(machine, left_out) if view is None else shaped(machine, left_out[view])
