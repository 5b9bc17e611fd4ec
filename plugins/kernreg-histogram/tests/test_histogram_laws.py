"""Every kernel of the package keeps the laws of kernels, on counts with empty bins."""

from __future__ import annotations

import kernreg_histogram
from kernreg_histogram import histogram_intersection, histogram_kl, jensen_shannon

from kernreg.testing import parametrize_with_checks

FAMILIES = [getattr(kernreg_histogram, name) for name in kernreg_histogram.__all__]


@parametrize_with_checks(
    [*FAMILIES, histogram_kl(a=3.0, smoothing=1e-6), histogram_intersection(b=2.5), jensen_shannon(4.0)]
)
def test_laws(check):
    check()
