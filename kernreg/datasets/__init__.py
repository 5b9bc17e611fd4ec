"""Data sets by name: files of the data folder, scikit-learn's own, OpenML; and toys made on the spot.

    loading.py   load, available: where a name is looked for
    dataset.py   Dataset: samples, targets, official splits
    catalog.py   the data sets of the papers, and where each comes from
    files.py     the files of the data folder
    bundled.py   what comes with scikit-learn
    openml.py    what is fetched, through scikit-learn
    toys.py      generators

Nothing is scaled, imputed or dropped unless asked for.

May import: the layers below it in docs/extend/architecture.md.
"""

from kernreg.datasets.dataset import Dataset
from kernreg.datasets.loading import Entry, available, load
from kernreg.datasets.toys import make_cycle, make_directed_communities, make_documents, make_spheres

__all__ = [
    "Dataset",
    "Entry",
    "available",
    "load",
    "make_cycle",
    "make_directed_communities",
    "make_documents",
    "make_spheres",
]
