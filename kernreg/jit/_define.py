"""How a plain Python function gets a vectorisable body inside jitted code.

The public names of this package are ordinary functions, never Numba dispatchers: Numba pickles an ordinary
function by reference, so a kernel that uses one is found again in the disk cache by the next process.
:func:`implements` attaches a formula (see ``_ir.py``) to such a function; :func:`plain` is what the
function does when it is called outside jitted code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import cgutils, errors, types
from numba.extending import intrinsic, overload

from kernreg.jit._ir import FLOAT32, FLOAT64, Format, Value

# The caller's fastmath flags would otherwise be inherited: reassociation would fold the rounding trick of
# exp away, contraction would change last bits. The caller's error model would put a check, hence a branch,
# before each division.
OPTIONS: Any = {"fastmath": False, "error_model": "numpy"}

Formula = Callable[..., Value]


def plain(ufunc: Callable[..., Any], *arguments: Any) -> Any:
    """`ufunc` of the arguments, as kernels see it: inf and nan instead of exceptions and warnings.

    The types are those of jitted code (see `float_type`); Python numbers give a Python float.
    """
    arrays = [np.asarray(a) for a in arguments]
    floats = [a.dtype for a in arrays if a.dtype.kind == "f"]
    common = np.result_type(*floats) if floats else np.dtype(np.float64)
    arrays = [a if a.dtype.kind == "f" else a.astype(common) for a in arrays]
    with np.errstate(all="ignore"):
        result = ufunc(*arrays)
    if all(isinstance(a, (int, float)) and not isinstance(a, np.generic) for a in arguments):
        return float(result)
    return result


def float_type(name: str, arguments: tuple[Any, ...]) -> Any:
    """The Numba type a function is computed in: float32 if every floating-point argument is float32.

    Integers take the type of the floating-point arguments next to them, float64 where there are none.
    """
    for argument in arguments:
        if not isinstance(argument, (types.Float, types.Integer, types.Boolean)):
            raise errors.TypingError(
                f"kernreg.jit.{name} takes real numbers, and was given {argument}. "
                "Inside a kernel, loop over the elements of an array and call it on each."
            )
    floats = {argument for argument in arguments if isinstance(argument, types.Float)}
    return types.float32 if floats == {types.float32} else types.float64


def has_fused_multiply_add(context: Any) -> bool:
    """Whether the processor that code is generated for multiplies and adds with one rounding."""
    triple, _, features = context.codegen().magic_tuple()
    if triple.startswith(("x86", "i386", "i686")):
        return "+fma" in features.split(",")
    return triple.startswith(("aarch64", "arm64", "ppc64", "powerpc64", "s390x"))


def inline_always(builder: Any) -> None:
    """Ask LLVM to inline the function being built: a call in a loop would keep it from vectorising."""
    builder.function.attributes.add("alwaysinline")


def emitter(formula: Formula, kind: Any, integers: int = 0) -> Any:
    """An intrinsic of one tuple, its arguments, that evaluates `formula` in the floating-point type `kind`.

    The last `integers` arguments are passed to the formula as integers of the same width.
    """
    format: Format = FLOAT32 if kind == types.float32 else FLOAT64
    integer = types.int32 if kind == types.float32 else types.int64

    def codegen(context: Any, builder: Any, signature: Any, packed: Any) -> Any:
        inline_always(builder)
        fused = has_fused_multiply_add(context)
        (given,) = signature.args
        kinds = [kind] * (len(given) - integers) + [integer] * integers
        unpacked = zip(cgutils.unpack_tuple(builder, packed[0]), given, kinds, strict=True)
        values = [context.cast(builder, value, source, target) for value, source, target in unpacked]
        return formula(*(Value(builder, format, value, fused) for value in values)).value

    @intrinsic
    def emit(typing_context: Any, arguments: Any) -> Any:
        return kind(arguments), codegen

    return emit


def implements(function: Callable[..., Any], when: Callable[..., bool] | None = None) -> Callable[[Formula], Formula]:
    """Make `formula` what Numba compiles for a call of `function` (of one or two real numbers).

    `when`, a condition on the argument types, leaves other calls to another implementation.
    """

    def decorator(formula: Formula) -> Formula:
        name = function.__name__
        emitters = {kind: emitter(formula, kind) for kind in (types.float32, types.float64)}

        if formula.__code__.co_argcount == 1:

            @overload(function, jit_options=OPTIONS)
            def unary(x):
                emit = emitters[float_type(name, (x,))]
                return lambda x: emit((x,))

        else:

            @overload(function, jit_options=OPTIONS)
            def binary(x, y):
                if when is not None and not when(x, y):
                    return None
                emit = emitters[float_type(name, (x, y))]
                return lambda x, y: emit((x, y))

        return formula

    return decorator
