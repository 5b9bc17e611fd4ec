"""The law of a solver's kernel in a search: what is written ``kernel__sigma`` reaches the kernel that is fitted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from kernreg.errors import KernregError
from kernreg.testing.arrays import require_same
from kernreg.testing.laws import LawBook, fail
from kernreg.testing.solvers import SolverCase, results

SEARCH_LAWS = LawBook("solver")

#: The kernel where that of the solver has no parameter that is a number.
_ORDINARY = "rbf(sigma=1.0)"
_FACTORS = (1.0, 2.5, 0.4, 0.9)  # of the value a parameter has; two that its domain accepts are tried


def _without_kernel(case: SolverCase) -> str | None:
    return None if "kernel" in case.make().get_params(deep=False) else "it has no parameter kernel"


@SEARCH_LAWS.law("kernel parameters in a search", excuse=_without_kernel)
def kernel_parameters_in_a_search(case: SolverCase) -> None:
    """Parameters of the kernel are set as kernel__sigma, survive clone, and GridSearchCV fits the kernel they say."""
    solver, name, values = _searchable(case)
    for value in values:
        changed = _copy(solver).set_params(**{name: value})
        found = _copy(changed).get_params()
        if name not in found or found[name] != value:
            fail(f"set_params({name}={value!r}), then clone: get_params()[{name!r}] is {found.get(name, 'missing')!r}")
    X, y, new = case.training
    by_hand = [_fitted_by_hand(case, solver, {name: value}, X, y) for value in values]
    if _same_fit(by_hand[0], by_hand[1], new):
        fail(
            f"{name}={values[0]!r} and {name}={values[1]!r} give the same results: fit does not use the kernel's value"
        )
    before = solver.get_params()
    for wanted, expected in zip(values, by_hand, strict=True):
        search = _search(solver, name, values, wanted, X, y)
        best = search.best_estimator_
        if search.best_params_ != {name: wanted} or best.get_params()[name] != wanted:
            fail(f"a grid search over {name} that prefers {wanted!r} ends with {best.get_params()[name]!r}")
        ours, theirs = results(best, new), results(expected, new)
        for method, found_values in ours.items():
            require_same(
                found_values, theirs[method], f"{method} after a grid search that chose {name}={wanted!r} differs"
            )
    if repr(solver.get_params()) != repr(before):
        fail("a grid search changed the parameters of the solver it was given")


def _copy(solver: Any) -> Any:
    from sklearn.base import clone

    return clone(solver)


def _searchable(case: SolverCase) -> tuple[Any, str, tuple[float, float]]:
    """Return the solver with a kernel that has a number to search over, the parameter, and two values of it."""
    solver = case.make()
    for given in (None, _ORDINARY):
        if given is not None:
            solver.set_params(kernel=given)
        for name, value in solver.get_params().items():
            if name.startswith("kernel__"):
                values = tuple(_accepted(solver, name, value))
                if len(values) >= 2:
                    return solver, name, (values[0], values[1])
    return fail(
        f"with kernel={_ORDINARY!r}, get_params() has no kernel__sigma; inherit kernreg.solvers.KernelParameters, "
        "which gives a solver the parameters of its kernel"
    )


def _accepted(solver: Any, name: str, value: Any) -> Iterator[float]:
    """Yield values of a parameter that its kernel accepts; none where it is not a real number."""
    if isinstance(value, str):  # the word of a width, such as "scale"
        value = 1.0
    if not isinstance(value, float) or value == 0.0:
        return
    for factor in _FACTORS:
        try:
            set_to = _copy(solver).set_params(**{name: factor * float(value)}).get_params().get(name)
        except (KernregError, ValueError, TypeError):
            continue
        if set_to == factor * float(value):
            yield factor * float(value)


def _fitted_by_hand(case: SolverCase, solver: Any, setting: dict[str, float], X: Any, y: Any) -> Any:
    """Return a new solver of the same class, given the kernel as an object that was made without it, and fitted."""
    from kernreg.factory import make_kernel

    given = solver.get_params(deep=False)
    kernel = given["kernel"]
    if kernel is None:
        kernel = solver.resolve_kernel() if hasattr(solver, "resolve_kernel") else _ORDINARY
    inner = {name.removeprefix("kernel__"): value for name, value in setting.items()}
    made = _copy(case.make()).set_params(**{**given, "kernel": make_kernel(kernel).set_params(**inner)})
    with warnings.catch_warnings():  # about the fit, which is that of another law
        warnings.simplefilter("ignore")
        return made.fit(X, y)


def _same_fit(one: Any, other: Any, new: Any) -> bool:
    """Whether two fits cannot be told apart, by their results or by the kernels they keep."""
    kernels = [getattr(solver, "kernel_", None) for solver in (one, other)]
    if kernels[0] != kernels[1]:
        return False
    left, right = results(one, new), results(other, new)
    return all(np.array_equal(left[name], right[name]) for name in left)


def _search(solver: Any, name: str, values: tuple[float, float], wanted: float, X: Any, y: Any) -> Any:
    """Return a grid search over two values whose score is best for the one that is wanted."""
    from sklearn.model_selection import GridSearchCV

    def prefer_wanted(fitted: Any, X: Any, y: Any = None) -> float:
        return float(fitted.get_params()[name] == wanted)

    everything = np.arange(len(X))  # folds might hold fewer samples than a solver has landmarks or components
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grid, folds = {name: list(values)}, [(everything, everything)]
        return GridSearchCV(solver, grid, scoring=prefer_wanted, cv=folds, error_score="raise").fit(X, y)
