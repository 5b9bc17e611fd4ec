"""Data sets that come with scikit-learn."""

from __future__ import annotations

import numpy as np

from kernreg.datasets.dataset import Dataset

#: Loader and size of each.
BUNDLED = {
    "breast_cancer": ("load_breast_cancer", "569 × 30"),
    "diabetes": ("load_diabetes", "442 × 10"),
    "digits": ("load_digits", "1797 × 64"),
    "iris": ("load_iris", "150 × 4"),
    "linnerud": ("load_linnerud", "20 × 3"),
    "wine": ("load_wine", "178 × 13"),
}


def read(name: str) -> Dataset:
    """Return one of them, as published (diabetes unscaled, unlike scikit-learn's default)."""
    from sklearn import datasets

    loader = getattr(datasets, BUNDLED[name][0])
    found = loader(scaled=False) if name == "diabetes" else loader()
    names = found.get("target_names")
    return Dataset(
        name=name,
        kind="tabular",
        data=found.data,
        target=found.target,
        target_names=None if names is None else np.asarray(names),
        feature_names=[str(feature) for feature in found.feature_names],
        splits={},
        source="scikit-learn",
    )
