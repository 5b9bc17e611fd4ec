"""A tiny table: two blobs that a method of three lines can tell apart, and a row without data."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_papers import Method, Outcome, Reported, Row, Table


def nearest_mean(split, shift):
    means = np.array([split.X_train[split.y_train == c].mean(axis=0) + shift for c in (0, 1)])
    return Outcome(((split.X_test[:, None] - means) ** 2).sum(axis=2).argmin(axis=1), {"means": means})


def always_one(split):
    return Outcome(np.ones(len(split.X_test), dtype=int))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "data"
    place.mkdir()
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 40])
    np.savez(place / "blobs.npz", X=rng.normal(size=(100, 2)) + 4.0 * y[:, None], y=y)
    np.savez(place / "noise.npz", X=rng.normal(size=(100, 2)), y=rng.permutation(y))
    return place


@pytest.fixture
def table():
    return Table(
        name="tiny",
        title="A tiny table",
        paper="Nobody, Nowhere",
        rows=(Row("blobs", "blobs"), Row("noise", "noise"), Row("absent", "absent_data")),
        methods=(
            Method("near", "nearest mean", nearest_mean, {"shift": 0.0}),
            Method("one", "always <one>", always_one),
        ),
        reported={"accuracy": {("blobs", "near"): Reported(0.99, 0.02), ("absent", "near"): Reported(0.5)}},
        train=0.6,
        trials=3,
        quick_samples=50,
        differences=("the means are shifted",),
    )
