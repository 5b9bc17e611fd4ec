"""Laws of what a fitted solver holds: a fit that is whole, samples of its own, and the parameters of the fit."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from kernreg.testing.arrays import require_same
from kernreg.testing.laws import LawBook, fail
from kernreg.testing.solvers import SolverCase, results

STATE_LAWS = LawBook("solver")

_INTERRUPTIONS = 12


def interrupted(action: Callable[[], Any], at: int, packages: tuple[str, ...]) -> int:
    """Run an action and raise KeyboardInterrupt in the ``at``-th call of a function of the packages; return the calls.

    ``at=0`` counts without interrupting. Where the action has fewer calls it ends as it would.
    """
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if event == "call" and frame.f_code.co_filename.startswith(packages) and not loses_errors(frame):
            count += 1
            if count == at:
                raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        with warnings.catch_warnings():  # about the fit, and turned into errors they would end it
            warnings.simplefilter("ignore")
            action()
    except KeyboardInterrupt:
        if count < at or at == 0:  # not ours
            raise
    finally:
        sys.settrace(before)
    return count


def loses_errors(frame: FrameType | None) -> bool:
    """Whether what is raised here is lost: a generator is entered once more when it is thrown away, as `__del__` is."""
    if frame is not None and frame.f_code.co_flags & inspect.CO_GENERATOR:
        return True
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


@STATE_LAWS.law("interrupted refit")
def interrupted_refit(case: SolverCase) -> None:
    """A refit that is interrupted, wherever, leaves the solver as it was or not fitted: never a mixture of fits."""
    from sklearn.exceptions import NotFittedError

    import kernreg

    packages = (str(Path(kernreg.__file__).parent), _place_of(case.declared_class))
    _, _, new = case.training
    X, y, _ = SolverCase(case.declared, data=case.data, seed=case.seed + 1).training
    solver, _ = case.fitted()
    other = case.make()
    calls = interrupted(lambda: other.fit(X, y), 0, packages)
    before, after = results(solver, new), results(other, new)
    for at in np.unique(np.linspace(1, calls, _INTERRUPTIONS).astype(int)):
        interrupted(partial(solver.fit, X, y), int(at), packages)
        try:
            found = results(solver, new)
        except NotFittedError:
            found = after
        if _same(found, after):
            solver, _ = case.fitted()
            continue
        for name, values in before.items():
            require_same(found[name], values, f"refit interrupted in call {at} of {calls}: {name} is a mixture")


@STATE_LAWS.law("own samples")
def own_samples(case: SolverCase) -> None:
    """What the caller does to X and y after fit changes no result."""
    X, y, new = (np.array(array) for array in case.training)
    solver = case.make().fit(X, y)
    expected = results(case.make().fit(X.copy(), y.copy()), new)
    X[...] = X[:1]
    y[...] = y[:1]
    for name, values in results(solver, new).items():
        require_same(values, expected[name], f"{name} follows the caller's arrays")


@STATE_LAWS.law("parameters of the fit")
def parameters_of_the_fit(case: SolverCase) -> None:
    """A parameter set after fit changes no result before the next fit."""
    solver, new = case.fitted()
    expected = results(solver, new)
    for name, value in solver.get_params(deep=False).items():
        cure = f"keep what fit used, e.g. self.{name}_, and read that"
        solver.set_params(**{name: object()})
        try:
            found = results(solver, new)
        except Exception as error:
            fail(f"after set_params({name}=…) results raise {type(error).__name__}: {error} ({cure})")
        for method, values in expected.items():
            if method not in found:
                fail(f"after set_params({name}=…) there is no {method} ({cure})")
            require_same(found[method], values, f"after set_params({name}=…), {method} differs ({cure})")
        solver.set_params(**{name: value})


def _place_of(cls: type) -> str:
    """Return the folder of the module of a class; of a notebook, which has none, where its functions say they are."""
    try:
        return str(Path(inspect.getfile(cls)).parent)
    except (OSError, TypeError):
        return str(Path(inspect.unwrap(cls.__dict__.get("fit", interrupted)).__code__.co_filename).parent)


def _same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> bool:
    """Whether two fits to the same samples gave these results, up to the last bits."""
    if found.keys() != expected.keys():
        return False
    pairs = [(np.asarray(found[name]), np.asarray(expected[name])) for name in found]
    return all(
        a.shape == b.shape
        and (np.allclose(a, b, rtol=1e-7, atol=1e-9) if a.dtype.kind in "fc" else np.array_equal(a, b))
        for a, b in pairs
    )
