"""Widths: parameters that are a scale of their statistic, given as a number or as a word that samples turn into one.

``"scale"``   √(d Var X) for Euclidean distances, d √Var X for the l1 distance, Var over all entries of the n × d table;
              the mean of the statistic over some pairs for any other sum of terms
``"median"``  the median of the statistic (of the distance, not of its square) over some pairs

A factor may stand before the word: ``"2*scale"``. For samples with variance one in every feature, ``"scale"`` is √d and
d: the first is what scikit-learn's ``gamma="scale"`` means for exp(-|x - y|²/sigma²).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
from kernreg.engine.matrix import matrix
from kernreg.engine.program import Program
from kernreg.kernels.domains import Domain, positive

_WORD = re.compile(r"(?:([^*]+)\*)?\s*(scale|median)")
_SAMPLES = 1000  # among which pairs are looked at: always the same ones
_ROWS = 4096


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


def resolved(word: str, statistic: str, term: Any, X: Any) -> float:
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

    Examples
    --------
    >>> X = np.array([[1.0, 3.0], [1.0, 3.0], [3.0, 1.0]])
    >>> resolved("scale", "sqeuclidean", None, X) == np.sqrt(2 * X.var())
    True
    >>> resolved("2.0*median", "l1", None, X)
    8.0
    """
    factor, _, name = word.rpartition("*")
    if name == "scale" and statistic == "sqeuclidean":
        size = float(np.sqrt(X.shape[1] * _variance(X)))
    elif name == "scale" and statistic == "l1":
        size = float(X.shape[1] * np.sqrt(_variance(X)))
    else:
        pairs = statistics_of_pairs(statistic, term, X)
        pairs = np.sqrt(pairs) if statistic == "sqeuclidean" else pairs
        size = float(pairs.mean() if name == "scale" else np.median(pairs)) if len(pairs) else 0.0
    return float(factor or 1.0) * (size if np.isfinite(size) and size > 0.0 else 1.0)


def statistics_of_pairs(statistic: str, term: Any, X: Any) -> np.ndarray:
    """Return the statistic of all pairs among at most 1000 of the samples, those that are apart."""
    n = X.shape[0]
    some = X if n <= _SAMPLES else X[np.sort(np.random.default_rng(0).choice(n, _SAMPLES, replace=False))]
    program = Program(
        name="statistic", statistic=statistic, function=_identity, parameters=(), term=term, symmetric=False
    )
    values = matrix(program, some, None, None)[np.triu_indices(some.shape[0], 1)]
    return values[values > 0.0]


def _identity(value):
    return value


def _variance(X: Any) -> float:
    """Return the variance of all entries, in double precision, without a second table."""
    if not X.shape[0] or not X.shape[1]:
        return 0.0
    count = X.shape[0] * X.shape[1]
    stored = X.data if is_sparse(X) else X
    mean = float(stored.sum(dtype=np.float64)) / count
    parts = (stored[start : start + _ROWS].astype(np.float64) - mean for start in range(0, len(stored), _ROWS))
    squares = sum(float(np.vdot(part, part)) for part in parts)
    if is_sparse(X):
        squares += (count - stored.size) * mean * mean
    return squares / count
