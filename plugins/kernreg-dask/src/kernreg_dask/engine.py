"""The engine `dask`: kernreg's contract on a Dask cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from distributed import Client, Future

from kernreg.engine import (
    Engine,
    Handle,
    HeldSamples,
    RowTask,
    advance,
    aligned_chunks,
    borders,
    combined,
    own_handle,
    streamed_rows,
)
from kernreg.errors import DataError, EngineError
from kernreg_dask.clients import ClusterSettings
from kernreg_dask.collections import collected, is_collection, placed_collection
from kernreg_dask.items import each_item
from kernreg_dask.lazy import lazy_rows
from kernreg_dask.samples import LARGEST_CHUNK, DaskSamples, HeldSource
from kernreg_dask.submission import Call, submit
from kernreg_dask.waiting import LostData, address_of, results_of, until_done, workers_of

_PIECES = 16  # chunks that samples of this process are cut into, at least, where they are large; for each thread 4
_ATTEMPTS = 8  # workers that may go, one after the other, in the course of one call


class DaskEngine(Engine):
    """Row blocks of kernel matrices on the workers of a Dask cluster.

    Without parameters it takes the current `distributed.Client`, and starts processes on this machine where there is
    none. Results have the same bits on any number of workers.

    Parameters
    ----------
    address : str, optional
        Of a scheduler, such as ``"tcp://127.0.0.1:8786"``.
    workers : int, optional
        Start a cluster of so many processes on this machine; by default one for each core.
    threads : int, optional
        Of each of these processes, 1 by default.
    memory_limit : str, optional
        Of each of these processes, such as ``"2GB"``; by default its share of the machine's memory.
    timeout : float
        Seconds to wait for a scheduler, and for a worker while there is none.

    Examples
    --------
    >>> import kernreg as kr
    >>> with kr.make_engine("dask(workers=1)") as engine, kr.config_context(engine=engine):
    ...     kr.make_kernel("linear")([[2.0]]).tolist()
    [[4.0]]
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        threads: int | None = None,
        memory_limit: str | None = None,
        timeout: float = 30.0,
    ):
        self._settings = ClusterSettings(address, workers, threads, memory_limit, timeout)
        self._lock = threading.RLock()
        self._client: Client | None = None
        self._own: list[Any] = []

    @property
    def client(self) -> Client:
        """The client of the cluster; connected, or the cluster started, when it is first asked for."""
        with self._lock:
            if self.closed:
                raise EngineError("this engine is closed; make another one, kernreg.make_engine('dask')")
            if self._client is not None and self._client.status in ("closed", "closing"):
                self._shut()  # a current client has gone: the next one, perhaps
            if self._client is None:
                self._client, self._own = self._settings.connect()
            return self._client

    @property
    def _patience(self) -> float:
        return self._settings.timeout

    # The contract -------------------------------------------------------------------------------------------

    def place(self, samples: Any, check: Callable[[Any], Any] | None = None) -> Handle:
        """Return a handle of samples in the memory of workers; chunks of a dask collection stay where they are."""
        if isinstance(samples, Handle):
            handle = own_handle(samples, DaskSamples, "dask")
            if handle.client is not self.client:  # type: ignore[attr-defined]  # of the class just looked at
                raise DataError("these samples were placed on another Dask cluster; give this engine the samples again")
            return handle
        client = self.client
        for _ in range(_ATTEMPTS):
            with suppress(LostData):
                workers = workers_of(client, self._patience)
                if is_collection(samples):
                    return placed_collection(client, samples, check, self._patience)
                held = HeldSamples(samples, check)
                pieces = max(_PIECES, 4 * sum(workers.values()), -(-held.nbytes // LARGEST_CHUNK))
                chunks = getattr(samples, "row_chunks", None) or aligned_chunks(held.shape[0], pieces)
                chunks = tuple(stop - start for start, stop in borders(chunks))
                source = HeldSource(held, chunks)
                futures = source.send(client, range(len(chunks)), workers)
                return DaskSamples(
                    client, source, chunks, held.shape[1], held.dtype, held.ndim, futures, self._patience
                )
        raise self._hopeless()

    def map_rows(
        self, kernel: Any, X: Any, Z: Any, function: Callable[..., Any], combine: str = "concatenate", *, args: Any = ()
    ) -> Any:
        """Return ``function(rows, block, *args)`` over the row blocks of K(X, Z), concatenated or added in a tree."""
        X, Z = self.place(X), None if Z is None else self.place(Z)
        other = X if Z is None else Z
        task = RowTask.of(kernel, function, combine, X.shape[0], other.shape[0], Z is None)
        return self._run(Call(task, X, other, tuple(args), 0, X.shape[0]))

    def matrix(self, kernel: Any, X: Any, Z: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return K(X, Z); with `out` block by block, so that nothing but that is held here."""
        if out is None:
            return super().matrix(kernel, X, Z)
        super().matrix(kernel, X[:0], X[:0], out[:0, :0])  # its type is looked at
        for rows, block in self.blocks(kernel, X, Z, None):
            out[rows] = block
        return out

    def blocks(self, kernel: Any, X: Any, Z: Any, block_rows: int | None) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, block) over K(X, Z), in order; the next one is evaluated while this one is looked at."""
        X, Z = self.place(X), None if Z is None else self.place(Z)
        other = X if Z is None else Z
        task = RowTask.of(kernel, _itself, "concatenate", X.shape[0], other.shape[0], Z is None)
        waiting: list[tuple[slice, Call]] = []
        try:
            for rows in streamed_rows(X.shape[0], other.shape[0], block_rows):
                call = Call(task, X, other, (), rows.start, rows.stop, rows.start)
                with suppress(LostData):
                    submit(self.client, call, workers_of(self.client, self._patience))
                waiting.append((rows, call))
                if len(waiting) > 1:
                    done, ready = waiting.pop(0)
                    yield done, self._run(ready)
            for done, ready in waiting:
                yield done, self._run(ready)
        finally:
            self._cancel([part for _, call in waiting for part in call.parts])

    # Collections --------------------------------------------------------------------------------------------

    def reads(self, samples: Any) -> bool:
        """Return whether samples are a dask array, data frame or series."""
        return is_collection(samples)

    def collected(self, values: Any, samples: Handle | None, name: str) -> np.ndarray:
        """Return a dask array or series as an array here; with `samples`, as many in each of their chunks."""
        placed = samples if isinstance(samples, DaskSamples) else None
        return collected(self.client, values, placed, name, self._patience)

    def lazily(self, estimator: Any, method: str, samples: Any) -> Any:
        """Return what a method of an estimator says of each row, as a lazy dask array (or a dict or list of these)."""
        return lazy_rows(self.client, estimator, method, samples)

    def each(self, function: Callable[..., Any], items: Any, *, args: Any = ()) -> Iterator[tuple[int, Any]]:
        """Yield (number, ``function(item, *args)``), each item on one worker, as they are done."""
        yield from each_item(self.client, function, list(items), tuple(args), self._patience)

    # What calls are made of ---------------------------------------------------------------------------------

    def _run(self, call: Call) -> Any:
        """Return the result of a call, some parts of which may be under way; once more where a worker has gone."""
        client = self.client
        started = bool(call.parts)
        for _ in range(_ATTEMPTS):
            futures: list[Future] = []
            told = _Told(call)
            try:
                if started:
                    futures, started = call.parts, False
                else:
                    futures = submit(client, call, workers_of(client, self._patience))
                until_done(client, call.parts, self._patience, told)
                return combined(results_of(client, futures, self._patience), call.task.combine)
            except LostData:
                self._cancel([*call.parts, *futures])
                self._mend(call)
            except BaseException:
                self._cancel([*call.parts, *futures])
                raise
            finally:
                call.parts = []
        raise self._hopeless()

    def _mend(self, call: Call) -> None:
        for _ in range(_ATTEMPTS):
            with suppress(LostData):
                workers = workers_of(self.client, self._patience)
                for samples in call.placed:
                    samples.mend(workers)
                return
        raise self._hopeless()

    def _cancel(self, futures: list[Future]) -> None:
        if futures and self._client is not None:
            with suppress(Exception):  # a cluster that is gone has nothing to cancel
                self._client.cancel(futures, force=True)

    def _hopeless(self) -> EngineError:
        return EngineError(
            f"workers of the cluster at {address_of(self.client)} keep dying: {_ATTEMPTS} attempts failed. "
            "Look at their logs; most often they need more memory"
        )

    def describe(self) -> dict[str, object]:
        """Return the scheduler, its workers, and how many threads they have."""
        client = self.client
        workers = workers_of(client, self._patience)
        return {"scheduler": address_of(client), "workers": len(workers), "worker threads": sum(workers.values())}

    def close(self) -> None:
        """Close the cluster and the client that this engine has made; a current client goes on."""
        with self._lock:
            self._shut()
        super().close()

    def _shut(self) -> None:
        own, self._own, self._client = self._own, [], None
        for each in own:
            each.close()


class _Told:
    """Tells who shows progress how many rows a finished part has, once for each."""

    def __init__(self, call: Call):
        self._call = call

    def __call__(self, future: Future) -> None:
        for part, rows in zip(self._call.parts, self._call.rows, strict=True):
            if part is future:
                advance(rows)


def _itself(rows: slice, block: np.ndarray) -> np.ndarray:
    return block
