"""Graph helpers against loops over nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import svds
from sklearn.metrics import f1_score
from sklearn.neighbors import KNeighborsClassifier

import kernreg as kr
from kernreg import graphs
from kernreg.datasets import make_directed_communities
from kernreg.errors import DataError, ParameterError
from kernreg.kernels.indexed import adjacency
from kernreg.metrics import induced_norms
from kernreg.solvers import AsKLSClassifier


@pytest.fixture(scope="module")
def communities():
    return make_directed_communities(90, 3, within=0.2, random_state=1)


def naive_reconstruction(sources, targets, degrees, measure, self_loops):
    n = len(sources)
    A = np.zeros((n, n))
    for i in range(n):
        if measure == "inner":
            distance = [-float(sources[i] @ targets[j]) for j in range(n)]
        else:
            distance = [float(((sources[i] - targets[j]) ** 2).sum()) for j in range(n)]
        order = sorted((j for j in range(n) if self_loops or j != i), key=lambda j: (distance[j], j))
        A[i, order[: degrees[i]]] = 1.0
    return A


def test_edges_become_entries():
    edges = np.array([[3, 0], [0, 1], [3, 0]])
    graph = graphs.graph_from_edges(edges)
    expected = np.zeros((4, 4))
    expected[3, 0] = expected[0, 1] = 1.0
    np.testing.assert_array_equal(graph.toarray(), expected)
    expected[3, 0] = 7.0
    np.testing.assert_array_equal(graphs.graph_from_edges(edges, weights=[2.0, 1.0, 5.0]).toarray(), expected)
    assert graphs.graph_from_edges(edges.tolist(), n_nodes=6).shape == (6, 6)
    assert graphs.graph_from_edges([], n_nodes=2).nnz == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1, 2]],), r"shape \(1, 3\)"),
        (([[0.5, 1.0]],), "float64; accepted are integers"),
        (([[0, -1]],), "names node -1"),
        (([[0, 5]], 3), r"names node 5; nodes are numbered 0 … 2 \(n_nodes=3\)"),
        (([[0, 1]], 2, [1.0, 2.0]), r"shape \(2,\); give one number for each of the 1 edges"),
    ],
    ids=["three columns", "fractions", "negative", "beyond", "weights"],
)
def test_edges_are_checked(arguments, message):
    with pytest.raises(DataError, match=message):
        graphs.graph_from_edges(*arguments)


def test_sources_are_rows_and_targets_columns(communities):
    graph, _ = communities
    sources, targets = graphs.graph_samples(graph)
    np.testing.assert_array_equal(sources.toarray(), graph.toarray())
    np.testing.assert_array_equal(targets.toarray(), graph.toarray().T)
    assert (sources.format, targets.format) == ("csr", "csr")
    looped, _ = graphs.graph_samples(np.array([[5.0, 1.0], [0.0, 0.0]]), self_loops=True)
    assert looped.toarray().tolist() == [[5.0, 1.0], [0.0, 1.0]]


def test_samples_of_a_graph_leave_the_graph_alone():
    graph = sp.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2))
    sources, _ = graphs.graph_samples(graph)
    assert (graph.nnz, sources.nnz) == (2, 1)
    assert graphs.out_degrees(graph).tolist() == [0, 1]
    assert graph.nnz == 2


def test_a_graph_is_square():
    with pytest.raises(DataError, match=r"shape \(2, 3\); an adjacency matrix is square"):
        graphs.graph_samples(np.zeros((2, 3)))
    with pytest.raises(DataError, match="not a matrix of numbers"):
        graphs.graph_samples([["a", "b"], ["c", "d"]])


@pytest.mark.parametrize("measure", ["euclidean", "inner"])
@pytest.mark.parametrize("self_loops", [True, False])
def test_reconstruction_takes_the_nearest_targets(measure, self_loops):
    rng = np.random.default_rng(3)
    S, T = rng.normal(size=(2, 40, 5))
    degrees = rng.integers(0, 39, size=40)
    found = graphs.reconstruct_graph(S, T, degrees, measure=measure, self_loops=self_loops)
    np.testing.assert_array_equal(found.toarray(), naive_reconstruction(S, T, degrees, measure, self_loops))


def test_ties_go_to_the_lower_number():
    S = np.zeros((5, 1))
    found = graphs.reconstruct_graph(S, S, [2, 2, 2, 2, 4])
    expected = naive_reconstruction(S, S, [2, 2, 2, 2, 4], "euclidean", False)
    np.testing.assert_array_equal(found.toarray(), expected)


def test_reconstruction_in_blocks_is_the_same():
    rng = np.random.default_rng(4)
    S, T = rng.normal(size=(2, 300, 8))
    degrees = rng.integers(0, 20, size=300)
    whole = graphs.reconstruct_graph(S, T, degrees)
    with kr.config_context(memory=1_000_000):
        parts = graphs.reconstruct_graph(S, T, degrees)
    assert abs(whole - parts).nnz == 0


def test_the_full_singular_value_decomposition_reconstructs_the_graph(communities):
    graph, _ = communities
    U, s, Vt = np.linalg.svd(graph.toarray())
    found = graphs.reconstruct_graph(U * s, Vt.T, graph, measure="inner")
    assert induced_norms(found - graph) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": np.zeros((3, 2))}, "they embed the same nodes"),
        ({"targets": np.full((4, 2), np.nan)}, "targets has NaN"),
        ({"sources": np.zeros(4)}, r"sources has shape \(4,\)"),
        ({"degrees": [1, 2, 3]}, "give an integer for each of the 4 nodes"),
        ({"degrees": [0, 0, 0, 4]}, r"from 0 to 4; a node has 0 … 3 targets \(self_loops=True"),
        ({"degrees": [0, 0, 0, -1]}, "from -1 to 0"),
    ],
    ids=["shapes", "nan", "flat", "few degrees", "large degree", "negative degree"],
)
def test_reconstruction_checks_its_input(change, message):
    arguments = {"sources": np.zeros((4, 2)), "targets": np.zeros((4, 2)), "degrees": [1, 1, 1, 1]} | change
    with pytest.raises(DataError, match=message):
        graphs.reconstruct_graph(**arguments)


def test_the_measure_is_checked():
    with pytest.raises(ParameterError, match="measure='cosine' is not accepted; give 'euclidean' or 'inner'"):
        graphs.reconstruct_graph(np.zeros((2, 1)), np.zeros((2, 1)), [0, 0], measure="cosine")


def test_classify_nodes_is_fit_and_predict_over_splits(communities):
    graph, y = communities
    kernel = adjacency(graph=graph)
    solver = AsKLSClassifier(kernel=kernel, gamma=0.5)
    found = graphs.classify_nodes(np.arange(90), y, solver, train_size=0.5, n_trials=3, random_state=7)
    rng = np.random.default_rng(7)
    for trial in range(3):
        order = rng.permutation(90)
        train, test = order[:45], order[45:]
        predicted = AsKLSClassifier(kernel=kernel, gamma=0.5).fit(train, y[train]).predict(test)
        assert found["micro_f1"][trial] == f1_score(y[test], predicted, average="micro")
        assert found["macro_f1"][trial] == f1_score(y[test], predicted, average="macro")
    assert not hasattr(solver, "dual_coef_")


def test_classify_nodes_takes_features_and_other_estimators(communities):
    graph, y = communities
    sources, targets = graphs.graph_samples(graph, self_loops=True)
    features = sp.hstack([sources, targets], format="csr")
    for solver in ("ls-svm(kernel='linear', gamma=1.0)", KNeighborsClassifier(5, metric="cosine")):
        scores = graphs.classify_nodes(features, y, solver, n_trials=2, random_state=0)
        assert scores["micro_f1"].shape == (2,)
        assert scores["micro_f1"].min() > 0.6


def test_classify_nodes_checks_its_input(communities):
    graph, y = communities
    with pytest.raises(ParameterError, match="train_size=1"):
        graphs.classify_nodes(graph, y, train_size=1)
    with pytest.raises(DataError, match="90 nodes and y 89 classes"):
        graphs.classify_nodes(graph, y[1:])


class NetworkxGraph:
    """What kernreg asks of a networkx graph."""

    def __init__(self, edges, nodes, many=False):
        self.nodes, self._edges, self._many = nodes, edges, many

    def is_multigraph(self):
        return self._many

    def adjacency(self):
        for node in self.nodes:
            out = {b: data for a, b, data in self._edges if a == node}
            yield node, {b: {0: data, 1: data} for b, data in out.items()} if self._many else out


def test_a_networkx_graph_is_a_graph():
    graph = NetworkxGraph([("a", "b", {}), ("c", "a", {"weight": 2.5})], ["a", "b", "c"])
    A = np.array([[0, 1, 0], [0, 0, 0], [2.5, 0, 0]])
    np.testing.assert_array_equal(graphs.check_graph(graph).toarray(), A)
    np.testing.assert_array_equal(graphs.out_degrees(graph), [1, 0, 1])
    twice = NetworkxGraph(graph._edges, graph.nodes, many=True)
    np.testing.assert_array_equal(graphs.check_graph(twice).toarray(), 2 * A)
    k = kr.make_kernel("adjacency", graph=graph)
    np.testing.assert_array_equal(k([0, 1, 2]), kr.make_kernel("adjacency", graph=A)([0, 1, 2]))


def test_a_real_graph_of_networkx_is_a_graph():
    nx = pytest.importorskip("networkx")
    graph = nx.DiGraph([("a", "b"), ("c", "a")])
    np.testing.assert_array_equal(graphs.check_graph(graph).toarray(), nx.to_numpy_array(graph))


def test_a_list_of_edges_is_no_graph():
    with pytest.raises(ParameterError, match="graph_from_edges"):
        kr.make_kernel("adjacency", graph=np.array([[0, 1], [1, 2], [2, 0]]))


def test_split_edges_holds_out_edges_and_draws_pairs_without_one(communities):
    graph, _ = communities
    A = sp.csr_array(graph)
    split = graphs.split_edges(A, 0.2, random_state=3)
    m = len(split.labels) // 2
    assert split.graph.nnz + m == A.nnz - np.count_nonzero(A.diagonal())
    dense, left = A.toarray() != 0, split.graph.toarray() != 0
    i, j = split.pairs.T
    assert (dense[i, j] == split.labels).all()
    assert not left[i, j].any()
    assert (i != j).all()
    assert len(np.unique(split.pairs, axis=0)) == 2 * m
    again = graphs.split_edges(A, 0.2, random_state=3)
    np.testing.assert_array_equal(again.pairs, split.pairs)
    with pytest.raises(ParameterError, match=r"test_size=1\.5"):
        graphs.split_edges(A, 1.5)
    with pytest.raises(DataError, match="as many pairs without an edge"):
        graphs.split_edges(np.ones((4, 4)))


def test_embeddings_of_nodes_are_those_of_the_matrix_with_loops(communities):
    graph, _ = communities
    S, T = graphs.embed_nodes(graph, 90)
    loops = np.maximum(sp.csr_array(graph).toarray(), np.eye(90))
    np.testing.assert_allclose(S @ T.T, loops, atol=1e-8)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_links_are_predicted_no_worse_than_by_plain_svds(data_directory, name):
    if not (data_directory / f"{name}.npz").exists():
        pytest.skip(f"the data folder has no {name}.npz")
    data = kr.datasets.load(name)
    graph = graphs.graph_from_edges(data.edges, len(data.target))

    def plain(train, r=64):
        U, s, Vt = svds(train, r, random_state=0)
        return U * s, Vt.T

    ours, other = (graphs.link_prediction(graph, embed, n_trials=2) for embed in (graphs.embed_nodes, plain))
    assert (ours["auc"] > other["auc"]).all()
    assert (ours["ap"] > other["ap"]).all()


def test_decision_functions_of_ask_ls_are_embeddings_too(communities):
    graph, y = communities

    def embed(train):
        model = AsKLSClassifier(kernel=adjacency(graph=train), gamma=0.5).fit(np.arange(90), y)
        views = model.decision_views(np.arange(90))
        return views["source"], views["target"]

    assert graphs.link_prediction(graph, embed)["auc"][0] > 0.6
