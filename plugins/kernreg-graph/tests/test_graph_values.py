"""The values, against loops and dense formulas that share no code with the kernels."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_graph import graph_adjacency, graph_from_edges, katz, katz_limit, pagerank, shortest_path

import kernreg as kr
import kernreg.graphs
from kernreg.errors import DataError, ParameterError


def random_graph(n, degree, seed=0, *, weighted=False):
    rng = np.random.default_rng(seed)
    A = (rng.random((n, n)) < degree / n).astype(float)
    A[:: n // 4] = 0.0  # nodes without outgoing edges
    A[:, 1 :: n // 3] = 0.0  # nodes without incoming ones
    return A * (0.2 + rng.random((n, n))) if weighted else A


def adjacency_oracle(A, direction, self_loops, normalize):
    n = len(A)
    G = [[(A[j][i] if direction == "cited" else A[i][j]) + (self_loops and i == j) for j in range(n)] for i in range(n)]
    row_sums = [sum(row) for row in G]
    column_sums = [sum(G[i][j] for i in range(n)) for j in range(n)]
    for i in range(n):
        for j in range(n):
            if G[i][j] and normalize == "rows":
                G[i][j] /= row_sums[i]
            elif G[i][j] and normalize == "symmetric":
                G[i][j] /= math.sqrt(row_sums[i] * column_sums[j])
    return np.array(G)


def pagerank_oracle(A, alpha, dangling):
    """One walk at a time, by repeating its step until it stands still."""
    n = len(A)
    K = np.zeros((n, n))
    for start in range(n):
        P = np.zeros((n, n))
        for i in range(n):
            if A[i].sum() > 0:
                P[i] = A[i] / A[i].sum()
            elif dangling == "uniform":
                P[i] = 1.0 / n
            else:
                P[i, start if dangling == "restart" else i] = 1.0
        home = np.zeros(n)
        home[start] = 1.0
        where = home
        for _ in range(400):
            where = alpha * home + (1 - alpha) * where @ P
        K[start] = where
    return K


def distances_oracle(A, weighted):
    """Floyd and Warshall's three loops."""
    n = len(A)
    d = [
        [0.0 if i == j else (A[i][j] if weighted else 1.0) if A[i][j] else math.inf for j in range(n)] for i in range(n)
    ]
    for m in range(n):
        for i in range(n):
            for j in range(n):
                d[i][j] = min(d[i][j], d[i][m] + d[m][j])
    return np.array(d)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("normalize", ["rows", "symmetric", "none"])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("direction", ["cited", "citing"])
def test_adjacency_of_every_option(direction, self_loops, normalize, weighted):
    A = random_graph(17, 3, weighted=weighted)
    A[3, 3] = 1.0  # a loop of the graph itself
    k = graph_adjacency(graph=A, direction=direction, self_loops=self_loops, normalize=normalize)
    expected = adjacency_oracle(A.tolist(), direction, self_loops, normalize)
    np.testing.assert_allclose(k(np.arange(17)), expected, rtol=1e-14)


def test_adjacency_default_is_the_built_in_kernel():
    A = random_graph(20, 3)
    expected = kernreg.make_kernel("adjacency", graph=A)(np.arange(20))
    np.testing.assert_array_equal(graph_adjacency(graph=A)(np.arange(20)), expected)


@pytest.mark.parametrize("share", [1e-9, 0.3, 0.99])
def test_katz_is_the_series(share):
    A = random_graph(25, 4, weighted=True)
    radius = np.abs(np.linalg.eigvals(A)).max()
    beta = share / radius
    expected, power = np.zeros_like(A), np.eye(25)
    for _ in range(3000):
        power = beta * power @ A
        expected += power
    np.testing.assert_allclose(katz(graph=A, beta=beta)(np.arange(25)), expected, rtol=1e-10, atol=1e-20)


@pytest.mark.parametrize("dangling", ["restart", "stay", "uniform"])
@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_pagerank_is_where_the_walk_stands(alpha, dangling):
    A = random_graph(18, 3, weighted=True)
    assert (A.sum(axis=1) == 0).any()
    K = pagerank(graph=A, alpha=alpha, dangling=dangling)(np.arange(18))
    np.testing.assert_allclose(K, pagerank_oracle(A, alpha, dangling), atol=1e-13)
    np.testing.assert_allclose(K.sum(axis=1), 1.0, rtol=1e-13)


