"""The work on a worker: what it needs is looked at first, then it runs with the threads and memory of this worker."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any

import numpy as np
from distributed import get_worker

import kernreg
from kernreg.engine import ByRow, run_chunk
from kernreg.errors import EngineError
from kernreg_dask.compile_cache import take_own_cache
from kernreg_dask.parcel import Parcel

_MEMORY_SHARE = 0.4  # of a worker's limit, for what is computed; the rest is for samples and results
_KEPT = 4  # parcels whose content is kept: those of calls from several threads

_lock = threading.Lock()
_contents: OrderedDict[str, Any] = OrderedDict()


def run_part(key: str, parcel: Parcel, X: Any, Z: Any, more: tuple[Any, ...], where: tuple[int, int, int, int]) -> Any:
    """Return the combined result of some rows of a chunk.

    Parameters
    ----------
    key : str
        Of the parcel: its content is unpacked once.
    parcel : Parcel
        Task, arguments, how many threads, and the process that asks.
    X, Z : samples
        The chunk, and the second samples, all of them.
    more : tuple
        Arguments that came by themselves, by their place in a list of these: rows of an argument, or samples.
    where : tuple of int
        Rows of the chunk, from and to; the number of the first one among all rows; threads.
    """
    task, args = content_of(key, parcel)
    first, last, start, threads = where
    rows = slice(first, last)
    given = tuple(_argument(arg, more, rows) for arg in args)
    part = X if (first, last) == (0, X.shape[0]) else X[rows]
    with kernreg.config_context(**this_thread(threads)):
        return run_chunk(task, writable(part), writable(Z), given, start)


class Slot:
    """In the place of an argument that travels by itself: the number of it among these."""

    def __init__(self, number: int, by_row: bool):
        self.number, self.by_row = number, by_row


def _argument(arg: Any, more: tuple[Any, ...], rows: slice) -> Any:
    if not isinstance(arg, Slot):
        return arg
    value = more[arg.number]
    if not arg.by_row:
        return writable(value)
    return ByRow(writable(value[rows] if value.shape[0] != rows.stop - rows.start else value))


def content_of(key: str, parcel: Parcel) -> Any:
    """Return what is in a parcel, unpacked once for all tasks of a call; raise EngineError where it cannot be."""
    with _lock:
        if key in _contents:
            _contents.move_to_end(key)
            return _contents[key]
    check_requirements(parcel)
    take_own_cache(parcel.origin)
    try:
        content = parcel.content()
    except (ImportError, AttributeError) as error:
        raise EngineError(
            f"{this_worker()} cannot read what was sent to it: {error}. Install there what is installed here"
        ) from error
    with _lock:
        _contents[key] = content
        while len(_contents) > _KEPT:
            _contents.popitem(last=False)
    return content


def forget(key: str) -> None:
    """Give back what is kept of a parcel."""
    with _lock:
        _contents.pop(key, None)


def check_requirements(parcel: Parcel) -> None:
    """Raise EngineError, which names this worker, unless it has the kernels and versions that a parcel needs."""
    if parcel.version != kernreg.__version__:
        raise EngineError(
            f"{this_worker()} has kernreg {kernreg.__version__}, and the client has {parcel.version}; install the same "
            "version on both"
        )
    if not parcel.requirements:
        return
    entries = {(entry.name, entry.distribution): entry for entry in kernreg.available("kernel")}
    for needed in parcel.requirements:
        found = entries.get((needed.kernel, needed.distribution))
        if found is None:
            raise EngineError(
                f"{this_worker()} has no kernel {needed.kernel!r} of {needed.distribution}; install it there: pip "
                f"install {needed.distribution}=={needed.version}"
            )
        if found.version != needed.version:
            raise EngineError(
                f"{this_worker()} has the kernel {needed.kernel!r} of {needed.distribution} {found.version}, and the "
                f"client that of {needed.version}; install the same version on both"
            )


def this_worker() -> str:
    """Return the name of this worker, for messages."""
    try:
        worker = get_worker()
    except ValueError:
        return f"process {os.getpid()}"
    name = "" if str(worker.name) == worker.address else f" ({worker.name})"
    return f"the worker {worker.address}{name}"


def assemble(*chunks: Any) -> Any:
    """Return chunks of samples as one."""
    if len(chunks) == 1:
        return chunks[0]
    first = chunks[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(chunks, axis=0)
    parts = getattr(first, "parts", None)
    if parts is not None:  # what kernels of a combination see
        return type(first)(tuple(assemble(*each) for each in zip(*(chunk.parts for chunk in chunks), strict=True)))
    import scipy.sparse as sp

    return sp.csr_array(sp.vstack(chunks, format="csr"))


def writable(samples: Any) -> Any:
    """Return samples that compiled code takes as it takes those of one machine: what was received may be read-only."""
    if isinstance(samples, np.ndarray):
        return samples if samples.flags.writeable else samples.copy()
    parts = getattr(samples, "parts", None)
    if parts is not None:
        return type(samples)(tuple(map(writable, parts)))
    if hasattr(samples, "indptr") and not (samples.data.flags.writeable and samples.indices.flags.writeable):
        return samples.copy()
    return samples


def added(left: Any, right: Any) -> Any:
    """Return a sum of two branches of the tree."""
    return np.add(left, right)


def this_thread(threads: int = 1) -> dict[str, Any]:
    """Return the settings of a task: the engine of one machine, some threads of this worker, its share of memory."""
    return {"engine": "local", "threads": min(threads, _threads()), "memory": _memory(threads)}


def _threads() -> int:
    try:
        return max(1, int(get_worker().state.nthreads))
    except ValueError:
        return 1


def _memory(threads: int) -> int:
    """Return the bytes that one task may use: a share of the limit, by the threads that it takes of all."""
    try:
        limit = get_worker().memory_manager.memory_limit
    except ValueError:
        limit = None
    bytes_of_worker = limit or kernreg.get_config().memory_budget() / _MEMORY_SHARE
    return max(1, int(_MEMORY_SHARE * bytes_of_worker * min(1.0, threads / _threads())))
