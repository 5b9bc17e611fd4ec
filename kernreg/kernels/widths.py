"""Widths: parameters that are a scale of their statistic, given as a number or as a word that samples turn into one.

``"scale"``   √(d Var X) for Euclidean distances, d √Var X for the l1 distance, Var over all entries of the n × d table;
              the mean of the statistic over some pairs for any other sum of terms
``"median"``  the median of the statistic (of the distance, not of its square) over some pairs

A factor may stand before the word: ``"2*scale"``. For samples with variance one in every feature, ``"scale"`` is √d and
d: the first is what scikit-learn's ``gamma="scale"`` means for exp(-|x - y|²/sigma²).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernreg.common.medians import weighted_median
from kernreg.common.progress import advance, row_progress
from kernreg.engine import ByRow, Handle, whole
from kernreg.engine.arrays import in_double, is_sparse
from kernreg.engine.budget import chunks
from kernreg.engine.dispatch import current_engine
from kernreg.engine.matrix import matrix
from kernreg.engine.program import Program
from kernreg.engine.running.handles import is_streamed
from kernreg.kernels.domains import Domain, positive

_WORD = re.compile(r"(?:([^*]+)\*)?\s*(scale|median)")
_SAMPLES = 1000  # among which pairs are looked at: always the same ones
_ENTRIES = 1 << 20  # that are looked at together


def _check(value: Any) -> float | str:
    if not isinstance(value, str):
        return positive.check(value)
    match = _WORD.fullmatch(value.strip())
    if match is None:
        raise ValueError
    factor = 1.0 if match[1] is None else positive.check(float(match[1]))
    return match[2] if factor == 1.0 else f"{factor!r}*{match[2]}"


#: The domain of a width: a positive number, or a word that is resolved on the training samples.
width = Domain("a finite number > 0, 'scale' or 'median', or a multiple of these such as '2*scale'", _check)


def is_open(value: Any) -> bool:
    """Whether a width is a word, which has no value before there are samples."""
    return isinstance(value, str)


def resolved(
    word: str, statistic: str, term: Any, X: Any, weights: np.ndarray | None = None, *, name: str = "statistic"
) -> float:
    """Return the number that a word stands for on these samples; 1 where all of them are the same.

    Parameters
    ----------
    word : str
        As `width` accepts it.
    statistic : str
        What the kernel sees of a pair: ``"sqeuclidean"``, ``"l1"``, ``"term"`` …
    term : callable or None
        The term of the sum, for ``"term"``.
    X : ndarray or CSR
        Checked samples.
    weights : ndarray, optional
        How often each sample counts.
    name : str
        Of the kernel, whose compiled statistic is used again.

    Examples
    --------
    >>> X = np.array([[1.0, 3.0], [1.0, 3.0], [3.0, 1.0]])
    >>> bool(np.isclose(resolved("scale", "sqeuclidean", None, X), np.sqrt(2 * X.var())))
    True
    >>> resolved("2.0*median", "l1", None, X)
    8.0
    >>> resolved("scale", "l1", None, X) == resolved("scale", "l1", None, X[1:], np.array([2.0, 1.0]))
    True
    """
    factor, _, plain = word.rpartition("*")
    if plain == "scale" and statistic == "sqeuclidean":
        size = float(np.sqrt(X.shape[1])) * _deviation(X, weights)
    elif plain == "scale" and statistic == "l1":
        size = X.shape[1] * _deviation(X, weights)
    else:
        program = Program(name, statistic, function=_identity, parameters=(), term=term, symmetric=False)
        values, counts = _values_of_pairs(program, X, weights)
        size = _typical(plain, np.sqrt(values) if statistic == "sqeuclidean" else values, counts)
    return float(factor or 1.0) * (size if np.isfinite(size) and size > 0.0 else 1.0)


def _typical(word: str, values: np.ndarray, counts: np.ndarray | None) -> float:
    """Return the mean (``"scale"``) or the median of values that occur some number of times, 0 of none."""
    if not len(values):
        return 0.0
    if word == "scale":
        return float(np.average(values, weights=counts))
    return weighted_median(values, counts)


def _values_of_pairs(program: Program, X: Any, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the statistic of all pairs among at most 1000 of the samples, those that are apart, and their weights."""
    n = X.shape[0]
    if n > _SAMPLES:
        rows = np.sort(np.random.default_rng(0).choice(n, _SAMPLES, replace=False))
        X, weights = X[rows], None if weights is None else weights[rows]
    X = in_double(whole(X))  # squares of float32 samples may be beyond float32
    above = np.triu_indices(X.shape[0], 1)
    values = matrix(program, X, None, None)[above]
    apart = values > 0.0
    counts = None if weights is None else (weights[above[0]] * weights[above[1]])[apart]
    return values[apart], counts


