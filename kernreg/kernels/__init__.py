"""What a kernel is: the `kernel` decorator, Kernel objects, combinators, and the built-in kernels.

    domains.py      what values a parameter may take
    family.py       KernelFamily (a kernel without its parameters) and the `kernel` decorator
    samples.py      checked sample sets: when two are the same, and what combinations hold
    base.py         Kernel: parameters, identity, evaluation, arithmetic
    function.py     kernels made of one function; bound row-normalised kernels
    builtin.py      linear, rbf, laplacian, poly, tanh, tl1, sne, t, cauchy, matern, …
    indexed.py      kernels of sample indices: precomputed, adjacency
    combinations/   kernels made of kernels: sums, products, powers, transposes, symmetrised, centred, learned
    sharing.py      matrices computed once for several users

May import: the layers below it in docs/architecture.md.
"""

from kernreg.kernels.base import Kernel, as_kernel
from kernreg.kernels.combinations.algebra import compose, symmetrize
from kernreg.kernels.combinations.reference import centered, spectrum
from kernreg.kernels.domains import (
    Domain,
    Parameter,
    boolean,
    choice,
    integer,
    interval,
    matrix,
    nonnegative,
    positive,
    real,
)
from kernreg.kernels.family import KernelFamily, kernel

__all__ = [
    "Domain",
    "Kernel",
    "KernelFamily",
    "Parameter",
    "as_kernel",
    "boolean",
    "centered",
    "choice",
    "compose",
    "integer",
    "interval",
    "kernel",
    "matrix",
    "nonnegative",
    "positive",
    "real",
    "spectrum",
    "symmetrize",
]
