"""SimpleNPK: the closed form against a general optimiser, the squared hinge against a semi-definite program."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from cvxopt import matrix, solvers
from kernreg_metric import SimpleNPK
from kernreg_metric.npk import off_diagonal
from kernreg_metric.programs.hinge import SquaredHinge
from kernreg_metric.programs.schatten import best_kernel, positive_part, projected_on_ball
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernreg.errors import DataError, ParameterError
from kernreg.solvers import SideInformation


def blobs(n=40, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 3)) + 1.5 * y[:, None], y


def textbook_laplacian(W):
    d = W.sum(axis=1)
    return np.eye(len(W)) - W / np.sqrt(np.outer(d, d))


@pytest.mark.parametrize("p", [1.2, 2.0, 3.5])
@pytest.mark.parametrize("seed", range(4))
def test_no_matrix_of_that_norm_has_a_larger_product(p, seed):
    """Over K = RRᵀ, which says nothing of eigenvectors."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4))
    A, budget = A + A.T, 7.0

    def norm(K):
        return np.sum(np.maximum(np.linalg.eigvalsh(K), 0.0) ** p) ** (1.0 / p)

    def negative(r):
        K = r.reshape(4, 4) @ r.reshape(4, 4).T
        return -np.sum(A * K) / norm(K)

    best = min(minimize(negative, rng.normal(size=16), method="BFGS").fun for _ in range(5))
    found = best_kernel(positive_part(A), p, budget)
    assert found.bound == pytest.approx(-best * budget ** (1.0 / p), rel=1e-5)
    K = found.matrix()
    assert np.sum(A * K) == pytest.approx(found.bound, rel=1e-12)
    assert norm(K) == pytest.approx(budget ** (1.0 / p), rel=1e-12)


@pytest.mark.parametrize("p", [1.5, 2.0])
@pytest.mark.parametrize("form", ["labels", "pairs"])
def test_the_kernel_is_the_formula(p, form):
    X, y = blobs()
    known = np.where(np.arange(40) % 4 == 0, -1, y)
    labelled = known >= 0
    T = np.where(y[:, None] == y, 1.0, -1.0) * labelled[:, None] * labelled
    np.fill_diagonal(T, 0.0)
    learner = SimpleNPK(n_neighbors=4, C=0.8, p=p, budget=50.0)
    if form == "labels":
        learner.fit(X, known)
    else:
        upper = np.triu(T)
        side = SideInformation.from_pairs(np.argwhere(upper > 0), np.argwhere(upper < 0), 40)
        learner.fit(X, side_information=side)
    L = textbook_laplacian(learner.graph_.toarray())
    values, vectors = np.linalg.eigh(0.8 / labelled.sum() * T - L)
    values = np.maximum(values, 0.0)
    shape = (vectors * values ** (1.0 / (p - 1.0))) @ vectors.T
    K = (50.0 / np.sum(values ** (p / (p - 1.0)))) ** (1.0 / p) * shape
    np.testing.assert_allclose(learner.kernel_(X), K, atol=1e-9 * np.abs(K).max())
    objective = np.sum(L * K) - 0.8 / labelled.sum() * np.sum(T * K)
    assert learner.solver_report_.objective == pytest.approx(objective, rel=1e-9)
    assert len(learner.eigenvalues_) <= 3


def test_many_samples_take_the_same_way_by_products_only(monkeypatch):
    X, y = blobs(80)
    known = np.where(np.arange(80) % 3 == 0, -1, y)
    dense = SimpleNPK().fit(X, known)
    monkeypatch.setattr("kernreg_metric.npk._DENSE", 10)
    sparse = SimpleNPK().fit(X, known)
    np.testing.assert_allclose(sparse.kernel_(X), dense.kernel_(X), atol=1e-9)


def test_the_default_budget_makes_entries_of_mean_square_one():
    X, y = blobs()
    K = SimpleNPK().fit(X, y).kernel_(X)
    assert np.mean(K**2) == pytest.approx(1.0, rel=1e-10)


