"""Samples that are read some rows at a time: kernels see them as arrays, and never ask for all of them."""

from __future__ import annotations

import os
import pickle
import signal
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from process_engine import ProcessEngine

import kernreg as kr
from kernreg.engine import RowSource, is_row_source
from kernreg.engine.dispatch import LOCAL
from kernreg.engine.running.row_ranges import RowRanges
from kernreg.engine.sources.base import ArrayRows
from kernreg.engine.sources.units import ChunkedRows, UnitRows
from kernreg.engine.sources.views import MappedRows, SomeRows, as_row_source, windows
from kernreg.errors import DataError, MemoryBudgetError
from kernreg.kernels import centered, compose
from kernreg.kernels.builtin import chi2, laplacian, linear, rbf, sne

rng = np.random.default_rng(7)
X = rng.normal(size=(5000, 4))
Z = rng.normal(size=(60, 4))


class Counted(RowSource):
    """A table that remembers what was read of it."""

    def __init__(self, table):
        self.table, self.shape, self.dtype = table, table.shape, table.dtype
        self.sparse = sp.issparse(table)
        self.reads, self.lock = [], threading.Lock()

    def read(self, start, stop):
        with self.lock:
            self.reads.append((start, stop))
        return self.table[start:stop].copy()

    @property
    def largest(self):
        return max(stop - start for start, stop in self.reads)


