"""Data sets of OpenML, fetched and cached by scikit-learn."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any
from urllib.error import URLError

import numpy as np
import scipy.sparse as sp

from kernreg.datasets.dataset import Dataset
from kernreg.engine.arrays import is_sparse
from kernreg.errors import MissingDataset

PREFIX = "openml:"


def fetch(name: str, version: int | str, searched: str) -> Dataset:
    """Return a data set by its name on OpenML.

    Nominal features become the codes of their categories, which are kept in ``categories``; a nominal target likewise,
    its categories in ``target_names``.
    """
    from sklearn.datasets import fetch_openml

    parser = "auto" if find_spec("pandas") is not None else "liac-arff"
    try:
        found = fetch_openml(name=name, version=version, as_frame=False, parser=parser)
    except (URLError, OSError, ValueError) as error:  # no network; no such name
        raise MissingDataset(f"{searched}, and OpenML did not give it: {error}") from error
    data = found.data
    return Dataset(
        name=name,
        kind="tabular",
        data=sp.csr_array(data) if is_sparse(data) else data,
        **_target(found.target),
        feature_names=list(found.feature_names),
        categories=found.get("categories"),
        splits={},
        source=f"OpenML {found.details['id']}, version {found.details['version']}",
    )


def _target(target: Any) -> dict[str, Any]:
    y = np.asarray(target)
    if y.dtype.kind not in "OUS":
        return {"target": y, "target_names": None}
    names, codes = np.unique(y.astype(str), return_inverse=True)
    return {"target": codes, "target_names": names}
