"""From a kernel author's plain function to machine code that stays on disk.

A driver factory (`make_epilogue` here, `make_accumulator` in accumulation.py …) captures the author's function in a
closure and returns a plain driver; `compiled` turns that driver into a cached Numba dispatcher, once per process.
"""

from __future__ import annotations

import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.extending import register_jitable

from kernreg.common.forking import held_while_forking
from kernreg.engine.compiler import cache
from kernreg.engine.compiler.fingerprint import fingerprint, referred_functions
from kernreg.engine.compiler.frozen import lookups, require_unchanged
from kernreg.engine.compiler.numba_extensions import load_extensions
from kernreg.engine.compiler.numba_locks import open_properties_in_children
from kernreg.engine.compiler.numba_names import tell_processes_apart
from kernreg.errors import EngineError, ParameterError, PerformanceWarning
from kernreg.jit import fingerprint as jit_fingerprint
from kernreg.jit import wide

# a*b + c may become one fused operation, which is faster and more accurate. Nothing is reassociated: every value is
# computed in the same order wherever it stands in a block.
FASTMATH = {"contract"}
# For functions of a statistic: a division by a parameter may become a product with its reciprocal, taken once. Not for
# terms, whose divisors are data: there x / x must be 1, and a tiny divisor must not overflow.
PARAMETER_FASTMATH = {"contract", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

TINY_SINGLE, MAX_SINGLE = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)

_lock = threading.RLock()
held_while_forking(_lock, global_compiler_lock._lock)  # a thread that compiles a new driver holds both, in this order
open_properties_in_children()
tell_processes_apart()
_compiled: dict[Any, Any] = {}
_registered: set[int] = set()
_warned: list[Any] = []  # the functions themselves: an id may be used again


def compiled(
    factory: Callable[..., Any], name: str, *functions: Callable[..., Any], fastmath: set[str] = FASTMATH
) -> Any:
    """Return the dispatcher of ``factory(*functions)``, compiled at first call and cached on disk.

    Functions that are Numba dispatchers already keep their own compilation options and cannot be cached.
    Raises EngineError where something that a function looked up has changed since (`frozen`).
    """
    key = (factory, functions)
    with _lock:
        if key not in _compiled:
            load_extensions()
            looked_up = lookups(functions)
            require_unchanged(f"the kernel {name!r}", looked_up)
            for function in functions:
                _make_callable_from_numba(function)
            dispatcher = numba.njit(**OPTIONS, fastmath=fastmath)(factory(*functions))
            jitted = [function for function in functions if _is_dispatcher(function)]
            if jitted:
                _warn_once(name, jitted)
            else:
                digest = fingerprint(factory(*functions), jit_fingerprint(), repr(sorted(fastmath)))
                cache.enable(dispatcher, f"{name}-{factory.__name__.removeprefix('make_')}", digest)
            _compiled[key] = dispatcher, looked_up
        dispatcher, looked_up = _compiled[key]
    require_unchanged(f"the kernel {name!r}", looked_up)
    return dispatcher


def typed_parameters(parameters: tuple[Any, ...], dtype: np.dtype) -> tuple[Any, ...]:
    """Return the parameters as numbers of the precision that the function is to run in; integers stay integers."""
    real = _single if dtype == np.float32 else float
    try:
        return tuple(int(p) if isinstance(p, int | np.integer) else real(p) for p in parameters)
    except OverflowError as beyond:
        raise ParameterError(
            f"the parameter value {beyond} is beyond the range of float32, in which float32 samples are compared. "
            "Give float64 samples: X.astype('float64')"
        ) from None
    except (TypeError, ValueError):
        raise ParameterError(
            f"the parameters {parameters!r} are not all numbers, and compiled kernel functions take numbers only. "
            "Choose by an integer, or write the kernel with of='blocks', whose function may take anything"
        ) from None


def _single(value: Any) -> np.float32:
    number = float(value)
    if number != 0.0 and not TINY_SINGLE <= abs(number) <= MAX_SINGLE:
        raise OverflowError(repr(number))
    return np.float32(number)


