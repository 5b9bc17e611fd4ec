"""SCG-LDK against its formula in many digits, where the formula fails, for every form of side information."""

from __future__ import annotations

import pickle
import tracemalloc
from itertools import pairwise

import mpmath
import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import kernreg as kr
from kernreg.errors import AsymmetryError, DataError, MemoryBudgetWarning, ParameterError
from kernreg.kernels.builtin import rbf, tanh_
from kernreg.kernels.combinations.algebra import compose
from kernreg.kernels.combinations.reference import centered
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, SCGLDK, AsKLSClassifier, SideInformation


def laplacian_of(T):
    """S in many digits, as it is written."""
    n = len(T)
    W = [[mpmath.exp(mpmath.mpf(float(t))) for t in row] for row in T]
    D = [mpmath.fsum(row) for row in W]
    return mpmath.matrix(n, n) + mpmath.matrix(
        [[(1 if i == j else 0) - W[i][j] / mpmath.sqrt(D[i] * D[j]) for j in range(n)] for i in range(n)]
    )


def printed_formula(K0, T, gamma):
    """(K0⁻¹ + γ S)⁻¹ with 50 digits, and Q = K0⁻¹ (K - K0) K0⁻¹."""
    with mpmath.workdps(50):
        start = mpmath.matrix(np.asarray(K0, dtype=float).tolist())
        inverse = mpmath.inverse(start)
        K = mpmath.inverse(inverse + mpmath.mpf(gamma) * laplacian_of(T))
        Q = inverse * (K - start) * inverse
        return np.array(K.tolist(), dtype=float), np.array(Q.tolist(), dtype=float)


def sides(rng, n):
    y = rng.integers(-1, 3, size=n)
    rows, columns = np.triu_indices(n, 1)
    pairs = np.column_stack([rows, columns])[rng.permutation(len(rows))]
    T = rng.choice([-1.0, 0.0, 1.0], size=(n, n))
    return {
        "labels": SideInformation.from_labels(y),
        "few-pairs": SideInformation.from_pairs(pairs[:3], pairs[3:5], n),
        "many-pairs": SideInformation.from_pairs(pairs[:30], pairs[30:60], n),
        "matrix": SideInformation.from_matrix(np.triu(T, 1) + np.triu(T, 1).T),
    }


@pytest.fixture
def samples():
    rng = np.random.default_rng(11)
    return rng.normal(size=(24, 4)), rng.normal(size=(7, 4))


FORMS = ["labels", "few-pairs", "many-pairs", "matrix"]