def _identity(value):
    return value


def _deviation(X: Any, weights: np.ndarray | None = None) -> float:
    """Return the standard deviation of all entries, in double precision, without a second table."""
    if not X.shape[0] or not X.shape[1]:
        return 0.0
    if isinstance(X, Handle):
        return _put_together(_streamed(X, weights) if is_streamed(X) else _looked_at_elsewhere(X, weights))
    stored = X.data if is_sparse(X) else X
    largest = max(float(stored.max(initial=0.0)), -float(stored.min(initial=0.0)))
    unit = 1.0 if 1e-100 < largest < 1e100 or not largest else largest  # squares beyond that leave the range
    count, _, squares = _spread(X, weights, unit)
    return unit * float(np.sqrt(squares / count))


def _put_together(parts: Iterable[Any]) -> float:
    """Return the standard deviation of all entries from number, mean and squares of parts, in their order."""
    count = mean = squares = 0.0
    for more, its_mean, its_squares in parts:
        together, apart = count + more, its_mean - mean
        if together > 0.0:
            mean += apart * (more / together)
            squares += its_squares + apart * apart * count * (more / together)
        count = together
    return float(np.sqrt(squares / count))


def _streamed(X: Handle, weights: np.ndarray | None) -> Iterator[tuple[float, float, float]]:
    """Yield number, mean and squares of blocks of a row source, read once."""
    with row_progress("width of the kernel", X.shape[0]):
        for rows in chunks(X):
            yield _spread(X[rows], None if weights is None else weights[rows])
            advance(rows.stop - rows.start)


def _looked_at_elsewhere(X: Handle, weights: np.ndarray | None) -> Any:
    """Return number, mean and squares of blocks of placed samples, looked at where they are."""
    args = (None if weights is None else ByRow(weights),)
    return current_engine().map_rows(SampleRows(), X, X[:1], _spread_of_block, args=args)


class SampleRows:
    """The samples themselves in the place of a kernel matrix, for engines to look at."""

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> Any:
        """Return the samples."""
        return X

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with the samples."""
        return aslinearoperator(X)


def _spread_of_block(rows: slice, block: Any, weights: np.ndarray | None) -> np.ndarray:
    return np.array([_spread(block, weights)])


def _spread(X: Any, weights: np.ndarray | None, unit: float = 1.0) -> tuple[float, float, float]:
    """Return how many entries there are, their mean, and the sum of squared differences from it, measured in units."""
    n, d = X.shape
    if is_sparse(X):
        of_entries = None if weights is None else np.repeat(weights, np.diff(X.indptr))
        stored, absent = X.data, float(n * d - X.data.size)
        if weights is not None and of_entries is not None:
            absent = float((weights * (d - np.diff(X.indptr))).sum())  # exactly 0 where there are none
        count = (stored.size if of_entries is None else of_entries.sum()) + absent
    else:
        of_entries, stored, absent = None if weights is None else weights[:, None], X, 0.0
        count = (n if weights is None else weights.sum()) * d
    # As far from one of the entries as they are on average: the mean of entries that are all the same is that number.
    near = 0.0 if absent else _one_of(stored, of_entries) / unit
    mean = near + _summed(stored, of_entries, unit, near, 1) / count if count else 0.0
    squares = _summed(stored, of_entries, unit, mean, 2) + absent * mean * mean
    return float(count), float(mean), float(squares)


def _one_of(stored: np.ndarray, weights: np.ndarray | None) -> float:
    """Return an entry of a sample that counts."""
    if not stored.size:
        return 0.0
    return float(np.ravel(stored[0 if weights is None else int(np.argmax(weights.ravel() > 0.0))])[0])


def _summed(stored: np.ndarray, weights: np.ndarray | None, unit: float, mean: float, power: int) -> float:
    """Return Σ w (value / unit - mean)^power over the first axis, part by part."""
    total, step = 0.0, max(1, _ENTRIES // max(1, stored[:1].size))
    for start in range(0, len(stored), step):
        part = stored[start : start + step].astype(np.float64) / unit - mean
        part = part if power == 1 else np.square(part, out=part)
        total += float(part.sum() if weights is None else (part * weights[start : start + step]).sum())
    return total