def semidefinite_program(L, T, c, budget):
    """min tr(LK) + c Σ ½h², h ≥ 1 - T∘K, h ≥ 0, K ⪰ 0, ‖K‖ ≤ √budget, by cvxopt's cone QP solver."""
    n = len(L)
    rows, columns = np.tril_indices(n)
    size = len(rows)
    pairs = [(i, j) for i in range(n) for j in range(i) if T[i, j]]
    weight = np.where(rows == columns, 1.0, 2.0)
    unknowns = size + len(pairs)
    P = np.zeros((unknowns, unknowns))
    P[range(size, unknowns), range(size, unknowns)] = 2.0 * c  # each pair in both orders
    q = np.concatenate([weight * L[rows, columns], np.zeros(len(pairs))])
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(rows, columns, strict=True))}
    linear = np.zeros((2 * len(pairs), unknowns))
    bound = np.zeros(2 * len(pairs))
    for k, (i, j) in enumerate(pairs):
        linear[k, place[i, j]], linear[k, size + k], bound[k] = -T[i, j], -1.0, -1.0
        linear[len(pairs) + k, size + k] = -1.0
    ball = np.zeros((1 + size, unknowns))
    ball[1 + np.arange(size), np.arange(size)] = -np.sqrt(weight)
    cone = np.zeros((n * n, unknowns))
    for k, (i, j) in enumerate(zip(rows, columns, strict=True)):
        cone[i * n + j, k] = cone[j * n + i, k] = -1.0
    G = matrix(np.vstack([linear, ball, cone]))
    h = matrix(np.concatenate([bound, [np.sqrt(budget)], np.zeros(size + n * n)]))
    dims = {"l": 2 * len(pairs), "q": [1 + size], "s": [n]}
    options = {"show_progress": False, "abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9}
    found = solvers.coneqp(matrix(P), matrix(q), G, h, dims, options=options)
    assert found["status"] == "optimal"
    K = np.zeros((n, n))
    K[rows, columns] = K[columns, rows] = np.array(found["x"]).ravel()[:size]
    return K, found["primal objective"]


@pytest.mark.parametrize("budget", [2.0, 30.0, 1000.0])
@pytest.mark.parametrize("c", [0.1, 0.5, 3.0])
def test_the_squared_hinge_has_the_optimum_of_a_semidefinite_program(c, budget):
    rng = np.random.default_rng(3)
    W = rng.random((6, 6)) * (rng.random((6, 6)) < 0.6)
    W = W + W.T + 0.01
    L = textbook_laplacian(W)
    T = np.where(np.arange(6)[:, None] % 2 == np.arange(6) % 2, 1.0, -1.0)
    T[4:] = T[:, 4:] = 0.0
    np.fill_diagonal(T, 0.0)
    expected, objective = semidefinite_program(L, T, c, budget)
    hinge = SquaredHinge(L, T, c, 2.0, budget)
    hinge.solve(1e-7, 20_000)
    assert hinge.gap <= 1e-7
    assert hinge.primal == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(hinge.kernel.matrix(), expected, atol=1e-3)


@pytest.mark.parametrize("p", [1.3, 2.0, 4.0])
def test_the_projection_on_the_ball_is_the_nearest_point(p):
    rng = np.random.default_rng(0)
    for _ in range(10):
        v = 3.0 * rng.normal(size=5)
        found = projected_on_ball(v, p, 2.0)
        assert found.min() >= 0.0
        assert np.sum(found**p) <= 2.0 * (1.0 + 1e-10)
        for _ in range(50):  # the angle at the projection, to any point of the ball, is not acute
            other = rng.random(5)
            other *= (2.0 / np.sum(other**p)) ** (1.0 / p) * rng.random()
            assert (v - found) @ (other - found) <= 1e-9


def test_exponents_other_than_two_with_the_squared_hinge():
    X, y = blobs(30)
    learner = SimpleNPK(loss="squared-hinge", p=1.5, budget=100.0).fit(X, y)
    assert learner.solver_report_.residual <= 1e-3
    assert np.sum(learner.eigenvalues_**1.5) <= 100.0 * (1.0 + 1e-9)


def test_the_squared_hinge_learns_kernels_too():
    X, y = blobs(60)
    known = np.where(np.arange(60) % 3 == 0, -1, y)
    learner = SimpleNPK(loss="squared-hinge").fit(X, known)
    assert learner.solver_report_.residual <= 1e-3
    K = learner.kernel_(X)
    same = y[:, None] == y
    assert K[same].mean() > 0.5
    assert K[~same].mean() < -0.1
    with pytest.warns(ConvergenceWarning, match="projected gradients stopped"):
        SimpleNPK(loss="squared-hinge", max_iter=1, tol=1e-9).fit(X, known)


def test_new_samples_have_the_mean_of_their_neighbours():
    X, y = blobs()
    learner = SimpleNPK(n_neighbors=4).fit(X, y)
    new = blobs(6, seed=4)[0]
    d = learner.graph_.toarray().sum(axis=1)
    features = learner.eigenvectors_ * np.sqrt(learner.eigenvalues_)
    radii = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 4]
    extended = np.zeros((6, features.shape[1]))
    for a, x in enumerate(new):
        to_x = np.linalg.norm(X - x, axis=1)
        joined = [j for j in range(40) if to_x[j] <= np.sort(to_x)[3] or to_x[j] <= radii[j]]
        extended[a] = sum(features[j] / np.sqrt(len(joined) * d[j]) for j in joined)
    np.testing.assert_allclose(learner.kernel_(new), extended @ extended.T, atol=1e-10)
    np.testing.assert_allclose(learner.transform(new), extended @ features.T, atol=1e-10)


