"""wide: ask for the full vector width of the processor.

On Intel processors with AVX-512, LLVM vectorises with 256-bit registers unless a function asks for more.
For loops that are all arithmetic, as kernel epilogues are, the 512-bit ones are about 1.5 times faster.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import intrinsic, overload


def wide() -> None:
    """Ask for the widest vectors in the jitted function that calls this, and do nothing else.

    The request belongs to the function (of Numba's, after inlining by LLVM: the outermost one) that calls
    it; in a ``prange`` loop it has to be called in the loop's body, which Numba compiles as a function of
    its own. It is ignored by processors without 512-bit vectors and in plain Python.

    Examples
    --------
    >>> wide()
    """


def _typing(typing_context: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # llvmlite's add() knows enumerated attributes only; this one is a key and a value.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), codegen


_request: Any = intrinsic(_typing)


# Inlined by Numba, so that the attribute lands on the calling function and not on a callee.
@overload(wide, inline="always")
def _wide():
    return lambda: _request()
