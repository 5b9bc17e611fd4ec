"""What the benchmarks measure with, and what they measure against."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import kernreg
from kernreg import kernel
from kernreg.jit import exp

TINY = os.environ.get("KERNREG_BENCH_TINY", "0") not in ("", "0")
LONG_ENOUGH = float(os.environ.get("KERNREG_BENCH_SECONDS", "4"))
PAUSE = 0.0 if TINY else 0.2  # seconds
NODES = {"cora": 2708, "citeseer": 3312, "pubmed": 19717}
ROUNDS = 1 if TINY else int(os.environ.get("KERNREG_BENCH_ROUNDS", "5"))


class InFolder:
    """A benchmark with a folder of its own, `place`, from its setup to its teardown."""

    def setup(self, *parameters: Any) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.place = Path(self._folder.name)

    def teardown(self, *parameters: Any) -> None:
        self._folder.cleanup()


def size(n: int) -> int:
    """The number of samples asked for, or a few hundred in tiny mode."""
    return min(n, 300) if TINY else n


def sizes(*numbers: int) -> list[int]:
    """The numbers of samples of a series, each once."""
    return sorted({size(n) for n in numbers})


@contextmanager
def threads(count: int) -> Iterator[None]:
    """That many threads for kernreg, and for the BLAS and OpenMP of the peers."""
    from threadpoolctl import threadpool_limits

    with kernreg.config_context(threads=count), threadpool_limits(limits=count):
        yield


def best_times(calls: Sequence[Callable[[], Any]], rounds: int = ROUNDS) -> list[float]:
    """Best seconds of each call. The calls take turns, so that all see the same weather; results are dropped.

    A call that has taken `LONG_ENOUGH` seconds in all is not repeated: what lasts that long is hardly disturbed. Before
    each there is a pause, in which the threads of the call before fall asleep: those of OpenBLAS wait awake.
    """
    best, spent = [float("inf")] * len(calls), [0.0] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            if spent[number] > LONG_ENOUGH:
                continue
            time.sleep(PAUSE)
            start = time.perf_counter()
            result = call()
            seconds = time.perf_counter() - start
            del result
            best[number], spent[number] = min(best[number], seconds), spent[number] + seconds
    return best


def times_as_long(call: Callable[[], Any], other: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """How many times as long the first of two calls takes, both on two threads."""
    with threads(2):
        first, second = best_times([call, other], rounds)
    return first / second


def fresh_process(script: str, *arguments: str, **environment: str) -> dict[str, Any]:
    """What a script prints as JSON in a process of its own."""
    command, settings = [sys.executable, "-c", script, *arguments], {**os.environ, **environment}
    return json.loads(subprocess.run(command, env=settings, capture_output=True, check=True, text=True).stdout)


def extra_peak_bytes(call: Callable[[], Any]) -> int:
    """How far the resident memory of this process rises above its present level during a call (Linux).

    What the allocator of the C library keeps of earlier calls is given back first: it would not count otherwise.
    """
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    except OSError as cause:
        raise NotImplementedError("the peak of resident memory cannot be reset here") from cause
    before = _memory_line("VmRSS")
    call()
    return max(0, _memory_line("VmHWM") - before)


def _memory_line(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return 1024 * int(line.split()[1])
    raise NotImplementedError(f"no {key} in /proc/self/status")


def write_all(target: np.ndarray, count: int) -> None:
    """Write every byte of an array with that many threads, by the C library's memset: nothing writes faster."""
    step = -(-target.nbytes // count)
    address = target.ctypes.data
    pieces = [(address + start, min(step, target.nbytes - start)) for start in range(0, target.nbytes, step)]
    workers = [threading.Thread(target=ctypes.memset, args=(place, 0, length)) for place, length in pieces[1:]]
    for worker in workers:
        worker.start()
    ctypes.memset(pieces[0][0], 0, pieces[0][1])
    for worker in workers:
        worker.join()


def samples(n: int, d: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    """Gaussian samples."""
    return np.random.default_rng([seed, n, d]).standard_normal((n, d)).astype(dtype)


def kernel_and_samples(name: str, n: int, d: int, dtype: str = "float64") -> tuple[Any, np.ndarray]:
    """A kernel with parameters that suit d features, and n samples it accepts."""
    X = samples(n, d, dtype=dtype)
    if name in ("chi2", "intersection", "kl"):
        X = np.abs(X) + X.dtype.type(1e-3)
        X /= X.sum(axis=1, keepdims=True)
        return kernreg.make_kernel(name), X
    if name in ("rbf", "sne", "t", "cauchy", "matern", "rational-quadratic"):
        return kernreg.make_kernel(name, sigma=float(np.sqrt(2 * d))), X
    if name == "laplacian":
        return kernreg.make_kernel(name, sigma=float(d)), X
    if name == "tl1":
        return kernreg.make_kernel(name, rho=0.7 * d), X
    if name == "tanh":
        return kernreg.make_kernel(name, c=1.0 / d), X
    return kernreg.make_kernel(name), X / X.dtype.type(np.sqrt(d))


@kernel(of="rows", symmetric=True, definite=None)
def chebyshev(x, z, sigma=1.0):
    """exp(-max_d |x_d - z_d| / sigma): what a third party might write."""
    largest = 0.0
    for d in range(len(x)):
        largest = max(largest, abs(x[d] - z[d]))
    return exp(-largest / sigma)


def chebyshev_with_numpy(x: np.ndarray, z: np.ndarray) -> float:
    """The same as the Python callable that scikit-learn's documentation suggests."""
    return np.exp(-np.abs(x - z).max())


def needs_data() -> None:
    """Skip a benchmark that is named after a data set where that is not at hand."""
    if not TINY and not os.environ.get("KERNREG_DATA"):
        raise NotImplementedError("the data are in the folder that KERNREG_DATA names")


def citation_graph(name: str = "pubmed") -> sp.csr_array:
    """A citation graph, or a random one of its size where KERNREG_DATA does not name a folder with it."""
    place = Path(os.environ.get("KERNREG_DATA", "")) / f"{name}.npz"
    if os.environ.get("KERNREG_DATA") and place.exists() and not TINY:
        with np.load(place) as data:
            n, edges = int(data["n_nodes"]), data["edges"]
    else:
        rng = np.random.default_rng(0)
        n = size(NODES[name])
        popularity = 1.0 / np.arange(1, n + 1) ** 0.7
        cited = rng.choice(n, size=2 * n + n // 4, p=popularity / popularity.sum())
        edges = np.column_stack([rng.integers(n, size=len(cited)), cited])
    graph = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    graph.data[:] = 1.0
    return graph