def test_that_extension_is_the_smoothest_one():
    """It minimises tr(LK) of the graph with the new sample in it, its degree given, all other features fixed."""
    X, y = blobs()
    learner = SimpleNPK(n_neighbors=4).fit(X, y)
    x = blobs(1, seed=4)[0]
    features = learner.eigenvectors_ * np.sqrt(learner.eigenvalues_)
    d = learner.graph_.toarray().sum(axis=1)
    found = learner.transform(x)[0] @ features @ np.linalg.inv(features.T @ features)  # φ(x), from k(x, X)
    to_x = np.linalg.norm(X - x, axis=1)
    radii = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)[:, 4]
    joined = [j for j in range(40) if to_x[j] <= np.sort(to_x)[3] or to_x[j] <= radii[j]]

    def energy(phi):
        return sum(np.sum((phi / np.sqrt(len(joined)) - features[j] / np.sqrt(d[j])) ** 2) for j in joined)

    rng = np.random.default_rng(0)
    assert all(energy(found) < energy(found + 0.01 * rng.normal(size=len(found))) for _ in range(20))


def test_a_given_graph_and_graded_similarities():
    X, y = blobs(20)
    graph = sp.csr_array(np.exp(-np.linalg.norm(X[:, None] - X, axis=2)) - np.eye(20))
    T = 0.5 * SideInformation.from_labels(y).target()
    learner = SimpleNPK(graph=graph).fit(X, side_information=SideInformation.from_matrix(T))
    T_off, paired = off_diagonal(SideInformation.from_matrix(T))
    expected = positive_part(T_off / paired - textbook_laplacian(graph.toarray()))
    np.testing.assert_allclose(np.abs(learner.eigenvectors_.T @ expected.vectors).max(axis=0), 1.0, rtol=1e-8)
    with pytest.raises(DataError, match="not in the graph"):
        learner.kernel_(X + 1.0)


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"C": 0.0}, ParameterError, "C=0.0"),
        ({"C": 1e-9}, ParameterError, "C=1e-09 is too small"),
        ({"p": 1.0}, ParameterError, "p=1.0"),
        ({"budget": -1.0}, ParameterError, "budget=-1.0"),
        ({"loss": "hinge"}, ParameterError, "give 'linear' or 'squared-hinge'"),
        ({"n_neighbors": 40}, ParameterError, "n_neighbors=40"),
        ({"tol": 0.0}, ParameterError, "tol=0.0"),
        ({"max_iter": 1.5}, ParameterError, "max_iter=1.5"),
        ({"graph": np.triu(np.ones((40, 40)))}, DataError, "not symmetric"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, said):
    X, y = blobs()
    y = np.random.default_rng(0).permutation(y)  # labels that no smooth kernel follows
    with pytest.raises(error) as raised:
        SimpleNPK(**parameters).fit(X, y)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("y", "said"), [(np.full(40, -1), "no labels"), (np.ones(40), "one class"), (None, "requires y")]
)
def test_wrong_labels_are_named(y, said):
    with pytest.raises(DataError, match=said):
        SimpleNPK().fit(blobs()[0], y)
