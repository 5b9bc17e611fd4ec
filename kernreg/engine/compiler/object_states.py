"""What an object holds that Python code may look at while Numba compiles: settings, partial functions, methods."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

# Objects of these modules are values, or hold functions. Others of Python's own library, as loggers and locks, say what
# happened in this process, and Numba's what it has compiled; of these the class has to do.
_OF_VALUES = frozenset(
    (
        *("collections", "datetime", "decimal", "fractions", "functools", "operator", "pathlib", "types"),
        *("numpy", "scipy"),
    )
)
_NOT_FOLLOWED = frozenset(("numba", "llvmlite", "numpy", "scipy")) | sys.stdlib_module_names


def written_elsewhere(kind: type) -> bool:
    """Whether a class is neither Python's nor that of a library whose version is part of where code is kept.

    >>> written_elsewhere(dict)
    False
    """
    return str(kind.__module__).split(".")[0] not in _NOT_FOLLOWED


def state_of(value: Any) -> Any:
    """Return what an object holds, as tuples and dicts of other objects; None where it holds nothing.

    >>> import functools, types
    >>> state_of(types.SimpleNamespace(width=2.0))
    ((), {'width': 2.0})
    >>> state_of(functools.partial(max, 3))[1:]
    ((3,), {})
    """
    if isinstance(value, types.MethodType):
        return value.__func__, value.__self__
    if isinstance(value, staticmethod | classmethod):
        return value.__func__
    if isinstance(value, property):
        return value.fget, value.fset
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, functools._lru_cache_wrapper):
        return value.__wrapped__
    if isinstance(value, types.BuiltinMethodType) and not isinstance(value.__self__, types.ModuleType):
        return value.__self__
    if written_elsewhere(type(value)) or type(value).__module__.split(".")[0] in _OF_VALUES:
        return _attributes(value)
    return None


def _attributes(value: Any) -> Any:
    """Return what pickle would keep, or the attributes of what cannot be pickled."""
    try:
        reduced = value.__reduce_ex__(2)
    except Exception:  # whatever an object says that cannot be pickled
        reduced = None
    if not isinstance(reduced, tuple):  # else the name of what is not a value
        return getattr(value, "__dict__", None)
    return tuple(list(part) if hasattr(part, "__next__") else part for part in reduced[1:])
