"""Dask arrays and data frames in estimators give what arrays give, and lazy arrays come out."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import kernreg_dask
import numpy as np
import pandas as pd
import pytest

import kernreg as kr
from kernreg.errors import DataError

rng = np.random.default_rng(3)
y = np.repeat([0, 1], 300)[rng.permutation(600)]
X = rng.normal(size=(600, 3)) + y[:, None]
target = np.sin(X).sum(axis=1)
weights = rng.uniform(0.5, 2.0, size=600)
NEW = rng.normal(size=(70, 3)) + 0.5

dX = da.from_array(X, chunks=(250, 2))  # cut through the features, too
dy, d_target, d_weights = (da.from_array(values, chunks=250) for values in (y, target, weights))
dNEW = da.from_array(NEW, chunks=(40, 3))

SOLVERS = [
    ("ls-svm(kernel='rbf', gamma='loo', strategy='lowrank', n_landmarks=30)", y, dy),
    ("ls-svm(kernel='rbf(sigma=3.0)', gamma=2.0, strategy='iterative')", y, dy),
    ("ls-svm(kernel='rbf(sigma=3.0)', gamma=2.0)", y, dy),
    (
        "ls-svr(kernel='rbf(sigma=\"median\")', strategy='lowrank', n_landmarks=30, landmarks='leverage')",
        target,
        d_target,
    ),
    ("ls-svm(kernel='laplacian', gamma=2.0, strategy='sketched', tol=1e-9, n_landmarks=30)", y, dy),
    ("ask-ls(kernel='sne(sigma=2.0)', gamma=[0.5, 2.0], strategy='lowrank', n_landmarks=30)", y, dy),
    ("ask-lsr(kernel='sne(sigma=2.0)', gamma=2.0, strategy='iterative')", target, d_target),
    ("kpca(kernel='rbf(sigma=3.0)', n_components=3, eigen_solver='operator')", None, None),
    ("ksvd(kernel='sne(sigma=2.0)', n_components=3, svd_solver='operator')", None, None),
    ("nystrom(kernel='rbf(sigma=3.0)', n_components=3, n_landmarks=60)", None, None),
]


def close(got, wanted):
    assert np.asarray(got).shape == np.asarray(wanted).shape
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7 * np.abs(wanted).max())


@pytest.mark.parametrize(("spec", "labels", "d_labels"), SOLVERS, ids=[spec for spec, _, _ in SOLVERS])
def test_fits_to_dask_arrays_agree_and_predictions_are_lazy(engine, client, spec, labels, d_labels):
    here = kr.make_solver(spec).fit(X, labels)
    there = kr.make_solver(spec)
    with kr.config_context(engine=engine), client.as_current():
        there.fit(dX, d_labels)
        for name in ("predict", "transform", "transform_right", "predict_proba"):
            if hasattr(here, name):
                lazy = getattr(there, name)(dNEW)
                assert isinstance(lazy, da.Array)
                assert lazy.chunks[0] == (40, 30)
                wanted = getattr(here, name)(NEW)
                assert lazy.dtype == wanted.dtype
                close(lazy.compute(), wanted)
        if hasattr(here, "decision_views"):
            views = there.decision_views(dNEW)
            for name, wanted in here.decision_views(NEW).items():
                close(views[name].compute(), wanted)
    assert isinstance(getattr(there, "X_fit_", NEW), np.ndarray)  # a model holds samples, not futures of them


def test_unknown_lengths_and_weights(engine, client):
    kept = rng.random(600) < 0.7
    d_kept = da.from_array(kept, chunks=250)
    some = [da.from_array(values, chunks=(250, *values.shape[1:]))[d_kept] for values in (X, y, weights)]
    assert np.isnan(some[0].shape[0])
    spec = "ls-svm(kernel='rbf', strategy='lowrank', n_landmarks=30)"
    here = kr.make_solver(spec).fit(X[kept], y[kept], sample_weight=weights[kept])
    with kr.config_context(engine=engine), client.as_current():
        there = kr.make_solver(spec).fit(some[0], some[1], sample_weight=some[2])
        predicted = there.decision_function(some[0])
        assert np.isnan(predicted.shape[0])
        close(predicted.compute(), here.decision_function(X[kept]))
    close(there.dual_coef_, here.dual_coef_)


def test_data_frames_with_an_empty_partition(engine, client):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=y)
    parts = dd.from_pandas(frame, npartitions=3)
    parts = dd.concat([parts, parts[parts["a"] > 1e9]])  # partitions without rows
    spec = "ls-svm(kernel='rbf', strategy='lowrank', n_landmarks=30)"
    here = kr.make_solver(spec).fit(frame[["a", "b", "c"]], y)
    with kr.config_context(engine=engine), client.as_current():
        there = kr.make_solver(spec).fit(parts[["a", "b", "c"]], parts["label"])
        assert there.feature_names_in_.tolist() == ["a", "b", "c"]
        assert np.array_equal(there.predict(parts[["a", "b", "c"]]).compute(), here.predict(frame[["a", "b", "c"]]))
    close(there.dual_coef_, here.dual_coef_)


def test_what_does_not_fit_together_is_refused(engine, client):
    solver = kr.make_solver("ls-svm(kernel='rbf(sigma=3.0)', strategy='lowrank', n_landmarks=30)")
    with kr.config_context(engine=engine), client.as_current():
        with pytest.raises(DataError, match=r"chunks of y have 300, 300 rows, and those of X 250, 250, 100"):
            solver.fit(dX, dy.rechunk(300))
        bad = X.copy()
        bad[400, 1] = np.nan
        with pytest.raises(DataError, match="NaN or infinity"):
            solver.fit(da.from_array(bad, chunks=(250, 3)), dy)
        solver.fit(dX, dy)
        with pytest.raises(ValueError, match="features"):
            solver.predict(dX[:, :2]).compute()


def test_kernels_take_collections(engine, client):
    k = kr.make_kernel("rbf(sigma=2.0)")
    with kr.config_context(engine=engine), client.as_current():
        close(k(dNEW, dX), k.bind(X)(NEW, X))
        operator = k.operator(dX)
        close(operator @ target, k(X) @ target)
        close(np.vstack([block for _, block in k.blocks(dX, dNEW, block_rows=170)]), k(X, NEW))


def test_gram_matrices_are_lazy_and_go_to_zarr(client, tmp_path):
    zarr = pytest.importorskip("zarr")
    with client.as_current():
        K = kernreg_dask.gram("sne(sigma=2.0)", dX)
        assert K.chunks == ((250, 250, 100), (600,))
        K.to_zarr(str(tmp_path / "K.zarr"))
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "K.zarr"))[:], kr.make_kernel("sne(sigma=2.0)")(X))


def test_combinations_of_a_grid_are_tried_on_workers(engine):
    grid = {"kernel__sigma": [0.5, 4.0], "gamma": [0.1, 10.0]}
    here = kr.tune("ls-svm(kernel='rbf')", grid, X, y)
    with kr.config_context(engine=engine):
        there = kr.tune("ls-svm(kernel='rbf')", grid, X, y)
    log = engine.client.run_on_scheduler(lambda dask_scheduler: [entry[0] for entry in dask_scheduler.transition_log])
    assert len({key for key in log if str(key).startswith("kernreg-item-")}) == 2
    assert there.best_params == here.best_params
    close(there.table["score"], here.table["score"])
