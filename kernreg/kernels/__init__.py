"""What a kernel is: the `kernel` decorator, Kernel objects, combinators, and the built-in kernels.

    samples.py      checked sample sets: when two are the same, and what combinations hold
    ownership.py    arrays that are a kernel's own
    domains.py      what values a parameter may take
    ranges.py       sizes of numbers with which a kernel is exact, and the warning beyond
    spot_check.py   whether compiled code computes what the Python function says
    columns.py      kernel matrices made some columns at a time
    row_block_operator.py  products with kernel matrices that the engine does not multiply by itself
    value.py        a kernel as a value: parameters, identity, representation, files, arithmetic
    base.py         Kernel: such a value, evaluated
    family.py       KernelFamily: a kernel without its parameters
    normalisation.py  what engines run of row-normalised kernels
    function.py     kernels made of one function; bound row-normalised kernels
    reference_kernel.py  ReferenceKernel: kernels of a sample's place in a reference set, for authors
    decorator.py    `kernel`, the decorator that makes a family of a function
    packed.py       samples that are not rows of numbers, packed into arrays
    structure.py    Structure: how such samples are read and packed; Ragged: lists of arrays
    packed_kernel.py  kernels of packed samples
    widths.py       parameters that are a scale of their statistic: numbers, or words that samples resolve
    builtin.py      linear, rbf, laplacian, poly, tanh, tl1, sne, t, cauchy, matern, …
    indexed.py      kernels of sample indices: precomputed, adjacency
    combinations/   kernels made of kernels: sums, products, powers, transposes, symmetrised, centred, learned
    sharing.py      matrices computed once for several users

May import: the layers below it in docs/extend/architecture.md.
"""

from kernreg.kernels.base import Kernel
from kernreg.kernels.combinations.algebra import compose
from kernreg.kernels.combinations.reference import centered, spectrum
from kernreg.kernels.combinations.symmetrized import symmetrize
from kernreg.kernels.decorator import kernel
from kernreg.kernels.domains import (
    Domain,
    Parameter,
    boolean,
    choice,
    graph,
    integer,
    interval,
    matrix,
    nonnegative,
    positive,
    real,
)
from kernreg.kernels.family import KernelFamily
from kernreg.kernels.packed import PackedSamples
from kernreg.kernels.reference_kernel import ReferenceKernel
from kernreg.kernels.structure import Ragged, Structure
from kernreg.kernels.widths import width

__all__ = [
    "Domain",
    "Kernel",
    "KernelFamily",
    "PackedSamples",
    "Parameter",
    "Ragged",
    "ReferenceKernel",
    "Structure",
    "boolean",
    "centered",
    "choice",
    "compose",
    "graph",
    "integer",
    "interval",
    "kernel",
    "matrix",
    "nonnegative",
    "positive",
    "real",
    "spectrum",
    "symmetrize",
    "width",
]
