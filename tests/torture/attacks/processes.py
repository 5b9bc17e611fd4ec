"""Threads, processes of every kind, clusters whose workers die, a long day's work: the same bits, and nothing leaks."""

from __future__ import annotations

import hashlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from torture.attack import Attack, Case, Outcome
from torture.solvers import METHODS, alike, make, problem, subjects

KERNELS = [
    *("rbf(sigma=2.0)", "laplacian(sigma=1.5)", "poly(degree=3)", "linear", "sne(sigma=2.0)", "tl1(rho=3.0)"),
    *("add('rbf', 'linear')", "symmetrize('sne(sigma=1.0)')", "transpose('sne(sigma=3.0)')", "centered('rbf')"),
]
SOLVERS = [
    "ls-svm(kernel='rbf(sigma=2.0)', gamma=1.0)",
    "ls-svm(kernel='rbf(sigma=2.0)', gamma='loo')",
    "ask-ls(kernel='sne(sigma=2.0)', gamma=1.0)",
    "ls-svm(kernel='laplacian(sigma=2.0)', gamma=1.0, strategy='lowrank', n_landmarks=15)",
    "ls-svm(kernel='rbf(sigma=2.0)', gamma=1.0, strategy='iterative', tol=1e-4)",
    "kpca(kernel='rbf(sigma=2.0)', n_components=2)",
    "ksvd(kernel='sne(sigma=2.0)', n_components=2)",
]


def samples(seed: int, n: int = 60) -> tuple[Any, Any]:
    """Two clouds."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + y[:, None], y


def digest(array: Any) -> str:
    import numpy as np

    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def work(job: list[Any]) -> str:
    """Do one job, and return the digest of its result."""
    import kernreg as kr

    kind, spec, seed = job
    X, y = samples(seed)
    if kind == "kernel":
        return digest(kr.make_kernel(spec)(X))
    solver = kr.make_solver(spec).fit(X, y)
    results = solver.decision_function(X) if hasattr(solver, "decision_function") else solver.transform(X)
    return digest(results)


def jobs(rng: Random, count: int) -> list[list[Any]]:
    chosen = []
    for _ in range(count):
        kind = rng.choice(("kernel", "solver"))
        chosen.append([kind, rng.choice(KERNELS if kind == "kernel" else SOLVERS), rng.randrange(5)])
    return chosen


# Threads --------------------------------------------------------------------------------------------------------


def thread_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {"jobs": jobs(rng, 24), "threads": rng.choice((2, 4, 8)), "fork": rng.random() < 0.5}


def run_threads(case: Case) -> Outcome:
    """The same jobs in threads at once, while children are forked, as one after the other."""
    from concurrent.futures import ThreadPoolExecutor

    import kernreg as kr

    if case["fork"]:  # a child that is forked while a thread imports waits for that import for ever: Python's locks
        for kind, spec, _ in case["jobs"]:
            (kr.make_kernel if kind == "kernel" else kr.make_solver)(spec)
    with ThreadPoolExecutor(case["threads"]) as pool:
        together = pool.map(work, case["jobs"])  # first: so that threads compile, too
        children = [forked(case["jobs"][-1]) for _ in range(2)] if case["fork"] else []
        found = list(together)
    alone = [work(job) for job in case["jobs"]]
    for job, one, other in zip(case["jobs"], found, alone, strict=True):
        if one != other:
            return f"other bits: {job} in a thread beside others"
    for process, reading in children:
        with os.fdopen(reading) as file:
            text = file.read()
        if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) or text != alone[-1]:
            return f"other bits: {case['jobs'][-1]} in a child forked beside threads: {text!r}"
    return len(case["jobs"])


def forked(job: list[Any]) -> tuple[int, int]:
    """Start a child that does a job; return its number, and where to read its answer."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        code = 1
        try:
            signal.alarm(300)  # one that hangs ends, and counts
            os.close(reading)
            os.write(writing, work(job).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    return process, reading


def shared_cases(rng: Random) -> Iterator[Case]:
    """Every solver that is installed, plugins' too, once before any comes again."""
    while True:
        order = list(subjects())
        rng.shuffle(order)
        for name, params in order:
            yield {"solver": name, "params": params, "seed": rng.randrange(100), "rounds": 4}


def run_shared(case: Case) -> Outcome:
    """One object refitted to A and B in turn, while other threads predict with it: answers of A or of B, no mixture."""
    import warnings

    warnings.simplefilter("ignore")
    (A, a), (B, b) = problem(case, 0, 60), problem(case, 1, 80)
    solver = make(case)
    fitted = [make(case).fit(*data) for data in ((A, a), (B, b))]
    accepted = {}
    for name in METHODS:
        with suppress(AttributeError, ValueError):  # what this solver, or such a fit, does not say
            accepted[name] = [given(one, name, A[:5]) for one in fitted]
    names = list(accepted)
    solver.fit(A, a)
    stop, seen = threading.Event(), []

    def ask() -> None:
        while not stop.is_set():
            for name in names:
                try:
                    found = given(solver, name, A[:5])
                    if not any(alike(found, one) for one in accepted[name]):
                        seen.append(f"{name}: {found}")
                except Exception as error:
                    seen.append(f"{name}: {type(error).__name__}: {error}")
            asked.append(len(names))

    asked: list[int] = []
    askers = [threading.Thread(target=ask) for _ in range(2)]
    for thread in askers:
        thread.start()
    try:
        for number in range(case["rounds"]):
            solver.fit(*((B, b), (A, a))[number % 2])
    finally:
        stop.set()
        for thread in askers:
            thread.join()
    return f"torn: {case['solver']}: {seen[0][:500]}" if seen else sum(asked)


def given(solver: Any, name: str, X: Any) -> dict[str, Any]:
    """Return what one method says, as arrays by name."""
    import numpy as np

    value = getattr(solver, name)(X)
    return {key: np.array(part) for key, part in (value if isinstance(value, dict) else {name: value}).items()}


# Processes ------------------------------------------------------------------------------------------------------


def start_cases(rng: Random) -> Iterator[Case]:
    while True:
        for method in ("fork", "forkserver", "spawn", "loky"):
            yield {"method": method, "jobs": jobs(rng, 6)}


def run_starts(case: Case) -> Outcome:
    alone = [work(job) for job in case["jobs"]]
    if case["method"] == "loky":
        from joblib import Parallel, delayed

        found = Parallel(n_jobs=2)(delayed(work)(job) for job in case["jobs"])
    else:
        import multiprocessing

        with multiprocessing.get_context(case["method"]).Pool(2) as pool:
            found = pool.map(work, case["jobs"])
    different = [job for job, one, other in zip(case["jobs"], found, alone, strict=True) if one != other]
    return f"other bits: {different[0]} by {case['method']}" if different else len(alone)


# Engines --------------------------------------------------------------------------------------------------------


@cache
def cluster() -> Any:
    """Two workers with nannies, which start them again."""
    import logging

    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    made = LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    )
    return made, Client(made, set_as_default=False)


