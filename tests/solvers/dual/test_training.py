"""Training sets: sizes of kernel values, weights, sources, and what is refused; and which strategy a fit takes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import kernreg as kr
from kernreg.engine.dispatch import current_engine
from kernreg.errors import (
    DataError,
    GridEndWarning,
    MemoryBudgetError,
    MemoryBudgetWarning,
    ParameterError,
    UninformativeKernelWarning,
)
from kernreg.kernels.builtin import linear, rbf
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual import matrix_free, sketched, strategy, training
from kernreg.solvers.dual.strategy import Settings, pick, streamed_strategy, why
from kernreg.solvers.dual.training import check_training_set, dense_copy, is_table, training_matrix

rng = np.random.default_rng(8)
X = rng.normal(size=(40, 3))
y = np.arange(40) % 2


@kr.kernel(of="blocks")
def ratio(A, B):
    """The first feature of a sample divided by that of another."""
    with np.errstate(divide="ignore"):
        return A[:, :1] / B[:, 0]


def checked(machine, X, y, weights=None):
    return check_training_set(machine, machine.resolve_kernel(), X, y, weights)


def largest(K, weights=None):
    """The median over rows, each as often as its weight, of the largest magnitude, without rows of zeros."""
    sizes = np.abs(K).max(axis=1)
    counts = np.ones(len(K), dtype=int) if weights is None else weights
    return np.median(np.repeat(sizes, counts)[np.repeat(sizes, counts) > 0.0])


@pytest.mark.parametrize("weights", [None, 1 + np.arange(40) % 3])
def test_the_size_of_kernel_values_with_and_without_the_matrix(weights):
    K = rng.normal(size=(40, 40))
    K[3], K[7, 2] = 0.0, -9.0
    data = checked(AsKLSRegressor(precomputed(K=K)), np.arange(40), X[:, 0], weights)
    assert data.size_of_values(K) == data.size_of_values() == pytest.approx(largest(K, weights))
    pair = checked(AsKLSRegressor("linear"), (X, X[::-1] + 1.0), X[:, 0], weights)
    assert pair.size_of_values() == pytest.approx(largest(X @ (X[::-1] + 1.0).T, weights))
    zeros = checked(LSSVR("linear"), 0.0 * X, X[:, 0], weights)
    assert zeros.size_of_values() == zeros.size_of_values(np.zeros((40, 40))) == 1.0


def test_values_that_are_not_finite_have_no_size():
    K = np.diag([1.0, 2.0, 3.0, np.inf])
    data = checked(AsKLSRegressor(precomputed(K=np.eye(4))), np.arange(4), X[:4, 0])
    assert data.size_of_values(K) == 2.0
    assert data.size_of_values(np.full((4, 4), np.nan)) == 1.0


def test_at_most_some_rows_tell_the_size(monkeypatch):
    monkeypatch.setattr(training, "_ROWS", 5)
    K = np.diag(np.arange(1.0, 12.0))
    data = checked(AsKLSRegressor(precomputed(K=K)), np.arange(11), np.arange(11.0))
    assert data.size_of_values(K) == data.size_of_values() == 6.0  # of rows 0, 2, 5, 7, 10
    five = checked(AsKLSRegressor(precomputed(K=K)), np.arange(5), np.arange(5.0))
    assert five.size_of_values(K[:5, :5]) == 3.0


def test_the_size_of_values_of_a_source_is_that_of_the_array(tmp_path):
    np.save(tmp_path / "x.npy", X)
    kernel = "linear"
    source = kr.open_samples(tmp_path / "x.npy")
    on_disk = checked(LSSVR(kernel, strategy="lowrank"), source, X[:, 0])
    assert on_disk.streamed
    assert "read from" in on_disk.note
    assert on_disk.size_of_values() == pytest.approx(largest(X @ X.T))
    pair = checked(AsKLSRegressor(kernel, strategy="lowrank"), (X, source), X[:, 0])
    assert pair.streamed
    assert not checked(LSSVR(kernel), X, X[:, 0]).streamed


@pytest.mark.parametrize(
    ("asked", "memory", "in_blocks"),
    [
        ("lowrank", 1_000_000, True),
        ("sketched", 1_000_000, True),
        ("auto", 1_000_000, False),
        ("auto", 2 * X.nbytes, False),  # half of the budget is enough
        ("auto", 2 * X.nbytes - 2, True),
        ("exact", 1_000_000, False),
        ("iterative", 1_000_000, False),
    ],
)
def test_sources_are_read_in_blocks_where_landmarks_are_fitted_to_them(tmp_path, asked, memory, in_blocks):
    np.save(tmp_path / "x.npy", X)
    source = kr.open_samples(tmp_path / "x.npy")
    with kr.config_context(memory=memory):
        data = checked(LSSVR("linear", strategy=asked), source, X[:, 0])
    assert data.streamed == in_blocks
    assert ("in blocks" in data.note) == in_blocks
    assert ("into memory" in data.note) != in_blocks


def test_a_kernel_with_a_reference_set_needs_all_samples_of_a_source(tmp_path):
    np.save(tmp_path / "x.npy", X)
    source = kr.open_samples(tmp_path / "x.npy")
    data = checked(AsKLSRegressor("sne(sigma=1.0)", strategy="lowrank"), source, X[:, 0])
    assert not data.streamed
    assert data.note.count("into memory") == 1
    two = checked(AsKLSRegressor("sne(sigma=1.0)", strategy="lowrank"), (X, source), X[:, 0])
    assert isinstance(two.X[0], np.ndarray)
    assert two.note == data.note
    with kr.config_context(memory=100), pytest.raises(MemoryBudgetError, match="the kernel 'sne' needs all samples"):
        checked(AsKLSRegressor("sne(sigma=1.0)", strategy="lowrank"), source, X[:, 0])
    with kr.config_context(memory=100), pytest.raises(MemoryBudgetError, match="strategy='exact' needs all samples"):
        checked(LSSVR("linear", strategy="exact"), source, X[:, 0])


def test_weights_and_how_often_samples_occur():
    machine = LSSVC("rbf(sigma=1.0)", class_weight={0: 3.0, 1: 1.0})
    data = checked(machine, X, y, np.arange(40) % 4)
    kept = np.arange(40) % 4 > 0
    assert data.frequencies.tolist() == (np.arange(40) % 4)[kept].tolist()
    assert data.weights.tolist() == ((np.arange(40) % 4) * np.where(y == 0, 3.0, 1.0))[kept].tolist()
    assert data.y.tolist() == y[kept].tolist()
    assert np.array_equal(data.X, X[kept])
    plain = checked(LSSVC("rbf(sigma=1.0)"), X, y)
    assert (plain.weights, plain.frequencies, plain.note) == (None, None, "")
    without = checked(LSSVC("rbf(sigma=1.0)", class_weight={0: 0.0}), X, np.arange(40) % 3)
    assert without.frequencies.tolist() == [1.0] * 26


def test_balanced_classes_have_the_same_sum_of_weights():
    classes = np.array([0, 0, 0, 1, 2, 2])
    data = checked(LSSVC("rbf(sigma=1.0)", class_weight="balanced"), X[:6], classes, [1.0, 2.0, 3.0, 2.0, 1.0, 0.0])
    assert [data.weights[data.y == c].sum() for c in range(3)] == pytest.approx([3.0] * 3)  # the mean of 6, 2 and 1
    two = checked(LSSVC("rbf(sigma=1.0)", class_weight="balanced"), X[:6], classes, [1.0, 2.0, 3.0, 2.0, 0.0, 0.0])
    assert [two.weights[two.y == c].sum() for c in range(2)] == pytest.approx([4.0] * 2)  # a class left out is no class


def test_pairs_are_for_two_views_and_tuples_of_numbers_are_no_pairs():
    assert isinstance(checked(AsKLSRegressor("linear"), (X, X), X[:, 0]).X, tuple)
    with pytest.raises(DataError, match="X is a pair"):
        checked(LSSVR("linear"), (X, X), X[:, 0])
    with pytest.raises(DataError, match="X is a pair"):
        checked(LSSVR(precomputed(K=np.eye(2))), ([0, 1], [0, 1]), [0.0, 1.0])
    two_indices = checked(LSSVR(precomputed(K=np.eye(3))), (0, 2), [0.0, 1.0])
    assert two_indices.X.ravel().tolist() == [0, 2]
    assert checked(LSSVR("linear"), ([1.0], [2.0], [3.0]), [0.0, 1.0, 2.0]).X.shape == (3, 1)


def test_targets_are_checked_with_samples_that_are_no_table():
    kernel = precomputed(K=np.eye(4))
    with pytest.raises(DataError, match="requires y to be passed"):
        checked(LSSVR(kernel), np.arange(4), None)
    with pytest.raises(ValueError, match="inconsistent"):
        checked(LSSVR(kernel), np.arange(4), np.arange(3.0))
    with pytest.raises(ValueError, match="inconsistent"):
        checked(AsKLSRegressor("linear"), (X, X), np.arange(3.0))
    assert checked(LSSVR(kernel), np.arange(4), np.arange(4)).y.dtype == np.float64
    assert checked(LSSVR(kernel), np.arange(4), np.ones((4, 2), dtype=int)).y.shape == (4, 2)
    assert checked(LSSVC(kernel), np.arange(4), ["a", "b", "a", "b"]).y.tolist() == ["a", "b", "a", "b"]
    table = sp.csr_array(np.array([[0, 1], [1, 0], [1, 1], [0, 0]]))
    assert checked(LSSVC(kernel), np.arange(4), table).y.tolist() == table.toarray().tolist()


def test_labels_in_one_column_are_no_table():
    assert [is_table(t) for t in (np.ones((3, 2)), np.ones((3, 1)), np.ones(3), [[0, 1], [1, 0]])] == [1, 0, 0, 1]
    assert is_table(sp.csr_array(np.ones((3, 1))))
    assert not is_table(np.ones((3, 2, 2)))
    mine = np.arange(3)
    assert dense_copy(mine) is not mine
    assert dense_copy(sp.csr_array(np.eye(2))).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(("size", "fine"), [(1e139, True), (1e150, True), (1e155, False)])
def test_values_whose_squares_overflow_are_refused(size, fine):
    kernel = precomputed(K=size * np.eye(3))
    if fine:
        assert training_matrix(kernel, np.arange(3)[:, None])[0, 0] == size
        return
    with pytest.raises(DataError, match=r"as large as 1e\+155"):
        training_matrix(kernel, np.arange(3)[:, None])


def test_the_matrix_of_a_pair_is_between_its_sides():
    Z = X[:5] + 1.0
    assert np.allclose(training_matrix(linear(), (X[:5], Z)), X[:5] @ Z.T)
    assert np.allclose(training_matrix(rbf(sigma=1.0), X[:5]), rbf(sigma=1.0)(X[:5], X[:5]))
    with pytest.raises(DataError, match="'ratio' is inf between sample 0 of the left and sample 1 of the right"):
        training_matrix(ratio(), (np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]])))


def test_values_have_the_type_of_the_samples_of_both_sides():
    single = X.astype(np.float32)
    assert checked(AsKLSRegressor("linear"), (single, single), X[:, 0]).kernel_dtype() == np.float32
    assert checked(AsKLSRegressor("linear"), (single, X), X[:, 0]).kernel_dtype() == np.float64
    assert checked(LSSVR("linear"), single, X[:, 0]).kernel_dtype() == np.float32


# Settings and strategies -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        *({"tol": t} for t in (1.0, 0.0, -0.1, np.nan, "small")),
        *({"max_iter": n} for n in (0, -1, 1.5, "many")),
        *({"n_landmarks": n} for n in (0, -3, 2.5)),
        *({"max_seconds": s} for s in (0.0, -1.0, np.inf, np.nan)),
    ],
)
def test_settings_out_of_their_range_are_refused(params):
    (name,) = params
    with pytest.raises(ParameterError, match=f"{name}=.* is not accepted"):
        Settings.of(LSSVR(**params))


def test_settings_at_the_ends_of_their_range_are_accepted():
    found = Settings.of(LSSVR(tol=0.999, max_iter=1, n_landmarks=1, max_seconds=1e-300, gamma=[2.0]))
    assert (found.tol, found.max_iter, found.n_landmarks, found.max_seconds) == (0.999, 1, 1, 1e-300)
    assert (found.chooses, found.gammas.tolist()) == (True, [2.0])
    plain = Settings.of(LSSVR(gamma=3.0))
    assert (plain.chooses, plain.gammas.tolist()) == (False, [3.0])
    assert (plain.n_landmarks, plain.max_seconds) == (None, None)
    assert Settings.of(LSSVR(gamma="loo")).gammas is None
    assert Settings.of(LSSVR(gamma="loo")).chooses
    assert Settings.of(LSSVR(gamma="scale")).measured(lambda: 4.0).gamma == 0.25


@pytest.mark.parametrize(("leave_one_out", "matrices"), [(False, 2), (True, 7)])
def test_exact_is_taken_as_long_as_its_matrices_fit(leave_one_out, matrices):
    needed = 8 * 100 * 100 * matrices
    with kr.config_context(memory=needed):
        assert pick("auto", 100, leave_one_out=leave_one_out) == "exact"
        assert pick("exact", 100, leave_one_out=leave_one_out) == "exact"  # a warning fails a test
    with kr.config_context(memory=needed - 1):
        instead = "lowrank" if leave_one_out else "iterative"
        assert pick("auto", 100, leave_one_out=leave_one_out) == instead
        for asked, only in (("exact", ""), ("auto", "on_pole='damp'"), ("exact", "on_pole='damp'")):
            with pytest.warns(MemoryBudgetWarning, match=only or "strategy='exact'"):
                assert pick(asked, 100, leave_one_out=leave_one_out, exact_only=only) == "exact"


def test_as_many_samples_as_iterations_take_are_iterated_on(monkeypatch):
    monkeypatch.setattr(strategy, "_LARGEST_ITERATIVE", 100)
    with kr.config_context(memory=1000):
        assert pick("auto", 100, leave_one_out=False) == "iterative"
        assert pick("auto", 101, leave_one_out=False) == "lowrank"
        assert pick("auto", 100, leave_one_out=True) == "lowrank"


@pytest.mark.parametrize("asked", ["iterative", "blocks", "lowrank", "sketched"])
def test_a_strategy_that_is_asked_for_is_taken_or_refused(asked):
    assert pick(asked, 10, leave_one_out=False) == asked
    with pytest.raises(ParameterError, match=r"on_pole='damp' needs strategy='exact'"):
        pick(asked, 10, leave_one_out=False, exact_only="on_pole='damp'")
    if asked == "lowrank":
        assert pick(asked, 10, leave_one_out=True) == asked
    else:
        with pytest.raises(ParameterError, match="no leave-one-out values"):
            pick(asked, 10, leave_one_out=True)


def test_what_is_said_of_a_strategy():
    assert [streamed_strategy(s) for s in ("auto", "exact", "lowrank", "sketched")] == ["lowrank"] * 3 + ["sketched"]
    assert why("iterative", "iterative", 9) == why("exact", "auto", 9) == why("exact", "exact", 9) == ""
    assert why("iterative", "auto", 9).startswith("strategy 'iterative': 9 samples do not fit the memory budget of 1")
    assert current_engine().fits(0)


@pytest.mark.parametrize(("symmetric", "matrices"), [(True, 12), (False, 33)])
def test_low_rank_systems_beyond_the_budget_are_told(monkeypatch, symmetric, matrices):
    monkeypatch.setattr(matrix_free, "problem_on_landmarks", lambda *_: ((), None))
    machine = LSSVR("linear", 1.0, strategy="lowrank", n_landmarks=500)
    data, needed = checked(machine, X, X[:, 0]), 8 * matrices * 500**2
    with kr.config_context(memory=needed):
        matrix_free.LandmarkSystem(symmetric, data, X[:, :1], Settings.of(machine))
    with kr.config_context(memory=needed - 1), pytest.warns(MemoryBudgetWarning, match="'lowrank' with 500 landmarks"):
        matrix_free.LandmarkSystem(symmetric, data, X[:, :1], Settings.of(machine))


@pytest.mark.parametrize(("symmetric", "matrices"), [(True, 7), (False, 11)])
def test_sketched_systems_beyond_the_budget_are_told(monkeypatch, symmetric, matrices):
    monkeypatch.setattr(sketched, "problem_on_landmarks", lambda *_: ((), None))
    machine = LSSVR("linear", 1.0, strategy="sketched", n_landmarks=500)
    data, needed = checked(machine, X, X[:, 0]), 8 * 500 * (matrices * 500 + 2 * 40)
    with kr.config_context(memory=needed):
        sketched.SketchedSystem(symmetric, data, X[:, :1], Settings.of(machine))
    with kr.config_context(memory=needed - 1), pytest.warns(MemoryBudgetWarning, match="'sketched' with 500 landmarks"):
        sketched.SketchedSystem(symmetric, data, X[:, :1], Settings.of(machine))
    monkeypatch.setattr(sketched, "_ROWS", 60)
    with kr.config_context(memory=8 * 500 * (matrices * 500 + 60)):
        sketched.SketchedSystem(symmetric, data, X[:, :1], Settings.of(machine))


def test_matrices_of_landmarks_that_do_not_fit_are_refused():
    with kr.config_context(memory=8 * 4 * 500**2):
        sketched._require_room(500)
        with pytest.raises(MemoryBudgetError, match="with 501 landmarks holds 4 matrices of 501 × 501"):
            sketched._require_room(501)
    with kr.config_context(memory=1000):
        sketched._require_room(362)  # 4 MB are there
        with pytest.raises(MemoryBudgetError, match="363"):
            sketched._require_room(363)


class Held:
    """A problem on landmarks that remembers which samples were held out."""

    def __init__(self):
        self.asked = []

    def held_out(self, gamma, views, some):
        self.asked.append(some)
        return [some[:, None] + 0.0, -some[:, None] + 0.0]


@pytest.mark.parametrize(
    ("m", "enough", "folds"), [(12, 100, 5), (12, 5, 2), (12, 3, 1), (10, 2, 1), (11, 2, 1), (9, 2, 1), (3, 100, 3)]
)
def test_samples_are_held_out_fold_by_fold_until_they_are_enough(monkeypatch, m, enough, folds):
    monkeypatch.setattr(sketched, "_ENOUGH", enough)
    system = sketched.SketchedSystem.__new__(sketched.SketchedSystem)
    system._Y, system._views, system._names, system._problem = np.zeros((m, 1)), None, ("source", "target"), Held()
    views, rows = system.some_left_out(1.0)
    assert len(system._problem.asked) == folds
    if m >= 5 * enough:
        assert rows.tolist() == [0, m - 1]
    else:
        assert rows.tolist() == [i for number in range(folds) for i in range(number, m, 5)]
    assert views["source"].ravel().tolist() == rows.tolist()
    assert views["target"].ravel().tolist() == (-rows).tolist()


@pytest.mark.parametrize(("some", "rows"), [(6, [0, 1, 2, 3, 4, 5]), (5, [0, 1, 2, 3, 5]), (2, [0, 5])])
def test_of_many_samples_on_landmarks_some_are_left_out(monkeypatch, some, rows):
    monkeypatch.setattr(matrix_free, "_SOME", some)
    asked = []

    def at(gamma, *, loo, some):
        asked.append((gamma, loo, some.tolist()))
        return (SimpleNamespace(loo_residuals=np.ones((len(some), 1))),), None

    system = matrix_free.LandmarkSystem.__new__(matrix_free.LandmarkSystem)
    system._Y, system._names, system._problem = np.arange(6.0)[:, None], ("decision",), SimpleNamespace(at=at)
    views, found = system.some_left_out(2.0)
    assert asked == [(2.0, True, rows)]
    assert found.tolist() == rows
    assert views["decision"].ravel().tolist() == [row - 1.0 for row in rows]


def test_no_leave_one_out_on_landmarks_of_a_single_sample():
    system = matrix_free.LandmarkSystem.__new__(matrix_free.LandmarkSystem)
    system._Y, system._problem = np.zeros((1, 1)), SimpleNamespace(path=lambda gammas: [None] * len(gammas))
    with pytest.raises(DataError, match="n_samples=1"):
        next(system.candidates(np.ones(2)))
    system._Y = np.zeros((2, 1))
    assert [candidate.views for candidate in system.candidates(np.ones(2))] == [None, None]


@pytest.mark.parametrize("machine", [LSSVC, AsKLSClassifier])
def test_probabilities_of_iterations_come_from_folds(monkeypatch, machine):
    fitted, original = [], machine.fit

    def fit(self, X, y, sample_weight=None):
        fitted.append((np.asarray(X), np.asarray(y), sample_weight))
        return original(self, X, y, sample_weight)

    classes = np.append(np.arange(20) % 2, 2)  # of the last class there is one sample, which is in every fit
    weights = np.linspace(0.5, 1.5, 21)
    model = machine("rbf(sigma=1.0)", gamma=1.0, strategy="iterative", class_weight={0: 1.0, 1: 1.0, 2: 1.0})
    model.fit(X[:21], classes, weights)
    monkeypatch.setattr(machine, "fit", fit)
    decisions, held_out = model._held_out_decisions()
    assert sorted(held_out.tolist()) == list(range(20))
    assert decisions.shape == (20, 3)
    assert [len(part[1]) for part in fitted] == [17] * 5
    assert all(np.bincount(part[1]).tolist() == [8, 8, 1] for part in fitted)
    for number, (samples, labels, w) in enumerate(fitted):
        unseen = held_out[4 * number : 4 * number + 4]
        seen = np.setdiff1d(np.arange(21), unseen)
        assert np.array_equal(samples, X[seen])
        assert np.array_equal(labels, classes[seen])
        assert np.array_equal(w, weights[seen])
    monkeypatch.setattr("kernreg.solvers.dual.classifier._ENOUGH", 8)
    assert len(model._held_out_decisions()[1]) == 8
    monkeypatch.setattr("kernreg.solvers.dual.classifier._ENOUGH", 9)
    assert len(model._held_out_decisions()[1]) == 12


def test_a_warning_is_given_just_above_what_is_worth_one():
    from kernreg.linalg import SolveReport
    from kernreg.solvers.dual.machine import _doubt, _doubt_of_left_out
    from kernreg.solvers.dual.solution import DualSolution

    def said(residual=0.0, cancelled=0.0, damped=False, strategy="exact"):
        report = SolveReport(strategy, "lu", 4, 2.0, residual, 7.0, damped=damped)
        return _doubt(DualSolution({}, {}, report, cancelled))

    assert said(9e-7, 9e-7) == ""
    assert "relative residual is 1.1e-06 at gamma=2" in said(1.1e-6)
    assert said(1.1e-6, damped=True) == said(1.1e-6, strategy="iterative") == ""
    assert "relative error of about 1.1e-06" in said(0.0, 1.1e-6)
    assert "coefficients cancel" in said(1.1e-6, 1.1e-6, damped=True)
    assert _doubt_of_left_out(9e-7, 2.0) == _doubt_of_left_out(np.nan, 2.0) == ""
    assert "by 1.1e-06 of the largest" in _doubt_of_left_out(1.1e-6, 2.0)


@pytest.mark.parametrize("machine", [LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor])
def test_warnings_of_a_fit_name_the_line_that_asked_for_it(machine):
    with pytest.warns(GridEndWarning) as heard:
        machine("rbf(sigma=1.0)", gamma=[1e-9, 2e-9, 3e-9]).fit(X, y)
    assert [warning.filename for warning in heard] == [__file__]
    with pytest.warns(UninformativeKernelWarning) as heard:
        machine("rbf(sigma=1e-9)", gamma=0.5).fit(X, y)
    assert [warning.filename for warning in heard] == [__file__]
