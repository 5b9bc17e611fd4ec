"""Whatever solvers evaluate, they evaluate by the configured engine: here one of processes that share nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from process_engine import ProcessEngine

import kernreg as kr
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.kernels import centered, compose, spectrum, symmetrize
from kernreg.kernels.builtin import laplacian, linear, rbf, sne
from kernreg.solvers import LSSVC
from kernreg.testing.engines import ENGINE_LAWS, EngineCase

rng = np.random.default_rng(5)
y = np.repeat([0, 1], 330)
X = rng.normal(size=(660, 4)) + y[:, None]
NEW = rng.normal(size=(70, 4)) + 0.5
target = np.sin(X).sum(axis=1)


@pytest.fixture(scope="module")
def engine():
    with ProcessEngine(workers=2) as made:
        yield made


@pytest.fixture
def evaluated(monkeypatch):
    """Shapes of the blocks that this process has filled."""
    shapes = []
    whole = BlockFiller.__init__

    def remember(self, program, X, Z):
        shapes.append((program.name, X.shape[0], Z.shape[0]))
        whole(self, program, X, Z)

    monkeypatch.setattr(BlockFiller, "__init__", remember)
    return shapes


@pytest.mark.parametrize("law", ENGINE_LAWS.laws[:-1], ids=lambda law: law.name)
def test_laws_hold(engine, law):
    law(EngineCase(engine))


def test_closing_stops_the_processes():
    ENGINE_LAWS.laws[-1](EngineCase(ProcessEngine))


def results(model, new):
    """Return what a fitted model says about new samples."""
    found = [np.asarray(getattr(model, name)(new)) for name in ("predict", "transform") if hasattr(model, name)]
    if hasattr(model, "decision_views"):
        found += list(model.decision_views(new).values())
    if hasattr(model, "transform_right"):
        found.append(model.transform_right(new))
    return found


SOLVERS = [
    ("ls-svm(kernel='rbf(sigma=3.0)', gamma=2.0)", y),
    ("ls-svm(kernel='rbf', gamma='loo')", y),
    ("ls-svm(kernel='rbf(sigma=3.0)', gamma=2.0, strategy='iterative')", y),
    ("ls-svm(kernel='rbf(sigma=3.0)', gamma='loo', strategy='lowrank', n_landmarks=40, landmarks='leverage')", y),
    ("ls-svm(kernel='tanh(c=0.1)', gamma=2.0, strategy='lowrank', n_landmarks=40, landmarks='entropy')", y),
    ("ls-svr(kernel='laplacian(sigma=3.0)', gamma=2.0, strategy='lowrank', n_landmarks=40)", target),
    ("ls-svr(kernel='rbf(sigma=3.0)', gamma=2.0, strategy='iterative')", target),
    ("ask-ls(kernel='sne(sigma=2.0)', gamma=2.0)", y),
    ("ask-ls(kernel='sne(sigma=2.0)', gamma=2.0, strategy='iterative')", y),
    ("ask-ls(kernel='sne(sigma=2.0)', gamma=[0.5, 2.0], strategy='lowrank', n_landmarks=40)", y),
    ("ask-lsr(kernel='t', gamma=2.0, strategy='lowrank', n_landmarks=40)", target),
    ("kpca(kernel='rbf(sigma=3.0)', n_components=4)", None),
    ("kpca(kernel='rbf(sigma=3.0)', n_components=4, eigen_solver='operator')", None),
    ("ksvd(kernel='sne(sigma=2.0)', n_components=3)", None),
    ("ksvd(kernel='sne(sigma=2.0)', n_components=3, svd_solver='operator')", None),
    ("nystrom(kernel='rbf(sigma=3.0)', n_components=3, n_landmarks=60)", None),
    ("nystrom(kernel='sne(sigma=3.0)', n_components=3, n_landmarks=90, normalizers='exact')", None),
    ("nystrom(kernel='sne(sigma=3.0)', n_components=3, n_landmarks=90, normalizers='estimate')", None),
    ("nystrom(kernel='tl1(rho=9.0)', n_components=3, n_landmarks=60, landmarks='leverage')", None),
    ("scg-ldk(kernel='rbf(sigma=3.0)', gamma=1.0)", y),
    ("scg-ldk(kernel='rbf(sigma=3.0)', gamma=1.0, strategy='lowrank', n_landmarks=40)", y),
]


@pytest.mark.parametrize(("spec", "labels"), SOLVERS, ids=[spec for spec, _ in SOLVERS])
def test_fits_and_predictions_go_through_the_engine_and_agree(engine, evaluated, spec, labels):
    here = kr.make_solver(spec).fit(X, labels)
    expected = results(here, NEW)
    evaluated.clear()
    with kr.config_context(engine=engine):
        before = engine.calls
        there = kr.make_solver(spec).fit(X, labels)
        fitted = engine.calls
        found = results(there, NEW)
    assert fitted > before
    assert engine.calls > fitted
    assert evaluated == []  # not one kernel value was computed in this process
    for got, wanted in zip(found, expected, strict=True):
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7 * np.abs(wanted).max())
        else:
            assert np.array_equal(got, wanted)


def test_samples_of_a_fit_travel_once(engine):
    with kr.config_context(engine=engine):
        before = engine.placed
        fit = kr.make_solver("ls-svm(kernel='rbf(sigma=3.0)', gamma='loo', strategy='lowrank', n_landmarks=40)")
        fit.fit(X, y)
    # The samples, and those of the landmarks: for W, for moments and for leave-one-out; some to look at symmetry.
    assert engine.placed - before <= 4
    with kr.config_context(engine=engine):
        before, shipped = engine.rows, engine.shipped
        kr.make_solver("ls-svm(kernel='rbf(sigma=3.0)', gamma=2.0, strategy='iterative', max_iter=50)").fit(X, y)
    assert engine.rows - before < 2 * len(X)  # the samples, and pivots of the preconditioner as they are drawn
    tasks = 8 * X.size  # bytes of the samples
    assert engine.shipped > shipped
    assert engine.shipped - shipped < 60 * tasks  # right-hand sides only: one vector for a task


@pytest.mark.parametrize(
    "kernel",
    [
        rbf(sigma=2.0),
        sne(sigma=2.0).bind(X),
        sne(sigma=2.0).bind(X).T,
        rbf(sigma=2.0) * linear() + 2.0 * laplacian(sigma=3.0),
        symmetrize(sne(sigma=2.0), "left").bind(X),
        symmetrize(sne(sigma=2.0), "right").bind(X),
        symmetrize(sne(sigma=2.0)).bind(X),
        centered(rbf(sigma=2.0)).bind(X),
        spectrum("tl1(rho=5.0)", "clip").bind(X),
        spectrum("tl1(rho=5.0)", "shift").bind(X),
        compose(linear(), np.tanh) + rbf(sigma=2.0),
        rbf(sigma=2.0) ** 2,
    ],
    ids=repr,
)
def test_kernels_of_all_kinds_agree(engine, evaluated, kernel):
    pairs = [(X, None), (NEW, X), (X, NEW)]
    expected = [kernel(*pair) for pair in pairs]
    V = np.random.default_rng(0).normal(size=(660, 3))
    evaluated.clear()
    with kr.config_context(engine=engine):
        for (left, right), K in zip(pairs, expected, strict=True):
            scale = np.abs(K).max()
            np.testing.assert_allclose(kernel(left, right), K, rtol=1e-11, atol=1e-11 * scale)
            operator = kernel.operator(left, right)
            columns, rows = V[: K.shape[1]], V[: K.shape[0]]
            np.testing.assert_allclose(operator @ columns, K @ columns, rtol=1e-9, atol=1e-10 * scale * len(columns))
            np.testing.assert_allclose(operator.T @ rows, K.T @ rows, rtol=1e-9, atol=1e-10 * scale * len(rows))
            product = kernel.product(left, left if right is None else right, columns)
            np.testing.assert_allclose(product, K @ columns, rtol=1e-9, atol=1e-10 * scale * len(columns))
    assert evaluated == []


def test_sparse_and_float32_samples_agree(engine):
    S = sp.csr_array(X * (np.random.default_rng(1).random(X.shape) < 0.3))
    F = X.astype(np.float32)
    with kr.config_context(engine=engine):
        sparse, single = rbf(sigma=2.0)(S), rbf(sigma=2.0)(F)
        model = LSSVC("rbf(sigma=3.0)", strategy="iterative").fit(S, y)
    np.testing.assert_allclose(sparse, rbf(sigma=2.0)(S), rtol=1e-12)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, rbf(sigma=2.0)(F), rtol=1e-5)
    here = LSSVC("rbf(sigma=3.0)", strategy="iterative").fit(S, y)
    np.testing.assert_allclose(model.decision_function(S), here.decision_function(S), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [sne(sigma=2.0), centered(rbf(sigma=2.0)), spectrum("tl1(rho=5.0)"), symmetrize(sne(sigma=2.0), "left")],
    ids=repr,
)
def test_pickled_kernels_have_what_they_learnt(kernel, evaluated):
    bound = kernel.bind(X)
    K = bound(X[:9], NEW), bound(X, NEW)
    evaluated.clear()
    again = pickle.loads(pickle.dumps(bound))
    assert evaluated == []  # nothing is learnt anew
    assert again == bound
    assert np.array_equal(again(X[:9], NEW), K[0])
    evaluated.clear()
    assert np.array_equal(again(X, NEW), K[1])
    if kernel.name == "sne":
        assert evaluated == [("sne", 660, 70)]  # the normalisers have come along


def test_the_same_bits_on_any_number_of_workers():
    spec = "ls-svm(kernel='rbf(sigma=3.0)', gamma=1.0, strategy='lowrank', n_landmarks=50)"

    def coefficients(workers):
        with ProcessEngine(workers) as engine, kr.config_context(engine=engine, threads=1):
            return kr.make_solver(spec).fit(X, y).dual_coef_

    alone = coefficients(1)
    assert np.array_equal(coefficients(3), alone)
    with kr.config_context(threads=1):
        assert np.array_equal(kr.make_solver(spec).fit(X, y).dual_coef_, alone)
