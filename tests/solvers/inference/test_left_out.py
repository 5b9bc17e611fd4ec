"""Models without one sample equal refits without it: textbook systems, solved once for each sample."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg.errors import DataError, ParameterError
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor

M, N = 30, 8


def textbook_ls_svm(K, Y, gamma, weights):
    m = len(K)
    A = np.block([[K + np.diag(1 / (gamma * weights)), np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    z = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return z[:m], z[-1]


def textbook_ask_ls(K, Y, gamma, weights):
    m = len(K)
    D, one, zero = np.diag(1 / (gamma * weights)), np.ones((m, 1)), np.zeros((m, 1))
    A = np.block(
        [[D, K, one, zero], [K.T, D, zero, one], [one.T, zero.T, np.zeros((1, 2))], [zero.T, one.T, np.zeros((1, 2))]]
    )
    z = np.linalg.solve(A, np.vstack([Y, Y, np.zeros((2, Y.shape[1]))]))
    return z[:m], z[m : 2 * m], z[-2], z[-1]


def matrix(kind, rng):
    """A matrix between M + N samples."""
    B = rng.normal(size=(M + N, M + N))
    if kind == "definite":
        X = rng.normal(size=(M + N, 3))
        return np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 4)
    return (B + B.T) / 6 if kind == "indefinite" else B / 5


def refits(K, Y, gamma, weights, symmetric):
    """f⁽⁻ⁱ⁾ of the new samples, (N, M, outputs) by view, and at x_i, (M, outputs)."""
    names = ("decision",) if symmetric else ("source", "target")
    new = {name: np.empty((N, M, Y.shape[1])) for name in names}
    own = {name: np.empty((M, Y.shape[1])) for name in names}
    for i in range(M):
        rest = np.delete(np.arange(M), i)
        inner, rows, columns = K[np.ix_(rest, rest)], K[:, rest], K[rest].T
        if symmetric:
            a, b = textbook_ls_svm(inner, Y[rest], gamma, weights[rest])
            f = {"decision": rows @ a + b}
        else:
            a, c, b1, b2 = textbook_ask_ls(inner, Y[rest], gamma, weights[rest])
            f = {"source": rows @ c + b1, "target": columns @ a + b2}
        for name, values in f.items():
            new[name][:, i], own[name][i] = values[M:], values[i]
    return new, own


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(
    ("machine", "kind"),
    [(LSSVR, "definite"), (LSSVR, "indefinite"), (AsKLSRegressor, "asymmetric"), (AsKLSRegressor, "indefinite")],
)
def test_models_without_one_sample_equal_refits(machine, kind, outputs, weighted):
    rng = np.random.default_rng(5)
    K, Y = matrix(kind, rng), rng.normal(size=(M, outputs))
    weights = 0.2 + rng.random(M) if weighted else np.ones(M)
    gamma = 0.7
    model = machine(kernel=precomputed(K=K), gamma=gamma)
    model.fit(np.arange(M), Y[:, 0] if outputs == 1 else Y, sample_weight=weights if weighted else None)
    left_out = model.left_out_views(np.arange(M, M + N))
    new, _ = refits(K, Y, gamma, weights, symmetric=machine is LSSVR)
    for name, expected in new.items():
        assert left_out[name].shape == ((N, M) if outputs == 1 else (N, M, outputs))
        np.testing.assert_allclose(left_out[name].reshape(expected.shape), expected, atol=1e-9)


def ranks(values, alpha):
    """The interval as Barber et al. print it, for one new sample: values are (predictions, residuals)."""
    mu, r = values
    m = len(r)
    low, high = np.sort(mu - r), np.sort(mu + r)
    first, last = int(np.floor(alpha * (m + 1) + 1e-9)), int(np.ceil((1 - alpha) * (m + 1) - 1e-9))
    return (low[first - 1] if first >= 1 else -np.inf), (high[last - 1] if last <= m else np.inf)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.99])
@pytest.mark.parametrize("ensembler", ["average", "source", "target"])
def test_intervals_of_refits(ensembler, coverage):
    rng = np.random.default_rng(1)
    K, Y = matrix("asymmetric", rng), rng.normal(size=(M, 2))
    model = AsKLSRegressor(kernel=precomputed(K=K), gamma=0.7, ensembler=ensembler).fit(np.arange(M), Y)
    found = model.predict_interval(np.arange(M, M + N), coverage)
    new, own = refits(K, Y, 0.7, np.ones(M), symmetric=False)
    share = {"average": 0.5, "source": 1.0, "target": 0.0}[ensembler]
    mu = share * new["source"] + (1 - share) * new["target"]
    r = np.abs(Y - share * own["source"] - (1 - share) * own["target"])
    assert found.shape == (N, 2, 2)
    for n in range(N):
        for c in range(2):
            np.testing.assert_allclose(found[n, c], ranks((mu[n, :, c], r[:, c]), 1 - coverage), atol=1e-9)
    by_view = model.predict_interval(np.arange(M, M + N), coverage, view="target")
    for n in range(N):
        r_t = np.abs(Y[:, 1] - own["target"][:, 1])
        np.testing.assert_allclose(by_view[n, 1], ranks((new["target"][n, :, 1], r_t), 1 - coverage), atol=1e-9)


def test_a_weight_counts_as_often_as_it_says():
    rng = np.random.default_rng(3)
    X, new = rng.normal(size=(40, 2)), rng.normal(size=(5, 2))
    y, weights = rng.normal(size=40), rng.integers(1, 5, 40).astype(float)
    model = LSSVR(kernel="rbf(sigma=1.5)", gamma=2.0).fit(X, y, sample_weight=weights)
    found = model.predict_interval(new, 0.8)
    mu, r = model.left_out_views(new)["decision"], np.abs(model.loo_residuals_)
    for n in range(5):
        for side, values in ((0, -(mu[n] - r)), (1, mu[n] + r)):
            order = np.argsort(values)
            share = np.cumsum(weights[order]) / (weights.sum() + weights.mean())
            expected = values[order][np.flatnonzero(share >= 0.8 - 1e-12)[0]]
            np.testing.assert_allclose(found[n, side], -expected if side == 0 else expected, atol=1e-12)
    scaled = LSSVR(kernel="rbf(sigma=1.5)", gamma=0.2).fit(X, y, sample_weight=10 * weights)
    np.testing.assert_allclose(scaled.predict_interval(new, 0.8), found, atol=1e-9)


def test_too_few_samples_for_a_coverage_give_infinite_intervals():
    X, y = np.arange(9.0)[:, None], np.arange(9.0)
    model = LSSVR(kernel="rbf(sigma=3.0)").fit(X, y)
    assert np.isinf(model.predict_interval(X[:2], 0.95)).all()
    assert np.isfinite(model.predict_interval(X[:2], 0.9)).all()


def refitted_scores(machine, X, y, new, classes):
    """s⁽⁻ⁱ⁾(x, c) of the new samples and of each training sample for its own class, by refitting."""
    scores, own = np.empty((len(new), len(y), len(classes))), np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        f = machine().fit(X[rest], y[rest]).decision_function(np.vstack([new, X[i : i + 1]]))
        f = np.column_stack([-f, f]) if f.ndim == 1 else f
        s = np.stack([np.delete(f, c, axis=1).max(axis=1) - f[:, c] for c in range(len(classes))], axis=1)
        scores[:, i], own[i] = s[:-1], s[-1, np.flatnonzero(classes == y[i])[0]]
    return scores, own


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda: LSSVC(kernel="rbf(sigma=1.5)", gamma=3.0),
        lambda: LSSVC(kernel="rbf(sigma=1.5)", gamma=3.0, multi_class="one-vs-one"),
        lambda: LSSVC(kernel="tl1(rho=3.0)", gamma=0.3),
        lambda: AsKLSClassifier(kernel="laplacian(sigma=1.5)", gamma=0.6),
    ],
    ids=["ls-svm", "one-vs-one", "indefinite", "ask-ls"],
)
def test_prediction_sets_of_refits(make, count):
    rng = np.random.default_rng(0)
    y = np.array(list("abc"[:count]) * 9)
    X = rng.normal(size=(len(y), 2)) + 1.2 * (y[:, None] == np.array(["a", "b"]))
    new = rng.normal(size=(12, 2)) + 0.6
    clf = make().fit(X, y)
    scores, own = refitted_scores(make, X, y, new, clf.classes_)
    for coverage in (0.6, 0.8, 0.9):
        found = clf.predict_set(new, coverage)
        expected = (own[:, None] >= scores - 1e-9).sum(axis=1) + 1 > (1 - coverage) * (len(y) + 1) + 1e-9
        assert found.tolist() == expected.tolist()
        filled = clf.predict_set(new, coverage, allow_empty=False)
        assert filled.any(axis=1).all()
        assert (filled >= found).all()
        assert filled[found.any(axis=1)].tolist() == found[found.any(axis=1)].tolist()


def test_sets_of_several_columns_of_labels_are_those_of_each_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = (X[:, :2] + 0.7 * rng.normal(size=(60, 2)) > 0).astype(int)
    both = LSSVC(kernel="rbf(sigma=2.0)").fit(X[:50], Y[:50]).predict_set(X[50:], 0.8)
    for number, sets in enumerate(both):
        alone = LSSVC(kernel="rbf(sigma=2.0)").fit(X[:50], Y[:50, number]).predict_set(X[50:], 0.8)
        assert sets.tolist() == alone.tolist()


def test_what_has_no_models_without_one_sample_says_what_has():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    with pytest.raises(ParameterError, match="CrossConformalRegressor"):
        LSSVR(strategy="lowrank", n_landmarks=10).fit(X, y).predict_interval(X)
    with pytest.raises(ParameterError, match="CrossConformalClassifier"):
        LSSVC(strategy="iterative").fit(X, y > 0).predict_set(X)
    K = np.diag(np.ones(6))  # every singular value of the centred matrix is 1
    damped = AsKLSRegressor(kernel=precomputed(K=K), gamma=1.0, on_pole="damp").fit(np.arange(6), np.arange(6.0))
    with pytest.raises(ParameterError, match="damped"):
        damped.predict_interval(np.arange(6))
    with pytest.raises(ParameterError, match="between 0 and 1"):
        LSSVR().fit(X, y).predict_interval(X, 90)
    with pytest.raises(ParameterError, match="view"):
        AsKLSRegressor().fit(X, y).predict_interval(X, view="decision")
    with pytest.raises(DataError, match="at least 2"):
        LSSVR().fit(X[:1], y[:1]).predict_interval(X)


def test_a_refit_forgets_the_models_of_the_earlier_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = LSSVR(kernel="rbf(sigma=2.0)").fit(X, y)
    first = model.predict_interval(X[:3])
    model.fit(X[:30], y[:30])
    again = LSSVR(kernel="rbf(sigma=2.0)").fit(X[:30], y[:30])
    assert not np.allclose(model.predict_interval(X[:3]), first)
    assert model.predict_interval(X[:3]).tolist() == again.predict_interval(X[:3]).tolist()


def test_float32_and_sparse_samples_and_few_rows_at_once(monkeypatch):
    import scipy.sparse as sp

    from kernreg.solvers.inference import left_out

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)).astype(np.float32), rng.normal(size=50)
    whole = LSSVR(kernel="rbf(sigma=2.0)").fit(X, y).predict_interval(X)
    sparse = LSSVR(kernel="rbf(sigma=2.0)").fit(sp.csr_matrix(X), y).predict_interval(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse, whole, atol=1e-4)
    monkeypatch.setattr(left_out, "_BLOCK", 1000.0)
    np.testing.assert_allclose(LSSVR(kernel="rbf(sigma=2.0)").fit(X, y).predict_interval(X), whole, atol=1e-5)
