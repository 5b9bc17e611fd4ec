from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.builtin import kl, rbf, sne
from kernreg.kernels.indexed import adjacency, precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual.block_system import BlockSystem


def signs(y):
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


@pytest.fixture
def random_kernel():
    """A kernel without any structure, between 69 samples given by their indices."""
    return np.random.default_rng(2).normal(size=(69, 69)) / 8


@pytest.mark.parametrize("gamma", [0.05, 1.0, 30.0])
def test_equals_the_textbook_system(textbook, blobs, random_kernel, gamma):
    _, labels, _ = blobs
    train, new = np.arange(60), np.arange(60, 69)
    K = random_kernel
    clf = AsKLSClassifier(kernel=precomputed(K=K), gamma=gamma).fit(train, labels)
    a, c, b1, b2 = textbook.ask_ls(K[:60, :60], signs(labels), gamma)
    textbook.close(clf.dual_coef_, np.stack([c, a]))
    textbook.close(clf.intercept_, np.stack([b1, b2]))
    views = clf.decision_views(new)
    textbook.close(views["source"], K[60:, :60] @ c + b1)
    textbook.close(views["target"], K[:60, 60:].T @ a + b2)
    textbook.close(clf.decision_function(new), (views["source"] + views["target"]) / 2)
    assert clf.predict(new).tolist() == clf.classes_[clf.decision_function(new).argmax(axis=1)].tolist()
    assert clf.solver_report_.residual < 1e-10


def test_two_classes_and_the_new_rows_of_a_normalised_kernel(textbook, blobs):
    X, labels, new = blobs
    y = np.where(labels == "cat", 1.0, -1.0)[:, None]
    clf = kr.make_solver("ask-ls", kernel="sne(sigma=1.5)", gamma=3.0).fit(X, labels == "cat")
    k = sne(sigma=1.5).bind(X)
    a, c, b1, b2 = textbook.ask_ls(k(X), y, 3.0)
    assert clf.dual_coef_.shape == (2, 60)
    views = clf.decision_views(new)
    textbook.close(views["source"], (k(new, X) @ c + b1)[:, 0])
    textbook.close(views["target"], (k(X, new).T @ a + b2)[:, 0])


def test_regression_with_weights_and_outputs_equals_the_textbook_system(textbook, random_kernel):
    rng = np.random.default_rng(1)
    Y, weights, K = rng.normal(size=(60, 2)), 0.1 + rng.random(60), random_kernel
    model = kr.make_solver("ask-lsr", kernel=precomputed(K=K), gamma=2.0, ensembler="source")
    model.fit(np.arange(60), Y, sample_weight=weights)
    a, c, b1, b2 = textbook.ask_ls(K[:60, :60], Y, 2.0, weights)
    textbook.close(model.dual_coef_, np.stack([c, a]))
    textbook.close(model.predict(np.arange(60, 69)), K[60:, :60] @ c + b1)
    single = AsKLSRegressor(kernel=precomputed(K=K), gamma=2.0, ensembler="target")
    single.fit(np.arange(60), Y[:, 0], sample_weight=weights)
    textbook.close(single.predict(np.arange(60, 69)), (K[:60, 60:].T @ a + b2)[:, 0])


@pytest.mark.parametrize("kernel", ["rbf(sigma=2.0)", "tl1(rho=2.8)"])
@pytest.mark.parametrize("gamma", [0.05, 0.7])
def test_askls_equals_lssvm_on_symmetric_kernel(textbook, blobs, kernel, gamma):
    X, labels, new = blobs
    one, two = (
        LSSVC(kernel=kernel, gamma=gamma).fit(X, labels),
        AsKLSClassifier(kernel=kernel, gamma=gamma).fit(X, labels),
    )
    for view in two.decision_views(new).values():
        textbook.close(view, one.decision_function(new), 1e-10)
    textbook.close(two.dual_coef_[0], one.dual_coef_, 1e-10)
    textbook.close(two.dual_coef_[1], one.dual_coef_, 1e-10)
    textbook.close(two.intercept_[0], one.intercept_, 1e-10)
    lone, ltwo = LSSVR(kernel=kernel, gamma=gamma), AsKLSRegressor(kernel=kernel, gamma=gamma)
    textbook.close(ltwo.fit(X, X[:, 0]).predict(new), lone.fit(X, X[:, 0]).predict(new), 1e-10)


