from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import LinAlgWarning
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import kernreg as kr
from kernreg import kernel
from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.kernels.builtin import linear, rbf, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor

KERNELS = {"definite": "rbf(sigma=2.0)", "indefinite": "tl1(rho=2.8)"}


def signs(y):
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("gamma", [0.05, 2.0])
def test_two_classes_equal_the_printed_system(textbook, blobs, kind, gamma):
    X, labels, new = blobs
    y = np.where(labels == "cat", 1.0, -1.0)
    k = kr.make_kernel(KERNELS[kind])
    clf = LSSVC(kernel=k, gamma=gamma).fit(X, labels == "cat")
    a, b = textbook.ls_svm_with_labels(k(X), y, gamma)
    textbook.close(clf.dual_coef_, a)
    textbook.close(clf.intercept_, b)
    textbook.close(clf.decision_function(new), k(new, X) @ a + b)
    assert clf.solver_report_.residual < 1e-10


@pytest.mark.parametrize("kind", KERNELS)
def test_several_classes_equal_the_textbook_systems(textbook, blobs, kind):
    X, labels, new = blobs
    k = kr.make_kernel(KERNELS[kind])
    clf = kr.make_solver("ls-svm", kernel=KERNELS[kind], gamma=0.3).fit(X, labels)
    a, b = textbook.ls_svm(k(X), signs(labels), 0.3)
    textbook.close(clf.dual_coef_, a)
    textbook.close(clf.intercept_, b)
    decision = k(new, X) @ a + b
    textbook.close(clf.decision_function(new), decision)
    assert clf.predict(new).tolist() == clf.classes_[decision.argmax(axis=1)].tolist()
    assert clf.classes_.tolist() == ["ape", "bee", "cat"]
    assert list(clf.decision_views(new)) == ["decision"]


def test_one_vs_one_solves_each_pair_on_its_own_samples(textbook, blobs):
    X, labels, new = blobs
    clf = LSSVC(kernel="rbf(sigma=2.0)", gamma=3.0, multi_class="one-vs-one").fit(X, labels)
    k, votes = rbf(sigma=2.0), np.zeros((len(new), 3))
    for column, (i, j) in enumerate([("ape", "bee"), ("ape", "cat"), ("bee", "cat")]):
        rows = np.flatnonzero((labels == i) | (labels == j))
        a, b = textbook.ls_svm(k(X[rows]), np.where(labels[rows] == j, 1.0, -1.0)[:, None], 3.0)
        textbook.close(clf.dual_coef_[rows, column], a[:, 0])
        textbook.close(clf.intercept_[column], b[0])
        assert not clf.dual_coef_[np.setdiff1d(np.arange(60), rows), column].any()
        f = k(new, X[rows]) @ a[:, 0] + b
        winner = np.where(f > 0, j, i)
        votes[np.arange(len(new)), np.searchsorted(clf.classes_, winner)] += 1
    assert clf.decision_function(new).shape == (9, 3)
    assert np.abs(clf.decision_function(new) - votes).max() < 1 / 3
    assert np.all(votes[np.arange(9), np.searchsorted(clf.classes_, clf.predict(new))] == votes.max(axis=1))


def test_one_vs_one_of_two_classes_is_the_ordinary_classifier(blobs):
    X, labels, new = blobs
    pair, rest = (LSSVC(multi_class=how).fit(X, labels == "cat") for how in ("one-vs-one", "one-vs-rest"))
    assert np.array_equal(pair.decision_function(new), rest.decision_function(new))


