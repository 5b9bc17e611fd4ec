"""What combinations, widths and domains are made of: sums in pieces, slices of the reference, limits of memory."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.engine import budget
from kernreg.engine.program import Program
from kernreg.errors import MemoryBudgetWarning, ParameterError
from kernreg.kernels import centered, spectrum, symmetrize, widths
from kernreg.kernels.builtin import linear, rbf, sne, tanh_, tl1
from kernreg.kernels.combinations import learned, reference
from kernreg.kernels.combinations.base import copied, in_blocks, rows_beside, squared_norms, with_form
from kernreg.kernels.domains import Parameter, graph, integer, positive, real, value_repr
from kernreg.kernels.samples import SampleParts, identical_pairs, overlaps, row_start

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(12, 3)), rng.normal(size=(7, 3))


# pieces ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("room", [1, 4, 5, 12, 1000])
def test_squared_norms_are_computed_in_pieces_that_fit(room):
    seen = []

    def features(part):
        seen.append(len(part))
        return 3.0 * part

    with kr.config_context(memory=4 * 2 * 3 * 8 * room):
        np.testing.assert_allclose(squared_norms(features, X, 3), 9.0 * (X**2).sum(axis=1))
    assert seen == [min(room, 12 - start) for start in range(0, 12, room)]


@pytest.mark.parametrize(("memory", "rows"), [(1000 + 24 * 5 * 9, 9), (1000 + 24 * 5 * 9 - 1, 8), (1040, 1), (1, 1)])
def test_a_block_has_the_rows_that_the_matrix_leaves_room_for(memory, rows):
    K = np.empty((25, 5))
    assert K.nbytes == 1000
    with kr.config_context(memory=memory):
        assert rows_beside(K) == rows


def test_a_sixteenth_of_the_budget_is_there_in_any_case():
    with kr.config_context(memory=16 * 24 * 5 * 3):
        assert rows_beside(np.empty((200, 5))) == 3
        assert rows_beside(np.empty((2000, 0))) == 5760 // 24


@pytest.mark.parametrize(("memory", "whole"), [(2 * 8 * 12 * 7, True), (2 * 8 * 12 * 7 - 1, False)])
def test_what_fits_twice_is_evaluated_at_once(memory, whole):
    k = linear()
    with kr.config_context(memory=memory):
        found = in_blocks(k, X, Z, None)
        assert in_blocks(k, X[:1], Z, None) is None
    assert (found is None) == whole
    if not whole:
        np.testing.assert_allclose(found, X @ Z.T)
        out = np.empty((12, 7))
        with kr.config_context(memory=memory):
            assert in_blocks(k, X, Z, out) is out
        np.testing.assert_allclose(out, X @ Z.T)


def test_copies_go_to_where_they_are_wanted():
    K, out = np.ones((2, 2)), np.zeros((2, 2))
    assert copied(K, None) is K
    assert copied(K, out) is out
    assert out.all()


def test_products_have_a_form_where_all_parts_have_the_same():
    class Part:
        def __init__(self, form=None):
            if form:
                self.form = form

    assert with_form(Part(), Part("separable"), Part("separable")).form == "separable"
    assert with_form(Part(), Part("separable"), Part()).form == "blocks"
    assert with_form(Part()).form == "blocks"


@pytest.mark.parametrize("rows", [1, 4, 5, 100])
def test_asymmetry_is_found_in_every_piece_and_evened_out(rows):
    K = rng.normal(size=(9, 9))
    assert reference._asymmetry(K, rows) == np.abs(K - K.T).max()
    assert reference._asymmetry(K + K.T, rows) == 0.0
    assert reference._asymmetry(np.empty((0, 0)), rows) == 0.0
    even = K.copy()
    learned._even_out(even, rows)
    np.testing.assert_allclose(even, 0.5 * (K + K.T), rtol=1e-15)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_rounding_errors_make_no_table_asymmetric(size):
    table = size * (X @ X.T)
    assert not learned._asymmetric(table)
    table[2, 5] += 1e-12 * np.abs(table).max()
    assert not learned._asymmetric(table)
    table[2, 5] += 1e-8 * np.abs(table).max()
    assert learned._asymmetric(table)
    assert learned._asymmetric(-table)
    assert not learned._asymmetric(np.empty((0, 0)))


# reference sets ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [tl1(rho=3.0), sne(sigma=2.0)])
def test_a_centred_kernel_takes_the_means_of_the_reference_wherever_samples_come_from(kernel):
    k = centered(kernel).bind(X)
    inner = kernel.bind(X)

    def expected(A, B):
        rows, columns = inner(A, X).mean(axis=1), inner(X, B).mean(axis=0)
        return inner(A, B) - rows[:, None] - columns + inner(X, X).mean()

    for A, B in ((X, X), (X, Z), (Z, X), (Z, Z), (Z, X[2:5]), (X[2:5], X[4:]), (X[3:9], Z)):
        np.testing.assert_allclose(k(A, B), expected(A, B), atol=1e-14)
        np.testing.assert_allclose(k.operator(A, B) @ np.eye(len(B)), expected(A, B), atol=1e-13)
        np.testing.assert_allclose(k.rows(A, B, 1, 3), expected(A, B)[1:3], atol=1e-14)
    for A in (X, Z, X[3:9]):
        np.testing.assert_allclose(k(A), expected(A, A), atol=1e-14)
        np.testing.assert_allclose(k.diagonal(A), expected(A, A).diagonal(), atol=1e-14)
        np.testing.assert_allclose(k.rows(A, None, 1, 4), expected(A, A)[1:4], atol=1e-14)
    assert k.scalar(X[0], Z[1]) == pytest.approx(expected(X, Z)[0, 1], abs=1e-14)


@pytest.mark.parametrize("method", ["clip", "flip", "square", "shift"])
def test_a_corrected_spectrum_extends_as_its_definition(method):
    inner = tanh_(c=0.5, t=-1.0)
    k, K = spectrum(inner, method).bind(X), inner(X)
    values, V = np.linalg.eigh(K)
    assert values[0] < -0.01
    if method == "shift":
        shift = -values[0]
        np.testing.assert_allclose(k(X), K + shift * np.eye(12), atol=1e-12)
        np.testing.assert_allclose(k(X[3:6], X), (K + shift * np.eye(12))[3:6], atol=1e-12)
        np.testing.assert_allclose(k(Z, X), inner(Z, X), atol=1e-12)
        np.testing.assert_allclose(k.diagonal(Z), inner.diagonal(Z) + shift, atol=1e-12)
        assert k.definite is None
        return
    f = {"clip": np.maximum(values, 0.0), "flip": np.abs(values), "square": values**2}[method]
    Q = (V * (f / values**2)) @ V.T

    def expected(A, B):
        return inner(A, X) @ Q @ inner(X, B)

    for A, B in ((X, X), (Z, X), (X, Z), (Z, Z), (Z[:3], Z[3:]), (X[2:6], X), (X, X[2:6])):
        np.testing.assert_allclose(k(A, B), expected(A, B), atol=1e-10)
    for A in (X, Z, X[1:5]):
        np.testing.assert_allclose(k(A), expected(A, A), atol=1e-10)
        np.testing.assert_allclose(k.diagonal(A), expected(A, A).diagonal(), atol=1e-10)
        np.testing.assert_allclose(k.rows(A, None, 1, 3), expected(A, A)[1:3], atol=1e-10)
    assert k.definite is True


def test_a_shift_of_a_definite_matrix_is_none():
    assert spectrum(rbf(sigma=2.0), "shift").bind(X)._state == 0.0
    np.testing.assert_allclose(spectrum(rbf(sigma=2.0), "shift").bind(X)(Z), rbf(sigma=2.0)(Z), rtol=1e-14)


@pytest.mark.parametrize(("needed", "warned"), [(0.99, False), (1.01, True)])
def test_what_needs_more_than_the_budget_says_so_before(monkeypatch, needed, warned):
    """Seven matrices for a spectrum; the factors and the matrix for products with the transpose."""
    monkeypatch.setattr(budget, "NEGLIGIBLE", 0)
    kernels = [
        (lambda: spectrum("rbf(sigma=2.0)", "clip").bind(X), 7 * 8 * 12**2, "spectrum"),
        (lambda: symmetrize("rbf(sigma=2.0)", "left").bind(Z)(X), 8 * (7 * 12 + 12 * 12), "symmetrize"),
        (lambda: symmetrize("rbf(sigma=2.0)", "right").bind(Z)(X, X[:5]), 8 * (7 * 12 + 12 * 5), "symmetrize"),
    ]
    for make, size, name in kernels:
        with kr.config_context(memory=int(size / needed)), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            make()
        told = [str(one.message) for one in heard if issubclass(one.category, MemoryBudgetWarning)]
        assert bool(told) == warned
        assert not told or told[0].startswith(name)


@pytest.mark.parametrize("room", [2, 3, 100])
@pytest.mark.parametrize("how", ["left", "right"])
def test_products_with_the_transpose_are_made_of_pieces(how, room):
    inner = sne(sigma=2.0).bind(X)
    F, G = ((inner(A, X) if how == "left" else inner(X, A).T) for A in (Z, Z[::-1] + 0.5))
    k = symmetrize(sne(sigma=2.0), how).bind(X)
    with kr.config_context(memory=4 * 8 * 12 * room), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = k._evaluate(Z, Z[::-1] + 0.5, None, None)
    np.testing.assert_allclose(found, F @ G.T, rtol=1e-12)


# samples -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "of", "start", "found"),
    [(3, 5, 0, 0), (5, 5, 0, 0), (6, 5, 0, None), (3, 5, 2, 2), (9, 5, 2, 2), (3, 5, -1, None), (3, 5, None, None)],
)
def test_rows_begin_where_it_is_said_unless_they_are_more(rows, of, start, found):
    assert row_start(np.empty((rows, 1)), np.empty((of, 1)), start) == found


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda A: SampleParts((A, 2.0 * A))])
def test_identical_pairs_are_all_of_them(form):
    A = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [5.0, 5.0]])
    B = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 1.0], [7.0, 7.0]])
    rows, columns = identical_pairs(form(A), form(B))
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 0)]
    rows, columns = identical_pairs(form(A[3:]), form(B))
    assert rows.shape == columns.shape == (0,)


def test_memory_that_is_shared_with_samples_is_noticed():
    A = np.zeros((4, 3))
    assert overlaps(A[:2], A)
    assert overlaps(A[:2], SampleParts((np.zeros((4, 1)), A)))
    assert not overlaps(A[:2], SampleParts((np.zeros((4, 1)), A.copy())))
    sparse = sp.csr_array(np.eye(3))
    assert overlaps(sparse.data, sparse)
    assert not overlaps(A, sparse)


def test_parts_are_single_where_all_are():
    single, double = np.zeros((2, 1), dtype=np.float32), np.zeros((2, 3))
    assert SampleParts((single, single)).dtype == np.float32
    assert SampleParts((single, double)).dtype == np.float64
    some = SampleParts((single, double))[1:2]
    assert (some.shape, some.dtype, some.ndim) == ((1, -1), np.float64, 2)


# widths ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entries", [1, 3, 5, 36, 1000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_spread_is_that_of_all_entries_summed_in_pieces(monkeypatch, entries, weighted, form):
    monkeypatch.setattr(widths, "_ENTRIES", entries)
    A = 5.0 + X
    A[::2, 1] = 0.0
    w = rng.integers(1, 4, 12).astype(float) if weighted else None
    count, mean, squares = widths._spread(form(A), w, 2.0)
    all_of_them = (A if w is None else np.repeat(A, w.astype(int), axis=0)) / 2.0
    assert (count, mean) == (all_of_them.size, pytest.approx(all_of_them.mean(), rel=1e-13))
    assert squares == pytest.approx(((all_of_them - all_of_them.mean()) ** 2).sum(), rel=1e-12)


@pytest.mark.parametrize("size", [1e-300, 1e-101, 1e-99, 1.0, 1e99, 1e101, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_deviations_of_any_size_are_exact(size, form):
    for sign in (1.0, -1.0):
        A = sign * np.abs(X)
        assert widths._deviation(form(size * A)) == pytest.approx(size * A.std(), rel=1e-12)
    assert widths._deviation(form(np.zeros((3, 2)))) == 0.0


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_nothing_has_no_deviation(shape):
    assert widths._deviation(np.empty(shape)) == 0.0


def test_deviations_of_parts_are_put_together():
    parts = [X[:1], X[1:1], X[1:7] + 9.0, X[7:]]
    found = widths._put_together([widths._spread(part, None) for part in parts])
    assert found == pytest.approx(np.concatenate(parts).std(), rel=1e-13)


@pytest.mark.parametrize("n", [4, 5, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_are_those_of_some_samples(monkeypatch, n, weighted):
    monkeypatch.setattr(widths, "_SAMPLES", 5)
    A, w = np.arange(float(n))[:, None] ** 2, np.arange(1.0, n + 1.0) if weighted else None
    A[1] = A[0]  # no distance, which does not count
    program = Program("l1", "l1", function=widths._identity, parameters=(), term=None, symmetric=False)
    values, counts = widths._values_of_pairs(program, A, w)
    rows = np.arange(n) if n <= 5 else np.sort(np.random.default_rng(0).choice(n, 5, replace=False))
    pairs = [(i, j) for a, i in enumerate(rows) for j in rows[a + 1 :] if A[i, 0] != A[j, 0]]
    assert values.tolist() == [abs(A[i, 0] - A[j, 0]) for i, j in pairs]
    assert (counts is None) == (not weighted)
    if weighted:
        assert counts.tolist() == [w[i] * w[j] for i, j in pairs]


def test_what_is_typical_counts_every_value_as_often_as_it_occurs():
    values, counts = np.array([1.0, 5.0, 2.0]), np.array([1.0, 1.0, 8.0])
    assert widths._typical("scale", values, None) == pytest.approx(8 / 3)
    assert widths._typical("scale", values, counts) == pytest.approx(2.2)
    assert widths._typical("median", values, None) == 2.0
    assert widths._typical("median", np.array([1.0, 5.0]), np.array([1.0, 9.0])) == 5.0
    assert widths._typical("scale", values[:0], None) == widths._typical("median", values[:0], None) == 0.0


# domains -----------------------------------------------------------------------------------------------------------


def test_the_smallest_width_and_the_largest_integer():
    assert Parameter("s", 1.0, positive).accept(1e-307, "k") == 1e-307
    with pytest.raises(
        ParameterError, match=r"s is 9.9e-308, and what is divided by it is infinite; give at least 1e-307"
    ):
        Parameter("s", 1.0, positive).accept(9.9e-308, "k")
    assert real.check(1e-320) == 1e-320
    for sign in (1, -1):
        assert integer().check(sign * 2**53) == sign * 2**53
        with pytest.raises(ParameterError, match="integers are accepted up to 2⁵³"):
            Parameter("n", 1, integer()).accept(sign * (2**53 + 2), "k")


@pytest.mark.parametrize("wrong", [np.ma.masked, np.ma.array(1.0, mask=True), 1j, np.complex128(1.0), b"1", {}, [1]])
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(ParameterError, match="accepted is a finite number"):
        Parameter("s", 1.0, real).accept(wrong, "k")
    assert real.check(np.array(2.5)) == 2.5
    assert real.check(np.uint8(3)) == 3.0


def test_graphs_are_square():
    assert graph.check(np.eye(3)).shape == (3, 3)
    for shape in ((2, 3), (3, 2)):
        with pytest.raises(ParameterError, match="square"):
            Parameter("A", None, graph).accept(np.ones(shape), "k")


def test_arrays_are_summarised_where_a_value_is_shown():
    assert value_repr(np.ones((2, 3), dtype=np.float32)) == "<2x3 float32 array>"
    assert value_repr(sp.csr_array(np.eye(4))) == "<4x4 sparse, 4 stored>"
    assert value_repr("scale") == "'scale'"
    assert value_repr(rbf(sigma=1.0)) == repr("rbf(sigma=1.0)")
