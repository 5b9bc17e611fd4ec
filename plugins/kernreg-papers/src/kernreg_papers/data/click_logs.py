"""Generated data of the shape of click logs: any rows of an endless table, without making the others.

Each row has one category in each of its fields, so that it is a sparse binary vector. What row i holds is a hash of i
and the field; a table of any length is a range of row numbers, and parts of it are made when they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.errors import MissingDataset
from kernreg_papers.data.mixtures import generated, load_mixtures

FIELDS = 39


def _hash(numbers: np.ndarray) -> np.ndarray:
    """Mix 64-bit numbers (splitmix64), and return numbers between 0 and 1."""
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) * (1.0 / 2**53)


def click_rows(numbers: np.ndarray, n_columns: int) -> sp.csr_array:
    """Return rows of the table as a sparse matrix.

    Rows are of a few kinds. What is frequent in a field depends on the kind, so that rows of a kind share features.

    >>> click_rows(np.arange(5), 10_000).shape, int(click_rows(np.arange(5), 10_000).nnz)
    ((5, 10000), 195)
    """
    width = n_columns // FIELDS
    rows = np.asarray(numbers, dtype=np.int64)[:, None]
    fields = np.arange(FIELDS)[None, :]
    drawn = _hash(rows * FIELDS + fields)
    values = np.minimum((width * drawn**8).astype(np.int64), width - 1)  # few categories are frequent, most are rare
    moved = (values + (_hash(_kind(rows) * 1_000_003 + fields) * width).astype(np.int64)) % width
    indices = (moved + width * fields).ravel()
    indptr = np.arange(0, FIELDS * len(rows) + 1, FIELDS)
    return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), n_columns))


def _kind(rows: np.ndarray) -> np.ndarray:
    return (8 * _hash(rows * 7 + 5_000_011)).astype(np.int64)


def clicks(numbers: np.ndarray) -> np.ndarray:
    """Return the class of each row: some kinds are clicked more than others, none always."""
    rows = np.asarray(numbers, dtype=np.int64)
    rate = np.array([0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6])[_kind(rows)]
    return (_hash(rows * 11 + 7_000_003) < rate).astype(np.int64)


def load_generated(name: str) -> Any:
    """Return ``clicks-N``, N rows of which samples are the numbers, or ``mixtures-N``, N Gaussian mixtures.

    >>> load_generated("clicks-1000").y.mean() < 0.5
    np.True_
    """
    kind, _, size = name.partition("-")
    if kind == "mixtures" and size.isdigit():
        return load_mixtures(int(size))
    if kind != "clicks" or not size.isdigit():
        raise MissingDataset(
            f"nothing is generated under the name {name!r}; there are clicks-N and mixtures-N, for example clicks-20000"
        )
    rows = np.arange(int(size))
    return generated(name, rows, clicks(rows))
