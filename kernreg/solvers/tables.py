"""Rows of features, checked as scikit-learn checks them, with errors that say what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernreg.engine.arrays import check_readable
from kernreg.errors import DataError, shown
from kernreg.solvers.streamed import in_memory


def check_table(estimator: Any, X: Any, *, reset: bool = True, **options: Any) -> Any:
    """Return rows of features, checked in scikit-learn's way; ``options`` are those of ``check_array``.

    Examples
    --------
    >>> import kernreg as kr
    >>> check_table(kr.make_solver("ls-svm"), [[1, 2], [3, 4]]).shape
    (2, 2)
    """
    return validated_table(
        estimator,
        in_memory(X, type(estimator).__name__),
        reset=reset,
        copy=reset,
        order="C" if reset else None,  # that a table came in columns must not change the last bits of a fit
        **options,
    )


def validated_table(estimator: Any, X: Any, *targets: Any, **options: Any) -> Any:
    """Return what scikit-learn's ``validate_data`` makes of rows of features, and of targets where they are given.

    Text, and rows of different lengths, get an error that says what to do about them.

    Examples
    --------
    >>> import kernreg as kr
    >>> validated_table(kr.make_solver("ls-svm"), [["red", 1.0], ["blue", 2.0]])
    Traceback (most recent call last):
    kernreg.errors.DataError: X holds text ('red'), and this kernel compares numbers. ...
    """
    check_readable(X, "X")
    try:
        return validate_data(estimator, X, *targets, accept_sparse="csr", dtype=[np.float64, np.float32], **options)
    except ValueError as error:
        if "could not convert string to float" in str(error):
            where, word = _first_text(X)
            raise DataError(
                f"{where} holds text{word}, and this kernel compares numbers. Encode categories, for example with "
                "sklearn.preprocessing.OneHotEncoder, or use the kernel 'gower' of the plugin kernreg-structured, "
                "which takes them as they are"
            ) from None
        if "inhomogeneous" in str(error):
            raise DataError(
                "the rows of X differ in length, and this kernel compares rows of equal length. Kernels of time series "
                "('gak') and of bags of vectors ('gmm-kl') come with the plugin kernreg-structured"
            ) from None
        raise


def _first_text(X: Any) -> tuple[str, str]:
    """Return what to call the place of the first text in a table, and the text."""
    columns = [(f"column {name!r} of X", X[name]) for name in X.columns] if hasattr(X, "columns") else [("X", X)]
    for where, column in columns:
        for value in np.asarray(column, dtype=object).flat:
            if isinstance(value, str):
                return where, f" ({shown(value)})"
    return "X", ""
