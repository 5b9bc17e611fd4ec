"""The built-in kernels: one function each, whose docstring is its formula.

A width (``sigma``, ``rho``) is a number, or a word that the training samples give a number to (widths.py). They are
registered through kernreg's own entry points, as a third party's are. Squared distances are divided by sigma
twice: the square of a small sigma underflows, and 0 / 0 would stand on the diagonal.
"""

from __future__ import annotations

from kernreg.engine.program import Split
from kernreg.jit import exp, expm1, log, pow, sqrt, tanh
from kernreg.kernels.decorator import kernel
from kernreg.kernels.domains import Domain, choice, nonnegative, positive, real
from kernreg.kernels.ranges import PRODUCTS, SUMS, of_powers
from kernreg.kernels.widths import width


@kernel(of="dot", symmetric=True, definite=True)
def linear(dot):
    """⟨x, y⟩.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("linear")([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """
    return dot


def _linear_range(single):
    return of_powers(1, single)


linear._range_of = _linear_range


def _whole_or_real(degree):
    number = positive.check(degree)
    return int(number) if number == int(number) and number <= 2**53 else number


_degree = Domain("an integer >= 1, or any number > 0 where no ⟨x, y⟩ + c is negative", _whole_or_real)


@kernel(
    of="dot",
    symmetric=True,
    definite=lambda degree, c: True if isinstance(degree, int) else None,
    parameters={"degree": _degree, "c": nonnegative},
)
def poly(dot, degree=3, c=1.0):
    """(⟨x, y⟩ + c)^degree.

    Positive definite for integers. A degree that is no integer is for samples with ⟨x, y⟩ + c ≥ 0, such as non-negative
    ones: elsewhere the power is not a number: there is a warning, and solvers say for which samples.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("poly(degree=2, c=1.0)")([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[144.0]]
    """
    return pow(dot + c, degree)


def _poly_range(single, degree, c):
    low, high = of_powers(degree, single)
    return (low if c == 0.0 else 0.0 if single else PRODUCTS[0]), high


poly._range_of = _poly_range


@kernel(of="dot", symmetric=True, definite=False, parameters={"c": real, "t": real}, name="tanh")
def tanh_(dot, c=1.0, t=0.0):
    """tanh(c ⟨x, y⟩ + t).

    Indefinite, also for c > 0. Huang, Maier, Hornegger & Suykens, Indefinite kernels in least squares support vector
    machines and principal component analysis, ACHA 43 (2017).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("tanh(c=1.0, t=0.0)")([[0.0]], [[5.0]]).tolist()
    [[0.0]]
    """
    return tanh(c * dot + t)


def _tanh_range(single, c, t):
    return of_powers(1, single)[0], PRODUCTS[1]


tanh_._range_of = _tanh_range


def _log_gauss(norm, sigma):
    return -norm / sigma / sigma


def _gauss_excess(dot, sigma):
    return expm1(2.0 * dot / sigma / sigma)


# exp(-|x-z|²/σ²) = exp(-|x|²/σ²) exp(-|z|²/σ²) (1 + expm1(2⟨x,z⟩/σ²))
_gauss = Split(_log_gauss, _log_gauss, _gauss_excess)


@kernel(of="sqeuclidean", symmetric=True, definite=True, parameters={"sigma": width}, split=_gauss)
def rbf(d2, sigma="scale"):
    """exp(-|x - y|² / sigma²).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("rbf(sigma=1.0)")([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """
    return exp(-d2 / sigma / sigma)


@kernel(of="l1", symmetric=True, definite=True, parameters={"sigma": width})
def laplacian(l1, sigma="scale"):
    """exp(-|x - y|₁ / sigma).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("laplacian(sigma=0.5)")([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.1353], [0.1353, 1.0]]
    """
    return exp(-l1 / sigma)


@kernel(of="l1", symmetric=True, definite=None, parameters={"rho": width})
def tl1(l1, rho="4*scale"):
    """max(rho - |x - y|₁, 0).

    Indefinite in more than one dimension; rho = 0.7 times the number of features is the usual choice. Huang, Suykens,
    Wang, Hornegger & Maier, Classification with truncated l1 distance kernel, TNNLS 29 (2018).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("tl1(rho=3.0)")([[0.0], [1.0]]).tolist()
    [[3.0, 2.0], [2.0, 3.0]]
    """
    return max(rho - l1, 0.0)


