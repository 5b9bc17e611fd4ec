"""KernelFamily: a kernel without its parameters."""

from __future__ import annotations

import importlib
import inspect
import math
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kernreg.common.hints import kernel_hint, missing_hint
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.domains import REQUIRED, Parameter
from kernreg.kernels.ranges import SAFE
from kernreg.kernels.widths import width
from kernreg.registry import entry_of, get_registry, qualified_name


class KernelFamily:
    """A named kernel whose parameters are still open; call it with them to get a Kernel.

    Attributes
    ----------
    name, doc, formula : str
        The formula is the first line of the docstring.
    of : str
        Which statistic of a pair the function sees.
    symmetric : bool
    definite : bool or None
    normalize : {"rows", None}
    inputs : {"real", "nonnegative", "distribution", "gaussian", "index"} or Structure
        What samples the kernel accepts.
    parameters : tuple of Parameter
    function : callable or None
        The plain Python function, of a family that the `kernreg.kernel` decorator made.

    Parameters
    ----------
    name : str
        For specs. The family stands in the module of its class under this name, with underscores for hyphens.
    kernel_class : type
        Called with the family and its parameters' values; its docstring is the family's.
    parameters : tuple of Parameter
    symmetric, definite
        As declared of all its kernels.
    example : callable, optional
        ``example(rng, n)`` returns (kernel, samples) for the test kit.

    Examples
    --------
    >>> from kernreg.kernels.builtin import rbf
    >>> rbf(sigma=2.0)
    rbf(sigma=2.0)
    >>> rbf.formula, rbf.symmetric, [parameter.name for parameter in rbf.parameters]
    ('exp(-|x - y|² / sigma²).', True, ['sigma'])
    """

    __kernreg_kernel__ = True

    of = "kernels"
    normalize: str | None = None
    inputs: Any = "real"
    function: Callable[..., Any] | None = None
    _safe_range: tuple[float, float] | None = None
    #: Where the parameters, or float32, decide: called with whether values are float32, and with the parameters of a
    #: kernel, returns its range.
    _range_of: Callable[..., tuple[float, float]] | None = None

    #: For what the compiled function was compared with the plain one (spot_check.py); None: never.
    _compared: set[tuple[tuple[int, ...], int]] | None = None

    def __init__(
        self,
        name: str,
        kernel_class: type[Kernel],
        parameters: tuple[Parameter, ...],
        *,
        symmetric: bool = False,
        definite: bool | Callable[..., bool | None] | None = None,
        example: Callable[..., Any] | None = None,
    ):
        self.name, self.kernel_class, self.parameters = name, kernel_class, parameters
        self.symmetric, self.definite, self._example = symmetric, definite, example
        self._describe(kernel_class, name.replace("-", "_"))

    def _describe(self, source: Any, qualname: str) -> None:
        """Take the formula, and the place where the family is found, from the class or function it is made of."""
        self.doc = inspect.cleandoc(source.__doc__ or "")
        self.formula = self.doc.split("\n", 1)[0]
        self.module, self.qualname = source.__module__, qualname
        self.__doc__, self.__name__, self.__module__ = self.doc, self.qualname, self.module

    @property
    def safe_range(self) -> tuple[float, float]:
        """Sizes between which samples are computed with exactly: see `kernreg.kernels.ranges`.

        >>> from kernreg.kernels.builtin import laplacian, rbf
        >>> rbf.safe_range, laplacian.safe_range
        ((1e-140, 1e+140), (1e-300, 1e+300))
        """
        return self._safe_range or SAFE.get(self.of, (0.0, math.inf))

    @property
    def widths(self) -> tuple[str, ...]:
        """The parameters that are a scale of the statistic: numbers, or words that samples give a number to."""
        return tuple(parameter.name for parameter in self.parameters if parameter.domain is width)

    def __call__(self, *args: Any, **params: Any) -> Kernel:
        """Return the Kernel with these parameters; the rest take their defaults."""
        names = [parameter.name for parameter in self.parameters]
        if len(args) > len(names):
            raise ParameterError(f"{self.name} takes {len(names)} parameter(s) ({', '.join(names)}), got {len(args)}")
        for name, value in zip(names, args, strict=False):
            if name in params:
                raise ParameterError(f"{self.name}: {name} is given twice")
            params[name] = value
        unknown = [name for name in params if name not in names]
        if unknown:
            accepted = ", ".join(names) or "none"
            raise ParameterError(
                f"{self.name} has no parameter {unknown[0]!r}; its parameters are: {accepted}"
                f"{kernel_hint(self.name, unknown[0])}"
            )
        values = {}
        for parameter in self.parameters:
            value = params.get(parameter.name, parameter.default)
            if value is REQUIRED:
                raise ParameterError(
                    f"{self.name} needs {parameter.name}=…, {parameter.domain}{missing_hint(self.name, parameter.name)}"
                )
            values[parameter.name] = parameter.accept(value, self.name)
        return self.kernel_class(self, values)

    def example(self, rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
        """Return a kernel of this family and n random samples it accepts: what the test kit runs on."""
        if self._example is not None:
            return self._example(rng, n)
        if not isinstance(self.inputs, str):
            raise ParameterError(f"{self.name} does not say how to make samples: declare it with example=")
        kernel = self(**dict.fromkeys(self.widths, 1.0))
        if self.inputs == "real":
            return kernel, rng.normal(size=(n, 5))
        if self.inputs == "gaussian":
            return kernel, np.hstack([rng.normal(size=(n, 3)), 0.5 + rng.random((n, 3))])
        X = rng.random((n, 6)) + 0.01
        return kernel, X / X.sum(axis=1, keepdims=True) if self.inputs == "distribution" else X

    def __repr__(self) -> str:
        return f"<kernel family {self.name}: {self.formula}>"

    def __reduce__(self) -> Any:
        if self._is_found_by_name():
            return _import_family, (self.module, self.qualname)
        raise pickle.PicklingError(
            f"the kernel family {self.name!r} is not {self.module}.{self.qualname}, where another process would look "
            "for it; give it that name"
        )

    def __getstate__(self) -> dict[str, Any]:
        # For formats such as that of skops; pickle takes __reduce__.
        entry = entry_of("kernel", self)
        if entry is None:
            raise ParameterError(
                f"the kernel {self.name!r} is not registered, so another process cannot find it. Register it "
                f"in both, kernreg.register('kernel', {self.name!r}, …), or put it into a plugin: kernreg new-plugin"
            )
        return {"registered": qualified_name(entry)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(vars(get_registry("kernel").get(state["registered"])))

    def _is_found_by_name(self) -> bool:
        if self.module == "__main__":
            return False
        try:
            return _import_family(self.module, self.qualname) is self
        except (ImportError, AttributeError):  # a local function, or kernel(f, of=…) bound to another name
            return False


def _import_family(module: str, qualname: str) -> Any:
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found
