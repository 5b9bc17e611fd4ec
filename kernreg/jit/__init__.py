"""The vectorisable scalar functions a kernel may call.

``from kernreg.jit import exp``, not ``math.exp``: in a jitted loop these become SIMD instructions, where the
functions of ``math`` are one library call per element. float32 arguments are computed in float32. Each
docstring states the error and what happens to inf, nan, subnormal numbers and zeros. Called in plain Python,
on numbers or arrays, the same names are numpy's functions without the warnings.

- ``_ir.py``: the arithmetic the formulas are written in; ``_define.py``: how Numba gets to see them
- ``_exp.py``, ``_log.py``, ``_hyperbolic.py``, ``_power.py``, ``_basic.py``: the functions
- ``_wide.py``: ask for full-width vectors; ``_fingerprint.py``: a key for caches of compiled code

Imports nothing else of kernreg.
"""

from kernreg.jit._basic import fabs, maximum, minimum, sqrt
from kernreg.jit._exp import exp, expm1
from kernreg.jit._fingerprint import fingerprint
from kernreg.jit._hyperbolic import tanh
from kernreg.jit._log import log, log1p
from kernreg.jit._power import pow
from kernreg.jit._wide import wide

__all__ = [
    "exp",
    "expm1",
    "fabs",
    "fingerprint",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "pow",
    "sqrt",
    "tanh",
    "wide",
]
