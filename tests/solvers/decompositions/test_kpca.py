from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Peer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import kernreg as kr
from kernreg import kernel
from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.builtin import rbf, tl1
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import KernelPCA, KernelSVD

EXACT = ("auto", "dense", "krylov", "arpack", "operator")
PEERS = {
    "rbf(sigma=2.0)": {"kernel": "rbf", "gamma": 0.25},
    "linear": {"kernel": "linear"},
    "poly(degree=3, c=1.0)": {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0},
    "rbf(sigma=20.0)": {"kernel": "rbf", "gamma": 0.0025},
}


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Small products on several BLAS threads wait for each other when the tests run side by side."""
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(scope="module")
def samples():
    """600 samples, more than LAPACK is taken for by itself, and 20 new ones."""
    rng = np.random.default_rng(3)
    scale = np.array([2.0, 1.5, 1.0, 0.8, 0.6])
    return rng.normal(size=(600, 5)) * scale, rng.normal(size=(20, 5)) * scale


def centred(K):
    J = np.eye(len(K)) - 1.0 / len(K)
    return J @ K @ J


def eigen(K, k, order="magnitude"):
    """The pairs of the centred matrix by numpy, in the order wanted."""
    values, vectors = np.linalg.eigh(centred(K))
    key = -np.abs(values) if order == "magnitude" else -values
    top = np.argsort(key, kind="stable")[:k]
    return values[top], vectors[:, top]


def same_up_to_sign(got, expected, tolerance):
    assert got.shape == expected.shape
    flips = np.where((got * expected).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(got * flips, expected, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("spec", PEERS)
def test_definite_kernels_equal_scikit_learn_up_to_sign(samples, spec, solver):
    X, new = samples
    k = 5 if spec == "linear" else 8
    peer = Peer(k, eigen_solver="dense", **PEERS[spec]).fit(X)
    pca = KernelPCA(spec, k, eigen_solver=solver)
    scores = pca.fit_transform(X)
    np.testing.assert_allclose(pca.eigenvalues_, peer.eigenvalues_, rtol=1e-9)
    same_up_to_sign(scores, peer.transform(X), 1e-8)
    same_up_to_sign(pca.transform(new), peer.transform(new), 1e-8)
    assert pca.signature_ == (k, 0)
    assert pca.solver_report_.converged


@pytest.mark.parametrize("solver", ["lobpcg", "randomized"])
def test_solvers_that_stop_earlier_are_near(samples, solver):
    X, new = samples
    exact = KernelPCA("rbf(sigma=4.0)", 4, eigen_solver="dense").fit(X)
    near = KernelPCA("rbf(sigma=4.0)", 4, eigen_solver=solver).fit(X)
    same_up_to_sign(near.transform(new), exact.transform(new), 1e-6 if solver == "lobpcg" else 1e-3)
    assert near.solver_report_.method == solver
    assert near.solver_report_.residual > exact.solver_report_.residual


@pytest.mark.parametrize("order", ["magnitude", "value"])
@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("spec", ["tl1(rho=7.0)", "tanh(c=0.4, t=-0.2)"])
def test_indefinite_kernels_equal_the_centred_matrix_decomposed(samples, spec, solver, order):
    X, new = samples
    k = kr.make_kernel(spec)
    values, vectors = eigen(k(X), 40, order)
    if order == "magnitude":
        assert (values < 0).any()
    pca = KernelPCA(spec, 40, order=order, eigen_solver=solver)
    scores = pca.fit_transform(X)
    np.testing.assert_allclose(pca.eigenvalues_, values, atol=1e-9 * np.abs(values[0]))
    same_up_to_sign(scores, vectors * np.sqrt(np.abs(values)), 1e-8)
    np.testing.assert_allclose(pca.transform(X), scores, atol=1e-8)
    assert pca.signature_ == ((values > 0).sum(), (values < 0).sum())
    np.testing.assert_array_equal(pca.signs_, np.sign(values))
    # New samples, with the centring written out.
    K, rows = k(X), k(new, X)
    rows = rows - rows.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    same_up_to_sign(pca.transform(new), rows @ vectors * np.sign(values) / np.sqrt(np.abs(values)), 1e-8)


def test_scores_with_their_signs_are_the_centred_matrix(samples):
    X = samples[0][:80]
    pca = KernelPCA("tl1(rho=7.0)")
    T = pca.fit_transform(X)
    assert 0 < pca.signature_[1] < pca.signature_[0]
    np.testing.assert_allclose((T * pca.signs_) @ T.T, centred(tl1(rho=7.0)(X)), atol=1e-11)
    np.testing.assert_allclose(np.abs(T).max(axis=0), T.max(axis=0))


def test_linear_kernel_is_ordinary_pca(samples):
    X, new = samples
    peer = PCA(4).fit(X)
    same_up_to_sign(KernelPCA("linear", 4).fit(X).transform(new), peer.transform(new), 1e-9)


@pytest.mark.parametrize("spec", ["rbf(sigma=2.0)", "tl1(rho=7.0)", "linear"])
def test_transform_of_the_training_samples_is_the_fit(samples, spec):
    X = samples[0]
    pca = KernelPCA(spec, 5)
    scores = pca.fit_transform(X)
    np.testing.assert_allclose(pca.transform(X), scores, atol=1e-9 * np.abs(scores).max())
    np.testing.assert_allclose(scores, pca.eigenvectors_ * np.sqrt(np.abs(pca.eigenvalues_)), atol=1e-12)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-9 * np.abs(scores).max())


@pytest.mark.parametrize("spec", ["linear", "rbf(sigma=2.0)", "tl1(rho=7.0)"])
def test_all_components_are_those_with_an_eigenvalue(samples, spec):
    X = samples[0][:60]
    pca = KernelPCA(spec).fit(X)
    values = np.linalg.eigvalsh(centred(kr.make_kernel(spec)(X)))
    present = np.abs(values) > 1e-12 * np.abs(values).max()
    assert len(pca.eigenvalues_) == present.sum() == (5 if spec == "linear" else 59)
    assert np.all(np.diff(np.abs(pca.eigenvalues_)) <= 0)


def test_components_without_an_eigenvalue_have_zero_scores(samples):
    X, new = samples
    pca = KernelPCA("linear", 8).fit(X)
    assert np.count_nonzero(pca.eigenvalues_) == 5
    assert pca.signature_ == (5, 0)
    assert pca.signs_.tolist() == [1.0] * 5 + [0.0] * 3
    assert not pca.transform(new)[:, 5:].any()
    same_up_to_sign(pca.transform(new)[:, :5], PCA(5).fit(X).transform(new), 1e-9)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "randomized", "operator"])
@pytest.mark.parametrize("m", [40, 600])
def test_a_kernel_that_is_nearly_constant_is_not_taken_for_asymmetric(samples, solver, m):
    # Values 1 - d²/σ²: centring leaves 1e-10 of them, in which the rounding errors of K are not symmetric.
    X, sigma = samples[0][:m], 1e5
    found = KernelPCA(rbf(sigma=sigma), 2, eigen_solver=solver).fit(X).eigenvalues_
    covariance = np.linalg.eigvalsh((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)))[:-3:-1]
    np.testing.assert_allclose(found, 2.0 * covariance / sigma**2, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")  # that is the subject
def test_very_large_and_very_small_kernels(samples):
    X = samples[0][:40]
    expected = KernelPCA("linear", 2).fit_transform(X)
    for scale in (1e150, 1e-140):
        np.testing.assert_allclose(KernelPCA("linear", 2).fit_transform(scale * X) / scale, expected, atol=1e-9)
    for solver in (KernelPCA, KernelSVD):
        with pytest.raises(DataError, match="have lost their digits"):
            solver("linear", 2).fit(1e-160 * X)


def test_constant_kernel_has_no_components(samples):
    X = samples[0][:30]

    @kernel(of="dot", symmetric=True)
    def constant(s):
        return 0.0 * s + 3.0

    zero = KernelPCA(constant, 3).fit(X)
    assert not zero.transform(X).any()
    assert zero.signature_ == (0, 0)
    with pytest.raises(DataError, match=r"centred kernel matrix is zero.*constant"):
        KernelPCA(constant).fit(X)
    with pytest.raises(DataError, match="n_samples = 1"):
        KernelPCA("rbf").fit(X[:1])


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "operator"])
def test_repeated_eigenvalues_give_the_space_they_span(solver):
    """Vertices of a simplex: all eigenvalues of the centred matrix are the same."""
    X = np.eye(550)
    pca = KernelPCA("rbf(sigma=1.0)", 7, eigen_solver=solver)
    T = pca.fit_transform(X)
    np.testing.assert_allclose(pca.eigenvalues_, 1.0 - np.exp(-2.0), rtol=1e-12)
    np.testing.assert_allclose(T.T @ T, (1.0 - np.exp(-2.0)) * np.eye(7), atol=1e-12)
    np.testing.assert_allclose(pca.transform(X), T, atol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "krylov", "operator"])
@pytest.mark.parametrize("spec", ["rbf(sigma=2.0)", "tl1(rho=7.0)"])
def test_weights_are_repetitions_and_zero_is_absence(samples, spec, solver):
    X, new = samples
    X = X[:150]
    weights = np.arange(150) % 4
    repeated = np.repeat(np.arange(150), weights)
    with_weights = KernelPCA(spec, 6, eigen_solver=solver).fit(X, sample_weight=weights)
    copies = KernelPCA(spec, 6, eigen_solver=solver).fit(X[repeated])
    np.testing.assert_allclose(with_weights.eigenvalues_, copies.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(with_weights.transform(new), copies.transform(new), atol=1e-8)
    again = KernelPCA(spec, 6, eigen_solver=solver).fit_transform(X, sample_weight=weights)
    np.testing.assert_allclose(again, copies.transform(X), atol=1e-8)
    some = KernelPCA(spec, 6, eigen_solver=solver)
    np.testing.assert_allclose(some.fit_transform(X, sample_weight=weights + 0.5), some.transform(X), atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "dense", "operator", "arpack"])
def test_float32_is_kept(samples, solver):
    X, new = samples
    single = KernelPCA("rbf(sigma=2.0)", 4, eigen_solver=solver)
    scores = single.fit_transform(X.astype(np.float32))
    double = KernelPCA("rbf(sigma=2.0)", 4).fit(X)
    for array in (scores, single.eigenvalues_, single.eigenvectors_, single.transform(new.astype(np.float32))):
        assert array.dtype == np.float32
    same_up_to_sign(single.transform(new.astype(np.float32)), double.transform(new), 1e-4)


def test_sparse_samples_are_decomposed_through_what_they_store():
    rng = np.random.default_rng(0)
    X = sp.random_array((800, 4000), density=0.002, format="csr", rng=rng)
    pca = KernelPCA("rbf(sigma=1.0)", 5)
    scores = pca.fit_transform(X)
    assert pca.solver_report_.form == "separable"
    assert "sparse" in pca.solver_report_.note
    dense = KernelPCA("rbf(sigma=1.0)", 5, eigen_solver="dense").fit(X.toarray())
    np.testing.assert_allclose(pca.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    same_up_to_sign(scores, dense.transform(X.toarray()), 1e-8)
    same_up_to_sign(pca.transform(X[:9]), dense.transform(X[:9].toarray()), 1e-8)


def test_dense_enough_sparse_samples_are_held(samples):
    X, new = samples
    X, new = np.where(X > 0.5, X, 0.0), np.where(new > 0.5, new, 0.0)
    dense = KernelPCA("rbf(sigma=2.0)", 4).fit(X).transform(new)
    np.testing.assert_allclose(
        KernelPCA("rbf(sigma=2.0)", 4).fit(sp.csr_array(X)).transform(sp.csr_array(new)), dense, atol=1e-9
    )


def test_held_matrices_with_sample_indices(samples):
    X, new = samples
    K = rbf(sigma=2.0)(np.vstack([X, new]))
    direct = KernelPCA("rbf(sigma=2.0)", 4).fit(X)
    for solver in ("auto", "operator"):
        held = KernelPCA(precomputed(K=K), 4, eigen_solver=solver).fit(np.arange(600))
        same_up_to_sign(held.transform(np.arange(600, 620)), direct.transform(new), 1e-9)
    ring = sp.diags_array([np.ones(699), np.ones(699)], offsets=[-1, 1]).tocsr()
    graph = KernelPCA(precomputed(K=ring), 6, order="value").fit(np.arange(700))
    assert graph.solver_report_.form == "held"
    np.testing.assert_allclose(graph.eigenvalues_, eigen(ring.toarray(), 6, "value")[0], rtol=1e-9)


def test_matrix_free_never_asks_for_the_matrix(samples, monkeypatch):
    X = samples[0]
    expected = KernelPCA("rbf(sigma=2.0)", 4).fit(X)
    evaluate = Kernel.__call__

    def watched(self, X, Z=None, out=None):
        assert X.shape[0] <= 500
        return evaluate(self, X, Z, out)

    monkeypatch.setattr(Kernel, "__call__", watched)
    pca = KernelPCA("rbf(sigma=2.0)", 4, eigen_solver="operator").fit(X)
    assert pca.solver_report_.form == "blocks"
    assert pca.solver_report_.passes < 20
    same_up_to_sign(pca.eigenvectors_, expected.eigenvectors_, 1e-8)
    with kr.config_context(memory=3_000_000):
        auto = KernelPCA("rbf(sigma=2.0)", 4).fit(X)
    assert auto.solver_report_.form == "blocks"
    assert "memory budget" in auto.solver_report_.note


def test_blocks_as_wide_as_the_engine_mirrors():
    from kernreg.solvers.decompositions.kpca import _cheap_block

    assert _cheap_block(rbf().mirrored_columns(50_000), 10) == 10
    assert _cheap_block(rbf().mirrored_columns(45_000), 10) == 11
    assert _cheap_block(rbf().mirrored_columns(5_000), 10) is None  # any block is mirrored
    assert _cheap_block(rbf().mirrored_columns(500_000), 10) is None  # none of use is


@pytest.mark.parametrize("order", ["magnitude", "value"])
def test_asymmetric_kernels_are_refused_by_name(samples, order):
    X = samples[0][:100]
    for solver in ("auto", "dense", "operator"):
        with pytest.raises(AsymmetryError, match=r"'sne' is asymmetric.*'ksvd'"):
            KernelPCA("sne", 3, order=order, eigen_solver=solver).fit(X)
    with pytest.raises(DataError, match=r"X is a pair.*'ksvd'"):
        KernelPCA().fit((X, X))
    graph = sp.csr_array((np.random.default_rng(0).random((700, 700)) < 0.01).astype(float))
    with pytest.raises(AsymmetryError, match=r"'adjacency' is asymmetric.*'ksvd'"):
        KernelPCA(kr.make_kernel("adjacency", graph=graph), 3).fit(np.arange(700))


def test_inverse_transform_finds_the_samples_again():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([np.cos(angle), np.sin(angle), 0.01 * rng.normal(size=300)]) + 5.0
    noisy = X + 0.1 * rng.normal(size=X.shape)
    for spec in ("rbf(sigma=1.0)", "tl1(rho=2.0)"):
        pca = KernelPCA(spec, 8, fit_inverse_transform=True, alpha=1e-4).fit(X)
        back = pca.inverse_transform(pca.transform(X))
        assert back.shape == X.shape
        assert np.abs(back - X).max() < 0.1
        # The components know the circle, and leave the noise behind.
        denoised = pca.inverse_transform(pca.transform(noisy))
        before = np.abs(np.linalg.norm(noisy[:, :2] - 5.0, axis=1) - 1.0).mean()
        assert np.abs(np.linalg.norm(denoised[:, :2] - 5.0, axis=1) - 1.0).mean() < 0.5 * before
    assert pca.inverse_.kernel.startswith("rbf(")  # tl1 is indefinite, and no kernel for a ridge regression
    chosen = KernelPCA("rbf(sigma=1.0)", 8, fit_inverse_transform=True, alpha="loo").fit(X)
    assert np.abs(chosen.inverse_transform(chosen.transform(X)) - X).max() < 0.1
    linear = KernelPCA("linear", 2, fit_inverse_transform=True, inverse_kernel="linear", alpha=1e-4).fit(X)
    np.testing.assert_allclose(
        linear.inverse_transform(linear.transform(X)),
        PCA(2).fit(X).inverse_transform(PCA(2).fit_transform(X)),
        atol=1e-6,
    )


def test_inverse_transform_refuses_what_it_cannot_do(samples):
    X = samples[0][:50]
    plain = KernelPCA("rbf", 2).fit(X)
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        plain.inverse_transform(plain.transform(X))
    with pytest.raises(ParameterError, match="sparse"):
        KernelPCA("rbf", 2, fit_inverse_transform=True).fit(sp.csr_array(X))
    with pytest.raises(ParameterError, match="not a table"):
        KernelPCA(precomputed(K=rbf()(X)), 2, fit_inverse_transform=True).fit(np.arange(50))
    for alpha in (0.0, -1.0, np.inf, "best", True):
        with pytest.raises(ParameterError, match=r"alpha=.* is not accepted"):
            KernelPCA("rbf", 2, fit_inverse_transform=True, alpha=alpha).fit(X)
    again = KernelPCA("rbf", 2, fit_inverse_transform=True).fit(X)
    assert hasattr(again, "inverse_")
    assert not hasattr(again.set_params(fit_inverse_transform=False).fit(X), "inverse_")
    one = KernelPCA("rbf", 1, fit_inverse_transform=True).fit(X[:, :1])
    assert one.inverse_transform(one.transform(X[:, :1])).shape == (50, 1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 51}, r"n_components=51 is not accepted; with n_samples = 50 give an integer from 1 to 50"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"n_components": True}, "n_components=True"),
        ({"order": "size"}, "order='size' is not accepted; give 'magnitude' or 'value'"),
        ({"eigen_solver": "qr"}, "eigen_solver='qr' is not accepted; give 'auto' or 'dense'"),
        ({"eigen_solver": "operator"}, "n_components=None asks for all"),
        ({"n_components": 2, "tol": -1.0}, "tol=-1.0"),
        ({"n_components": 2, "max_iter": 0}, "max_iter=0"),
        ({"kernel": "rbf(sigma=-1)"}, "sigma"),
        ({"kernel": 3}, "not a kernel"),
    ],
)
def test_parameters_out_of_their_domain(samples, params, message):
    with pytest.raises(ParameterError, match=message):
        KernelPCA(**params).fit(samples[0][:50])


def test_bad_data_are_refused_with_a_reason(samples):
    X = samples[0][:50].copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KernelPCA().fit(X)
    with pytest.raises(NotFittedError):
        KernelPCA().transform(X)

    @kernel(of="sqeuclidean", symmetric=True)
    def reciprocal(d2):
        return 1.0 / d2

    X = np.arange(700.0)[:, None]
    for solver in ("auto", "dense", "operator"):
        with pytest.raises(DataError, match="'reciprocal' is inf between samples 0 and 0"):
            KernelPCA(reciprocal, 3, eigen_solver=solver).fit(X)
    with pytest.raises(ValueError, match="features"):
        KernelPCA("rbf", 2).fit(samples[0]).transform(samples[0][:, :3])


def test_iterations_are_bounded(samples):
    with pytest.warns(ConvergenceWarning, match="krylov stopped after 2 iterations"):
        pca = KernelPCA("rbf(sigma=1.0)", 5, eigen_solver="operator", max_iter=2).fit(samples[0])
    assert not pca.solver_report_.converged
    assert pca.n_iter_ == 2


def test_names_and_containers_of_scores(samples):
    X, _ = samples
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:60], columns=list("abcde"))
    pca = KernelPCA("rbf", 3).set_output(transform="pandas")
    table = pca.fit_transform(frame)
    assert list(table.columns) == ["kernelpca0", "kernelpca1", "kernelpca2"] == pca.get_feature_names_out().tolist()
    assert table.index.equals(frame.index)
    assert pca.feature_names_in_.tolist() == list("abcde")
    assert pca.transform(frame[:5]).shape == (5, 3)
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(frame.rename(columns={"a": "z"}))


def test_kernel_parameters_are_searched_in_a_pipeline(samples):
    X = samples[0][:90]
    y = np.linalg.norm(X, axis=1) > np.median(np.linalg.norm(X, axis=1))
    pipeline = make_pipeline(KernelPCA("rbf", 5), RidgeClassifier())
    search = GridSearchCV(pipeline, {"kernelpca__kernel__sigma": [0.01, 3.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelpca__kernel__sigma": 3.0}
    assert clone(search.best_estimator_[0]).kernel == rbf(sigma=3.0)


def test_found_by_name_saved_and_loaded(samples, tmp_path):
    X, new = samples
    pca = kr.make_solver("kpca(n_components=3, fit_inverse_transform=True)", kernel="tl1(rho=7.0)").fit(X[:80])
    assert isinstance(pca, KernelPCA)
    kr.save(pca, tmp_path / "pca.kern")
    again = kr.load(tmp_path / "pca.kern")
    assert np.array_equal(again.transform(new), pca.transform(new))
    assert np.array_equal(again.inverse_transform(pca.transform(new)), pca.inverse_transform(pca.transform(new)))
    assert again.solver_report_ == pca.solver_report_
    again.dual_coef_ = again.dual_coef_[:-1]
    with pytest.raises(ValueError, match="do not fit together"):
        again.__kernreg_restored__()
