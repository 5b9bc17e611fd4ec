"""What solvers and ensemblers share: parameters in the manner of scikit-learn, one set of laws for both."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from kernreg.errors import KernregError
from kernreg.testing.laws import LawBook, fail

#: The laws about constructor and parameters, the first of both books.
PARAMETER_LAWS = LawBook("estimator")


@dataclass(frozen=True)
class EstimatorCase:
    """An object under test that is made by a constructor with named parameters.

    Parameters
    ----------
    declared : class or object
        A class is made with its defaults; an object is cloned, so that its parameters are kept.
    data : callable, optional
        Makes random data for it.
    seed : int
        Seed of the random data.
    """

    declared: Any
    data: Callable[..., Any] | None = None
    seed: int = 0

    kind: ClassVar[str]

    @property
    def subject(self) -> str:
        """The kind and the class."""
        return f"{self.kind} {self.declared_class.__name__}"

    @property
    def declared_class(self) -> type:
        """The class of what was handed in, a class or an instance of one."""
        return self.declared if inspect.isclass(self.declared) else type(self.declared)

    def make(self) -> Any:
        """Return a new, unfitted object."""
        from sklearn.base import clone

        return self.declared() if inspect.isclass(self.declared) else clone(self.declared)


def constructor_parameters(cls: type) -> list[inspect.Parameter]:
    """Return the parameters of the constructor, without self."""
    return list(inspect.signature(cls).parameters.values())


def same_parameters(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether two parameter dicts hold the same objects or the same text (a clone copies its parameters)."""
    return left.keys() == right.keys() and all(
        left[name] is right[name] or repr(left[name]) == repr(right[name]) for name in left
    )


@PARAMETER_LAWS.law("constructor only stores")
def constructor_only_stores(case: EstimatorCase) -> None:
    """The constructor stores each parameter under its own name, as given, and does nothing else."""
    cls = type(case.make())
    parameters = constructor_parameters(cls)
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            fail(f"its constructor takes {parameter}; every parameter must be named")
    # Objects that mean nothing: a constructor that validates, converts or copies cannot keep them.
    given = {parameter.name: object() for parameter in parameters}
    try:
        instance = cls(**given)
    except Exception as error:
        fail(f"its constructor does more than store: it raised {type(error).__name__}: {error}")
    for name, value in given.items():
        if getattr(instance, name, None) is not value:
            fail(f"parameter {name!r} is not stored as given under its own name")
    extra = sorted(set(vars(instance)) - set(given))
    if extra:
        fail(f"its constructor also sets {', '.join(extra)}; set fitted attributes in fit")


@PARAMETER_LAWS.law("parameters")
def parameters_round_trip(case: EstimatorCase) -> None:
    """get_params names what the constructor takes, set_params changes it, an unknown name is refused."""
    instance = case.make()
    given = instance.get_params(deep=False)
    expected = {parameter.name for parameter in constructor_parameters(type(instance))}
    if set(given) != expected:
        fail(f"get_params names {sorted(given)}, the constructor takes {sorted(expected)}")
    if instance.set_params(**given) is not instance:
        fail("set_params must return the object itself")
    if not same_parameters(instance.get_params(deep=False), given):
        fail(f"set_params(**get_params()) changed {given} into {instance.get_params(deep=False)}")
    for name in given:
        marker = object()
        if case.make().set_params(**{name: marker}).get_params(deep=False)[name] is not marker:
            fail(f"set_params({name}=value) does not make get_params()[{name!r}] that value")
    try:
        instance.set_params(no_such_parameter=1)
    except (ValueError, KernregError):
        pass
    else:
        fail("set_params(no_such_parameter=1) was accepted; raise ValueError")


@PARAMETER_LAWS.law("clone")
def clone_is_equal(case: EstimatorCase) -> None:
    """scikit-learn's clone gives a new object with the same parameters."""
    from sklearn.base import clone

    instance = case.make()
    copy = clone(instance)
    if copy is instance or type(copy) is not type(instance):
        fail(f"clone gave {copy!r}, expected another {type(instance).__name__}")
    if not same_parameters(copy.get_params(deep=False), instance.get_params(deep=False)):
        fail(f"clone changed the parameters {instance.get_params()} into {copy.get_params()}")