KERNELS = [
    rbf(sigma=2.0),
    rbf(),
    rbf(sigma="median"),
    laplacian(),
    sne(sigma=2.0),
    sne(),
    sne(sigma=2.0).T,
    rbf() * linear() + 2.0 * laplacian(sigma=3.0),
    compose(linear(), np.tanh) + rbf(sigma=2.0),
    sne(sigma=2.0).bind(Z),
    centered(rbf(sigma=2.0)).bind(Z),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_of_a_source_are_those_of_the_array(kernel):
    source, V, U = Counted(X), rng.normal(size=(60, 2)), rng.normal(size=(5000, 2))
    K = kernel(X, Z)
    close = {"rtol": 1e-10, "atol": 1e-12 * np.abs(K).max()}
    np.testing.assert_allclose(kernel(source, Z), K, **close)
    np.testing.assert_allclose(np.vstack([block for _, block in kernel.blocks(source, Z)]), K, **close)
    np.testing.assert_allclose(kernel.product(source, Z, V), K @ V, rtol=1e-8, atol=1e-10 * np.abs(K).max())
    operator = kernel.operator(source, Z)
    np.testing.assert_allclose(operator.T @ U, K.T @ U, rtol=1e-7, atol=1e-8 * np.abs(K).max())
    np.testing.assert_allclose(kernel(Z, source), kernel(Z, X), **close)


@pytest.mark.parametrize("kernel", [rbf(), rbf(sigma="2*median"), laplacian(), rbf() * linear()], ids=repr)
def test_widths_are_those_of_the_array_and_never_hold_it(kernel):
    big = np.random.default_rng(0).normal(size=(400_000, 4))
    source, weights = Counted(big), np.random.default_rng(1).integers(1, 5, size=400_000).astype(float)
    with kr.config_context(memory=9_000_000):  # of 12.8 MB
        found = kernel.bind(source)
        weighted = kernel.resolve_widths(source, weights)
        assert source.largest <= 20_000
    for got, expected in ((found, kernel.bind(big)), (weighted, kernel.resolve_widths(big, weights))):
        for name, value in expected.get_params().items():
            if isinstance(value, float):
                assert got.get_params()[name] == pytest.approx(value, rel=1e-12)


def test_sparse_sources_have_the_scale_of_their_entries():
    S = sp.csr_array(X * (rng.random(X.shape) < 0.3))
    with kr.config_context(memory=60_000):
        assert rbf().bind(Counted(S)).sigma == pytest.approx(np.sqrt(4 * S.toarray().var()), rel=1e-12)
    np.testing.assert_allclose(rbf(sigma=2.0)(Counted(S), Z), rbf(sigma=2.0)(S.toarray(), Z), rtol=1e-10)


@pytest.mark.parametrize("kernel", [rbf(sigma=2.0), rbf(), sne(sigma=2.0), rbf(sigma=2.0) + linear()], ids=repr)
@pytest.mark.parametrize("left", ["other", "same"])
def test_blocks_are_within_the_budget_where_the_columns_are_not(kernel, left):
    columns = Counted(X[:1500])
    rows = Counted(X[100:400]) if left == "other" else columns
    first = X[100:400] if left == "other" else X[:1500]
    expected = kernel(first, X[:1500])
    with kr.config_context(memory=100_000):  # 48 kB of columns, 18 MB of values
        blocks = [(rows, block.copy()) for rows, block in kernel.blocks(rows, columns)]
        assert columns.largest <= 256
    assert len(blocks) > 10
    assert [rows.start for rows, _ in blocks] == [0, *(rows.stop for rows, _ in blocks[:-1])]
    np.testing.assert_allclose(np.vstack([block for _, block in blocks]), expected, rtol=1e-9, atol=1e-14)


def test_a_kernel_through_all_columns_is_refused_where_they_do_not_fit():
    with kr.config_context(memory=100_000), pytest.raises(MemoryBudgetError, match="'centered' is defined through all"):
        next(iter(centered(rbf(sigma=2.0)).blocks(Counted(X), Counted(X))))
    with kr.config_context(memory=100_000), pytest.raises(MemoryBudgetError, match="normalised over all of them"):
        sne(sigma=1.0).bind(Counted(X))


def test_rows_are_checked_once_and_errors_name_the_block():
    checks = []

    def check(rows):
        checks.append(rows.shape[0])
        return rows

    handle = LOCAL.place(Counted(X), check)
    for _ in range(3):
        LOCAL.map_rows(rbf(sigma=2.0), handle, Z, lambda rows, block: block[:, :1])
    assert sum(checks) == len(X)
    broken = X.copy()
    broken[4321, 2] = np.nan
    with pytest.raises(DataError, match=r"in the block of rows 4096 to 4999: .*NaN"):
        rbf(sigma=2.0).product(Counted(broken), Z, np.ones(60))
    with pytest.raises(DataError, match=r"rows 0 to .*negative"):
        chi2()(Counted(X), np.abs(Z))


def test_integers_and_half_precision_are_converted_as_arrays_are():
    whole = rng.integers(0, 9, size=(300, 4))
    assert rbf(sigma=2.0)(Counted(whole), Z).dtype == np.float64
    half = X[:300].astype(np.float16)
    assert rbf(sigma=2.0)(Counted(half), Z.astype(np.float32)).dtype == np.float32
    assert np.array_equal(rbf(sigma=2.0)(Counted(half), Z), rbf(sigma=2.0)(half, Z))


def test_another_engine_places_sources_and_gives_the_same_values():
    V = rng.normal(size=(60, 2))
    with ProcessEngine(workers=2) as engine, kr.config_context(engine=engine):
        found = rbf(sigma=2.0).product(Counted(X), Z, V)
        assert engine.placed > 0
    np.testing.assert_allclose(found, rbf(sigma=2.0)(X, Z) @ V, rtol=1e-10)


def test_what_counts_as_a_source(tmp_path):
    import pandas as pd

    class Sliced:
        shape, dtype = (3, 2), np.dtype(float)

        def __getitem__(self, rows):
            return np.eye(3)[rows, :2]

    class WithoutDtype:
        shape = (3, 2)

    np.save(tmp_path / "a.npy", X)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    for no in (X, X.tolist(), sp.csr_array(X), pd.DataFrame(X), WithoutDtype(), mapped, None, "a.npy"):
        assert not is_row_source(no)
    for yes in (Sliced(), Counted(X)):
        assert is_row_source(yes)
    with kr.config_context(memory=1000):
        assert is_row_source(mapped)  # too large to be taken for an array
    assert np.array_equal(as_row_source(mapped)[10:20], X[10:20])
    assert np.array_equal(kr.open_samples(Sliced())[:], np.eye(3)[:, :2])


def test_rows_can_be_taken_in_every_way():
    class Chunked(np.ndarray):
        chunks = (7, 4)

    for source in (ArrayRows(X), ChunkedRows(X.view(Chunked), "chunks"), SomeRows(ArrayRows(X), np.arange(5000))):
        index = rng.integers(0, 5000, size=300)
        assert np.array_equal(source[index], X[index])
        assert np.array_equal(source[5:3000:7], X[5:3000:7])
        assert np.array_equal(source[-3:], X[-3:])
        assert np.array_equal(source[X[:, 0] > 1], X[X[:, 0] > 1])
        assert np.array_equal(source[-1], X[-1])
        assert np.array_equal(source[index, ...], X[index])
        assert np.array_equal(source[2:9, :], X[2:9])
        assert source[3:3].shape == (0, 4)
        assert source[np.array([], dtype=int)].shape == (0, 4)
        assert np.array_equal(np.asarray(source), X)
        with pytest.raises(IndexError, match="5000 rows"):
            source[[5000]]
        with pytest.raises(IndexError, match="a slice, a number, or a vector"):
            source["a"]
        with pytest.raises(IndexError, match="a slice, a number, or a vector"):
            source[index, 0]
        with pytest.raises(IndexError, match="a slice, a number, or a vector"):
            source[index, index]
    with kr.config_context(memory=1000), pytest.raises(MemoryBudgetError, match="too large to be read into memory"):
        np.asarray(ArrayRows(X))


def test_some_rows_of_many_are_never_read_as_one():
    source, index = Counted(X), np.arange(0, 5000, 3)
    assert np.array_equal(source[index], X[index])
    assert source.largest <= 1024
    source.reads.clear()
    assert np.array_equal(source[[4, 2000, 4990]], X[[4, 2000, 4990]])
    assert source.reads == [(4, 5), (2000, 2001), (4990, 4991)]


def test_units_are_kept_within_bounds_and_travel_without_them():
    class Chunked:
        shape, dtype, chunks, reads = X.shape, X.dtype, (100, 4), 0

        def __getitem__(self, rows):
            Chunked.reads += 1
            return X[rows]

    source = ChunkedRows(Chunked(), "chunks")
    with kr.config_context(memory=16 * 4 * 100 * 8 * 4):  # four chunks
        for start in range(0, 5000, 10):
            assert np.array_equal(source[start : start + 10], X[start : start + 10])
        assert Chunked.reads == 50
        assert len(source._kept) <= 4


def test_mapped_rows_and_windows():
    mapped = MappedRows(ArrayRows(X), lambda rows: rows @ np.ones((4, 2)))
    assert mapped.shape == (5000, 2)
    assert np.allclose(mapped[4000:4100], X[4000:4100] @ np.ones((4, 2)))
    assert np.allclose(mapped[[3, 1]], X[[3, 1]] @ np.ones((4, 2)))
    with kr.config_context(memory=8 * 4 * 4096 * 32):
        assert [rows.start for rows in windows(ArrayRows(np.zeros((9000, 4))))] == [0, 4096, 8192]
    assert pickle.loads(pickle.dumps(ArrayRows(X)))[:3].tolist() == X[:3].tolist()


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=30))
def test_ranges_are_sets_of_rows(pairs):
    ranges, rows = RowRanges(), set()
    for start, length in pairs:
        assert ranges.covers(start, start + length) == (set(range(start, start + length)) <= rows)
        ranges.add(start, start + length)
        rows |= set(range(start, start + length))
    assert {row for start, stop in ranges.ranges for row in range(start, stop)} == rows
    assert all(stop < start for (_, stop), (start, _) in zip(ranges.ranges, ranges.ranges[1:], strict=False))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_reads_can_read():
    reading, forked = threading.Event(), threading.Event()

    class Slow(UnitRows):
        shape, dtype, label = (4, 1), np.dtype(float), "slow"

        def read_unit(self, number):
            reading.set()
            forked.wait()
            return np.full((2, 1), float(number))

    source = Slow([0, 2, 4])
    thread = threading.Thread(target=source.read, args=(0, 1))
    thread.start()
    reading.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        forked.set()
        os._exit(0 if source.read(1, 3).tolist() == [[0.0], [1.0]] else 3)
    forked.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
