"""Files that are read some rows at a time.

opening.py  open_samples: one function for every kind
npy.py      NPY files
columns.py  Parquet and Arrow files, and folders of them
parts.py    folders of NPZ files, CSR or dense
chunks.py   arrays of zarr
"""

from kernreg.io.sources.opening import open_samples

__all__ = ["open_samples"]
