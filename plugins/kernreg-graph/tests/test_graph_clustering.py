"""Clusters of directed graphs against a dense decomposition, planted sides, and the checks of estimators."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_graph import KSVDCluster, graph_adjacency
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import kernreg
from kernreg import config_context, make_solver
from kernreg.errors import DataError, MemoryBudgetWarning, ParameterError
from kernreg.metrics import nmi_scorer
from kernreg.testing import check_solver


def two_sided_graph(n=240, seed=0):
    """Nodes have a group as sources and another one as targets; an edge leads from group g to target group g."""
    rng = np.random.default_rng(seed)
    source, target = rng.integers(3, size=n), rng.integers(3, size=n)
    probability = np.where(source[:, None] == target, 0.2, 0.02)
    return sp.csr_array((rng.random((n, n)) < probability).astype(float)), source, target


def test_singular_values_are_those_of_the_weighted_matrix():
    A, _, _ = two_sided_graph()
    model = KSVDCluster(3, affinity="graph", regularization=0.3).fit(A)
    S = A.toarray() + np.eye(len(A.toarray()))
    S += 0.3 * S.sum(axis=1).mean() / len(S)
    weighted = S / np.sqrt(np.outer(S.sum(axis=1), S.sum(axis=0)))
    U, values, _ = np.linalg.svd(weighted)
    np.testing.assert_allclose(model.singular_values_, values[:4], atol=1e-10)
    assert abs(model.singular_values_[0] - 1.0) < 1e-10
    scores = (U[:, 1:4] * values[1:4]) / np.sqrt(S.sum(axis=1))[:, None]
    expected = scores / np.linalg.norm(scores, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(model.source_embedding_), np.abs(expected), atol=1e-8)


def test_sides_are_told_apart_where_a_symmetric_graph_shows_neither():
    A, source, target = two_sided_graph()
    model = KSVDCluster(3, affinity="graph").fit(A)
    assert adjusted_rand_score(source, model.source_labels_) > 0.9
    assert adjusted_rand_score(target, model.target_labels_) > 0.9
    symmetric = KSVDCluster(3, affinity="graph").fit(sp.csr_array(A + A.T))
    assert adjusted_rand_score(source, symmetric.labels_) < 0.5


def test_sparse_and_dense_graphs_and_both_decompositions_agree():
    A, source, _ = two_sided_graph(700)
    few = KSVDCluster(3, affinity="graph").fit(A)  # ARPACK
    all_at_once = KSVDCluster(3, affinity="graph", n_components=699).fit(A.toarray())
    np.testing.assert_allclose(few.singular_values_, all_at_once.singular_values_[:4], atol=1e-9)
    dense = KSVDCluster(3, affinity="graph").fit(A.toarray())
    np.testing.assert_allclose(np.abs(few.source_embedding_), np.abs(dense.source_embedding_), atol=1e-7)
    assert adjusted_rand_score(source, few.source_labels_) > 0.95


def test_a_kernel_of_nodes_is_its_matrix():
    A, _, _ = two_sided_graph(90)
    nodes = np.arange(90)
    kernel = graph_adjacency(graph=A, direction="citing", normalize="none")
    by_kernel = KSVDCluster(3, kernel=kernel).fit(nodes)
    by_graph = KSVDCluster(3, affinity="graph").fit(A)
    np.testing.assert_allclose(by_kernel.singular_values_, by_graph.singular_values_, atol=1e-12)
    assert adjusted_rand_score(by_kernel.labels_, by_graph.labels_) == 1.0


@pytest.mark.parametrize("labels", ["both", "source", "target"])
@pytest.mark.parametrize("embedding", ["directions", "scores", "vectors"])
def test_training_samples_are_predicted_as_they_were_clustered(labels, embedding):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(30, 2)) + 8.0])
    model = KSVDCluster(2, kernel="sne(sigma=2.0)", labels=labels, embedding=embedding).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], [40, 30]), model.labels_) == 1.0
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.predict(X[:3] + 0.1), model.labels_[:3])


def test_new_nodes_are_told_by_their_edges():
    A, source, _ = two_sided_graph(300)
    rest = np.arange(260)
    model = KSVDCluster(3, affinity="graph", labels="source", self_loops=False).fit(A[rest][:, rest])
    assert adjusted_rand_score(source[260:], model.predict(A[260:][:, rest])) > 0.8
    with pytest.raises(ParameterError, match="labels='source'"):
        KSVDCluster(3, affinity="graph").fit(A).predict(A)


def test_wrong_graphs_and_parameters_are_told():
    A, _, _ = two_sided_graph(60)
    with pytest.raises(DataError, match="square"):
        KSVDCluster(3, affinity="graph").fit(A[:20])
    with pytest.raises(DataError, match="Negative values"):
        KSVDCluster(3, affinity="graph").fit(-A)
    with pytest.raises(DataError, match="Negative values"):
        KSVDCluster(2, kernel="linear").fit(np.array([[1.0], [-1.0]]))
    for wrong in ({"n_clusters": 0}, {"n_components": 1.5}, {"regularization": -1.0}, {"affinity": "edges"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            KSVDCluster(**{"affinity": "graph", **wrong}).fit(A)


def test_a_model_survives_a_file_and_a_grid_search(tmp_path):
    rng = np.random.default_rng(0)
    X, y = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 6.0]), np.repeat([0, 1], 40)
    model = KSVDCluster(2, kernel="sne(sigma=2.0)").fit(X)
    kernreg.save(model, tmp_path / "model.kern")
    loaded = kernreg.load(tmp_path / "model.kern")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.solver_report_ == model.solver_report_
    search = GridSearchCV(KSVDCluster(2, kernel="sne"), {"kernel__sigma": [0.01, 2.0]}, scoring=nmi_scorer, cv=3)
    assert search.fit(X, y).best_params_ == {"kernel__sigma": 2.0}


@parametrize_with_checks([KSVDCluster(), KSVDCluster(embedding="scores", labels="source")])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_it_keeps_the_laws_of_solvers():
    check_solver(KSVDCluster())


def test_a_few_triplets_of_a_small_matrix_keep_the_memory_budget_and_all_of_them_are_told():
    X = np.random.default_rng(0).normal(size=(400, 3))
    allowed = 1.15 * 6_000_000 + 4e6
    make_solver("ksvd-cluster", n_clusters=2, n_init=1).fit(X[:30])
    with config_context(memory=6_000_000):
        tracemalloc.start()
        try:
            found = make_solver("ksvd-cluster", n_clusters=2, n_init=1).fit(X)
            assert tracemalloc.get_traced_memory()[1] <= allowed
        finally:
            tracemalloc.stop()
        with pytest.warns(
            MemoryBudgetWarning, match="all singular triplets of 400 samples needs about 11.5 MB"
        ) as heard:
            make_solver("ksvd-cluster", n_clusters=2, n_components=399, n_init=1).fit(X)
    assert heard[0].filename == __file__
    whole = make_solver("ksvd-cluster", n_clusters=2, n_init=1).fit(X)
    np.testing.assert_allclose(found.singular_values_, whole.singular_values_, rtol=1e-8)
