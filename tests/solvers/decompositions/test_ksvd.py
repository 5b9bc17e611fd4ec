from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import kernreg as kr
from kernreg.errors import DataError, MemoryBudgetError, ParameterError
from kernreg.kernels import compose
from kernreg.kernels.builtin import rbf
from kernreg.kernels.indexed import adjacency, precomputed
from kernreg.solvers import LSSVC, KernelSVD
from kernreg.solvers.decompositions.centred_triplets import linear_svd, two_kpca

SOLVERS = ("auto", "dense", "krylov", "arpack", "randomized", "operator")


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    """Small products on several BLAS threads wait for each other when the tests run side by side."""
    with threadpool_limits(1, user_api="blas"):
        yield


def samples(n, d, seed=0):
    return np.random.default_rng([seed, n, d]).standard_normal((n, d))


def centred(G):
    """J G J by the matrices themselves."""
    n, m = G.shape
    return (np.eye(n) - np.ones((n, n)) / n) @ G @ (np.eye(m) - np.ones((m, m)) / m)


def same_triplets(svd, G, tolerance=1e-10):
    """Assert that a fitted KernelSVD holds the leading triplets of G / √(nm), and scores that go with them."""
    U, s, Vt = np.linalg.svd(np.asarray(G, dtype=float), full_matrices=False)
    r, size = len(svd.singular_values_), np.sqrt(G.shape[0] * G.shape[1])
    scale = size if svd.scale else 1.0
    np.testing.assert_allclose(svd.singular_values_, s[:r] / scale, rtol=0, atol=tolerance * s[0] / scale)
    signs = np.sign((svd.left_vectors_ * U[:, :r]).sum(axis=0))
    np.testing.assert_allclose(svd.left_vectors_ * signs, U[:, :r], atol=1e4 * tolerance)
    np.testing.assert_allclose(svd.right_vectors_ * signs, Vt[:r].T, atol=1e4 * tolerance)
    np.testing.assert_allclose(svd.left_scores_, svd.left_vectors_ * s[:r], atol=1e2 * tolerance * s[0])
    np.testing.assert_allclose(svd.right_scores_, svd.right_vectors_ * s[:r], atol=1e2 * tolerance * s[0])
    peaks = svd.left_vectors_[np.abs(svd.left_vectors_).argmax(axis=0), np.arange(r)]
    assert np.all(peaks > 0)


# What is decomposed -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_one_sample_set_and_an_asymmetric_kernel(center, scale):
    X = samples(30, 4)
    svd = KernelSVD("sne(sigma=2.0)", 5, center=center, scale=scale).fit(X)
    G = naive.sne(X, sigma=2.0).astype(float)
    same_triplets(svd, centred(G) if center else G)


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_two_sample_sets(shape):
    X, Z = samples(shape[0], 4), samples(shape[1], 4, seed=1)
    svd = KernelSVD("sne(sigma=2.0)", 5).fit((X, Z))
    same_triplets(svd, centred(naive.sne(X, Z, sigma=2.0).astype(float)))


@pytest.mark.parametrize("name", ["a0", "a1", "a2", "identity"])
@pytest.mark.parametrize("shape", [(15, 6), (6, 15), (9, 9)])
def test_rows_and_columns_of_a_data_matrix(shape, name):
    A = samples(*shape)
    svd = KernelSVD("rbf(sigma=3.0)", 3, compatibility=name, random_state=5)
    if name == "identity" and shape[0] != shape[1]:
        with pytest.raises(DataError, match="compares the samples as they are"):
            svd.fit(A)
        return
    svd.fit(A)
    C = svd.compatibility_
    left, right = A if C.left is None else A @ C.left, A.T if C.right is None else A.T @ C.right
    same_triplets(svd, centred(naive.rbf(left, right, sigma=3.0).astype(float)))
    assert svd.left_scores_.shape == (shape[0], 3)
    assert svd.right_scores_.shape == (shape[1], 3)


@pytest.mark.parametrize("name", ["a1", "a2"])
def test_two_sample_sets_of_different_dimension(name):
    X, Z = samples(20, 7), samples(11, 3, seed=1)
    svd = KernelSVD("rbf(sigma=3.0)", 3, compatibility=name).fit((X, Z))
    same_triplets(svd, centred(naive.rbf(X @ svd.compatibility_.left, Z, sigma=3.0).astype(float)))
    np.testing.assert_allclose(svd.transform(X), svd.left_scores_, atol=1e-13)
    np.testing.assert_allclose(svd.transform_right(Z), svd.right_scores_, atol=1e-13)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("shape", [(25, 8), (8, 25), (12, 12)])
