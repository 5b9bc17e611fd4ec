"""Side information: labels, pairs and matrices say the same through one interface."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.solvers import SideInformation


def textbook(T):
    """W, D and S as they are written."""
    W = np.array([[np.exp(t) for t in row] for row in np.asarray(T, dtype=float)])
    D = W.sum(axis=1)
    return W, D, np.eye(len(W)) - W / np.sqrt(np.outer(D, D))


def target_of_labels(y, unlabelled):
    n = len(y)
    T = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if y[i] != unlabelled and y[j] != unlabelled:
                T[i, j] = 1.0 if y[i] == y[j] else -1.0
    return T


def random_pairs(rng, n, p):
    chosen = rng.choice(n * (n - 1) // 2, p, replace=False)
    rows, columns = np.triu_indices(n, 1)
    pairs = np.column_stack([rows[chosen], columns[chosen]])
    return pairs[: p // 2], pairs[p // 2 :][:, ::-1]


def cases():
    rng = np.random.default_rng(3)
    y = rng.integers(-1, 3, size=30)
    similar, dissimilar = random_pairs(rng, 25, 20)
    T = rng.choice([-1.0, 0.0, 1.0], size=(20, 20))
    T = np.triu(T, 1) + np.triu(T, 1).T
    half = np.zeros((25, 25))
    half[tuple(similar.T)], half[tuple(dissimilar.T)] = 1.0, -1.0
    return {
        "labels": (SideInformation.from_labels(y), target_of_labels(y, -1)),
        "all-labelled": (SideInformation.from_labels(y % 2), target_of_labels(y % 2, -1)),
        "pairs": (SideInformation.from_pairs(similar, dissimilar, 25), half + half.T),
        "dense": (SideInformation.from_matrix(T), T),
        "sparse": (SideInformation.from_matrix(sp.csr_matrix(T)), T),
        "degrees-of-similarity": (SideInformation.from_matrix(0.3 * T), 0.3 * T),
    }


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_every_form_is_the_graph_of_its_target(name):
    side, T = CASES[name]
    W, D, S = textbook(T)
    rng = np.random.default_rng(0)
    V, v = rng.normal(size=(len(T), 4)), rng.normal(size=len(T))
    A = rng.normal(size=(len(T), len(T)))
    K = A @ A.T
    np.testing.assert_allclose(side.target(), T, atol=1e-15)
    np.testing.assert_allclose(side.degree, D, rtol=1e-13)
    np.testing.assert_allclose(side.matmul(V), W @ V, atol=1e-12)
    np.testing.assert_allclose(side.matmul(v), W @ v, atol=1e-12)
    np.testing.assert_allclose(side.laplacian(V), S @ V, atol=1e-12)
    np.testing.assert_allclose(side.laplacian(v), S @ v, atol=1e-12)
    np.testing.assert_allclose(side.quadratic_forms(V), np.diag(V.T @ S @ V), atol=1e-12)
    assert side.loss(K) == pytest.approx((K * S).sum(), rel=1e-12)
    assert np.linalg.eigvalsh(S)[0] > -1e-12
    np.testing.assert_allclose(side.laplacian(np.sqrt(side.degree)), 0.0, atol=1e-12)
    factors = side.factors()
    if factors is not None:
        U, C = factors
        np.testing.assert_allclose((U @ C @ U.T).toarray(), W / np.sqrt(np.outer(D, D)), atol=1e-14)
    assert (factors is None) == (side.form == "matrix")
    similar, dissimilar = side.pairs()
    assert {tuple(p) for p in similar.tolist()} == {tuple(p) for p in np.argwhere(np.triu(T, 1) > 0).tolist()}
    assert {tuple(p) for p in dissimilar.tolist()} == {tuple(p) for p in np.argwhere(np.triu(T, 1) < 0).tolist()}


def test_rank_of_labels_is_at_most_classes_plus_two():
    side = SideInformation.from_labels([0, 1, 2, -1] * 10)
    U, _ = side.factors()
    assert U.shape == (40, 5)
    assert np.linalg.matrix_rank(side.matmul(np.eye(40))) <= 5


def test_loss_over_many_columns_is_the_same():
    rng = np.random.default_rng(1)
    y = rng.integers(-1, 4, size=1100)
    side = SideInformation.from_labels(y)
    v = rng.normal(size=1100)
    assert side.loss(np.outer(v, v)) == pytest.approx(float(side.quadratic_forms(v)), rel=1e-10)


@pytest.mark.parametrize(
    ("y", "unlabelled"),
    [
        (np.array([0, 1, 1, -1, 0]), -1),
        (np.array([0.0, 1.0, 1.0, -1.0, 0.0]), -1),
        (["a", "b", "b", "?", "a"], "?"),
        (np.array(["a", "b", "b", "?", "a"]), "?"),
        (["a", "b", "b", -1, "a"], -1),
        (["a", "b", "b", None, "a"], None),
        (np.array([0.0, 1.0, 1.0, np.nan, 0.0]), None),
        (np.array([0.0, 1.0, 1.0, np.nan, 0.0]), float("nan")),
        (np.array([-1, 1, 1, 9, -1]), 9),
        (np.array([[0], [1], [1], [-1], [0]]), -1),
    ],
    ids=["int", "float", "list", "text", "mixed", "none", "missing", "nan", "minus-one-is-a-class", "column"],
)
def test_labels_of_any_type_and_marker(y, unlabelled):
    side = SideInformation.from_labels(y, unlabelled)
    assert side.codes.tolist() == [0, 1, 1, -1, 0]
    assert side.labelled.tolist() == [0, 1, 2, 4]
    assert len(side.classes) == 2


def test_pandas_labels():
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(["x", "y", None, "y"])
    assert SideInformation.from_labels(y, None).codes.tolist() == [0, 1, -1, 1]
    y = pandas.Series(pandas.Categorical(["x", "y", "?", "y"]))
    assert SideInformation.from_labels(y, "?").codes.tolist() == [0, 1, -1, 1]
    for values, dtype in ((["x", "y", pandas.NA, "y"], "string"), ([3, 4, pandas.NA, 4], "Int64")):
        y = pandas.Series(values, dtype=dtype)
        for marker in (None, pandas.NA):
            assert SideInformation.from_labels(y, marker).codes.tolist() == [0, 1, -1, 1]
        with pytest.raises(DataError, match="1 missing values"):
            SideInformation.from_labels(y)
    dates = pandas.to_datetime(["2020-01-01", "2021-01-01", None, "2021-01-01"])
    assert SideInformation.from_labels(dates, None).codes.tolist() == [0, 1, -1, 1]


def test_minus_one_is_a_class_where_no_marker_is_set():
    assert SideInformation.from_labels([-1, 1, 1], None).codes.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("y", "unlabelled", "says"),
    [
        ([-1, -1, -1], -1, "no labels: all 3 entries are -1"),
        ([3, 3, 3], -1, "one class only, .*3.*, in 3 labels"),
        ([-1, 1, 1], -1, "1 entries -1 are taken as unlabelled: if that is a class, set unlabelled=None"),
        (np.array(["a", "b", "-1"]), -1, "give unlabelled='-1'"),
        ([0.1, 0.2, 0.7], -1, "does not hold class labels"),
        ([0.0, 1.0, np.nan], -1, "1 missing values"),
        (["a", 1, "b"], -1, "mixes 2 labels that are text with 1"),
        (np.zeros((3, 2)), -1, "shape \\(3, 2\\)"),
        (5, -1, "y is int"),
        ([], -1, "no labels: all 0 entries"),
        ([(1, 2), (1, 3), -1], -1, r"sequences, for example \(1, 2\)"),
        (sp.csr_array([[0, 1]]), -1, "y is a sparse array"),
        (np.ma.masked_array([0, 1, 2], mask=[False, False, True]), -1, "y is a masked array"),
    ],
    ids=[
        "none",
        "one-class",
        "minus-one-a-class",
        "marker-as-text",
        "real",
        "nan",
        "mixed",
        "table",
        "number",
        "empty",
        "tuples",
        "sparse",
        "masked",
    ],
)
def test_bad_labels_are_explained(y, unlabelled, says):
    with pytest.raises(DataError, match=says):
        SideInformation.from_labels(y, unlabelled)


def test_a_marker_is_one_value():
    with pytest.raises(ParameterError, match="give one value"):
        SideInformation.from_labels([0, 1, 2], np.array([1, 2]))


@pytest.mark.parametrize(
    ("similar", "dissimilar", "n", "says"),
    [
        ([(0, 1), (2, 3)], [(1, 0)], 5, "similar and as dissimilar, for example \\(0, 1\\)"),
        ([(0, 1), (2, 2)], [], 5, "similar pair 1 is \\(2, 2\\), a sample with itself"),
        ([], [(0, 5)], 5, "name sample 5; with n=5 samples indices are 0 … 4"),
        ([(-1, 2)], [], 5, "name sample -1"),
        ([], [], 5, "no pairs"),
        (None, None, 5, "no pairs"),
        ([(0, 1, 2)], [], 5, "shape \\(1, 3\\)"),
        ([(0.5, 1.0)], [], 5, "type float64"),
        ([(0, 1)], [], 1, "n=1 is not accepted"),
        ([(0, 1)], [], 2.0, "n=2.0 is not accepted"),
        ([(0, 1), (2,)], [], 5, "similar pairs: rows differ in length"),
        (3, [], 5, r"similar pairs have shape \(\)"),
    ],
    ids=[
        "both",
        "itself",
        "beyond",
        "negative",
        "empty",
        "none",
        "triples",
        "fractions",
        "n-1",
        "n-float",
        "ragged",
        "number",
    ],
)
def test_bad_pairs_are_explained(similar, dissimilar, n, says):
    with pytest.raises(DataError, match=says):
        SideInformation.from_pairs(similar, dissimilar, n)


def test_repeated_and_reversed_pairs_count_once():
    once = SideInformation.from_pairs([(0, 1)], [(2, 3)], 4)
    often = SideInformation.from_pairs([(0, 1), (1, 0), (0, 1)], np.array([[3, 2], [2, 3]]), 4)
    np.testing.assert_array_equal(once.target(), often.target())
    assert often.factors()[0].shape == (4, 5)
    any_iterable = SideInformation.from_pairs({(0, 1)}, zip([3], [2], strict=True), 4)
    np.testing.assert_array_equal(once.target(), any_iterable.target())


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_bad_matrices_are_explained(kind):
    T = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, -1.0], [0.0, -1.0, 0.0]])
    with pytest.raises(DataError, match="zero everywhere"):
        SideInformation.from_matrix(kind(0 * T))
    with pytest.raises(AsymmetryError, match=r"largest .* is 2"):
        SideInformation.from_matrix(kind(np.triu(T, 1) - np.tril(T)))
    with pytest.raises(DataError, match="square"):
        SideInformation.from_matrix(kind(T[:2]))
    with pytest.raises(DataError, match="NaN"):
        SideInformation.from_matrix(kind(np.where(T > 0, np.nan, T)))
    with pytest.raises(DataError, match="dtype"):
        SideInformation.from_matrix([["a", "b"], ["b", "a"]])
    for size in (1000.0, -1000.0):
        with pytest.raises(DataError, match=r"size 1000, beyond the range of exp\(T\)"):
            SideInformation.from_matrix(kind(size * T))
    with pytest.raises(DataError, match="nothing is known about any pair"):
        SideInformation.from_matrix(kind(np.eye(3)))
    with pytest.raises(DataError, match="rows differ in length"):
        SideInformation.from_matrix([[1.0, 0.0], [0.0]])
    with pytest.raises(DataError, match="about 3 samples"):
        SideInformation.from_matrix(kind(T)).loss(np.eye(4))


@pytest.mark.parametrize("form", ["labels", "pairs", "matrix"])
def test_vectors_of_another_length_are_explained(form):
    side = {
        "labels": SideInformation.from_labels([0, 1, -1]),
        "pairs": SideInformation.from_pairs([(0, 1)], None, 3),
        "matrix": SideInformation.from_matrix(np.ones((3, 3))),
    }[form]
    for call in (side.matmul, side.laplacian, side.quadratic_forms):
        for wrong in (np.ones(4), np.ones((2, 3)), np.ones((3, 2, 2))):
            with pytest.raises(DataError, match="the side information is about 3 samples"):
                call(wrong)


def test_side_information_is_made_by_its_functions():
    with pytest.raises(TypeError, match="from_labels, from_pairs or from_matrix"):
        SideInformation()


def test_repr_says_what_there_is():
    assert repr(SideInformation.from_labels([0, 1, -1])) == "<side information about 3 samples: 2 labels of 2 classes>"
    pairs = SideInformation.from_pairs([(0, 1)], [(0, 2)], 3)
    assert repr(pairs) == "<side information about 3 samples: 1 similar and 1 dissimilar pairs>"
    assert repr(SideInformation.from_matrix(np.ones((2, 2)))) == "<side information about 2 samples: a dense matrix>"
