"""Machines in cells against plain machines on the same samples, and leave-one-out against refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from process_engine import ProcessEngine
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import kernreg as kr
from kernreg.errors import AsymmetryError, DataError, ParameterError
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, CellsClassifier, CellsRegressor, tune
from kernreg.solvers.cells.alignment import aligned_decision
from kernreg.solvers.cells.running import PILOTS
from kernreg.solvers.cells.search import Fitted, Plan, Trial


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(700, noise=0.25, random_state=0)
    return X[:500], y[:500], X[500:], y[500:]


@pytest.fixture(scope="module")
def three():
    """Three classes, far enough apart that most cells lack one or two."""
    X, y = make_classification(
        400, 5, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, class_sep=2.0, random_state=1
    )
    return X, np.array(["c", "a", "b"])[y]


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (300, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=300)


def test_the_machine_of_a_cell_is_the_plain_one_on_its_samples(moons):
    X, y, new, _ = moons
    model = CellsClassifier(cell_size=130, overlap=0.3, widths=(0.5, 1.0), search="full").fit(X, y)
    cells = model.partition_.route(new)[0][:, 0]
    assert model.partition_.n_cells == 4
    for cell, rows in enumerate(model._rows):
        assert len(rows) == 125 + 38
        plain = tune(LSSVC(gamma="loo"), {"kernel__sigma": ["0.5*scale", "scale"]}, X[rows], y[rows])
        machine = model.solvers_[cell]
        assert machine.gamma_ == pytest.approx(plain.best_params["gamma"])
        assert plain.best_params["kernel__sigma"] == {1.0: "scale", 0.5: "0.5*scale"}[model.factors_[cell]]
        assert machine.loo_score_ == pytest.approx(plain.best_score)
        here = cells == cell
        assert np.allclose(
            model.decision_function(new[here]), plain.best_estimator.decision_function(new[here]), atol=1e-8
        )


@pytest.mark.parametrize("solver", ["ls-svm(gamma=3.0)", "ls-svm(gamma='loo')", "ask-ls"])
def test_one_cell_is_the_plain_solver(moons, solver):
    X, y, new, _ = moons
    X, y = X[:100], y[:100]
    plain = kr.make_solver(solver, kernel="rbf").fit(X, y)
    model = CellsClassifier(solver, "rbf", widths=None, overlap=0.5, n_nearest=2).fit(X, y)
    assert np.array_equal(model.decision_function(new), plain.decision_function(new))
    assert np.array_equal(model.predict(new), plain.predict(new))
    assert np.array_equal(model.predict_proba(new), plain.predict_proba(new))
    assert model.loo_score_ == plain.loo_score_
    views = model.decision_views(new)
    assert views.keys() == plain.decision_views(new).keys()
    assert all(np.array_equal(views[name], view) for name, view in plain.decision_views(new).items())


def test_one_cell_of_regression_is_the_plain_solver(curve):
    X, y = curve
    plain = LSSVR(gamma=5.0).fit(X, y)
    model = CellsRegressor("ls-svr(gamma=5.0)", widths=None).fit(X, y)
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert model.loo_score_ == plain.loo_score_


def without(machine, rows, i):
    """A machine with the same kernel and γ, fitted without sample i; the place of i among its rows."""
    kept = [k for k in range(len(rows)) if rows[k] != i]
    return clone(machine).set_params(kernel=machine.kernel_, gamma=machine.gamma_, strategy="exact"), kept


def test_cells_without_leave_one_out_are_blended_all_the_same(moons):
    X, y, *_ = moons
    model = CellsClassifier(
        "ls-svm(strategy='iterative', gamma=1.0)", "rbf", cell_size=60, widths=None, overlap=0.5, n_nearest=2
    ).fit(X, y)
    exact = CellsClassifier("ls-svm(gamma=1.0)", "rbf", cell_size=60, widths=None, overlap=0.5, n_nearest=2).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-4)
    with pytest.raises(ParameterError, match="has no exact leave-one-out"):
        _ = model.loo_score_


@pytest.mark.parametrize(("overlap", "n_nearest"), [(0.0, 1), (0.4, 1), (0.4, 2), (0.0, 2), (0.4, 3)])
def test_leave_one_out_equals_refits(curve, overlap, n_nearest):
    X, y = curve[0][:90], curve[1][:90]
    model = CellsRegressor(
        cell_size=30, overlap=overlap, n_nearest=n_nearest, widths=(1.0,), search="full", partition="kmeans"
    ).fit(X, y)
    cells, distances = model.partition_.route(X, n_nearest)
    expected = np.empty(len(X))
    for i in range(len(X)):
        values, weights = [], []
        for cell, distance in zip(cells[i], distances[i], strict=True):
            weight = 1.0 if n_nearest == 1 else max(0.0, 1.0 - distance / model._reach[cell])
            rows, machine = model._rows[cell], model.solvers_[cell]
            if i in rows:
                machine, kept = without(machine, rows, i)
                machine.fit(X[rows][kept], y[rows][kept])
            values.append(machine.predict(X[[i]])[0])
            weights.append(weight)
        expected[i] = np.average(values, weights=weights)
    assert np.allclose(model.loo_decision_, expected, atol=1e-8)
    residuals = y - expected
    assert model.loo_score_ == pytest.approx(1.0 - (residuals**2).sum() / ((y - y.mean()) ** 2).sum())


def test_leave_one_out_of_classes_equals_refits(three):
    X, y = three[0][:80], three[1][:80]
    model = CellsClassifier("ls-svm(gamma=2.0)", cell_size=25, overlap=0.2, widths=None).fit(X, y)
    classes = np.array(["a", "b", "c"])
    right = 0
    for i in range(len(X)):
        cell = model.partition_.route(X[[i]])[0][0, 0]
        rows, machine = model._rows[cell], model.solvers_[cell]
        if machine is None:
            predicted = y[rows][0]
        else:
            again, kept = without(machine, rows, i)
            if len(set(y[rows][kept])) == 1:
                predicted = y[rows][kept][0]
            else:
                predicted = again.fit(X[rows][kept], y[rows][kept]).predict(X[[i]])[0]
        right += predicted == y[i]
        assert classes[model.loo_decision_[i].argmax()] == predicted
    assert model.loo_score_ == pytest.approx(right / len(X))


def test_cells_that_lack_classes_are_aligned(three):
    X, y = three
    model = CellsClassifier(cell_size=30, widths=None).fit(X, y)
    counts = [len(set(y[rows])) for rows in model._rows]
    assert {1, 2, 3} == set(counts)  # cells of each kind
    assert model.classes_.tolist() == ["a", "b", "c"]
    decision, probability, cells = model.decision_function(X), model.predict_proba(X), model.partition_.route(X)[0]
    assert np.allclose(probability.sum(axis=1), 1.0)
    assert np.all(probability > 0.0)
    for cell, rows in enumerate(model._rows):
        here, machine, present = cells[:, 0] == cell, model.solvers_[cell], sorted(set(y[rows]))
        columns = np.searchsorted(model.classes_, present)
        absent = np.setdiff1d(np.arange(3), columns)
        assert np.all(decision[here][:, absent] == -1.0)
        assert np.allclose(probability[here][:, absent], 1.0 / (len(rows) + 3))
        if machine is None:
            assert np.all(decision[here][:, columns] == 1.0)
            assert np.all(model.predict(X[here]) == present[0])
        elif len(present) == 2:
            assert np.allclose(decision[here][:, columns[1]], machine.decision_function(X[here]))
            assert np.allclose(decision[here][:, columns[0]], -machine.decision_function(X[here]))
        assert np.array_equal(model.predict(X[here]), model.classes_[decision[here].argmax(axis=1)])
    assert model.solver_report_.constant == counts.count(1)
    assert log_loss(y, probability) < 0.5


def test_an_absent_class_is_what_least_squares_makes_of_it(three):
    """One against the rest with all targets -1 is -1 everywhere."""
    X, y = three
    Y = np.column_stack([np.where(y == c, 1.0, -1.0) for c in "ab"] + [-np.ones(len(y))])
    kept = y != "c"
    whole = LSSVR("rbf(sigma=2.0)", gamma=3.0).fit(X[kept], Y[kept]).predict(X)
    two = LSSVC("rbf(sigma=2.0)", gamma=3.0).fit(X[kept], y[kept]).decision_function(X)
    assert np.allclose(aligned_decision(two, np.array([0, 1]), 3, len(X)), whole)


def test_an_absent_class_never_wins():
    low = np.array([[-5.0, -7.0], [-3.0, -2.0]])
    assert aligned_decision(low, np.array([1, 2]), 4, 2).argmax(axis=1).tolist() == [1, 2]


def test_pilots_find_nearly_what_a_full_search_finds():
    X, y = make_moons(900, noise=0.4, random_state=0)
    X, y, new, labels = X[:600], y[:600], X[600:], y[600:]
    full = CellsClassifier(cell_size=20, overlap=0.5, search="full").fit(X, y)
    quick = CellsClassifier(cell_size=20, overlap=0.5).fit(X, y)
    assert (full.solver_report_.pilots, quick.solver_report_.pilots) == (0, PILOTS)
    assert len(set(quick.factors_[~np.isnan(quick.factors_)])) >= 2
    assert quick.loo_score_ > full.loo_score_ - 0.03
    assert quick.score(new, labels) > full.score(new, labels) - 0.03
    for machine in quick.solvers_:
        assert machine is None or machine.gamma == "loo"  # what was asked for, not what was tried


def test_pilots_of_regression_and_of_asymmetric_kernels(curve):
    X, y = curve
    model = CellsRegressor("ask-lsr", "sne", cell_size=12, widths=(1.0, 2.0, 4.0)).fit(X, y)
    assert model.solver_report_.pilots == PILOTS
    assert len(set(model.factors_)) >= 1
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("partition", ["tree", "kmeans"])
def test_the_number_of_threads_changes_no_bit(moons, partition):
    X, y, new, _ = moons
    model = CellsClassifier(cell_size=40, overlap=0.5, n_nearest=2, partition=partition)
    with kr.config_context(threads=1):
        one = model.fit(X, y).decision_function(new)
    with kr.config_context(threads=4):
        four = clone(model).fit(X, y).decision_function(new)
    assert np.array_equal(one, four)


def test_an_engine_elsewhere_fits_whole_cells(moons):
    X, y, new, _ = moons
    model = CellsClassifier(cell_size=130, overlap=0.2)
    expected = model.fit(X, y).decision_function(new)
    with ProcessEngine() as engine, kr.config_context(engine=engine):
        assert np.allclose(clone(model).fit(X, y).decision_function(new), expected, atol=1e-10)


def test_sparse_samples(three):
    X, y = np.maximum(three[0], 0.0), three[1]
    model = CellsClassifier(cell_size=100, overlap=0.3, n_nearest=2)
    expected = model.fit(X, y).decision_function(X)
    found = clone(model).fit(sp.csr_array(X), y).decision_function(sp.csr_array(X))
    assert np.allclose(found, expected, atol=1e-6)


def test_float32_samples_give_float32_results(moons):
    X, y, new, labels = moons
    model = CellsClassifier(cell_size=130).fit(X.astype(np.float32), y)
    assert model.decision_function(new.astype(np.float32)).dtype == np.float32
    assert model.score(new.astype(np.float32), labels) > 0.9


def test_weights_of_zero_leave_samples_out(moons):
    X, y, new, _ = moons
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    kept = weights > 0
    model = CellsClassifier(cell_size=100, overlap=0.2)
    expected = model.fit(X[kept], y[kept], sample_weight=weights[kept])
    found = clone(model).fit(X, y, sample_weight=weights)
    assert np.array_equal(found.decision_function(new), expected.decision_function(new))
    assert found.loo_score_ == expected.loo_score_
    assert not np.allclose(found.decision_function(new), clone(model).fit(X[kept], y[kept]).decision_function(new))


def test_several_outputs_are_the_outputs_side_by_side(curve):
    X, y = curve
    Y = np.column_stack([y, -2.0 * y + X[:, 0]])
    both = CellsRegressor("ls-svr(gamma=10.0)", cell_size=100, overlap=0.3, n_nearest=2, widths=None).fit(X, Y)
    each = [clone(both).fit(X, column).predict(X) for column in Y.T]
    assert np.allclose(both.predict(X), np.column_stack(each))
    assert both.loo_decision_.shape == Y.shape


def test_blending_makes_borders_vanish(curve):
    X, y = curve
    x = np.linspace(-2.5, 2.5, 4001)
    line = np.column_stack([x, np.zeros_like(x)])
    steps = {}
    for n_nearest in (1, 2):
        model = CellsRegressor(cell_size=60, overlap=0.5, n_nearest=n_nearest, random_state=1).fit(X, y)
        steps[n_nearest] = np.abs(np.diff(model.predict(line))).max()
    assert steps[2] < 0.5 * steps[1]


def test_asymmetric_kernels_and_pairs(three):
    X, y = three
    model = CellsClassifier("ask-ls", "sne", cell_size=120, overlap=0.2, widths=(1.0, 2.0)).fit(X, y)
    assert set(model.decision_views(X)) == {"source", "target"}
    assert model.score(X, y) > 0.9
    pair = CellsClassifier("ask-ls(gamma=1.0)", "rbf", cell_size=120, widths=None).fit((X, X), y)
    assert (pair.predict((X, X)) == y).mean() > 0.9
    plain = AsKLSClassifier("rbf", gamma=1.0).fit(X[pair._rows[0]], y[pair._rows[0]])
    here = pair.partition_.route(np.hstack([X, X]))[0][:, 0] == 0
    assert np.array_equal(pair.predict((X[here], X[here])), plain.predict(X[here]))
    with pytest.raises(DataError, match="fitted to a pair, asked about one set"):
        pair.predict(X)
    with pytest.raises(AsymmetryError, match="ask-ls"):
        CellsClassifier(kernel="sne", cell_size=120).fit(X, y)


def test_a_kernel_that_holds_its_matrix(three):
    X, y = three
    K = kr.make_kernel("rbf(sigma=2.0)")(X)
    model = CellsClassifier("ls-svm(gamma=10.0)", precomputed(K=K), cell_size=100).fit(np.arange(400), y)
    assert model.partition_.n_cells >= 4
    assert model.score(np.arange(400), y) > 0.9
    cells = model.partition_.route(model._sight.features(np.arange(400)[:, None]))[0][:, 0]
    for cell, rows in enumerate(model._rows):
        if model.solvers_[cell] is not None:
            plain = LSSVC("rbf(sigma=2.0)", gamma=10.0).fit(X[rows], y[rows])
            here = np.flatnonzero(cells == cell)
            assert np.array_equal(model.predict(here), plain.predict(X[here]))


def test_features_and_kernels_of_a_chain(three):
    X, y = three
    chain = kr.make_chain("kpca(n_components=3)", "cells(cell_size=120)", kernel="rbf").fit(X, y)
    assert chain.score(X, y) > 0.9
    assert kr.make_chain("cells(cell_size=120)", kernel="laplacian").fit(X, y).steps_[-1][1].kernel_.name == "laplacian"


@pytest.mark.parametrize("name", ["laplacian", "matern", "tl1"])
def test_any_kernel(three, name):
    X, y = three
    assert CellsClassifier(kernel=name, cell_size=120).fit(X, y).score(X, y) > 0.85


def test_any_solver_with_decisions(three):
    X, y = three
    model = CellsClassifier(SVC(), cell_size=120).fit(X, y)
    assert model.score(X, y) > 0.9
    with pytest.raises(ParameterError, match="SVC of cell 0 has no exact leave-one-out"):
        _ = model.loo_score_
    with pytest.raises(ParameterError, match="RandomForestClassifier takes none"):
        CellsClassifier(RandomForestClassifier(), "rbf").fit(X, y)


def test_saved_and_loaded(three, tmp_path):
    X, y = three
    model = CellsClassifier(cell_size=60, overlap=0.3, n_nearest=2).fit(X, y)
    kr.save(model, tmp_path / "model.kern")
    again = kr.load(tmp_path / "model.kern")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.loo_score_ == model.loo_score_
    assert str(again.solver_report_) == str(model.solver_report_)
    again.partition_ = replace(again.partition_, n_cells=2)
    with pytest.raises(ValueError, match="splits of the partition do not fit together"):
        again.__kernreg_restored__()
    again.partition_ = model.partition_
    again._rows = [rows + 400 for rows in model._rows]
    with pytest.raises(ValueError, match="the cells and their samples do not fit together"):
        again.__kernreg_restored__()


def test_parameters_of_solver_and_kernel():
    model = kr.make_solver("cells(cell_size=50)")
    assert model.get_params()["solver__gamma"] == "loo"
    assert model.get_params()["kernel__sigma"] == "scale"
    model.set_params(solver__gamma=2.0, kernel__sigma=3.0)
    assert (model.solver.gamma, repr(model.kernel)) == (2.0, "rbf(sigma=3.0)")
    assert CellsClassifier().solver is None
    model.set_params(solver="ask-ls", solver__on_pole="damp")
    assert model.solver.on_pole == "damp"
    given = CellsClassifier(LSSVC("laplacian(sigma=5.0)"))
    assert given.get_params()["kernel__sigma"] == 5.0
    assert repr(given.resolve_kernel()) == "laplacian(sigma=5.0)"
    with pytest.raises(ValueError, match="no_such"):
        model.set_params(no_such=1)


def test_grid_search(moons):
    X, y, _, _ = moons
    grid = {"cell_size": [60, 200], "solver__gamma": [1.0, 10.0], "kernel__sigma": ["scale", 1.0]}
    search = GridSearchCV(CellsClassifier(widths=None), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 8


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cell_size": 1}, "cell_size=1 is not accepted; give an integer, at least 2"),
        ({"cell_size": 2.5}, "cell_size=2.5"),
        ({"overlap": -0.1}, "overlap=-0.1 is not accepted"),
        ({"overlap": "much"}, "overlap='much'"),
        ({"n_nearest": 0}, "n_nearest=0"),
        ({"n_nearest": True}, "n_nearest=True"),
        ({"partition": "grid"}, "partition='grid' is not accepted; give 'tree' or 'kmeans'"),
        ({"search": "some"}, "search='some'"),
        ({"widths": ()}, r"widths=\(\) is not accepted"),
        ({"widths": [1.0, -2.0]}, "positive multiples"),
        ({"widths": 2.0}, "widths=2.0"),
        ({"solver": "ls-svr"}, "give a classifier such as"),
        ({"solver": "kpca"}, "solver='kpca' is not accepted by CellsClassifier"),
        ({"random_state": "x"}, "random_state='x'"),
    ],
)
def test_wrong_parameters(moons, parameters, message):
    X, y, _, _ = moons
    with pytest.raises(ParameterError, match=message):
        CellsClassifier(**parameters).fit(X, y)


def test_wrong_data(moons):
    X, y, _, _ = moons
    with pytest.raises(DataError, match="y has 2 columns of labels, and cells take one"):
        CellsClassifier().fit(X, np.column_stack([y, y]))
    with pytest.raises(DataError, match="one class only"):
        CellsClassifier().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="y to be passed"):
        CellsClassifier().fit(X, None)


def test_classifiers_agree_with_ask_ls_on_symmetric_kernels(moons):
    X, y, new, _ = moons
    settings = {"cell_size": 130, "widths": None, "kernel": "rbf(sigma=1.0)"}
    symmetric = CellsClassifier("ls-svm(gamma=2.0)", **settings).fit(X, y)
    other = CellsClassifier(AsKLSClassifier(gamma=2.0), **settings).fit(X, y)
    assert np.allclose(symmetric.decision_function(new), other.decision_function(new), atol=1e-6)


def test_pilots_look_near_gamma_only_where_inverses_are_accurate():
    trials = [Trial(0.5, 10.0, 0.9, 0.2, 1e3), Trial(1.0, 40.0, 0.95, 0.1, 1e3), Trial(2.0, 90.0, 0.7, 0.4, 1e3)]
    plan = Plan(LSSVC(gamma="loo"), kr.make_kernel("rbf"), (0.5, 1.0, 2.0))
    narrowed = plan.narrowed([Fitted(None, trials=tuple(trials)), Fitted(None, trials=(trials[0],))])
    assert narrowed.factors == (1.0, 0.5)
    assert narrowed.gammas == pytest.approx((40.0, 10.0))
    ill = [replace(trial, condition=1e12) for trial in trials]
    assert plan.narrowed([Fitted(None, trials=tuple(ill))]).gammas is None
    for solver in (AsKLSClassifier(), LSSVC(gamma=3.0)):
        assert replace(plan, solver=solver).narrowed([Fitted(None, trials=tuple(trials))]).gammas is None
    assert plan.narrowed([]) is plan
