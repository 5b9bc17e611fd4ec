"""Parameters of solvers: kernels inside estimators, choices from a few words, numbers and counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernreg.errors import KernregError, ParameterError, SpecError
from kernreg.factory import make_kernel
from kernreg.kernels import Kernel
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.elsewhere import ROW_METHODS, row_method

_LARGEST_COUNT = 2**31 - 1  # of iterations, neighbours, landmarks: what every library counts to


def as_number(value: Any) -> float:
    """Return a real number as a float: infinite where it is an integer that no float holds, NaN where it is none.

    >>> as_number(2), as_number(10**400), as_number("2")
    (2.0, inf, nan)
    """
    if not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


class KernelParameters(AtomicFit, BaseEstimator):
    """An estimator with a parameter ``kernel`` whose own parameters are set as ``kernel__sigma``.

    Kernels are immutable, so setting a parameter inside one puts a new kernel in its place. The kernel may be given as
    a spec string, a family or a Kernel; the three behave the same in a grid search. None is the kernel of the chain
    that the estimator is a step of, else `default_kernel`.

    Examples
    --------
    >>> class Machine(KernelParameters):
    ...     def __init__(self, kernel=None, gamma=1.0):
    ...         self.kernel, self.gamma = kernel, gamma
    >>> machine = Machine("rbf(sigma=2.0)").set_params(kernel__sigma=3.0)
    >>> machine.kernel, machine.get_params()["kernel__sigma"]
    (rbf(sigma=3.0), 3.0)
    """

    kernel: Any
    default_kernel: Any = "rbf"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ROW_METHODS:  # they take collections of the configured engine, too
            method = vars(cls).get(name)
            if isinstance(method, FunctionType):  # chains hand them to their steps, which do
                setattr(cls, name, row_method(method))

    def resolve_kernel(self, parameter: str = "kernel") -> Kernel:
        """Return the kernel to compute with: the one given as the parameter, else the default.

        >>> from kernreg.solvers import LSSVC
        >>> LSSVC().resolve_kernel()
        rbf(sigma='scale')
        """
        given = getattr(self, parameter)
        try:
            return make_kernel(self.default_kernel if given is None else given)
        except SpecError as error:
            if isinstance(given, str):  # a spec, and the error says where it cannot be read
                raise
            raise ParameterError(f"{parameter}={given!r} is not accepted: {error}") from None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the kernel (and of other estimators) inside."""
        params = super().get_params(deep=False) if isinstance(self.kernel, type) else super().get_params(deep=deep)
        if deep and not isinstance(self.kernel, Kernel):
            try:
                inner = self.resolve_kernel().get_params()
            except (KernregError, TypeError):  # a kernel that does not exist is an error of fit, not of asking
                inner = {}
            params.update({f"kernel__{name}": value for name, value in inner.items()})
        return params

    def set_params(self, **params: Any) -> KernelParameters:
        """Set parameters, those of the kernel as ``kernel__sigma``."""
        inner = {name[len("kernel__") :]: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        super().set_params(**params)
        if inner:
            self.kernel = self.resolve_kernel().set_params(**inner)
        return self


def check_choice(name: str, value: Any, accepted: Sequence[str]) -> str:
    """Return the value if it is one of the accepted strings.

    >>> check_choice("on_pole", "damp", ("raise", "damp"))
    'damp'
    """
    if isinstance(value, str) and value in accepted:
        return value
    raise ParameterError(f"{name}={value!r:.100} is not accepted; give {' or '.join(map(repr, accepted))}")


def check_number(name: str, value: Any, low: float = 0.0, high: float = math.inf, *, open_low: bool = True) -> float:
    """Return a finite number above ``low`` and below ``high`` as a float; without ``open_low`` also ``low`` itself.

    >>> check_number("C", 2), check_number("ridge", 0.0, open_low=False)
    (2.0, 0.0)
    >>> check_number("tol", -1.0)
    Traceback (most recent call last):
    kernreg.errors.ParameterError: tol=-1.0 is not accepted; give a finite number above 0
    """
    number = math.nan if isinstance(value, bool | np.bool_) else as_number(value)
    if low < number < high or (number == low and not open_low):
        return number
    bounds = f"{'above' if open_low else 'of at least'} {low:g}" + (f" and below {high:g}" if high < math.inf else "")
    raise ParameterError(f"{name}={_shown(value)} is not accepted; give a finite number {bounds}")


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Return an integer of at least ``low``, and small enough to count to.

    >>> check_count("max_iter", 100)
    100
    >>> check_count("max_iter", 1.5)
    Traceback (most recent call last):
    kernreg.errors.ParameterError: max_iter=1.5 is not accepted; give an integer of at least 1 and below 2³¹
    """
    truth_value = isinstance(value, bool | np.bool_)
    if isinstance(value, Integral) and not truth_value and low <= int(value) <= _LARGEST_COUNT:
        return int(value)
    raise ParameterError(f"{name}={_shown(value)} is not accepted; give an integer of at least {low} and below 2³¹")


def _shown(value: Any) -> str:
    """Return a value for a message; Python refuses to print integers of thousands of digits."""
    if isinstance(value, Integral) and abs(int(value)) >= 10**20:
        return "(an integer of more than 20 digits)"
    return repr(value)
