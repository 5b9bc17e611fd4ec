"""What an object must look like to be a plugin of its kind.

The checks look at shape only, never at base classes: the registry sits below every layer that defines one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def problem_with(kind: str, obj: Any) -> str:
    """What keeps the object from being a plugin of that kind; empty if nothing does.

    Looking at a foreign object runs foreign code, which may do anything: then that is what keeps it.

    >>> problem_with("ensembler", 3)
    "an ensembler is a class with fit and merge, this is an object of type 'int'"
    """
    check = _CHECKS.get(kind)
    try:
        return check(obj) if check is not None else ""
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        from kernreg.registry.discovery.metadata import summary

        return f"it cannot be looked at: {summary(failure)}"


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
    wanted = "an engine is a class derived from kernreg.engine.Engine,"
    problem = _not_a_class_with(obj, wanted, *ENGINE_METHODS)
    for method, (arguments, keywords) in ENGINE_METHODS.items():
        problem = problem or _callable_with(obj, method, *arguments, keywords=keywords)
    return problem or _abstract(obj)


#: The contract of engines, kernreg.engine.Engine: how its methods are called, by position and by keyword.
ENGINE_METHODS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "place": (("samples", "check"), ()),
    "map_rows": (("kernel", "X", "Z", "function", "combine"), ("args",)),
    "matrix": (("kernel", "X", "Z", "out"), ()),
    "blocks": (("kernel", "X", "Z", "block_rows"), ()),
    "operator": (("kernel", "X", "Z"), ()),
    "reduce": (("kernel", "X", "Z", "function"), ("args",)),
    "predict": (("kernel", "X", "Z", "coefficients"), ()),
    "reads": (("samples",), ()),
    "collected": (("values", "samples", "name"), ()),
    "lazily": (("estimator", "method", "samples"), ()),
    "each": (("function", "items"), ("args",)),
    "fits": (("nbytes",), ()),
    "describe": ((), ()),
    "close": ((), ()),
}


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


def _abstract(cls: type) -> str:
    missing = sorted(getattr(cls, "__abstractmethods__", ()))
    return f"{_describe(cls)} does not define {_and(missing)}" if missing else ""


def _callable_with(cls: type, method: str, *arguments: str, keywords: tuple[str, ...] = ()) -> str:
    signature = _signature(getattr(cls, method))
    # A static or class method has no self to be given.
    bound = isinstance(_definition(cls, method), staticmethod | classmethod)
    try:
        if signature is not None:
            signature.bind(*(arguments if bound else ("self", *arguments)), **dict.fromkeys(keywords))
    except TypeError as error:
        call = f"{method}({', '.join([*arguments, *(f'{keyword}=…' for keyword in keywords)])})"
        return f"{method}{signature} of {_describe(cls)} cannot be called as {call}: {error}"
    return ""


def _definition(cls: type, method: str) -> Any:
    return next((vars(base)[method] for base in cls.__mro__ if method in vars(base)), None)
