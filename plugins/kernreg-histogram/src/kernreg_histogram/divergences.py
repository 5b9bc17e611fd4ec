"""exp(-a D(x, y)) for a divergence D between histograms.

A term is written without branches, so that it becomes SIMD instructions, and is 0 at (0, 0), so that sparse
histograms cost only the bins they share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.jit import exp, log1p, maximum, sqrt
from kernreg.kernels import interval, positive
from kernreg_histogram.samples import counts, on_values, products, row_sums, within_range


def _smoothed(X: Any, smoothing: float) -> tuple[np.ndarray, np.ndarray, Any, np.ndarray]:
    """Return alpha, beta, L and ΣL of each row: x'_d = alpha x_d + beta and log x'_d = log beta + L_d.

    L is zero where x is, so it is as sparse as x.
    """
    totals, bins = row_sums(X), X.shape[1]
    empty = totals == 0.0
    alpha = np.where(empty, 0.0, (1.0 - smoothing) / np.where(empty, 1.0, totals))
    beta = np.where(empty, 1.0, smoothing) / bins
    scale = alpha / beta
    if isinstance(X, np.ndarray):
        L = np.log1p(X * scale[:, None])
    else:
        L = on_values(np.log1p, X.multiply(scale[:, None]).tocsr())
    return alpha, beta, L, row_sums(L)


@kernel(
    of="blocks",
    inputs="nonnegative",
    definite=None,
    parameters={"a": positive, "smoothing": interval(0.0, 1.0, open_low=True)},
    example=lambda rng, n: (histogram_kl(a=0.5), counts(rng, n)),
)
def histogram_kl(X, Z, a=1.0, smoothing=0.01):
    """exp(-a KL(x' ‖ y')), x' = (1 - smoothing) x / Σ_d x_d + smoothing / n_bins, and y' likewise.

    Asymmetric. Rows are divided by their sums, so counts and distributions are treated alike, and then mixed
    with the uniform distribution, which is additive smoothing with the same number for every bin: a bin
    that is empty in y but not in x makes the value small, never zero as in ``kl``. A row of zeros stands for
    the uniform distribution.

    KL(x ‖ y) = Σ_d x_d log(x_d / y_d) splits into Σ x log x and one matrix product of x with log y, which is how
    it is computed, and why the function sees whole blocks of rows.

    The kernel is that of He, He, Shi, Huang & Suykens, Learning with asymmetric kernels: least squares and
    feature interpretation, TPAMI 45 (2023); additive smoothing is treated in Chen & Goodman, An empirical study of
    smoothing techniques for language modeling, Computer Speech & Language 13 (1999).

    >>> round(float(histogram_kl(a=1.0, smoothing=0.5)([[4, 0]], [[0, 2]])[0, 0]), 6)  # KL of (¾, ¼) and (¼, ¾)
    0.57735
    """
    X, Z = within_range(X), within_range(Z)  # only shares of the sums count
    alpha, beta, own, own_sum = _smoothed(X, smoothing)
    _, other_beta, other, other_sum = _smoothed(Z, smoothing)
    negentropy = np.log(beta) + alpha * row_sums(X * own) + beta * own_sum
    cross = np.log(other_beta) + alpha[:, None] * products(X, other) + beta[:, None] * other_sum
    return np.exp(-a * np.maximum(negentropy[:, None] - cross, 0.0))


def _chi2_term(x, y):
    total = x + y
    return (x - y) * (x - y) / (total if total > 0.0 else 1.0)


@kernel(
    of=_chi2_term,
    symmetric=True,
    definite=True,
    inputs="nonnegative",
    parameters={"a": positive},
    example=lambda rng, n: (histogram_chi2(a=0.5), counts(rng, n)),
)
def histogram_chi2(chi2, a=1.0):
    """exp(-a χ²), χ² = ½ Σ_d (x_d - y_d)² / (x_d + y_d).

    χ² is at most 1 between distributions. Positive definite: (x - y)²/(x + y) = x + y - 4xy/(x + y), and
    xy/(x + y) is positive definite, see ``additive-chi2``. The same as kernreg's ``chi2`` with sigma = 2/a, in
    the scale of Zhang, Marszałek, Lazebnik & Schmid, Local features and kernels for classification of texture
    and object categories, IJCV 73 (2007), who take the mean χ² of the training set for 1/a.

    >>> float(-np.log(histogram_chi2()([[1, 0]], [[0, 1]]))[0, 0])
    1.0
    """
    return exp(-0.5 * a * chi2)


def _hellinger_term(x, y):
    gap = sqrt(x) - sqrt(y)
    return gap * gap


@kernel(
    of=_hellinger_term,
    symmetric=True,
    definite=True,
    inputs="nonnegative",
    parameters={"a": positive},
    example=lambda rng, n: (hellinger(a=0.5), counts(rng, n)),
)
def hellinger(distance, a=1.0):
    """exp(-a H²), H² = ½ Σ_d (√x_d - √y_d)².

    H is the Hellinger distance, at most 1 between distributions. Positive definite: a Gaussian of the square
    roots. Chapelle, Haffner & Vapnik, Support vector machines for histogram-based image classification, IEEE
    Transactions on Neural Networks 10 (1999).

    >>> float(-np.log(hellinger()([[1, 0]], [[0, 1]]))[0, 0])
    1.0
    """
    return exp(-0.5 * a * distance)


def _jensen_shannon_term(x, y):
    # 2x/(x + y) = 1 + r and 2y/(x + y) = 1 - r: exactly 0 where x = y, and accurate where they are close.
    total = x + y
    r = (x - y) / (total if total > 0.0 else 1.0)
    # 0 log 0 = 0. A condition on one number, rather than on two, keeps this vectorised.
    return x * log1p(r if r > -1.0 else 0.0) + y * log1p(-r if r < 1.0 else 0.0)


@kernel(
    of=_jensen_shannon_term,
    symmetric=True,
    definite=True,
    inputs="nonnegative",
    parameters={"a": positive},
    example=lambda rng, n: (jensen_shannon(a=0.5), counts(rng, n)),
)
def jensen_shannon(divergence, a=1.0):
    """exp(-a JS), JS = ½ Σ_d (x_d log(2 x_d / (x_d + y_d)) + y_d log(2 y_d / (x_d + y_d))).

    JS = ½ KL(x ‖ m) + ½ KL(y ‖ m) with m = (x + y)/2, in nats, at most log 2 between distributions. Positive
    definite for non-negative rows of any sums, because JS is the square of a Hilbertian metric: Fuglede & Topsøe,
    Jensen–Shannon divergence and Hilbert space embedding, ISIT 2004; Hein & Bousquet, Hilbertian metrics and
    positive definite kernels on probability measures, AISTATS 2005.

    >>> round(float(jensen_shannon()([[1, 0]], [[0, 1]])[0, 0]), 12)
    0.5
    """
    return exp(-0.5 * a * maximum(divergence, 0))
