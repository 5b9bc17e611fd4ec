"""The vectorisable scalar functions a kernel may call.

``from kernreg.jit import exp``, not ``math.exp``: inside a jitted loop these become SIMD instructions, where
the functions of ``math`` are one library call per element.
"""

from kernreg.jit._exp import exp
from kernreg.jit._wide import wide

__all__ = ["exp", "wide"]