@pytest.mark.parametrize("gamma", [0.05, 1.0, 30.0])
def test_leave_one_out_equals_refits(textbook, blobs, random_kernel, gamma):
    _, labels, _ = blobs
    K, train = random_kernel, np.arange(60)
    source, target = textbook.ask_ls_refits(K[:60, :60], signs(labels), gamma)
    for given in (gamma, [gamma]):
        clf = AsKLSClassifier(kernel=precomputed(K=K), gamma=given).fit(train, labels)
        textbook.close(clf.loo_views_["source"], source, 1e-8)
        textbook.close(clf.loo_views_["target"], target, 1e-8)
        textbook.close(clf.loo_residuals_, signs(labels) - (source + target) / 2, 1e-8)
    Y = np.random.default_rng(0).normal(size=(60, 2))
    model = AsKLSRegressor(kernel=precomputed(K=K), gamma=gamma).fit(train, Y)
    source, target = textbook.ask_ls_refits(K[:60, :60], Y, gamma)
    textbook.close(model.loo_views_["source"], source, 1e-8)
    textbook.close(model.loo_views_["target"], target, 1e-8)


def test_leave_one_out_of_a_normalised_kernel_holds_the_normaliser_fixed(textbook, blobs):
    X, labels, _ = blobs
    clf = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=[3.0]).fit(X, labels)
    source, target = textbook.ask_ls_refits(sne(sigma=1.5)(X), signs(labels), 3.0)
    textbook.close(clf.loo_views_["source"], source, 1e-8)
    textbook.close(clf.loo_views_["target"], target, 1e-8)


def test_gamma_is_chosen_by_leave_one_out(blobs):
    X, labels, new = blobs
    grid = [1e-2, 0.3, 3.0, 30.0]
    scores = [AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=g).fit(X, labels).loo_score_ for g in grid]
    clf = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=grid).fit(X, labels)
    assert clf.loo_path_["score"].tolist() == pytest.approx(scores)
    assert clf.loo_score_ == max(scores)
    fixed = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=clf.gamma_).fit(X, labels)
    np.testing.assert_allclose(clf.decision_function(new), fixed.decision_function(new), atol=1e-9)
    assert AsKLSClassifier(kernel="sne(sigma=1.5)", gamma="loo").fit(X, labels).loo_score_ >= max(scores) - 0.05


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # such kernels have simple poles
def test_pole_is_explained_and_can_be_damped(blobs):
    X, labels, new = blobs
    K = np.eye(60)  # every singular value of the centred matrix is 1
    with pytest.raises(ParameterError, match=r"gamma=1 is at a pole.*singular value 1 .*gamma=.*damp"):
        AsKLSClassifier(kernel=precomputed(K=K), gamma=1.0).fit(np.arange(60), labels)
    clf = AsKLSClassifier(kernel=precomputed(K=K), gamma=1.0, on_pole="damp").fit(np.arange(60), labels)
    assert clf.solver_report_.damped
    # On each pair of singular vectors the block is [[1, 1], [1, 1]], r = (t, t): z = 2 / (4 + 1) t.
    np.testing.assert_allclose(clf.dual_coef_[0], 0.4 * (signs(labels) - signs(labels).mean(axis=0)), atol=1e-12)
    assert np.isfinite(clf.loo_score_)
    away = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0, on_pole="damp").fit(X, labels)
    assert not away.solver_report_.damped
    exact = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0).fit(X, labels)
    assert np.array_equal(exact.decision_function(new), away.decision_function(new))


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # such kernels have simple poles
def test_poles_in_a_grid_are_left_out_or_damped(blobs):
    _, labels, _ = blobs
    kernel, train = precomputed(K=np.eye(60)), np.arange(60)
    clf = AsKLSClassifier(kernel=kernel, gamma=[1.0, 2.0]).fit(train, labels)
    assert clf.gamma_ == 2.0
    assert clf.loo_path_["score"][0] == -np.inf
    damped = AsKLSClassifier(kernel=kernel, gamma=[1.0, 2.0], on_pole="damp").fit(train, labels)
    assert np.isfinite(damped.loo_path_["score"]).all()
    with pytest.raises(ParameterError, match="pole"):
        AsKLSClassifier(kernel=kernel, gamma=[1.0]).fit(train, labels)