@kernel(of="sqeuclidean", normalize="rows", log=True, definite=None, parameters={"sigma": width}, split=_gauss)
def sne(d2, sigma="scale"):
    """exp(-|x - y|² / sigma²) / Σ_z exp(-|x - z|² / sigma²), z over the reference set.

    Asymmetric: the conditional probability of stochastic neighbour embedding. He, He, Shi, Huang & Suykens, Learning
    with asymmetric kernels: least squares and feature interpretation, TPAMI 45 (2023).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("sne(sigma=1.0)")([[0.0], [1.0], [3.0]]).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    return -d2 / sigma / sigma


@kernel(of="sqeuclidean", normalize="rows", definite=None, parameters={"sigma": width})
def t(d2, sigma="scale"):
    """(1 + |x - y|² / sigma²)⁻¹ / Σ_z (1 + |x - z|² / sigma²)⁻¹, z over the reference set.

    Asymmetric; sigma = 1 is the T kernel of He et al., Learning with asymmetric kernels, TPAMI 45 (2023).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("t(sigma=1.0)")([[0.0]], [[0.0], [1.0]]).round(4).tolist()
    [[0.6667, 0.3333]]
    """
    return 1.0 / (1.0 + d2 / sigma / sigma)


@kernel(of="sqeuclidean", symmetric=True, definite=True, parameters={"sigma": width})
def cauchy(d2, sigma="scale"):
    """1 / (1 + |x - y|² / sigma²).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("cauchy(sigma=1.0)")([[0.0], [1.0]]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    return 1.0 / (1.0 + d2 / sigma / sigma)


@kernel(of="sqeuclidean", symmetric=True, definite=True, parameters={"sigma": width, "nu": choice(0.5, 1.5, 2.5)})
def matern(d2, sigma="scale", nu=1.5):
    """exp(-s), (1 + s) exp(-s) or (1 + s + s²/3) exp(-s), s = sqrt(2 nu) |x - y| / sigma, for nu = 0.5, 1.5, 2.5.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("matern(sigma=1.0, nu=0.5)")([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.3679], [0.3679, 1.0]]
    """
    s = min(sqrt(2.0 * nu * d2) / sigma, 1000.0)  # exp(-1000) is zero, and zero times infinity would not be
    linear_part = 0.0 if nu < 1.0 else s
    square_part = s * s / 3.0 if nu > 2.0 else 0.0
    return (1.0 + linear_part + square_part) * exp(-s)


@kernel(of="sqeuclidean", symmetric=True, definite=True, parameters={"sigma": width, "alpha": positive})
def rational_quadratic(d2, sigma="scale", alpha=1.0):
    """(1 + |x - y|² / (2 alpha sigma²))^(-alpha).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("rational-quadratic(sigma=1.0, alpha=0.5)")([[0.0], [1.0]]).round(4).tolist()
    [[1.0, 0.7071], [0.7071, 1.0]]
    """
    return pow(1.0 + d2 / (2.0 * alpha) / sigma / sigma, -alpha)


def _chi2_term(x, y):
    total = x + y
    return (x - y) * (x - y) / (total if total > 0.0 else 1.0)


@kernel(of=_chi2_term, symmetric=True, definite=True, inputs="nonnegative", parameters={"sigma": width})
def chi2(distance, sigma="scale"):
    """exp(-Σ_d (x_d - y_d)² / (x_d + y_d) / sigma), for non-negative features.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("chi2(sigma=1.0)")([[0.5, 0.5]], [[1.0, 0.0]]).round(4).tolist()
    [[0.5134]]
    """
    return exp(-distance / sigma)


def _minimum(x, y):
    return min(x, y)


@kernel(of=_minimum, symmetric=True, definite=True, inputs="nonnegative")
def intersection(overlap):
    """Σ_d min(x_d, y_d), for non-negative features.

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("intersection")([[2.0, 1.0]], [[1.0, 3.0]]).tolist()
    [[2.0]]
    """
    return overlap


intersection._safe_range = SUMS


def _relative_entropy(p, q):
    # 0 log 0 = 0; where q = 0 < p the divergence is infinite, and log(p / 0) is.
    return p * log(p / q) if p > 0.0 else 0.0


@kernel(of=_relative_entropy, definite=None, inputs="distribution", parameters={"a": positive})
def kl(divergence, a=1.0):
    """exp(-a KL(x ‖ y)), KL(x ‖ y) = Σ_d x_d log(x_d / y_d), for discrete distributions in rows.

    Asymmetric; zero where y gives no weight to something x contains. He et al., Learning with asymmetric kernels,
    TPAMI 45 (2023).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("kl")([[0.5, 0.5], [0.9, 0.1]]).round(4).tolist()
    [[1.0, 0.6], [0.6921, 1.0]]
    """
    return exp(-a * divergence)


@kernel(of="rows", definite=None, inputs="gaussian", parameters={"a": positive})
def kl_gaussian(x, y, a=1.0):
    """exp(-a KL(N_x ‖ N_y)) for diagonal Gaussians in rows: the means, then the variances.

    KL = ½ Σ_d (log(v_y/v_x) + (v_x + (m_x - m_y)²)/v_y - 1).

    Examples
    --------
    >>> import kernreg as kr
    >>> kr.make_kernel("kl-gaussian")([[0.0, 1.0]], [[1.0, 1.0]]).round(4).tolist()
    [[0.6065]]
    """
    half = len(x) // 2
    divergence = 0.0
    for d in range(half):
        gap, v_x, v_y = x[d] - y[d], x[half + d], y[half + d]
        divergence += log(v_y / v_x) + (v_x + gap * gap) / v_y - 1.0
    return exp(-0.5 * a * divergence)