def both_workers() -> Any:
    """The cluster and its client with both workers there, in a new cluster if need be.

    A nanny gives up on a worker that starts too slowly, as on a busy machine. That is not what is attacked.
    """
    made, client = cluster()
    try:
        client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        client.close()
        made.close()
        cluster.cache_clear()
        made, client = cluster()
        client.wait_for_workers(2, timeout=300)
    return made, client


@cache
def undisturbed(spec: str) -> Any:
    import kernreg as kr

    X, y = samples(6, 1500)
    made, _ = both_workers()
    with kr.make_engine("dask", address=made.scheduler_address) as engine, kr.config_context(engine=engine):
        return kr.make_solver(spec).fit(X, y).dual_coef_


def engine_cases(rng: Random) -> Iterator[Case]:
    specs = (SOLVERS[3], SOLVERS[4].replace("tol=1e-4", "tol=1e-2"))
    while True:
        yield {"solver": rng.choice(specs), "wait": rng.random(), "kills": rng.choice((1, 1, 1, 2))}


def run_engines(case: Case) -> Outcome:
    """Kill workers at random times of a fit; with nannies the fit ends, and to the same bits."""
    import numpy as np

    import kernreg as kr

    X, y = samples(6, 1500)
    start = time.monotonic()
    expected = undisturbed(case["solver"])
    made, client = both_workers()
    lasts = max(0.2, min(5.0, time.monotonic() - start))
    pids = sorted(client.run(os.getpid).values())
    stop = threading.Event()

    def kill() -> None:
        for pid in pids[: case["kills"]]:
            if stop.wait(case["wait"] * lasts / case["kills"]):
                return
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    with kr.make_engine("dask", address=made.scheduler_address) as engine, kr.config_context(engine=engine):
        killer.start()
        try:
            found = kr.make_solver(case["solver"]).fit(X, y).dual_coef_
        finally:
            stop.set()
            killer.join()
    return None if np.array_equal(found, expected) else f"other bits: {case['solver']} after a kill"


