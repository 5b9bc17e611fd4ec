"""Every kernel of the package keeps the laws of kernels, with its default and with its other parameters."""

from __future__ import annotations

import numpy as np
import pytest
from kernreg_structured import gak, gmm_kl, gower

from kernreg.testing import kernel_checks, parametrize_with_checks


def series(rng, n):
    return [rng.normal(size=int(rng.integers(5, 9))).cumsum() for _ in range(n)]


def bags(rng, n):
    return [rng.normal(size=(int(rng.integers(1, 9)), 3)) for _ in range(n)]


def rows(rng, n):
    return np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 3, n)])


def words(rng, n):
    table = np.empty((n, 3), dtype=object)
    table[:, 0], table[:, 1:] = rng.normal(size=n), rng.choice(["a", "b", None], (n, 2))
    return table


OF_SERIES = [
    gak(sigma=1.0),
    gak(sigma=0.05),
    gak(sigma=1.0, band=4),
    gak(sigma=2.0, normalize=False),
    gak(sigma=1.0, log=True),
    gak(sigma=1.0, normalize=False, log=True, band=20),
]
OF_BAGS = [
    gmm_kl(a=0.1, components=3, variances=(1.0, 2.0, 1.0)),
    gmm_kl(a=0.1, covariance="diagonal", variances=(1.0, 2.0, 1.0), prior=0.1),
    gmm_kl(a=0.1, components=2, divergence="monte-carlo", draws=50, variances=(1.0, 1.0, 1.0)),
    gmm_kl(
        a=0.1,
        components=2,
        divergence="monte-carlo",
        draws=50,
        covariance="diagonal",
        variances=(1.0, 1.0, 1.0),
        seed=3,
    ),
]
OF_ROWS = [gower(categorical=(2,)), gower(ranges=(2.0, 9.0, 2.0), weights=(1.0, 0.0, 3.0))]


@parametrize_with_checks(
    [
        *(gak, gmm_kl, gower),
        *(check for kernel in OF_SERIES for check in kernel_checks(kernel, samples=series)),
        *(check for kernel in OF_BAGS for check in kernel_checks(kernel, samples=bags)),
        *(check for kernel in OF_ROWS for check in kernel_checks(kernel, samples=rows)),
        *kernel_checks(gower(), samples=words),
    ]
)
def test_laws(check):
    check()


@pytest.mark.parametrize("kernel", OF_SERIES, ids=repr)
def test_what_is_said_of_definiteness_is_true(kernel):
    K = kernel(series(np.random.default_rng(0), 40))
    least = np.linalg.eigvalsh(K)[0] / abs(K).max()
    assert (least > -1e-12) if kernel.definite else (least < -1e-3)


def test_gmm_kl_is_asymmetric_and_gower_indefinite_with_missing_values():
    rng = np.random.default_rng(0)
    K = gmm_kl(a=0.1)(bags(rng, 30))
    assert abs(K - K.T).max() > 0.1
    X = rng.normal(size=(60, 4))
    complete = gower()(X)
    assert np.linalg.eigvalsh(complete)[0] > -1e-12
    X[rng.random(X.shape) < 0.4] = np.nan
    assert np.linalg.eigvalsh(gower()(X))[0] < -0.1
