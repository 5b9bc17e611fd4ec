"""Predictions and kernel matrices as lazy dask arrays: nothing is computed before someone asks, chunk by chunk.

What a chunk needs, a fitted model or a kernel with its second samples, travels once. A small one goes with the graph;
a large one straight to the workers, and the graph holds a future of it.
"""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client

import kernreg
from kernreg.kernels import Kernel
from kernreg_dask.collections import blocks_of, is_collection
from kernreg_dask.parcel import Parcel
from kernreg_dask.samples import new_key
from kernreg_dask.worker import content_of, this_thread

_IN_GRAPH = 1 << 20  # bytes up to which a parcel is a part of the graph


def lazy_rows(client: Client | None, estimator: Any, method: str, samples: Any) -> Any:
    """Return what a method says of each row: a dask array, or a dict or list of them as the method returns it."""
    key, parcel = _sent(client, (estimator, method))
    example = _example(estimator, method, samples)
    of_block, empty = dask.delayed(_of_block, pure=False), _empty(example)
    blocks = [of_block(key, parcel, block, empty) for block in blocks_of(samples)]
    lengths = _lengths(samples)
    if isinstance(example, dict):
        return {name: _array([block[name] for block in blocks], values, lengths) for name, values in example.items()}
    if isinstance(example, list):
        return [_array([block[i] for block in blocks], values, lengths) for i, values in enumerate(example)]
    return _array(blocks, example, lengths)


def gram(kernel: Any, X: Any, Z: Any = None) -> da.Array:
    """Return K(X, Z) as a lazy dask array with the chunks of rows of X: to be stored, ``gram(k, X).to_zarr(path)``.

    Parameters
    ----------
    kernel : Kernel or str
    X : dask array or data frame
    Z : array or CSR, optional
        Second samples, held by every worker. By default all rows of X, which are computed and brought here for that.

    Examples
    --------
    >>> import dask.array as da
    >>> X = da.from_array([[1.0], [2.0], [3.0]], chunks=(2, 1))
    >>> K = gram("linear", X)
    >>> K.chunks
    ((2, 1), (3,))
    >>> K.compute(scheduler="synchronous").tolist()
    [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]
    """
    made: Kernel = kernreg.make_kernel(kernel)
    second = _computed(X) if Z is None else Z
    bound = made.bind(second)
    with kernreg.config_context(engine="local"):
        example = bound(second[:1], second[:1]) if second.shape[0] else np.empty((1, 0))
    example = np.empty((1, second.shape[0]), example.dtype)
    key, parcel = _sent(_current(), (bound, second))
    rows_of = dask.delayed(_kernel_rows, pure=False)
    blocks = [rows_of(key, parcel, block) for block in blocks_of(X)]
    return _array(blocks, example, _lengths(X))


def _current() -> Client | None:
    from kernreg_dask.clients import current_client

    return current_client()


def _computed(X: Any) -> Any:
    found = X.compute() if is_collection(X) else X
    return found.to_numpy() if hasattr(found, "to_numpy") else found


def _sent(client: Client | None, content: Any) -> tuple[str, Any]:
    """Return the key of a parcel, and what stands for it in a graph: itself, or a future where it is large."""
    parcel, key = Parcel.of(content), new_key("model")
    if client is None or parcel.nbytes <= _IN_GRAPH:
        return key, dask.delayed(parcel, name=key, traverse=False)
    return key, client.scatter({key: parcel}, direct=True, broadcast=True)[key]


def _lengths(samples: Any) -> tuple[float, ...]:
    """Return the rows of each chunk; NaN where they are not known."""
    if hasattr(samples, "chunks"):
        return tuple(samples.chunks[0])
    return (float("nan"),) * samples.npartitions


def _example(estimator: Any, method: str, samples: Any) -> Any:
    """Return what the method says of one sample: of a training sample, of zeros, or of the first one of these."""
    refused: ValueError | None = None
    for row in _rows_to_try(estimator, samples):
        try:
            with kernreg.config_context(engine="local"):
                return getattr(estimator, method)(row)
        except ValueError as error:  # no sample for this kernel, or with other features
            refused = error
    assert refused is not None
    raise refused


def _rows_to_try(estimator: Any, samples: Any) -> Any:
    if hasattr(samples, "columns"):  # a data frame knows its names; its first row is read
        yield samples.head(1, npartitions=-1)
        return
    for name in ("X_fit_", "Z_fit_"):
        known: Any = getattr(estimator, name, None)
        if hasattr(known, "shape") and len(known.shape) == 2 and known.shape[1] == samples.shape[1]:
            yield known[:1]
    yield np.zeros((1, samples.shape[1]), dtype=samples.dtype)
    yield samples[:1].compute()


def _empty(example: Any) -> Any:
    if isinstance(example, dict):
        return {name: _empty(values) for name, values in example.items()}
    if isinstance(example, list):
        return [_empty(values) for values in example]
    return np.asarray(example)[:0]


def _array(blocks: list[Any], example: Any, lengths: tuple[float, ...]) -> da.Array:
    values = np.asarray(example)
    made = [
        da.from_delayed(block, (length, *values.shape[1:]), dtype=values.dtype, meta=values[:0])
        for block, length in zip(blocks, lengths, strict=True)
    ]
    return da.concatenate(made, axis=0, allow_unknown_chunksizes=True)


def _of_block(key: str, parcel: Parcel, block: Any, empty: Any) -> Any:
    if block.shape[0] == 0:
        return empty
    estimator, method = content_of(key, parcel)
    with kernreg.config_context(**this_thread(), progress=False):
        return getattr(estimator, method)(block)


def _kernel_rows(key: str, parcel: Parcel, block: Any) -> Any:
    kernel, second = content_of(key, parcel)
    rows = block.to_numpy() if hasattr(block, "to_numpy") else block
    with kernreg.config_context(**this_thread(), progress=False):
        return kernel(rows, second)