@pytest.mark.parametrize("kind", KERNELS)
def test_regression_with_weights_and_outputs_equals_the_textbook_system(textbook, blobs, kind):
    X, _, new = blobs
    rng = np.random.default_rng(1)
    Y, weights, k = rng.normal(size=(60, 2)), 0.1 + rng.random(60), kr.make_kernel(KERNELS[kind])
    model = LSSVR(kernel=k, gamma=0.3).fit(X, Y, sample_weight=weights)
    a, b = textbook.ls_svm(k(X), Y, 0.3, weights)
    textbook.close(model.dual_coef_, a)
    textbook.close(model.predict(new), k(new, X) @ a + b)
    single = LSSVR(kernel=k, gamma=0.3).fit(X, Y[:, 0], sample_weight=weights)
    assert single.predict(new).shape == (9,)
    textbook.close(single.predict(new), (k(new, X) @ a + b)[:, 0])


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("gamma", [0.05, 0.7])
def test_leave_one_out_equals_refits(textbook, blobs, kind, gamma):
    X, labels, _ = blobs
    K = kr.make_kernel(KERNELS[kind])(X)
    expected = textbook.ls_svm_refits(K, signs(labels), gamma)
    chosen = LSSVC(kernel=KERNELS[kind], gamma=[gamma]).fit(X, labels)
    late = LSSVC(kernel=KERNELS[kind], gamma=gamma).fit(X, labels)
    for clf in (chosen, late):
        textbook.close(clf.loo_views_["decision"], expected, 1e-8)
        textbook.close(clf.loo_residuals_, signs(labels) - expected, 1e-8)
        assert clf.loo_score_ == np.mean(clf.classes_[expected.argmax(axis=1)] == labels)
    Y = np.random.default_rng(0).normal(size=(60, 2))
    model = LSSVR(kernel=KERNELS[kind], gamma=gamma).fit(X, Y)
    textbook.close(model.loo_views_["decision"], textbook.ls_svm_refits(K, Y, gamma), 1e-8)


def test_leave_one_out_of_one_vs_one_equals_refits(textbook, blobs):
    X, labels, _ = blobs
    clf = LSSVC(kernel="rbf(sigma=2.0)", gamma=3.0, multi_class="one-vs-one").fit(X, labels)
    for i in range(0, 60, 7):
        rest = np.delete(np.arange(60), i)
        again = LSSVC(kernel="rbf(sigma=2.0)", gamma=3.0, multi_class="one-vs-one").fit(X[rest], labels[rest])
        textbook.close(clf.loo_views_["decision"][i], again.decision_function(X[[i]])[0], 1e-8)
    residuals = clf.loo_residuals_
    assert residuals.shape == (60, 3)
    assert np.array_equal(np.isnan(residuals[:, 0]), labels == "cat")


def test_gamma_is_chosen_by_leave_one_out(blobs):
    X, labels, new = blobs
    grid = [1e-3, 0.1, 1.0, 10.0, 1e3]
    scores = [LSSVC(kernel="rbf(sigma=2.0)", gamma=g).fit(X, labels).loo_score_ for g in grid]
    clf = LSSVC(kernel="rbf(sigma=2.0)", gamma=grid).fit(X, labels)
    assert clf.loo_score_ == max(scores)
    assert clf.loo_path_["score"].tolist() == pytest.approx(scores)
    assert clf.gamma_ in np.array(grid)[np.array(scores) == max(scores)]
    fixed = LSSVC(kernel="rbf(sigma=2.0)", gamma=clf.gamma_).fit(X, labels)
    np.testing.assert_allclose(fixed.decision_function(new), clf.decision_function(new), atol=1e-10)
    automatic = LSSVC(kernel="rbf(sigma=2.0)", gamma="loo").fit(X, labels)
    assert automatic.loo_score_ >= max(scores) - 0.05
    assert "36 values" in automatic.solver_report_.note


def test_zero_weight_is_absence_and_integer_weight_is_repetition(textbook, blobs):
    X, labels, new = blobs
    weights = np.arange(60) % 4
    repeated = np.repeat(np.arange(60), weights)
    weighted = LSSVC(gamma=2.0).fit(X, labels, sample_weight=weights)
    copies = LSSVC(gamma=2.0).fit(X[repeated], labels[repeated])
    textbook.close(weighted.decision_function(new), copies.decision_function(new))


