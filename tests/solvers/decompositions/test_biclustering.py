"""KernelBiclustering: each step against the formula, planted biclusters found, and the checks every solver passes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import sqrtm
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernreg as kr
import kernreg.testing
from kernreg import metrics
from kernreg.datasets import load, make_documents
from kernreg.errors import DataError, MemoryBudgetError, ParameterError
from kernreg.kernels.builtin import rbf
from kernreg.solvers.decompositions.biclustering import KernelBiclustering


@pytest.fixture(scope="module")
def planted():
    return make_documents(240, 90, 3, within=0.3, between=0.03, random_state=0)


def naive_scores(A, r, *, sigma, compatibility="a1", lengths="both", bipartite=True):
    """Left and right scores of the SNE kernel matrix between rows and columns, written out."""
    if bipartite:
        A = A / np.sqrt(A.sum(axis=1, keepdims=True)) / np.sqrt(A.sum(axis=0, keepdims=True))
    N, M = A.shape
    X, Z = A, A.T
    if N >= M:
        Z = np.eye(M) if compatibility == "a0" else np.real(sqrtm(A.T @ A))
    else:
        X = A @ np.linalg.pinv(A) if compatibility == "a0" else np.real(sqrtm(A @ A.T))
    own = [np.linalg.norm(side, axis=1, keepdims=True) for side in (X, Z)]
    mean = [np.sqrt((side**2).sum() / len(side)) for side in (X, Z)]
    if lengths == "both":
        X, Z = X / own[0], Z / own[1]
    elif lengths == "projected":
        X, Z = (X / mean[0], Z / own[1]) if N >= M else (X / own[0], Z / mean[1])
    K = np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2) / sigma**2)
    K /= K.sum(axis=1, keepdims=True)
    G = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    U, s, Vt = np.linalg.svd(G)
    return U[:, :r] * s[:r], Vt[:r].T * s[:r]


def up_to_sign(found, expected):
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("compatibility", ["a0", "a1"])
@pytest.mark.parametrize("lengths", ["projected", "both", "none"])
@pytest.mark.parametrize("scaling", ["bipartite", "none"])
@pytest.mark.parametrize("wide", [False, True], ids=["more rows", "more columns"])
def test_scores_are_those_of_the_kernel_matrix_between_rows_and_columns(compatibility, lengths, scaling, wide):
    A = np.random.default_rng(0).random((25, 12)) + 0.1
    A = A.T.copy() if wide else A
    options = {"compatibility": compatibility, "lengths": lengths, "scaling": scaling}
    model = KernelBiclustering(2, kernel="sne(sigma=0.7)", n_components=3, embedding="scores", **options).fit(A)
    left, right = naive_scores(
        A, 3, sigma=0.7, compatibility=compatibility, lengths=lengths, bipartite=scaling == "bipartite"
    )
    up_to_sign(model.row_embedding_, left)
    up_to_sign(model.column_embedding_, right)


def test_embeddings_are_scores_directions_or_singular_vectors():
    A = np.random.default_rng(1).random((30, 14))
    left, right = naive_scores(A, 4, sigma=1.5, bipartite=False)
    made = {
        "scores": lambda E: E,
        "directions": lambda E: E / np.linalg.norm(E, axis=1, keepdims=True),
        "vectors": lambda E: E / np.linalg.norm(E, axis=0),
    }
    for embedding, function in made.items():
        model = KernelBiclustering(2, n_components=4, embedding=embedding).fit(A)
        up_to_sign(model.row_embedding_, function(left))
        up_to_sign(model.column_embedding_, function(right))


def test_the_orientation_of_principal_directions_does_not_matter():
    """Columns permuted or their signs changed in A: the same clusters, which a fixed choice of signs cannot promise."""
    A, *_ = make_documents(120, 60, 3, within=0.3, random_state=1)
    dense = A.toarray()
    order = np.random.default_rng(0).permutation(60)
    plain, permuted = (KernelBiclustering(3).fit(B) for B in (dense, dense[:, order]))
    assert metrics.nmi(plain.row_labels_, permuted.row_labels_) == pytest.approx(1.0)
    assert metrics.nmi(plain.column_labels_[order], permuted.column_labels_) == pytest.approx(1.0)
    signs = np.where(np.arange(60) % 2, -1.0, 1.0)
    first, second = (KernelBiclustering(3, scaling="none").fit(B) for B in (dense, dense * signs))
    np.testing.assert_allclose(first.svd_.X_fit_ * signs, second.svd_.X_fit_, atol=1e-12)


def test_clusters_are_those_of_kmeans(planted):
    A, *_ = planted
    model = KernelBiclustering((3, 2), n_init=3, random_state=5).fit(A)
    random = np.random.RandomState(5)
    for points, k, labels in (  # clusters of columns are renumbered
        (model.row_embedding_, 3, model.row_labels_),
        (model.column_embedding_, 2, model.column_labels_),
    ):
        expected = KMeans(k, n_init=3, random_state=random).fit_predict(points)
        assert metrics.nmi(expected, labels) == pytest.approx(1.0)
    assert model.row_embedding_.shape[1] == 3


@pytest.mark.parametrize("compatibility", ["a0", "a1", "a2"])
def test_planted_biclusters_are_found(planted, compatibility):
    A, documents, terms = planted
    model = KernelBiclustering(3, compatibility=compatibility).fit(A)
    least = 0.2 if compatibility == "a2" else 0.9
    assert metrics.nmi(documents, model.row_labels_) > least
    assert metrics.nmi(terms, model.column_labels_) > least


def test_biclusters_are_every_pair_of_clusters(planted):
    A, *_ = planted
    model = KernelBiclustering((3, 2)).fit(A)
    rows, columns = model.biclusters_
    assert rows.shape == (6, 240)
    assert columns.shape == (6, 90)
    np.testing.assert_array_equal(rows.sum(axis=0), 2)
    np.testing.assert_array_equal(columns.sum(axis=0), 3)
    cover = sum(np.outer(r, c).astype(int) for r, c in zip(rows, columns, strict=True))
    np.testing.assert_array_equal(cover, 1)
    i, j = model.get_indices(3)
    np.testing.assert_array_equal(model.get_submatrix(3, A).toarray(), A.toarray()[np.ix_(i, j)])
    assert set(model.row_labels_[i]) == {1}
    assert set(model.column_labels_[j]) == {1}


@pytest.mark.parametrize("counts", [(3, 3), (2, 4), (4, 2)], ids=str)
def test_clusters_of_columns_are_numbered_like_those_of_rows(counts):
    A, documents, terms = make_documents(240, 90, 4, within=0.4, between=0.03, random_state=0)
    if max(counts) == 3:
        A, documents, terms = make_documents(240, 90, 3, within=0.4, between=0.03, random_state=0)
    model = KernelBiclustering(counts).fit(A)
    assert set(model.column_labels_) == set(range(counts[1]))
    if counts == (3, 3):
        for topic in range(3):
            row = np.bincount(model.row_labels_[documents == topic]).argmax()
            column = np.bincount(model.column_labels_[terms == topic]).argmax()
            assert row == column


@pytest.mark.parametrize("compatibility", ["a0", "a1", "a2"])
@pytest.mark.parametrize("wide", [False, True], ids=["more rows", "more columns"])
def test_sparse_and_dense_agree_and_training_rows_are_predicted(planted, compatibility, wide):
    A, *_ = planted
    A = sp.csr_array(A.T) if wide else A
    sparse, dense = (KernelBiclustering(3, compatibility=compatibility).fit(B) for B in (A, A.toarray()))
    np.testing.assert_array_equal(sparse.row_labels_, dense.row_labels_)
    np.testing.assert_array_equal(sparse.column_labels_, dense.column_labels_)
    np.testing.assert_array_equal(sparse.predict(A), sparse.row_labels_)
    np.testing.assert_array_equal(sparse.predict(A.toarray()), sparse.row_labels_)


def test_new_documents_fall_into_their_clusters(planted):
    A, documents, _ = planted
    model = KernelBiclustering(3).fit(A[:150])
    assert metrics.nmi(documents[150:], model.predict(A[150:])) > 0.9


def test_scaling_frees_clusters_from_lengths_and_frequencies():
    A, documents, _ = make_documents(240, 90, 3, within=0.3, between=0.03, random_state=0)
    rng = np.random.default_rng(0)
    uneven = A.toarray() * rng.lognormal(sigma=1.5, size=240)[:, None] * rng.lognormal(sigma=1.5, size=90)
    scaled = KernelBiclustering(3, scaling="bipartite").fit(uneven)
    plain = KernelBiclustering(3, scaling="none").fit(uneven)
    assert metrics.nmi(documents, scaled.row_labels_) > metrics.nmi(documents, plain.row_labels_) + 0.1


def test_counts_are_scaled_and_weights_are_not():
    counts = np.random.default_rng(0).poisson(2.0, size=(20, 10))
    found = [KernelBiclustering(2).fit(A).scaling_ for A in (counts, counts / 3, counts - 1, sp.csr_array(counts))]
    assert found == ["bipartite", "none", "none", "bipartite"]


@pytest.mark.parametrize("lengths", ["both", "projected"])
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_the_unit_of_the_entries_does_not_matter(planted, lengths, scale):
    A = planted[0].toarray() if sp.issparse(planted[0]) else planted[0]
    model, other = (KernelBiclustering(3, scaling="none", lengths=lengths).fit(c * A) for c in (1.0, scale))
    np.testing.assert_array_equal(model.row_labels_, other.row_labels_)
    np.testing.assert_array_equal(model.column_labels_, other.column_labels_)
    np.testing.assert_array_equal(other.predict(scale * A[:20]), model.predict(A[:20]))


def test_negative_entries_cannot_be_scaled():
    A = np.random.default_rng(0).normal(size=(20, 10))
    with pytest.raises(DataError, match=r"Negative values.*Use scaling='none'"):
        KernelBiclustering(2, scaling="bipartite").fit(A)
    with pytest.raises(DataError, match="the training matrix had none"):
        KernelBiclustering(2, scaling="bipartite").fit(np.abs(A)).predict(A)


def test_empty_rows_and_columns_are_harmless(planted):
    A, documents, _ = planted
    dense = A.toarray()
    dense[7], dense[:, 4] = 0.0, 0.0
    for compatibility in ("a0", "a1"):
        model = KernelBiclustering(3, compatibility=compatibility).fit(dense)
        assert np.isfinite(model.row_embedding_).all()
        assert metrics.nmi(np.delete(documents, 7), np.delete(model.row_labels_, 7)) > 0.9


def test_float32_is_kept(planted):
    A, documents, _ = planted
    for single in (A.astype(np.float32), A.toarray().astype(np.float32), 0.7 * A.astype(np.float32)):
        model = KernelBiclustering(3).fit(single)
        assert model.row_embedding_.dtype == model.svd_.X_fit_.dtype == np.float32
        assert metrics.nmi(documents, model.row_labels_) > 0.9


def test_scorers_serve_a_grid_search_over_kernel_parameters(planted):
    A, documents, _ = planted
    fold = [(np.arange(240), np.arange(240))]
    for scorer in (metrics.nmi_scorer, metrics.coherence_scorer):
        search = GridSearchCV(KernelBiclustering(3), {"kernel__sigma": [0.05, 1.0]}, scoring=scorer, cv=fold)
        assert search.fit(A, documents).best_params_ == {"kernel__sigma": 1.0}


def test_it_is_registered():
    model = kr.make_solver("bicluster", n_clusters=(2, 3), kernel=rbf(sigma=2.0))
    assert isinstance(model, KernelBiclustering)
    assert model.get_params()["kernel__sigma"] == 2.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n_clusters": 0}, ParameterError, "n_clusters=0 is not accepted; give a positive integer, or two"),
        ({"n_clusters": (2, 2, 2)}, ParameterError, "is not accepted"),
        ({"n_clusters": 2.0}, ParameterError, "is not accepted"),
        ({"n_clusters": (21, 2)}, DataError, r"X has 20 sample\(s\) \(rows\), which cannot make 21 clusters"),
        ({"n_clusters": (2, 9)}, DataError, r"X has 8 feature\(s\) \(columns\), which cannot make 9 clusters"),
        ({"n_components": 9}, ParameterError, "n_components=9 is not accepted"),
        ({"scaling": "tf-idf"}, ParameterError, "scaling='tf-idf' is not accepted; give 'auto' or"),
        ({"compatibility": "a3"}, ParameterError, "compatibility='a3' is not accepted; give 'a0' or 'a1' or 'a2'"),
        ({"lengths": True}, ParameterError, "lengths=True is not accepted; give 'both' or 'projected' or 'none'"),
        ({"embedding": "left"}, ParameterError, "embedding='left' is not accepted"),
    ],
    ids=["none", "three", "float", "rows", "columns", "components", "scaling", "compatibility", "lengths", "embedding"],
)
def test_wrong_parameters_are_named(change, error, message):
    A = np.random.default_rng(0).random((20, 8))
    with pytest.raises(error, match=message):
        KernelBiclustering(**{"n_clusters": 2, **change}).fit(A)


def test_bad_matrices_are_refused(planted):
    with pytest.raises(ValueError, match="NaN"):
        KernelBiclustering(2).fit([[1.0, np.nan], [1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(DataError, match="nothing"):
        KernelBiclustering(2).fit(np.zeros((10, 5)))
    with kr.config_context(memory=100_000), pytest.raises(MemoryBudgetError, match="square root of a 90 × 90 matrix"):
        KernelBiclustering(3).fit(planted[0])


#: The paper's figures (Tao et al. 2024, table 2), and clusters of documents and terms (table 9).
TABLE = {"acm": (3, 18, 0.68, 0.32), "dblp": (4, 2, 0.28, 0.21), "pubmed": (3, 3, 0.33, 0.54)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["acm", "dblp"])
def test_table_2(data_directory, name):
    if not (data_directory / f"{name}_docterm.npz").exists():
        pytest.skip(f"the data folder has no {name}_docterm.npz")
    data = load(f"{name}_docterm")
    documents, terms, nmi, coherence = TABLE[name]
    model = KernelBiclustering((documents, terms), lengths="projected").fit(data.X)
    assert metrics.nmi(data.y, model.row_labels_) > nmi - 0.05
    assert metrics.coherence(data.X, model.column_labels_) > coherence - 0.05


SOLVERS = [
    KernelBiclustering(),
    KernelBiclustering(2, n_init=1),
    KernelBiclustering(2, scaling="bipartite", compatibility="a0", n_init=1),
]


@parametrize_with_checks(SOLVERS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@kernreg.testing.parametrize_with_checks([KernelBiclustering, KernelBiclustering(2, kernel="rbf(sigma=1.0)")])
def test_laws_of_solvers(check):
    check()