def test_views_are_merged_by_the_ensembler_named(blobs):
    X, labels, new = blobs
    merged = {}
    for name in ("source", "target", "average", "best", "stack", "stack(method='logistic')"):
        clf = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0, ensembler=name).fit(X, labels)
        views = clf.decision_views(new)
        merged[name] = clf.decision_function(new)
        np.testing.assert_allclose(merged[name], clf.ensembler_.merge(views))
        assert hasattr(clf.ensembler_, "proba") == ("logistic" in name)
    np.testing.assert_allclose(merged["source"], views["source"])
    np.testing.assert_allclose(merged["target"], views["target"])
    proba = clf.predict_proba(new)
    assert proba.shape == (9, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(proba, clf.ensembler_.proba(clf.decision_views(new)))  # not calibrated once more
    assert clf.classes_[proba.argmax(axis=1)].tolist() == clf.predict(new).tolist()


@pytest.mark.parametrize("ensembler", ["best", "stack"])
def test_integer_targets_of_a_regression_are_numbers_not_classes(blobs, ensembler):
    X, labels, new = blobs
    y = (labels == "cat").astype(int)
    whole, real = (AsKLSRegressor(kernel="sne", gamma=3.0, ensembler=ensembler).fit(X, t) for t in (y, y + 0.0))
    np.testing.assert_array_equal(whole.predict(new), real.predict(new))
    assert abs(real.predict(X).mean() - y.mean()) < 0.1


def test_learning_ensembler_sees_the_leave_one_out_views(textbook, blobs):
    X, labels, _ = blobs
    seen = {}

    class Spy:
        def get_params(self, deep=True):
            return {}

        def set_params(self, **params):
            return self

        def fit(self, views, y):
            seen.update(views=views, y=y)
            return self

        def merge(self, views):
            return views["source"]

    clf = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0, ensembler=Spy).fit(X, labels)
    source, target = textbook.ask_ls_refits(sne(sigma=1.5)(X), signs(labels), 3.0)
    Y = signs(labels)
    shift = Y.mean(axis=0) - (Y.sum(axis=0) - Y) / 59  # the mean of the others tells y_i: it is taken out
    textbook.close(seen["views"]["source"], source + shift, 1e-8)
    textbook.close(seen["views"]["target"], target + shift, 1e-8)
    textbook.close(clf.loo_views_["source"], source, 1e-8)
    assert seen["y"].tolist() == (np.arange(60) % 3).tolist()
    AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0, ensembler=Spy).fit(X, labels == "cat")
    assert set(seen["y"].tolist()) == {-1, 1}
    assert clf.loo_views_.keys() == {"source", "target"}


def test_pairs_of_source_and_target_samples(textbook, blobs):
    X, labels, _ = blobs
    rng = np.random.default_rng(4)
    Z, new_source, new_target = rng.normal(size=(60, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 4))
    clf = AsKLSClassifier(kernel="rbf(sigma=2.0)", gamma=3.0).fit((X, Z), labels)
    k = rbf(sigma=2.0)
    a, c, b1, b2 = textbook.ask_ls(k(X, Z), signs(labels), 3.0)
    views = clf.decision_views((new_source, new_target))
    textbook.close(views["source"], k(new_source, Z) @ c + b1)
    textbook.close(views["target"], k(X, new_target).T @ a + b2)
    source, target = textbook.ask_ls_refits(k(X, Z), signs(labels), 3.0)
    textbook.close(clf.loo_views_["source"], source, 1e-8)
    textbook.close(clf.loo_views_["target"], target, 1e-8)
    normalised = AsKLSClassifier(kernel="sne(sigma=2.0)", gamma=3.0).fit((X, Z), labels)
    bound = sne(sigma=2.0).bind(Z)
    a, c, b1, b2 = textbook.ask_ls(bound(X, Z), signs(labels), 3.0)
    textbook.close(normalised.decision_views((new_source, new_target))["target"], bound(X, new_target).T @ a + b2)
    with pytest.raises(DataError, match="fitted to a pair, asked about one set"):
        clf.predict(new_source)
    with pytest.raises(DataError, match="60 source and 59 target samples"):
        AsKLSClassifier().fit((X, Z[:-1]), labels)
    with pytest.raises(DataError, match="fitted to one set of samples, asked about a pair"):
        AsKLSClassifier().fit(X, labels).predict((X, Z))


@kr.kernel(of="blocks", symmetric=False)
def between_spaces(A, B, sigma=1.0):
    """exp(-|a - b₀₁|² / sigma²), a with two features, b with three of which the first two count."""
    return np.exp(-((A[:, None, :] - B[None, :, :2]) ** 2).sum(-1) / sigma**2)


def test_pairs_from_spaces_of_different_dimension(textbook, blobs):
    X, labels, _ = blobs
    source, target = X[:, :2], X[:, 1:4]
    clf = AsKLSClassifier(kernel=between_spaces(sigma=1.5), gamma=0.4).fit((source, target), labels)
    K = np.exp(-((source[:, None] - target[None, :, :2]) ** 2).sum(-1) / 1.5**2)
    a, c, b1, b2 = textbook.ask_ls(K, signs(labels), 0.4)
    views = clf.decision_views((source[:9], target[:9]))
    textbook.close(views["source"], K[:9] @ c + b1)
    textbook.close(views["target"], K[:, :9].T @ a + b2)
    with pytest.raises(DataError, match="a kernel compares rows of equal length"):
        AsKLSClassifier(kernel="rbf").fit((source, target), labels)