def test_signature_and_parts_of_the_training_matrix(blobs):
    X, labels, _ = blobs
    clf = LSSVC(kernel="tl1(rho=2.8)", gamma=0.05).fit(X, labels)
    K = tl1(rho=2.8)(X)
    values = np.linalg.eigvalsh(K)
    assert clf.signature_ == ((values > 1e-10).sum(), (values < -1e-10).sum())
    assert clf.signature_[1] > 0
    positive, negative = clf.krein_parts()
    np.testing.assert_allclose(positive - negative, K, atol=1e-12)
    assert np.linalg.eigvalsh(negative)[0] > -1e-12
    assert LSSVC(kernel="rbf").fit(X, labels).signature_ == (60, 0)


def test_float32_is_kept(blobs):
    X, labels, new = blobs
    single = LSSVC(gamma=2.0).fit(X.astype(np.float32), labels)
    double = LSSVC(gamma=2.0).fit(X, labels)
    assert single.dual_coef_.dtype == single.decision_function(new.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        single.decision_function(new.astype(np.float32)), double.decision_function(new), atol=1e-4
    )


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_sparse_input_gives_what_dense_input_gives(textbook, blobs, form):
    X, labels, new = blobs
    X, new = np.where(X > 0.5, X, 0.0), np.where(new > 0.5, new, 0.0)
    dense = LSSVC().fit(X, labels).decision_function(new)
    sparse = LSSVC().fit(sp.csr_array(X).asformat(form), labels).decision_function(sp.csr_array(new).asformat(form))
    textbook.close(sparse, dense)


def test_held_matrix_with_sample_indices(textbook, blobs):
    X, labels, new = blobs
    everything = np.vstack([X, new])
    K = rbf(sigma=2.0)(everything)
    clf = LSSVC(kernel=precomputed(K=K)).fit(np.arange(60), labels)
    direct = LSSVC(kernel="rbf(sigma=2.0)").fit(X, labels)
    textbook.close(clf.decision_function(np.arange(60, 69)), direct.decision_function(new))


def test_asymmetric_kernels_are_refused_by_name(blobs):
    X, labels, _ = blobs
    with pytest.raises(AsymmetryError, match=r"'sne' is asymmetric.*'ask-ls'"):
        LSSVC(kernel="sne").fit(X, labels)
    with pytest.raises(AsymmetryError, match="'ask-lsr'"):
        LSSVR(kernel="sne").fit(X, X[:, 0])
    with pytest.raises(DataError, match=r"X is a pair.*'ask-ls'"):
        LSSVC().fit((X, X), labels)


@pytest.mark.parametrize("seed", range(6))
def test_next_to_the_first_pole_cholesky_may_pass_by_rounding_and_is_not_believed(seed):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    J = np.eye(60) - 1 / 60
    lowest = np.linalg.eigvalsh(J @ tl1(rho=2.8)(X) @ J)[0]
    for step in range(-5, 6):
        with pytest.raises(ParameterError, match="is at a pole"):
            LSSVC(kernel="tl1(rho=2.8)", gamma=-1 / lowest * (1.0 + step * 2.3e-16)).fit(X, X[:, 0] > 0.0)