@pytest.mark.parametrize("gamma", [1e-8, 1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("form", FORMS)
def test_equals_the_printed_formula_where_k0_is_well_conditioned(samples, form, gamma):
    X, new = samples
    side = sides(np.random.default_rng(2), 24)[form]
    K0 = naive.rbf(X, sigma=1.0).astype(float)
    assert np.linalg.cond(K0) < 1e3
    K, Q = printed_formula(K0, side.target(), gamma)
    learner = SCGLDK(kernel="rbf(sigma=1.0)", gamma=gamma).fit(X, side_information=side)
    np.testing.assert_allclose(learner.kernel_(X), K, rtol=0, atol=1e-9 * np.abs(K).max())
    np.testing.assert_allclose(learner.kernel_.correction, Q, rtol=0, atol=1e-9 * np.abs(Q).max())
    across = naive.rbf(new, X, sigma=1.0).astype(float)
    np.testing.assert_allclose(learner.kernel_(new, X), across + across @ Q @ K0, atol=1e-9)
    expected = naive.rbf(new, sigma=1.0).astype(float) + across @ Q @ across.T
    np.testing.assert_allclose(learner.kernel_(new), expected, atol=1e-9)
    report = learner.solver_report_
    assert report.strategy == "exact"
    assert report.method == ("cholesky" if form in ("labels", "few-pairs") else "lu")
    assert report.residual < 1e-10
    assert report.gamma == learner.gamma_ == gamma


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("form", FORMS)
def test_stays_accurate_where_k0_is_singular_and_the_printed_formula_fails(samples, form, gamma):
    X, _ = samples
    X = np.vstack([X[:12], X[:12]])  # every sample twice, and a wide kernel: rank 12 at most, fewer but for rounding
    side = sides(np.random.default_rng(2), 24)[form]
    K0 = naive.rbf(X, sigma=30.0).astype(float)
    with mpmath.workdps(50):
        S = np.array(laplacian_of(side.target()).tolist(), dtype=float)

    def residual(K):
        return np.abs((np.eye(24) + gamma * K0 @ S) @ K - K0).max() / np.abs(K0).max()

    try:
        as_printed = residual(np.linalg.inv(np.linalg.inv(K0) + gamma * S))
    except np.linalg.LinAlgError:
        as_printed = np.inf
    assert not as_printed < 1e-3
    learner = SCGLDK(kernel="rbf(sigma=30.0)", gamma=gamma).fit(X, side_information=side)
    assert residual(learner.kernel_(X)) < 1e-8
    # Without the matrix of the training samples, by the formula for new ones.
    extended = learner.kernel_.set_params(training=None)
    assert residual(extended(X)) < 1e-8
    assert learner.solver_report_.residual < 1e-8
    assert np.linalg.eigvalsh(learner.kernel_(X))[0] > -1e-12


def test_minimises_the_logdet_objective(samples):
    X, _ = samples
    side = sides(np.random.default_rng(2), 24)["labels"]
    K0 = naive.rbf(X, sigma=1.0).astype(float)
    inverse = np.linalg.inv(K0)

    def objective(K):
        sign, logdet = np.linalg.slogdet(K @ inverse)
        assert sign > 0
        return np.trace(K @ inverse) - logdet + 2.0 * side.loss(K)

    K = SCGLDK(kernel="rbf(sigma=1.0)", gamma=2.0).fit(X, side_information=side).kernel_(X)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.normal(size=(24, 24))
        step = 1e-3 * (step + step.T)
        assert objective(K + step) > objective(K)


def test_labels_pairs_and_matrix_of_the_same_knowledge_agree(samples):
    X, new = samples
    y = np.random.default_rng(0).integers(-1, 3, size=24)
    T = SideInformation.from_labels(y).target()
    kernels = [
        SCGLDK("rbf(sigma=2.0)").fit(X, y).kernel_,
        SCGLDK("rbf(sigma=2.0)").fit(X, side_information=SideInformation.from_matrix(T)).kernel_,
        SCGLDK("rbf(sigma=2.0)").fit(X, side_information=SideInformation.from_matrix(sp.csr_array(T))).kernel_,
        SCGLDK("rbf(sigma=2.0)", unlabelled="?").fit(X, np.where(y < 0, "?", y.astype(str))).kernel_,
    ]
    for kernel in kernels[1:]:
        np.testing.assert_allclose(kernel(new, X), kernels[0](new, X), atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_lowrank_with_all_samples_is_exact(samples, form):
    X, new = samples
    side = sides(np.random.default_rng(2), 24)[form]
    exact = SCGLDK("rbf(sigma=2.0)", 3.0).fit(X, side_information=side)
    lowrank = SCGLDK("rbf(sigma=2.0)", 3.0, strategy="lowrank").fit(X, side_information=side)
    np.testing.assert_allclose(lowrank.kernel_(X), exact.kernel_(X), atol=1e-9)
    np.testing.assert_allclose(lowrank.kernel_(new, X), exact.kernel_(new, X), atol=1e-7)
    assert lowrank.solver_report_.landmarks == 24
    assert lowrank.solver_report_.residual < 1e-12


@pytest.mark.parametrize("form", FORMS)
def test_lowrank_is_the_formula_on_nystroem_features(samples, form):
    X, new = samples
    side = sides(np.random.default_rng(2), 24)[form]
    chosen = np.array([0, 3, 5, 11, 17])
    learner = SCGLDK("rbf(sigma=1.0)", 3.0, strategy="lowrank", landmarks=chosen)
    with kr.config_context(memory=20_000):  # several blocks
        learner.fit(X, side_information=side)
    L = X[chosen]
    k = lambda A, B: naive.rbf(A, B, sigma=1.0).astype(float)  # noqa: E731 (a formula)
    root = np.linalg.inv(np.linalg.cholesky(k(L, L))).T
    features, others = k(X, L) @ root, k(new, L) @ root
    S = side.laplacian(np.eye(24))
    A = np.linalg.inv(np.eye(5) + 3.0 * features.T @ S @ features)
    np.testing.assert_allclose(learner.kernel_(X), features @ A @ features.T, atol=1e-12)
    np.testing.assert_allclose(learner.kernel_(new, X), others @ A @ features.T, atol=1e-12)
    assert learner.landmarks_.tolist() == chosen.tolist()
    assert learner.kernel_.definite


def test_lowrank_approaches_exact_with_more_landmarks():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200)
    X = rng.normal(size=(200, 3)) + y[:, None]
    y[::3] = -1
    exact = SCGLDK("rbf(sigma=3.0)", 1.0).fit(X, y).kernel_(X)
    errors = [
        np.linalg.norm(SCGLDK("rbf(sigma=3.0)", 1.0, strategy="lowrank", n_landmarks=p).fit(X, y).kernel_(X) - exact)
        for p in (5, 20, 80)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 2e-3 * np.linalg.norm(exact)


def test_auto_is_exact_while_that_fits_and_says_so():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, size=300)
    assert SCGLDK().fit(X, y).solver_report_.strategy == "exact"
    with kr.config_context(memory=1_000_000):
        report = SCGLDK(n_landmarks=20).fit(X, y).solver_report_
    assert report.strategy == "lowrank"
    assert "300 samples do not fit the memory budget of 1.0 MB" in report.note


def two_moons_of_labels():
    """Two classes of four clumps: what similar means is in the labels, not in the distances."""
    rng = np.random.default_rng(4)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    which = np.arange(120) % 4
    X = centres[which] + 0.5 * rng.normal(size=(120, 2))
    return X, np.where((which == 0) | (which == 3), "in", "out")


@pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")  # the kernel has seen the labels
def test_learned_kernels_work_in_every_solver_and_in_scikit_learn():
    X, y = two_moons_of_labels()
    known = y.astype(object)
    known[60:] = None
    learner = SCGLDK("rbf(sigma=1.5)", 10.0, unlabelled=None).fit(X, known)
    k, train, test = learner.kernel_, np.arange(60), np.arange(60, 120)
    for solver in (LSSVC(k, 10.0), AsKLSClassifier(k, 10.0), LSSVC(k, "loo"), LSSVC(k, strategy="lowrank")):
        assert solver.fit(X[train], y[train]).score(X[test], y[test]) > 0.95
    machine = SVC(kernel="precomputed", C=100.0).fit(k(X[train]), y[train])
    assert machine.score(k(X[test], X[train]), y[test]) > 0.95
    pipeline = make_pipeline(SCGLDK("rbf(sigma=1.5)", 10.0), SVC(kernel="precomputed", C=100.0))
    assert pipeline.fit(X[train], y[train]).score(X[test], y[test]) > 0.95


def test_the_kernel_turns_to_the_classes_and_the_loss_falls_with_gamma():
    X, y = two_moons_of_labels()
    side = SideInformation.from_labels(y)
    losses = []
    for gamma in (1e-4, 0.01, 1.0, 100.0):
        K = SCGLDK("rbf(sigma=1.5)", gamma).fit(X, y).kernel_(X)
        losses.append(side.loss(K))
    assert all(later < earlier for earlier, later in pairwise(losses))
    sign = np.where(y == "in", 1.0, -1.0)

    def share_of_the_classes(K):
        """How much of the centred kernel's trace lies along the classes."""
        centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        return sign @ centred @ sign / len(sign) / np.trace(centred)

    K0 = rbf(sigma=1.5)(X)
    shrunk_alike = np.linalg.solve(np.eye(120) + 100.0 * K0, K0)  # what S = I, which knows nothing, would give
    assert share_of_the_classes(K) > 2.0 * share_of_the_classes(shrunk_alike)


def test_gamma_by_leave_one_out_of_ls_svm(textbook):
    X, y = two_moons_of_labels()
    codes = (y == "in").astype(int)
    codes[80:] = -1
    grid = [0.1, 1.0, 10.0]
    learner = SCGLDK("rbf(sigma=1.5)", grid).fit(X, codes)
    Y = np.where(codes[:80] == 1, 1.0, -1.0)[:, None]
    best = []
    for gamma in grid:
        K = SCGLDK("rbf(sigma=1.5)", gamma).fit(X, codes).kernel_(X)[:80, :80]
        found = LSSVC(precomputed(K=K), "loo").fit(np.arange(80), codes[:80])
        left_out = textbook.ls_svm_refits(K, Y, found.gamma_)
        assert np.mean(np.sign(left_out) == Y) == pytest.approx(found.loo_score_)
        best.append((found.loo_score_, -float(np.mean((Y - left_out) ** 2))))
    np.testing.assert_allclose(learner.loo_path_["score"], [score for score, _ in best])
    np.testing.assert_allclose(learner.loo_path_["squared_error"], [-square for _, square in best], rtol=1e-6)
    assert learner.gamma_ == grid[max(range(3), key=lambda g: best[g])]
    assert "chosen by leave-one-out from 3 values" in learner.solver_report_.note
    assert SCGLDK("rbf(sigma=1.5)", "loo").fit(X, codes).loo_path_["gamma"].tolist() == [0.01, 0.1, 1.0, 10.0, 100.0]
    lowrank = SCGLDK("rbf(sigma=1.5)", grid, strategy="lowrank").fit(X, codes)
    np.testing.assert_allclose(lowrank.loo_path_["score"], learner.loo_path_["score"], atol=0.02)
    assert not hasattr(learner.set_params(gamma=1.0).fit(X, codes), "loo_path_")


def test_kernels_of_indices_reference_sets_and_feature_maps(samples):
    X, new = samples
    y = np.arange(24) % 3
    both = np.vstack([X, new])
    held = precomputed(K=naive.rbf(both, sigma=2.0).astype(float))
    plain = SCGLDK("rbf(sigma=2.0)").fit(X, y).kernel_
    indexed = SCGLDK(held).fit(np.arange(24), y).kernel_
    np.testing.assert_allclose(indexed(np.arange(24, 31), np.arange(24)), plain(new, X), atol=1e-10)
    LSSVC(indexed).fit(np.arange(24), y).predict(np.arange(24, 31))
    mapped = SCGLDK(compose(rbf(sigma=2.0), np.tanh)).fit(X, y).kernel_
    np.testing.assert_allclose(mapped(new), SCGLDK("rbf(sigma=2.0)").fit(np.tanh(X), y).kernel_(np.tanh(new)))
    centred = SCGLDK(centered(rbf(sigma=2.0))).fit(X, y)
    K0 = centered(rbf(sigma=2.0))(X)
    S = SideInformation.from_labels(y).laplacian(np.eye(24))
    np.testing.assert_allclose((np.eye(24) + K0 @ S) @ centred.kernel_(X), K0, atol=1e-12)


def test_sparse_samples_and_single_precision(samples):
    X, new = samples
    y = np.arange(24) % 3
    dense = SCGLDK("rbf(sigma=2.0)").fit(X, y).kernel_
    sparse = SCGLDK("rbf(sigma=2.0)").fit(sp.csr_array(X), y).kernel_
    np.testing.assert_allclose(sparse(sp.csr_array(new), sp.csr_array(X)), dense(new, X), atol=1e-12)
    lowrank = SCGLDK("rbf(sigma=2.0)", strategy="lowrank").fit(sp.csr_matrix(X), y).kernel_
    np.testing.assert_allclose(lowrank(sp.csr_array(new), sp.csr_array(X)), dense(new, X), atol=1e-7)
    single = SCGLDK("rbf(sigma=2.0)").fit(X.astype(np.float32), y)
    assert single.transform(new.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(single.transform(new.astype(np.float32)), dense(new, X), atol=1e-5)


def test_fitted_learners_survive_cloning_pickling_and_refitting(samples):
    X, new = samples
    y = np.arange(24) % 3
    learner = SCGLDK("rbf(sigma=2.0)", n_landmarks=5, strategy="lowrank").fit(X, y)
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.kernel_(new, X), learner.kernel_(new, X))
    assert again.kernel_ == learner.kernel_
    assert clone(learner).set_params(kernel__sigma=3.0).kernel == rbf(sigma=3.0)
    learner.set_params(strategy="exact").fit(X, side_information=SideInformation.from_pairs([(0, 1)], [], 24))
    assert not hasattr(learner, "landmarks_")
    assert not hasattr(learner, "classes_")
    assert learner.learns_kernel
    assert kr.make_solver("scg-ldk(gamma=10)").gamma == 10


@pytest.mark.parametrize(
    ("parameters", "error", "says"),
    [
        ({"kernel": "sne"}, AsymmetryError, "asymmetric on these samples"),
        ({"kernel": "sne", "strategy": "lowrank"}, AsymmetryError, "asymmetric on these samples"),
        ({"kernel": tanh_(c=1.0, t=-1.0), "gamma": 100.0}, DataError, "eigenvalue of -0.01"),
        ({"kernel": tanh_(c=1.0, t=-1.0), "strategy": "lowrank"}, DataError, "indefinite on the landmarks"),
        ({"gamma": -1.0}, ParameterError, "gamma=-1.0"),
        ({"gamma": "auto"}, ParameterError, "gamma='auto'"),
        ({"strategy": "iterative"}, ParameterError, "strategy='iterative'"),
        ({"strategy": "lowrank", "n_landmarks": 25}, ParameterError, "n_landmarks=25"),
        ({"strategy": "lowrank", "landmarks": "nearest"}, ParameterError, "landmarks='nearest'"),
    ],
    ids=["sne", "sne-lowrank", "tanh", "tanh-lowrank", "negative", "auto", "strategy", "too-many", "method"],
)
def test_wrong_parameters_are_explained(samples, parameters, error, says):
    X, _ = samples
    with pytest.raises(error, match=says):
        SCGLDK(**parameters).fit(X, np.arange(24) % 2)


def test_an_indefinite_kernel_is_refused_for_dense_knowledge_too(samples):
    X, _ = samples
    side = sides(np.random.default_rng(2), 24)["matrix"]
    with pytest.raises(DataError, match="spectrum"):
        SCGLDK(tanh_(c=1.0, t=-1.0), 100.0).fit(X, side_information=side)


def test_bad_side_information_is_explained(samples):
    X, _ = samples
    side = SideInformation.from_pairs([(0, 1)], [], 24)
    with pytest.raises(DataError, match="requires y to be passed"):
        SCGLDK().fit(X)
    with pytest.raises(DataError, match="both given"):
        SCGLDK().fit(X, np.arange(24) % 2, side_information=side)
    with pytest.raises(DataError, match="is about 24 samples, and X has 10"):
        SCGLDK().fit(X[:10], side_information=side)
    with pytest.raises(DataError, match="side_information is list"):
        SCGLDK().fit(X, side_information=[(0, 1)])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SCGLDK().fit(X, [0, 1])
    with pytest.raises(DataError, match="no labels"):
        SCGLDK().fit(X, np.full(24, -1))
    with pytest.raises(DataError, match="one class only"):
        SCGLDK().fit(X, np.zeros(24, dtype=int))
    with pytest.raises(ParameterError, match="needs labels"):
        SCGLDK(gamma="loo").fit(X, side_information=side)
    with pytest.raises(ValueError, match="1 sample"):
        SCGLDK().fit(X[:1], side_information=side)


@pytest.mark.parametrize("form", ["labels", "matrix"])
def test_a_gamma_beyond_double_precision_is_reported(samples, form):
    X, _ = samples
    side = sides(np.random.default_rng(2), 24)[form]
    with pytest.warns(ConvergenceWarning, match=r"satisfies its equation to .* only"):
        learner = SCGLDK("poly(degree=9)", 100.0).fit(100.0 * X, side_information=side)
    assert learner.solver_report_.residual > 1e-6
    with pytest.raises(DataError, match="overflows"):
        SCGLDK("linear", 1e308).fit(100.0 * X, side_information=side)


@pytest.mark.parametrize(("gamma", "matrices"), [(1.0, 5), ("loo", 13)])
def test_an_exact_fit_beyond_the_memory_budget_is_told_and_auto_takes_landmarks(gamma, matrices):
    X = np.random.default_rng(0).normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(int)
    kr.make_solver("scg-ldk", gamma=gamma, strategy="exact").fit(X[:30], y[:30])  # imports and compiled code
    machine = kr.make_solver("scg-ldk", gamma=gamma, strategy="exact")
    with kr.config_context(memory=5_000_000):
        tracemalloc.start()
        try:
            with pytest.warns(MemoryBudgetWarning, match="strategy='exact' with 400 samples needs about") as heard:
                machine.fit(X, y)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert heard[0].filename == __file__
        assert most <= 1.25 * 8 * matrices * 400**2
        assert kr.make_solver("scg-ldk", gamma=1.0).fit(X, y).solver_report_.strategy == "lowrank"
