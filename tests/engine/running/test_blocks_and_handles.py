"""Which rows are looked at together, chunks that are given, handles, and arguments cut along with the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernreg as kr
from kernreg.common.progress import row_progress
from kernreg.engine import ByRow, Handle, HeldSamples, RowTask, aligned_chunks, borders, cut, own_handle
from kernreg.engine.dispatch import LOCAL, configured_engine, placed, placed_once
from kernreg.engine.running.row_blocks import LARGEST, TALL, block_rows, blocks_of_chunk
from kernreg.errors import DataError
from kernreg.io import open_samples
from kernreg.kernels.builtin import rbf, sne

rng = np.random.default_rng(3)
X, Z = rng.normal(size=(1100, 3)), rng.normal(size=(60, 3))


def gram(rows, block, weights):
    return (block * weights[:, None]).T @ block


def numbers(rows, block):
    return np.arange(rows.start, rows.stop)


@given(st.integers(0, 10**8), st.integers(0, 10**7), st.sampled_from([LARGEST, TALL]))
def test_blocks_are_a_power_of_two_of_rows_and_at_most_64_mb(n, m, largest):
    rows = block_rows(n, m, largest)
    assert rows & (rows - 1) == 0
    assert 1 <= rows <= largest
    assert rows == 1 or 8 * rows * m <= 1 << 26


@given(st.integers(0, 100_000), st.integers(1, 40), st.integers(1, 100_000), st.sampled_from([LARGEST, TALL]))
def test_aligned_chunks_cut_rows_into_the_same_blocks(n, pieces, m, largest):
    size = block_rows(n, m, largest)
    cut_apart = [block for a, b in borders(aligned_chunks(n, pieces)) for block in blocks_of_chunk(a, b, size)]
    assert cut_apart == blocks_of_chunk(0, n, size)
    unit = aligned_chunks(n, pieces)[0]
    assert unit == n or unit % size == 0


@pytest.mark.parametrize("chunks", [(1100,), (256, 256, 256, 256, 76), (512, 512, 76), (1024, 76)])
def test_chunks_of_whole_blocks_change_no_bit(chunks):
    weights = ByRow(rng.normal(size=1100))
    k = rbf(sigma=2.0)
    expected = k.map_rows(X, Z, gram, "add", args=(weights,))
    given_chunks = HeldSamples(X, None, chunks)
    assert np.array_equal(k.map_rows(given_chunks, Z, gram, "add", args=(weights,)), expected)


@pytest.mark.parametrize("chunks", [(3, 0, 597, 500), (1, 1099), (550, 550)])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_follow_chunks_that_are_given(chunks, threads):
    weights = rng.normal(size=1100)
    k = sne(sigma=2.0)
    with kr.config_context(threads=threads):
        handle = HeldSamples(X, None, chunks)
        assert np.array_equal(k.map_rows(handle, Z, numbers), np.arange(1100))
        K = k(X, Z)
        total = k.map_rows(handle, Z, gram, "add", args=(ByRow(weights),))
    np.testing.assert_allclose(total, (K * weights[:, None]).T @ K, rtol=1e-10, atol=1e-13)
    with kr.config_context(threads=5):
        assert np.array_equal(k.map_rows(handle, Z, gram, "add", args=(ByRow(weights),)), total)


class Table:
    """Rows that are made when they are read: a stand-in for a file."""

    def __init__(self, n):
        self.shape, self.dtype, self.read = (n, 2), np.dtype(np.int32), []

    def __getitem__(self, rows):
        start, stop, _ = rows.indices(self.shape[0])
        self.read.append(stop - start)
        return np.arange(2 * start, 2 * stop, dtype=np.int32).reshape(-1, 2)


def test_row_sources_are_read_block_by_block_and_checked():
    table, k = Table(5000), rbf(sigma=900.0)
    handle = LOCAL.place(table, k.check_samples)
    assert (handle.shape, handle.dtype, handle.chunks) == ((5000, 2), np.float64, (5000,))
    table.read.clear()
    V = np.ones(7)
    landmarks = np.arange(14.0).reshape(7, 2)
    values = k.map_rows(handle, landmarks, lambda rows, block, V: block @ V, args=(V,))
    assert max(table.read) <= 1024  # never the whole
    np.testing.assert_allclose(values, k(np.arange(10_000.0).reshape(-1, 2), landmarks) @ V, rtol=1e-12)
    np.testing.assert_allclose(k.product(handle, landmarks, V), values, rtol=1e-12)


def test_kernels_take_handles():
    k = sne(sigma=2.0)
    x, z = HeldSamples(X), HeldSamples(Z)
    assert np.array_equal(k(x, z), k(X, Z))
    assert np.array_equal(k(x), k(X))
    V = np.ones((60, 2))
    np.testing.assert_allclose(k.operator(x, z) @ V, k(X, Z) @ V, rtol=1e-12)
    np.testing.assert_allclose(k.T.product(z, x, np.ones(1100)), k.T(Z, X) @ np.ones(1100), rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(x), k.diagonal(X), rtol=1e-12)
    np.testing.assert_allclose(k.row_normalizers(x, z), k.row_normalizers(X, Z), rtol=1e-12)
    np.testing.assert_allclose(np.vstack([b for _, b in k.blocks(x, z, block_rows=300)]), k(X, Z), rtol=1e-12)
    out = np.empty((1100, 60))
    assert k(x, z, out=out) is out
    assert np.array_equal(out, k(X, Z))


def test_chunks_that_do_not_add_up_are_refused():
    with pytest.raises(DataError, match="chunks of 1000 rows together, and the samples have 1100"):
        HeldSamples(X, None, (500, 500))


def test_handles_of_another_engine_are_refused():
    class Elsewhere(Handle):
        def __getitem__(self, rows): ...

    with pytest.raises(DataError, match=r"placed by another engine \(a Elsewhere\).*'local'"):
        LOCAL.place(Elsewhere())
    handle = HeldSamples(X)
    assert own_handle(handle, HeldSamples, "local") is handle


def test_arguments_by_row_are_cut_and_others_are_not():
    assert cut((ByRow(np.arange(5)), np.arange(5)), slice(2, 4))[0].values.tolist() == [2, 3]
    assert cut((ByRow(np.arange(5)), np.arange(5)), slice(2, 4))[1].tolist() == [0, 1, 2, 3, 4]


def test_samples_are_placed_once_inside_and_again_outside():
    with placed_once():
        first = placed(LOCAL, X)
        assert placed(LOCAL, X) is first
        assert placed(LOCAL, X[:]) is first  # another view of the same memory
        assert placed(LOCAL, X[:5]) is not first
        with placed_once():
            assert placed(LOCAL, X) is first
    assert placed(LOCAL, X) is not first


def test_the_engine_of_this_machine_costs_a_branch():
    assert configured_engine() is None
    with kr.config_context(engine=LOCAL):
        assert configured_engine() is None
    with kr.config_context(engine="kernreg:local()"):
        assert configured_engine() is None


def test_a_task_says_how_it_is_cut():
    task = RowTask.of(rbf(), gram, "add", 464_809, 2000, False)
    assert task.block_rows == 4096
    assert task.combine == "add"


def test_results_larger_than_their_block_come_from_taller_blocks():
    def spread(rows, block):
        return block

    spread.tall = True
    assert RowTask.of(rbf(), spread, "add", 464_809, 256, False).block_rows == 16_384


def test_passes_tell_how_far_they_are(monkeypatch):
    shown = []
    monkeypatch.setattr("kernreg.common.progress.progress", _fake_progress(shown))
    with row_progress("a pass", 1100), kr.config_context(threads=2):
        rbf(sigma=2.0).map_rows(X, Z, numbers)
    assert shown[-1] == 1100
    assert len(shown) == 5


def _fake_progress(shown):
    from contextlib import contextmanager

    @contextmanager
    def fake(label, total):
        yield shown.append

    return fake


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.sampled_from([4, 7]), st.integers(10**6, 10**9))
def test_a_budget_that_is_an_amount_holds_all_arrays_of_a_block(n, m, arrays, budget):
    with kr.config_context(memory=budget):
        rows = block_rows(n, m, LARGEST, arrays)
    assert rows & (rows - 1) == 0
    assert rows == 1 or 8 * arrays * rows * m <= budget
    assert rows <= block_rows(n, m)
    with kr.config_context(memory=0.5):  # a share of what is free now: bits must not depend on it
        assert block_rows(n, m, LARGEST, arrays) == block_rows(n, m)


def test_rows_are_mapped_in_blocks_that_fit_into_the_budget():
    many = rng.normal(size=(3000, 3))
    seen = []
    with kr.config_context(memory="6MB", threads=1):
        sums = rbf(sigma=2.0).map_rows(many, many, lambda rows, block: seen.append(block.nbytes) or block.sum(axis=1))
    assert max(seen) <= 6e6 / 4
    np.testing.assert_allclose(sums, rbf(sigma=2.0)(many).sum(axis=1), rtol=1e-12)


def test_rows_of_many_features_are_read_in_blocks_that_fit_into_the_budget(tmp_path):
    wide = rng.normal(size=(3000, 100))
    np.save(tmp_path / "X.npy", wide)
    seen = []
    with kr.config_context(memory="1MB", threads=1):
        sums = rbf(sigma=9.0).map_rows(
            open_samples(tmp_path / "X.npy"),
            wide[:3],
            lambda rows, block: seen.append(len(block)) or block.sum(axis=1),
        )
    assert max(seen) * 100 * 8 <= 1e6 / 4
    np.testing.assert_allclose(sums, rbf(sigma=9.0)(wide, wide[:3]).sum(axis=1), rtol=1e-12)
