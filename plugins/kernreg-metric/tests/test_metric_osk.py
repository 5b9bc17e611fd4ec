"""OSK: the program against a general optimiser and a search, the kernel against its formula, graphs, wrong input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from cvxopt import solvers
from kernreg_metric import OSK, kernel_alignment
from kernreg_metric.programs.ordered import best_ordered, cone_rays
from scipy.optimize import minimize

from kernreg.errors import DataError, ParameterError


def two_moons(n=60, seed=0):
    rng = np.random.default_rng(seed)
    angle = np.pi * rng.random(n)
    y = np.arange(n) % 2
    X = np.column_stack([np.cos(angle) + y, np.where(y == 1, -1, 1) * np.sin(angle) + 0.4 * y])
    return X + 0.08 * rng.normal(size=(n, 2)), y


def random_problem(seed, r=6, labels=15):
    """Return ⟨K_i, K_j⟩ and ⟨K_i, Y⟩ of random rank-one kernels, from the matrices themselves."""
    rng = np.random.default_rng(seed)
    V, y = rng.normal(size=(labels, r)), rng.choice([-1.0, 1.0], labels)
    V[:, : r // 2] += y[:, None]
    kernels = [np.outer(v, v) for v in V.T]
    G = np.array([[np.sum(P * Q) for Q in kernels] for P in kernels])
    return G, np.array([np.sum(P * np.outer(y, y)) for P in kernels])


def slsqp(G, b, n_free):
    """Maximise the quotient itself, from several starts."""
    r = len(b)
    steps = (np.eye(r) - np.eye(r, k=1))[n_free : r - 1]
    order = [{"type": "ineq", "fun": lambda m: steps @ m, "jac": lambda m: steps}]
    sums = [{"type": "eq", "fun": lambda m: m.sum() - 1.0, "jac": lambda m: np.ones((1, r))}]

    def quotient(m):
        norm = np.sqrt(m @ G @ m)
        return -(b @ m) / norm, (b @ m) * (G @ m) / norm**3 - b / norm

    best = 0.0
    for start in (np.ones(r) / r, *(row / row.sum() for row in cone_rays(r, n_free).T)):
        found = minimize(
            quotient,
            start,
            jac=True,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * r,
            constraints=[*order, *sums],
            options={"maxiter": 1000, "ftol": 1e-14},
        )
        best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("n_free", [0, 1, 2])
def test_the_value_is_that_of_a_general_optimiser(n_free):
    for seed in range(15):
        G, b = random_problem(seed)
        expected = slsqp(G, b, n_free)
        for method in ("qcqp", "nnls"):
            found = best_ordered(G, b, n_free, method)
            assert found.value == pytest.approx(expected, rel=1e-6), method
            assert np.diff(found.weights[n_free:]).max() <= 0.0
            assert found.weights.min() >= 0.0
            assert found.weights.sum() == pytest.approx(1.0, rel=1e-14)
            assert found.gap < 1e-4
            assert found.status == "optimal"


@pytest.mark.parametrize("method", ["qcqp", "nnls"])
def test_three_weights_by_search(method):
    G, b = random_problem(3, r=3)
    grid = np.linspace(0.0, 1.0, 81)
    m = np.array(np.meshgrid(grid, grid, grid)).reshape(3, -1)
    m = m[:, (m[0] >= m[1]) & (m[1] >= m[2]) & (m[0] > 0)]
    best = float(((b @ m) / np.sqrt((m * (G @ m)).sum(axis=0))).max())
    found = best_ordered(G, b, 0, method).value
    assert best <= found * (1.0 + 1e-8)
    assert best >= found * (1.0 - 1e-3)


def test_both_methods_agree_on_many_problems_degenerate_ones_included():
    for seed in range(60):
        G, b = random_problem(seed, r=3 + seed % 20, labels=4 + seed % 7)  # often more vectors than labels allow
        if seed % 3 == 0:
            G[:, 1], G[1] = G[:, 0], G[0]  # two vectors that are one
            b[1] = b[0]
        one, other = best_ordered(G, b, seed % 2, "qcqp"), best_ordered(G, b, seed % 2, "nnls")
        assert one.value == pytest.approx(other.value, rel=1e-6)
        assert other.gap < 1e-8


def stopped_by_rounding(monkeypatch, above):
    """Let cvxopt fail, as it does on some data, if an accuracy below this is asked for."""
    solve = solvers.conelp

    def conelp(*program, options):
        if options["abstol"] < above:
            raise ValueError("domain error")
        return solve(*program, options=options)

    monkeypatch.setattr(solvers, "conelp", conelp)


def test_where_rounding_stops_cvxopt_less_accuracy_is_asked_for(monkeypatch):
    G, b = random_problem(5)
    exact = best_ordered(G, b, method="nnls")
    stopped_by_rounding(monkeypatch, 1e-6)
    found = best_ordered(G, b)
    assert (found.status, found.value) == ("optimal", pytest.approx(exact.value, rel=1e-4))
    stopped_by_rounding(monkeypatch, 1.0)
    with pytest.raises(DataError, match=r"cvxopt found no weights: status 'domain error'; method='nnls'"):
        best_ordered(G, b)


def test_rays_span_the_cone():
    rays = cone_rays(5, 2)
    rng = np.random.default_rng(0)
    weights = np.concatenate([rng.random(2), np.sort(rng.random(3))[::-1]])
    assert np.linalg.solve(rays, weights).min() >= -1e-15


@pytest.mark.parametrize("method", ["qcqp", "nnls"])
@pytest.mark.parametrize("trivial", ["free", "ordered", "drop"])
def test_the_alignment_is_that_of_the_learned_kernel(method, trivial):
    X, y = two_moons()
    known = np.where(np.arange(60) % 3 == 0, -1, y)
    labelled = known >= 0
    learner = OSK(n_neighbors=6, n_components=12, method=method, trivial=trivial).fit(X, known)
    K = learner.kernel_(X)
    Y = np.where(y[labelled, None] == y[labelled], 1.0, -1.0)
    assert learner.alignment_ == pytest.approx(kernel_alignment(K[np.ix_(labelled, labelled)], Y), rel=1e-10)
    assert learner.solver_report_.objective == learner.alignment_
    assert np.trace(K) == pytest.approx(1.0, rel=1e-10)
    V = learner.eigenvectors_
    np.testing.assert_allclose(K, (V * learner.weights_) @ V.T, atol=1e-12)


def test_more_freedom_aligns_no_worse():
    X, y = two_moons()
    found = {t: OSK(6, 15, trivial=t, method="nnls").fit(X, y).alignment_ for t in ("free", "ordered", "drop")}
    assert found["free"] >= max(found["ordered"], found["drop"]) - 1e-12
    more = OSK(6, 30, method="nnls").fit(X, y).alignment_
    assert more >= found["free"] - 1e-12


def test_vectors_are_eigenvectors_of_the_laplacian_as_it_is_written():
    X, y = two_moons()
    learner = OSK(n_neighbors=6, n_components=10).fit(X, y)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(D, np.inf)
    near = np.sort(D, axis=1)[:, 5:6] >= D
    W = (near | near.T).astype(float)
    d = W.sum(axis=1)
    L = np.eye(60) - W / np.sqrt(np.outer(d, d))
    np.testing.assert_array_equal(learner.graph_.toarray(), W)
    np.testing.assert_allclose(L @ learner.eigenvectors_, learner.eigenvectors_ * learner.eigenvalues_, atol=1e-10)
    np.testing.assert_allclose(learner.eigenvalues_, np.linalg.eigvalsh(L)[:11], atol=1e-10)
    np.testing.assert_allclose(learner.eigenvectors_.T @ learner.eigenvectors_, np.eye(11), atol=1e-10)


def test_new_samples_have_the_nystroem_extension_of_the_vectors():
    X, y = two_moons()
    learner = OSK(n_neighbors=4, n_components=5, trivial="drop", method="nnls").fit(X, y)
    new = two_moons(8, seed=5)[0]
    d = learner.graph_.toarray().sum(axis=1)
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    radii = np.sort(distances, axis=1)[:, 4]
    extended = np.zeros((8, 5))
    for a, x in enumerate(new):
        to_x = np.linalg.norm(X - x, axis=1)
        joined = [j for j in range(60) if to_x[j] <= np.sort(to_x)[3] or to_x[j] <= radii[j]]
        for i in range(5):
            total = sum(learner.eigenvectors_[j, i] / np.sqrt(len(joined) * d[j]) for j in joined)
            extended[a, i] = total / (1.0 - learner.eigenvalues_[i])
    np.testing.assert_allclose(learner.kernel_(new), (extended * learner.weights_) @ extended.T, atol=1e-12)
    np.testing.assert_allclose(
        learner.transform(new), (extended * learner.weights_) @ learner.eigenvectors_.T, atol=1e-12
    )


def test_components_of_a_disconnected_graph_each_have_a_trivial_vector():
    X, y = two_moons()
    X = np.vstack([X, X + 100.0])
    y = np.concatenate([y, y])
    learner = OSK(6, 10).fit(X, y)
    assert "2 connected components" in learner.solver_report_.note
    assert np.sum(np.abs(learner.eigenvalues_) < 1e-12) == 2
    assert learner.weights_.shape == (12,)
    # A component without labels: nothing determines the weight of its trivial vector, which gets none.
    known = np.where(np.arange(120) < 60, y, -1)
    for method in ("qcqp", "nnls"):
        learner = OSK(6, 10, method=method).fit(X, known)
        assert learner.weights_[1] == 0.0
        assert learner.solver_report_.converged


def test_a_given_graph():
    X, y = two_moons()
    learner = OSK(6, 10).fit(X, y)
    given = OSK(n_components=10, graph=sp.csr_matrix(learner.graph_)).fit(X, y)
    np.testing.assert_allclose(given.kernel_(X), learner.kernel_(X), atol=1e-6)
    with pytest.raises(DataError, match="not in the graph"):
        given.kernel_(X + 1.0)


def test_more_components_than_there_are_labels():
    X, y = two_moons()
    known = np.where(np.arange(60) < 4, y, -1)
    for method in ("qcqp", "nnls"):
        learner = OSK(6, 50, method=method).fit(X, known)
        assert learner.alignment_ > 0.8
        assert np.isfinite(learner.kernel_(X)).all()


@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"n_neighbors": 0}, ParameterError, "n_neighbors=0"),
        ({"n_neighbors": 60}, ParameterError, "n_neighbors=60"),
        ({"n_components": 60}, ParameterError, "n_components=60 is not accepted"),
        ({"n_components": 0}, ParameterError, "n_components=0"),
        ({"trivial": "keep"}, ParameterError, "give 'free' or 'ordered' or 'drop'"),
        ({"method": "sdp"}, ParameterError, "give 'qcqp' or 'nnls'"),
        ({"graph": np.zeros((60, 60))}, DataError, "no edges"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, said):
    X, y = two_moons()
    with pytest.raises(error) as raised:
        OSK(**parameters).fit(X, y)
    assert said in str(raised.value)


def test_vectors_that_contradict_the_labels_are_refused():
    G, b = np.eye(2), np.array([-1.0, -2.0])
    with pytest.raises(DataError, match="no combination"):
        best_ordered(G, b)
    with pytest.raises(DataError, match="vanish on the labelled samples"):
        best_ordered(np.zeros((2, 2)), np.zeros(2))


@pytest.mark.parametrize(
    ("y", "said"),
    [(np.full(60, -1), "no labels"), (np.ones(60), "one class only"), (None, "requires y"), (np.arange(9), "samples")],
)
def test_wrong_labels_are_named(y, said):
    with pytest.raises(ValueError, match=said):
        OSK(n_components=5).fit(two_moons()[0], y)
