"""The laws about kernels as objects: parameters, equality, text, pickles, and errors for wrong use."""

from __future__ import annotations

import ast
import pickle
from typing import Any

import numpy as np

from kernreg.errors import DataError, ParameterError
from kernreg.testing.arrays import require_error, require_same
from kernreg.testing.kernel_case import COLUMNS, ROWS, KernelCase
from kernreg.testing.laws import LawBook, fail

OBJECT_LAWS = LawBook("kernel")


def is_literal(value: Any) -> bool:
    """Whether `repr(value)` can be read back without evaluating code."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, TypeError):
        return False


@OBJECT_LAWS.law(
    "documented formula",
    excuse=lambda case: None if case.family is not None else "it was combined from others",
)
def documented_formula(case: KernelCase) -> None:
    """The first line of the docstring states the formula."""
    if not (case.family.formula or "").strip():
        fail("its function has no docstring; write the formula as the first line")


@OBJECT_LAWS.law("parameters")
def parameters(case: KernelCase) -> None:
    """get_params, set_params and scikit-learn's clone give the same kernel back; a kernel never changes."""
    from sklearn.base import clone  # here, because importing scikit-learn takes long

    kernel, _ = case.draw(ROWS)
    given = kernel.get_params(deep=False)
    if kernel.set_params(**given) != kernel:
        fail(f"set_params(**get_params()) gave {kernel.set_params(**given)!r}, expected {kernel!r}")
    copy = clone(kernel)
    if copy != kernel:
        fail(f"sklearn.base.clone gave {copy!r}, expected {kernel!r}")
    require_error(ParameterError, lambda: kernel.set_params(no_such_parameter=1), "set_params(no_such_parameter=1)")
    before = repr(kernel)
    for name, value in given.items():
        if isinstance(value, float):
            try:
                changed = kernel.set_params(**{name: value * 1.25 + 0.125})
            except ParameterError:
                continue  # outside its domain, which another law covers
            if repr(kernel) != before or changed is kernel:
                fail(f"set_params({name}=...) changed the kernel in place; it must return a new one")
            if changed == kernel:
                fail(f"kernels with different {name} compare equal: {changed!r} and {kernel!r}")


@OBJECT_LAWS.law("equality and hash")
def equality_and_hash(case: KernelCase) -> None:
    """Kernels of the same family with the same parameters are equal and have the same hash."""
    kernel, _ = case.draw(ROWS)
    twin = kernel.set_params(**kernel.get_params(deep=False))
    if kernel != twin:
        fail(f"{kernel!r} is not equal to a kernel with the same parameters")
    if hash(kernel) != hash(twin):
        fail(f"equal kernels {kernel!r} have different hashes {hash(kernel)} and {hash(twin)}")
    if kernel == "another type":
        fail("it compares equal to a string")


@OBJECT_LAWS.law("text form", excuse=lambda case: None if case.family is not None else "it was combined from others")
def text_form(case: KernelCase) -> None:
    """repr(k) is a spec that reads back as an equal kernel, when its parameters are literals."""
    from kernreg.registry import parse_spec

    kernel, _ = case.draw(ROWS)
    if not all(is_literal(value) for value in kernel.get_params(deep=False).values()):
        return
    spec = parse_spec(repr(kernel))
    if spec.name != case.family.name:
        fail(f"repr is {kernel!r}, which names {spec.name!r}; the family is {case.family.name!r}")
    again = case.family(*spec.args, **spec.kwargs)
    if again != kernel:
        fail(f"repr {kernel!r} reads back as the different kernel {again!r}")


@OBJECT_LAWS.law("pickle")
def pickles(case: KernelCase) -> None:
    """A kernel survives pickling: equal, and with the same values."""
    kernel, X, Z = case.pair()
    again = pickle.loads(pickle.dumps(kernel))
    if again != kernel:
        fail(f"after pickling, {again!r} is not equal to {kernel!r}")
    require_same(again(X, Z), kernel(X, Z), "values before and after pickling differ")


@OBJECT_LAWS.law("wrong samples")
def wrong_samples(case: KernelCase) -> None:
    """Samples that the kernel cannot take raise DataError with a message."""
    kernel, X, Z = case.pair()

    def refuses(bad: Any, what: str) -> None:
        require_error(DataError, lambda: kernel(bad, Z), f"k(X, Z) with {what} in X")
        require_error(DataError, lambda: kernel(X, bad), f"k(X, Z) with {what} in Z")

    refuses(np.zeros((2, 2, 2, 2)), "a four-dimensional array")
    if case.inputs == "structured":
        refuses("text", "text")
        refuses(3.0, "a number")
    elif case.inputs == "index":
        refuses(np.zeros((2, 2, 2)), "a three-dimensional array")
        refuses(np.full_like(X, -1), "negative indices")
        refuses(np.full_like(X, 10**9), "indices beyond the last")
    else:
        refuses(np.zeros((2, 2, 2)), "a three-dimensional array")
        for value in (np.nan, np.inf):
            bad = np.array(X, dtype=float)
            bad[1, 0] = value
            refuses(bad, str(value))
        refuses(np.hstack([X, X[:, :1]]), "one feature more")
        refuses(np.array([["a", "b"]]), "text")
    if case.inputs in ("nonnegative", "distribution"):
        bad = np.array(X, dtype=float)
        bad[1, 0] = -1.0
        refuses(bad, "a negative value")
    wrong_buffer = np.empty((ROWS + 1, COLUMNS))
    require_error(DataError, lambda: kernel(X, Z, out=wrong_buffer), "k(X, Z, out=) with a buffer of another shape")


@OBJECT_LAWS.law("wrong parameters")
def wrong_parameters(case: KernelCase) -> None:
    """A parameter outside its domain raises ParameterError with a message, at the latest when evaluated."""
    kernel, X, Z = case.pair()
    for parameter in getattr(case.family, "parameters", ()):
        if parameter.domain is not None:
            change = {parameter.name: float("nan")}  # in no domain at all
            require_error(
                ParameterError,
                lambda change=change: kernel.set_params(**change)(X, Z),
                f"{parameter.name}=nan",
            )
