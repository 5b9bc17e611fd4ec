"""LDK: optimality against an interior point method and the KKT conditions, hard cases, new samples, wrong input."""

from __future__ import annotations

import numpy as np
import pytest
from cvxopt import matrix, solvers, spmatrix
from kernreg_metric import LDK
from kernreg_metric.pairs import pairs_of_numbers
from kernreg_metric.projections import PairBounds, project
from sklearn.exceptions import ConvergenceWarning

import kernreg
from kernreg.errors import AsymmetryError, DataError, KernregWarning, MemoryBudgetError, ParameterError
from kernreg.solvers import SideInformation


def blobs(n=24, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, 4)) + 0.7 * y[:, None], y


def distance(K, i, j):
    return K[i, i] + K[j, j] - 2.0 * K[i, j]


def interior_point(K0, pairs, gamma):
    """Solve the problem as it is written with cvxopt's general convex solver: K and, with gamma, the bounds.

    The unknowns are the lower triangle of K, and the bounds relative to those given.
    """
    n, c = len(K0), len(pairs)
    rows, columns = np.tril_indices(n)
    size, slack = len(rows), 0 if gamma is None else c
    inverse = np.linalg.inv(K0)
    place = {(int(i), int(j)): k for k, (i, j) in enumerate(zip(rows, columns, strict=True))}

    def unpack(x):
        K = np.zeros((n, n))
        K[rows, columns] = K[columns, rows] = x[:size]
        return K

    def weight(k):
        return 1.0 if rows[k] == columns[k] else 2.0

    def F(x=None, z=None):
        if x is None:
            start = np.concatenate([K0[rows, columns], np.ones(slack)])
            return 0, matrix(start)
        x = np.array(x).ravel()
        K, relative = unpack(x), x[size:]
        if np.linalg.eigvalsh(K)[0] <= 0.0 or np.any(relative <= 0.0):
            return None
        P = np.linalg.inv(K)
        value = np.trace(K @ inverse) - np.linalg.slogdet(K)[1]
        gradient = np.array([weight(k) * (inverse - P)[rows[k], columns[k]] for k in range(size)])
        if slack:
            value += gamma * np.sum(relative - np.log(relative))
            gradient = np.concatenate([gradient, gamma * (1.0 - 1.0 / relative)])
        if z is None:
            return float(value), matrix(gradient, (1, size + slack))
        H = np.zeros((size + slack, size + slack))
        for a in range(size):
            for b in range(size):
                i, j, k, m = rows[a], columns[a], rows[b], columns[b]
                H[a, b] = weight(a) * weight(b) * 0.5 * (P[i, k] * P[j, m] + P[i, m] * P[j, k])
        H[range(size, size + slack), range(size, size + slack)] = gamma / relative**2 if slack else 0.0
        return float(value), matrix(gradient, (1, size + slack)), matrix(z[0] * H)

    entries = []  # of G x <= h: sign (distance - bound · relative) <= 0
    h = np.zeros(c)
    for k in range(c):
        i, j, sign, bound = (int(pairs.rows[k]), int(pairs.columns[k]), pairs.signs[k], pairs.bounds[k])
        entries += [(sign, k, place[i, i]), (sign, k, place[j, j])]
        entries.append((-2.0 * sign, k, place[max(i, j), min(i, j)]))
        if slack:
            entries.append((-sign * bound, k, size + k))
        else:
            h[k] = sign * bound
    values, at, of = zip(*entries, strict=True)
    G = spmatrix([float(v) for v in values], at, of, (c, size + slack))
    options = {"show_progress": False, "abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}
    found = solvers.cp(F, G, matrix(h), options=options)
    assert found["status"] == "optimal"
    return unpack(np.array(found["x"]).ravel())


@pytest.mark.parametrize("gamma", [None, 0.3, 2.0], ids=["hard", "soft", "firm"])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_an_interior_point_method(gamma, seed):
    X, y = blobs(6, seed, 2)
    learner = LDK("rbf(sigma=1.5)", gamma=gamma, tol=1e-10, max_iter=50_000).fit(X, y)
    expected = interior_point(kernreg.make_kernel("rbf(sigma=1.5)")(X), learner.constraints_, gamma)
    np.testing.assert_allclose(learner.kernel_(X), expected, atol=2e-6)


@pytest.mark.parametrize("gamma", [None, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("sigma", [1.0, 3.0])
def test_the_optimality_conditions_hold(gamma, sigma):
    X, y = blobs()
    learner = LDK(f"rbf(sigma={sigma})", gamma=gamma, tol=1e-7, max_iter=100_000).fit(X, y)
    K0, K, pairs = kernreg.make_kernel(f"rbf(sigma={sigma})")(X), learner.kernel_(X), learner.constraints_
    bounds, multipliers = learner.bounds_, learner.multipliers_
    assert len(pairs) == 24 * 23 // 2
    assert multipliers.min() >= 0.0
    stationary = np.linalg.inv(K) - np.linalg.inv(K0)
    for i, j, sign, value in zip(pairs.rows, pairs.columns, pairs.signs, multipliers, strict=True):
        for a, b, entry in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            stationary[a, b] -= sign * value * entry
    assert np.abs(stationary).max() < 1e-6 * np.abs(np.linalg.inv(K0)).max()
    distances = np.array([distance(K, i, j) for i, j in zip(pairs.rows, pairs.columns, strict=True)])
    violation = pairs.signs * (distances - bounds) / bounds
    assert violation.max() < 1e-6
    assert np.abs(violation[multipliers > 0.0]).max() < 1e-6
    if gamma is None:
        np.testing.assert_array_equal(bounds, pairs.bounds)
    else:  # γ (1/bound - 1/given) + δλ = 0
        np.testing.assert_allclose(gamma * (1.0 / pairs.bounds - 1.0 / bounds), pairs.signs * multipliers, atol=1e-9)


def test_one_constraint_is_one_projection_of_the_current_matrix():
    A = np.random.default_rng(1).normal(size=(5, 5))
    K0 = A @ A.T
    pairs = PairBounds(np.array([0]), np.array([3]), np.array([1.0]), np.array([0.5]))
    K = K0.copy()
    found = project(K, pairs, tol=1e-12)
    z = np.array([1.0, 0.0, 0.0, -1.0, 0.0])
    p = z @ K0 @ z
    np.testing.assert_allclose(K, K0 + (0.5 - p) / p**2 * np.outer(K0 @ z, K0 @ z), rtol=1e-12)
    assert distance(K, 0, 3) == pytest.approx(0.5, rel=1e-12)
    assert found.sweeps == 2  # the second finds nothing to do
    # Two constraints in turn: the second starts from what the first made, and each is kept in the end.
    both = PairBounds(np.array([0, 0]), np.array([3, 1]), np.array([1.0, -1.0]), np.array([0.5, 9.0]))
    assert project(K0.copy(), both, tol=1e-12).converged
    K = K0.copy()
    project(K, both, tol=1e-12, max_iter=10_000)
    assert distance(K, 0, 3) <= 0.5 * (1.0 + 1e-10)
    assert distance(K, 0, 1) >= 9.0 * (1.0 - 1e-10)


def test_gathered_updates_are_the_updates_one_by_one(monkeypatch):
    X, y = blobs(30)
    found = []
    for gathered in (1, 7, 32):
        monkeypatch.setattr("kernreg_metric.projections._GATHERED", gathered)
        found.append(LDK("rbf(sigma=2.0)", max_iter=3, tol=0.5).fit(X, y).kernel_(X))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10)
    np.testing.assert_allclose(found[0], found[2], rtol=1e-10)


def test_the_order_of_projections_does_not_matter_in_the_end():
    X, y = blobs()
    K = [LDK("rbf(sigma=2.0)", tol=1e-8, random_state=seed).fit(X, y).kernel_(X) for seed in range(3)]
    np.testing.assert_allclose(K[0], K[1], atol=1e-6)
    np.testing.assert_allclose(K[0], K[2], atol=1e-6)


def test_distances_move_as_the_labels_say_in_and_out_of_sample():
    X, y = blobs(180)
    X = np.hstack([X, 3.0 * np.random.default_rng(8).normal(size=(180, 4))])  # what the labels do not depend on
    known = np.where(np.arange(180) < 120, y, -1)
    learner = LDK("linear").fit(X, known)
    same = y[:, None] == y
    for part in (slice(0, 120), slice(120, 180)):
        ratios = []
        for K in (X[part] @ X[part].T, learner.kernel_(X[part])):
            D = K.diagonal()[:, None] + K.diagonal() - 2.0 * K
            ratios.append(D[~same[part, part]].mean() / D[same[part, part]].mean())
        assert ratios[1] > 1.3 * ratios[0]


def test_new_samples_are_in_the_formula_of_the_paper():
    X, y = blobs()
    learner = LDK("rbf(sigma=2.0)", tol=1e-8).fit(X, y)
    k0 = kernreg.make_kernel("rbf(sigma=2.0)")
    K0, K, new = k0(X), learner.kernel_(X), np.random.default_rng(9).normal(size=(7, 4))
    inverse = np.linalg.inv(K0)
    Q = inverse @ (K - K0) @ inverse
    np.testing.assert_allclose(learner.kernel_(new), k0(new) + k0(new, X) @ Q @ k0(X, new), rtol=1e-7)
    np.testing.assert_allclose(learner.transform(new), k0(new, X) + k0(new, X) @ Q @ K0, rtol=1e-7)
    assert np.linalg.eigvalsh(learner.kernel_(np.vstack([X, new])))[0] > 0.0


def test_a_singular_matrix_to_start_from_is_no_obstacle():
    X, y = blobs(40)
    learner = LDK("linear", tol=1e-6).fit(X, y)  # rank 4 of 40
    K0, pairs = X @ X.T, learner.constraints_
    B = pairs.laplacian(learner.multipliers_, 40)
    K = learner.kernel_(X)
    np.testing.assert_allclose((np.eye(40) + K0 @ B) @ K, K0, atol=1e-8 * np.abs(K0).max())
    violation = pairs.signs * (pairs.distances(K) - learner.bounds_) / learner.bounds_
    assert violation.max() < 1e-5
    assert np.linalg.matrix_rank(K, tol=1e-8 * np.abs(K).max()) == 4


def test_with_the_linear_kernel_it_is_metric_learning():
    """The kernel is xᵀMz with M = (I + XᵀBX)⁻¹, the Mahalanobis form of Davis et al."""
    X, y = blobs(30)
    learner = LDK("linear", tol=1e-8).fit(X, y)
    M = np.linalg.inv(np.eye(4) + X.T @ learner.constraints_.laplacian(learner.multipliers_, 30) @ X)
    new = np.random.default_rng(3).normal(size=(5, 4))
    np.testing.assert_allclose(learner.kernel_(new), new @ M @ new.T, rtol=1e-8)
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_bounds_that_hold_already_leave_the_kernel_as_it_is():
    X, y = blobs()
    learner = LDK("rbf(sigma=2.0)", upper=3.0, lower=1e-6, gamma=None)
    with pytest.raises(ParameterError, match="upper < lower"):
        learner.fit(X, y)
    similar = SideInformation.from_pairs([[0, 3], [1, 4]], None, len(X))
    learner = LDK("rbf(sigma=2.0)", upper=3.0).fit(X, side_information=similar)
    np.testing.assert_allclose(learner.kernel_(X), kernreg.make_kernel("rbf(sigma=2.0)")(X), rtol=1e-14)
    assert learner.n_iter_ == 1
    assert learner.solver_report_.objective == pytest.approx(0.0, abs=1e-12)


def test_default_bounds_are_percentiles_of_the_distances():
    X, y = blobs()
    learner = LDK("rbf(sigma=2.0)").fit(X, y)
    K = kernreg.make_kernel("rbf(sigma=2.0)")(X)
    D = [distance(K, i, j) for i in range(24) for j in range(i)]
    assert (learner.upper_, learner.lower_) == pytest.approx(tuple(np.percentile(D, [5, 95])))


def test_the_divergence_reported_is_that_of_the_two_matrices():
    X, y = blobs()
    learner = LDK("rbf(sigma=1.0)").fit(X, y)
    K0, K = kernreg.make_kernel("rbf(sigma=1.0)")(X), learner.kernel_(X)
    R = K @ np.linalg.inv(K0)
    expected = np.trace(R) - np.linalg.slogdet(R)[1] - len(X)
    assert learner.solver_report_.objective == pytest.approx(expected, rel=1e-8)


def test_labels_and_their_pairs_are_the_same():
    X, y = blobs(20)
    known = np.where(np.arange(20) % 4 == 0, -1, y)
    labelled = np.flatnonzero(known >= 0)
    similar = [(i, j) for i in labelled for j in labelled if i < j and y[i] == y[j]]
    dissimilar = [(i, j) for i in labelled for j in labelled if i < j and y[i] != y[j]]
    side = SideInformation.from_pairs(similar, dissimilar, 20)
    one = LDK("rbf(sigma=2.0)", tol=1e-8).fit(X, known).kernel_(X)
    other = LDK("rbf(sigma=2.0)", tol=1e-8).fit(X, side_information=side).kernel_(X)
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_some_pairs_at_random():
    X, y = blobs(40)
    learner = LDK("rbf(sigma=2.0)", n_constraints=50).fit(X, y)
    pairs = learner.constraints_
    assert len(pairs) == 50
    assert len({*zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True)}) == 50
    np.testing.assert_array_equal(pairs.signs, np.where(y[pairs.rows] == y[pairs.columns], 1.0, -1.0))
    assert len(LDK("rbf(sigma=2.0)", n_constraints=10**6).fit(X, y).constraints_) == 40 * 39 // 2
    side = SideInformation.from_labels(y)
    chosen = LDK(n_constraints=5).fit(X, side_information=SideInformation.from_matrix(side.target() - np.eye(40)))
    assert len(chosen.constraints_) == 5


def test_pairs_are_numbered_without_gaps():
    numbers = np.arange(100_000)
    i, j = pairs_of_numbers(numbers)
    assert np.all((j >= 0) & (j < i))
    np.testing.assert_array_equal(i * (i - 1) // 2 + j, numbers)
    for large in (2**40, 2**50 + 1):
        i, j = pairs_of_numbers(np.array([large]))
        assert 0 <= j[0] < i[0]
        assert i[0] * (i[0] - 1) // 2 + j[0] == large


def test_more_pairs_than_memory_are_refused():
    X, y = blobs(200)
    with kernreg.config_context(memory="1MB"), pytest.raises(MemoryBudgetError, match=r"n_constraints=\d+ at most"):
        LDK().fit(X, y)


def test_what_cannot_be_is_said():
    X, _ = blobs(12)
    impossible = SideInformation.from_pairs([[0, 1], [1, 2]], [[0, 2]], 12)  # close to 1 both, far from each other
    learner = LDK("rbf(sigma=2.0)", upper=0.01, lower=1.0, gamma=None, max_iter=50)
    with pytest.warns(
        ConvergenceWarning, match=r"bregman stopped after 50 iterations.*hard: gamma=1.0 lets them"
    ) as told:
        learner.fit(X, side_information=impossible)
    assert not learner.solver_report_.converged
    K = learner.kernel_(X)
    d = np.diag(K)[:, None] + np.diag(K) - 2 * K
    off = [d[0, 1] / 0.01 - 1, d[1, 2] / 0.01 - 1, 1 - d[0, 2]]
    missed = f"{sum(share > learner.tol for share in off)} of 3 bounds are missed, by up to {max(off):.0%}"
    assert missed in str(told[0].message)
    assert missed in learner.solver_report_.note
    assert np.linalg.eigvalsh(K)[0] > -1e-9  # a kernel all the same
    with_slack = LDK("rbf(sigma=2.0)", upper=0.01, lower=1.0).fit(X, side_information=impossible)
    assert with_slack.solver_report_.converged


def test_two_classes_at_one_point_are_left_out_and_named():
    X, y = blobs(12)
    X[3] = X[4]
    with pytest.warns(KernregWarning, match="samples 3 and 4|samples 4 and 3"):
        learner = LDK("rbf(sigma=2.0)").fit(X, y)
    assert len(learner.constraints_) == 12 * 11 // 2 - 1
    assert "left out" in learner.solver_report_.note
    X[5] = X[2]  # of one class: nothing is wrong with that
    y[3] = y[4]
    LDK("rbf(sigma=2.0)").fit(X, y)


@pytest.mark.filterwarnings("ignore::kernreg.errors.RangeWarning")  # of the last one, which is refused all the same
@pytest.mark.parametrize(
    ("parameters", "error", "said"),
    [
        ({"gamma": 0.0}, ParameterError, "gamma=0.0 is not accepted"),
        ({"gamma": "soft"}, ParameterError, "gamma='soft'"),
        ({"upper": -1.0}, ParameterError, "upper=-1.0"),
        ({"lower": np.nan}, ParameterError, "lower=nan"),
        ({"upper": 2.0, "lower": 1.0}, ParameterError, "give upper < lower"),
        ({"tol": 1.0}, ParameterError, "tol=1.0"),
        ({"max_iter": 0}, ParameterError, "max_iter=0"),
        ({"max_iter": True}, ParameterError, "max_iter=True"),
        ({"n_constraints": 2.5}, ParameterError, "n_constraints=2.5"),
        ({"kernel": "sne(sigma=30.0)"}, AsymmetryError, "symmetrize"),
        ({"kernel": "tanh(c=-3.0)"}, DataError, "spectrum(kernel, 'clip')"),
        ({"kernel": "poly(degree=1000)"}, DataError, "not finite"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, said):
    X, y = blobs()
    with pytest.raises(error) as raised:
        LDK(**parameters).fit(10.0 * X, y)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.full(24, -1), "y has no labels"),
        (np.zeros(24), "one class only"),
        (np.where(np.arange(24) % 2, 1, -1), "set unlabelled=None"),
        (np.arange(23), "inconsistent numbers of samples"),
        (None, "requires y to be passed"),
        (np.linspace(0.1, 1.0, 24), "does not hold class labels"),
    ],
)
def test_wrong_labels_are_named(y, said):
    with pytest.raises(ValueError, match=said):
        LDK().fit(blobs()[0], y)


def test_wrong_pairs_are_named():
    X, y = blobs()
    with pytest.raises(DataError, match="both given"):
        LDK().fit(X, y, side_information=SideInformation.from_labels(y))
    with pytest.raises(DataError, match="about 10 samples, and X has 24"):
        LDK().fit(X, side_information=SideInformation.from_pairs([[0, 1]], None, 10))
    with pytest.raises(DataError, match="one point to the kernel"):
        LDK().fit(np.ones((24, 4)), y)
