"""What the columns for graphs compute, against dense formulas."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from kernreg_papers.data.splits import Split
from kernreg_papers.methods.graphs.krein_machines import c_svm, dc_svm, krein_svm
from kernreg_papers.methods.graphs.node_classification import walk_blocks, walks
from kernreg_papers.methods.graphs.node_embedding import embed_and_classify, embed_or_walk
from kernreg_papers.methods.graphs.pole_damping import fold_views, solve_damped, stack_views, views_of
from scipy.optimize import minimize
from sklearn.svm import SVC

from kernreg import make_kernel


def signs(y):
    return np.where(np.asarray(y)[:, None] == np.unique(y), 1.0, -1.0)


@pytest.fixture
def split():
    """Three groups of nodes that mostly cite each other, every other node a test node."""
    rng = np.random.default_rng(4)
    y = np.arange(60) % 3
    A = (rng.random((60, 60)) < np.where(y[:, None] == y, 0.25, 0.03)).astype(float)
    nodes = rng.permutation(60)
    train, test = nodes[:40], nodes[40:]
    return Split(train, y[train], test, 5, sp.csr_array(A)), y[test]


def test_the_damped_solution_is_that_of_the_dense_normal_equations():
    rng = np.random.default_rng(0)
    m, gamma, damping = 12, 1.0, 0.7
    K, Y = rng.normal(size=(m, m)), signs(np.arange(m) % 3)
    one, zero = np.ones((m, 1)), np.zeros((m, 1))
    A = np.block(
        [
            [np.eye(m) / gamma, K, one, zero],
            [K.T, np.eye(m) / gamma, zero, one],
            [one.T, zero.T, np.zeros((1, 2))],
            [zero.T, one.T, np.zeros((1, 2))],
        ]
    )
    right = np.vstack([Y, Y, np.zeros((2, 3))])
    expected = np.linalg.solve(A.T @ A + damping * np.eye(len(A)), A.T @ right)
    a, c, b1, b2 = solve_damped(K, Y, gamma, damping)
    np.testing.assert_allclose(np.vstack([a, c, b1[None], b2[None]]), expected, atol=1e-7)


def test_views_of_a_fold_come_from_the_other_folds():
    rng = np.random.default_rng(1)
    K, y = rng.normal(size=(30, 30)), np.arange(24) % 2
    train, test = np.arange(24), np.arange(24, 30)
    blocks = make_kernel("precomputed", K=K).operator
    inside, outside = fold_views(blocks, train, signs(y), test, 1.0, 3, seed=0)
    assert inside.shape == (24, 2, 2)
    assert outside.shape == (6, 2, 2)
    other = K.copy()
    other[0] += 10.0  # node 0: its own views, and those of nodes whose models have it, but not those of its fold
    other[:, 0] -= 3.0
    changed, _ = fold_views(make_kernel("precomputed", K=other).operator, train, signs(y), test, 1.0, 3, seed=0)
    same = np.isclose(changed, inside).all(axis=(1, 2))
    assert not same[0]
    assert same.sum() == 7  # the rest of its fold of eight


def test_stacking_finds_the_view_that_tells():
    Y = signs(np.arange(40) % 2)
    rng = np.random.default_rng(2)
    views = np.stack([rng.normal(size=Y.shape), Y + 0.8 * rng.normal(size=Y.shape)], axis=1)
    assert (stack_views(views, views, Y) == Y.argmax(axis=1)).mean() > 0.85


@pytest.mark.parametrize("components", [1, 12])
def test_walks_or_an_embedding_whichever_is_better_on_training_nodes(split, components):
    walking = {"lengths": [1, 2], "gamma": 1.0, "folds": 3}
    embedding = {
        "embedding": "svd",
        "components": components,
        "width": 1.0,
        "kernels": ["linear"],
        "gamma": "loo",
        "measure": "inner",
    }
    found = embed_or_walk(split[0], walking=walking, **embedding)
    walked, embedded = walks(split[0], **walking), embed_and_classify(split[0], **embedding)
    better = walked if walked.chosen["cv_score"] > embedded.chosen["loo_score"] else embedded
    np.testing.assert_array_equal(found.predicted, better.predicted)
    assert found.scores == embedded.scores
    assert ("instead_of" in found.chosen) == (better is walked)
    assert ("instead_of" in found.chosen) == (components == 1)


def test_walks_are_means_of_powers():
    P = np.random.default_rng(3).random((7, 7))
    rows, columns = np.array([1, 4, 6]), np.array([0, 2])
    expected = ((P + P @ P + P @ P @ P) / 3.0)[np.ix_(rows, columns)]
    block = walk_blocks(sp.csr_array(P), 3)(rows, columns)
    np.testing.assert_allclose(block @ np.eye(2), expected)
    np.testing.assert_allclose(block.T @ np.eye(3), expected.T)


def test_views_are_rows_and_columns_of_the_kernel():
    rng = np.random.default_rng(5)
    K, a, c = rng.normal(size=(5, 5)), rng.normal(size=(3, 1)), rng.normal(size=(3, 1))
    train, nodes = np.arange(3), np.array([3, 4])
    found = views_of(make_kernel("precomputed", K=K).operator, nodes, train, (a, c, np.array([1.0]), np.array([2.0])))
    np.testing.assert_allclose(found[:, 0], K[3:, :3] @ c + 1.0)
    np.testing.assert_allclose(found[:, 1], K[:3, 3:].T @ a + 2.0)


def test_ksvm_is_flip_with_test_nodes_taken_along(split):
    given, y_test = split
    flipped, krein = c_svm(given, C=1.0, correction="flip"), krein_svm(given, C=[1.0], folds=3)
    np.testing.assert_array_equal(flipped.predicted, krein.predicted)
    assert (krein.predicted == y_test).mean() > 0.6


def test_c_is_chosen_in_folds_of_the_training_nodes(split):
    given, y_test = split
    found = krein_svm(given, C=[1e-3, 2.0], folds=3)
    assert found.chosen["C"] in (1e-3, 2.0)
    assert 0.3 < found.chosen["cv_score"] <= 1.0
    assert (found.predicted == krein_svm(given, C=[found.chosen["C"]], folds=3).predicted).all()
    assert (found.predicted == y_test).mean() > 0.6


def test_ksvm_of_all_nodes_is_a_support_vector_machine_on_the_flipped_graph(split):
    given, _ = split
    A = given.graph.toarray()
    G = (A.T + np.eye(60)) / (A.T + np.eye(60)).sum(axis=1, keepdims=True)
    values, U = np.linalg.eigh((G + G.T) / 2)
    flipped = (U * np.abs(values)) @ U.T
    train, test = given.X_train.ravel(), given.X_test.ravel()
    decisions = [
        SVC(kernel="precomputed", C=2.0, tol=1e-6)
        .fit(flipped[np.ix_(train, train)], given.y_train == c)
        .decision_function(flipped[np.ix_(test, train)])
        for c in range(3)
    ]
    found = krein_svm(given, C=[2.0], folds=3, all_nodes=True)
    np.testing.assert_array_equal(found.predicted, np.argmax(decisions, axis=0))


def test_the_difference_of_convex_functions_tells_that_there_is_no_minimum(split):
    given, y_test = split
    found = dc_svm(given, C=[1.0], folds=3, max_iter=4)
    assert (found.predicted == y_test).mean() > 0.6
    assert found.chosen["steps"] <= 4
    assert all(found.chosen["unbounded"])


def test_one_step_of_dc_svm_is_the_convex_problem():
    K = np.diag([1.0, 0.8, 1.2, 0.9, 1.1, 0.7])
    y = np.array([0, 1, 0, 1, 0, 1])
    K[0, 2] = K[2, 0] = K[1, 3] = K[3, 1] = 0.5
    K[4, 0] = K[0, 4] = 0.4
    K[5, 1] = K[1, 5] = 0.3
    given = Split(np.arange(4), y[:4], np.array([4, 5]), 0, sp.csr_array((6, 6)), sp.csr_array(K))
    found = dc_svm(given, C=[1.0], folds=3, max_iter=1, rho=np.linalg.norm(K[:4, :4], 2))
    inner, rho, sign = K[:4, :4], np.linalg.norm(K[:4, :4], 2), np.array([-1.0, 1.0, -1.0, 1.0])

    def objective(z):
        slack = np.maximum(0.0, 1.0 - sign * (inner @ z[:4] + z[4]))
        return 0.5 * z[:4] @ (inner + rho * np.eye(4)) @ z[:4] + slack @ slack

    best = minimize(objective, np.zeros(5), method="Nelder-Mead", options={"maxiter": 20000, "xatol": 1e-8}).x
    np.testing.assert_array_equal(found.predicted, (K[4:, :4] @ best[:4] + best[4] > 0.0).astype(int))
    assert found.chosen["rho"] == pytest.approx(rho)
