"""Spectral measures against numerical Fourier transforms, and random features against kernels."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_asymmetric import AsKRFF, spectral_measure, tabulated
from kernreg_asymmetric.shift_invariant.measures import PART_PHASES
from scipy import integrate
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import kernreg
from kernreg import make_kernel
from kernreg.errors import ParameterError

ASYMMETRIC = [
    "shift-gauss(sigma=1.5, shift=0.6)",
    "sinh-gauss(sigma=2.0, beta=0.8, tau=1.5)",
    "cosh-gauss(sigma=1.5, beta=0.7, tau=2.0)",
    "skew-laplace(above=2.0, below=0.7)",
]
EVEN = [
    "rbf(sigma=1.5)",
    "laplacian(sigma=3.0)",
    "matern(sigma=2.0, nu=1.5)",
    "matern(sigma=2.0, nu=0.5)",
    "cauchy(sigma=2.0)",
]


def skewed(gap):
    return np.exp(-(gap**2) / 2.0) * (1.0 + 0.6 * np.tanh(2.0 * gap))


def kernels():
    return [
        *map(make_kernel, ASYMMETRIC + EVEN),
        tabulated(skewed, 8.0),
        make_kernel(ASYMMETRIC[3]).T,
        2.5 * make_kernel(ASYMMETRIC[0]),
    ]


@pytest.fixture
def X():
    return np.random.default_rng(3).normal(size=(60, 3))


@pytest.mark.parametrize("spec", ASYMMETRIC)
def test_masses_on_the_line_are_those_of_a_numerical_fourier_transform(spec):
    kernel = make_kernel(spec)
    gaps = np.linspace(-20.0, 20.0, 40001)
    values = kernel(gaps[:, None], np.zeros((1, 1)))[:, 0]
    frequencies = np.sinh(np.linspace(-5.3, 5.3, 801))  # to ± 100, fine near zero
    transform = np.array([integrate.simpson(values * np.exp(-1j * w * gaps), x=gaps) for w in frequencies]) / (
        2 * np.pi
    )
    parts = transform.real, -transform.real, transform.imag, -transform.imag
    expected = [integrate.trapezoid(np.maximum(part, 0.0), frequencies) for part in parts]
    measure = spectral_measure(kernel, 1)
    # Of a Laplacian, whose spectrum falls as 1/ω², 0.7 % lie beyond these frequencies.
    tolerance = 1e-2 if "laplace" in spec else 5e-4
    np.testing.assert_allclose(measure.parts, expected, atol=tolerance)
    np.testing.assert_allclose(measure.mass, integrate.trapezoid(np.abs(transform), frequencies), atol=tolerance)


@pytest.mark.parametrize("kernel", kernels(), ids=repr)
def test_part_masses_in_several_dimensions_are_means_over_samples(kernel):
    measure = spectral_measure(kernel, 3)
    _, phases = measure.draw(np.random.default_rng(0), 200_000)
    expected = [measure.mass * np.maximum(np.cos(phases - angle), 0.0).mean() for angle in PART_PHASES]
    np.testing.assert_allclose(measure.parts, expected, atol=6e-3 * measure.mass)
    assert measure.mass * (1 - 1e-9) <= measure.parts.sum() <= np.sqrt(2.0) * measure.mass * (1 + 1e-3)


@pytest.mark.parametrize("form", ["polar", "parts"])
@pytest.mark.parametrize("kernel", kernels(), ids=repr)
def test_error_at_4096_frequencies_is_below_the_bound(kernel, form, X):
    K = kernel(X)
    map = AsKRFF(kernel, 4096, form=form).fit(X)
    error = np.sqrt(np.mean((map.transform(X) @ map.transform_right(X).T - K) ** 2))
    mass = map.mass_ if form == "polar" else map.part_masses_.sum()
    assert error <= 1.2 * mass / np.sqrt(4096)
    np.testing.assert_allclose(map.kernel_(X), map.transform(X) @ map.transform_right(X).T, atol=1e-12)


@pytest.mark.parametrize("form", ["polar", "parts"])
@pytest.mark.parametrize("spec", ASYMMETRIC)
def test_the_error_falls_as_the_root_of_the_number_of_frequencies(spec, form, X):
    K, sizes = make_kernel(spec)(X), np.array([32, 128, 512, 2048])
    errors = []
    for size in sizes:
        maps = [AsKRFF(spec, int(size), form=form, random_state=seed).fit(X) for seed in range(12)]
        errors.append(np.mean([np.mean((m.transform(X) @ m.transform_right(X).T - K) ** 2) for m in maps]))
    slope = np.polyfit(np.log(sizes), 0.5 * np.log(errors), 1)[0]
    assert -0.56 < slope < -0.44


@pytest.mark.parametrize("form", ["polar", "parts"])
def test_the_mean_of_many_estimates_is_the_kernel(form, X):
    spec = ASYMMETRIC[1]
    estimates = [AsKRFF(spec, 512, form=form, random_state=seed).fit(X).kernel_(X) for seed in range(60)]
    bound = AsKRFF(spec, 512 * 60, form=form).fit(X).error_bound_
    assert np.sqrt(np.mean((np.mean(estimates, axis=0) - make_kernel(spec)(X)) ** 2)) < bound


def test_polar_form_has_the_smaller_error(X):
    spec = "shift-gauss(sigma=1.0, shift=1.0)"
    K = make_kernel(spec)(X)
    polar, parts = (
        np.mean([np.mean((AsKRFF(spec, 256, form=form, random_state=s).fit(X).kernel_(X) - K) ** 2) for s in range(30)])
        for form in ("polar", "parts")
    )
    assert polar < 0.8 * parts


def test_a_shifted_gaussian_has_the_features_of_shifted_samples(X):
    shifted = AsKRFF("shift-gauss(sigma=2.0, shift=0.5)", 64).fit(X)
    np.testing.assert_allclose(shifted.transform(X + 0.5), shifted.transform_right(X), atol=1e-12)


def test_features_stand_before_linear_learners_and_in_chains():
    from sklearn.datasets import load_wine
    from sklearn.preprocessing import StandardScaler

    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), AsKRFF("skew-laplace(above=8.0, below=6.0)", 400), RidgeClassifier())
    assert pipeline.fit(X, y).score(X, y) > 0.95
    chain = kernreg.make_chain("ask-rff(n_frequencies=100)", "ls-svm(kernel='linear')", kernel="rbf(sigma=4.0)")
    Z = StandardScaler().fit_transform(X)
    assert chain.fit(Z, y).score(Z, y) > 0.95


def test_the_kernel_of_features_serves_low_rank_ask_ls():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(2.0 * X[:, 0]) > X[:, 1]
    kernel = AsKRFF("shift-gauss(sigma=1.5, shift=0.3)", 30).fit(X).kernel_
    exact = kernreg.make_solver("ask-ls", kernel=kernel, gamma=0.01, strategy="exact").fit(X, y)
    lowrank = kernreg.make_solver("ask-ls", kernel=kernel, gamma=0.01, strategy="lowrank", n_landmarks=120).fit(X, y)
    assert lowrank.solver_report_.rank <= 60
    for name, view in exact.decision_views(X).items():
        np.testing.assert_allclose(lowrank.decision_views(X)[name], view, atol=1e-5)


def test_what_has_no_measure_is_refused(X):
    with pytest.raises(ParameterError, match=r"spectral measure of the kernel 'poly'.*shift-gauss.*tabulated"):
        AsKRFF("poly").fit(X)
    with pytest.raises(ParameterError, match="jumps has no spectral measure"):
        AsKRFF(tabulated(lambda gap: (gap > 0.0) * np.exp(-gap), 20.0)).fit(X)
    with pytest.raises(ParameterError, match="n_frequencies=0 is not accepted; give an integer of at least 1"):
        AsKRFF(n_frequencies=0).fit(X)
    with pytest.raises(ParameterError, match="odd number of values"):
        make_kernel("profile-product", values=[[1.0, 2.0]])(X)


def test_float32_and_sparse_samples(X):
    import scipy.sparse as sp

    map = AsKRFF("cosh-gauss(sigma=2.0)", 64).fit(X)
    assert map.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(map.transform(X.astype(np.float32)), map.transform(X), atol=1e-5)
    np.testing.assert_allclose(map.transform_right(sp.csr_array(X)), map.transform_right(X), atol=1e-12)


def test_a_map_survives_a_model_file(X, tmp_path):
    map = AsKRFF(tabulated(skewed, 8.0), 32, form="parts").fit(X)
    kernreg.save(map, tmp_path / "map.kern")
    loaded = kernreg.load(tmp_path / "map.kern")
    assert np.array_equal(loaded.transform(X), map.transform(X))
    assert np.array_equal(loaded.transform_right(X), map.transform_right(X))
    assert loaded.kernel_ == map.kernel_
