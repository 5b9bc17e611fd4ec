"""Labels of any type, some of them missing, as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError, ParameterError, shown


def label_codes(y: Any, unlabelled: Any = -1) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes, and for each sample the position of its label among them or -1 for none.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: numbers, strings, anything that can be sorted.
    unlabelled : object
        The value that marks samples without a label; None stands for missing values (None, NaN).

    Examples
    --------
    >>> classes, codes = label_codes(["cat", "ape", "?", "cat"], unlabelled="?")
    >>> classes.tolist(), codes.tolist()
    (['ape', 'cat'], [1, 0, -1, 1])
    """
    if isinstance(unlabelled, list | tuple | dict | np.void) or np.ndim(unlabelled):
        raise ParameterError(
            f"unlabelled={shown(unlabelled)} is not accepted; give one value, which marks missing labels"
        )
    values = _flat(y, unlabelled)
    known = np.flatnonzero(~_marked(values, unlabelled))
    if not len(known):
        raise DataError(
            f"y has no labels: all {len(values)} entries are {unlabelled!r}, which marks samples without one; label "
            "some of them"
        )
    labels = values[known]
    if labels.dtype == object:
        labels = _plain(labels)
    _refuse_marker_as_text(labels, unlabelled)
    try:
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError) as error:
        raise DataError(f"y does not hold class labels: {error}") from error
    if len(classes) < 2:
        marked = len(values) - len(known)
        hint = f" ({marked} entries {unlabelled!r} are taken as unlabelled: if that is a class, set unlabelled=None)"
        raise DataError(
            f"y has one class only, {classes.tolist()[0]!r}, in {len(known)} labels{hint if marked else ''}; similar "
            "and dissimilar samples are told apart by at least 2 classes"
        )
    all_codes = np.full(len(values), -1, dtype=np.int64)
    all_codes[known] = codes.ravel()
    return classes, all_codes


def _flat(y: Any, unlabelled: Any) -> np.ndarray:
    """Return labels as an array of one dimension."""
    if is_sparse(y) or isinstance(y, np.ma.MaskedArray):
        kind = "sparse" if is_sparse(y) else "masked"
        raise DataError(
            f"y is a {kind} array; give a plain one with a label for each sample, {unlabelled!r} where there is none"
        )
    # A list becomes objects first: numpy would turn the number -1 next to strings into the string "-1".
    values = np.asarray(y) if hasattr(y, "__array__") else _objects(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"y has shape {values.shape}; give one label for each sample, shape (n,)")
    return values


def _marked(values: np.ndarray, unlabelled: Any) -> np.ndarray:
    """Return which samples are marked as having no label; refuse values that are missing without being so marked."""
    missing = _missing(values)
    marked = missing if unlabelled is None else _equal(values, unlabelled)
    if (missing & ~marked).any():
        raise DataError(
            f"y has {int((missing & ~marked).sum())} missing values (NaN or None), and unlabelled={shown(unlabelled)} "
            "marks samples without a label; mark them so, or set unlabelled=None"
        )
    return marked


def _refuse_marker_as_text(labels: np.ndarray, unlabelled: Any) -> None:
    """Refuse labels that are text where the marker is not, and one of them is the marker written out."""
    if unlabelled is None or isinstance(unlabelled, str) or labels.dtype.kind not in "US":
        return
    marker = str(unlabelled)
    if marker in labels.astype(str):
        raise DataError(
            f"y holds text, and one class is {marker!r}, while unlabelled={shown(unlabelled)} is not text; if it marks "
            f"samples without a label give unlabelled={shown(marker)}, if it is a class unlabelled=None"
        )


def _objects(y: Any) -> np.ndarray:
    try:
        items = list(y)
    except TypeError:
        raise DataError(f"y is {type(y).__name__}; give one label for each sample") from None
    values = np.empty(len(items), dtype=object)
    values[:] = items
    return values


def _plain(labels: np.ndarray) -> np.ndarray:
    """Return objects as an array of their own type: all numbers or all text."""
    texts = sum(isinstance(label, str) for label in labels)
    if texts not in (0, len(labels)):
        raise DataError(
            f"y mixes {texts} labels that are text with {len(labels) - texts} that are not; give labels of one type"
        )
    plain = np.array(labels.tolist())
    if plain.ndim != 1:
        raise DataError(
            f"y holds labels that are sequences, for example {labels[0]!r}; give labels that are numbers or text"
        )
    return plain


def _missing(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype == object:
        return np.array([_is_missing(value) for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, or not equal to itself as NaN; pandas.NA does not say whether it is."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True
    except ValueError:  # an array
        return False


def _equal(values: np.ndarray, marker: Any) -> np.ndarray:
    if values.dtype.kind in "US" and not isinstance(marker, str):
        return np.zeros(len(values), dtype=bool)
    if values.dtype.kind in "fiub" and isinstance(marker, str):
        return np.zeros(len(values), dtype=bool)
    if _is_missing(marker):
        return _missing(values)
    if values.dtype == object:
        missing = _missing(values)
        equal = [not none and bool(value == marker) for value, none in zip(values, missing, strict=True)]
        return np.array(equal, dtype=bool)
    return np.asarray(values == marker)
