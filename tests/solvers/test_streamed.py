"""Solvers on samples that stay on disk: the same models as from arrays, within the memory budget."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from process_engine import ProcessEngine
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.engine.sources.base import ArrayRows
from kernreg.errors import ApproximationWarning, DataError, MemoryBudgetError
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, CrossConformalClassifier

rng = np.random.default_rng(11)
X = rng.normal(size=(6000, 5))
y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int) + (X[:, 2] > 1.2)
target = np.sin(X).sum(axis=1)
BUDGET = 150_000  # of samples of 240 kB


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return kr.open_samples(tmp_path / "x.npy")


@pytest.fixture
def reads(source, monkeypatch):
    """The numbers of rows that were read at once."""
    sizes, original = [], type(source).read

    def read(self, start, stop):
        sizes.append(stop - start)
        return original(self, start, stop)

    monkeypatch.setattr(type(source), "read", read)
    return sizes


LOW_RANK = [
    ("ls-svm(strategy='lowrank', n_landmarks=30)", y),
    ("ls-svm(kernel='rbf(sigma=2.0)', gamma='loo', strategy='lowrank', n_landmarks=30, landmarks='leverage')", y),
    ("ls-svm(kernel='tanh(c=0.1)', gamma=2.0, strategy='lowrank', n_landmarks=30, landmarks='entropy')", y),
    ("ls-svr(kernel='laplacian', gamma='scale', strategy='lowrank', n_landmarks=30, landmarks='kmeans++')", target),
    ("ls-svm(kernel='rbf(sigma=2.0)', gamma=2.0, strategy='sketched', n_landmarks=30)", y),
    ("ask-lsr(kernel='tl1', gamma=2.0, strategy='sketched', n_landmarks=30)", target),
    ("ask-ls(kernel='tl1', gamma=[0.5, 2.0], strategy='lowrank', n_landmarks=30)", y),
    ("ask-lsr(kernel='add(left=\"rbf\", right=\"linear\")', gamma=2.0, strategy='lowrank', n_landmarks=30)", target),
]


@pytest.mark.parametrize(("spec", "labels"), LOW_RANK, ids=[spec for spec, _ in LOW_RANK])
def test_low_rank_fits_and_predictions_are_those_of_the_array(source, reads, spec, labels):
    expected, model = kr.make_solver(spec).fit(X, labels), kr.make_solver(spec)
    reads.clear()
    if "landmarks='" in spec:  # candidates are held, which are all samples here
        model.fit(source, labels)
    else:
        with kr.config_context(memory=4 * BUDGET):
            model.fit(source, labels)
        assert max(reads) <= 2048
    assert "in blocks" in model.solver_report_.note
    assert model.n_features_in_ == 5
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-5, atol=1e-7)
    assert np.array_equal(model.landmarks_, expected.landmarks_)
    for name, values in expected.decision_views(X).items():
        np.testing.assert_allclose(model.decision_views(source)[name], values, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.predict(source), expected.predict(X), rtol=1e-6, atol=1e-7)
    if "loo" in spec:
        assert model.gamma_ == pytest.approx(expected.gamma_)
        np.testing.assert_allclose(model.predict_proba(source), expected.predict_proba(X), atol=1e-6)


def test_weights_of_zero_leave_rows_out_without_reading_them(source, reads):
    weights = rng.integers(0, 3, size=len(X)).astype(float)
    expected = LSSVC(strategy="lowrank", n_landmarks=30).fit(X, y, sample_weight=weights)
    reads.clear()
    with kr.config_context(memory=4 * BUDGET):
        model = LSSVC(strategy="lowrank", n_landmarks=30).fit(source, y, sample_weight=weights)
    assert max(reads) <= 2048
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-6, atol=1e-9)


def test_pairs_of_sources(source, tmp_path):
    other = X[:, ::-1] + 0.1
    np.save(tmp_path / "z.npy", other)
    second = kr.open_samples(tmp_path / "z.npy")
    options = {"kernel": "rbf(sigma=3.0)", "gamma": 1.0, "strategy": "lowrank", "n_landmarks": 30}
    expected, model = AsKLSClassifier(**options).fit((X, other), y), AsKLSClassifier(**options).fit((source, second), y)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-6, atol=1e-9)


def test_sparse_parts(tmp_path):
    S = sp.csr_array(X * (rng.random(X.shape) < 0.4))
    for number, start in enumerate(range(0, 6000, 2500)):
        sp.save_npz(tmp_path / f"{number}.npz", S[start : start + 2500])
    parts = kr.open_samples(tmp_path)
    expected = LSSVC(strategy="lowrank", n_landmarks=30).fit(S, y)
    model = LSSVC(strategy="lowrank", n_landmarks=30).fit(parts, y)
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-6, atol=1e-9)
    assert np.array_equal(model.predict(parts), expected.predict(S))


@pytest.mark.parametrize(
    "spec",
    [
        "nystrom(kernel='rbf', n_components=3, n_landmarks=60)",
        "nystrom(kernel='rbf', n_components=3, n_landmarks=60, landmarks='leverage')",
        "nystrom(kernel='sne(sigma=2.0)', n_components=3, n_landmarks=90, normalizers='estimate')",
        "nystrom(kernel='sne(sigma=2.0)', n_components=3, n_landmarks=90, normalizers='exact')",
    ],
)
def test_nystrom_is_that_of_the_array(source, spec):
    expected, model = kr.make_solver(spec).fit(X), kr.make_solver(spec).fit(source)
    np.testing.assert_allclose(model.singular_values_, expected.singular_values_, rtol=1e-8)
    for got, wanted in (
        (model.left_scores_, expected.left_scores_),
        (model.transform(source), expected.transform(X)),
        (model.transform_right(source), expected.transform_right(X)),
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize(
    "spec",
    [
        "ls-svm(gamma=1.0)",
        "ls-svm(gamma=1.0, strategy='iterative')",
        "ask-ls(kernel='sne', gamma=1.0, strategy='lowrank', n_landmarks=30)",
        "kpca(n_components=3)",
        "ksvd(kernel='sne', n_components=3)",
    ],
)
def test_other_fits_read_all_samples_where_they_fit_and_say_so(source, tmp_path, spec):
    np.save(tmp_path / "small.npy", X[:300])
    small = kr.open_samples(tmp_path / "small.npy")
    expected, model = kr.make_solver(spec).fit(X[:300], y[:300]), kr.make_solver(spec).fit(small, y[:300])
    assert f"samples read from {tmp_path / 'small.npy'} into memory (12.0 kB)" in model.solver_report_.note
    method = "predict" if hasattr(model, "predict") else "transform"
    wanted = getattr(expected, method)(X)
    np.testing.assert_allclose(getattr(model, method)(source), wanted, rtol=1e-6, atol=1e-7)
    with (
        kr.config_context(memory=BUDGET),
        pytest.raises(MemoryBudgetError, match=r"needs all samples at once.*lowrank"),
    ):
        kr.make_solver(spec.replace("gamma=1.0)", "gamma=1.0, strategy='exact')")).fit(source, y)


def test_auto_takes_landmarks_where_samples_do_not_fit(source, reads):
    with kr.config_context(memory=BUDGET), pytest.warns(ApproximationWarning, match="landmarks are used instead"):
        model = LSSVC(gamma=1.0).fit(source, y)
    assert model.solver_report_.strategy == "lowrank"
    assert max(reads) <= 4096


def test_predictions_are_made_window_by_window(source, reads):
    model = LSSVR(kernel="rbf(sigma=2.0)", gamma=1.0).fit(X[:100], target[:100])
    with kr.config_context(memory=BUDGET):
        found = model.predict(source)
        assert max(reads) == 4096
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-10)
    views = model.decision_views(source)
    np.testing.assert_allclose(views["decision"], found)


def test_wrong_samples_are_refused_as_arrays_are(source, tmp_path):
    model = LSSVC(strategy="lowrank", n_landmarks=30)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(source, y[:-1])
    np.save(tmp_path / "narrow.npy", X[:, :3])
    with pytest.raises(ValueError, match="3 features, but LSSVC is expecting 5"):
        model.fit(source, y).predict(kr.open_samples(tmp_path / "narrow.npy"))
    broken = X.copy()
    broken[4500, 1] = np.inf
    np.save(tmp_path / "broken.npy", broken)
    source = kr.open_samples(tmp_path / "broken.npy")
    with pytest.raises(DataError, match=r"broken\.npy, in the block of rows \d+ to \d+: .*NaN or infinity"):
        LSSVC("rbf(sigma=2.0)", 1.0, strategy="lowrank", n_landmarks=30).fit(
            kr.open_samples(tmp_path / "broken.npy"), y
        )


def test_chains_stream_through_their_steps(source, reads):
    spec = "ls-svm(kernel='rbf(sigma=2.0)', gamma=1.0, strategy='lowrank', n_landmarks=30)"
    expected = kr.make_chain(StandardScaler(), spec).fit(X, y)
    reads.clear()
    with kr.config_context(memory=BUDGET):
        model = kr.make_chain(StandardScaler(), spec).fit(source, y)
        found = model.predict(source)
        assert max(reads) <= 4096
    np.testing.assert_allclose(model.steps_[0][1].mean_, X.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(model.steps_[1][1].dual_coef_, expected.steps_[1][1].dual_coef_, rtol=1e-5, atol=1e-8)
    assert np.array_equal(found, expected.predict(X))
    embedded = kr.make_chain("nystrom(kernel='rbf', n_components=3, n_landmarks=50)", "ls-svm(gamma=1.0)")
    embedded.set_params(lssvm__strategy="lowrank", lssvm__n_landmarks=20).fit(source, y)
    assert np.mean(embedded.predict(source) == y) > 0.5


class Sliced:
    """A table that knows slices only, as many that are read from disk."""

    def __init__(self, table):
        self.shape, self.dtype, self._table = table.shape, table.dtype, table

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        return self._table[rows]


@pytest.mark.parametrize("wrap", [ArrayRows, Sliced])
@pytest.mark.parametrize(
    "make",
    [
        lambda: kr.make_chain(kr.parallel("ls-svm", "ask-ls(kernel='sne(sigma=2.0)')"), "stack", kernel="rbf"),
        lambda: kr.make_chain("scg-ldk", "ask-ls", "average", kernel="rbf(sigma=1.5)"),
        lambda: CrossConformalClassifier("ls-svm", cv=3),
    ],
)
def test_folds_are_taken_from_sources(wrap, make):
    few, labels = X[:90], (y[:90] > 0).astype(int)
    expected = make().fit(few, labels)
    found = make().fit(wrap(few), labels)
    assert np.array_equal(found.predict(few), expected.predict(few))
    if hasattr(found, "folds_"):
        assert np.array_equal(found.predict_set(few), expected.predict_set(few))


def test_searches_of_scikit_learn_take_sources(source):
    machine = LSSVC("rbf", strategy="lowrank", n_landmarks=20)
    assert np.array_equal(cross_val_score(machine, source, y, cv=3), cross_val_score(machine, X, y, cv=3))


def test_another_engine_fits_and_predicts_from_sources(source):
    spec = "ls-svm(kernel='rbf(sigma=2.0)', gamma=1.0, strategy='lowrank', n_landmarks=30)"
    expected = kr.make_solver(spec).fit(X, y)
    with ProcessEngine(workers=2) as engine, kr.config_context(engine=engine):
        model = kr.make_solver(spec).fit(source, y)
        found = model.predict(source)
        assert engine.calls > 0
    np.testing.assert_allclose(model.dual_coef_, expected.dual_coef_, rtol=1e-8)
    assert np.array_equal(found, expected.predict(X))
