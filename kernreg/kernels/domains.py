"""What values a parameter of a kernel may take, and the error when it does not.

A domain is a callable that returns the accepted value or raises ValueError, and whose ``str`` says what it accepts.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.engine.arrays import check_readable, is_sparse
from kernreg.errors import DataError, ParameterError, shown
from kernreg.kernels.ownership import frozen
from kernreg.kernels.packed import PackedSamples
from kernreg.kernels.samples import SampleParts

_SMALLEST = 1e-307  # of positive numbers: 1/x is finite
_LARGEST_INTEGER = 2**53  # beyond, a float is not exact


class _Required:
    def __repr__(self) -> str:
        return "required"

    def __reduce__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


@dataclass(frozen=True)
class Domain:
    """A set of accepted values: ``check`` returns the normalised value or raises ValueError or TypeError.

    Examples
    --------
    >>> Domain("an even number", lambda value: value if value % 2 == 0 else int("no")).check(4)
    4
    """

    description: str
    check: Callable[[Any], Any]

    def __str__(self) -> str:
        return self.description


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel: its name, default and domain.

    Examples
    --------
    >>> from kernreg.kernels import positive
    >>> Parameter("sigma", 1.0, positive).accept(2, "rbf")
    2.0
    """

    name: str
    default: Any
    domain: Domain

    required = REQUIRED

    def accept(self, value: Any, owner: str) -> Any:
        """Return the value as the kernel will use it, or raise ParameterError."""
        try:
            return self.domain.check(value)
        except DataError as error:  # says itself what is wrong
            raise ParameterError(f"{owner}: {self.name} {error}") from None
        except MemoryError:
            raise
        except Exception:  # of any kind: the value's own code
            raise ParameterError(f"{owner}: {self.name}={shown(value)}; accepted is {self.domain}") from None


def _number(value: Any) -> float:
    # What float() would take: truth values, text, and complex numbers, of which it drops a part.
    kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
    if isinstance(value, bool | str | bytes) or value is None or kind not in ("", "f", "i", "u"):
        raise TypeError
    if getattr(value, "ndim", 0):  # an array, of which NumPy before 2.4 would take the only entry
        raise TypeError
    if value is np.ma.masked or np.ma.is_masked(value):
        raise ValueError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def interval(low: float = -math.inf, high: float = math.inf, *, open_low: bool = False) -> Domain:
    """Return the domain of finite numbers from ``low`` to ``high``; ``open_low`` leaves ``low`` itself out.

    Examples
    --------
    >>> interval(0.0, 1.0).check(0.5)
    0.5
    >>> str(interval(0.0, 1.0))
    'a number in [0, 1]'
    """

    def check(value: Any) -> float:
        number = _number(value)
        if number < low or number > high or (open_low and number == low):
            raise ValueError
        if open_low and low == 0.0 and number < _SMALLEST:
            raise DataError(f"is {number:g}, and what is divided by it is infinite; give at least {_SMALLEST:g}")
        return number

    if low == 0 and high == math.inf:
        text = "a finite number > 0" if open_low else "a finite number >= 0"
    elif low == -math.inf and high == math.inf:
        text = "a finite number"
    else:
        text = f"a number in {'(' if open_low else '['}{low:g}, {high:g}]"
    return Domain(text, check)


#: The domain of finite numbers above 0.
positive = interval(0.0, open_low=True)
#: The domain of finite numbers, 0 included.
nonnegative = interval(0.0)
#: The domain of finite numbers of either sign.
real = interval()


def integer(low: int | None = None, high: int | None = None) -> Domain:
    """Return the domain of integers from ``low`` to ``high``, both included.

    Examples
    --------
    >>> integer(1, 5).check(3), str(integer(1))
    (3, 'an integer >= 1')
    """

    def check(value: Any) -> int:
        number = _number(value)
        if abs(number) > _LARGEST_INTEGER:
            raise DataError(f"is {shown(value)}; integers are accepted up to 2⁵³")
        if number != int(number) or (low is not None and number < low) or (high is not None and number > high):
            raise ValueError
        return int(number)

    bounds = [f">= {low}"] if low is not None else []
    bounds += [f"<= {high}"] if high is not None else []
    return Domain(" ".join(["an integer", " and ".join(bounds)]).strip(), check)


