"""Test error against seconds: what is measured is recorded once, tabled and drawn."""

from __future__ import annotations

import os

import numpy as np
import pytest

from asv_benchmarks import contestants, time_to_accuracy

RUN = {
    "problem": "kin40k",
    "name": "kernreg lowrank",
    "setting": "500",
    "ours": True,
    "rows": 36_000,
    "error": 0.2,
    "fit": 3.0,
    "predict": 0.5,
    "gigabytes": 0.4,
}


def test_a_measurement_takes_the_place_of_an_older_one(tmp_path):
    path = tmp_path / "runs.json"
    time_to_accuracy.record(RUN, path)
    time_to_accuracy.record({**RUN, "setting": "2000", "error": 0.1}, path)
    time_to_accuracy.record({**RUN, "error": 0.15}, path)
    assert [(each["setting"], each["error"]) for each in time_to_accuracy.recorded(path)] == [
        ("2000", 0.1),
        ("500", 0.15),
    ]
    assert [each.name for each in tmp_path.iterdir()] == ["runs.json"]


def test_who_failed_is_in_the_table(tmp_path):
    failed = {"problem": "covtype", "name": "SVC, first rows", "setting": "10000", "failed": "not done after 9 s"}
    table = time_to_accuracy.table([RUN, failed])
    assert "| covtype | SVC, first rows | 10000 | not done after 9 s |" in table
    assert "| kin40k | kernreg lowrank | 500 | 0.2000 | 3 s | 0.5 s | 0.4 GB |" in table


def test_the_picture_is_drawn_of_what_there_is(tmp_path):
    pytest.importorskip("matplotlib")
    time_to_accuracy.draw(tmp_path / "some" / "picture.png", [RUN, {**RUN, "problem": "mnist"}])
    time_to_accuracy.draw(tmp_path / "none.png", [])
    assert (tmp_path / "some" / "picture.png").stat().st_size > 1000


def test_everybody_can_be_made():
    for problem in contestants.PROBLEMS:
        found = contestants.contestants(problem)
        assert len({each.name for each in found}) == len(found)
        for each in found:
            if each.needs in ("kernreg", "sklearn"):
                assert hasattr(each.make(each.settings[0]), "fit")


def test_what_is_tuned_on_some_rows_is_fitted_to_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.sin(2 * X).sum(axis=1) + 0.1 * rng.normal(size=300)
    machine = contestants.TunedOnFirst("ls-svr", "rbf", (0.25, 0.5, 1.0, 2.0), 100, strategy="iterative").fit(X, y)
    assert len(machine.model.X_fit_) == 300
    assert machine.model.solver_report_.strategy == "iterative"
    assert set(machine.chosen) == {"kernel__sigma", "gamma"}
    assert np.corrcoef(machine.predict(X), y)[0, 1] > 0.9


@pytest.mark.skipif("KERNREG_DATA" not in os.environ, reason="KERNREG_DATA does not name a folder of data sets")
def test_kin40k_is_standardised_by_its_training_samples():
    problem = contestants.kin40k(3)
    assert problem.X.shape == (36_000, 8)
    assert problem.X_test.shape == (4000, 8)
    np.testing.assert_allclose(problem.X.std(axis=0), 1.0)
    np.testing.assert_allclose([problem.y.mean(), problem.y.std()], [0.0, 1.0], atol=1e-12)
    assert problem.error(problem.y_test) == 0.0
    assert len(problem.first(100).X) == 100
