"""Recycled result memory: never shared while somebody looks at it, given back when asked."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import kernreg as kr
from kernreg.engine import budget, memory
from kernreg.kernels.builtin import rbf

SHAPE = (900, 900)  # 6.5 MB, above the smallest size that is kept


@pytest.fixture(autouse=True)
def nothing_kept():
    gc.collect()
    memory.release()
    yield
    gc.collect()
    memory.release()


def test_arrays_are_aligned_writable_and_c_ordered():
    for shape, dtype in ((SHAPE, np.float64), ((1201, 1203), np.float32), ((3, 3), np.float64)):
        array = memory.empty(shape, dtype)
        assert (array.shape, array.dtype) == (shape, dtype)
        assert array.flags.c_contiguous
        assert array.flags.writeable
    assert memory.empty(SHAPE, np.float64).ctypes.data % memory.ALIGNMENT == 0


def test_the_memory_of_a_forgotten_result_is_used_again():
    first = memory.empty(SHAPE, np.float64)
    address = first.ctypes.data
    del first
    assert memory.kept_bytes() >= 900 * 900 * 8
    assert memory.empty(SHAPE, np.float64).ctypes.data == address


def test_results_alive_at_once_never_share_memory():
    X = np.random.default_rng(0).normal(size=(900, 3))
    results = [rbf(sigma=1.0 + i)(X) for i in range(4)]
    expected = [K.copy() for K in results]
    for _ in range(3):
        rbf(sigma=9.0)(X)  # taken and forgotten at once
    for i, K in enumerate(results):
        assert np.array_equal(K, expected[i])
        assert not any(np.shares_memory(K, other) for other in results[:i])


@pytest.mark.parametrize(
    "look", [lambda K: K[5:9, ::3], lambda K: K.T, lambda K: K.ravel(), lambda K: memoryview(K), lambda K: K.view("u8")]
)
def test_a_view_keeps_the_memory_alive(look):
    X = np.random.default_rng(0).normal(size=(900, 3))
    view = look(rbf()(X))
    before = np.array(view)
    gc.collect()
    assert memory.kept_bytes() < 900 * 900 * 8  # working memory, and not that of the result
    for _ in range(3):
        rbf(sigma=7.0)(X)
    assert np.array_equal(np.asarray(view), before)


def test_release_gives_everything_back():
    del_me = [memory.empty(SHAPE, np.float64) for _ in range(3)]
    assert memory.kept_bytes() == 0
    del del_me
    kept = memory.kept_bytes()
    assert kept >= 3 * 900 * 900 * 8
    assert memory.release() == kept
    assert memory.kept_bytes() == 0


def test_no_more_than_a_share_of_the_budget_is_kept():
    with kr.config_context(memory=100_000_000):  # a tenth of it: 10 MB, room for one
        arrays = [memory.empty(SHAPE, np.float64) for _ in range(3)]
        del arrays
        assert 0 < memory.kept_bytes() <= 10_000_000
    with kr.config_context(memory=1_000_000):
        array = memory.empty(SHAPE, np.float64)
        del array
        assert memory.kept_bytes() <= 10_000_000


def test_pieces_below_the_small_bound_are_kept_without_reading_the_available_memory(monkeypatch):
    monkeypatch.setattr(memory, "memory_budget", lambda: pytest.fail("read"))
    arrays = [memory.empty((500, 500), np.float64) for _ in range(40)]
    addresses = {array.ctypes.data for array in arrays}
    del arrays
    assert 0 < memory.kept_bytes() <= memory.SMALL_BOUND
    assert memory.empty((500, 500), np.float64).ctypes.data in addresses
    with kr.config_context(memory=30_000_000):  # a tenth of it: room for one
        arrays = [memory.empty((500, 500), np.float64) for _ in range(3)]
        del arrays
        assert 0 < memory.kept_bytes() <= 3_000_000


def test_the_working_memory_of_a_call_is_used_by_the_next():
    X = np.random.default_rng(0).normal(size=(300, 3))
    with kr.config_context(threads=1):  # each thread has working memory, and how many take part is a matter of luck
        K = rbf()(X)
        kept = memory.kept_bytes()
        assert kept > 0
        assert np.array_equal(rbf()(X), K)
        assert memory.kept_bytes() <= kept + 2 * K.nbytes


def test_small_results_are_ordinary_arrays():
    assert memory.empty((10, 10), np.float64).base is None


def test_threads_that_take_and_forget_never_see_each_others_values():
    wrong = []

    def work(value):
        for _ in range(40):
            array = memory.empty((750, 750), np.float64)
            array[...] = value
            if not (array == value).all():
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    "made",
    [np.array, lambda K: K.astype(np.float32), np.asfortranarray, lambda K: K],
    ids=["a copy", "float32", "by columns", "its own"],
)
def test_what_a_block_function_returns_is_neither_kept_nor_changed(made):
    calls = []
    X = np.random.default_rng(0).integers(0, 3, size=(300, 3)).astype(np.float64)
    own = X @ X.T
    own.flags.writeable = made(own) is not own

    def function(A, B):
        calls.append(made(own if len(A) == len(B) == 300 else A @ B.T))
        return calls[-1]

    K = kr.kernel(of="blocks", symmetric=True)(function)()(X)
    assert np.array_equal(K, own)
    assert len(calls) == 3  # each block once
    before = [block.copy() for block in calls]
    K[...] = -1.0
    assert all(np.array_equal(*pair) for pair in zip(before, calls, strict=True))


def test_what_is_available_is_not_read_for_every_matrix(monkeypatch):
    read = []
    monkeypatch.setattr(memory, "_read", None)
    monkeypatch.setattr(memory, "memory_budget", lambda: read.append(1) or 10**12)
    monkeypatch.setattr(budget, "memory_budget", lambda: read.append(2) or 10**12)
    with kr.config_context(memory=0.5):
        for _ in range(3):
            budget.check_fits((1000, 1000), np.dtype(np.float64), "rbf")
        assert read == [1]
        budget.check_fits((10**5, 10**6), np.dtype(np.float64), "rbf")  # close to the budget: read anew
        assert read[-1] == 2
