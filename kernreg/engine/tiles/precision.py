"""In which precision float32 samples are compared: in float32 where a bound on its error allows it, else in float64.

K of float32 samples is float32: a statistic that is off by a few units in its last place is as good as an exact one.
With u = 2⁻²⁴, the promise of `ACCURACY` is kept as follows:

sums of differences (few features, l1)
    Terms are not negative, so nothing cancels and the relative error is at most (k + 2) u for k features. Not more than
    `TRUSTED_FEATURES` are added up in one sum; with more of them, such sums are added.
inner products of few features
    k u |x||z|, by the same count.
matrix products
    The error of ⟨x, z⟩ is c u |x||z|. For distances |x - z|² ≥ (|x|² + |z|²) / 8, or else the pair is computed again
    from its differences (inner_products.py): relative to the distance it is 8 (c + 2) u. In the worst case c grows as
    the number of features; rounding errors of data are as good as random, and c is below 10. Whether the data are such
    is measured on `SAMPLED_ROWS` rows of Z: if an error there exceeds `TRUSTED_ERROR`, statistics are float64.
data whose squares leave the range of float32
    Everything is computed in float64 and rounded at the end.
logarithms of weights
    A row is normalised by differences of logarithms, whose relative errors do not count: statistics are float64.

All of it depends on Z as a whole and on the pair, never on the other rows of X: row blocks and the matrix agree on it.
Their bits are equal where BLAS adds up a pair in the same order wherever it stands in a block. In float64 it does; the
float32 product of OpenBLAS for AVX2 does not, and there row blocks of other sizes differ in last bits.
"""

from __future__ import annotations

import numpy as np

from kernreg.engine.arrays import Samples, is_sparse
from kernreg.engine.program import Program

ACCURACY = 1e-5  # relative to the distance of two samples, or to the product of their norms
TRUSTED_FEATURES = 128
TRUSTED_ERROR = 5e-6  # among sampled pairs, of which there are fewer than pairs: half of what is promised
SAMPLED_ROWS = 64

# The largest difference between samples (largest value for inner products) for which float32 holds what it computes.
RANGE = {"dot": (1e-12, 1e12), "sqeuclidean": (1e-12, 1e12), "l1": (1e-30, 1e30)}


def in_single(program: Program, X: Samples, Z: Samples) -> bool:
    """Return whether statistics of float32 samples may be float32, as far as that shows before they are computed."""
    return _dense_single(X, Z) and program.statistic in RANGE and not program.log and within_range(program, Z)


def within_range(program: Program, Z: Samples) -> bool:
    """Return whether the function may be evaluated in float32: whether statistics of float32 samples fit into it."""
    values = Z.data if is_sparse(Z) else Z
    if program.statistic not in RANGE or not Z.shape[0]:
        return True
    if not values.size:  # zeros alone: the size of a statistic is that of the other samples
        return False
    low, high = RANGE[program.statistic]
    with np.errstate(over="ignore"):
        if program.statistic == "dot" or is_sparse(Z):  # whose differences are as large as its values, from zeros
            size = max(float(values.max()), -float(values.min()))
        else:
            size = float((Z.max(axis=0) - Z.min(axis=0)).max())
    return low <= size <= high


def _dense_single(X: Samples, Z: Samples) -> bool:
    return not is_sparse(X) and not is_sparse(Z) and X.dtype == np.float32 and Z.dtype == np.float32
