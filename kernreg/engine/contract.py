"""What an engine is: the one place through which kernel matrices are evaluated, multiplied and summed.

The primitive is `map_rows`: apply a function to every row block of K(X, Z) and combine the results. An engine defines
how samples get to where the work is done (`place`) and who does it (`map_rows`); the rest follows, and is there to be
overridden where an engine can do better. What it ships is picklable, and `kernreg.engine.run_chunk` does the work::

    place(X) ──▶ Handle, chunks of rows       place(Z) ──▶ Handle, whole
          │                                        │
          ▼   for each chunk, wherever it lies     ▼
    run_chunk(task, rows of the chunk, Z, args, first row)   fixed blocks, fixed tree: the same bits anywhere
          │
          ▼
    combined(results of the chunks, in order)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.config import memory_budget
from kernreg.engine.running import derived
from kernreg.engine.running.handles import Handle


class Engine(ABC):
    """Places samples, runs functions over row blocks of kernel matrices, and combines what they return.

    Made once from a spec by `kernreg.make_engine`, shared by threads, closed when it is no longer needed. Samples are
    what kernels have checked: arrays, CSR, `SampleParts`, or handles of this engine.

    Examples
    --------
    >>> import kernreg as kr
    >>> engine = kr.make_engine("local")
    >>> isinstance(engine, Engine), engine.fits(8 * 100 * 100)
    (True, True)
    """

    closed = False

    @abstractmethod
    def place(self, samples: Any, check: Callable[[Any], Any] | None = None) -> Handle:
        """Return a handle of the samples, which travel now and not again; `check` is applied to each chunk, once."""

    @abstractmethod
    def map_rows(
        self, kernel: Any, X: Any, Z: Any, function: Callable[..., Any], combine: str = "concatenate", *, args: Any = ()
    ) -> Any:
        """Return ``function(rows, block, *args)`` over the row blocks of K(X, Z), concatenated or added in a tree."""

    def matrix(self, kernel: Any, X: Any, Z: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return K(X, Z); ``Z=None`` stands for X, here and below."""
        return derived.matrix(self, kernel, X, Z, out)

    def blocks(self, kernel: Any, X: Any, Z: Any, block_rows: int | None) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, block) over K(X, Z), in order, within the memory budget."""
        return derived.blocks(self, kernel, X, Z, block_rows)

    def operator(self, kernel: Any, X: Any, Z: Any = None) -> LinearOperator:
        """Return products with K(X, Z) and its transpose; the samples are placed once."""
        return derived.EngineOperator(self, kernel, X, Z)

    def reduce(self, kernel: Any, X: Any, Z: Any, function: Callable[..., Any], *, args: Any = ()) -> Any:
        """Return the sum of ``function(rows, block, *args)`` over the row blocks of K(X, Z)."""
        return self.map_rows(kernel, X, Z, function, "add", args=args)

    def predict(self, kernel: Any, X: Any, Z: Any, coefficients: np.ndarray) -> Any:
        """Return K(X, Z) @ coefficients, row by row of X."""
        return self.map_rows(kernel, X, Z, derived.times, args=(coefficients,))

    def reads(self, samples: Any) -> bool:
        """Return whether samples are a collection that this engine alone reads, such as a dask array."""
        return False

    def collected(self, values: Any, samples: Handle | None, name: str) -> np.ndarray:
        """Return targets or weights of a collection as an array here; they lie in chunks as the samples do, if any."""
        raise NotImplementedError(f"{type(self).__name__} reads no collections")

    def lazily(self, estimator: Any, method: str, samples: Any) -> Any:
        """Return what a method of an estimator says of each row of a collection, as a collection."""
        raise NotImplementedError(f"{type(self).__name__} reads no collections")

    def each(self, function: Callable[..., Any], items: Any, *, args: Any = ()) -> Iterator[tuple[int, Any]]:
        """Yield (number, ``function(item, *args)``) of independent items, as they are done.

        Where an engine has several machines, each item is for one of them, which has an engine of its own.
        """
        for number, item in enumerate(items):
            yield number, function(item, *args)

    def fits(self, nbytes: int) -> bool:
        """Return whether so many bytes of a dense matrix may be held here, where it is factorised."""
        return nbytes <= memory_budget()

    def describe(self) -> dict[str, object]:
        """Return what `kernreg doctor` shows, in words."""
        return {}

    def close(self) -> None:
        """Give back what the engine holds; closing twice does nothing more."""
        self.closed = True

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
