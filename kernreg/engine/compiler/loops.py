"""Loops of plugins: compiled by Numba when they are first called, and kept where compiled kernels are.

Numba's own cache (``cache=True``) unpickles whatever it finds beside the code of a plugin or in ``NUMBA_CACHE_DIR``.
What is compiled here is kept as kernels are: in folders that nobody else can write to, sealed, named by a fingerprint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, overload

import numba
from numba import types

from kernreg.common.checks import check_choice
from kernreg.engine.compiler import cache
from kernreg.engine.compiler.compile import FASTMATH
from kernreg.engine.compiler.entry_files import EntryCache
from kernreg.engine.compiler.fingerprint import fingerprint
from kernreg.engine.compiler.frozen import lookups, require_unchanged
from kernreg.engine.compiler.numba_extensions import load_extensions
from kernreg.errors import ParameterError, shown
from kernreg.jit import fingerprint as jit_fingerprint

_NO_NAME = re.compile(r"[^\w.-]+")  # <locals> and <lambda> are no names of folders on Windows
_LONGEST = 100
_FLAGS = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")


@overload
def compiled_loop(function: Callable[..., Any], /) -> Any: ...
@overload
def compiled_loop(*, fastmath: Iterable[str] = ..., error_model: str = ...) -> Callable[[Callable[..., Any]], Any]: ...
def compiled_loop(
    function: Callable[..., Any] | None = None,
    /,
    *,
    fastmath: Iterable[str] = frozenset(FASTMATH),
    error_model: str = "numpy",
) -> Any:
    """Compile a function of numbers and arrays with Numba, without the lock of the interpreter; a decorator.

    Nothing is compiled before the first call, and the next process finds the machine code on disk: in the cache of
    compiled kernels, whose files are read only if they are this user's own and whole. An edit of the function, or of
    anything it refers to, is compiled anew by the next process; in this one a signature that was compiled keeps what
    names stood for, and another one raises EngineError. Without a folder that can be written to, every process
    compiles.

    Kept are signatures of numbers, texts, arrays, lists and tuples of these. With other types, as jitclasses or
    functions as arguments, the function works and is compiled in every process.

    Parameters
    ----------
    function : callable
        What Numba can compile. Functions that it calls are compiled loops themselves, those of `kernreg.jit`, or others
        that Numba knows.
    fastmath : iterable of str
        What LLVM may do: ``"contract"`` makes one operation of a·b + c; ``()`` keeps every rounding as it is written.
    error_model : {"numpy", "python"}
        What a division by zero is: infinity or NaN, or a ZeroDivisionError.

    Returns
    -------
    callable
        Numba's dispatcher: a call costs what it costs without kernreg.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled_loop
    ... def total(values):
    ...     result = 0.0
    ...     for value in values:
    ...         result += value
    ...     return result
    >>> total(np.arange(4.0))
    6.0
    """
    check_choice("error_model", error_model, ("numpy", "python"))
    given = [fastmath] if isinstance(fastmath, str) or not isinstance(fastmath, Iterable) else fastmath
    flags = {check_choice("fastmath", flag, _FLAGS) for flag in given}
    if function is None:
        return lambda function: _compiled(function, flags, error_model)
    return _compiled(function, flags, error_model)


def _compiled(function: Callable[..., Any], flags: set[str], error_model: str) -> Any:
    if not isinstance(function, FunctionType):
        raise ParameterError(
            f"compiled_loop({shown(function)}) is not accepted; give a function as `def` makes it, which nothing has "
            "compiled yet"
        )
    load_extensions()
    options: dict[str, Any] = {"nogil": True, "error_model": error_model, "fastmath": flags}
    dispatcher = numba.njit(**options)(function)
    if hasattr(dispatcher, "enable_caching"):  # else NUMBA_DISABLE_JIT: a plain function
        dispatcher._cache = LoopCache(dispatcher)
        cache.count(dispatcher)
    return dispatcher


class LoopCache:
    """What a dispatcher asks for machine code, with the fingerprint of the moment it asks.

    Not before: functions that a loop calls may stand below it in its module, and the directory may be changed.
    """

    def __init__(self, dispatcher: Any):
        self._dispatcher = dispatcher
        self._asked: dict[Any, tuple[str, EntryCache]] = {}
        self.cache_path: str | None = None

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return what was compiled for a signature, None if there is nothing."""
        self._asked.pop(signature, None)
        require_unchanged(f"the loop {self._dispatcher.py_func.__name__!r}", lookups([self._dispatcher]))
        digest, layout = self._fingerprint(), _layout(signature)
        if layout is None:
            return None
        function = self._dispatcher.py_func
        name = _NO_NAME.sub("-", f"{function.__module__}.{function.__qualname__}")[-_LONGEST:]
        entries = cache.of_function(function, name, digest, layout)
        if entries is None:
            return None
        self.cache_path = entries.cache_path
        self._asked[signature] = digest, entries
        return entries.load_overload(signature, target_context)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled, unless something that it refers to has changed while it was."""
        digest, entries = self._asked.pop(signature, ("", None))
        if entries is not None and digest == self._fingerprint():
            entries.save_overload(signature, compiled)

    def flush(self) -> None:
        """Forget nothing: what is on disk is right for its fingerprint (Numba calls this before it compiles again)."""

    def _fingerprint(self) -> str:
        return fingerprint(self._dispatcher, jit_fingerprint())


def _layout(kind: Any) -> str | None:
    """Return what machine code depends on that Numba's name of a type leaves out; None for types that are not kept.

    The fields of a named tuple in their order: two classes of one name may differ in it.
    """
    inner: Any = kind
    if isinstance(kind, types.BaseNamedTuple):
        parts = _layout(tuple(inner))
        home = inner.instance_class
        return None if parts is None else f"{home.__module__}.{home.__qualname__}{inner.fields}{parts}"
    if isinstance(kind, tuple | types.BaseTuple):
        found = [_layout(part) for part in inner]
        return None if None in found else f"({','.join(part or '' for part in found)})"
    if isinstance(kind, types.Array | types.List):
        return _layout(kind.dtype)
    plain = (types.Number, types.Boolean, types.NoneType, types.UnicodeType, types.Literal, types.Omitted, types.Record)
    return "" if isinstance(kind, plain) else None
