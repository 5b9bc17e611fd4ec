"""Shapley values by their definition: a sum over all 2^d coalitions, of the prediction written out in numpy."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.combinations.algebra import compose
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor


def enumerated(value, d):
    """Shapley values of the game ``value(mask)``."""
    cache = {}

    def v(members):
        if members not in cache:
            mask = np.zeros(d, dtype=bool)
            mask[list(members)] = True
            cache[members] = value(mask)
        return cache[members]

    phi = []
    for j in range(d):
        rest, total = [other for other in range(d) if other != j], 0.0
        for size in range(d):
            weight = factorial(size) * factorial(d - 1 - size) / factorial(d)
            for members in combinations(rest, size):
                total = total + weight * (v(tuple(sorted((*members, j)))) - v(members))
        phi.append(total)
    return np.array(phi), v(())


FACTORS = {
    "rbf": lambda x, z: np.exp(-((x - z) ** 2) / 1.7**2),
    "laplacian": lambda x, z: np.exp(-np.abs(x - z) / 2.5),
}
SPECS = {"rbf": "rbf(sigma=1.7)", "laplacian": "laplacian(sigma=2.5)"}


def enumerate_machine(factor, coefficients, intercept, train, x, background):
    """Values and base of one sample, from the factors of the kernel."""

    def f(mask, other):
        k = np.where(mask, factor(x, train), 1.0 if other is None else factor(other, train))
        return k.prod(axis=1) @ coefficients + intercept

    if background is None:
        return enumerated(lambda mask: f(mask, None), len(x))
    return enumerated(lambda mask: np.mean([f(mask, other) for other in background], axis=0), len(x))


@pytest.mark.parametrize("interventional", [False, True])
@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_equals_the_sum_over_all_coalitions(name, interventional):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(25, 6)), rng.normal(size=(25, 2))
    background = X[:4] if interventional else None
    model = LSSVR(kernel=SPECS[name], gamma=5.0).fit(X, Y)
    new = rng.normal(size=(3, 6))
    found = model.explain(new, background)
    assert found.game == ("interventional" if interventional else "kernel")
    for i, x in enumerate(new):
        phi, base = enumerate_machine(FACTORS[name], model.dual_coef_, model.intercept_, X, x, background)
        np.testing.assert_allclose(found.values[i], phi, atol=1e-12)
        np.testing.assert_allclose(found.base_values, base, atol=1e-12)
    np.testing.assert_allclose(found.predictions, model.predict(new), atol=1e-10)


def test_twelve_features():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 12)), rng.normal(size=15)
    model = LSSVR(kernel="rbf(sigma=4.0)", gamma=5.0).fit(X, y)
    x = rng.normal(size=12)
    factor = lambda x, z: np.exp(-((x - z) ** 2) / 16.0)  # noqa: E731  short
    phi, base = enumerate_machine(factor, model.dual_coef_, model.intercept_, X, x, None)
    found = model.explain(x[None])
    np.testing.assert_allclose(found.values[0], phi, atol=1e-10)
    assert abs(found.base_values - base) < 1e-10
    phi, base = enumerate_machine(factor, model.dual_coef_, model.intercept_, X, x, X[:2])
    found = model.explain(x[None], X[:2])
    np.testing.assert_allclose(found.values[0], phi, atol=1e-10)
    assert abs(found.base_values - base) < 1e-10


def test_ask_ls_and_an_asymmetric_product():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(5), 30)
    y = rng.normal(size=30)
    model = AsKLSRegressor(kernel="kl(a=1.0)", gamma=0.2).fit(P[:25], y[:25])
    source, target = (lambda x, z: np.exp(-x * np.log(x / z))), (lambda x, z: np.exp(-z * np.log(z / x)))
    for view, factor, number in (("source", source, 0), ("target", target, 1)):
        found = model.explain(P[25:], view=view)
        for i, x in enumerate(P[25:]):
            phi, base = enumerate_machine(factor, model.dual_coef_[number], model.intercept_[number], P[:25], x, None)
            np.testing.assert_allclose(found.values[i], phi, atol=1e-11)
            assert abs(found.base_values - base) < 1e-11
    both = model.explain(P[25:])
    views = [model.explain(P[25:], view=view).values for view in ("source", "target")]
    np.testing.assert_allclose(both.values, np.mean(views, axis=0), atol=1e-12)
    np.testing.assert_allclose(both.predictions, model.predict(P[25:]), atol=1e-10)


def widths_of_their_own(X):
    return X / np.array([0.5, 1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    "kernel",
    [
        kr.make_kernel("rbf", sigma=2.0) + 0.5 * kr.make_kernel("laplacian", sigma=3.0),
        kr.make_kernel("rbf", sigma=2.0) * kr.make_kernel("laplacian", sigma=3.0),
        kr.make_kernel("rbf", sigma=3.0) ** 2 + kr.make_kernel("linear"),
        compose(kr.make_kernel("rbf", sigma=2.0), widths_of_their_own),
        kr.make_kernel("linear"),
    ],
    ids=["sum", "product", "power", "a width for each feature", "linear"],
)
@pytest.mark.parametrize("interventional", [False, True])
def test_kernels_made_of_products(kernel, interventional):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    model = LSSVR(kernel=kernel, gamma=2.0).fit(X, y)
    new, background = rng.normal(size=(2, 4)), X[:3]
    found = model.explain(new, background if interventional else None)
    np.testing.assert_allclose(found.predictions, model.predict(new), atol=1e-10)
    if interventional:  # by predictions alone: the game needs no factors
        for i, x in enumerate(new):
            phi, base = enumerated(lambda mask, x=x: model.predict(np.where(mask, x, background)).mean(), 4)
            np.testing.assert_allclose(found.values[i], phi, atol=1e-10)
            assert abs(found.base_values - base) < 1e-10


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")
@pytest.mark.parametrize("scale", [0.3, 1.0, 30.0])
def test_many_features_are_stable(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 200)), rng.normal(size=40)
    model = LSSVR(kernel=f"rbf(sigma={scale * 15.0})", gamma=10.0).fit(X, y)
    for background in (None, X[:5]):
        found = model.explain(X[:5], background)
        assert np.isfinite(found.values).all()
        np.testing.assert_allclose(found.predictions, model.predict(X[:5]), atol=1e-10)
    # Equal features get equal shares; one that is constant in the data gets none.
    X[:, 1], X[:, 2] = X[:, 0], 0.7
    found = LSSVR(kernel=f"rbf(sigma={scale * 15.0})", gamma=10.0).fit(X, y).explain(X[:5])
    np.testing.assert_allclose(found.values[:, 0], found.values[:, 1], atol=1e-12)
    assert np.abs(found.values[:, 2]).max() == 0.0


def test_classes_and_names():
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"] * 10)
    X = rng.normal(size=(30, 3)) + (y[:, None] == np.array(["a", "b", "c"]))
    clf = LSSVC(kernel="rbf(sigma=2.0)").fit(X, y)
    found = clf.explain(X[:4], feature_names=["u", "v", "w"])
    assert found.values.shape == (4, 3, 3)
    assert found.output_names == ["a", "b", "c"]
    assert found.feature_names == ["u", "v", "w"]
    np.testing.assert_allclose(found.predictions, clf.decision_function(X[:4]), atol=1e-10)
    np.testing.assert_allclose(found.importance(1), np.abs(found.values[:, :, 1]).mean(axis=0))
    two = LSSVC(kernel="rbf(sigma=2.0)").fit(X, y == "a").explain(X[:4])
    assert two.values.shape == (4, 3)


def test_it_becomes_an_explanation_of_shap():
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    model = LSSVR(kernel="rbf(sigma=2.0)").fit(X, y)
    theirs = model.explain(X[:4]).to_shap()
    assert isinstance(theirs, shap.Explanation)
    np.testing.assert_allclose(theirs.values.sum(axis=1) + theirs.base_values, model.predict(X[:4]), atol=1e-10)
    peer = shap.KernelExplainer(model.predict, X[:10], silent=True).shap_values(X[:2], silent=True)
    np.testing.assert_allclose(model.explain(X[:2], X[:10]).values, peer, atol=1e-6)


@pytest.mark.parametrize("spec", ["matern(sigma=2.0)", "cauchy(sigma=2.0)", "tl1(rho=9.0)", "poly"])
def test_kernels_that_do_not_factorise_are_refused_with_what_to_use(spec):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(ParameterError, match=r"neither a product nor a sum.*permutation_importance"):
        LSSVR(kernel=spec, gamma=0.01).fit(X, y).explain(X)


class Larger:
    """Merges two views into the larger value."""

    uses_targets = False

    def fit(self, views, y):
        return self

    def merge(self, views):
        return np.maximum(views["source"] - 0.1, -views["target"])


@pytest.mark.parametrize("ensembler", ["source", "target", "best", "stack", "stack(method='logistic')"])
def test_ensemblers_that_are_weighted_sums(ensembler):
    rng = np.random.default_rng(0)
    P, y = rng.dirichlet(np.ones(4), 60), np.arange(60) % 3
    P[:, 0] += 0.3 * (y == 1)
    P /= P.sum(axis=1, keepdims=True)
    clf = AsKLSClassifier(kernel="kl(a=1.0)", gamma=0.1, ensembler=ensembler).fit(P, y)
    np.testing.assert_allclose(clf.explain(P[:5]).predictions, clf.decision_function(P[:5]), atol=1e-10)


def mixed(X):
    return X @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def test_what_is_not_accepted_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(ParameterError, match="mixes features"):
        LSSVR(kernel=compose(kr.make_kernel("rbf", sigma=2.0), mixed)).fit(X, y).explain(X)
    with pytest.raises(ParameterError, match="votes"):
        LSSVC(multi_class="one-vs-one").fit(X, np.arange(30) % 3).explain(X)
    with pytest.raises(ParameterError, match="view"):
        AsKLSClassifier(kernel="rbf(sigma=2.0)").fit(X, y > 0).explain(X, view="left")
    merged = AsKLSClassifier(kernel="rbf(sigma=2.0)", ensembler=Larger()).fit(X, y > 0)
    with pytest.raises(ParameterError, match="not a weighted sum"):
        merged.explain(X)
    with pytest.raises(DataError, match="sparse"):
        LSSVR(kernel="rbf(sigma=2.0)").fit(sp.csr_matrix(X), y).explain(X)
