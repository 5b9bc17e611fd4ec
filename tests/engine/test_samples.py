"""What samples are accepted, how they are normalised, and what is said when they are not accepted."""

from __future__ import annotations

import fractions

import naive
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg import kernel
from kernreg.errors import DataError, EngineError
from kernreg.kernels import compose
from kernreg.kernels.builtin import linear, rbf, sne

X = SIGNED = np.random.default_rng(0).integers(-4, 5, size=(13, 4)).astype(float)
EXPECTED = rbf(sigma=2.0)(X)


def readonly(table):
    table = table.copy()
    table.flags.writeable = False
    return table


def unaligned(table):
    raw = np.zeros(table.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(table.shape)
    view[...] = table
    return view


ACCEPTED = {
    "list": X.tolist(),
    "tuple of rows": tuple(map(tuple, X)),
    "int64": X.astype(np.int64),
    "int8": X.astype(np.int8),
    "fortran order": np.asfortranarray(X),
    "every second row": np.repeat(X, 2, axis=0)[::2],
    "every second column": np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": X[::-1].copy()[::-1],
    "transposed": X.T.copy().T,
    "read-only": readonly(X),
    "big-endian": X.astype(">f8"),
    "big-endian integers": X.astype(">i4"),
    "unaligned": unaligned(X),
    "pandas": pd.DataFrame(X, columns=list("abcd")),
    "pandas with mixed types": pd.DataFrame(
        {"a": X[:, 0].astype(int), "b": X[:, 1], "c": X[:, 2].astype("int8"), "d": X[:, 3]}
    ),
    "pandas nullable": pd.DataFrame(X).astype("Float64"),
    "objects": X.astype(object),
    "fractions": np.array([[fractions.Fraction(int(v)) for v in row] for row in X]),
    "csr": sp.csr_array(X),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_any_numeric_table_gives_the_same_matrix(name):
    np.testing.assert_array_equal(rbf(sigma=2.0)(ACCEPTED[name]), EXPECTED)
    np.testing.assert_array_equal(rbf(sigma=2.0)(X, ACCEPTED[name]), EXPECTED)


def test_samples_are_never_changed():
    for table in (X.copy(), np.asfortranarray(X), sp.csr_array(X)):
        before = table.copy()
        for spec in ("rbf", "sne", "laplacian", "linear"):
            kr.make_kernel(spec)(table)
        assert (table != before).sum() == 0


@pytest.mark.parametrize("unsigned", [np.uint8, np.uint64])
def test_unsigned_integers_are_subtracted_as_numbers(unsigned):
    table = np.array([[1], [3]], dtype=unsigned)
    np.testing.assert_allclose(rbf(sigma=1.0)(table)[0, 1], np.exp(-4.0), rtol=1e-15)


def test_booleans_are_zero_and_one():
    assert linear()(np.array([[True, False], [True, True]])).tolist() == [[1.0, 1.0], [1.0, 2.0]]


def test_float32_is_kept_float16_becomes_float32_and_a_mixture_is_float64():
    single, half = X.astype(np.float32), X.astype(np.float16)
    assert rbf()(single).dtype == np.float32
    assert rbf()(half).dtype == np.float32
    assert np.array_equal(rbf()(half), rbf()(single))
    assert rbf()(single, X).dtype == rbf()(X, single).dtype == np.float64
    assert rbf()(sp.csr_array(single)).dtype == np.float32
    assert rbf()(single.astype(">f4")).dtype == np.float32
    assert np.array_equal(rbf(sigma=2.0)(single, X), EXPECTED)


def test_float32_statistics_far_from_the_origin_are_good_to_the_promised_accuracy():
    rng = np.random.default_rng(1)
    table = (rng.normal(size=(20, 500)) + 1000).astype(np.float32)
    assert naive.relative_error(linear()(table), naive.linear(table)) <= 1e-5
    assert naive.relative_error(rbf(sigma=30.0)(table), naive.rbf(table, sigma=30.0)) <= 1e-5


REFUSED = {
    "complex": (np.ones((2, 2), dtype=complex), "complex128"),
    "long double": (np.ones((2, 2), dtype=np.longdouble), "long double"),
    "text": (np.array([["a", "b"]]), "dtype"),
    "object text": (np.array([["a", 1.0]], dtype=object), "encode text"),
    "object digits": (np.array([["1", 2.0, 0.0, 1.0]], dtype=object), "encode text"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "datetime64"),
    "nan": (np.array([[1.0, np.nan]]), r"NaN or infinity \(1 value\(s\), first at \(0, 1\)\)"),
    "inf": (np.array([[1.0], [-np.inf]]), "NaN or infinity"),
    "none": (np.array([[None, 1.0]], dtype=object), "NaN or infinity|not numbers"),
    "missing in pandas": (pd.DataFrame({"a": [1, None]}, dtype="Int64"), "not numbers|NaN"),
    "one dimension": (np.ones(3), r"reshape\(-1, 1\)"),
    "a number": (3.0, "0 dimension"),
    "three dimensions": (np.ones((2, 2, 2)), "3 dimension"),
    "no features": (np.ones((3, 0)), "no features"),
    "no features, sparse": (sp.csr_array((3, 0)), "no features"),
    "ragged": ([[1.0], [1.0, 2.0]], "numeric table|dimension"),
    "huge integers": (np.array([[2**60 + 1]]), r"2\*\*53"),
    "sparse nan": (sp.csr_array(np.array([[1.0, np.nan]])), "NaN or infinity"),
    "sparse complex": (sp.csr_array(np.ones((2, 2), dtype=complex)), "complex128"),
    "masked": (np.ma.masked_invalid([[1.0, np.nan]]), "masked"),
    "a string": ("rbf", "dimension"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("side", ["X", "Z"])
def test_what_is_not_a_finite_numeric_table_is_refused_with_the_reason(name, side):
    table, said = REFUSED[name]
    with pytest.raises(DataError, match=said) as caught:
        rbf()(table) if side == "X" else rbf()(X, table)
    assert isinstance(caught.value, ValueError)
    assert side in str(caught.value)


def test_an_error_about_missing_values_says_what_to_do():
    with pytest.raises(DataError, match=r"[Rr]emove.*SimpleImputer"):
        rbf()([[np.nan]])


@pytest.mark.parametrize(
    "pair",
    [
        (X, X[:, :2]),
        (sp.csr_array(X), sp.csr_array(X[:, 1:])),
        (X, sp.csr_array(X[:, :3])),
        (sp.csr_array(X), X[:, :1]),
    ],
)
@pytest.mark.parametrize("spec", ["rbf", "laplacian", "linear", "sne"])
def test_samples_of_different_length_are_refused(pair, spec):
    k = kr.make_kernel(spec)
    for evaluate in (lambda: k(*pair), lambda: k.operator(*pair), lambda: next(iter(k.blocks(*pair)))):
        with pytest.raises(DataError, match=f"X has 4 features and Z has {pair[1].shape[1]}"):
            evaluate()


@pytest.mark.parametrize("spec", ["chi2", "intersection"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_negative_values_are_refused_by_kernels_of_counts(spec, form):
    with pytest.raises(DataError, match=r"negative value \(-2\.0\)"):
        kr.make_kernel(spec)(form([[1.0, 0.0], [0.0, -2.0]]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_that_are_no_distribution_are_refused_by_kl(form):
    with pytest.raises(DataError, match=r"row 1 of X sums to 0\.9"):
        kr.make_kernel("kl")(form([[0.5, 0.5], [0.5, 0.4]]))
    with pytest.raises(DataError, match="negative"):
        kr.make_kernel("kl")(form([[1.5, -0.5]]))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_distributions_of_many_features_are_accepted(form):
    P = np.random.default_rng(2).random((5, 20000)).astype(np.float32)
    P /= P.sum(axis=1, keepdims=True)
    assert naive.relative_error(kr.make_kernel("kl")(form(P)), naive.kl(P)) <= 5e-6


def test_rows_that_are_no_gaussians_are_refused_by_kl_gaussian():
    k = kr.make_kernel("kl-gaussian")
    with pytest.raises(DataError, match=r"X has 3 columns.*hstack\(\[means, variances\]\)"):
        k([[0.0, 1.0, 1.0]])
    for variance in (0.0, -0.5):
        with pytest.raises(DataError, match=f"Z has a variance of {variance}"):
            k([[0.0, 1.0]], [[0.0, variance]])


def test_functions_of_rows_refuse_sparse_samples():
    with pytest.raises(DataError, match=r"X\.toarray\(\)"):
        kr.make_kernel("kl-gaussian")(sp.csr_array(np.ones((2, 2))))


# out= ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["rbf(sigma=2.0)", "sne(sigma=2.0)", "laplacian(sigma=2.0)"])
@pytest.mark.parametrize("order", ["C", "F", "strided", "offset"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_out_is_filled_and_returned_whatever_its_strides(spec, order, dtype):
    k, table = kr.make_kernel(spec), X.astype(dtype)
    out = {
        "C": lambda: np.empty((13, 13), dtype=dtype),
        "F": lambda: np.empty((13, 13), dtype=dtype, order="F"),
        "strided": lambda: np.empty((26, 39), dtype=dtype)[::2, ::3],
        "offset": lambda: np.empty((13, 14), dtype=dtype)[:, 1:],
    }[order]()
    out[...] = np.nan
    assert k(table, out=out) is out
    assert np.array_equal(out, k(table))
    columns = out[:, :5]
    assert k(table, table[:5], out=columns) is columns
    assert np.array_equal(columns, k(table, table[:5]))


@pytest.mark.parametrize(
    "out",
    [
        np.empty((12, 13)),
        np.empty((13, 13), dtype=np.float32),
        np.empty((13, 13), dtype=int),
        np.empty((13, 13), dtype=">f8"),
        readonly(np.empty((13, 13))),
        np.empty((13, 13, 1)),
        [[0.0] * 13] * 13,
    ],
)
@pytest.mark.parametrize("make", [rbf, sne, lambda: rbf() + linear(), lambda: sne().T])
def test_an_out_that_cannot_hold_the_result_is_refused(out, make):
    with pytest.raises(DataError, match=r"writable ndarray of shape \(13, 13\) and dtype float64"):
        make()(X, out=out)


@pytest.mark.parametrize("spec", ["rbf", "sne"])
def test_out_may_be_a_file_or_stand_at_an_odd_address(spec, tmp_path):
    table = np.random.default_rng(4).normal(size=(1500, 3))  # large enough for streaming stores
    k = kr.make_kernel(spec)
    expected = k(table)
    file = np.memmap(tmp_path / "K", dtype=np.float64, mode="w+", shape=(1500, 1500))
    assert k(table, out=file) is file
    assert np.array_equal(file, expected)
    odd = unaligned(np.empty((1500, 1500)))
    assert np.array_equal(k(table, out=odd), expected)


@pytest.mark.parametrize("spec", ["laplacian(sigma=300.0)", "rbf(sigma=20.0)", "sne(sigma=20.0)"])
def test_out_that_overlaps_the_samples_gets_the_right_values(spec):
    table = np.random.default_rng(3).normal(size=(300, 300))
    expected = kr.make_kernel(spec)(table)
    assert np.array_equal(kr.make_kernel(spec)(table, out=table), expected)


def test_out_that_overlaps_the_samples_of_a_combination_gets_the_right_values():
    for k in (
        kr.make_kernel("rbf(sigma=20.0)") + kr.make_kernel("laplacian(sigma=300.0)"),
        compose("rbf(sigma=20.0)", np.asarray) + kr.make_kernel("laplacian(sigma=300.0)"),
    ):
        table = np.random.default_rng(3).normal(size=(300, 300))
        expected = k(table)
        assert np.array_equal(k(table, out=table), expected)


# no rows -------------------------------------------------------------------------------------------------------

EMPTY = np.empty((0, 4))


@pytest.mark.parametrize("spec", ["rbf", "laplacian", "linear", "sne", "t(self_term=False)", "kl-gaussian", "matern"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_no_samples_give_an_empty_matrix(spec, form):
    k, X = kr.make_kernel(spec), np.abs(SIGNED) + 1.0
    if k.family.of == "rows" and form is sp.csr_array:
        pytest.skip("functions of rows take no sparse samples")
    assert k(form(EMPTY)).shape == (0, 0)
    assert k(form(EMPTY), form(X)).shape == (0, 13)
    assert k(form(X), form(EMPTY)).shape == (13, 0)
    assert (k.operator(form(EMPTY), form(X)) @ np.ones(13)).shape == (0,)
    assert np.array_equal(k.operator(form(X), form(EMPTY)) @ np.ones(0), np.zeros(13))
    assert list(k.blocks(form(EMPTY), form(X))) == []
    assert k.map_rows(form(EMPTY), form(X), lambda rows, block: block).shape == (0, 13)


def test_functions_of_rows_and_blocks_cannot_change_the_samples():
    @kernel(of="rows")
    def writes_rows(x, z):
        x[0] = 0.0
        return x[0] * z[0]

    @kernel(of="blocks")
    def writes_blocks(X, Z):
        X *= 2.0
        return X @ Z.T

    table = X.copy()
    with pytest.raises(EngineError, match=r"'writes-rows' cannot be compiled.*readonly"):
        writes_rows()(table)
    with pytest.raises(ValueError, match="read-only"):
        writes_blocks()(table)
    assert np.array_equal(table, X)


def test_block_functions_may_return_sparse_and_integer_values_but_not_complex_ones():
    @kernel(of="blocks")
    def sparse_values(X, Z):
        return sp.csr_array(X @ Z.T)

    @kernel(of="blocks")
    def integers(X, Z):
        return (X @ Z.T).astype(int)

    @kernel(of="blocks")
    def complex_values(X, Z):
        return X @ Z.T * 1j

    assert np.array_equal(sparse_values()(X), X @ X.T)
    assert integers()(X).dtype == np.float64
    with pytest.raises(DataError, match="'complex-values' returned values of dtype complex128"):
        complex_values()(X)


def test_blocks_functions_that_return_the_wrong_shape_are_named():
    @kernel(of="blocks")
    def wrong_shape(X, Z):
        return X @ Z.T @ Z

    with pytest.raises(DataError, match=r"'wrong-shape' returned shape \(13, 4\) for 13 rows against 13"):
        wrong_shape()(X)
