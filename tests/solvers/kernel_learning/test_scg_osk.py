"""SCG-OSK: the graph, its eigenvectors, the linear program and its vertex, the extension; bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from cvxopt import solvers
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import kernreg as kr
from kernreg.errors import AsymmetryError, DataError, KernregWarning, ParameterError
from kernreg.solvers import LSSVC, SCGOSK, AsKLSClassifier, SideInformation
from kernreg.solvers.kernel_learning.linear_program import solve_linear_program
from kernreg.solvers.kernel_learning.neighbourhoods import given_graph, neighbour_graph, smoothest
from kernreg.solvers.kernel_learning.ordered_weights import best_vertex, ordered_program

# Blobs that overlap: their first vector alone is often the best.
pytestmark = pytest.mark.filterwarnings("ignore:the best kernel has one vector")


def graph_by_hand(X, k):
    n = len(X)
    W = np.zeros((n, n))
    for i in range(n):
        distances = [(float(((X[i] - X[j]) ** 2).sum()), j) for j in range(n) if j != i]
        for _, j in sorted(distances)[:k]:
            W[i, j] = W[j, i] = 1.0
    return W


def laplacian_by_hand(W):
    d = W.sum(axis=1)
    return np.eye(len(W)) - W / np.sqrt(np.outer(d, d))


def blobs(n=60, classes=3, seed=0, apart=2.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + apart * np.eye(3)[y], y


@pytest.fixture
def data():
    X, y = blobs()
    known = y.copy()
    known[::4] = -1
    return X, y, known


# The graph and its eigenvectors -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 5, 59])
def test_graph_joins_each_sample_with_its_nearest(data, k):
    X, _, _ = data
    graph = neighbour_graph(X, k)
    W = graph_by_hand(X, k)
    np.testing.assert_array_equal(graph.weights.toarray(), W)
    np.testing.assert_array_equal(graph.degrees, W.sum(axis=1))
    distances = np.sort(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)), axis=1)
    np.testing.assert_allclose(graph.radii, distances[:, k])
    np.testing.assert_array_equal(neighbour_graph(sp.csr_array(X), k).weights.toarray(), W)


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "arpack", "lobpcg", "shift-invert"])
def test_eigenvectors_are_the_smoothest_that_are_not_trivial(data, solver):
    X, _, _ = data
    X = np.vstack([X, X[:20] + 100.0])  # two components
    graph = neighbour_graph(X, 4)
    assert graph.n_connected == 2
    L = laplacian_by_hand(graph.weights.toarray())
    expected = np.linalg.eigvalsh(L)
    assert expected[1] < 1e-12 < expected[2]
    values, V, report = smoothest(graph, 6, eigen_solver=solver, tol=1e-8)
    np.testing.assert_allclose(values, expected[2:8], atol=1e-8)
    np.testing.assert_allclose(L @ V, V * values, atol=1e-6)
    np.testing.assert_allclose(V.T @ V, np.eye(6), atol=1e-8)
    trivial = np.sqrt(graph.degrees)[:, None] * np.column_stack([graph.component == 0, graph.component == 1])
    np.testing.assert_allclose(trivial.T @ V, 0.0, atol=1e-6)
    assert report.converged


def test_all_eigenvectors_but_the_trivial_ones_can_be_had():
    path = sp.diags_array([np.ones(59), np.ones(59)], offsets=[-1, 1])  # bipartite: the largest eigenvalue of L is 2
    values, V, _ = smoothest(given_graph(path, 60), 59)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(laplacian_by_hand(path.toarray()))[1:], atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(59), atol=1e-12)


@pytest.mark.parametrize(("solver", "ran"), [("auto", "krylov"), ("arpack", "arpack")])
def test_large_graphs_are_iterated_on(monkeypatch, solver, ran):
    monkeypatch.setattr("kernreg.solvers.kernel_learning.neighbourhoods._DENSE", 100)
    graph = neighbour_graph(blobs(400)[0], 6)
    expected = np.linalg.eigvalsh(laplacian_by_hand(graph.weights.toarray()))
    values, V, report = smoothest(graph, 30, eigen_solver=solver)
    assert (report.method, report.converged) == (ran, True)
    np.testing.assert_allclose(values, expected[graph.n_connected :][:30], atol=1e-9)
    again = smoothest(graph, 30, eigen_solver=solver)
    np.testing.assert_array_equal(again[1], V)  # starting vectors are fixed by random_state


def test_copies_of_an_eigenvalue_are_not_missed_on_large_graphs(monkeypatch):
    monkeypatch.setattr("kernreg.solvers.kernel_learning.neighbourhoods._DENSE", 100)
    ring = sp.diags_array([1.0, 1.0, 1.0, 1.0], offsets=[-24, -1, 1, 24], shape=(25, 25))
    graph = given_graph(sp.block_diag([ring] * 10), 250)  # ten rings: every eigenvalue at least ten times
    values, V, report = smoothest(graph, 25, eigen_solver="auto")
    expected = np.repeat(1.0 - np.cos(2 * np.pi * np.arange(1, 3) / 25), 20)[:25]
    np.testing.assert_allclose(values, expected, atol=1e-9)
    np.testing.assert_allclose(V.T @ V, np.eye(25), atol=1e-9)
    assert report.method == "krylov"


# The linear program -----------------------------------------------------------------------------------------


def random_costs(rng, case):
    """Costs of every kind that quadratic forms may have, ties included."""
    r = int(rng.integers(1, 40))
    costs = rng.random(r) * 1.5
    kind = case % 5
    if kind == 1:
        costs = np.round(costs, 1)  # many equal ones
    elif kind == 2:
        costs[:] = costs[0]  # all vertices are optimal
    elif kind == 3:
        costs = np.sort(costs)
    elif kind == 4:
        k = int(rng.integers(1, r + 1))  # two vertices tie exactly
        costs[:k] = 0.25
        costs[k:] += 0.25
        costs[k - 1 : k] = 0.25
    return costs


def test_program_and_vertex_agree_on_200_random_cases_ties_included():
    rng = np.random.default_rng(42)
    ties = 0
    for case in range(200):
        costs = random_costs(rng, case)
        program, vertex = ordered_program(costs), best_vertex(costs)
        r = len(costs)
        assert program.objective == pytest.approx(vertex.objective, abs=1e-6)
        for found in (program, vertex):
            assert found.status == "optimal"
            assert abs(found.weights.sum() - 1.0) < 1e-6
            assert found.weights.min() >= 0.0
            assert np.diff(found.weights).max(initial=-1.0) <= 1e-6
            assert float(costs @ found.weights) == pytest.approx(found.objective, abs=1e-6)
            # Dual feasibility: c - z_i + z_{i-1} + y = 0, z ≥ 0.
            z = found.order_duals
            assert z.min() > -1e-6
            np.testing.assert_allclose(costs - z + np.concatenate([[0.0], z[:-1]]) + found.sum_dual, 0.0, atol=1e-6)
            assert -found.sum_dual == pytest.approx(found.objective, abs=1e-6)
        means = np.cumsum(costs) / np.arange(1, r + 1)
        second = np.sort(means)[1] if r > 1 else np.inf
        if second - means.min() > 1e-3:
            np.testing.assert_allclose(program.weights, vertex.weights, atol=1e-6)
        elif second - means.min() < 1e-14:
            ties += 1
    assert ties >= 20


@pytest.mark.parametrize("r", [20, 200, 500])
def test_programs_reach_their_accuracy_where_normal_equations_do_not(r):
    rng = np.random.default_rng(0)
    costs = np.sort(rng.random(r))[::-1] + 0.1 * rng.random(r)
    order = sp.eye_array(r, k=1) - sp.eye_array(r)  # cvxopt's own choice, Cholesky's method, stops at 1e-9, 1e-7, 1e-9
    own = ordered_program(costs)
    best = (np.cumsum(costs) / np.arange(1, r + 1)).min()
    for found in (own, solve_linear_program(costs, order, np.zeros(r), np.ones((1, r)), np.ones(1))):
        assert found.status == "optimal"
        assert found.gap <= 1e-9
        assert found.objective == pytest.approx(best, abs=1e-9)
    assert np.diff(own.weights).max() <= 0.0  # in order to the last bit


def test_of_two_attempts_the_better_one_is_returned(monkeypatch):
    solve = solvers.lp

    def lp(*program, kktsolver, options):
        found = solve(*program, kktsolver=kktsolver, options=options)
        error = {"chol2": 1e-7, "ldl": 1e-3}[kktsolver]
        return {**found, "status": "unknown", "gap": error, "iterations": 3 if kktsolver == "chol2" else 200}

    monkeypatch.setattr(solvers, "lp", lp)
    with pytest.warns(ConvergenceWarning, match="stopped at a gap of 1e-07, and 1e-10 was asked for"):
        found = ordered_program(np.array([0.5, 0.1, 0.9]))
    assert (found.status, found.gap, found.iterations) == ("stopped", 1e-7, 3)


def test_vertex_is_the_best_of_all_vertices_and_the_first_of_equals():
    rng = np.random.default_rng(0)
    for _ in range(50):
        costs = rng.random(12)
        vertices = [np.concatenate([np.full(k, 1.0 / k), np.zeros(12 - k)]) for k in range(1, 13)]
        assert best_vertex(costs).objective == pytest.approx(min(costs @ v for v in vertices), abs=1e-14)
    assert best_vertex(np.array([0.5, 0.5, 0.5])).weights.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_user_constraints_against_another_solver(sparse):
    rng = np.random.default_rng(3)
    for _ in range(20):
        r = 15
        costs = np.sort(rng.random(r))[::-1].copy() + 0.1 * rng.random(r)
        G, A = rng.random((2, r)), rng.random((1, r))
        inside = np.sort(rng.dirichlet(np.ones(r)))[::-1]  # feasible by construction
        h, b = G @ inside + 0.01, A @ inside
        wrap = sp.csr_array if sparse else np.asarray
        found = ordered_program(costs, {"G": wrap(G), "h": h, "A": wrap(A), "b": b})
        order = np.eye(r, k=1) - np.eye(r)
        other = linprog(
            costs,
            A_ub=np.vstack([order, G]),
            b_ub=np.concatenate([np.zeros(r), h]),
            A_eq=np.vstack([np.ones((1, r)), A]),
            b_eq=np.concatenate([[1.0], b]),
        )
        assert other.status == 0
        assert found.objective == pytest.approx(other.fun, abs=1e-6)
        assert (G @ found.weights <= h + 1e-6).all()
        np.testing.assert_allclose(A @ found.weights, b, atol=1e-6)
        assert found.inequality_duals.shape == (2,)
        assert found.equality_duals.shape == (1,)
        assert found.inequality_duals.min() > -1e-8


def test_infeasible_and_unbounded_programs_are_explained():
    costs = np.arange(4.0)
    with pytest.raises(ParameterError, match=r"weights .* contradict each other: no solution"):
        ordered_program(costs, {"G": [[1.0, 0.0, 0.0, 0.0]], "h": [0.1]})  # the largest is at least a quarter
    with pytest.raises(ParameterError, match="contradict each other"):
        ordered_program(costs, {"A": [[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]][1:], "b": [0.9]})
    with pytest.raises(ParameterError, match="no solution satisfies all equality constraints"):
        ordered_program(costs, {"A": [[1.0, 1.0, 1.0, 1.0]], "b": [2.0]})
    with pytest.raises(ParameterError, match="must not follow from one another"):
        ordered_program(costs, {"A": [[2.0, 2.0, 2.0, 2.0]], "b": [2.0]})
    with pytest.raises(ParameterError, match="unbounded below: add bounds"):
        solve_linear_program(-np.ones(2), -np.eye(2), np.zeros(2), np.array([[1.0, -1.0]]), np.zeros(1))


@pytest.mark.parametrize(
    ("constraints", "says"),
    [
        ({"G": [[1.0, 0.0, 0.0, 0.0]]}, "one of 'G' and 'h'"),
        ({"b": [1.0]}, "one of 'A' and 'b'"),
        ({"G": [[1.0, 0.0]], "h": [1.0]}, r"G has shape \(1, 2\)"),
        ({"G": [[1.0, 0.0, 0.0, np.nan]], "h": [1.0]}, "NaN"),
        ({"G": [[1.0, 0.0, 0.0, 0.0]], "h": [np.inf]}, "infinite"),
        ({"C": 1}, "is not accepted"),
        ([1], "is not accepted"),
        ({"G": [["a", "b", "c", "d"]], "h": [1.0]}, "does not hold numbers"),
    ],
    ids=["no-h", "no-A", "shape", "nan", "infinite", "name", "list", "text"],
)
def test_malformed_constraints_are_explained(constraints, says):
    with pytest.raises(ParameterError, match=says):
        ordered_program(np.arange(4.0), constraints)


# The learner ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["lp", "vertex"])
def test_kernel_is_the_optimum_over_eigenvectors(data, method):
    X, _, known = data
    learner = SCGOSK(n_neighbors=5, n_components=20, method=method).fit(X, known)
    side = SideInformation.from_labels(known)
    values, vectors = np.linalg.eigh(laplacian_by_hand(graph_by_hand(X, 5)))
    V = vectors[:, 1:21]
    S = np.eye(60) - np.exp(side.target()) / np.sqrt(np.outer(side.degree, side.degree))
    costs = np.array([v @ S @ v for v in V.T])
    means = np.cumsum(costs) / np.arange(1, 21)
    k = int(np.argmin(means)) + 1
    np.testing.assert_allclose(learner.costs_, costs, atol=1e-9)
    np.testing.assert_allclose(learner.eigenvalues_, values[1:21], atol=1e-10)
    np.testing.assert_allclose(learner.kernel_(X), V[:, :k] @ V[:, :k].T / k, atol=1e-6)
    assert np.trace(learner.kernel_(X)) == pytest.approx(1.0, abs=1e-6)
    report = learner.solver_report_
    assert (report.method, report.status, report.components, report.n_connected) == (method, "optimal", 20, 1)
    assert report.objective == pytest.approx(means.min(), abs=1e-6)
    assert report.objective == pytest.approx(side.loss(learner.kernel_(X)), abs=1e-6)
    assert learner.kernel_.definite
    assert learner.learns_kernel


def test_constraints_reach_the_kernel(data):
    X, _, known = data
    free = SCGOSK(n_components=10).fit(X, known)
    bound = float(free.weights_[0]) / 2
    held = SCGOSK(n_components=10, constraints={"G": [[1.0] + [0.0] * 9], "h": [bound]}).fit(X, known)
    assert held.weights_[0] == pytest.approx(bound, abs=1e-6)
    assert held.solver_report_.objective > free.solver_report_.objective
    assert held.solver_report_.program.inequality_duals[0] > 1e-3


def test_pairs_and_matrices_are_side_information_too(data):
    X, _, known = data
    T = SideInformation.from_labels(known).target()
    by_labels = SCGOSK(method="vertex").fit(X, known).kernel_(X)
    by_matrix = SCGOSK(method="vertex").fit(X, side_information=SideInformation.from_matrix(T)).kernel_(X)
    np.testing.assert_allclose(by_labels, by_matrix, atol=1e-12)
    similar = [(i, i + 3) for i in range(0, 57, 3)]
    pairs = SCGOSK().fit(X, side_information=SideInformation.from_pairs(similar, [(0, 1), (1, 2)], 60))
    assert not hasattr(pairs, "classes_")
    assert pairs.kernel_(X).shape == (60, 60)


def test_learned_kernels_work_in_every_solver_and_in_scikit_learn():
    X, y = blobs(150, classes=2, apart=3.0, seed=1)
    known = y.copy()
    train, test = np.arange(0, 80), np.arange(80, 150)
    known[test] = -1
    k = SCGOSK().fit(X, known).kernel_
    for solver in (LSSVC(k, "loo"), AsKLSClassifier(k, 1000.0), LSSVC(k, 1000.0, strategy="lowrank")):
        assert solver.fit(X[train], y[train]).score(X[test], y[test]) > 0.95
    machine = SVC(kernel="precomputed", C=1000.0).fit(k(X[train]), y[train])
    assert machine.score(k(X[test], X[train]), y[test]) > 0.95
    pipeline = make_pipeline(SCGOSK(), SVC(kernel="precomputed", C=1000.0)).fit(X[train], y[train])
    assert pipeline.score(X[test], y[test]) > 0.95


def test_extension_gives_training_samples_their_values_and_new_ones_those_of_their_neighbours(data):
    X, _, known = data
    learner = SCGOSK(method="vertex").fit(X, known)
    k = learner.kernel_
    np.testing.assert_allclose(k(X[7:9], X), k(X)[7:9], atol=1e-14)
    np.testing.assert_allclose(learner.transform(X), k(X), atol=1e-14)
    new = X[:5] + 1e-3  # next to samples of the graph, which are joined with the samples themselves and like them
    W = graph_by_hand(X, 5)
    d = W.sum(axis=1)
    radii = learner.kernel_.radii
    for x, row in zip(new, k.features(new), strict=True):
        distance = np.sqrt(((X - x) ** 2).sum(axis=1))
        w = ((distance <= np.sort(distance)[4]) | (distance <= radii)).astype(float)
        for i in range(len(row)):
            v = learner.eigenvectors_[:, i]
            value = (w / np.sqrt(w.sum() * d)) @ v / (1.0 - learner.eigenvalues_[i])
            assert row[i] == pytest.approx(np.sqrt(learner.weights_[i]) * value, abs=1e-10)


def test_order_of_the_samples_does_not_matter(data):
    X, _, known = data
    order = np.random.default_rng(5).permutation(60)
    K = SCGOSK(method="vertex").fit(X, known).kernel_(X)
    mixed = SCGOSK(method="vertex").fit(X[order], known[order]).kernel_(X[order])
    np.testing.assert_allclose(mixed, K[np.ix_(order, order)], atol=1e-10)


def test_given_graph_is_used_and_has_no_new_samples(data):
    X, _, known = data
    W = graph_by_hand(X, 5)
    own = SCGOSK(n_neighbors=5, method="vertex").fit(X, known)
    for graph in (W, sp.csr_array(W), W.astype(int)):
        given = SCGOSK(graph=graph, method="vertex").fit(X, known)
        np.testing.assert_allclose(given.kernel_(X), own.kernel_(X), atol=1e-12)
        np.testing.assert_allclose(given.kernel_(X[3:5], X), own.kernel_(X)[3:5], atol=1e-12)
        with pytest.raises(DataError, match="not in the graph"):
            given.kernel_(X + 1.0)


def test_disconnected_graph_works_and_is_reported(data):
    X, _, known = data
    far = np.vstack([X[:30], X[30:] + 50.0])
    learner = SCGOSK(method="vertex").fit(far, known)
    assert learner.solver_report_.n_connected == 2
    assert "2 connected components" in learner.solver_report_.note
    L = laplacian_by_hand(graph_by_hand(far, 5))
    values = np.linalg.eigvalsh(L)
    np.testing.assert_allclose(learner.eigenvalues_, values[1:], atol=1e-10)  # the constant direction is left out
    assert np.isfinite(learner.transform(far + 0.01)).all()


def three_parts(seed, n=150):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 2)) + 20.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[y]
    return X, y, np.where(rng.random(n) < 0.3, y, -1)


@pytest.mark.parametrize("method", ["lp", "vertex"])
def test_components_that_are_the_classes_are_told_apart(method):
    for seed in range(10):
        X, y, known = three_parts(seed)
        learner = SCGOSK(method=method).fit(X, known)
        assert learner.solver_report_.n_connected >= 3
        labelled = known >= 0
        model = LSSVC(learner.kernel_, 1000.0).fit(X[labelled], y[labelled])  # of trace one: values are small
        assert model.score(X[~labelled], y[~labelled]) >= 0.95
        new, classes, _ = three_parts(seed + 100, 60)
        assert model.score(new, classes) >= 0.95


@pytest.mark.parametrize("trivial", ["contrasts", "free", "ordered", "drop"])
@pytest.mark.parametrize("method", ["lp", "vertex"])
def test_the_kernel_does_not_depend_on_the_basis_of_equal_eigenvalues(method, trivial):
    rng = np.random.default_rng(0)
    part = rng.normal(size=(20, 2))
    X = np.vstack([part, part + 50.0, part + 100.0])  # every eigenvalue three times
    y = np.repeat([0, 1, 2], 20)
    y[::7] = -1
    settings = {"n_components": 20, "trivial": trivial, "method": method}  # 20 is no multiple of three
    plain = SCGOSK(**settings).fit(X, y)
    K = plain.kernel_(X)
    for _ in range(5):
        order = rng.permutation(60)
        mixed = SCGOSK(**settings).fit(X[order], y[order]).kernel_(X[order])
        np.testing.assert_allclose(mixed, K[np.ix_(order, order)], atol=1e-7)
    assert len(plain.weights_) == 18 + {"contrasts": 2, "free": 3, "ordered": 3, "drop": 0}[trivial]
    rest = plain.weights_[3 if trivial == "free" else 0 :]
    for value in np.unique(plain.eigenvalues_.round(8)[-len(rest) :]):
        same = rest[np.isclose(plain.eigenvalues_[-len(rest) :], value, atol=1e-7)]
        assert np.ptp(same) == 0.0


def test_contrasts_are_the_eigenvalue_zero_without_the_constant_direction():
    X, _, _ = three_parts(0)
    graph = neighbour_graph(X, 5)
    V = graph.contrasts()
    assert V.shape == (150, graph.n_connected - 1)
    np.testing.assert_allclose(laplacian_by_hand(graph.weights.toarray()) @ V, 0.0, atol=1e-12)
    np.testing.assert_allclose(np.sqrt(graph.degrees) @ V, 0.0, atol=1e-12)
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)


def test_free_weights_are_a_program_of_their_own():
    costs = np.array([0.4, 0.2, 0.9, 0.1, 0.5])
    for found in (best_vertex(costs, n_free=2), ordered_program(costs, n_free=2)):
        np.testing.assert_allclose(found.weights, [0, 1, 0, 0, 0], atol=1e-6)
        assert found.order_duals.min() > -1e-6
    grouped = {"sizes": [2, 3]}
    for found in (best_vertex(costs, **grouped), ordered_program(costs, **grouped)):
        np.testing.assert_allclose(found.weights, [0.5, 0.5, 0, 0, 0], atol=1e-6)


@pytest.mark.filterwarnings("error:the best kernel has one vector")
def test_one_vector_for_three_classes_is_warned_of(data):
    X, _, known = data
    with pytest.warns(KernregWarning, match="cannot tell 3 classes apart"):
        learner = SCGOSK(n_components=20, method="vertex").fit(X, known)
    assert learner.solver_report_.positive == 1
    SCGOSK(n_components=20, constraints={"G": [[1.0] + [0.0] * 19], "h": [0.2]}).fit(X, known)
    SCGOSK(n_components=20).fit(X, np.where(known == 2, 1, known))  # two classes


def test_isolated_samples_of_a_given_graph_have_no_similarity(data):
    X, _, known = data
    W = graph_by_hand(X, 5)
    W[0], W[:, 0] = 0.0, 0.0
    learner = SCGOSK(graph=W, method="vertex").fit(X, known)
    assert learner.solver_report_.n_connected == 2
    np.testing.assert_allclose(learner.kernel_(X)[0], 0.0, atol=1e-14)


def test_sparse_samples_single_precision_clones_and_pickles(data):
    X, _, known = data
    plain = SCGOSK(method="vertex").fit(X, known)
    sparse = SCGOSK(method="vertex").fit(sp.csr_matrix(X), known)
    np.testing.assert_allclose(sparse.kernel_(sp.csr_array(X)), plain.kernel_(X), atol=1e-10)
    new = X[:6] + 0.05
    np.testing.assert_allclose(sparse.transform(sp.csr_array(new)), plain.transform(new), atol=1e-10)
    single = SCGOSK(method="vertex").fit(X.astype(np.float32), known)
    assert single.transform(new.astype(np.float32)).dtype == np.float32
    again = pickle.loads(pickle.dumps(plain))
    np.testing.assert_array_equal(again.transform(new), plain.transform(new))
    assert clone(plain).method == "vertex"
    assert kr.make_solver("scg-osk(n_neighbors=7)").n_neighbors == 7


@pytest.mark.parametrize(
    ("parameters", "error", "says"),
    [
        ({"n_neighbors": 60}, ParameterError, "n_neighbors=60, and there are 60 samples"),
        ({"n_neighbors": 0}, ParameterError, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, ParameterError, "n_neighbors=2.5"),
        ({"n_components": 60}, ParameterError, "have 1 to 59 eigenvectors"),
        ({"n_components": 0}, ParameterError, "n_components=0"),
        ({"n_components": True}, ParameterError, "n_components=True"),
        ({"trivial": "keep"}, ParameterError, "trivial='keep'"),
        ({"method": "simplex"}, ParameterError, "method='simplex'"),
        ({"eigen_solver": "amg"}, ParameterError, "eigen_solver='amg'"),
        ({"tol": 0.0}, ParameterError, "tol=0.0"),
        ({"method": "vertex", "constraints": {}}, ParameterError, "takes no constraints"),
        ({"graph": np.eye(59)}, DataError, r"graph has shape \(59, 59\)"),
        ({"graph": np.zeros((60, 60))}, DataError, "no edges"),
        ({"graph": -np.ones((60, 60))}, DataError, "negative"),
        ({"graph": np.triu(np.ones((60, 60)))}, AsymmetryError, "graph is not symmetric"),
        ({"graph": np.eye(60)}, DataError, "60 connected components of 60 samples"),
    ],
    ids=[
        "k-n",
        "k-0",
        "k-float",
        "r-n",
        "r-0",
        "r-bool",
        "trivial",
        "method",
        "solver",
        "tol",
        "vertex",
        "shape",
        "empty",
        "negative",
        "directed",
        "loops",
    ],
)
def test_bad_parameters_are_explained(data, parameters, error, says):
    X, _, known = data
    with pytest.raises(error, match=says):
        SCGOSK(**parameters).fit(X, known)


def test_bad_labels_are_explained(data):
    X, _, _ = data
    with pytest.raises(DataError, match="no labels"):
        SCGOSK().fit(X, np.full(60, -1))
    with pytest.raises(DataError, match="one class only"):
        SCGOSK().fit(X, np.where(np.arange(60) < 30, 1, -1))
    with pytest.raises(DataError, match="requires y to be passed"):
        SCGOSK().fit(X)
    with pytest.raises(ValueError, match="1 sample"):
        SCGOSK().fit(X[:1], [1])


@pytest.mark.parametrize("fitted_on", ["sparse", "dense"])
def test_extension_does_not_depend_on_how_samples_are_stored(data, fitted_on):
    X, _, known = data
    held, other = (sp.csr_array(X), X) if fitted_on == "sparse" else (X, sp.csr_array(X))
    kernel = SCGOSK().fit(held, known).kernel_
    np.testing.assert_allclose(kernel(other), kernel(held), atol=1e-12)
    np.testing.assert_allclose(kernel(X + 0.1, X), kernel(sp.csr_array(X + 0.1), sp.csr_array(X)), atol=1e-12)


def test_parts_for_other_learners_are_public(data):
    X, _, known = data
    graph = kr.solvers.neighbour_graph(X, 5)
    assert (graph.count(None), graph.count(None, default=7), graph.count(9)) == (59, 7, 9)
    assert graph.note == ""
    assert "2 connected" in kr.solvers.given_graph(np.kron(np.eye(2), np.ones((3, 3))), 6).note
    with pytest.raises(ParameterError, match="1 to 59 eigenvectors"):
        graph.count(60)
    values, vectors, _ = kr.solvers.smoothest(graph, 20)
    learner = SCGOSK(n_components=20, method="vertex").fit(X, known)
    kernel = graph.kernel(X, vectors, learner.weights_, 1.0 - values)
    np.testing.assert_allclose(kernel(X + 0.1, X), learner.kernel_(X + 0.1, X), atol=1e-12)


@pytest.mark.parametrize("features", [3, 20])
@pytest.mark.parametrize("offset", [2.0**20, 2.0**27, 2.0**30])
def test_neighbours_are_the_same_wherever_the_origin_is(features, offset):
    rng = np.random.default_rng(0)
    X, Z = (np.round(rng.normal(size=(n, features)) * 2**16) / 2**16 for n in (40, 9))
    y = np.arange(40) // 20
    here, there = (kr.make_solver("scg-osk", n_neighbors=5).fit(X + shift, y).kernel_ for shift in (0.0, offset))
    np.testing.assert_allclose(there(X + offset), here(X), atol=1e-12)
    np.testing.assert_allclose(there(Z + offset, X + offset), here(Z, X), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_at_the_same_distance_are_all_neighbours(dtype):
    """Samples on a grid: what is nearest is decided in whole numbers, and not by the rounding of distances."""
    rng = np.random.default_rng(0)
    grid, new = rng.integers(0, 12, (60, 3)), rng.integers(0, 12, (200, 3))
    X, Z = (grid / 8 + 100.1).astype(dtype), (new / 8 + 100.1).astype(dtype)
    model = kr.make_solver("scg-osk", n_neighbors=4).fit(X, (grid[:, 0] > 5).astype(int))
    kernel = model.kernel_
    squares = ((grid[:, None] - grid) ** 2).sum(axis=2)
    radii = np.array([np.sort(np.delete(row, i))[3] for i, row in enumerate(squares)])
    across = ((new[:, None] - grid) ** 2).sum(axis=2)
    near = (across <= np.sort(across, axis=1)[:, 3:4]) | (across <= radii)
    inverse = np.where(np.abs(kernel.eigenvalues) > 1e-6, 1.0 / kernel.eigenvalues, 0.0)
    scaled = kernel.vectors * np.sqrt(kernel.weights)
    expected = (near / np.sqrt(kernel.degrees)) @ scaled * inverse / np.sqrt(near.sum(axis=1))[:, None]
    outside = across.min(axis=1) > 0
    np.testing.assert_allclose(kernel.features(Z)[outside], expected[outside], rtol=0, atol=1e-9 * np.abs(scaled).max())


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_samples_whose_squares_leave_the_range_are_refused(factor):
    X = np.random.default_rng(0).standard_normal((20, 3)) * factor
    with pytest.raises(DataError, match=r"squares of distances .* scale the features"):
        kr.make_solver("scg-osk", n_neighbors=4).fit(X, np.arange(20) % 2)


def test_a_graph_with_rows_of_different_lengths_is_refused():
    with pytest.raises(
        DataError, match=r"graph=\[\[1.0\], \[0.0, 1.0\]\] is no table; with 2 samples give 2 × 2 numbers"
    ):
        given_graph([[1.0], [0.0, 1.0]], 2)
