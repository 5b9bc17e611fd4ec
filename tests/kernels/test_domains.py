"""What domains of parameters accept, and how they say so."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.errors import ParameterError
from kernreg.kernels.domains import (
    Parameter,
    adjacency_matrix,
    boolean,
    check_learnt,
    choice,
    graph,
    integer,
    interval,
    matrix,
    nonnegative,
    positive,
    real,
    value_key,
)
from kernreg.kernels.samples import SampleParts


@pytest.mark.parametrize(
    ("ends", "open_low", "text"),
    [
        ((), False, "a finite number"),
        ((0.0,), False, "a finite number >= 0"),
        ((0.0,), True, "a finite number > 0"),
        ((-1.0, 1.0), False, "a number in [-1, 1]"),
        ((0.0, 1.0), True, "a number in (0, 1]"),
        ((-math.inf, 2.0), False, "a number in [-inf, 2]"),
    ],
)
def test_an_interval_says_what_it_accepts(ends, open_low, text):
    assert str(interval(*ends, open_low=open_low)) == text


@pytest.mark.parametrize(
    ("domain", "accepted", "refused"),
    [
        (interval(0.0, 1.0), [0, 0.5, 1.0, np.float32(1.0)], [-1e-9, 1.0 + 1e-9]),
        (interval(0.0, 1.0, open_low=True), [1e-300, 1.0], [0.0, -1.0, 2.0]),
        (positive, [1e-300, 1e300], [0.0, -1.0]),
        (nonnegative, [0.0, 1e300], [-1e-300]),
        (real, [-1e300, 0.0, 1e300], []),
        (integer(), [-5, 0, 3.0, np.int64(7)], [0.5]),
        (integer(1, 5), [1, 5], [0, 6, 1.5]),
        (integer(high=5), [-9, 5], [6]),
    ],
)
def test_numbers_at_the_ends_of_a_domain(domain, accepted, refused):
    for value in accepted:
        found = domain.check(value)
        assert found == value
        assert type(found) in (float, int)
    for value in [*refused, math.nan, math.inf, -math.inf, True, np.bool_(True), "1", b"1", None, [1, 2]]:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            domain.check(value)


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((), "an integer"),
        ((1,), "an integer >= 1"),
        ((None, 4), "an integer <= 4"),
        ((1, 4), "an integer >= 1 and <= 4"),
    ],
)
def test_integers_say_what_they_accept(ends, text):
    assert str(integer(*ends)) == text


def test_choices_tell_numbers_words_and_truth_values_apart():
    assert choice(1, "a").check(1.0) == 1
    assert choice("a", "b").check("b") == "b"
    assert boolean.check(False) is False
    for domain, wrong in [(choice(1, 0), True), (boolean, 1), (boolean, 0), (choice("1"), 1), (choice(1), "1")]:
        with pytest.raises((TypeError, ValueError), match=r"^$"):
            domain.check(wrong)
    with pytest.raises(ValueError, match=r"^$"):
        choice("a").check(np.str_("b"))
    assert str(boolean) == "one of True, False"


def test_matrices_are_finite_tables_of_floats():
    assert matrix.check([[1, 2]]).dtype == np.float64
    assert matrix.check(np.ones((2, 3), dtype=np.float32)).dtype == np.float32
    assert matrix.check(np.ones((2, 3), dtype=bool)).tolist() == [[1.0] * 3] * 2
    sparse = matrix.check(sp.coo_array(([1, 2, 4], ([0, 0, 1], [1, 1, 0])), shape=(2, 3)))
    assert sparse.has_canonical_format
    assert sparse.toarray().tolist() == [[0.0, 3.0, 0.0], [4.0, 0.0, 0.0]]
    mine = sp.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 3))
    assert matrix.check(mine).toarray()[0, 1] == 3.0
    assert mine.nnz == 2  # the caller's own is left alone
    for wrong in ([1.0], [[[1.0]]], [["a"]], [[1j]], [[np.nan]], [[np.inf]], sp.csr_array([[np.nan, 0.0]])):
        with pytest.raises(ValueError, match=r"^$"):
            matrix.check(wrong)


class Graph:
    """What a graph of networkx shows of itself."""

    def __init__(self, edges, several=None):
        self.nodes, self._edges = list(edges), edges
        if several is not None:
            self.is_multigraph = lambda: several

    def adjacency(self):
        return self._edges.items()


def test_graphs_become_their_adjacency_matrices():
    plain = {"a": {"b": {}}, "b": {"c": {"weight": 2.5}, "a": {"colour": 1}}, "c": {}}
    expected = [[0.0, 1.0, 0.0], [1.0, 0.0, 2.5], [0.0, 0.0, 0.0]]
    assert graph.check(Graph(plain)).toarray().tolist() == expected
    assert graph.check(Graph(plain, several=False)).toarray().tolist() == expected
    several = {"a": {"b": {0: {}, 1: {"weight": 3.0}}}, "b": {}}
    assert graph.check(Graph(several, several=True)).toarray().tolist() == [[0.0, 4.0], [0.0, 0.0]]
    assert adjacency_matrix(5) == 5
    with pytest.raises(ParameterError, match=r"k: g has shape \(1, 2\); an adjacency matrix is square"):
        Parameter("g", None, graph).accept([[1.0, 2.0]], "k")


@pytest.mark.parametrize(("length", "shown"), [(199, "xx … xx"), (198, "x" * 198 + "'; accepted")])
def test_long_values_are_cut_in_errors(length, shown):
    with pytest.raises(ParameterError) as told:
        Parameter("s", 1.0, positive).accept("x" * length, "k")
    assert str(told.value).startswith("k: s='xxx")
    assert shown in str(told.value)
    assert len(str(told.value)) < 250


@pytest.mark.parametrize(
    ("value", "shape", "fine"),
    [
        (np.ones((2, 3)), (2, 3), True),
        (np.ones((2, 3)), (None, 3), True),
        (np.ones((2, 3)), (2, None), True),
        (np.ones((2, 3)), (3, 3), False),
        (np.ones((2, 3)), (None, 2), False),
        (np.ones(2), (2, None), False),
        (np.ones(2, dtype=np.float32), (2,), False),
        ([1.0, 2.0], (2,), False),
    ],
)
def test_what_a_kernel_learnt_has_the_shape_that_it_needs(value, shape, fine):
    if fine:
        assert check_learnt("k", "w", value, shape) is value
        return
    with pytest.raises(ParameterError, match=r"k: what it learnt as w is .* needed is float64 of shape"):
        check_learnt("k", "w", value, shape)


def test_keys_are_equal_exactly_where_values_are():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)
    values = [None, 1.0, 1, "a", (1, 2), a, b, a.astype(np.float32), a + 1.0, sp.csr_array(a), sp.csr_array(b)]
    values += [sp.csr_array(a + 1.0), a[:, ::-1], SampleParts((a, b[:2])), SampleParts((b[:2], a))]
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            same = i == j or {i, j} == {1, 2}  # 1 and 1.0 are one number
            assert (value_key(one) == value_key(other)) == same, (i, j)
        hash(value_key(one))
    assert value_key(np.asfortranarray(a)) == value_key(a)
    assert value_key(sp.csr_array(a)) == value_key(sp.csr_array(a.copy()))
