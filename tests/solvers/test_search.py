"""Searching parameters: scikit-learn's tools, and tune."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.errors import GridEndWarning, KernregWarning, ParameterError
from kernreg.kernels.builtin import rbf, sne
from kernreg.kernels.indexed import precomputed
from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor, tune

# Small grids, whose ends are often the best: that it is told has a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::kernreg.errors.GridEndWarning")


@pytest.mark.parametrize("kernel", ["rbf", "rbf(sigma=2.0)", rbf, rbf(sigma=2.0)], ids=str)
def test_parameters_of_the_kernel_are_parameters_of_the_solver(kernel):
    clf = LSSVC(kernel=kernel)
    assert "kernel__sigma" in clf.get_params()
    assert clf.get_params(deep=False)["kernel"] is kernel
    assert clf.set_params(kernel__sigma=3.0, gamma=2.0) is clf
    assert clf.kernel == rbf(sigma=3.0)
    assert clone(clf).kernel == rbf(sigma=3.0)


def test_parameters_deep_inside_a_kernel():
    clf = LSSVC(kernel=rbf(sigma=2.0) + rbf(sigma=5.0)).set_params(kernel__left__sigma=1.0)
    assert clf.kernel == rbf(sigma=1.0) + rbf(sigma=5.0)
    assert LSSVC().set_params(kernel="tl1", kernel__rho=2.0).kernel.rho == 2.0
    with pytest.raises(ParameterError, match="no parameter 'width'"):
        LSSVC().set_params(kernel__width=1.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        LSSVC().set_params(width=1.0)


def test_grid_search_over_kernel_parameters_and_gamma(blobs):
    X, labels, new = blobs
    grid = {"kernel__sigma": [0.3, 2.0], "gamma": [0.1, 0.6]}  # 1 is a pole of sne for a small sigma
    for solver in (LSSVC(kernel="rbf"), AsKLSClassifier(kernel="sne", gamma=3.0)):
        search = GridSearchCV(solver, grid, cv=3).fit(X, labels)
        assert set(search.best_params_) == set(grid)
        assert search.best_estimator_.kernel.sigma == search.best_params_["kernel__sigma"]
        assert search.predict(new).shape == (9,)
    inside = GridSearchCV(make_pipeline(StandardScaler(), LSSVC()), {"lssvc__kernel__sigma": [0.3, 2.0]}, cv=3)
    assert inside.fit(X, labels).best_params_["lssvc__kernel__sigma"] in (0.3, 2.0)


def test_cross_validation_with_a_held_matrix(blobs):
    X, labels, _ = blobs
    index, direct = np.arange(60), LSSVC(kernel="rbf(sigma=2.0)")
    held = LSSVC(kernel=precomputed(K=rbf(sigma=2.0)(X)))
    assert cross_val_score(held, index, labels, cv=4) == pytest.approx(cross_val_score(direct, X, labels, cv=4))
    search = GridSearchCV(AsKLSClassifier(kernel=precomputed(K=sne(sigma=1.0)(X))), {"gamma": [0.1, 3.0]}, cv=3)
    assert search.fit(index[:, None], labels).best_params_["gamma"] in (0.1, 3.0)


def test_leave_one_out_is_that_of_scikit_learn(blobs):
    X, labels, _ = blobs
    for solver in (LSSVC(kernel="tl1(rho=2.8)", gamma=0.1), AsKLSClassifier(kernel="rbf(sigma=1.0)", gamma=0.3)):
        refits = cross_val_predict(solver, X, labels, cv=LeaveOneOut(), method="decision_function")
        views = solver.fit(X, labels).loo_views_
        np.testing.assert_allclose(np.mean(list(views.values()), axis=0), refits, atol=1e-8)


def test_tune_finds_the_best_of_the_table(blobs):
    X, labels, new = blobs
    pd = pytest.importorskip("pandas")
    grid = {"kernel__sigma": [0.5, 1.0, 2.0], "gamma": [0.1, 1.0, 10.0]}
    for solver in (LSSVC(kernel="rbf"), AsKLSClassifier(kernel="sne"), "ls-svm(kernel='rbf')", LSSVC):
        result = tune(solver, grid, X, labels)
        assert isinstance(result.table, pd.DataFrame)
        assert len(result.table) == 9
        assert result.best_score == result.table["score"].max()
        best = result.best_estimator
        assert best.kernel.sigma == result.best_params["kernel__sigma"]
        assert best.gamma == result.best_params["gamma"]
        assert best.loo_score_ == pytest.approx(result.best_score)
        assert best.predict(new).shape == (9,)
    row = result.table.iloc[4]
    alone = LSSVC(kernel=rbf(sigma=row["kernel__sigma"]), gamma=row["gamma"]).fit(X, labels)
    assert alone.loo_score_ == pytest.approx(row["score"])


def test_tune_regressions_and_whole_kernels(blobs):
    X, _, _ = blobs
    y = np.sin(X[:, 0])
    result = tune(LSSVR(), {"kernel": ["linear", "rbf(sigma=3.0)"], "gamma": "loo"}, X, y)
    assert result.best_params["kernel"] == "rbf(sigma=3.0)"
    assert len(result.table) >= 72  # two grids of 36, extended where the best is near an end
    assert result.best_score > 0.8
    assert tune(AsKLSRegressor(gamma=3.0), {"kernel": ["sne"]}, X, y).best_params["gamma"] == 3.0


@pytest.mark.filterwarnings("ignore::kernreg.errors.UninformativeKernelWarning")  # the identity has a simple pole
def test_tune_passes_over_poles_and_says_when_nothing_is_left(blobs):
    _, labels, _ = blobs
    solver = AsKLSClassifier(kernel=precomputed(K=np.eye(60)))
    result = tune(solver, {"gamma": [1.0, 2.0]}, np.arange(60), labels)
    assert result.best_params == {"gamma": 2.0}
    assert result.table["score"].iloc[0] == -np.inf
    with pytest.raises(ParameterError, match=r"no combination.*pole"):
        tune(solver, {"gamma": [1.0]}, np.arange(60), labels)


def test_tune_passes_over_combinations_that_cannot_be_fitted(blobs):
    X, labels, _ = blobs
    grid = {"kernel": ["rbf", "linear", "sne"], "kernel__sigma": [2.0, -1.0], "gamma": [0.1, 1.0]}
    table = tune(LSSVC(), grid, X, labels).table
    failed = table[table["gamma"].isna()]
    assert len(table) == 7
    assert sorted(failed["kernel"]) == ["linear", "linear", "rbf", "sne", "sne"]
    reasons = " ".join(failed["error"])
    for reason in ("linear has no parameter 'sigma'", "sigma=-1.0", "'sne' is asymmetric"):
        assert reason in reasons
    with pytest.raises(ParameterError, match=r"first failure.*sigma=-3"):
        tune(LSSVC(), {"kernel__sigma": [-3.0, -1.0]}, X, labels)


def test_tune_side_by_side_gives_the_table_of_one_after_the_other(blobs):
    X, labels, _ = blobs
    grid = {"kernel__sigma": [0.5, 1.0, 1.5, 2.0, 3.0], "gamma": np.logspace(-2, 2, 7)}
    for solver in (LSSVC(), AsKLSClassifier(kernel="sne")):
        tables = []
        for threads in (1, 2, 3, 2):
            with kr.config_context(threads=threads):
                tables.append(tune(solver, grid, X, labels).table)
        for table in tables[1:]:
            np.testing.assert_allclose(table.to_numpy(float), tables[0].to_numpy(float), rtol=1e-8)
        assert tables[1].equals(tables[2])
        assert tables[1].equals(tables[3])


def test_settings_reach_the_threads_of_tune(blobs):
    X, labels, _ = blobs
    seen = set()

    @kr.kernel(of="blocks", symmetric=True)
    def watching(A, B, sigma=1.0):
        """exp(-|a - b|²/sigma²)."""
        seen.add((kr.get_config().memory, sklearn.get_config()["assume_finite"]))
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / sigma**2)

    grid = {"kernel__sigma": [1.0, 2.0, 3.0, 4.0]}
    with kr.config_context(memory=50_000_000, threads=2), sklearn.config_context(assume_finite=True):
        tune(LSSVC(kernel=watching()), grid, X, labels)
    assert seen == {(50_000_000, True)}


@pytest.mark.parametrize("failure", [ZeroDivisionError, KeyboardInterrupt])
def test_other_errors_end_tune(blobs, failure):
    X, labels, _ = blobs

    @kr.kernel(of="blocks", symmetric=True)
    def failing(A, B, sigma=1.0):
        """⟨a, b⟩, or an error."""
        if sigma == 2.0:
            raise failure
        return A @ B.T

    with kr.config_context(threads=2), pytest.raises(failure):
        tune(LSSVC(kernel=failing()), {"kernel__sigma": [1.0, 2.0, 3.0]}, X, labels)


@pytest.mark.parametrize(
    "gamma",
    [np.float32(0.5), np.array(0.5), (g for g in [0.5]), np.array([0.5], "f4")],
    ids=["scalar", "0-d", "generator", "array"],
)
def test_tune_takes_gamma_in_any_form_of_numbers(blobs, gamma):
    X, labels, _ = blobs
    assert tune(LSSVC(), {"gamma": gamma}, X, labels).best_params == {"gamma": 0.5}


class NoPandas:
    """An importer that finds no pandas."""

    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ImportError(name)


def test_tune_without_pandas_gives_rows(blobs, monkeypatch):
    X, labels, _ = blobs
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoPandas(), *sys.meta_path])
    table = tune(LSSVC(), {"gamma": [0.1, 1.0]}, X, labels).table
    assert [row["gamma"] for row in table] == [0.1, 1.0]


def test_tune_draws_no_bar_in_a_pipe(blobs, capsys):
    X, labels, _ = blobs
    tune(LSSVC(), {"gamma": [0.1, 1.0]}, X, labels)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    with kr.config_context(progress=True):
        tune(LSSVC(), {"gamma": [0.1, 1.0]}, X, labels)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"width": [1]}, "no parameter 'width'"),
        ({"kernel__sigma": 2.0}, "give a list"),
        ({"kernel__sigma": []}, "give a list"),
        ({"gamma": [0.0]}, "gamma"),
        ({"gamma": None}, "gamma"),
        ({"gamma": ["loo"]}, "gamma"),
        ({"kernel": ["rbf"], "width": [1]}, "no parameter 'width'"),
        ([1, 2], "give a mapping"),
        ([{"gamma": [1.0]}, {"width": [1]}], "no parameter 'width'"),
    ],
)
def test_tune_refuses_grids_it_cannot_read(blobs, grid, message):
    X, labels, _ = blobs
    with pytest.raises(ParameterError, match=message):
        tune(LSSVC(), grid, X, labels)


def test_tune_without_targets_says_so(blobs):
    X, _, _ = blobs
    with pytest.raises(ValueError, match="requires y"):
        tune(LSSVC(), {"kernel__sigma": [1.0, 2.0]}, X, None)


def test_tune_refuses_estimators_without_leave_one_out(blobs):
    X, labels, _ = blobs
    with pytest.raises(ParameterError, match="no exact leave-one-out"):
        tune(StandardScaler(), {"with_mean": [True]}, X, labels)


def test_tune_a_pipeline_by_the_names_of_either(blobs):
    X, labels, new = blobs
    pipeline = make_pipeline(StandardScaler(), LSSVC(kernel="rbf"))
    scaled = StandardScaler().fit_transform(X)
    expected = tune(LSSVC(kernel="rbf"), {"kernel__sigma": [0.5, 1.0, 2.0], "gamma": [0.1, 1.0, 10.0]}, scaled, labels)
    for prefix in ("lssvc__", ""):
        grid = {f"{prefix}kernel__sigma": [0.5, 1.0, 2.0], f"{prefix}gamma": [0.1, 1.0, 10.0]}
        result = tune(pipeline, grid, X, labels)
        assert result.best_params == {f"lssvc__{name}": value for name, value in expected.best_params.items()}
        assert result.best_score == result.best_estimator[-1].loo_score_ == expected.best_score
        np.testing.assert_array_equal(result.table["score"], expected.table["score"])
        again = clone(pipeline).set_params(**result.best_params).fit(X, labels)
        np.testing.assert_array_equal(result.best_estimator.predict(new), again.predict(new))
        assert result.best_estimator[-1].gamma == result.best_params["lssvc__gamma"]
    assert not hasattr(pipeline[-1], "dual_coef_")  # what was given stays unfitted


def test_tune_fits_the_steps_before_the_solver_once_for_each_of_their_settings(blobs):
    X, labels, _ = blobs
    fits = []

    class Counting(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            fits.append(self.with_mean)
            return super().fit(X, y, sample_weight)

    pipeline = make_pipeline(Counting(), LSSVC(kernel="rbf"))
    grid = {"counting__with_mean": [True, False], "kernel__sigma": [0.5, 1.0, 2.0, 3.0], "gamma": [1.0, 2.0]}
    result = tune(pipeline, grid, X, labels, sample_weight=np.ones(60))
    assert fits[:2] == [True, False]
    assert len(fits) == 3  # and the model that is kept
    assert len(result.table) == 16
    swapped = tune(pipeline, {"counting": [StandardScaler(), "passthrough"], "gamma": [1.0]}, X, labels)
    assert len(swapped.table) == 2
    replaced = tune(pipeline, {"lssvc": [LSSVC(gamma=2.0), AsKLSClassifier(kernel="sne", gamma=3.0)]}, X, labels)
    assert sorted(replaced.table["lssvc__gamma"]) == [2.0, 3.0]


def test_tune_chains_and_lists_of_grids(blobs):
    X, labels, new = blobs
    scaled = StandardScaler().fit_transform(X)
    grids = [{"kernel": ["linear"]}, {"kernel": ["rbf"], "kernel__sigma": [1.0, 2.0], "gamma": [0.5, 5.0]}]
    expected = tune("ls-svm(gamma=[1.0, 2.0])", grids, scaled, labels)
    assert len(expected.table) == 6
    chain = kr.make_chain(StandardScaler(), "ls-svm(gamma=[1.0, 2.0])")
    own = [{"lssvm__" + name: values for name, values in grid.items()} for grid in grids]
    result = tune(chain, own, X, labels)
    np.testing.assert_array_equal(result.table["score"], expected.table["score"])
    assert result.best_score == result.best_estimator.steps_[-1][1].loo_score_
    assert result.best_params["lssvm__gamma"] == expected.best_params["gamma"]
    assert result.best_estimator.predict(new).shape == (9,)
    common = kr.make_chain(StandardScaler(), "ls-svm", kernel="rbf")
    assert "kernel__sigma" in tune(common, X=X, y=labels).best_params


@pytest.mark.parametrize("solver", ["ls-svm", "ask-ls(kernel='sne')", make_pipeline(StandardScaler(), LSSVC())])
def test_tune_without_a_grid_searches_widths_and_gamma(blobs, solver):
    X, labels, _ = blobs
    result = tune(solver, X=X, y=labels)
    width, gamma = result.best_params
    assert (width.rpartition("__")[2], gamma.rpartition("__")[2]) == ("sigma", "gamma")
    assert result.table[width].nunique() == 6
    assert result.table[gamma].nunique() > 30
    last = result.best_estimator if isinstance(solver, str) else result.best_estimator[-1]
    assert result.best_score == last.loo_score_
    assert list(tune("ls-svm(kernel='linear')", None, X, labels).best_params) == ["gamma"]


@pytest.mark.parametrize("strategy", ["exact", "lowrank"])
def test_the_best_score_is_that_of_the_model_to_the_last_bit(blobs, strategy):
    X, _, _ = blobs
    grid = {"kernel__sigma": [1.0, 2.0, 3.0], "gamma": np.logspace(-1, 3, 9)}
    result = tune(LSSVR(strategy=strategy), grid, X, np.sin(X[:, 0]))
    assert result.best_score == result.best_estimator.loo_score_ == result.table["score"].max()
    assert result.best_estimator.gamma == result.best_params["gamma"]


@pytest.mark.filterwarnings("default::kernreg.errors.GridEndWarning")
def test_tune_tells_of_a_best_value_at_the_end_of_its_grid(blobs):
    X, _, _ = blobs
    y = np.sin(X[:, 0])
    with pytest.warns(GridEndWarning) as heard:
        tune(LSSVR(), {"kernel__sigma": [0.5, 0.7, 1.0], "gamma": [0.01, 0.1, 1.0]}, X, y)
    messages = sorted(str(warning.message) for warning in heard)
    assert [message.split(" ")[0] for message in messages] == ["gamma=1", "kernel__sigma=1.0"]
    assert {warning.filename for warning in heard} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tune(LSSVR(), {"kernel__sigma": [0.5, 1.0], "gamma": [0.01, 1.0]}, X, y)  # no inside, no end


@pytest.mark.parametrize(
    "step",
    [
        SelectKBest(k=2),
        LinearDiscriminantAnalysis(),
        ColumnTransformer([("some", SelectKBest(k=1), [0, 1])]),
    ],
)
def test_steps_that_learn_from_targets_are_told(blobs, step):
    X, labels, _ = blobs
    name = type(step).__name__
    pipeline = make_pipeline(step, LSSVC())
    with pytest.warns(KernregWarning, match=rf"'{name.lower()}' \({name}\) learns from targets") as heard:
        tune(pipeline, {"gamma": [1.0, 2.0]}, X, labels)
    assert heard[0].filename == __file__