# A long day -----------------------------------------------------------------------------------------------------


def soak_cases(rng: Random) -> Iterator[Case]:
    while True:
        yield {"jobs": jobs(rng, 150), "seed": rng.randrange(2**31)}


def state() -> dict[str, float]:
    """What may not grow: resident memory, threads, open files, functions of the compile cache, compilations."""
    from kernreg.engine.compiler import cache as compiled

    text = Path("/proc/self/status").read_text()
    lines = dict(line.split(":", 1) for line in text.splitlines())
    return {
        "megabytes": int(lines["VmRSS"].split()[0]) / 1024,
        "threads": int(lines["Threads"]),
        "files": len(os.listdir("/proc/self/fd")),
        "functions": len(compiled._dispatchers),
        "compilations": compiled.statistics()["misses"],  # not the folder, which other processes fill, too
    }


@cache
def settled() -> dict[str, float]:
    """Do everything once, so that what is compiled and imported is there; then look."""
    for kernel in KERNELS:
        for seed in range(5):
            work(["kernel", kernel, seed])
    for solver in SOLVERS:
        work(["solver", solver, 0])
    for number in range(2):
        odd_jobs(Random(number))
    return state()


def odd_jobs(rng: Random) -> None:
    """Save, load, fail, clone, read a spec, change settings."""
    from sklearn.base import clone

    import kernreg as kr
    from kernreg.errors import KernregError

    X, y = samples(rng.randrange(5))
    solver = kr.make_solver(rng.choice(SOLVERS[:2])).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        kr.save(solver, Path(folder) / "m.kern")
        kr.load(Path(folder) / "m.kern").predict(X)
    clone(solver)
    for failing in ("rbf(", "nope", "rbf(sigma=-1)"):
        try:
            kr.make_kernel(failing)
        except KernregError:
            continue
    with kr.config_context(memory="200MB", threads=rng.choice((1, 2))):
        kr.make_kernel("rbf(sigma=2.0)")(X, X[:7])


def run_soak(case: Case) -> Outcome:
    import gc

    before = settled()
    rng = Random(case["seed"])
    for job in case["jobs"]:
        work(job)
        if rng.random() < 0.2:
            odd_jobs(rng)
    gc.collect()
    after = state()
    for name, room in (("megabytes", 60.0), ("threads", 2), ("files", 2), ("functions", 0), ("compilations", 0)):
        if after[name] > before[name] + room:
            return f"grows: {name} from {before[name]:.0f} to {after[name]:.0f}"
    return len(case["jobs"])


ATTACKS = [
    Attack(
        "threads",
        "kernels and solvers in 2 to 8 threads at once, children forked meanwhile: the same bits as alone",
        thread_cases,
        run_threads,
        full=60,
        ci=2,
        minutes=2,
        seconds=900,
        cpu=300,
        fresh=True,
    ),
    Attack(
        "threads-shared",
        "any solver, plugins' too, refitted while other threads ask it: answers of the old fit or of the new one",
        shared_cases,
        run_shared,
        full=70,
        ci=7,
        minutes=1,
        seconds=900,
        cpu=300,
        fresh=True,
    ),
    Attack(
        "processes",
        "the same work in processes started by fork, forkserver, spawn and loky: the same bits as here",
        start_cases,
        run_starts,
        full=40,
        ci=4,
        minutes=3,
        seconds=900,
        cpu=300,
        workers=1,
        fresh=True,
    ),
    Attack(
        "engines",
        "fits on a Dask cluster whose workers are killed at random times: they end, and to the same bits",
        engine_cases,
        run_engines,
        full=50,
        ci=1,
        minutes=4,
        seconds=1800,
        cpu=600,
        memory=16 << 30,
        workers=1,
        fresh=True,
    ),
    Attack(
        "soak",
        "half an hour of random work in one process: memory, threads, files and compiled functions stay as they are",
        soak_cases,
        run_soak,
        full=600,
        ci=1,
        minutes=30,
        lasts=30,
        seconds=1800,
        cpu=900,
        workers=1,
        fresh=True,
    ),
]