class compilation_errors:
    """Say which kernel it is whose function Numba cannot compile: a context, which costs next to nothing."""

    def __init__(self, name: str):
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, cause: BaseException | None, traceback: Any) -> None:
        if not isinstance(cause, NumbaError | UnsupportedBytecodeError):  # the second is none of the first
            return
        # Numba reports its own layers first: the reason is what follows the last of them.
        inner = str(cause).rpartition("Failed in nopython mode pipeline")[2]
        lines = [line.strip() for line in inner.splitlines()[1:] if line.strip()] or [str(cause)]
        reason = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
        if "IMPORT_NAME" in reason:
            reason = "it has an import statement; import what it needs outside, at the top of the module"
        raise EngineError(
            f"the function of kernel {self._name!r} cannot be compiled: {reason.rstrip('.')}. "
            "A kernel function computes with numbers: it may call the functions of kernreg.jit and math, and plain "
            "functions that do the same; for anything else write the kernel with of='blocks'"
        ) from cause


def _warn_once(name: str, jitted: list[Any]) -> None:
    if all(any(function is known for known in _warned) for function in jitted):
        return
    _warned.extend(jitted)
    warnings.warn(
        f"the kernel {name!r} is made from a function that is already jitted: it works, but is compiled again in "
        "every process. Give the plain function to `kernel` to have it cached",
        PerformanceWarning,
        stacklevel=3,
    )


def make_epilogue(function: Callable[..., Any]) -> Callable[..., None]:
    """Driver: the kernel function over a block of statistics, in place.

    A row is always computed over ``width`` entries, a multiple of the vector length, of which the caller takes what
    it wants: no value is ever produced by a scalar remainder loop, so none depends on its position.
    """

    def epilogue(S, rows, width, parameters):
        wide()
        for i in range(rows):
            s = S[i]
            for j in range(width):
                s[j] = function(s[j], *parameters)

    return epilogue


def make_single_epilogue(function: Callable[..., Any]) -> Callable[..., None]:
    """Driver: as `make_epilogue`, with float32 arithmetic and result from float64 statistics."""

    def single_epilogue(S, rows, width, parameters, values):
        wide()
        for i in range(rows):
            s, v = S[i], values[i]
            for j in range(width):
                v[j] = function(np.float32(s[j]), *parameters)

    return single_epilogue


def compiled_epilogue(name: str, function: Callable[..., Any], single: bool = False) -> Any:
    """Return the compiled driver of a function of a statistic."""
    factory = make_single_epilogue if single else make_epilogue
    return compiled(factory, name, function, fastmath=PARAMETER_FASTMATH)


def make_pair_loop(function: Callable[..., Any]) -> Callable[..., None]:
    """Driver of ``of="rows"``: the function of the two rows, for every pair of the block."""

    def pair_loop(X, Z, i0, i1, j0, j1, block, parameters):
        for i in range(i0, i1):
            for j in range(j0, j1):
                block[i - i0, j - j0] = function(X[i], Z[j], *parameters)

    return pair_loop


def _is_dispatcher(function: Any) -> bool:
    return hasattr(function, "py_func")


def _make_callable_from_numba(function: Any) -> None:
    """Register a plain function, and the plain functions it calls, so that compiled code may call them."""
    if _is_dispatcher(function) or not isinstance(function, types.FunctionType) or id(function) in _registered:
        return
    _registered.add(id(function))
    if _known_to_numba(function):
        return
    # Inlined before anything else is optimised: only then are choices by a parameter taken out of the loop.
    register_jitable(forceinline=True)(function)
    for helper in referred_functions(function):
        _make_callable_from_numba(helper)


def _known_to_numba(function: Any) -> bool:
    from numba.core.registry import cpu_target

    with global_compiler_lock:  # a thread that compiles brings the context up to date, too
        cpu_target.typing_context.refresh()
        try:
            cpu_target.typing_context.resolve_value_type(function)
        except (NumbaError, ValueError, TypeError):
            return False
    return True