def test_linear_kernel_with_a0_is_the_svd_of_the_matrix(shape, sparse):
    A = samples(*shape)
    svd = KernelSVD("linear", 6, compatibility="a0", center=False, scale=False).fit(sp.csr_array(A) if sparse else A)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    np.testing.assert_allclose(svd.singular_values_, s[:6], rtol=1e-10)
    signs = np.sign((svd.left_vectors_ * U[:, :6]).sum(axis=0))
    np.testing.assert_allclose(svd.left_vectors_ * signs, U[:, :6], atol=1e-10)
    np.testing.assert_allclose(svd.right_vectors_ * signs, Vt[:6].T, atol=1e-10)
    peer = TruncatedSVD(6, algorithm="arpack").fit(A)
    np.testing.assert_allclose(np.abs(svd.transform(A)), np.abs(peer.transform(A)), atol=1e-10)


@pytest.mark.parametrize("center", [True, False])
def test_linear_svd_is_the_same_without_a_pseudo_inverse(center):
    A = samples(25, 8)
    svd = KernelSVD("linear", 3, compatibility="a0", center=center, scale=False).fit(A)
    for given in (A, sp.csr_array(A)):
        found = linear_svd(given, 3, center=center)
        np.testing.assert_allclose(found.values, svd.singular_values_, rtol=1e-10)
        np.testing.assert_allclose(found.left, svd.left_vectors_, atol=1e-9)
        np.testing.assert_allclose(found.right, svd.right_vectors_, atol=1e-9)


def test_two_kernel_pcas_span_the_same_directions_with_signs_of_their_own():
    X, Z = samples(30, 4), samples(20, 4, seed=1)
    svd = KernelSVD("sne(sigma=2.0)", 3, scale=False).fit((X, Z))
    both = two_kpca("sne(sigma=2.0)", X, Z, 3)
    np.testing.assert_allclose(both.values, svd.singular_values_, rtol=1e-8)
    for found, expected in ((both.left, svd.left_vectors_), (both.right, svd.right_vectors_)):
        np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1.0, atol=1e-8)


