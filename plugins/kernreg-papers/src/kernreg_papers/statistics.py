"""Do methods differ over several data sets? The tests of Demšar, Statistical comparisons of classifiers over multiple
data sets, JMLR 7 (2006), which SCG uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from kernreg.errors import DataError, ParameterError


@dataclass(frozen=True)
class Comparison:
    """The Friedman test.

    Attributes
    ----------
    ranks : ndarray of shape (k,)
        Average rank of each method, 1 the best.
    statistic : float
        Of Iman and Davenport: F = (n-1)χ² / (n(k-1) - χ²), with (k-1) and (k-1)(n-1) degrees of freedom.
    p_value : float
        That the ranks differ by chance.
    chi_square : float
        Friedman's own, χ² = 12n/(k(k+1)) (Σ_j R_j² - k(k+1)²/4). Ties are not corrected for, as in the paper.
    n, k : int
        Numbers of data sets and of methods.
    """

    ranks: np.ndarray
    statistic: float
    p_value: float
    chi_square: float
    n: int
    k: int


def friedman(scores: Any, *, greater_is_better: bool = True) -> Comparison:
    """Return the Friedman test of methods (columns) over data sets (rows).

    Parameters
    ----------
    scores : array-like of shape (n, k)
        At least two rows and three columns, without gaps.
    greater_is_better : bool

    Examples
    --------
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> result.ranks.tolist(), round(result.chi_square, 2)
    ([1.0, 2.25, 2.75], 6.5)
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3 or not np.isfinite(table).all():
        raise DataError(
            f"scores has shape {table.shape}; accepted is a table without gaps of at least two data sets (rows) and "
            "three methods (columns); two methods are compared by wilcoxon"
        )
    n, k = table.shape
    ranks = stats.rankdata(-table if greater_is_better else table, axis=1).mean(axis=0)
    chi = float(12.0 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4.0))
    rest = n * (k - 1) - chi
    if rest <= 1e-12 * n * k:  # the same order in every row
        return Comparison(ranks, np.inf, 0.0, chi, n, k)
    value = (n - 1) * chi / rest
    return Comparison(ranks, value, float(stats.f.sf(value, k - 1, (k - 1) * (n - 1))), chi, n, k)


def nemenyi(k: int, n: int, *, alpha: float = 0.05) -> float:
    """Return the critical difference: average ranks that are further apart differ significantly.

    CD = q √(k(k+1)/(6n)), with q the quantile of the studentised range over √2.

    Parameters
    ----------
    k, n : int
        Numbers of methods and of data sets.
    alpha : float
        Probability of any false difference.

    Examples
    --------
    >>> round(nemenyi(8, 10), 2)  # Pan et al. 2016 print 3.32
    3.32
    """
    if k < 2 or n < 1 or not 0.0 < alpha < 1.0:
        raise ParameterError(f"k={k}, n={n}, alpha={alpha} are not accepted; give k ≥ 2, n ≥ 1 and 0 < alpha < 1")
    q = stats.studentized_range.ppf(1.0 - alpha, k, np.inf) / np.sqrt(2.0)
    return float(q * np.sqrt(k * (k + 1) / (6.0 * n)))


def wilcoxon(first: Any, second: Any) -> tuple[float, float]:
    """Return statistic and two-sided p-value of Wilcoxon's signed-rank test for two methods over data sets.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Scores of the two on the same data sets.

    Examples
    --------
    >>> wilcoxon([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5, 2.0])
    (0.0, 0.0625)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a) or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise DataError(f"the two have shapes {a.shape} and {b.shape}; give two lists of equal length without gaps")
    if np.array_equal(a, b):
        return 0.0, 1.0
    # Accuracies are multiples of 1/n: differences that are equal must tie in spite of rounding.
    found = stats.wilcoxon(np.round(a - b, 12))
    return float(found.statistic), float(found.pvalue)


def groups(ranks: Any, difference: float) -> list[list[int]]:
    """Return the largest groups of methods whose average ranks are within a critical difference of each other.

    >>> groups([1.0, 2.0, 2.5, 4.0], 1.6)
    [[0, 1, 2], [2, 3]]
    """
    values = np.asarray(ranks, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    found: list[list[int]] = []
    for start in range(len(order)):
        group = [int(i) for i in order[start:] if values[i] - values[order[start]] <= difference]
        if len(group) > 1 and not (found and set(group) <= set(found[-1])):
            found.append(group)
    return found
