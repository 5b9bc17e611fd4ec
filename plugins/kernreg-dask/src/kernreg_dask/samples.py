"""Chunks of samples in the memory of workers, and how they come back when a worker is gone."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future

from kernreg.engine import Handle, borders
from kernreg_dask.waiting import LostData, noticing_losses, results_of
from kernreg_dask.worker import assemble

LARGEST_CHUNK = 64 << 20  # bytes of samples that are cut here
_SENT_AT_ONCE = 4 * LARGEST_CHUNK  # bytes: more of them need not be in the memory of this process together
_REACHABLE = 5.0  # seconds in which a worker that is there answers


def scatter(client: Client, groups: Mapping[str, Mapping[str, Any]]) -> dict[str, Future]:
    """Send values by key straight to workers, those of each in one message; the scheduler only hears of the keys.

    Parameters
    ----------
    client : Client
    groups : mapping of str to mapping
        By address of the worker: key and value.
    """

    async def to_all() -> list[dict[str, Future]]:
        sent = (
            client.scatter(dict(values), workers=[worker], direct=True, timeout=_REACHABLE, asynchronous=True)
            for worker, values in groups.items()
            if values
        )
        return await asyncio.gather(*sent)

    try:
        return {key: future for found in client.sync(to_all) for key, future in found.items()}
    except OSError as error:  # no such worker any more, or not in time
        raise LostData from error


def new_key(what: str) -> str:
    """Return a key that nothing else has; Dask shows what stands before the last hyphen."""
    return f"kernreg-{what}-{uuid4().hex}"


def shares(chunks: Sequence[int], workers: Mapping[str, int]) -> list[str]:
    """Return the worker of each chunk: neighbours together, rows in proportion to threads.

    >>> shares([4, 4, 4, 1], {"a": 1, "b": 1})
    ['a', 'a', 'b', 'b']
    """
    total, threads = max(1, sum(chunks)), sum(workers.values())
    addresses = sorted(workers)
    ends = [total * part / threads for part in accumulate(workers[address] for address in addresses)]
    found, place = [], 0
    for start, size in zip(accumulate(chunks, initial=0), chunks, strict=False):
        while place < len(ends) - 1 and start + size / 2 >= ends[place]:
            place += 1
        found.append(addresses[place])
    return found


class Source(ABC):
    """Where chunks come from, now and again."""

    @abstractmethod
    def send(self, client: Client, numbers: Sequence[int], workers: Mapping[str, int]) -> list[Future]:
        """Bring some chunks to workers, and return their futures."""

    def rows(self, rows: Any) -> Any:
        """Return some rows where they are in this process anyway, else None."""
        return None


class HeldSource(Source):
    """Samples of this process, cut into chunks."""

    def __init__(self, samples: Any, chunks: tuple[int, ...]):
        self._samples, self._borders, self._chunks = samples, list(borders(chunks)), chunks

    def send(self, client: Client, numbers: Sequence[int], workers: Mapping[str, int]) -> list[Future]:
        """Scatter chunks over the workers, neighbours together; those of a source on disk are read as they are sent."""
        where = shares([max(1, self._borders[number][1] - self._borders[number][0]) for number in numbers], workers)
        row = max(1, self._samples.nbytes // max(1, self._samples.shape[0]))
        sent: list[Future] = []
        groups: dict[str, dict[str, Any]] = {}
        keys: list[str] = []
        waiting = 0
        for number, address in zip(numbers, where, strict=True):
            start, stop = self._borders[number]
            size = row * (stop - start)
            if waiting and waiting + size > _SENT_AT_ONCE:
                sent += _in_order(scatter(client, groups), keys)
                groups, keys, waiting = {}, [], 0
            keys.append(new_key("samples"))
            groups.setdefault(address, {})[keys[-1]] = self._samples[start:stop]
            waiting += size
        return sent + _in_order(scatter(client, groups), keys)

    def rows(self, rows: Any) -> Any:
        """Return some rows."""
        return self._samples[rows]


class DaskSamples(Handle):
    """Samples in chunks of rows, each in the memory of a worker.

    Parameters
    ----------
    client : Client
    source : Source
    chunks : tuple of int
        Rows of each chunk; none is empty, unless all are.
    width, dtype, ndim
        Of the samples.
    futures : list of Future
        Of the chunks.
    patience : float
        Seconds to wait for workers.
    """

    def __init__(
        self,
        client: Client,
        source: Source,
        chunks: tuple[int, ...],
        width: int,
        dtype: Any,
        ndim: int,
        futures: list[Future],
        patience: float,
    ):
        self.client, self.futures, self._source, self._patience = client, futures, source, patience
        self.chunks, self.shape, self.ndim = chunks, (sum(chunks), width), ndim
        self.dtype = np.dtype(dtype)
        self._lock = threading.Lock()
        self._whole: dict[str, Future] = {}
        self.where = self._find()

    def _find(self) -> list[str]:
        """Return the worker of each chunk; of one that is still to be computed, or gone, nothing."""
        known = [future for future in self.futures if future.status not in ("cancelled", "lost")]
        with noticing_losses():
            found = self.client.who_has(known) if known else {}
        return [next(iter(found.get(future.key) or ()), "") for future in self.futures]

    def mend(self, workers: Mapping[str, int]) -> None:
        """Bring back what has gone with a worker."""
        with self._lock:
            self._whole.clear()
            where = self._find()
            gone = [
                number
                for number, (future, address) in enumerate(zip(self.futures, where, strict=True))
                if address not in workers and (future.status != "pending" or isinstance(self._source, HeldSource))
            ]
            if gone:
                for number, future in zip(gone, self._source.send(self.client, gone, workers), strict=True):
                    self.futures[number] = future
                where = self._find()
            self.where = where

    def whole_at(self, address: str) -> Future:
        """Return all rows at a worker, which puts them together once and keeps them."""
        with self._lock:
            if address not in self._whole:
                if len(self.futures) == 1 and self.where[0] == address:
                    return self.futures[0]
                self._whole[address] = self.client.submit(
                    assemble,
                    *self.futures,
                    key=new_key("whole"),
                    workers=[address],
                    allow_other_workers=True,
                    pure=False,
                )
            return self._whole[address]

    def __getitem__(self, rows: Any) -> Any:
        here = self._source.rows(rows)
        return self._brought(rows) if here is None else here

    def _brought(self, rows: Any) -> Any:
        index = np.arange(self.shape[0])[rows]
        ends = np.cumsum(self.chunks)
        owner = np.searchsorted(ends, index, side="right")
        order = np.argsort(owner, kind="stable")
        numbers = np.unique(owner) if len(index) else np.zeros(1, dtype=np.intp)
        parts = []
        for number in numbers:
            local = index[owner == number] - (ends[number] - self.chunks[number])
            wanted: Any = local
            if len(local) and np.array_equal(local, np.arange(local[0], local[0] + len(local))):
                wanted = slice(int(local[0]), int(local[-1]) + 1)
            parts.append(self.client.submit(_taken, self.futures[number], wanted, key=new_key("rows"), pure=False))
        together = assemble(*results_of(self.client, parts, self._patience))
        if np.array_equal(order, np.arange(len(order))):
            return together
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return together[back]


def _in_order(futures: Mapping[str, Future], keys: Sequence[str]) -> list[Future]:
    return [futures[key] for key in keys]


def _taken(samples: Any, rows: Any) -> Any:
    return samples[rows]
