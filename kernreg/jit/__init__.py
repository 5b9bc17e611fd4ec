"""The vectorisable scalar functions a kernel may call.

``from kernreg.jit import exp``, not ``math.exp``: inside a jitted loop these become SIMD instructions, where
the functions of ``math`` are one library call per element.
"""

from kernreg.jit._basic import fabs, maximum, minimum, sqrt
from kernreg.jit._exp import exp, expm1
from kernreg.jit._hyperbolic import tanh
from kernreg.jit._log import log, log1p
from kernreg.jit._power import pow
from kernreg.jit._wide import wide

__all__ = ["exp", "expm1", "fabs", "log", "log1p", "maximum", "minimum", "pow", "sqrt", "tanh", "wide"]
