"""Dask arrays and data frames as chunks of samples that stay where they are, whatever is known of their lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import Delayed
from distributed import Client, Future

from kernreg.errors import DataError
from kernreg_dask.parcel import Parcel
from kernreg_dask.samples import DaskSamples, Source, new_key, scatter
from kernreg_dask.submission import SMALL
from kernreg_dask.waiting import results_of, workers_of
from kernreg_dask.worker import content_of


def is_collection(samples: Any) -> bool:
    """Whether samples are a dask array, data frame or series."""
    return is_dask_collection(samples) and hasattr(samples, "to_delayed") and hasattr(samples, "ndim")


def blocks_of(samples: Any) -> list[Delayed]:
    """Return the chunks of rows of a collection, unevaluated; features that are cut are put together first."""
    if hasattr(samples, "chunks"):  # an array
        if samples.ndim > 1 and len(samples.chunks[1]) > 1:
            samples = samples.rechunk({1: -1})
        return list(samples.to_delayed().ravel())
    return list(samples.to_delayed())


class CollectionSource(Source):
    """Chunks of a collection, checked where they are."""

    def __init__(self, blocks: list[Delayed], check: Callable[[Any], Any] | None):
        self._blocks, self._parcel = blocks, Parcel.of(check)

    def send(self, client: Client, numbers: Sequence[int], workers: Mapping[str, int]) -> list[Future]:
        """Let workers compute chunks, and check each where it has been computed."""
        raw = client.compute([self._blocks[number] for number in numbers])
        key = new_key("check")
        message: Any = self._parcel
        if self._parcel.nbytes > SMALL:
            message = scatter(client, {next(iter(workers)): {key: self._parcel}})[key]
        return [client.submit(_checked, key, message, block, key=new_key("samples"), pure=False) for block in raw]


def placed_collection(client: Client, samples: Any, check: Callable[[Any], Any] | None, patience: float) -> DaskSamples:
    """Return a handle of a collection whose chunks are checked; lengths become known."""
    if samples.ndim not in (1, 2):
        raise DataError(f"samples have {samples.ndim} dimensions; they are the rows of a table, or a vector of indices")
    source = CollectionSource(blocks_of(samples), check)
    workers = workers_of(client, patience)
    futures = source.send(client, range(len(source._blocks)), workers)
    described = [client.submit(_described, future, key=new_key("shape"), pure=False) for future in futures]
    shapes = results_of(client, described, patience)
    widths, types = {shape[1] for shape in shapes}, {shape[2] for shape in shapes}
    if len(widths) > 1:
        raise DataError(f"chunks have different numbers of features: {', '.join(map(str, sorted(widths)))}")
    if len(types) > 1:
        raise DataError(
            f"chunks have different types: {', '.join(sorted(types))}; convert them all, as X.astype(float) does"
        )
    kept = [number for number, shape in enumerate(shapes) if shape[0]] or [0]
    source._blocks = [source._blocks[number] for number in kept]
    return DaskSamples(
        client,
        source,
        tuple(shapes[number][0] for number in kept),
        shapes[0][1],
        shapes[0][2],
        shapes[0][3],
        [futures[number] for number in kept],
        patience,
    )


def _checked(key: str, parcel: Parcel, block: Any) -> Any:
    check = content_of(key, parcel)
    table = block.to_numpy() if hasattr(block, "to_numpy") else block
    if isinstance(table, np.ndarray) and not table.flags.writeable:
        table = table.copy()
    return table if check is None else check(table)


def _described(samples: Any) -> tuple[int, int, str, int]:
    width = samples.shape[1] if samples.ndim > 1 else 1
    return samples.shape[0], width, np.dtype(samples.dtype).str, samples.ndim


def collected(client: Client, values: Any, samples: DaskSamples | None, name: str, patience: float) -> np.ndarray:
    """Return a collection as an array here; it must have as many rows in each chunk as the samples have, if any."""
    workers = workers_of(client, patience)
    source = CollectionSource(blocks_of(values), None)
    parts = results_of(client, source.send(client, range(len(source._blocks)), workers), patience)
    lengths = tuple(part.shape[0] for part in parts if part.shape[0])
    if samples is not None and lengths != samples.chunks:
        raise DataError(
            f"the chunks of {name} have {_shown(lengths)} rows, and those of X {_shown(samples.chunks)}; they must lie "
            f"together: {name}.rechunk(X.chunks[0]) for arrays, the same partitions for data frames"
        )
    return np.concatenate(parts, axis=0)


def _shown(lengths: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lengths[:6]))}{' …' if len(lengths) > 6 else ''}"
