"""What an object must look like to be a plugin of its kind.

The checks look at shape only, never at base classes: the registry sits below every layer that defines one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def problem_with(kind: str, obj: Any) -> str:
    """What keeps the object from being a plugin of that kind; empty if nothing does.

    >>> problem_with("engine", 3)
    "an engine is a class with map_rows, this is an object of type 'int'"
    """
    check = _CHECKS.get(kind)
    return check(obj) if check is not None else ""


def _kernel(obj: Any) -> str:
    if getattr(obj, "__kernreg_kernel__", None) is True and callable(obj):
        return ""
    hint = "; decorate the function with @kernreg.kernel(...)" if hasattr(obj, "__code__") else ""
    return f"a kernel is what the kernreg.kernel decorator returns, this is {_describe(obj)}{hint}"


def _solver(obj: Any) -> str:
    return (
        _not_a_class_with(obj, "a solver is a scikit-learn estimator class", "fit", "get_params", "set_params")
        or _no_varargs(obj)
        or _callable_with(obj, "fit", "X", "y")
    )


def _ensembler(obj: Any) -> str:
    return (
        _not_a_class_with(obj, "an ensembler is a class", "fit", "merge")
        or _no_varargs(obj)
        or _callable_with(obj, "fit", "views", "y")
        or _callable_with(obj, "merge", "views")
    )


def _engine(obj: Any) -> str:
    return _not_a_class_with(obj, "an engine is a class", "map_rows")


def _command(obj: Any) -> str:
    # By its methods, as the others: to ask whether it is a click.Command would import click for every listing.
    methods = ("main", "make_context", "invoke", "get_help")
    if not isinstance(obj, type) and all(callable(getattr(obj, method, None)) for method in methods):
        return ""
    hint = "; decorate the function with @click.command()" if hasattr(obj, "__code__") else ""
    return f"a command is a click.Command, this is {_describe(obj)}{hint}"


_CHECKS: dict[str, Callable[[Any], str]] = {
    "kernel": _kernel,
    "solver": _solver,
    "ensembler": _ensembler,
    "engine": _engine,
    "command": _command,
}


def _describe(obj: Any) -> str:
    return f"the class {obj.__qualname__!r}" if isinstance(obj, type) else f"an object of type {type(obj).__name__!r}"


def _not_a_class_with(obj: Any, wanted: str, *methods: str) -> str:
    if not isinstance(obj, type):
        return f"{wanted} with {_and(methods)}, this is {_describe(obj)}"
    missing = [method for method in methods if not callable(getattr(obj, method, None))]
    return f"{wanted} with {_and(methods)}, {_describe(obj)} has no {_and(missing)}" if missing else ""


def _and(words: tuple[str, ...] | list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _signature(function: Any) -> Any:
    import inspect  # slow to import, and needed only once something is loaded

    try:
        return inspect.signature(function)
    except (TypeError, ValueError):  # some compiled classes have none: nothing to hold against them
        return None


def _no_varargs(cls: type) -> str:
    signature = _signature(cls)
    if signature is not None and any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values()):
        return f"__init__ of {_describe(cls)} takes *args; every parameter needs a name for get_params to work"
    return ""


def _callable_with(cls: type, method: str, *arguments: str) -> str:
    signature = _signature(getattr(cls, method))
    # A static or class method has no self to be given.
    bound = isinstance(_definition(cls, method), staticmethod | classmethod)
    try:
        if signature is not None:
            signature.bind(*(arguments if bound else ("self", *arguments)))
    except TypeError as error:
        call = f"{method}({', '.join(arguments)})"
        return f"{method}{signature} of {_describe(cls)} cannot be called as {call}: {error}"
    return ""


def _definition(cls: type, method: str) -> Any:
    return next((vars(base)[method] for base in cls.__mro__ if method in vars(base)), None)
