"""Labels of classes: what is none is refused, and the message says where and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.errors import DataError, shown


def require_labels(y: Any) -> None:
    """Raise DataError where labels are missing, infinite, complex, or text beside numbers.

    Whether real numbers are meant as classes is for scikit-learn to say.

    >>> require_labels(["a", "b"])
    >>> require_labels([1.0, float("nan")])
    Traceback (most recent call last):
    kernreg.errors.DataError: Input y contains NaN: the label of sample 1 is nan. Leave such samples out, ...
    """
    if y is None or hasattr(y, "toarray"):  # labels of a sparse table are zeros and ones
        return
    values = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if values.dtype.kind == "c":
        raise DataError("Complex data not supported: y holds complex numbers; labels are whole numbers or text")
    if values.ndim == 0 or values.dtype.kind not in "fO":
        return
    if values.dtype.kind == "f":
        wrong = np.argwhere(~np.isfinite(values))
    else:
        wrong = np.array([place for place in np.ndindex(values.shape) if _is_missing(values[place])])
    if len(wrong):
        place = tuple(wrong[0].tolist())
        is_infinite = isinstance(values[place], float | np.floating) and np.isinf(values[place])
        problem = "infinity" if is_infinite else "NaN"
        raise DataError(
            f"Input y contains {problem}: the label of sample {place[0]} is {shown(values[place])}. Leave such samples "
            "out, or give them a class of their own"
        )
    if values.dtype.kind == "O" and values.ndim == 1:
        texts = sum(isinstance(value, str) for value in values)
        if 0 < texts < len(values):
            other = next(value for value in values if not isinstance(value, str))
            raise DataError(
                f"Unknown label type: y holds text, and {shown(other)}, which is none; give labels of one kind, for "
                "example all as text: y.astype(str)"
            )


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and not np.isfinite(value)
