"""Samples from files, for the command line and for scripts.

    samples.py   read_samples: one function for every format, chosen by suffix
    delimited.py CSV and other delimited text
    arrays.py    NPZ, NPY, Parquet
    svmlight.py  svmlight, also called libsvm
    graphs.py    edge lists, Matrix Market
    gram.py      write_gram: kernel matrices on disk, block by block
    matrix_files.py  the files they are written to
    sources/     open_samples: files that are read some rows at a time

What cannot be read is refused with file, line and column. Nothing is filled in, dropped or converted silently.

May import: the layers below it in docs/extend/architecture.md.
"""

from kernreg.io.gram import write_gram
from kernreg.io.samples import FORMATS, Samples, format_of, read_samples
from kernreg.io.sources import open_samples

__all__ = ["FORMATS", "Samples", "format_of", "open_samples", "read_samples", "write_gram"]
