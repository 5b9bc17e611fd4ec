"""gak: the sum over alignments, by enumerating them, by logarithms in extended precision, and by tslearn."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_structured import gak, log_gak

import kernreg as kr
from kernreg.errors import DataError, ParameterError


def alignments(n, m, i=0, j=0):
    """Yield all lists of pairs from (0, 0) to (n - 1, m - 1)."""
    if (i, j) == (n - 1, m - 1):
        yield [(i, j)]
        return
    for step in ((1, 0), (0, 1), (1, 1)):
        a, b = i + step[0], j + step[1]
        if a < n and b < m:
            for rest in alignments(n, m, a, b):
                yield [(i, j), *rest]


def local(x, z, i, j, sigma, band):
    kappa = np.exp(-np.sum((x[i] - z[j]) ** 2) / (2 * sigma**2))
    kappa *= max(0.0, 1.0 - abs(i - j) / band) if band else 1.0
    return kappa / (2.0 - kappa)


def enumerated(x, z, sigma, band=0):
    x, z = np.atleast_2d(x.T).T, np.atleast_2d(z.T).T
    return sum(np.prod([local(x, z, i, j, sigma, band) for i, j in pi]) for pi in alignments(len(x), len(z)))


def logarithms(x, z, sigma, band=0):
    """The recursion in logarithms, in the longest floats there are."""
    x, z = (np.atleast_2d(side.T).T.astype(np.longdouble) for side in (x, z))
    M = np.full((len(x) + 1, len(z) + 1), -np.inf, dtype=np.longdouble)
    M[0, 0] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(len(x)):
            for j in range(len(z)):
                weight = max(0.0, 1.0 - abs(i - j) / band) if band else 1.0
                if weight > 0.0:
                    u = -((x[i] - z[j]) ** 2).sum() / (2 * sigma**2) + np.log(np.longdouble(weight))
                    before = np.logaddexp(np.logaddexp(M[i, j + 1], M[i + 1, j]), M[i, j])
                    M[i + 1, j + 1] = before + u - np.log(2 - np.exp(u))
    return M[-1, -1]


@pytest.mark.parametrize(
    ("n", "m", "d", "sigma", "band"),
    [
        (1, 1, 1, 1.0, 0),
        (1, 4, 2, 0.7, 0),
        (5, 3, 1, 1.3, 0),
        (5, 5, 3, 1.0, 0),
        (5, 4, 1, 1.0, 2),
        (4, 5, 2, 2.0, 3),
    ],
)
def test_values_are_sums_over_all_alignments(n, m, d, sigma, band):
    rng = np.random.default_rng(n + 10 * m)
    x, z = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    raw = gak(sigma=sigma, band=band, normalize=False)
    expected = enumerated(x, z, sigma, band)
    assert raw([x], [z])[0, 0] == pytest.approx(expected, rel=1e-13)
    both = np.sqrt(enumerated(x, x, sigma, band) * enumerated(z, z, sigma, band))
    assert gak(sigma=sigma, band=band)([x], [z])[0, 0] == pytest.approx(expected / both, rel=1e-12)


@pytest.mark.parametrize("sigma", [0.003, 0.1, 1.0, 30.0])
@pytest.mark.parametrize(("n", "m", "band"), [(90, 70, 0), (70, 90, 0), (80, 80, 7), (80, 86, 7)])
def test_logarithms_are_exact_far_beyond_the_range_of_floats(n, m, band, sigma):
    rng = np.random.default_rng(n)
    x, z = rng.normal(size=(n, 2)).cumsum(axis=0), rng.normal(size=(m, 2)).cumsum(axis=0)
    expected = logarithms(x, z, sigma, band)
    found = log_gak([x], [z], sigma=sigma, band=band)[0, 0]
    assert abs(found - expected) <= 1e-13 * max(1.0, abs(expected))


def test_paths_through_a_strait_are_not_lost():
    # All mass lies where an alignment is dear later: rescaling whole antidiagonals would lose what counts in the end.
    x, z = np.r_[np.zeros(40), 60.0 * np.ones(40)], np.r_[np.zeros(5), 60.0 * np.ones(75)]
    z[-1] = x[-1] = 500.0
    expected = logarithms(x, z, 0.5)
    assert log_gak([x], [z], sigma=0.5)[0, 0] == pytest.approx(float(expected), rel=1e-13)


def test_series_of_ten_thousand_steps_are_finite_and_exact():
    # Equal series: every local similarity is 1, and the sum is the number of alignments, of Delannoy.
    n = 10_000
    a, b = 1.0, 3.0  # D(n) = ((6n - 3) D(n - 1) - (n - 1) D(n - 2)) / n, as ratios r(n) = D(n) / D(n - 1)
    ratio, total = b / a, np.log(b / a)
    for k in range(2, n):
        ratio = ((6 * k - 3) - (k - 1) / ratio) / k
        total += np.log(ratio)
    x = np.zeros(n)
    assert log_gak([x], sigma=1.0)[0, 0] == pytest.approx(total, rel=1e-13)
    rng = np.random.default_rng(0)
    noisy = [np.sin(np.arange(n) / 50.0) + 0.01 * rng.normal(size=n) for _ in range(2)]
    K = gak(sigma=1.0, band=50)(noisy)
    assert np.isfinite(K).all()
    assert 0.0 < K[0, 1] < 1.0
    assert K[0, 0] == 1.0


def test_kernel_of_many_lengths_and_blocks_is_that_of_single_pairs():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(int(rng.integers(1, 40)), 2)) for _ in range(37)]
    K = gak(sigma=1.0)(X)
    np.testing.assert_allclose(K, K.T, rtol=1e-12)
    np.testing.assert_array_equal(K.diagonal(), 1.0)
    logs = np.array([[float(logarithms(x, z, 1.0)) for z in X[:6]] for x in X[:6]])
    own = logs.diagonal()
    np.testing.assert_allclose(K[:6, :6], np.exp(logs - 0.5 * (own[:, None] + own)), rtol=1e-12)
    np.testing.assert_allclose(gak(sigma=1.0, log=True)(X[:6]), logs - 0.5 * (own[:, None] + own), atol=1e-12)


def test_equal_to_tslearn_where_that_is_finite():
    metrics = pytest.importorskip("tslearn.metrics")
    rng = np.random.default_rng(2)
    X = [np.sin(np.arange(int(rng.integers(80, 300))) / 9.0)[:, None] + 0.3 * rng.normal() for _ in range(7)]
    with np.errstate(all="ignore"):
        expected = np.array([[metrics.gak(x, z, sigma=4.0) for z in X] for x in X])
    finite = np.isfinite(expected)
    assert finite.any()
    K = gak(sigma=4.0)(X)
    assert K[~np.eye(7, dtype=bool)].max() > 0.1
    np.testing.assert_allclose(K[finite], expected[finite], rtol=0, atol=1e-8)


def test_words_for_sigma():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(int(rng.integers(4, 9)), 2)) for _ in range(8)]
    vectors = np.concatenate(X)
    first, second = np.triu_indices(len(vectors), 1)
    distances = np.sqrt(((vectors[first] - vectors[second]) ** 2).sum(axis=1))
    root = np.sqrt(np.median([len(x) for x in X]))
    assert gak().bind(X).sigma == pytest.approx(np.median(distances) * root, rel=1e-12)
    assert gak(sigma="2*scale").bind(X).sigma == pytest.approx(2 * np.sqrt(vectors.var(axis=0).sum()) * root, rel=1e-12)
    counts = np.array([2, 1, 0, 3, 1, 1, 2, 1])
    copies = [x for x, count in zip(X, counts, strict=True) for _ in range(count)]
    for word in ("median", "scale"):
        weighted = gak(sigma=word).resolve_widths(X, counts).sigma
        assert weighted == pytest.approx(gak(sigma=word).bind(copies).sigma, rel=1e-6)
    assert gak().bind([np.zeros(4), np.zeros(4)]).sigma == 1.0  # all vectors are the same


def test_classes_of_series_are_learned_and_saved(tmp_path):
    rng = np.random.default_rng(4)
    X = [np.sin(np.linspace(0, 6 + 3 * (i % 2), int(rng.integers(30, 50)))) + 0.1 * rng.normal() for i in range(40)]
    y = np.arange(40) % 2
    model = kr.make_solver("ls-svm", kernel="gak", gamma=10.0).fit(X[:30], y[:30])
    assert model.score(X[30:], y[30:]) >= 0.9
    kr.save(model, tmp_path / "m.kern")
    np.testing.assert_array_equal(kr.load(tmp_path / "m.kern").decision_function(X), model.decision_function(X))


def test_errors():
    with pytest.raises(DataError, match="NaN"):
        gak(sigma=1.0)([[1.0, np.nan]])
    with pytest.raises(DataError, match="is empty"):
        gak(sigma=1.0)([[1.0], []])
    with pytest.raises(DataError, match="beyond float64; use normalize=True"):
        gak(sigma=1.0, normalize=False)([np.zeros(1000)])
    with pytest.raises(DataError, match="differ by band=3"):
        gak(sigma=1.0, band=3, log=True)([np.zeros(4), np.zeros(9)])
    assert gak(sigma=1.0, band=3)([np.zeros(4)], [np.zeros(9)])[0, 0] == 0.0
    with pytest.raises(ParameterError, match="an integer >= 0"):
        gak(band=-1)


@pytest.mark.parametrize(
    ("x", "z", "sigma"),
    [
        ([0.0, 1.0, 2.0], [1e8, 0.0], 1.0),
        ([0.0], [1e9], 1.0),
        ([0.0, 1e9], [0.0, 0.0, 1e9 + 1], 1.0),
        ([0.0, 1e-200], [1e-200], 1e-200),
        ([0.0, 1e200], [1e200], 1e200),
        ([0.0] * 5, [3e12, 0.0, 1e3], 1e-3),
    ],
)
def test_logarithms_are_right_however_far_vectors_are_apart(x, z, sigma):
    x, z = np.array(x), np.array(z)
    unit = np.longdouble(sigma)
    exact = float(logarithms(x / unit, z / unit, 1.0))
    assert log_gak([x], [z], sigma=sigma)[0, 0] == pytest.approx(exact, rel=1e-12)
    assert np.isfinite(gak(sigma=sigma)([x, z])).all()


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("sigma", ["median", "scale"])
def test_words_for_sigma_follow_series_of_any_size(size, sigma):
    series = [np.array([1.0, 2.0]), np.array([5.0]), np.array([3.0, 3.5, 0.0])]
    k = gak(sigma=sigma)
    np.testing.assert_allclose(k([size * x for x in series]), k(series), rtol=1e-12)


def test_sigma_of_series_that_are_constant_is_one():
    assert gak(sigma="scale").bind([np.full(4, 0.1), np.full(4, 0.1), np.full(4, 0.1)]).sigma == 1.0
