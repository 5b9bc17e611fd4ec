"""A statistic, a jitted function and data become tiles, row blocks and operators.

The engine knows nothing of Kernel objects. It gets a `Program` (statistic, function, parameters, flags)
and arrays. How a value of K is made::

    X, Z ──arrays.py──▶ normalised samples (dense C order or CSR, float64/float32, finite)
              │
              ▼   blocks on a fixed grid, 256 × 256 or larger products, taken by threads (threads.py)
    statistic of every pair of the block          ▶ scratch S, float64 or float32 (tiles/precision.py), stays in cache
        dense, few features   tiles/accumulation.py    feature-major sums of term(x_d, z_d), exact differences
        dense, many features  tiles/inner_products.py  BLAS on recentred rows, cancelled pairs recomputed
        CSR                   tiles/sparse.py          row times column index, never dense
              │
              ▼
    function of the statistic, compiled per kernel  (compiler/, cached on disk)
              │
              ▼
    matrix.py    the block goes to K (mirrored where the kernel is declared symmetric)
    products.py  the block is multiplied and forgotten: K @ V and K.T @ V without K (operator.py, product_operator.py)
    normal_products.py  whole rows are multiplied twice and forgotten: K.T @ D @ K @ V at the price of one product
    gram.py      a matrix times its own transpose, of any size
    separable.py sparse data: K = diag(p) (11' + E) diag(q), products cost O(nnz(XZ'))

Who runs it is an `Engine` (contract.py). Kernels meet the configured one at one point, dispatch.py: for the engine of
this machine (local.py) they take the ways above, for any other one row blocks go where it has placed the samples
(running/). Samples may be sources that are read some rows at a time (sources/): then row blocks it is, here too.

`of="rows"` programs fill the block by a compiled loop over pairs, `of="blocks"` programs by calling Python.
Row normalisation (SNE, T) happens on whole rows while they are still in cache (tiles/row_normalisation.py).

May import: the layers below it in docs/extend/architecture.md.
"""

from __future__ import annotations

from kernreg.common.forking import open_in_children
from kernreg.common.progress import advance
from kernreg.engine.compiler.cache import take_over_compiled
from kernreg.engine.compiler.loops import compiled_loop
from kernreg.engine.compiler.private_folders import make_private
from kernreg.engine.contract import Engine
from kernreg.engine.local import LocalEngine
from kernreg.engine.program import Program, Split
from kernreg.engine.running.chunk import RowKernel, RowTask, run_chunk
from kernreg.engine.running.derived import on_operator
from kernreg.engine.running.handles import ByRow, Handle, HeldSamples, cut, own_handle, whole
from kernreg.engine.running.row_blocks import aligned_chunks, borders, streamed_rows
from kernreg.engine.running.tree import TreeSum, combined
from kernreg.engine.sources.base import RowSource, is_row_source
from kernreg.engine.sources.units import UnitRows

__all__ = [
    "ByRow",
    "Engine",
    "Handle",
    "HeldSamples",
    "LocalEngine",
    "Program",
    "RowKernel",
    "RowSource",
    "RowTask",
    "Split",
    "TreeSum",
    "UnitRows",
    "advance",
    "aligned_chunks",
    "borders",
    "combined",
    "compiled_loop",
    "cut",
    "describe",
    "is_row_source",
    "make_private",
    "on_operator",
    "open_in_children",
    "own_handle",
    "run_chunk",
    "streamed_rows",
    "take_over_compiled",
    "whole",
]


def describe() -> dict[str, object]:
    """Return what `kernreg doctor` shows: the configured engine, threads of this process, the disk cache.

    Examples
    --------
    >>> describe()["class"]
    'LocalEngine'
    """
    from kernreg.engine import dispatch, threads
    from kernreg.engine.compiler import cache

    engine = dispatch.current_engine()
    return {"class": type(engine).__name__, **engine.describe(), "threads": threads.thread_count(), **cache.describe()}
