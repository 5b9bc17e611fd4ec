"""svmlight (libsvm) files: a target and the features that are not zero, as ``index:value``, on each line."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.common.bounded import open_bounded
from kernreg.errors import DataError
from kernreg.io.delimited import open_text, to_number

_INDEX = re.compile(r"[0-9]{1,10}")
_LARGEST = 2**31 - 2
_EXACT = 2**53


def read_svmlight(
    path: Path, target: str | None, columns: list[str] | None, n_features: int | None = None
) -> tuple[Any, np.ndarray, None]:
    """Return the sparse samples and targets of an svmlight file.

    Indices count from 1, or from 0 in a file where one is 0. The last features may be zero in all samples of a file:
    ``n_features`` says how many there are.
    """
    from sklearn.datasets import load_svmlight_file

    if target is not None:
        raise DataError(f"{path}: svmlight files hold the target on each line and name no columns; leave --target out")
    if columns is not None:
        raise DataError(f"{path}: svmlight files name no columns, and {', '.join(columns[:3])} … were asked for")
    try:
        with open_bounded(path, growth=4) as file:
            X, y = load_svmlight_file(file)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}{_problem(path) or f': {error}'}") from error
    if not (np.all(np.isfinite(X.data)) and np.all(np.isfinite(y))):
        raise DataError(f"{path}{_problem(path) or ': the samples contain NaN or infinity'}")
    if n_features is not None:
        if X.shape[1] > n_features:
            raise DataError(f"{path} has {X.shape[1]} features, and {n_features} are expected")
        X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
    if len(y) and np.all(y == np.round(y)) and np.abs(y).max() < _EXACT:
        y = y.astype(np.int64)
    return sp.csr_array(X), y, None


def _problem(path: Path) -> str:
    """Return where a file is wrong and why, word by word."""
    with open_text(path) as file:
        for number, text in enumerate(file, 1):
            before = -1
            for position, word in enumerate(re.finditer(r"\S+", text.split("#")[0])):
                what, before = _wrong_word(word[0], position == 0, before)
                if what:
                    return f", line {number}, column {word.start() + 1}: {word[0]!r} {what}"
    return ""


def _wrong_word(word: str, first: bool, before: int) -> tuple[str, int]:
    """Return what is wrong with a word, and the index it has."""
    if word.startswith("qid:"):
        return "", before
    index, colon, value = ("", ":", word) if first else word.partition(":")
    if not first and (not colon or not _INDEX.fullmatch(index) or int(index) > _LARGEST):
        return f"is not index:value with an index up to {_LARGEST}", before
    if not first and int(index) <= before:
        return f"comes after index {before}; indices increase along a line", before
    try:
        if not math.isfinite(to_number(value)):
            return "is not finite; kernels need finite features", before
    except ValueError:
        return "is not a number" if first else f"has a value that is not a number, {value!r}", before
    return "", before if first else int(index)