@pytest.mark.parametrize("dangling", ["restart", "stay", "uniform"])
@pytest.mark.parametrize("size", [1e-312, 1e-300, 1e300, 1e307])
def test_pagerank_takes_shares_of_weights_of_any_size(dangling, size):
    A = random_graph(18, 3, weighted=False)
    expected = pagerank(graph=A, dangling=dangling)(np.arange(18))
    np.testing.assert_allclose(
        pagerank(graph=A * size, dangling=dangling)(np.arange(18)), expected, rtol=1e-12, atol=1e-15
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_shortest_path_is_the_exponential_of_the_distance(weighted):
    A = random_graph(20, 2, weighted=True)
    K = shortest_path(graph=A, sigma=1.7, weighted=weighted)(np.arange(20))
    distances = distances_oracle(A.tolist(), weighted)
    assert np.isinf(distances).any()
    np.testing.assert_allclose(K, np.exp(-distances / 1.7), rtol=1e-13)


MAKE = {
    "graph-adjacency": lambda graph: graph_adjacency(graph=graph),
    "katz": lambda graph: katz(graph=graph, beta=0.05),
    "pagerank": lambda graph: pagerank(graph=graph, dangling="uniform"),
    "shortest-path": lambda graph: shortest_path(graph=graph),
}


def kernel_of(name, graph):
    return MAKE[name](graph)


every_kernel = pytest.mark.parametrize("name", MAKE)


@every_kernel
def test_any_block_of_any_nodes_is_cut_from_the_whole(name):
    A = random_graph(600, 3)  # more than two tiles a side
    rng = np.random.default_rng(1)
    K = kernel_of(name, A)(np.arange(600))
    for rows, columns in [
        (rng.integers(0, 600, 400), rng.integers(0, 600, 300)),  # repeated, unordered
        (np.arange(600), np.array([17])),  # one column: solved backwards
        (np.array([599]), np.arange(600)),
        (np.array([4, 4, 4]), np.array([9, 3, 9])),
        (np.array([], dtype=int), np.arange(3)),
    ]:
        fresh = kernel_of(name, A)  # remembers nothing
        np.testing.assert_allclose(fresh(rows, columns), K[np.ix_(rows, columns)], rtol=1e-11, atol=1e-14)


@every_kernel
def test_same_bits_from_any_number_of_threads_and_from_memory(name):
    A, nodes = random_graph(600, 3), np.arange(600)
    with kernreg.config_context(threads=1):
        expected = kernel_of(name, A)(nodes)
    with kernreg.config_context(threads=4):
        kernel = kernel_of(name, A)
        np.testing.assert_array_equal(kernel(nodes), expected)
        np.testing.assert_array_equal(kernel(nodes), expected)


@every_kernel
@pytest.mark.parametrize(
    "form",
    [
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
        sp.lil_array,
        lambda A: np.asfortranarray(A.astype(np.float32)),
        lambda A: A.astype(bool),
        lambda A: sp.csr_array(A).astype(np.int64),
        lambda A: A.tolist(),
        lambda A: graph_from_edges(np.argwhere(A), n_nodes=len(A)),
    ],
    ids=["csr", "csc", "coo", "lil", "float32", "bool", "integers", "lists", "edges"],
)
def test_a_graph_may_be_given_in_any_form(name, form):
    A = random_graph(15, 3)
    nodes = np.arange(15)
    np.testing.assert_array_equal(kernel_of(name, form(A))(nodes), kernel_of(name, A)(nodes))


@every_kernel
def test_stored_zeros_are_no_edges_and_the_graph_is_not_changed(name):
    A = random_graph(12, 3)
    stored = sp.csr_array(np.ones((12, 12)))
    stored.data[:] = A.ravel()
    before = stored.copy()
    np.testing.assert_array_equal(kernel_of(name, stored)(np.arange(12)), kernel_of(name, A)(np.arange(12)))
    np.testing.assert_array_equal(stored.data, before.data)


@every_kernel
def test_pickles_without_what_it_has_computed(name):
    A = random_graph(300, 3)
    kernel = kernel_of(name, sp.csr_array(A))
    K = kernel(np.arange(300))
    data = pickle.dumps(kernel)
    assert len(data) < 40_000  # the matrix alone would be 720 000
    again = pickle.loads(data)
    assert again == kernel
    assert hash(again) == hash(kernel)
    np.testing.assert_array_equal(again(np.arange(300)), K)


@every_kernel
def test_found_by_name(name):
    A = random_graph(9, 2)
    kernel = kernel_of(name, A)
    assert kernreg.make_kernel(name, **kernel.get_params()) == kernel
    assert kernreg.make_kernel(f"kernreg-graph:{name}", **kernel.get_params()) == kernel


@every_kernel
def test_no_such_node(name):
    with pytest.raises(DataError, match=f"{name}: there is no node 9; the graph has 9 nodes, 0 … 8"):
        kernel_of(name, random_graph(9, 2))([0, 1], [9])


@every_kernel
def test_graphs_that_are_none(name):
    with pytest.raises(ParameterError, match=rf"{name}: graph has shape \(2, 3\); an adjacency matrix is square"):
        kernel_of(name, np.ones((2, 3)))([0])
    with pytest.raises(ParameterError, match=f"{name}: graph has the negative weight -2"):
        kernel_of(name, np.array([[0.0, -2.0], [1.0, 0.0]]))([0])
    with pytest.raises(ParameterError, match=rf"{name}: graph has shape \(0, 0\)"):
        kernel_of(name, np.ones((0, 0)))([0])
    with pytest.raises(ParameterError, match=f"{name}: graph=.*; accepted is a finite 2-D numeric array"):
        kernel_of(name, "cora")
    with pytest.raises(ParameterError, match=f"{name} needs graph="):
        kernreg.make_kernel(name)


@pytest.mark.parametrize("factor", [1.0, 1.0001, 1.5, 4.0, 1e6])
def test_katz_names_the_limit_of_beta(factor):
    A = random_graph(40, 4, weighted=True)
    limit = 1.0 / np.abs(np.linalg.eigvals(A)).max()
    with pytest.raises(ParameterError) as raised:
        katz(graph=A, beta=factor * limit * (1 + 1e-9))([0])
    assert f"accepted is 0 < beta < {katz_limit(A):.6g}" in str(raised.value)
    assert np.isfinite(katz(graph=A, beta=0.9999 * limit)(np.arange(40))).all()


def test_katz_at_the_very_limit_is_refused():
    cycle = graph_from_edges([[0, 1], [1, 2], [2, 0]])
    with pytest.raises(ParameterError, match="beta=1 is too large"):
        katz(graph=cycle, beta=1.0)([0])


@pytest.mark.parametrize("seed", range(4))
def test_katz_limit_is_one_over_the_spectral_radius(seed):
    A = random_graph(50, 2, seed, weighted=True)
    expected = 1.0 / np.abs(np.linalg.eigvals(A)).max()
    assert expected * (1 - 2e-6) <= katz_limit(A) <= expected * (1 + 1e-12)


def test_katz_limit_of_graphs_that_are_hard_for_power_iteration():
    n, rng = 500, np.random.default_rng(0)
    weights = 0.01 + rng.random(n)
    ring = graph_from_edges(np.column_stack([np.arange(n), (np.arange(n) + 1) % n]), weights=weights)
    assert katz_limit(ring) == pytest.approx(1.0 / math.exp(np.log(weights).mean()), rel=2e-6)
    there = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    line = graph_from_edges(np.vstack([there, there[:, ::-1]]))
    assert katz_limit(line) == pytest.approx(0.5 / math.cos(math.pi / (n + 1)), rel=2e-6)
    assert katz_limit(graph_from_edges(there)) == math.inf
    assert katz_limit([[4.0]]) == 0.25


def test_unreachable_is_exactly_zero():
    two = graph_from_edges([[0, 1], [2, 3]])
    for name in ("katz", "shortest-path"):
        assert kernel_of(name, two)([0, 1], [2, 3]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert pagerank(graph=two)([0], [2, 3]).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("make", "accepted"),
    [
        (lambda A: graph_adjacency(graph=A, direction="both"), "accepted is one of 'cited', 'citing'"),
        (lambda A: graph_adjacency(graph=A, normalize=None), "accepted is one of 'rows', 'symmetric', 'none'"),
        (lambda A: katz(graph=A, beta=0.0), "accepted is a finite number > 0"),
        (lambda A: katz(graph=A), "katz needs beta="),
        (lambda A: pagerank(graph=A, alpha=0.0), "accepted is a number in [1e-06, 1]"),
        (lambda A: pagerank(graph=A, dangling="drop"), "accepted is one of 'restart', 'stay', 'uniform'"),
        (lambda A: shortest_path(graph=A, sigma=-1.0), "accepted is a finite number > 0"),
        (lambda A: shortest_path(graph=A, weighted="yes"), "accepted is one of True, False"),
    ],
)
def test_wrong_parameters_are_named(make, accepted):
    with pytest.raises(ParameterError) as raised:
        make(np.eye(3))
    assert accepted in str(raised.value)


def test_edges_are_read_by_the_core():
    assert graph_from_edges is kernreg.graphs.graph_from_edges
    edges = [[0, 2], [0, 2], [1, 0]]
    assert graph_from_edges(edges).toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
    assert graph_from_edges(edges, 4, [1.0, 2.0, 5.0])[0, 2] == 3.0
    assert graph_from_edges([], n_nodes=2).toarray().tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("name", ["graph-adjacency", "katz", "pagerank", "shortest-path"])
def test_edges_are_refused_when_the_kernel_is_made_and_networkx_graphs_taken(name):
    beta = {"beta": 0.1} if name == "katz" else {}
    with pytest.raises(ParameterError, match="graph_from_edges"):
        kr.make_kernel(name, graph=np.array([[0, 1], [1, 2], [2, 0]]), **beta)

    class Graph:
        nodes = ("a", "b", "c")

        def adjacency(self):
            return [("a", {"b": {}}), ("b", {"c": {"weight": 2.0}}), ("c", {})]

    given = kr.make_kernel(name, graph=Graph(), **beta)([0, 1, 2])
    A = np.array([[0, 1, 0], [0, 0, 2.0], [0, 0, 0]])
    np.testing.assert_array_equal(given, kr.make_kernel(name, graph=A, **beta)([0, 1, 2]))
