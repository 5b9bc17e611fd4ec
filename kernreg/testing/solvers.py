"""The laws of solvers: scikit-learn estimators that keep what kernreg promises of every solver."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from kernreg.testing.arrays import require_close, require_error, require_same
from kernreg.testing.estimators import PARAMETER_LAWS, EstimatorCase, same_parameters
from kernreg.testing.laws import LawBook, fail

RESULT_LAWS = LawBook("solver", [*PARAMETER_LAWS.laws])

SAMPLES, FEATURES, NEW = 40, 4, 15

#: Methods that need a fitted solver and map n samples to n results.
SAMPLE_METHODS = ("predict", "decision_function", "predict_proba", "transform", "decision_views")


class SolverCase(EstimatorCase):
    """A solver under test.

    Parameters
    ----------
    declared : class or estimator
        A class is made with its defaults; an estimator is cloned, so that its parameters are kept.
    data : callable, optional
        ``data(rng, n)`` returns samples and targets ``(X, y)``. Default: Gaussian samples, with two classes
        or a real target as the solver's tags ask; two classes for kernel learners.
    seed : int
        Seed of the random data.
    """

    kind = "solver"

    @property
    def training(self) -> tuple[Any, Any, Any]:
        """Training samples, targets, and new samples; made anew each time, in case they get modified."""
        rng = np.random.default_rng(self.seed)
        if self.data is not None:
            X, y = self.data(rng, SAMPLES + NEW)
        else:
            from sklearn.base import is_classifier

            X = rng.standard_normal((SAMPLES + NEW, FEATURES))
            score, noise = X[:, 0] - 0.5 * X[:, 1], rng.standard_normal(len(X))
            score, target = score + 0.1 * noise, score + 0.5 * noise  # targets that nobody takes for free of noise
            solver = self.make()
            if getattr(solver, "learns_kernel", False):  # from classes, too; -1 would mark samples without one
                y = np.where(score > 0, 1, 0)
            else:
                y = np.where(score > 0, 1, -1) if is_classifier(solver) else target
        return X[:SAMPLES], y[:SAMPLES], X[SAMPLES:]

    def fitted(self) -> tuple[Any, Any]:
        """Return a solver fitted to the training samples, and new samples."""
        X, y, new = self.training
        solver = self.make()
        solver.fit(X, y)
        return solver, new


def results(solver: Any, X: Any) -> dict[str, np.ndarray]:
    """Return everything the solver says about samples, by method (and view)."""
    found: dict[str, np.ndarray] = {}
    for method in SAMPLE_METHODS:
        if hasattr(solver, method):
            value = getattr(solver, method)(X)
            if isinstance(value, dict):
                found |= {f"{method}[{view!r}]": np.asarray(array) for view, array in value.items()}
            else:
                found[method] = np.asarray(value)
    return found


def require_same_results(solver: Any, other: Any, X: Any, what: str) -> None:
    """Fail unless two fitted solvers say the same about samples."""
    left, right = results(solver, X), results(other, X)
    if left.keys() != right.keys():
        fail(f"{what}: {sorted(left)} and {sorted(right)}")
    for name in left:
        require_same(left[name], right[name], f"{what}, {name}")


def requires_symmetric_kernel(solver: Any) -> bool:
    """Whether a solver declares, by attribute or tag, that its method needs a symmetric kernel."""
    if hasattr(solver, "requires_symmetric_kernel"):
        return bool(solver.requires_symmetric_kernel)
    tags = solver.__sklearn_tags__() if hasattr(solver, "__sklearn_tags__") else None
    return bool(getattr(tags, "requires_symmetric_kernel", False))


@RESULT_LAWS.law("fit returns self")
def fit_returns_self(case: SolverCase) -> None:
    """fit returns the solver itself and leaves its parameters as they were."""
    X, y, _ = case.training
    solver = case.make()
    before = solver.get_params(deep=False)
    if solver.fit(X, y) is not solver:
        fail("fit(X, y) must return the solver itself")
    after = solver.get_params(deep=False)
    if not same_parameters(before, after):
        changed = [name for name in before if before[name] is not after.get(name)]
        fail(f"fit changed its parameters {', '.join(changed)}; keep results in attributes with a trailing underscore")


@RESULT_LAWS.law("fitted attributes")
def fitted_attributes(case: SolverCase) -> None:
    """What fit learns is kept in attributes that end with an underscore (or are private)."""
    fitted, _ = case.fitted()
    new = set(vars(fitted)) - set(vars(case.make()))
    wrong = sorted(name for name in new if not name.endswith("_") and not name.startswith("_"))
    if wrong:
        fail(f"fit sets {', '.join(wrong)}; the names of fitted attributes end with an underscore")
    if not any(name.endswith("_") for name in new):
        fail("fit sets no attribute that ends with an underscore, so nobody can tell that it is fitted")


@RESULT_LAWS.law("unfitted refused")
def unfitted_refused(case: SolverCase) -> None:
    """Asking an unfitted solver for results raises scikit-learn's NotFittedError."""
    from sklearn.exceptions import NotFittedError

    _, _, new = case.training
    for method in SAMPLE_METHODS:
        solver = case.make()
        if hasattr(type(solver), method) and hasattr(solver, method):
            require_error(NotFittedError, lambda s=solver, m=method: getattr(s, m)(new), f"{method} before fit")


