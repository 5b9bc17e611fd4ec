"""Workers that go, workers that lack something, interrupts: the right answer, or an error that says what is wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import dask.array as da
import kernreg_dask.engine
import numpy as np
import pytest
from distributed import Client, LocalCluster
from kernreg_dask import parcel

import kernreg as kr
from kernreg.errors import EngineError
from kernreg.testing.engines import slow

rng = np.random.default_rng(6)
X = rng.normal(size=(3000, 4))
y = rng.normal(size=3000) + X[:, 0] > 0
SPECS = [
    "ls-svm(kernel='rbf(sigma=3.0)', gamma=1.0, strategy='lowrank', n_landmarks=50)",
    "ls-svm(kernel='rbf(sigma=3.0)', gamma=1.0, strategy='iterative', tol=1e-3)",
]


class Killer:
    """Ends a worker right after the tasks of a call have been submitted: the n-th call of a fit."""

    def __init__(self, monkeypatch):
        self.calls, self.at, self.pids = 0, -1, []
        submit = kernreg_dask.engine.submit

        def submit_and_kill(client, call, workers):
            found = submit(client, call, workers)
            self.calls += 1
            if self.calls == self.at:
                os.kill(self.pids.pop(), signal.SIGKILL)
            return found

        monkeypatch.setattr(kernreg_dask.engine, "submit", submit_and_kill)

    def fit(self, spec, samples, targets, at=-1):
        self.calls, self.at = 0, at
        return kr.make_solver(spec).fit(samples, targets).dual_coef_


@pytest.fixture
def killer(monkeypatch):
    return Killer(monkeypatch)


def test_a_killed_worker_changes_nothing_with_a_nanny(killer):
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        kr.make_engine("dask", address=cluster.scheduler_address) as engine,
        kr.config_context(engine=engine),
    ):
        for samples, spec in ((X, SPECS[0]), (da.from_array(X, chunks=(700, 4)), SPECS[0]), (X, SPECS[1])):
            client.wait_for_workers(2, timeout=120)
            undisturbed = killer.fit(spec, samples, y)
            calls = killer.calls
            killer.pids = sorted(client.run(os.getpid).values())
            assert np.array_equal(killer.fit(spec, samples, y, at=(calls + 1) // 2), undisturbed)
            assert len(killer.pids) == 1


@pytest.fixture
def without_nannies():
    """Two workers that nobody starts again."""
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        command = [sys.executable, "-m", "dask", "worker", cluster.scheduler_address, "--no-nanny", "--no-dashboard"]
        workers = [subprocess.Popen([*command, "--nthreads", "1"], stderr=subprocess.DEVNULL) for _ in range(2)]
        try:
            with Client(cluster, set_as_default=False) as client:
                client.wait_for_workers(2, timeout=120)
                yield client
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def test_one_worker_left_goes_on_and_none_left_is_an_error(killer, without_nannies):
    client = without_nannies
    engine = kr.make_engine("dask", address=client.scheduler.address, timeout=2)
    with engine, kr.config_context(engine=engine):
        undisturbed = killer.fit(SPECS[0], X, y)
        killer.pids = sorted(client.run(os.getpid).values())
        assert np.array_equal(killer.fit(SPECS[0], X, y, at=2), undisturbed)
        assert len(client.nthreads()) == 1
        with pytest.raises(EngineError, match=r"no worker|workers of the cluster .* are gone"):
            killer.fit(SPECS[0], X, y, at=2)  # and does not wait for ever


def test_an_interrupt_cancels_what_is_under_way(engine):
    kernel = kr.make_kernel("rbf(sigma=2.0)")
    before = engine.map_rows(kernel, X, X[:5], slow, args=(0.0,))
    timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            engine.map_rows(kernel, X, X[:5], slow, args=(2.0,))
    finally:
        signal.signal(signal.SIGINT, handler)

    def left():
        return engine.client.run_on_scheduler(
            lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks if "slow" in str(key)]
        )

    until = time.monotonic() + 60.0
    while left() and time.monotonic() < until:  # the scheduler hears of it, and tells the workers
        time.sleep(0.1)
    assert left() == []
    assert np.array_equal(engine.map_rows(kernel, X, X[:5], slow, args=(0.0,)), before)


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        (("rbf", "kernreg", "0.0.1"), r"the worker tcp://127\.0\.0\.1:\d+.* has the kernel 'rbf' of kernreg .*0\.0\.1"),
        (("nowhere", "kernreg-nowhere", "1.0"), r"the worker tcp://.* has no kernel 'nowhere' of kernreg-nowhere"),
    ],
)
def test_a_worker_with_other_plugins_is_named(engine, monkeypatch, requirement, words):
    wanted = parcel.Requirement(*requirement)
    monkeypatch.setattr(parcel, "_requirement", lambda family: wanted)
    with pytest.raises(EngineError, match=words), kr.config_context(engine=engine):
        kr.make_kernel("rbf(sigma=2.0)")(X[:10])


def test_a_worker_with_another_kernreg_is_named(engine, monkeypatch):
    monkeypatch.setattr(kr, "__version__", "9.9")
    with pytest.raises(EngineError, match=r"the worker tcp://.* has kernreg .*the client has 9\.9"):
        engine.map_rows(kr.make_kernel("rbf(sigma=2.0)"), X[:10], None, slow, args=(0.0,))


def test_every_process_has_a_compile_cache_of_its_own(engine):
    with kr.config_context(engine=engine):
        kr.make_kernel("rbf(sigma=2.0)").operator(X) @ X  # on both workers
    folders = engine.client.run(lambda: str(kr.get_config().cache_directory()))
    assert len(set(folders.values())) == len(folders) == 2
    assert str(kr.get_config().cache_directory()) not in folders.values()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of this kind are those of POSIX")
def test_a_worker_takes_over_no_machine_code_that_it_may_not_read(tmp_path):
    """A copy would be this user's own, and be read."""
    program = f"""
import os, pathlib, sys
import kernreg as kr
from kernreg.engine.compiler import cache
from kernreg_dask.compile_cache import take_own_cache
os.umask(0)
kr.set_config(cache_dir={str(tmp_path)!r})
for name in ("own-1", "planted-1"):
    folder = cache.make_private(cache.directory() / name, below=kr.get_config().cache_directory())
    (folder / "a.code").write_bytes(b"")
    (folder / "a.code").chmod(0o600)
folder.chmod(0o777)
taken = take_own_cache(("elsewhere", 1))
assert taken == kr.get_config().cache_directory() != pathlib.Path({str(tmp_path)!r})
print(*(name for name, _ in cache.entries()), cache.describe()["cache problem"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["own-1", "None"], done.stderr


def test_threads_inside_a_worker_are_those_of_the_worker(engine):
    found = engine.map_rows(kr.make_kernel("rbf(sigma=2.0)"), X, X[:5], _threads)
    assert set(found.tolist()) == {1}


def _threads(rows, block):
    from kernreg.engine.threads import thread_count

    return np.full(len(block), thread_count())
