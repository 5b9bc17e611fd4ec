"""A data set as it is handed out."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from kernreg.common.checks import check_choice
from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, ParameterError

MISSING = ("keep", "drop", "raise")


class Dataset(Bunch):
    """Samples, targets and what is known about them; a `sklearn.utils.Bunch`.

    Attributes
    ----------
    name : str
    kind : {"tabular", "graph", "document-term"}
    data, X : ndarray or csr_array of shape (n, d)
        Samples in rows, as published: not scaled, missing values as NaN. Of a graph the adjacency matrix:
        ``X[i, j] = 1`` for an edge from node i to node j.
    target, y : ndarray of shape (n,)
        Codes 0 … C-1 of classes (of the adult data ±1), or real numbers.
    target_names : ndarray of str or None
        Names of the classes, in the order of their codes.
    feature_names : list of str or None
    splits : dict
        Official splits by name: (indices of training samples, indices of test samples). Empty where there is none.
    source : str
        Where it was read from.

    Some have more: ``edges`` (n_edges, 2) and ``node_ids`` of graphs, ``kernel_matrix`` (the matrix of the authors of
    AsK-LS, citeseer_askls), ``sample_id``, ``study_run``, ``categories`` (OpenML).

    Examples
    --------
    >>> from kernreg.datasets import load
    >>> iris = load("iris")
    >>> iris.kind, iris.X.shape, iris.target_names.tolist()
    ('tabular', (150, 4), ['setosa', 'versicolor', 'virginica'])
    """

    @property
    def X(self) -> Any:
        """The samples: `data`."""
        return self["data"]

    @property
    def y(self) -> np.ndarray:
        """The targets: `target`."""
        return self["target"]

    def split(self, name: str | None = None) -> tuple[Any, Any, np.ndarray, np.ndarray]:
        """Return X_train, X_test, y_train, y_test of an official split.

        Parameters
        ----------
        name : str, optional
            Needed where there are several.
        """
        names = list(self.splits)
        if not names:
            raise ParameterError(
                f"{self.name} has no official split; make one, for example with sklearn.model_selection."
                "train_test_split, and say which"
            )
        if name is None and len(names) > 1:
            raise ParameterError(f"{self.name} has several official splits; name one of {', '.join(names)}")
        if name is not None and name not in self.splits:
            raise ParameterError(f"{self.name} has no split {name!r}; it has {', '.join(names)}")
        train, test = self.splits[names[0] if name is None else name]
        return self.X[train], self.X[test], self.y[train], self.y[test]

    def missing(self) -> np.ndarray:
        """Return the rows with at least one missing value, as indices."""
        if is_sparse(self.X) or self.X.dtype.kind != "f":
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(np.isnan(self.X).any(axis=1))

    def take(self, rows: np.ndarray) -> Dataset:
        """Return the data set with these samples only, in this order; splits and what else is by sample follow."""
        if self.kind == "graph":
            raise DataError(f"{self.name} is a graph: leaving out nodes would leave out edges of the others")
        n = self.X.shape[0]
        rows = np.asarray(rows)
        by_sample = [key for key in ("data", "target", "sample_id", "study_run") if self.get(key) is not None]
        position = np.full(n, -1)
        position[rows] = np.arange(len(rows))
        splits = {}
        for name, parts in self.splits.items():
            train, test = (position[part] for part in parts)
            splits[name] = (train[train >= 0], test[test >= 0])
        return Dataset(**{**self, **{key: self[key][rows] for key in by_sample}, "splits": splits})


def treat_missing(dataset: Dataset, missing: str) -> Dataset:
    """Return the data set with its missing values kept, their rows dropped, or an error that counts them."""
    check_choice("missing", missing, MISSING)
    rows = dataset.missing()
    if missing == "keep" or not len(rows):
        return dataset
    if missing == "raise":
        raise DataError(
            f"{dataset.name} has missing values (NaN) in {len(rows)} of {dataset.X.shape[0]} rows, the first of them "
            f"row {rows[0]}; load it with missing='drop' to leave them out, or with missing='keep' and impute"
        )
    return dataset.take(np.setdiff1d(np.arange(dataset.X.shape[0]), rows))
