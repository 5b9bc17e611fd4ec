"""Sample sets: when two are the same, which rows they share, and how lists of arrays are packed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.errors import DataError
from kernreg.kernels import Ragged
from kernreg.kernels.samples import SampleParts, identical_pairs, overlaps, row_start, same_samples
from kernreg.kernels.widths import _deviation, _put_together, _spread, resolved

A = np.arange(6.0).reshape(3, 2)
SERIES = Ragged("ragged", "time series")


def forms(table):
    """Samples of every kind that hold the numbers of a table."""
    return [
        table,
        sp.csr_array(table),
        SampleParts((table, table)),
        SERIES.samples([row[:, None] for row in table]),
    ]


def test_sets_are_the_same_where_every_number_and_the_kind_are():
    same, other = forms(A), forms(A.copy())
    changed = forms(A + np.eye(3, 2))
    for i in range(4):
        assert same_samples(same[i], same[i])
        for j in range(4):
            assert same_samples(same[i], other[j]) == (i == j)
        assert not same_samples(same[i], changed[i])
    assert not same_samples(A, A[:2])
    assert not same_samples(A, A.astype(np.float32))
    assert not same_samples(SampleParts((A,)), SampleParts((A, A)))
    assert not same_samples(SampleParts((A, A)), SampleParts((A, A + 1.0)))
    stored_zero = sp.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert not same_samples(stored_zero, sp.csr_array([[1.0, 2.0]]))


def test_parts_have_common_rows_and_the_wider_type():
    parts = SampleParts((A, A[:, :1].astype(np.float32)))
    assert (parts.shape, parts.dtype, parts.ndim) == ((3, -1), np.float64, 2)
    some = parts[1:]
    assert (some.shape, some.dtype) == ((2, -1), np.float64)
    assert some.parts[1].tolist() == [[2.0], [4.0]]
    single = A.astype(np.float32)
    assert SampleParts((single, single)).dtype == SampleParts((single, single))[:1].dtype == np.float32


@pytest.mark.parametrize(
    ("rows", "given", "start"),
    [(2, None, None), (2, -1, None), (2, 0, 0), (3, 0, 0), (4, 0, None), (2, 1, 1), (4, 1, 1)],
)
def test_where_rows_start(rows, given, start):
    assert row_start(np.zeros((rows, 1)), np.zeros((3, 1)), given) == start


def test_memory_that_samples_live_in_is_known():
    for of in (A, SampleParts((np.zeros((3, 1)), A))):
        assert overlaps(A[:1], of)
        assert not overlaps(np.zeros((3, 2)), of)
    sparse = sp.csr_array(A)
    assert overlaps(sparse.data[:1], sparse)
    assert not overlaps(A, sparse)
    packed = SERIES.samples([A])
    assert overlaps(packed.values[:1], packed)
    assert not overlaps(np.zeros((3, 2)), packed)


X = np.array([[1.0, 0.0], [2.0, -0.0], [1.0, 0.0], [5.0, 5.0]])
Z = np.array([[2.0, 0.0], [7.0, 7.0], [1.0, 0.0], [1.0, 0.0]])
SHARED = [(0, 2), (0, 3), (1, 0), (2, 2), (2, 3)]


@pytest.mark.parametrize("kind", range(4))
def test_rows_that_are_equal_are_found_in_both_sets(kind):
    rows, columns = identical_pairs(forms(X)[kind], forms(Z)[kind])
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == SHARED
    assert rows.dtype == columns.dtype == np.intp
    none = identical_pairs(forms(X + 10.0)[kind], forms(Z)[kind])
    assert [len(part) for part in none] == [0, 0]


def test_parts_are_equal_where_all_are():
    rows, columns = identical_pairs(SampleParts((X, np.arange(4.0)[:, None])), SampleParts((Z, np.ones((4, 1)))))
    assert (rows.tolist(), columns.tolist()) == ([1], [0])


def test_stored_zeros_and_other_types_make_no_difference():
    stored = sp.csr_array((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert [part.tolist() for part in identical_pairs(stored, sp.csr_array([[1.0, 0.0]]))] == [[0], [0]]
    assert stored.nnz == 2  # the caller's own is left alone
    single = X.astype(np.float32)
    assert len(identical_pairs(single, Z)[0]) == len(identical_pairs(sp.csr_array(single), sp.csr_array(Z))[0]) == 5


# Structured samples ------------------------------------------------------------------------------------------------


def test_series_are_packed_one_after_the_other():
    packed = SERIES.samples([[1, 2, 3], np.array([[4.0]]), [5.0, 6.0]])
    assert packed.values.ravel().tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert packed.values.dtype == np.float64
    assert packed.offsets.tolist() == [0, 3, 4, 6]
    assert packed.lengths.tolist() == [3, 1, 2]
    assert SERIES.samples(packed) is packed
    assert SERIES.samples(np.ones((2, 3, 4))).values.shape == (6, 4)
    assert SERIES.samples([]).offsets.tolist() == [0]
    assert SERIES.one([1.0, 2.0]).lengths.tolist() == [2]
    objects = np.empty(2, dtype=object)
    objects[:] = [np.ones(2), np.ones(3)]
    assert SERIES.samples(objects).lengths.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((2, 3)), r"X is an array of shape \(2, 3\)"),
        (np.ones(3), "X is an array of shape"),
        (np.ones((1, 1, 1, 1)), "X is an array of shape"),
        (sp.csr_array(np.eye(2)), "X is a csr_array"),
        ("text", "X is a str"),
        (b"text", "X is a bytes"),
        ({}, "X is a dict"),
        (5, "X is a int"),
        ([[1.0], []], r"X\[1\] is empty"),
        ([np.ones((2, 2)), np.ones((2, 3))], r"X\[1\] have 3 numbers each and those of X\[0\] 2"),
        ([np.ones((1, 1, 1))], r"X\[0\] has shape \(1, 1, 1\)"),
        ([1.0], r"X\[0\] has shape \(\)"),
        ([sp.csr_array(np.eye(2))], r"X\[0\] is sparse"),
        ([[np.nan]], "NaN"),
    ],
)
def test_samples_that_are_no_series(given, message):
    with pytest.raises(DataError, match=message):
        SERIES.samples(given)


def test_vectors_are_samples_only_where_they_may_be():
    tables = Ragged("tables", "tables", vectors=False)
    with pytest.raises(DataError, match=r"X\[0\] has shape \(2,\)"):
        tables.samples([[1.0, 2.0]])
    assert tables.samples([[[1.0, 2.0]]]).values.shape == (1, 2)
    with pytest.raises(DataError, match="packed samples of the kind 'tables'"):
        SERIES.samples(tables.samples([[[1.0, 2.0]]]))
    with pytest.raises(DataError, match="X have 2 numbers each and those of Z 1"):
        SERIES.check_pair(SERIES.samples([np.ones((3, 2))]), SERIES.samples([np.ones(3)]))
    SERIES.check_pair(SERIES.samples([np.ones((3, 2))]), SERIES.samples([np.ones((1, 2))]))


# Spreads, which widths are made of -----------------------------------------------------------------------------------

rng = np.random.default_rng(4)
TABLE = np.where(rng.random((20, 3)) < 0.5, rng.normal(size=(20, 3)) + 2.0, 0.0)
WEIGHTS = rng.integers(1, 4, 20)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("unit", [1.0, 4.0])
def test_a_spread_is_number_mean_and_squares(weights, form, unit, monkeypatch):
    monkeypatch.setattr("kernreg.kernels.widths._ENTRIES", 7)  # part by part
    whole = (TABLE if weights is None else np.repeat(TABLE, weights, axis=0)) / unit
    expected = [whole.size, whole.mean(), ((whole - whole.mean()) ** 2).sum()]
    np.testing.assert_allclose(_spread(form(TABLE), weights, unit), expected)
    assert _deviation(form(TABLE), weights) == pytest.approx(unit * whole.std())
    parts = [
        _spread(form(TABLE[rows]), None if weights is None else weights[rows]) for rows in (slice(6), slice(6, 20))
    ]
    assert _put_together([(0.0, 0.0, 0.0), *parts]) == pytest.approx(unit * whole.std())


@pytest.mark.parametrize("size", [1e-200, 1e-99, 1.0, 1e99, 1e200])
def test_a_deviation_beyond_what_can_be_squared(size):
    for form in (np.asarray, sp.csr_array):
        assert _deviation(form(size * TABLE)) == pytest.approx(size * TABLE.std(), rel=1e-9, abs=0.0)
        assert _deviation(form(-size * TABLE)) == pytest.approx(size * TABLE.std(), rel=1e-9, abs=0.0)
    assert _deviation(0.0 * TABLE) == _deviation(TABLE[:0]) == _deviation(TABLE[:, :0]) == 0.0


@pytest.mark.parametrize("weights", [None, WEIGHTS.astype(float)])
@pytest.mark.parametrize(("word", "factor"), [("scale", 1.0), ("2.5*scale", 2.5), ("median", 1.0), ("0.5*median", 0.5)])
def test_words_for_widths(word, factor, weights):
    copies = TABLE if weights is None else np.repeat(TABLE, WEIGHTS, axis=0)
    i, j = np.triu_indices(len(copies), 1)
    euclidean = np.linalg.norm(copies[i] - copies[j], axis=1)
    l1 = np.abs(copies[i] - copies[j]).sum(axis=1)
    scale = "scale" in word
    expected = np.sqrt(3) * copies.std() if scale else np.median(euclidean[euclidean > 0.0])
    assert resolved(word, "sqeuclidean", None, TABLE, weights) == pytest.approx(factor * expected)
    expected = 3 * copies.std() if scale else np.median(l1[l1 > 0.0])
    assert resolved(word, "l1", None, TABLE, weights) == pytest.approx(factor * expected)
    assert resolved(word, "l1", None, np.ones((4, 2))) == resolved(word, "sqeuclidean", None, np.ones((1, 2))) == factor
