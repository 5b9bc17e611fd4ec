"""What travels, and what does not: samples once, nothing large through the scheduler or inside a graph."""

from __future__ import annotations

import pickle
import weakref

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

import kernreg as kr
from kernreg.engine import UnitRows

rng = np.random.default_rng(4)
X = rng.normal(size=(6000, 5))
v = rng.normal(size=6000)


def watch_messages(dask_scheduler):
    """Count the bytes of tasks that reach the scheduler, and of data that clients send through it."""
    dask_scheduler.seen = {"graphs": 0, "data": 0, "tasks": 0}
    update, scatter = dask_scheduler.stream_handlers["update-graph"], dask_scheduler.handlers["scatter"]

    async def update_graph(*args, **kwargs):
        dask_scheduler.seen["graphs"] += sum(map(len, kwargs["expr_ser"].frames))
        dask_scheduler.seen["tasks"] += 1
        return await update(*args, **kwargs)

    async def scattered(*args, **kwargs):
        dask_scheduler.seen["data"] += 1
        return await scatter(*args, **kwargs)

    dask_scheduler.stream_handlers["update-graph"] = update_graph
    dask_scheduler.handlers["scatter"] = scattered


def seen(dask_scheduler):
    found = dict(dask_scheduler.seen)
    dask_scheduler.seen.update(graphs=0, data=0, tasks=0)
    return found


def test_nothing_large_goes_through_the_scheduler(engine):
    client = engine.client
    client.run_on_scheduler(watch_messages)
    with kr.config_context(engine=engine):
        operator = kr.make_kernel("rbf(sigma=3.0)").operator(X)
        operator @ v
        client.run_on_scheduler(seen)
        operator @ v
        found = client.run_on_scheduler(seen)
    chunks = len(engine.place(X).chunks)
    assert found["data"] == 0
    assert chunks <= found["tasks"] <= 2 * chunks  # a task for each chunk of rows, and sums
    assert 0 < found["graphs"] < 8000 * found["tasks"]  # no samples, no right-hand side: 48 kB alone
    with kr.config_context(engine=engine):
        kr.make_kernel("rbf(sigma=3.0)").operator(X, X[:100]).T @ v  # right-hand sides that are cut
        found = client.run_on_scheduler(seen)
    assert found["data"] == 0
    assert found["graphs"] < 8000 * found["tasks"]


class Counted(UnitRows):
    """Rows made when they are read; knows how many bytes of them were alive together."""

    def __init__(self, n, width):
        super().__init__([*range(0, n, 4096), n])
        self.shape, self.dtype, self.label = (n, width), np.dtype(float), "counted"
        self.alive = self.most = 0

    def read_unit(self, number):
        return np.full((self._starts[number + 1] - self._starts[number], self.shape[1]), float(number))

    def __getitem__(self, rows):
        found = super().__getitem__(rows)
        if isinstance(rows, slice) and len(found):
            self.alive += found.nbytes
            self.most = max(self.most, self.alive)
            weakref.finalize(found, self.forget, found.nbytes)
        return found

    def forget(self, size):
        self.alive -= size


def test_a_source_on_disk_is_read_as_it_is_sent(engine, monkeypatch):
    monkeypatch.setattr("kernreg_dask.samples._SENT_AT_ONCE", 1 << 20)
    source = Counted(40_000, 16)  # 5 MB in all
    handle = engine.place(source)
    assert len(handle.chunks) > 1
    assert handle[39_999:].tolist() == source[39_999:].tolist()
    assert source.most < 3 << 20


def test_chunks_of_a_collection_stay_where_they_are(engine):
    client = engine.client
    held = client.persist(da.from_array(X, chunks=(1000, 5)))
    with client.as_current():
        wait(held)
    before = client.who_has(held)
    with kr.config_context(engine=engine):
        handle = engine.place(held)
        assert handle.chunks == (1000,) * 6
        kr.make_solver("ls-svr(kernel='rbf(sigma=3.0)', strategy='lowrank', n_landmarks=40)").fit(held, v)
    for key, where in client.who_has(held).items():
        assert set(before[key]) <= set(where)
    where = client.who_has(handle.futures)
    assert [set(where[future.key]) for future in handle.futures] == [
        set(before[key]) for key in sorted(before, key=lambda key: key[1])
    ]


def test_lazy_predictions_of_a_large_model_hold_a_future_of_it(engine):
    wide = rng.normal(size=(1300, 110))
    model = kr.make_solver("ls-svr(kernel='rbf(sigma=9.0)', gamma=1.0)").fit(wide, wide[:, 0])  # 1.1 MB of samples
    with kr.config_context(engine=engine), engine.client.as_current():
        lazy = model.predict(da.from_array(wide[:50], chunks=(25, 110)))
        assert len(pickle.dumps(dict(lazy.__dask_graph__()))) < 200_000
        np.testing.assert_allclose(lazy.compute(), model.predict(wide[:50]), rtol=1e-9)


def test_the_same_bits_on_one_two_and_four_workers():
    spec = "ls-svm(kernel='rbf(sigma=3.0)', gamma=1.0, strategy='lowrank', n_landmarks=50)"
    labels = v > 0
    found = []
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
        kr.make_engine("dask", address=cluster.scheduler_address) as engine,
    ):
        for workers in (1, 2, 4):
            cluster.scale(workers)
            client.wait_for_workers(workers, timeout=120)
            with kr.config_context(engine=engine, threads=1):
                model = kr.make_solver(spec).fit(X, labels)
                found.append((model.dual_coef_, kr.make_kernel("rbf(sigma=3.0)").operator(X) @ v))
            assert len(set(engine.place(X).where)) == workers
    with kr.config_context(threads=1):
        found.append((kr.make_solver(spec).fit(X, labels).dual_coef_, found[0][1]))
    for coefficients, product in found[1:]:
        assert np.array_equal(coefficients, found[0][0])
        assert np.array_equal(product, found[0][1])