@RESULT_LAWS.law("input untouched")
def input_untouched(case: SolverCase) -> None:
    """Neither fit nor asking for results changes X or y."""
    X, y, new = (np.array(array) for array in case.training)
    before = X.copy(), y.copy(), new.copy()
    results(case.make().fit(X, y), new)
    for name, now, then in zip(("X", "y", "the new samples"), (X, y, new), before, strict=True):
        if np.any(now != then):
            fail(f"{name} was modified")


@RESULT_LAWS.law("determinism")
def determinism(case: SolverCase) -> None:
    """Fitting again, the same solver or a clone, gives the same results, bit for bit."""
    from sklearn.base import clone

    X, y, new = case.training
    solver, _ = case.fitted()
    require_same_results(solver, clone(solver).fit(X, y), new, "a clone fitted to the same data differs")
    first = results(solver, new)
    again = results(solver.fit(X, y), new)
    for name in first:
        require_same(first[name], again[name], f"fitting the same solver again differs, {name}")


@RESULT_LAWS.law("pickle")
def pickles(case: SolverCase) -> None:
    """A fitted solver survives pickling with the same results."""
    solver, new = case.fitted()
    require_same_results(solver, pickle.loads(pickle.dumps(solver)), new, "results before and after pickling differ")


@RESULT_LAWS.law("one result per sample")
def one_result_per_sample(case: SolverCase) -> None:
    """Every method gives one finite result per sample, whatever the order and number of samples asked."""
    solver, new = case.fitted()
    whole = results(solver, new)
    order = np.random.default_rng(case.seed).permutation(NEW)[: NEW // 2]
    part = results(solver, new[order])
    for name, values in whole.items():
        if values.shape[:1] != (NEW,):
            fail(f"{name} of {NEW} samples has shape {values.shape}")
        if np.issubdtype(values.dtype, np.number):
            if not np.all(np.isfinite(values)):
                fail(f"{name} holds values that are not finite")
            require_close(
                part[name],
                values[order],
                f"{name} of some samples",
                names=("asked alone", "asked with others"),
            )
        else:
            require_same(part[name], values[order], f"{name} of some samples differs")


@RESULT_LAWS.law(
    "decision views",
    excuse=lambda case: None if hasattr(case.declared_class, "decision_views") else "it has no decision_views",
)
def decision_views(case: SolverCase) -> None:
    """decision_views gives a dict: a name for each view, and one number (or one row) per sample."""
    solver, new = case.fitted()
    views = solver.decision_views(new)
    if not isinstance(views, dict) or not views:
        fail(f"decision_views returned {type(views).__name__}, expected a dict with at least one view")
    shapes = {}
    for name, view in views.items():
        if not isinstance(name, str):
            fail(f"the view {name!r} is not named by a string")
        if not isinstance(view, np.ndarray) or view.shape[:1] != (NEW,) or view.ndim > 2:
            fail(f"the view {name!r} has shape {np.shape(view)}, expected ({NEW},) or ({NEW}, classes)")
        shapes[name] = view.shape
    if len(set(shapes.values())) > 1:
        fail(f"the views have different shapes: {shapes}")


@RESULT_LAWS.law("wrong input")
def wrong_input(case: SolverCase) -> None:
    """Data that no solver can take raise ValueError with a message, in fit and afterwards."""
    X, y, new = (np.array(array) for array in case.training)

    def spoiled(array: np.ndarray, value: float) -> np.ndarray:
        bad = np.array(array, dtype=float)
        bad[0, 0] = value
        return bad

    for bad_X, what in [
        (spoiled(X, np.nan), "nan in X"),
        (spoiled(X, np.inf), "inf in X"),
        (X[:, 0], "a one-dimensional X"),
        (X[:0], "an X without samples"),
    ]:
        require_error(ValueError, lambda bad=bad_X: case.make().fit(bad, y[: len(bad)]), f"fit with {what}")
    if any(hasattr(case.make(), method) for method in ("predict", "decision_views")):
        require_error(ValueError, lambda: case.make().fit(X, y[:-1]), "fit with one target too few")
    solver, _ = case.fitted()
    for method in SAMPLE_METHODS:
        if hasattr(solver, method):
            ask = getattr(solver, method)
            require_error(ValueError, lambda ask=ask: ask(spoiled(new, np.nan)), f"{method} with nan in X")
            require_error(ValueError, lambda ask=ask: ask(new[:, :-1]), f"{method} with one feature too few")


@RESULT_LAWS.law(
    "asymmetry refused",
    excuse=lambda case: (
        None if requires_symmetric_kernel(case.make()) else "it does not declare requires_symmetric_kernel"
    ),
)
def asymmetry_refused(case: SolverCase) -> None:
    """A solver that requires a symmetric kernel refuses an asymmetric one; it never symmetrises silently."""
    from kernreg.errors import AsymmetryError
    from kernreg.testing.asymmetric import lopsided

    X, y, _ = case.training
    solver = case.make()
    if "kernel" not in solver.get_params(deep=False):
        fail("it declares requires_symmetric_kernel but has no parameter named kernel")
    solver.set_params(kernel=lopsided())
    require_error(AsymmetryError, lambda: solver.fit(X, y), "fit with an asymmetric kernel")
