"""gower: by the formula, pair by pair, by the package gower where it is defined, and on data frames."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from kernreg_structured import gower
from kernreg_structured.mixed import table
from kernreg_structured.tables import category_code

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.solvers import LSSVC

pd = pytest.importorskip("pandas")


def formula(x, z, categorical, ranges, weights):
    """The coefficient of one pair; a value that is not itself is missing."""
    top = bottom = 0.0
    for k, (a, b) in enumerate(zip(x, z, strict=True)):
        if a is None or b is None or a != a or b != b:
            continue
        if k in categorical or ranges[k] == 0.0:
            score = float(a == b)
        else:
            score = 1.0 - min(1.0, abs(a - b) / ranges[k])
        top, bottom = top + weights[k] * score, bottom + weights[k]
    return top / bottom if bottom else 0.0


def numbers(rng, n, missing):
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, (n, 3)), np.ones(n)])
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.mark.parametrize("missing", [0.0, 0.2, 0.8])
@pytest.mark.parametrize("weights", [None, (1.0, 0.5, 0.0, 2.0, 1.0, 0.3, 1.0)])
def test_values_are_those_of_the_formula(missing, weights):
    rng = np.random.default_rng(0)
    X, Z = numbers(rng, 300, missing), numbers(rng, 290, missing)
    Z[3] = np.nan  # nothing at all
    Z[4, :3] = 100.0  # beyond the ranges of the reference set
    k = gower(categorical=(3, 4, 5), weights=weights)
    ranges = [np.nanmax(X[:, c]) - np.nanmin(X[:, c]) if c < 3 else 0.0 for c in range(7)]
    K = k.bind(X)(X, Z)
    w = np.ones(7) if weights is None else weights
    for i in range(0, 300, 23):
        for j in range(12):
            assert K[i, j] == pytest.approx(formula(X[i], Z[j], (3, 4, 5), ranges, w), abs=1e-13)
    np.testing.assert_allclose(k.bind(X).ranges, ranges, rtol=1e-15)
    assert (K[:, 3] == 0.0).all()


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weights", [None, (0.1, 0.7, 0.0, 2.3, 1.0, 0.3, 1.1)])
def test_a_value_has_the_same_bits_wherever_it_stands(missing, weights):
    rng = np.random.default_rng(3)
    X, Z = numbers(rng, 600, missing), numbers(rng, 300, missing)
    X[5:40] = numbers(rng, 35, 0.0)  # blocks with and without missing values
    k = gower(categorical=(3, 4, 5), weights=weights).bind(X)
    with kr.config_context(threads=1):
        K, L = k(X), k(X, Z)
    with kr.config_context(threads=3):
        np.testing.assert_array_equal(k(X), K)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(k(Z, X), L.T)
    np.testing.assert_array_equal(np.vstack([block for _, block in k.blocks(X, block_rows=37)]), K)
    rows = rng.permutation(600)[:90]
    np.testing.assert_array_equal(k(X[rows], Z[:50]), L[rows, :50])
    np.testing.assert_array_equal(k(X[5:40]), K[5:40, 5:40])
    out = np.empty((600, 600)).T
    np.testing.assert_array_equal(k(X, out=out), K)


def test_weights_may_be_of_any_sizes_where_values_are_missing():
    X = np.array([[1.0, np.nan, 2.0], [np.nan, 3.0, 4.0], [1.0, 5.0, np.nan]])
    weights, ranges = (1e-20, 1.0, 0.3), (1.0, 4.0, 2.0)
    K = gower(ranges=ranges, weights=weights)(X)
    expected = [[formula(x, z, (), ranges, weights) for z in X] for x in X]
    np.testing.assert_allclose(K, expected, atol=1e-15)


def people(rng, n):
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "pay": rng.normal(50.0, 10.0, n),
            "town": rng.choice(["Bonn", "Köln", "Trier"], n).astype(object),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
            "owner": rng.random(n) < 0.5,
        }
    )


def test_equal_to_the_package_gower_where_that_is_defined():
    package = pytest.importorskip("gower")
    rng = np.random.default_rng(1)
    frame = people(rng, 120)
    distances = package.gower_matrix(frame.astype({"town": object, "sex": object, "owner": object}))
    np.testing.assert_allclose(gower()(frame), 1.0 - distances, atol=2e-6)  # float32 there
    X = rng.normal(size=(50, 4)) + 3.0
    weights = np.array([1.0, 2.0, 0.5, 1.0])
    distances = package.gower_matrix(X, weight=weights, cat_features=np.zeros(4, dtype=bool))
    np.testing.assert_allclose(gower(weights=tuple(weights))(X), 1.0 - distances, atol=2e-6)


def test_data_frames_lists_and_arrays_of_objects_are_one():
    frame = people(np.random.default_rng(2), 40)
    K = gower()(frame)
    np.testing.assert_array_equal(gower()(frame.values.tolist()), K)
    np.testing.assert_array_equal(gower()(frame.astype(object).to_numpy()), K)
    np.testing.assert_array_equal(gower()(frame.astype({"town": "string", "age": "Int64"})), K)
    np.testing.assert_array_equal(gower()(frame.astype({"town": "category"})), K)
    w = np.ones(5)
    ranges = [np.ptp(frame["age"]), np.ptp(frame["pay"]), 0, 0, 0]
    rows = frame.values.tolist()
    expected = [[formula(x, z, (2, 3, 4), ranges, w) for z in rows] for x in rows]
    np.testing.assert_allclose(K, expected, atol=1e-13)


def test_missing_values_of_every_kind():
    frame = pd.DataFrame(
        {
            "n": [1.0, np.nan, 3.0],
            "i": pd.array([1, None, 5], dtype="Int64"),
            "s": pd.Series(["a", None, "b"], dtype="string"),
            "o": ["x", np.nan, None],
            "c": pd.Categorical(["u", None, "u"]),
        }
    )
    K = gower()(frame)
    np.testing.assert_allclose(K, [[1.0, 0.0, 0.25], [0.0, 0.0, 0.0], [0.25, 0.0, 1.0]], atol=1e-15)


def test_a_column_of_missing_values_may_be_of_either_kind():
    X = pd.DataFrame({"n": [1.0, 3.0], "s": ["a", "b"]})
    for nothing in (np.nan, None):
        Z = pd.DataFrame({"n": [1.0, 2.0], "s": [nothing, nothing]})
        assert gower(ranges=(2.0, 5.0))(X, Z).tolist() == [[1.0, 0.5], [0.0, 0.5]]
        assert gower(ranges=(2.0, 5.0))(Z, X).tolist() == [[1.0, 0.0], [0.5, 0.5]]


def test_polars_frames_are_read():
    polars = pytest.importorskip("polars")
    frame = people(np.random.default_rng(3), 20)
    columns = {name: frame[name].tolist() for name in frame.columns}
    np.testing.assert_array_equal(gower()(polars.DataFrame(columns)), gower()(frame))


def test_polars_frames_fit_machines_and_what_they_cannot_hold_is_refused(tmp_path):
    polars = pytest.importorskip("polars", reason="polars is optional")
    rng = np.random.default_rng(2)
    numbers, towns = rng.normal(size=60), rng.choice(["Bonn", "Ulm", "Trier"], 60)
    y = numbers + (towns == "Ulm") > 0.3
    numbers[::9] = np.nan
    values = [None if np.isnan(v) else float(v) for v in numbers]
    frame = polars.DataFrame({"number": values, "town": towns.tolist(), "kind": [None, *range(59)]})
    same = pd.DataFrame({"number": numbers, "town": towns, "kind": [np.nan, *range(59)]})
    coded = frame.with_columns(polars.col("town").cast(polars.Categorical))
    model = LSSVC(kernel="gower", gamma=1.0).fit(same[:40], y[:40])
    for given in (frame, coded):
        found = LSSVC(kernel="gower", gamma=1.0).fit(given[:40], y[:40])
        assert np.array_equal(found.decision_function(given[40:]), model.decision_function(same[40:]))
    kr.save(found, tmp_path / "model.kern")
    assert np.array_equal(kr.load(tmp_path / "model.kern").predict(coded[40:]), found.predict(coded[40:]))
    with pytest.raises(DataError, match="choose the same, in one order"):
        found.predict(coded[40:].select(["town", "number", "kind"]))
    with pytest.raises(DataError, match=r"X\.collect\(\)"):
        gower()(frame.lazy())
    with pytest.raises(DataError, match="dates or durations"):
        gower()(frame.with_columns(polars.lit(datetime.date(2020, 1, 1)).alias("day")))
    with pytest.raises(DataError, match="beyond 2"):
        gower()(polars.DataFrame({"id": [None, 2**60 + 1]}))


def test_a_wrong_number_in_an_array_is_named_by_its_column():
    X = np.ones((4, 3))
    X[2, 1] = np.inf
    with pytest.raises(DataError, match=r"X\[:, 1\] holds infinite"):
        gower()(X)
    with pytest.raises(DataError, match=r"X\[:, 2\] holds integers beyond"):
        gower()(np.array([[0, 1, 2], [3, 4, 2**60]]))
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert table.samples(X).about["categorical"] == (None, False)


def test_an_unknown_category_is_different_from_all():
    k = gower().bind([["red"], ["blue"]])
    assert k([["green"]], [["red"], ["blue"], ["green"], [None]]).tolist() == [[0.0, 0.0, 1.0, 0.0]]


def test_codes_of_categories():
    values = ["1", 1, 1.5, b"1", datetime.date(2020, 1, 1), "number 1", pd.Interval(0, 1), pd.Timestamp("2020-01-01")]
    assert len({category_code(value) for value in values}) == len(values)
    assert category_code(np.int64(3)) == category_code(3.0) == category_code(np.float32(3.0))
    assert category_code(np.str_("a")) == category_code("a")
    assert category_code(True) == category_code(1)
    for missing in (None, np.nan, pd.NA, pd.NaT):
        assert np.isnan(category_code(missing))
    many = {category_code(number) for number in range(100_000)}
    assert len(many) == 100_000
    with pytest.raises(DataError, match="a category is a object"):
        category_code(object())


def test_a_fit_on_a_data_frame_is_saved_and_predicts_new_rows(tmp_path):
    rng = np.random.default_rng(5)
    frame = people(rng, 150)
    y = (frame["pay"] + 12.0 * (frame["town"] == "Bonn") > 54.0).to_numpy()
    frame.loc[rng.random(150) < 0.1, "pay"] = np.nan
    model = kr.make_solver("ls-svm", kernel="gower", gamma=10.0).fit(frame[:100], y[:100])
    assert model.score(frame[100:], y[100:]) > 0.75
    kr.save(model, tmp_path / "m.kern")
    new = frame[100:].copy()
    new["town"] = "Mainz"
    np.testing.assert_array_equal(kr.load(tmp_path / "m.kern").decision_function(new), model.decision_function(new))
    with pytest.raises(DataError, match="choose the same, in one order"):
        model.predict(new[["pay", "age", "town", "sex", "owner"]])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: gower()([[np.inf, 1.0]]), "infinite"),
        (lambda: gower()([[1.0], [1.0, 2.0]]), "all have as many"),
        (lambda: gower()(np.zeros(3)), "1 dimension"),
        (lambda: gower()(np.zeros((2, 2)), np.zeros((2, 3))), "columns"),
        (lambda: gower(ranges=(1.0, 1.0))([[1.0, 2.0]], [["a", 2.0]]), "categories in Z and numbers"),
        (lambda: gower(categorical=(7,))([[1.0]]), "names column 7"),
        (lambda: gower(categorical=("town",))([[1.0]]), "'town'"),
        (lambda: gower(ranges=(1.0,))([[1.0, 2.0]]), "ranges has 1"),
        (lambda: gower(weights=(0.0, 0.0))([[1.0, 2.0]]), "all weights are 0"),
        (lambda: gower()([[2**60 + 1.0, "a"], [object(), "b"]]), "a category is a object"),
        (lambda: gower()(pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])})), "dates"),
        (lambda: gower()(np.array([[2**60 + 1]])), r"2\*\*53"),
        (lambda: gower()(np.zeros((2, 0))), "no columns"),
    ],
)
def test_wrong_samples_are_refused(make, said):
    with pytest.raises(DataError, match=said):
        make()


@pytest.mark.parametrize(
    "wrong",
    [{"ranges": "all"}, {"ranges": (-1.0,)}, {"weights": (-1.0,)}, {"categorical": "town"}, {"categorical": (-1,)}],
)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match="accepted is"):
        gower(**wrong)


def test_weights_and_ranges_that_float64_cannot_hold_together_are_refused():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [np.nan, 0.0]])
    assert gower(weights=(1e308, 1e308)).bind(X)(X).tolist() == gower().bind(X)(X).tolist()
    with pytest.raises(DataError, match="less than 1e-290"):
        gower(weights=(1e-200, 1e200)).bind(X)(X)
    with pytest.raises(DataError, match="scale the column"):
        gower().bind(X * [1e-310, 1.0])(X)
