"""What structured samples are: how they are read, checked and packed. A kernel names its structure as ``inputs``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from kernreg.engine.arrays import as_samples, check_readable, is_sparse
from kernreg.errors import DataError
from kernreg.kernels.packed import PackedSamples


class Structure(ABC):
    """A kind of samples that are not rows of numbers. A subclass says in `pack` how they become arrays.

    Packing must not lose anything, nor depend on parameters of a kernel: it is done once for many kernels, and model
    files keep what comes out. What a kernel computes of it belongs into its ``represent``.

    Parameters
    ----------
    name : str
        Stands in model files.
    description : str
        What samples are, in words, for messages and ``kernreg info``.

    Examples
    --------
    >>> from kernreg.kernels import Ragged
    >>> series = Ragged("ragged", "time series: a list of arrays")
    >>> isinstance(series, Structure), str(series)
    (True, 'time series: a list of arrays')
    """

    def __init__(self, name: str, description: str):
        self.name, self.description = name, description

    @abstractmethod
    def pack(self, X: Any, name: str) -> PackedSamples:
        """Return the samples packed, or raise DataError, which calls them by their name."""

    def samples(self, X: Any, name: str = "X") -> PackedSamples:
        """Return samples packed; those that are packed already as they are."""
        if not isinstance(X, PackedSamples):
            return self.pack(X, name)
        if X.structure != self.name:
            raise DataError(f"{name} holds packed samples of the kind {X.structure!r}; here they are {self}")
        return X

    def one(self, x: Any, name: str = "x") -> PackedSamples:
        """Return one sample as a packed set of one."""
        return self.samples([x], name)

    def check_pair(self, X: PackedSamples, Z: PackedSamples) -> None:
        """Raise DataError unless samples of both sets can be compared."""
        if X.values.shape[1] != Z.values.shape[1]:
            raise DataError(
                f"the vectors of X have {X.values.shape[1]} numbers each and those of Z {Z.values.shape[1]}; give both "
                "the same features"
            )

    def __str__(self) -> str:
        return self.description

    def __repr__(self) -> str:
        return f"<structure {self.name}: {self.description}>"


class Ragged(Structure):
    """Samples that are arrays of vectors, as many as there are: time series, bags, point clouds.

    Accepted are a list of arrays of shape (length, d), or of vectors, which have d = 1; an array of objects with the
    same; an array of shape (n, length, d). All numbers are finite, d is the same for all, and no sample is empty.

    Parameters
    ----------
    name, description : str
    vectors : bool
        Whether a one-dimensional array is a sample, of as many vectors of one number each.

    Examples
    --------
    >>> series = Ragged("ragged", "time series, a list of arrays of shape (length, features)")
    >>> packed = series.samples([[1.0, 2.0, 3.0], [4.0]])
    >>> packed.lengths.tolist(), packed.values.ravel().tolist()
    ([3, 1], [1.0, 2.0, 3.0, 4.0])
    """

    def __init__(self, name: str, description: str, *, vectors: bool = True):
        super().__init__(name, description)
        self.vectors = vectors

    def pack(self, X: Any, name: str) -> PackedSamples:
        """Return the vectors of all samples one after the other, and where each sample begins."""
        if is_sparse(X) or isinstance(X, str | bytes | dict) or not hasattr(X, "__len__") or hasattr(X, "columns"):
            raise DataError(f"{name} is a {type(X).__name__}; accepted are {self}")
        if isinstance(X, np.ndarray) and X.dtype != object and X.ndim != 3:
            raise DataError(
                f"{name} is an array of shape {X.shape}; accepted are {self}. Series of one length may be an array of "
                f"shape (n, length, features): {name}[:, :, None]"
            )
        found = [self._one(x, f"{name}[{number}]") for number, x in enumerate(X)]
        if not found:
            return PackedSamples(self.name, np.empty((0, 1)), np.zeros(1, dtype=np.int64))
        width = found[0].shape[1]
        for number, table in enumerate(found):
            if table.shape[1] != width:
                raise DataError(
                    f"the vectors of {name}[{number}] have {table.shape[1]} numbers each and those of {name}[0] "
                    f"{width}; all samples have the same features"
                )
        offsets = np.concatenate([[0], np.cumsum([len(table) for table in found])]).astype(np.int64)
        return PackedSamples(self.name, np.concatenate(found).astype(np.float64, copy=False), offsets)

    def _one(self, x: Any, name: str) -> np.ndarray:
        check_readable(x, name)
        if is_sparse(x):
            raise DataError(f"{name} is sparse; give it dense, {name}.toarray()")
        try:
            table = np.asarray(x)
        except (ValueError, TypeError) as cause:
            raise DataError(f"{name} cannot be read as a numeric array: {cause}") from cause
        if table.ndim == 1 and self.vectors:
            table = table[:, None]
        if table.ndim != 2:
            raise DataError(f"{name} has shape {np.shape(x)}; accepted are {self}")
        if not len(table):
            raise DataError(f"{name} is empty, shape {np.shape(x)}; a sample has at least one vector")
        return as_samples(table, name)