def test_symmetric_kernel_on_one_sample_set_is_kernel_pca():
    X = samples(40, 3)
    svd = KernelSVD("rbf(sigma=2.0)", 4, scale=False).fit(X)
    peer = PeerKernelPCA(4, kernel="rbf", gamma=0.25, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(svd.singular_values_, peer.eigenvalues_, rtol=1e-10)
    new = samples(5, 3, seed=9)
    # Kernel PCA divides the same projections by the square root of the eigenvalue.
    np.testing.assert_allclose(
        np.abs(svd.transform(new)), np.abs(peer.transform(new)) * np.sqrt(peer.eigenvalues_), atol=1e-10
    )


def test_the_transposed_kernel_swaps_the_sides():
    rng = np.random.default_rng(0)
    X, Z = (rng.dirichlet(np.ones(5), size=size) for size in (20, 12))
    k = kr.make_kernel("kl")
    svd, swapped = KernelSVD(k, 4).fit((X, Z)), KernelSVD(k.T, 4).fit((Z, X))
    np.testing.assert_allclose(swapped.singular_values_, svd.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(np.abs(swapped.left_scores_), np.abs(svd.right_scores_), atol=1e-12)
    new = rng.dirichlet(np.ones(5), size=3)
    np.testing.assert_allclose(np.abs(swapped.transform_right(new)), np.abs(svd.transform(new)), atol=1e-12)


def test_the_order_of_samples_only_orders_the_scores():
    X, Z = samples(30, 4), samples(20, 4, seed=1)
    order = np.random.default_rng(2).permutation(30)
    svd, shuffled = KernelSVD("sne(sigma=2.0)", 4).fit((X, Z)), KernelSVD("sne(sigma=2.0)", 4).fit((X[order], Z))
    np.testing.assert_allclose(shuffled.left_scores_, svd.left_scores_[order], atol=1e-13)
    np.testing.assert_allclose(shuffled.right_scores_, svd.right_scores_, atol=1e-13)


# Solvers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("shape", [(60, 40), (40, 60)])
def test_solvers_agree(shape, svd_solver):
    X, Z = samples(shape[0], 3), samples(shape[1], 3, seed=1)
    svd = KernelSVD("sne(sigma=2.0)", 4, svd_solver=svd_solver).fit((X, Z))
    same_triplets(svd, centred(naive.sne(X, Z, sigma=2.0).astype(float)), 1e-6 if svd_solver == "randomized" else 1e-10)
    assert svd.solver_report_.shape == shape
    assert svd.n_iter_ >= 1


def documents(n=700, d=900, seed=0):
    """Sparse rows with few features in common, and their dense form."""
    X = sp.random_array((n, d), density=0.004, rng=np.random.default_rng(seed), format="csr")
    return X, X.toarray()


@pytest.mark.parametrize("kernel", ["sne(sigma=1.5)", "rbf(sigma=1.5)", "poly(degree=2, c=1.0)"])
def test_sparse_samples_are_decomposed_without_the_matrix(kernel):
    (X, dense_X), (Z, dense_Z) = documents(), documents(600, seed=1)
    svd = KernelSVD(kernel, 5).fit((X, Z))
    assert svd.solver_report_.form == "separable"
    assert svd.solver_report_.method == "arpack"
    assert "cost what the data store" in svd.solver_report_.note
    dense = KernelSVD(kernel, 5, svd_solver="dense").fit((dense_X, dense_Z))
    np.testing.assert_allclose(svd.singular_values_, dense.singular_values_, rtol=1e-8)
    new, dense_new = documents(20, seed=2)
    np.testing.assert_allclose(
        svd.transform(new), dense.transform(dense_new), rtol=0, atol=1e-7 * np.abs(dense.left_scores_).max()
    )
    np.testing.assert_allclose(
        svd.transform_right(new),
        dense.transform_right(dense_new),
        rtol=0,
        atol=1e-7 * np.abs(dense.right_scores_).max(),
    )


def test_a_sparse_square_matrix_of_rows_and_columns():
    A = sp.random_array((600, 600), density=0.003, rng=np.random.default_rng(0), format="csr")
    svd = KernelSVD("sne(sigma=1.0)", 4, compatibility="identity").fit(A)
    assert svd.solver_report_.form == "separable"
    D = A.toarray()
    squared = (D * D).sum(axis=1)[:, None] - 2 * D @ D + (D * D).sum(axis=0)
    G = np.exp(-squared)
    G /= G.sum(axis=1, keepdims=True)
    same_triplets(svd, centred(G), 1e-9)


def test_single_precision_sparse_samples_take_the_same_way():
    X, _ = documents()
    double, single = (KernelSVD("sne(sigma=1.5)", 3).fit(X.astype(dtype)) for dtype in (np.float64, np.float32))
    assert single.solver_report_.form == "separable"
    assert single.left_scores_.dtype == np.float32
    np.testing.assert_allclose(single.singular_values_, double.singular_values_, rtol=1e-5)
    transformed = single.transform(X.astype(np.float32))
    assert transformed.dtype == np.float32
    np.testing.assert_allclose(transformed, single.left_scores_, atol=1e-5 * np.abs(single.left_scores_).max())


def test_auto_never_holds_a_matrix_beyond_the_memory_budget():
    X = samples(400, 3)
    with kr.config_context(memory=1_000_000):
        svd = KernelSVD("sne(sigma=2.0)", 3).fit(X)
        assert svd.solver_report_.form == "blocks"
        assert "beyond the memory budget" in svd.solver_report_.note
        with pytest.raises(MemoryBudgetError):
            KernelSVD("sne(sigma=2.0)", 3, svd_solver="dense").fit(X)
    same = KernelSVD("sne(sigma=2.0)", 3).fit(X)
    np.testing.assert_allclose(svd.singular_values_, same.singular_values_, rtol=1e-9)


def test_repeated_singular_values_are_all_found_with_cheap_products():
    notes = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        values = np.sort(rng.choice(np.linspace(0.2, 1.0, rng.integers(3, 8)), size=600))[::-1]
        K = sp.diags_array(values).tocsr()[rng.permutation(600)]
        svd = KernelSVD(precomputed(K=K), 15, center=False, scale=False, tol=1e-5).fit(np.arange(600))
        np.testing.assert_allclose(svd.singular_values_, values[:15], atol=1e-6)
        np.testing.assert_allclose(svd.left_vectors_.T @ svd.left_vectors_, np.eye(15), atol=1e-9)
        np.testing.assert_allclose(K @ svd.right_vectors_, svd.left_vectors_ * values[:15], atol=1e-4)
        notes.append(svd.solver_report_.note)
    assert any("missed copies" in note for note in notes)  # the first attempt does fail: else this tests nothing


def test_repeated_singular_values_give_one_basis_of_their_space():
    X = np.eye(6)
    svd = KernelSVD("linear", 3, scale=False).fit(X)  # centred: five singular values of one, and a zero
    np.testing.assert_allclose(svd.singular_values_, 1.0, atol=1e-12)
    np.testing.assert_allclose(svd.left_vectors_.T @ svd.left_vectors_, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(svd.transform(X), svd.left_scores_, atol=1e-12)
    np.testing.assert_array_equal(svd.left_vectors_, KernelSVD("linear", 3).fit(X).left_vectors_)


def test_components_beyond_the_rank_have_zero_scores():
    X = samples(20, 2)
    svd = KernelSVD("linear", 5).fit(X)
    np.testing.assert_allclose(svd.singular_values_[2:], 0, atol=1e-14)
    np.testing.assert_allclose(svd.transform(samples(4, 2, seed=1))[:, 2:], 0, atol=1e-12)
    assert "rank 2" in svd.solver_report_.note


def test_an_iteration_that_is_cut_short_says_so():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        KernelSVD("rbf(sigma=0.3)", 5, svd_solver="krylov", max_iter=1).fit(samples(200, 4))


def test_all_components():
    svd = KernelSVD("rbf(sigma=2.0)", None, center=False).fit((samples(9, 3), samples(5, 3, seed=1)))
    assert svd.singular_values_.shape == (5,)
    G = svd.left_scores_ @ svd.right_vectors_.T
    np.testing.assert_allclose(G, naive.rbf(samples(9, 3), samples(5, 3, seed=1), sigma=2.0).astype(float), atol=1e-12)


# Scores of new samples ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("svd_solver", SOLVERS)
@pytest.mark.parametrize("center", [True, False])
def test_transform_of_training_samples_equals_the_fitted_scores(center, svd_solver):
    X, Z = samples(50, 3), samples(30, 3, seed=1)
    svd = KernelSVD("sne(sigma=2.0)", 4, center=center, svd_solver=svd_solver)
    fitted = svd.fit_transform((X, Z))
    np.testing.assert_allclose(svd.transform(X), fitted, rtol=0, atol=1e-15)
    np.testing.assert_allclose(svd.transform_right(Z), svd.right_scores_, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(svd.embed(side="left"), fitted)


def test_new_samples_are_centred_with_the_training_means():
    X, Z = samples(30, 4), samples(20, 4, seed=1)
    new = samples(6, 4, seed=2)
    svd = KernelSVD("sne(sigma=2.0)", 3).fit((X, Z))
    G = naive.sne(X, Z, sigma=2.0).astype(float)
    row = naive.sne(new, Z, sigma=2.0).astype(float)
    left = row - row.mean(axis=1, keepdims=True) - G.mean(axis=0) + G.mean()
    np.testing.assert_allclose(svd.transform(new), left @ svd.right_vectors_, rtol=0, atol=1e-14)
    # A new column: the rows keep the normalisers they have over the training columns.
    column = naive.sne(X, new, sigma=2.0, reference=Z).astype(float)
    right = column - column.mean(axis=0) - G.mean(axis=1, keepdims=True) + G.mean()
    np.testing.assert_allclose(svd.transform_right(new), right.T @ svd.left_vectors_, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["a0", "a1", "a2"])
@pytest.mark.parametrize("shape", [(15, 6), (6, 15)])
def test_new_rows_and_new_columns_of_a_data_matrix(shape, name):
    whole = samples(shape[0] + 2, shape[1] + 3)
    A, rows, columns = whole[:-2, :-3], whole[-2:, :-3], whole[:-2, -3:]
    svd = KernelSVD("rbf(sigma=3.0)", 3, compatibility=name).fit(A)
    np.testing.assert_allclose(svd.transform(A), svd.left_scores_, atol=1e-13)
    np.testing.assert_allclose(svd.transform_right(A.T), svd.right_scores_, atol=1e-13)
    assert svd.transform(rows).shape == (2, 3)
    assert svd.transform_right(columns.T).shape == (3, 3)
    C = svd.compatibility_
    left, right = C.left_samples(A), C.right_samples(A.T)
    G = naive.rbf(left, right, sigma=3.0).astype(float)
    row = naive.rbf(C.left_samples(rows), right, sigma=3.0).astype(float)
    np.testing.assert_allclose(svd.transform(rows), (row - G.mean(axis=0)) @ svd.right_vectors_, atol=1e-12)
    column = naive.rbf(left, C.right_samples(columns.T), sigma=3.0).astype(float)
    expected = (column - G.mean(axis=1, keepdims=True)).T @ svd.left_vectors_
    np.testing.assert_allclose(svd.transform_right(columns.T), expected, atol=1e-12)


def test_embedding_of_both_sides():
    X, new = samples(20, 3), samples(5, 3, seed=1)
    svd = KernelSVD("sne(sigma=2.0)", 2).fit(X)
    np.testing.assert_array_equal(svd.embed(), np.hstack([svd.left_scores_, svd.right_scores_]))
    np.testing.assert_array_equal(svd.embed(side="right"), svd.right_scores_)
    np.testing.assert_array_equal(svd.embed(new), np.hstack([svd.transform(new), svd.transform_right(new)]))
    np.testing.assert_array_equal(svd.embed(new, side="right"), svd.transform_right(new))
    pair = KernelSVD("sne(sigma=2.0)", 2).fit((X, new))
    assert pair.embed((new, X[:5])).shape == (5, 4)
    with pytest.raises(DataError, match="20 left and 5 right samples"):
        pair.embed()
    with pytest.raises(DataError, match="give a tuple"):
        pair.embed(new)
    with pytest.raises(ParameterError, match="side='top'"):
        svd.embed(side="top")


def test_names_and_pandas():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(samples(12, 3), columns=["a", "b", "c"])
    svd = KernelSVD("sne(sigma=2.0)", 2).set_output(transform="pandas")
    fitted = svd.fit_transform(X)
    assert list(fitted.columns) == ["left0", "left1"]
    assert list(svd.transform(X).columns) == ["left0", "left1"]
    assert svd.get_feature_names_out().tolist() == ["left0", "left1"]
    assert svd.get_feature_names_out(side="right").tolist() == ["right0", "right1"]
    assert svd.get_feature_names_out(side="both").tolist() == ["left0", "left1", "right0", "right1"]
    assert svd.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        svd.transform(X.rename(columns={"a": "z"}))


@pytest.mark.parametrize("svd_solver", ["dense", "operator"])
def test_single_precision_is_kept(svd_solver):
    X = samples(40, 3)
    double = KernelSVD("sne(sigma=2.0)", 3, svd_solver=svd_solver).fit(X)
    single = KernelSVD("sne(sigma=2.0)", 3, svd_solver=svd_solver).fit(X.astype(np.float32))
    for name in ("singular_values_", "left_vectors_", "right_vectors_", "left_scores_", "right_scores_"):
        assert getattr(single, name).dtype == np.float32
        expected = getattr(double, name)
        np.testing.assert_allclose(getattr(single, name), expected, atol=1e-4 * np.abs(expected).max())
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.transform_right(X.astype(np.float32)).dtype == np.float32


# Other kernels ------------------------------------------------------------------------------------------------


def test_a_held_matrix_of_any_shape():
    K = samples(8, 5)
    for held in (K, sp.csr_array(K)):
        svd = KernelSVD(precomputed(K=held), 2).fit((np.arange(8), np.arange(5)))
        same_triplets(svd, centred(K))
        np.testing.assert_allclose(svd.transform([3, 1]), svd.left_scores_[[3, 1]], atol=1e-13)
        np.testing.assert_allclose(svd.transform_right([4]), svd.right_scores_[[4]], atol=1e-13)


def test_the_adjacency_kernel_of_a_graph():
    graph = sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    svd = KernelSVD(adjacency(graph=graph), 3).fit(np.arange(30))
    A = graph.toarray().T + np.eye(30)
    same_triplets(svd, centred(A / A.sum(axis=1, keepdims=True)))
    assert svd.embed().shape == (30, 6)


def word_lengths(texts):
    return np.array([[len(text), text.count("a")] for text in texts], dtype=float)


def test_samples_of_any_kind_by_a_feature_map():
    texts = ["banana", "a", "cherry", "aardvark", "fig"]
    svd = KernelSVD(compose(rbf(sigma=3.0), word_lengths), 2).fit(texts)
    same_triplets(svd, centred(naive.rbf(word_lengths(texts), sigma=3.0).astype(float)))
    np.testing.assert_allclose(svd.transform(texts), svd.left_scores_, atol=1e-13)


def test_in_a_pipeline_and_a_grid_search():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 3)) + 2.0 * y[:, None]
    chain = make_pipeline(KernelSVD("sne", 2), LSSVC("linear", gamma=1e4))
    search = GridSearchCV(chain, {"kernelsvd__kernel__sigma": [0.01, 2.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernelsvd__kernel__sigma": 2.0}
    assert search.best_score_ > 0.9


@pytest.mark.parametrize("name", ["a1", "a3", None])
def test_survives_a_model_file(tmp_path, name):
    A = samples(12, 5)
    svd = KernelSVD("sne(sigma=2.0)", 2, compatibility=name, learning_iter=2).fit(A, A[:, 0])
    kr.save(svd, tmp_path / "model.kern")
    loaded = kr.load(tmp_path / "model.kern")
    np.testing.assert_array_equal(loaded.transform(A), svd.transform(A))
    np.testing.assert_array_equal(loaded.embed(side="right"), svd.embed(side="right"))


def test_found_by_name():
    svd = kr.make_solver("ksvd", kernel="sne(sigma=2.0)", n_components=3)
    assert isinstance(svd, KernelSVD)
    assert svd.kernel == "sne(sigma=2.0)"


# Bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [0, -1, 7, 2.0, True, "two"])
def test_numbers_of_components_that_there_are_not(r):
    with pytest.raises(ParameterError, match="on the left and 6 on the right give an integer from 1 to 6"):
        KernelSVD("rbf", r).fit((samples(9, 3), samples(6, 3)))


@pytest.mark.parametrize("svd_solver", ["auto", "operator"])
def test_a_kernel_that_is_zero_has_nothing_to_decompose(svd_solver):
    far = np.array([[0.0, 0.0], [0.0, 1e3], [1e3, 0.0], [1e3, 1e3]])
    with pytest.raises(DataError, match="is zero for every pair"):
        KernelSVD("rbf(sigma=0.1)", 2, svd_solver=svd_solver).fit((far, far + 1e5))
    with pytest.raises(DataError, match="is zero for every pair"):
        KernelSVD(precomputed(K=sp.csr_array((600, 600))), 2, svd_solver=svd_solver).fit(np.arange(600))


@pytest.mark.parametrize("svd_solver", ["auto", "operator"])
def test_a_constant_kernel_has_nothing_to_decompose_once_centred(svd_solver):
    X = np.ones((10, 3))
    with pytest.raises(DataError, match=r"takes the same value, about 1,.*center=False"):
        KernelSVD("rbf", 2, svd_solver=svd_solver).fit(X)
    svd = KernelSVD("rbf", 1, center=False, scale=False, svd_solver=svd_solver).fit(X)
    np.testing.assert_allclose(svd.singular_values_, [10.0])


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_are_refused_on_both_sides(value, position):
    pair = [samples(6, 3), samples(5, 3)]
    pair[position][2, 1] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        KernelSVD("rbf", 2).fit(tuple(pair))
    svd = KernelSVD("rbf", 2).fit((samples(6, 3), samples(5, 3)))
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        (svd.transform if position == 0 else svd.transform_right)(pair[position])


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")
@pytest.mark.parametrize("svd_solver", ["dense", "operator"])
def test_a_kernel_that_is_not_finite_is_refused_with_the_pair(svd_solver):
    X, Z = np.full((6, 1), 1e-30), np.full((5, 1), 1e-30)
    X[4] = Z[2] = 1e110
    with pytest.raises(DataError, match="'poly' is inf between sample 4 of the left and sample 2 of the right side"):
        KernelSVD("poly(degree=3)", 2, svd_solver=svd_solver).fit((X, Z))


def test_different_dimensions_without_compatibility_are_refused():
    with pytest.raises(DataError, match=r"4 and 3 features; .*Give a compatibility, 'a1', 'a2' or 'a3'"):
        KernelSVD("rbf", 2).fit((samples(6, 4), samples(5, 3)))


def test_one_sample_cannot_be_centred():
    with pytest.raises(DataError, match="the left side has 1 sample, and centring leaves nothing"):
        KernelSVD("rbf", 1).fit((samples(1, 3), samples(5, 3)))
    with pytest.raises(DataError, match=r"the right side has 1 sample \(A has 1 feature"):
        KernelSVD("rbf", 1, compatibility="a1").fit(samples(5, 1))
    assert KernelSVD("rbf", 1, center=False).fit(samples(1, 3)).singular_values_ == pytest.approx([1.0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"compatibility": "a4"}, "compatibility='a4' is not accepted; give 'a0' or 'a1'"),
        ({"svd_solver": "lobpcg"}, "svd_solver='lobpcg' is not accepted"),
        ({"center": 1}, "center=1 is not accepted; give True or False"),
        ({"scale": None}, "scale=None is not accepted"),
        ({"tol": 2.0}, "tol=2.0 is not accepted"),
        ({"max_iter": 0}, "max_iter=0 is not accepted"),
        ({"compatibility": "a3", "alpha": 0.0}, "alpha=0.0 is not accepted"),
        ({"compatibility": "a3", "learning_iter": 0}, "learning_iter=0 is not accepted"),
        ({"compatibility": "a3", "learning_penalty": -1}, "learning_penalty=-1 is not accepted"),
        ({"compatibility": "a3", "head": "svm"}, "head='svm' is not accepted"),
        ({"kernel": precomputed(K=np.eye(4)), "compatibility": "a1"}, "maps features, and the samples of kernel"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_parameters_out_of_their_domain(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelSVD(**{"kernel": "rbf", "n_components": 2, **parameters}).fit(samples(6, 3), samples(6, 1)[:, 0])


def test_samples_of_the_wrong_kind_are_refused_after_the_fit():
    svd = KernelSVD("rbf(sigma=3.0)", 2, compatibility="a1").fit(samples(6, 4))
    with pytest.raises(ValueError, match="expecting 4 features"):
        svd.transform(samples(3, 6))
    with pytest.raises(DataError, match="right samples have 6, one for each row of the training matrix"):
        svd.transform_right(samples(3, 4))


def test_a_tuple_of_two_rows_is_a_table():
    svd = KernelSVD("rbf", 1).fit(((0.0, 1.0), (2.0, 5.0)))
    assert svd.left_scores_.shape == (2, 1)
    assert svd.n_features_in_ == 2


# The papers ---------------------------------------------------------------------------------------------------


def test_citation_graph_of_the_paper(data_directory):
    with np.load(data_directory / "cora.npz") as data:
        n, edges = int(data["n_nodes"]), data["edges"]
    A = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    sigma = float(np.sqrt(n * (A.mean() - A.mean() ** 2)))
    svd = KernelSVD(f"sne(sigma={sigma})", 20, compatibility="identity").fit(A)
    assert svd.solver_report_.form == "separable"
    D = A.toarray()
    G = np.exp(-((D * D).sum(axis=1)[:, None] - 2 * (A @ D) + (D * D).sum(axis=0)) / sigma**2)
    G /= G.sum(axis=1, keepdims=True)
    G -= G.mean(axis=0)
    G -= G.mean(axis=1, keepdims=True)
    U, s, Vt = svds(G, 20, random_state=0)
    U, s, Vt = U[:, ::-1], s[::-1], Vt[::-1]
    np.testing.assert_allclose(svd.singular_values_, s / n, rtol=1e-9)
    eta = s / n @ (1 - np.abs((U * svd.left_vectors_).sum(axis=0))) / 20
    eta += s / n @ (1 - np.abs((Vt.T * svd.right_vectors_).sum(axis=0))) / 20
    assert eta <= 1e-8


def test_sides_are_sources_and_targets_or_left_and_right():
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = KernelSVD(kernel="sne(sigma=2.0)", n_components=2).fit(X)
    np.testing.assert_array_equal(model.embed(side="source"), model.embed(side="left"))
    np.testing.assert_array_equal(model.embed(X, side="target"), model.embed(X, side="right"))
    np.testing.assert_array_equal(model.target_scores_, model.right_scores_)
    np.testing.assert_array_equal(model.source_scores_, model.left_scores_)
    np.testing.assert_array_equal(model.transform_target(X), model.transform_right(X))
    assert model.get_feature_names_out(side="target").tolist() == ["target0", "target1"]
    with pytest.raises(ParameterError, match="'source'"):
        model.embed(side="middle")
