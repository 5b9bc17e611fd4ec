"""An engine for kernreg on a Dask cluster.

clients.py      which cluster: the current client, an address, or processes of this machine
samples.py      chunks of samples in the memory of workers, and how lost ones come back
collections.py  dask arrays and data frames as chunks, lengths unknown or not
parcel.py       what travels beside samples: pickled once, with the plugins that it needs
submission.py   one task for each chunk of rows, where the chunk lies; sums in a fixed tree
waiting.py      until results are there: progress, interrupts, lost workers
worker.py       the work on a worker: versions, threads, memory
compile_cache.py  a compile cache for each process of workers
items.py        independent pieces of work, such as the combinations of a grid
lazy.py         predictions and kernel matrices as lazy dask arrays
engine.py       `DaskEngine`, which is all of this under kernreg's contract
"""

from __future__ import annotations

from kernreg_dask.engine import DaskEngine
from kernreg_dask.lazy import gram

__version__ = "0.1.0"

__all__ = ["DaskEngine", "gram"]
