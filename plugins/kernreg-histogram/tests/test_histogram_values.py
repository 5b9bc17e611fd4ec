"""The values, against loops over pairs and bins that share no code with the kernels."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_histogram import (
    additive_chi2,
    bhattacharyya,
    containment,
    hellinger,
    histogram_chi2,
    histogram_intersection,
    histogram_kl,
    jensen_shannon,
)

import kernreg
from kernreg.errors import DataError, ParameterError, RangeWarning


def kl(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)


def smoothed(x, smoothing):
    total = sum(x)
    shares = [v / total if total else 1 / len(x) for v in x]
    return [(1 - smoothing) * share + smoothing / len(x) for share in shares]


def chi2_distance(x, y):
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0) / 2


def js(x, y):
    middle = [(a + b) / 2 for a, b in zip(x, y, strict=True)]
    return (kl(x, middle) + kl(y, middle)) / 2


def overlap(x, y):
    return sum(map(min, x, y))


ORACLES = {
    histogram_kl(a=0.7, smoothing=0.05): lambda x, y: math.exp(-0.7 * kl(smoothed(x, 0.05), smoothed(y, 0.05))),
    histogram_chi2(a=0.3): lambda x, y: math.exp(-0.3 * chi2_distance(x, y)),
    hellinger(a=0.4): lambda x, y: math.exp(
        -0.4 * sum((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in zip(x, y, strict=True)) / 2
    ),
    jensen_shannon(a=0.6): lambda x, y: math.exp(-0.6 * js(x, y)),
    additive_chi2(): lambda x, y: sum(2 * a * b / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0),
    bhattacharyya(): lambda x, y: sum(math.sqrt(a * b) for a, b in zip(x, y, strict=True)),
    histogram_intersection(b=0.5): lambda x, y: overlap([a**0.5 for a in x], [b**0.5 for b in y]),
    histogram_intersection(b=1.7): lambda x, y: overlap([a**1.7 for a in x], [b**1.7 for b in y]),
    containment(): lambda x, y: overlap(x, y) / sum(x) if sum(x) else 0.0,
}

every_kernel = pytest.mark.parametrize(("kernel", "oracle"), ORACLES.items(), ids=map(repr, ORACLES))


@pytest.fixture
def histograms():
    """Counts with many empty bins, a row of zeros and a repeated row, in more than one block of 256 rows."""
    rng = np.random.default_rng(3)
    X = rng.poisson(0.8, (300, 11)).astype(float)
    X[5] = 0.0
    X[7] = X[6]
    return X


@every_kernel
@pytest.mark.parametrize("form", ["counts", "distributions"])
def test_values_are_those_of_the_formula(kernel, oracle, form, histograms):
    X = histograms[:20]
    if form == "distributions":
        X = X / np.maximum(X.sum(axis=1, keepdims=True), 1.0)
    expected = [[oracle(x, y) for y in X[4:9].tolist()] for x in X.tolist()]
    np.testing.assert_allclose(kernel(X, X[4:9]), expected, rtol=1e-12, atol=1e-14)


@every_kernel
@pytest.mark.parametrize("sparse_side", ["X", "Z", "both"])
def test_sparse_histograms_give_the_values_of_dense_ones(kernel, oracle, sparse_side, histograms):
    X, Z = histograms, histograms[:7]
    sparse_X = sp.csr_array(X) if sparse_side != "Z" else X
    sparse_Z = sp.csr_array(Z) if sparse_side != "X" else Z
    np.testing.assert_allclose(kernel(sparse_X, sparse_Z), kernel(X, Z), rtol=1e-12, atol=1e-13)


@every_kernel
def test_blocks_do_not_show_in_the_whole_matrix(kernel, oracle, histograms):
    K = kernel(histograms)
    for i, j in [(0, 299), (299, 0), (255, 256), (256, 255), (6, 7), (298, 298)]:
        expected = oracle(histograms[i].tolist(), histograms[j].tolist())
        np.testing.assert_allclose(K[i, j], expected, rtol=1e-12, atol=1e-14)


@every_kernel
def test_pickles(kernel, oracle, histograms):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    np.testing.assert_array_equal(again(histograms[:9]), kernel(histograms[:9]))


@every_kernel
def test_found_by_name(kernel, oracle):
    assert kernreg.make_kernel(repr(kernel)) == kernel
    assert kernreg.make_kernel(f"kernreg-histogram:{kernel.name}", **kernel.get_params()) == kernel


def test_an_empty_bin_makes_kl_small_but_not_zero():
    x, y = [[1.0, 1.0]], [[1.0, 0.0]]
    assert kernreg.make_kernel("kl")(np.divide(x, 2), y)[0, 0] == 0.0
    assert 0.1 < histogram_kl(smoothing=0.01)(x, y)[0, 0] < 0.2


def test_kl_approaches_the_kernel_without_smoothing():
    P = np.random.default_rng(0).dirichlet(np.ones(6), 8)
    expected = kernreg.make_kernel("kl(a=2.0)")(P)
    np.testing.assert_allclose(histogram_kl(a=2.0, smoothing=1e-12)(P), expected, rtol=1e-8)


def test_kl_does_not_depend_on_the_scale_of_a_row(histograms):
    k = histogram_kl()
    scaled = histograms * np.linspace(0.1, 1000.0, len(histograms))[:, None]
    np.testing.assert_allclose(k(scaled), k(histograms), rtol=1e-11)


def test_containment_is_one_exactly_where_the_first_is_inside_the_second():
    small, large = [[1.0, 2.0, 0.0]], [[3.0, 2.0, 9.0]]
    assert containment()(small, large)[0, 0] == 1.0
    assert containment()(large, small)[0, 0] == 3.0 / 14.0


def test_identities_between_the_kernels():
    P = np.random.default_rng(1).dirichlet(np.ones(7), 12)
    np.testing.assert_allclose(histogram_chi2(a=4.0)(P), kernreg.make_kernel("chi2(sigma=0.5)")(P), rtol=1e-13)
    np.testing.assert_allclose(-np.log(histogram_chi2()(P)), 1.0 - additive_chi2()(P), atol=1e-14)
    np.testing.assert_allclose(-np.log(hellinger()(P)), 1.0 - bhattacharyya()(P), atol=1e-14)
    np.testing.assert_array_equal(histogram_intersection()(P), kernreg.make_kernel("intersection")(P))
    np.testing.assert_allclose(containment()(P), kernreg.make_kernel("intersection")(P), rtol=1e-13)


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")
@pytest.mark.parametrize("magnitude", [1e-300, 1e-12, 1e12, 1e150])
def test_counts_of_any_magnitude_give_finite_values(magnitude, histograms):
    X = histograms[:10] * magnitude
    for kernel in ORACLES:
        if kernel.name != "histogram-intersection" or magnitude < 1e150:  # x^1.7 is beyond the largest number there
            assert np.isfinite(kernel(X)).all(), kernel
    np.testing.assert_allclose(histogram_kl()(X), histogram_kl()(histograms[:10]), rtol=1e-11)
    np.testing.assert_allclose(containment()(X), containment()(histograms[:10]), rtol=1e-12)


@pytest.mark.parametrize(
    ("spec", "accepted"),
    [
        ("histogram-kl(a=0)", "histogram-kl: a=0; accepted is a finite number > 0"),
        ("histogram-kl(smoothing=0)", "histogram-kl: smoothing=0; accepted is a number in (0, 1]"),
        ("histogram-kl(smoothing=1.5)", "histogram-kl: smoothing=1.5; accepted is a number in (0, 1]"),
        ("histogram-intersection(b=-1)", "histogram-intersection: b=-1; accepted is a finite number > 0"),
        ("jensen-shannon(a=-2)", "jensen-shannon: a=-2; accepted is a finite number > 0"),
        ("containment(a=1)", "containment has no parameter 'a'"),
    ],
)
def test_wrong_parameters_are_named(spec, accepted):
    with pytest.raises(ParameterError) as raised:
        kernreg.make_kernel(spec)
    assert accepted in str(raised.value)


@every_kernel
def test_negative_entries_are_refused(kernel, oracle):
    with pytest.raises(DataError, match="negative value"):
        kernel([[0.5, -0.5]])


def test_additive_chi2_is_what_scikit_learn_samples_and_differs_from_its_kernel_as_documented():
    from sklearn.kernel_approximation import AdditiveChi2Sampler
    from sklearn.metrics.pairwise import additive_chi2_kernel

    P = np.random.default_rng(0).random((12, 5))
    K = additive_chi2()(P)
    sums = P.sum(axis=1)
    np.testing.assert_allclose(additive_chi2_kernel(P), 2.0 * K - sums[:, None] - sums, atol=1e-12)
    features = AdditiveChi2Sampler(sample_steps=3).fit_transform(P)
    np.testing.assert_allclose(features @ features.T, K, rtol=0.06)  # its feature map is cut off


@pytest.mark.parametrize(
    "name", ["bhattacharyya", "hellinger", "histogram-intersection", "histogram-kl", "jensen-shannon"]
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_beside_float64_is_computed_in_float64(name, form):
    rng = np.random.default_rng(0)
    X, Z = rng.random((7, 6)).astype(np.float32), rng.random((5, 6))
    k = kernreg.make_kernel(name)
    for left, right in ((X, Z), (Z, X)):
        expected = k(left.astype(np.float64), right.astype(np.float64))
        np.testing.assert_allclose(k(form(left), form(right)), expected, rtol=1e-14)
        product = k.operator(form(left), form(right)) @ np.eye(len(right))
        np.testing.assert_allclose(product, expected, rtol=1e-14)


def test_powers_beyond_the_range_of_numbers_are_told():
    with pytest.warns(RangeWarning, match="bins of size 1e-200 to the power 1.7"):
        histogram_intersection(b=1.7)([[1e-200, 0.0]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e300, 1e307])
def test_divergences_of_shares_do_not_depend_on_the_size_of_counts(form, size):
    counts = np.array([[4.0, 0.0, 3.0], [1.0, 8.0, 0.0], [0.0, 0.0, 0.0]])
    k = histogram_kl(a=0.7, smoothing=0.05)
    # So small numbers have few digits.
    np.testing.assert_allclose(k(form(counts * size)), k(counts), rtol=1e-3 if size < 1e-310 else 1e-12)
