"""Values that stand for themselves in JSON: numbers, text, and small objects of Python and numpy.

For each tag a pair of functions, to what JSON can hold and back. Every reader checks what it gets: the text may come
from anywhere.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from kernreg.persistence.arrays import read_dtype

_SPECIAL = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TYPES: dict[str, type] = {kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, object)}
_NUMPY_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16),
        *(np.float32, np.float64, np.complex64, np.complex128, np.str_, np.bytes_, np.object_),
    )
}
_HEX = re.compile(r"-?0x[0-9a-f]+")
_EXACT = 2**63


def write_value(value: Any) -> Any:
    """Return the JSON form of a value, or NotImplemented if it is none of those here.

    >>> write_value(0.5), write_value(float("inf")), write_value(np.float32(2))
    (0.5, {'float': 'inf'}, {'scalar': ['<f4', 2.0]})
    """
    write = _WRITERS.get(type(value))
    if write is not None:
        return write(value)
    for kind, write_instance in _WRITERS_OF_INSTANCES:
        if isinstance(value, kind):
            return write_instance(value)
    return NotImplemented


def _write_scalar(value: np.generic) -> Any:
    if isinstance(value, np.str_):
        return {"scalar": ["text", str(value)]}
    if isinstance(value, np.bytes_):
        return {"scalar": ["bytes", base64.b64encode(bytes(value)).decode("ascii")]}
    if not _is_plain(value.dtype):
        return NotImplemented
    dtype = value.dtype.newbyteorder("<")
    if dtype.kind in "biuf":
        return {"scalar": [dtype.str, write_value(value.item())]}
    return {"scalar": [dtype.str, {"hex": value.astype(dtype).tobytes().hex()}]}


def _write_dtype(value: np.dtype) -> Any:
    return {"dtype": value.str} if _is_plain(value) or value.str == "|O" else NotImplemented


def _write_type(value: type) -> Any:
    for tag, known in (("type", _TYPES), ("numpy-type", _NUMPY_TYPES)):
        if known.get(value.__name__) is value:
            return {tag: value.__name__}
    return NotImplemented


def _write_ufunc(value: np.ufunc) -> Any:
    name = str(getattr(value, "__name__", ""))
    return {"ufunc": name} if vars(np).get(name) is value else NotImplemented


def _write_metric(value: FunctionType) -> Any:
    from sklearn import metrics

    known = value.__name__ in metrics.__all__ and getattr(metrics, value.__name__) is value
    return {"metric": value.__name__} if known else NotImplemented


#: For values of exactly this type, and then for instances.
_WRITERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((NoneType, bool, str), lambda value: value),
    int: lambda value: value if abs(value) < _EXACT else {"int": hex(value)},
    float: lambda value: value if math.isfinite(value) else {"float": repr(value)},
    complex: lambda value: {"complex": [write_value(value.real), write_value(value.imag)]},
    bytes: lambda value: {"bytes": base64.b64encode(value).decode("ascii")},
    slice: lambda value: {"slice": [write_value(value.start), write_value(value.stop), write_value(value.step)]},
    range: lambda value: {"range": [value.start, value.stop, value.step]},
}
_WRITERS_OF_INSTANCES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (np.generic, _write_scalar),
    (np.dtype, _write_dtype),
    (type, _write_type),
    (np.ufunc, _write_ufunc),
    (FunctionType, _write_metric),
)


def _is_plain(dtype: np.dtype) -> bool:
    try:
        read_dtype(dtype.newbyteorder("<").str)
    except ValueError:
        return False
    return dtype.names is None


def _read_int(text: Any) -> int:
    if not isinstance(text, str) or not _HEX.fullmatch(text):
        raise ValueError("an integer is not written in the right form")
    return int(text, 16)


def _read_float(text: Any) -> float:
    return _SPECIAL[text]


def _read_number(value: Any) -> Any:
    """Return a number that `write_value` wrote, special or not."""
    if isinstance(value, dict) and len(value) == 1:
        ((tag, inner),) = value.items()
        return {"int": _read_int, "float": _read_float}[tag](inner)
    if type(value) is not int and not (type(value) is float and math.isfinite(value)):
        raise ValueError("a number is not written in the right form")
    return value


def _read_complex(parts: Any) -> complex:
    real, imaginary = map(_read_number, parts)
    return complex(real, imaginary)


def _read_bytes(text: Any) -> bytes:
    return base64.b64decode(text, validate=True)


def _read_slice(parts: Any) -> slice:
    start, stop, step = (part if part is None or isinstance(part, str) else _read_number(part) for part in parts)
    return slice(start, stop, step)


def _read_range(parts: Any) -> range:
    start, stop, step = map(_read_number, parts)
    return range(start, stop, step)


def _read_scalar(parts: Any) -> Any:
    text, item = parts
    if text == "text" and type(item) is str:
        return np.str_(item)
    if text == "bytes":
        return np.bytes_(_read_bytes(item))
    dtype = read_dtype(text)
    if isinstance(item, dict) and set(item) == {"hex"}:
        data = bytes.fromhex(item["hex"])
        if len(data) != dtype.itemsize or dtype.kind not in "cMm":
            raise ValueError("a number does not have the size of its type")
        return np.frombuffer(data, dtype=dtype)[0]
    if dtype.kind == "b" and type(item) is bool:
        return np.bool_(item)
    number = _read_number(item)
    if dtype.kind not in "iuf" or (dtype.kind != "f") != (type(number) is int):
        raise ValueError("a number does not have the form of its type")
    with np.errstate(over="ignore"):
        found = dtype.newbyteorder("=").type(number)
    if found.item() != number and number == number:
        raise ValueError("a number does not fit its type")
    return found


def _read_dtype(text: Any) -> np.dtype:
    return np.dtype(object) if text == "|O" else read_dtype(text)


def _read_metric(name: Any) -> Any:
    from sklearn import metrics

    found = getattr(metrics, name) if isinstance(name, str) and name in metrics.__all__ else None
    if not isinstance(found, FunctionType):
        raise ValueError(f"{name!r} is not a metric of scikit-learn")
    return found


def _read_ufunc(name: Any) -> np.ufunc:
    found = vars(np).get(name)
    if not isinstance(found, np.ufunc):
        raise ValueError(f"{name!r} is not a function of numpy that works item by item")
    return found


#: From a tag to the function that reads what it marks.
READERS = {
    "int": _read_int,
    "float": _read_float,
    "complex": _read_complex,
    "bytes": _read_bytes,
    "slice": _read_slice,
    "range": _read_range,
    "scalar": _read_scalar,
    "dtype": _read_dtype,
    "type": _TYPES.__getitem__,
    "numpy-type": _NUMPY_TYPES.__getitem__,
    "ufunc": _read_ufunc,
    "metric": _read_metric,
}