def choice(*values: Any) -> Domain:
    """Return the domain of exactly these values.

    Examples
    --------
    >>> choice("mean", "left").check("left"), str(choice("mean", "left"))
    ('left', "one of 'mean', 'left'")
    """

    def check(value: Any) -> Any:
        for accepted in values:
            if type(value) in (str, bool) or type(accepted) in (str, bool):
                if type(value) is type(accepted) and value == accepted:
                    return accepted
            elif value == accepted:
                return accepted
        raise ValueError

    return Domain("one of " + ", ".join(map(repr, values)), check)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


#: The domain of True and False, also NumPy's.
boolean = Domain("one of True, False", _flag)


def _matrix(value: Any) -> Any:
    check_readable(value, "array")
    table: Any = sp.csr_array(value) if is_sparse(value) else np.asarray(value)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError
    if table.dtype not in (np.float64, np.float32):
        table = table.astype(np.float64)
    if is_sparse(table) and not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    table = frozen(table)
    if not np.isfinite(table.data if is_sparse(table) else table).all():
        raise ValueError
    return table


#: The domain of matrices, dense or sparse.
matrix = Domain("a finite 2-D numeric array or sparse matrix", _matrix)


def adjacency_matrix(graph: Any) -> Any:
    """Return the matrix of a graph of networkx, nodes in its order, weights where it has them; others as they are.

    Nothing is imported: a graph is what has ``nodes`` and ``adjacency()``.
    """
    if not (hasattr(graph, "nodes") and callable(getattr(graph, "adjacency", None))):
        return graph
    number = {node: place for place, node in enumerate(graph.nodes)}
    rows, columns, weights = [], [], []
    many = graph.is_multigraph() if hasattr(graph, "is_multigraph") else False
    for node, neighbours in graph.adjacency():
        for other, found in neighbours.items():
            for edge in found.values() if many else [found]:
                rows.append(number[node])
                columns.append(number[other])
                weights.append(float(edge.get("weight", 1.0)))
    return sp.csr_array((weights, (rows, columns)), shape=(len(number), len(number)))


def _graph(value: Any) -> Any:
    table = _matrix(adjacency_matrix(value))
    if table.shape[0] != table.shape[1]:
        raise DataError(
            f"has shape {table.shape}; an adjacency matrix is square. From a list of edges, make it with "
            "kernreg.graphs.graph_from_edges"
        )
    return table


#: The domain of graphs: square matrices, or graphs of networkx.
graph = Domain("a finite 2-D numeric array or sparse matrix, square, or a graph of networkx", _graph)


def _callable(value: Any) -> Any:
    if not callable(value):
        raise TypeError
    return value


function = Domain("a function of the sample array that returns the transformed array", _callable)


def check_learnt(owner: str, name: str, value: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return an array that a bound kernel learnt, or raise ParameterError: None in the shape stands for any length."""
    fits = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == len(shape)
    if not fits or any(wanted not in (None, given) for wanted, given in zip(shape, value.shape, strict=True)):
        given = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise ParameterError(f"{owner}: what it learnt as {name} is {given}; needed is float64 of shape ({wanted})")
    return value


def value_key(value: Any) -> Any:
    """Return something hashable that is equal exactly when two parameter values are."""
    if value is None or type(value) in (float, int, str, bool, tuple):
        return value
    if isinstance(value, SampleParts):
        return tuple(map(value_key, value.parts))
    if isinstance(value, PackedSamples):
        return (value.key, *map(value_key, value.arrays))
    if is_sparse(value):
        return (value.shape, *map(value_key, (value.data, value.indices, value.indptr)))
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return value


def value_repr(value: Any) -> str:
    """Return the value as it stands in a spec; arrays, which no spec can hold, are summarised."""
    if is_sparse(value):
        return f"<{value.shape[0]}x{value.shape[1]} sparse, {value.nnz} stored>"
    if isinstance(value, np.ndarray):
        return f"<{'x'.join(map(str, value.shape))} {value.dtype} array>"
    if hasattr(value, "__kernreg_kernel_object__"):
        return repr(repr(value))
    return repr(value)
