"""An engine that ships all it runs, pickled, to processes that share nothing: what a cluster does, on one machine.

It counts what travels, so that tests can tell what went through it.
"""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import Future, ProcessPoolExecutor

from kernreg.engine import (
    ByRow,
    Engine,
    Handle,
    HeldSamples,
    RowTask,
    aligned_chunks,
    borders,
    combined,
    cut,
    own_handle,
    run_chunk,
    whole,
)


class ShippedSamples(Handle):
    """Samples as pickled chunks. They stay here, as a stand-in for the memory of workers: tasks get the bytes."""

    def __init__(self, engine, held):
        self._held = held
        self.shape, self.dtype, self.ndim, self.chunks = held.shape, held.dtype, held.ndim, held.chunks
        self.parts = [pickle.dumps(held[a:b]) for a, b in borders(held.chunks)]
        self.all = pickle.dumps(held[:])

    def __getitem__(self, rows):
        return self._held[rows]


class ProcessEngine(Engine):
    """Chunks of rows on processes.

    Parameters
    ----------
    workers : int
    """

    def __init__(self, workers=2):
        self.workers = workers
        self.placed = self.calls = self.tasks = 0
        self.rows = 0  # of samples that were placed
        self.shipped = 0  # bytes of tasks, samples apart
        self._pool = None

    def place(self, samples, check=None):
        if isinstance(samples, Handle):
            return own_handle(samples, ShippedSamples, "process")
        self.placed, self.rows = self.placed + 1, self.rows + samples.shape[0]
        chunks = aligned_chunks(samples.shape[0], 2 * self.workers)
        return ShippedSamples(self, HeldSamples(samples, check, chunks))

    def map_rows(self, kernel, X, Z, function, combine="concatenate", *, args=()):
        X, Z = self.place(X), None if Z is None else self.place(Z)
        other = X if Z is None else Z
        task = RowTask.of(kernel, function, combine, X.shape[0], other.shape[0], Z is None)
        self.calls += 1
        args = tuple(arg if isinstance(arg, ByRow) else whole(arg) for arg in args)
        futures = []
        for part, (start, stop) in zip(X.parts, borders(X.chunks), strict=True):
            message = pickle.dumps((task, cut(args, slice(start, stop)), start))
            self.shipped += len(message)
            self.tasks += 1
            futures.append(self._workers().submit(run_message, message, part, other.all))
        try:
            return combined([future.result() for future in futures], combine)
        except BaseException:
            for future in futures:
                future.cancel()
            raise

    def warm(self) -> list[Future]:
        """Start the processes, so that they compile while others work."""
        return [self._workers().submit(int) for _ in range(self.workers)]

    def _workers(self):
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.workers, multiprocessing.get_context("spawn"))
        return self._pool

    def describe(self):
        return {"workers": self.workers}

    def close(self):
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        super().close()


def run_message(message: bytes, X: bytes, Z: bytes):
    """Do the work on a chunk, on a worker."""
    from kernreg import config_context

    task, args, start = pickle.loads(message)
    with config_context(threads=1):
        return run_chunk(task, pickle.loads(X), pickle.loads(Z), args, start)