def test_pole_of_an_indefinite_kernel_is_named(blobs):
    X, labels, _ = blobs
    K = tl1(rho=2.8)(X)
    J = np.eye(60) - 1 / 60
    lowest = np.linalg.eigvalsh(J @ K @ J)[0]
    with pytest.raises(ParameterError, match=r"pole.*eigenvalue -.*gamma="):
        LSSVC(kernel="tl1(rho=2.8)", gamma=-1 / lowest).fit(X, labels)
    clf = LSSVC(kernel="tl1(rho=2.8)", gamma=[0.01, -1 / lowest]).fit(X, labels)
    assert clf.gamma_ == 0.01
    assert "at a pole and left out" in clf.solver_report_.note
    assert clf.loo_path_["score"][1] == -np.inf


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"gamma": 0.0}, "gamma=0.0 is not accepted"),
        ({"gamma": -1.0}, "positive finite number"),
        ({"gamma": np.inf}, "not accepted"),
        ({"gamma": "auto"}, "'loo'"),
        ({"gamma": []}, "not accepted"),
        ({"gamma": [1.0, -1.0]}, "not accepted"),
        ({"gamma": True}, "not accepted"),
        ({"gamma": [True]}, "not accepted"),
        ({"gamma": ["1", "2"]}, "not accepted"),
        (
            {"strategy": "fast"},
            "strategy='fast' is not accepted; give 'auto' or 'exact' or",
        ),
        ({"multi_class": "ovr"}, "'one-vs-rest' or 'one-vs-one'"),
        ({"kernel": "rbf(sigma=-1)"}, "sigma"),
        ({"kernel": 3}, "not a kernel"),
    ],
)
def test_parameters_out_of_their_domain(blobs, params, message):
    X, labels, _ = blobs
    with pytest.raises(ParameterError, match=message):
        LSSVC(**params).fit(X, labels)


def test_bad_data_is_refused_with_a_reason(blobs):
    X, labels, _ = blobs
    holes = X.copy()
    holes[3, 1] = np.nan
    for bad, y, message in [
        (holes, labels, "NaN"),
        (X, ["ape"] * 60, "one class only"),
        (X[:1], labels[:1], "one class only"),
        (X[:0], labels[:0], "0 sample"),
        (X, labels[:-1], "inconsistent"),
        (X, X[:, 0], "continuous"),
    ]:
        with pytest.raises(ValueError, match=message):
            LSSVC().fit(bad, y)
    with pytest.raises(DataError, match="beyond the held 60 × 40 matrix"):
        LSSVC(kernel=precomputed(K=np.ones((60, 40)))).fit(np.arange(60), labels)
    with pytest.raises(DataError, match="zero for every sample"):
        LSSVC().fit(X, labels, sample_weight=np.zeros(60))
    with pytest.raises(DataError, match="leave-one-out needs at least 2 samples"):
        LSSVR(gamma="loo").fit(X[:1], X[:1, 0])


def test_one_sample_of_a_regression_is_its_own_prediction():
    model = LSSVR().fit([[1.0, 2.0]], [5.0])
    assert model.predict([[0.0, 0.0]]).tolist() == pytest.approx([5.0])
    with pytest.raises(DataError, match="at least 2 samples"):
        model.loo_residuals_  # noqa: B018 (asking is the test)


def test_repeated_rows_with_conflicting_labels_average_out():
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    y = [0, 1, 0, 1, 1, 1, 1, 1]
    clf = LSSVC(gamma=100.0).fit(X, y)
    assert clf.decision_function([[0.0], [1.0]]).tolist() == pytest.approx([0.0, 1.0], abs=0.02)


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # it is meant to be constant
def test_constant_kernel_predicts_the_mean(blobs):
    X, _, _ = blobs
    model = LSSVR(kernel="poly(degree=1, c=1.0)").fit(np.zeros((60, 1)), X[:, 0])
    np.testing.assert_allclose(model.predict(np.zeros((3, 1))), X[:, 0].mean())
    clf = LSSVC(kernel="linear").fit(np.zeros((5, 1)), [0, 1, 1, 1, 1])
    assert clf.predict([[0.0]]).tolist() == [1]


