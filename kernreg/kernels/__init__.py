"""What a kernel is: the `kernel` decorator, Kernel objects, combinators, and the built-in kernels.

    domains.py      what values a parameter may take
    family.py       KernelFamily (a kernel without its parameters) and the `kernel` decorator
    samples.py      checked sample sets: when two are the same, and what combinations hold
    base.py         Kernel: parameters, identity, evaluation, arithmetic
    function.py     kernels made of one function; bound row-normalised kernels
    combined.py     what kernels made of kernels share
    combinators.py  sums, products, powers, transposes, composed
    symmetrized.py  symmetric kernels of an asymmetric one
    reference.py    kernels that need a reference set: centred, spectrum-corrected
    learned.py      kernels that were learned: corrected or projected through fixed samples
    extended.py     kernels of eigenvectors of a neighbourhood graph
    builtin.py      linear, rbf, laplacian, poly, tanh, tl1, sne, t, cauchy, matern, …
    indexed.py      kernels of sample indices: precomputed, adjacency

May import: errors, config, registry, jit, engine.
"""

from kernreg.kernels.base import Kernel, as_kernel
from kernreg.kernels.combinators import compose, symmetrize
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
from kernreg.kernels.reference import centered, spectrum

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
