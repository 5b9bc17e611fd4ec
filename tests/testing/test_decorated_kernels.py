"""The kit on kernels made by the decorator: right ones pass, and the lies an author can tell are found."""

from __future__ import annotations

import numpy as np
import pytest

from kernreg import kernel
from kernreg.testing import LawViolation, check_kernel, kernel_checks, parametrize_with_checks
from kernreg.testing.asymmetric import lopsided


def squared_distances(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)


@kernel(of="blocks", symmetric=True, definite=True)
def gauss(X, Z, sigma=1.0):
    """exp(-|x - z|² / sigma²)."""
    return np.exp(-squared_distances(X, Z) / sigma**2)


@kernel(of="blocks", symmetric=False)
def gauss_saying_nothing(X, Z, sigma=1.0):
    """exp(-|x - z|² / sigma²), which is symmetric though nobody says so."""
    return np.exp(-squared_distances(X, Z) / sigma**2)


# The same laws in the two forms third parties use: the decorator, and the plain function.


@parametrize_with_checks([gauss, gauss(sigma=0.3), "rbf(sigma=2.0)", lopsided, *kernel_checks(gauss, seed=7)])
def test_right_kernels_keep_the_laws(check):
    check()


def test_a_kernel_need_not_declare_what_holds():
    check_kernel(gauss_saying_nothing)


@kernel(of="dot", symmetric=True, definite=True)
def indefinite(s):
    """s - 2, which is a definite kernel minus a constant."""
    return s - 2.0


@kernel(of="rows", symmetric=True)
def asymmetric_rows(x, z):
    """max(x_1 - z_1, 0), which is 0 one way round."""
    return max(x[0] - z[0], 0.0)


@kernel(of="blocks", symmetric=True)
def asymmetric_blocks(X, Z):
    """x_1 / (1 + |z_1|)."""
    return X[:, :1] / (1.0 + np.abs(Z[:, 0]))


@kernel(of="blocks", symmetric=True)
def transposed(X, Z):
    """exp(-|x - z|²), laid out the wrong way round."""
    return np.exp(-squared_distances(Z, X))


@kernel(of="blocks", symmetric=True)
def flattened(X, Z):
    """exp(-|x - z|²), without its rows."""
    return np.exp(-squared_distances(X, Z)).ravel()


@kernel(of="blocks", symmetric=True)
def random(X, Z):
    """A new random number each time."""
    return np.random.default_rng().random((len(X), len(Z)))


@kernel(of="blocks", symmetric=True)
def centring(X, Z):
    """⟨x, z⟩ after taking the mean of X from X itself."""
    X -= X.mean(axis=0)
    return X @ Z.T


@kernel(of="blocks", symmetric=False)
def block_dependent(X, Z):
    """⟨x, z⟩ divided by the largest value of the block."""
    return X @ Z.T / np.abs(X @ Z.T).max()


@kernel(of="sqeuclidean", symmetric=True)
def overflowing(d2):
    """1 / |x - z|², which is infinite where x = z."""
    return 1.0 / d2


@kernel(of="blocks", symmetric=True)
def undocumented(X, Z):
    return np.exp(-squared_distances(X, Z))


LIES = [
    (indefinite, {"declared definiteness"}),
    (asymmetric_rows, {"declared symmetry"}),
    (asymmetric_blocks, {"declared symmetry"}),
    (transposed, {"shape"}),
    (flattened, {"shape"}),
    (random, {"determinism"}),
    # Found at the first law it breaks: the arrays handed to it may be read-only already.
    (centring, {"shape", "input untouched"}),
    (block_dependent, {"one argument or two", "scalar agreement"}),
    (overflowing, {"shape"}),
    (undocumented, {"documented formula"}),
]


@pytest.mark.parametrize(("family", "laws"), LIES, ids=[family.name for family, _ in LIES])
def test_a_kernel_that_is_not_as_declared_is_found_out(family, laws):
    with pytest.raises(LawViolation) as caught:
        check_kernel(family)
    assert caught.value.law in laws
    assert caught.value.subject == f"kernel {family.name}"


def test_a_violation_shows_the_counter_example():
    with pytest.raises(LawViolation, match=r"k\(x, z\) = .* but k\(z, x\) = .* for x = \[.*\], z = \[.*\]"):
        check_kernel(asymmetric_rows)


@kernel(of="blocks", symmetric=False, parameters={})
def scaled(X, Z, factor=2.0):
    """factor ⟨x, z⟩."""
    return factor * (X @ Z.T)


def test_a_combined_kernel_can_be_checked():
    check_kernel(gauss(sigma=2.0) + scaled(factor=0.5), samples=lambda rng, n: rng.standard_normal((n, 4)))
