"""Row blocks within the memory budget, the engine primitive, and the error when a matrix does not fit."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kernreg as kr
from kernreg.common.sizes import readable
from kernreg.engine.products import mirrored_columns
from kernreg.errors import MemoryBudgetError, ParameterError
from kernreg.kernels import centered, symmetrize
from kernreg.kernels.builtin import laplacian, linear, rbf, sne

X = np.random.default_rng(0).normal(size=(700, 3))
Z = np.random.default_rng(1).normal(size=(300, 3))


def test_map_rows_concatenates_results_in_the_order_of_rows():
    nearest = laplacian().map_rows(X, Z, lambda rows, block: block.argmax(axis=1))
    assert np.array_equal(nearest, laplacian()(X, Z).argmax(axis=1))
    starts = laplacian().map_rows(X, None, lambda rows, block: np.arange(rows.start, rows.stop))
    assert np.array_equal(starts, np.arange(700))


def test_map_rows_adds_results():
    k = rbf(sigma=2.0)
    K = k(X, Z)
    added = k.map_rows(X, Z, lambda rows, block: block.T @ block, combine="add")
    np.testing.assert_allclose(added, K.T @ K, rtol=1e-12)
    assert k.map_rows(X, Z, lambda rows, block: float(block.sum()), combine="add") == pytest.approx(K.sum(), rel=1e-12)


@pytest.mark.parametrize("budget", ["4MB", "2GB", 0.01, 0.5])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_map_rows_gives_the_same_bits_for_any_budget_that_holds_a_block_and_number_of_threads(budget, threads):
    k = rbf(sigma=2.0)
    expected = k.map_rows(X, Z, lambda rows, block: block.T @ block, combine="add")
    with kr.config_context(memory=budget, threads=threads):
        added = k.map_rows(X, Z, lambda rows, block: block.T @ block, combine="add")
    assert np.array_equal(added, expected)


@pytest.mark.parametrize("budget", [10_000, 300 * 8 * 4 * 100])
def test_map_rows_gives_the_same_bits_for_a_smaller_budget_and_any_number_of_threads(budget):
    k, added = rbf(sigma=2.0), []
    for threads in (1, 2, 5):
        with kr.config_context(memory=budget, threads=threads):
            added.append(k.map_rows(X, Z, lambda rows, block: block.T @ block, combine="add"))
    assert all(np.array_equal(each, added[0]) for each in added)
    np.testing.assert_allclose(added[0], k(X, Z).T @ k(X, Z), rtol=1e-12)


def test_map_rows_does_not_change_what_the_function_returned():
    kept = []

    def remember(rows, block):
        kept.append(np.ones(2))
        return kept[-1]

    total = rbf().map_rows(X, Z, remember, combine="add")
    assert len(kept) == 3  # 256 rows each
    assert total.tolist() == [3.0, 3.0]
    assert all(part.tolist() == [1.0, 1.0] for part in kept)


def test_errors_of_the_mapped_function_reach_the_caller():
    def fails(rows, block):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        rbf().map_rows(X, Z, fails)
    assert rbf().map_rows(X, Z, lambda rows, block: block[:, 0]).shape == (700,)


def test_unknown_ways_to_combine_and_empty_blocks_are_refused():
    with pytest.raises(ParameterError, match="'concatenate', 'add'"):
        rbf().map_rows(X, Z, lambda rows, block: block, combine="multiply")
    for wrong in (0, -1, 2.5, "all"):
        with pytest.raises(ParameterError, match="at least one row"):
            list(rbf().blocks(X, block_rows=wrong))


@pytest.mark.parametrize(
    "k",
    [
        rbf(),
        sne(),
        sne().T,
        rbf() + linear(),
        symmetrize(sne()),
        symmetrize(sne(), "left"),
        symmetrize(sne(), "right"),
        centered(rbf()),
    ],
)
def test_blocks_stay_within_the_budget_and_cover_the_matrix(k):
    expected = k(X, Z)
    budget = 200_000
    with kr.config_context(memory=budget):
        blocks = list(k.blocks(X, Z))
    assert len(blocks) > 1
    assert all(block.nbytes <= budget for _, block in blocks)
    assert blocks[0][0].start == 0
    assert [rows.start for rows, _ in blocks[1:]] == [rows.stop for rows, _ in blocks[:-1]]
    np.testing.assert_allclose(np.vstack([block for _, block in blocks]), expected, rtol=1e-12, atol=1e-15)


def test_blocks_are_arrays_of_their_own():
    first, second = (block for _, block in rbf().blocks(X, Z, block_rows=350))
    assert not np.shares_memory(first, second)


@pytest.mark.parametrize("k", [rbf(), sne(), rbf() + linear(), 2.0 * rbf()])
def test_a_matrix_beyond_the_budget_is_an_error_that_says_what_to_do(k):
    with kr.config_context(memory=1_000_000), pytest.raises(MemoryBudgetError) as caught:
        k(X)
    message = str(caught.value)
    assert "700 × 700 float64" in message
    assert "3.9 MB" in message  # what it needs
    assert "1.0 MB" in message  # the budget
    for alternative in (
        "k.blocks(X, Z)",
        "k.operator(X, Z)",
        "float32",
        "iterative",
        "lowrank",
        "config_context(memory=",
    ):
        assert alternative in message
    assert isinstance(caught.value, MemoryError)


def test_the_alternatives_named_do_fit():
    with kr.config_context(memory=1_000_000):
        assert (rbf().operator(X) @ np.ones(700)).shape == (700,)
        assert sum(len(block) for _, block in rbf().blocks(X)) == 700
    with kr.config_context(memory=2_000_000):
        assert rbf()(X.astype(np.float32)).shape == (700, 700)
    out = np.empty((700, 700))
    with kr.config_context(memory=1_000_000):
        assert rbf()(X, out=out) is out  # the caller's own memory


def test_sizes_are_readable():
    assert [readable(s) for s in (12, 3_400, 5_600_000, 7.8e9, 9e12)] == [
        "12 bytes",
        "3.4 kB",
        "5.6 MB",
        "7.8 GB",
        "9.0 TB",
    ]


def test_partial_results_of_symmetric_products_keep_to_the_memory_budget():
    X = np.random.default_rng(0).normal(size=(700, 3))
    kernel, V = kr.make_kernel("rbf(sigma=2.0)"), np.random.default_rng(1).normal(size=(700, 90))
    for budget, bytes_of_them in ((10**9, 1 << 26), (10**8, 25 * 10**6), (10**7, 1 << 22), (1, 1 << 22)):
        with kr.config_context(memory=budget):
            assert mirrored_columns(700) == bytes_of_them // (8 * 16 * 700)
    with kr.config_context(memory=10**9):
        expected = kernel.operator(X) @ V
    with kr.config_context(memory=10**6):
        operator = kernel.operator(X)
        operator @ V[:, :1]
        tracemalloc.start()
        try:
            found = operator @ V
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert most < 6 * V.nbytes  # the partial results of 16 groups would be as much as 16 of them
    np.testing.assert_allclose(found, expected, rtol=1e-12)
