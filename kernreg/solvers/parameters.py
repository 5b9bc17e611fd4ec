"""Parameters of solvers: kernels inside estimators, choices from a few words, numbers and counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from sklearn.base import BaseEstimator, clone

from kernreg.common.checks import as_number, check_choice, check_count, check_flag, check_number
from kernreg.errors import KernregError, ParameterError, SpecError, UnknownPlugin, shown
from kernreg.factory import make_kernel
from kernreg.kernels import Kernel
from kernreg.solvers.atomicity import AtomicFit
from kernreg.solvers.elsewhere import ROW_METHODS, row_method

__all__ = [
    "KernelParameters",
    "as_number",
    "check_choice",
    "check_count",
    "check_flag",
    "check_number",
    "given_as",
    "unfitted_copy",
]


@contextmanager
def given_as(parameter: str, value: Any) -> Iterator[None]:
    """Name the parameter in errors about a spec, or about what is none and stands in the place of one.

    >>> with given_as("inverse_kernel", "no such kernel"):
    ...     make_kernel("no such kernel")
    Traceback (most recent call last):
    kernreg.errors.SpecError: inverse_kernel: kernel: cannot read the spec 'no such kernel': ...
    """
    try:
        yield
    except (SpecError, UnknownPlugin) as error:
        if isinstance(value, str):  # and the error says where it cannot be read
            raise (error if parameter in str(error) else type(error)(f"{parameter}: {error}")) from None
        raise ParameterError(f"{parameter}: {error}") from None


def unfitted_copy(parameter: str, estimator: Any) -> Any:
    """Return an unfitted copy of an estimator that is a parameter, or raise ParameterError where it has none.

    >>> from kernreg.ensemblers import Stack
    >>> unfitted_copy("ensembler", Stack(alpha=2.0))
    Stack(alpha=2.0)
    """
    try:
        return clone(estimator, safe=False)
    except KernregError:
        raise
    except Exception as error:  # of any kind: its parameters are copied, by code of their own
        raise ParameterError(
            f"{parameter}={shown(estimator)} is not accepted; it cannot be copied "
            f"({type(error).__name__}: {shown(str(error))}). Its parameters are numbers, words or other plain values"
        ) from None


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
        with given_as(parameter, given):
            return make_kernel(self.default_kernel if given is None else given)

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