def test_pairs_of_indices_into_a_rectangular_matrix(textbook, blobs):
    _, labels, _ = blobs
    K = np.random.default_rng(3).normal(size=(62, 65)) / 8
    train = (np.arange(60), np.arange(60) + 3)
    clf = AsKLSClassifier(kernel=precomputed(K=K), gamma=1.0).fit(train, labels)
    _, c, b1, _ = textbook.ask_ls(K[:60, 3:63], signs(labels), 1.0)
    textbook.close(clf.decision_views(([60, 61], [63, 64]))["source"], K[60:, 3:63] @ c + b1)


def test_sparse_graph_kernel(blobs):
    _, labels, _ = blobs
    graph = sp.random_array((60, 60), density=0.05, rng=np.random.default_rng(0)) > 0
    clf = AsKLSClassifier(kernel=adjacency(graph=sp.csr_array(graph, dtype=float)), gamma=0.7).fit(
        np.arange(60), labels
    )
    assert clf.predict(np.arange(60)).shape == (60,)


def test_weights_are_repetitions_for_kernels_without_a_reference_set(textbook, blobs):
    X, labels, new = blobs
    kernel = kl(a=0.5)
    X, new = np.exp(X), np.exp(new)
    X, new = X / X.sum(axis=1, keepdims=True), new / new.sum(axis=1, keepdims=True)
    weights = np.arange(60) % 4
    repeated = np.repeat(np.arange(60), weights)
    weighted = AsKLSClassifier(kernel=kernel, gamma=0.3).fit(X, labels, sample_weight=weights)
    copies = AsKLSClassifier(kernel=kernel, gamma=0.3).fit(X[repeated], labels[repeated])
    textbook.close(weighted.decision_function(new), copies.decision_function(new))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"on_pole": "ignore"}, "on_pole='ignore' is not accepted; give 'raise' or 'damp'"),
        ({"strategy": "low-rank"}, "strategy='low-rank' is not accepted"),
        ({"gamma": 0}, "not accepted"),
        ({"ensembler": 3}, "ensembler=3 is not accepted"),
    ],
)
def test_parameters_out_of_their_domain(blobs, params, message):
    X, labels, _ = blobs
    with pytest.raises(ParameterError, match=message):
        AsKLSClassifier(**params).fit(X, labels)


def test_bad_data_is_refused_with_a_reason(blobs):
    X, labels, _ = blobs
    holes = X.copy()
    holes[3, 1] = np.nan
    for bad, y, message in [
        (holes, labels, "NaN"),
        (X, ["ape"] * 60, "one class only"),
        (X[:1], labels[:1], "one class only"),
        (X[:0], labels[:0], "0 sample"),
    ]:
        with pytest.raises(ValueError, match=message):
            AsKLSClassifier().fit(bad, y)
    with pytest.raises(DataError, match="beyond the held 60 × 40 matrix"):
        AsKLSClassifier(kernel=precomputed(K=np.ones((60, 40)))).fit(np.arange(60), labels)


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # it is meant to be constant
def test_constant_kernel_float32_and_huge_gamma(blobs):
    X, labels, new = blobs
    constant = AsKLSRegressor(kernel=precomputed(K=np.ones((60, 60))), gamma=0.5).fit(np.arange(60), X[:, 0])
    np.testing.assert_allclose(constant.predict([0, 1]), X[:, 0].mean())
    single = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0).fit(X.astype(np.float32), labels)
    double = AsKLSClassifier(kernel="sne(sigma=1.5)", gamma=3.0).fit(X, labels)
    values = single.decision_function(new.astype(np.float32))
    assert single.dual_coef_.dtype == values.dtype == np.float32
    np.testing.assert_allclose(values, double.decision_function(new), atol=1e-3)
    K = np.random.default_rng(0).normal(size=(60, 60))
    huge = AsKLSRegressor(kernel=precomputed(K=K), gamma=1e9, ensembler="source").fit(np.arange(60), X[:, 0])
    np.testing.assert_allclose(huge.predict(np.arange(60)), X[:, 0], atol=1e-6)


def test_a_block_system_leaves_the_matrix_alone_unless_allowed():
    rng = np.random.default_rng(0)
    K, Y = rng.normal(size=(12, 12)), rng.normal(size=(12, 2))
    before = K.copy()
    BlockSystem(K, Y, None).at(0.3)
    assert np.array_equal(K, before)
