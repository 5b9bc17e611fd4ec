"""Samples from files, for the command line and for scripts.

    samples.py   read_samples: one function for every format, chosen by suffix
    delimited.py CSV and other delimited text
    arrays.py    NPZ, NPY, Parquet
    svmlight.py  svmlight, also called libsvm
    graphs.py    edge lists, Matrix Market
    sources/     open_samples: files that are read some rows at a time

What cannot be read is refused with file, line and column. Nothing is filled in, dropped or converted silently.

May import: the layers below it in docs/architecture.md.
"""

from kernreg.io.samples import FORMATS, Samples, format_of, read_samples
from kernreg.io.sources import open_samples

__all__ = ["FORMATS", "Samples", "format_of", "open_samples", "read_samples"]
