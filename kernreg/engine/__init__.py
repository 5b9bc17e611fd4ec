"""A statistic, a jitted function and data become tiles, row blocks and operators.

The engine knows nothing of Kernel objects. It gets a `Program` (statistic, function, parameters, flags)
and arrays. How a value of K is made::

    X, Z ──arrays.py──▶ normalised samples (dense C order or CSR, float64/float32, finite)
              │
              ▼   blocks of 256 × 256 on a fixed grid, taken by threads (threads.py)
    statistic of every pair of the block          ▶ scratch S, float64, stays in L2
        dense, few features   tiles/statistics.py  feature-major accumulation of term(x_d, z_d), exact differences
        dense, many features  tiles/statistics.py  BLAS on recentred rows, cancelled pairs recomputed
        CSR                   tiles/sparse.py      row times column index, never dense
              │
              ▼
    function of the statistic, compiled per kernel  (compiler/, cached on disk)
              │
              ▼
    matrix.py    the block goes to K (mirrored where the kernel is declared symmetric)
    products.py  the block is multiplied and forgotten: K @ V and K.T @ V without K
    separable.py sparse data: K = diag(p) (11' + E) diag(q), products cost O(nnz(XZ'))
    local.py     row blocks within the memory budget, combined by a function: the engine primitive

`of="rows"` programs fill the block by a compiled loop over pairs, `of="blocks"` programs by calling Python.
Row normalisation (SNE, T) happens on whole rows while they are still in cache (tiles/row_normalisation.py).

May import: the layers below it in docs/architecture.md.
"""

from __future__ import annotations

from kernreg.engine.program import Program, Split

__all__ = ["Program", "Split", "describe"]


def describe() -> dict[str, object]:
    """Return what `kernreg doctor` shows about the engine: threads, BLAS and the disk cache."""
    from kernreg.engine import threads
    from kernreg.engine.compiler import cache

    return {"threads": threads.thread_count(), "threading": "Python threads over nogil Numba code", **cache.describe()}
