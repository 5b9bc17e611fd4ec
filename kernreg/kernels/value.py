"""A kernel as a value: its family and parameters, equality, representation, files and arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from kernreg.common.display import html_table
from kernreg.common.hints import kernel_hint
from kernreg.errors import ParameterError
from kernreg.kernels.domains import value_key, value_repr
from kernreg.registry import get_registry

if TYPE_CHECKING:
    from kernreg.kernels.base import Kernel
    from kernreg.kernels.family import KernelFamily

#: The families behind ``+``, ``*``, ``**`` and ``T``, by name. They make kernels of kernels, so they come after this
#: module: `combinations.algebra` enters them, which importing any module of this package imports.
ARITHMETIC: dict[str, Callable[..., Kernel]] = {}


class KernelValue:
    """What a kernel is apart from what it evaluates to: immutable, hashable, picklable."""

    __kernreg_kernel_object__ = True
    __slots__ = ("_family", "_key", "_values")
    __array_ufunc__ = None  # np.float64(2) * k is k.__rmul__, not an array of objects

    _family: KernelFamily
    _values: Mapping[str, Any]
    _key: Any

    def __init__(self, family: KernelFamily, values: Mapping[str, Any]):
        object.__setattr__(self, "_family", family)
        object.__setattr__(self, "_values", dict(values))
        object.__setattr__(self, "_key", None)

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x) is known to hold, once the reference set is bound where there is one."""
        return self._family.symmetric

    @property
    def takes_reference(self) -> bool:
        """Whether values depend on a reference set that is still open: `bind` fixes it."""
        return False

    # Parameters and identity ------------------------------------------------------------------------------

    @property
    def family(self) -> KernelFamily:
        """The family this kernel was made from."""
        return self._family

    @property
    def name(self) -> str:
        """The family's name."""
        return self._family.name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of kernels inside, as ``left__sigma``."""
        params = dict(self._values)
        if deep:
            for name, value in self._values.items():
                if isinstance(value, KernelValue):
                    params.update({f"{name}__{inner}": v for inner, v in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed: kernels are immutable.

        >>> from kernreg.kernels.builtin import rbf
        >>> rbf(sigma=1.0).set_params(sigma=2.0)
        rbf(sigma=2.0)
        """
        refuse_foreign_estimator(self, params)
        values = dict(self._values)
        nested: dict[str, dict[str, Any]] = {}
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in values or (rest and not isinstance(values[head], KernelValue)):
                accepted = ", ".join(self.get_params()) or "none"
                raise ParameterError(
                    f"{self.name} has no parameter {name!r}; its parameters are: {accepted}"
                    f"{kernel_hint(self.name, name)}"
                )
            if rest:
                nested.setdefault(head, {})[rest] = value
            else:
                values[head] = value
        for head, inner in nested.items():
            values[head] = values[head].set_params(**inner)
        return self._family(**values)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._values:
            return self._values[name]
        raise AttributeError(f"{type(self).__name__} {self.name!r} has no attribute or parameter {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"kernels are immutable; use k.set_params({name}=…), which returns a new kernel")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def _identity(self) -> Any:
        if self._key is None:
            values = tuple((name, value_key(value)) for name, value in self._values.items())
            object.__setattr__(self, "_key", (self._family, values))
        return self._key

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KernelValue):
            return NotImplemented
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value_repr(value)}" for name, value in self._values.items())
        return f"{self.name}({shown})"

    def _repr_html_(self) -> str:
        return html_table(self.name, {**self._values, "symmetric": self.symmetric})

    def __reduce__(self) -> Any:
        return _rebuild, (self._family, self._values)

    def __sklearn_clone__(self) -> Self:
        return self

    # What files hold of a kernel ----------------------------------------------------------------------------

    def __kernreg_bound__(self) -> tuple[Kernel, dict[str, Any]] | None:
        """Return the unbound kernel and what `bind` learnt, for a bound kernel; None for one that is its parameters.

        What was learnt is samples, arrays, numbers and kernels, by name. A file holds these and no class:
        ``unbound.__kernreg_rebind__(learnt)`` is the bound kernel again, without learning anew.
        """
        return None

    def __kernreg_rebind__(self, learnt: Mapping[str, Any]) -> Kernel:
        """Return the bound kernel that had learnt this; anything that does not fit together is refused."""
        raise ParameterError(f"{self.name} is not bound to samples, so it has learnt nothing from them")

    # pickle takes __reduce__, which carries functions of a script along. These are for formats such as that of skops,
    # which make an empty object and fill it.
    def __getstate__(self) -> dict[str, Any]:
        bound = self.__kernreg_bound__()
        if bound is not None:
            return {"unbound": bound[0], "learnt": bound[1]}
        return {"family": self._family.__getstate__()["registered"], "parameters": dict(self._values)}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        if "unbound" in state:
            made = state["unbound"].__kernreg_rebind__(state["learnt"])
        else:
            made = get_registry("kernel").get(state["family"])(**state["parameters"])
        if type(made) is not type(self):
            raise ParameterError(f"{made!r} is a {type(made).__name__}, not a {type(self).__name__}")
        for cls in type(made).__mro__:  # the object was made without its contents
            for slot in getattr(cls, "__slots__", ()):
                object.__setattr__(self, slot, getattr(made, slot))

    # Arithmetic -------------------------------------------------------------------------------------------

    @property
    def T(self) -> Kernel:
        """The transposed kernel: k.T(x, z) = k(z, x)."""
        itself = self.symmetric and not self.takes_reference
        return cast("Kernel", self) if itself else ARITHMETIC["transpose"](self)

    def __add__(self, other: Any) -> Kernel:
        return ARITHMETIC["add"](self, other) if _is_kernel(other) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        if _is_kernel(other):
            return ARITHMETIC["multiply"](self, other)
        return ARITHMETIC["scale"](self, other) if isinstance(other, int | float | np.number) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> Kernel:
        return ARITHMETIC["power"](self, exponent)


def _is_kernel(value: Any) -> bool:
    return isinstance(value, KernelValue) or getattr(value, "__kernreg_kernel__", False) is True


def _rebuild(family: KernelFamily, values: Mapping[str, Any]) -> Kernel:
    return family(**values)


def refuse_foreign_estimator(kernel: KernelValue, params: Mapping[str, Any]) -> None:
    """Raise ParameterError when a kernel's `set_params`, which calls this, was called by scikit-learn itself."""
    # BaseEstimator.set_params throws the returned kernel away: the change would be lost in silence.
    caller = sys._getframe(2)
    if params and caller.f_globals.get("__name__") == "sklearn.base" and caller.f_code.co_name == "set_params":
        raise ParameterError(
            f"kernels are immutable, so an estimator of scikit-learn cannot set {', '.join(params)} inside one. "
            f"Search over whole kernels instead, for example {{'kernel': [{kernel.name}(…), {kernel.name}(…)]}}; "
            "kernreg's own solvers accept kernel__sigma and its like"
        )
