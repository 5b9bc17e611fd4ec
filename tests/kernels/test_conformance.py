"""The laws of the conformance kit, kept by every built-in kernel and by combinations of them."""

from __future__ import annotations

import kernreg as kr
from kernreg.kernels import centered, spectrum, symmetrize
from kernreg.kernels.builtin import laplacian, linear, poly, rbf, sne, t, tanh_, tl1
from kernreg.registry import get_registry
from kernreg.testing import parametrize_with_checks

FAMILIES = [
    get_registry("kernel").get(entry.name)
    for entry in kr.available("kernel")
    if entry.distribution == "kernreg" and entry.status in ("available", "loaded")
]
COMBINATIONS = [
    rbf(sigma=2.0) + 0.5 * laplacian(sigma=3.0),
    sne(self_term=False) * linear(),
    t().T,
    (sne() + rbf()).T,
    symmetrize(sne(self_term=False), "left"),
    symmetrize(t(), "right"),
    centered(sne()),
    spectrum(tanh_(c=0.5, t=-1.0), "flip"),
    spectrum(tl1(rho=3.0), "shift"),
    poly(degree=2) ** 2,
]


@parametrize_with_checks([*FAMILIES, *COMBINATIONS])
def test_built_in_kernels_and_combinations_keep_the_laws(check):
    check()


def test_all_families_are_there():
    assert len(FAMILIES) >= 26