def test_huge_gamma_interpolates_or_says_that_it_cannot(blobs):
    X, _, _ = blobs
    y = np.sin(X[:, 0])
    close_fit = LSSVR(kernel="laplacian(sigma=2.0)", gamma=1e12).fit(X, y)
    np.testing.assert_allclose(close_fit.predict(X), y, atol=1e-8)
    with pytest.raises(ParameterError, match="cannot be told from"):
        LSSVR(kernel=linear(), gamma=1e300).fit(np.repeat(X, 2, axis=0), np.arange(120.0))


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # it is meant to be constant
@pytest.mark.parametrize("solver", [LSSVR, AsKLSRegressor])
def test_huge_gamma_of_a_constant_kernel_is_said_to_cancel(solver):
    y = np.sin(np.arange(40.0))
    kernel = precomputed(K=np.full((40, 40), 2.0))
    for gamma in (1e12, 1e300):
        with pytest.warns(LinAlgWarning, match="coefficients cancel"):
            solver(kernel=kernel, gamma=gamma).fit(np.arange(40), y)
    fine = solver(kernel=kernel, gamma=1e6).fit(np.arange(40), y)
    np.testing.assert_allclose(fine.predict([3]), y.mean(), atol=1e-6)


@pytest.mark.parametrize("solver", [LSSVR, AsKLSRegressor])
def test_kernel_values_that_overflow_are_refused(solver):
    K = np.random.default_rng(0).normal(size=(40, 40))
    with pytest.raises(DataError, match=r"as large as .*e\+300.* overflow"):
        solver(kernel=precomputed(K=1e300 * (K + K.T)), gamma=1.0).fit(np.arange(40), np.arange(40.0))
    large = precomputed(K=1e100 * (K @ K.T))
    assert np.isfinite(solver(kernel=large, gamma=1.0).fit(np.arange(40), K[0]).predict([1])).all()


@kernel(of="blocks", symmetric=True)
def holey(X, Z):
    """⟨x, z⟩, and NaN where it is negative."""
    K = X @ Z.T
    K[K < 0] = np.nan
    return K


def test_kernel_that_is_not_finite_is_named():
    with pytest.raises(DataError, match="'holey' is nan between samples 0 and 2"):
        LSSVR(kernel=holey()).fit([[1.0], [2.0], [-1.0]], [0.0, 1.0, 2.0])


def test_feature_names_are_checked(blobs):
    pd = pytest.importorskip("pandas")
    X, labels, _ = blobs
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = LSSVC().fit(frame, labels)
    assert clf.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame[list("dcba")])


def test_parameters_changed_after_a_fit_change_no_prediction():
    X, y = load_iris(return_X_y=True)
    clf = LSSVC(kernel="rbf(sigma=2.0)").fit(X, y)
    before, residuals = clf.decision_function(X), clf.loo_residuals_
    clf.set_params(multi_class="one-vs-one", gamma=3.0, strategy="lowrank", kernel="linear")
    assert np.array_equal(clf.decision_function(X), before)
    assert np.array_equal(clf.loo_residuals_, residuals)


def test_a_refit_that_fails_leaves_the_machine_as_it_was():
    X, y = load_iris(return_X_y=True)
    clf = LSSVC(kernel="rbf(sigma=2.0)", gamma=[1.0, 10.0]).fit(X, y)
    state, before = dict(vars(clf)), clf.decision_function(X)
    clf.set_params(kernel="sne(sigma=1.0)")
    with pytest.raises(AsymmetryError):
        clf.fit(X[::2] + 1.0, y[::2])
    assert {name for name, value in vars(clf).items() if value is not state[name]} <= {"kernel", "n_features_in_"}
    assert np.array_equal(clf.decision_function(X), before)


@pytest.mark.parametrize("machine", [LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor])
def test_machines_that_say_so_refuse_asymmetric_kernels(machine):
    X = np.random.default_rng(0).normal(size=(12, 2))
    fit = machine(kernel="sne(sigma=1.0)", gamma=0.1).fit
    if machine.requires_symmetric_kernel:
        with pytest.raises(AsymmetryError):
            fit(X, X[:, 0] > 0.0)
    else:
        fit(X, X[:, 0] > 0.0)


def test_krein_parts_of_a_machine_that_is_not_fitted_are_refused():
    with pytest.raises(NotFittedError, match="fit"):
        LSSVC().krein_parts()
