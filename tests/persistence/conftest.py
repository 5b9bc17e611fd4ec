"""Samples, and the way to a file and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernreg as kr


@pytest.fixture
def there_and_back(tmp_path):
    """Return a function that saves a model and loads it."""

    def run(model: Any, **options: Any) -> Any:
        path = tmp_path / "model.kern"
        kr.save(model, path)
        return kr.load(path, **options)

    return run


@pytest.fixture(scope="session")
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return training samples, classes, and new samples."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 4))
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    return X[:45], y[:45], X[45:]
