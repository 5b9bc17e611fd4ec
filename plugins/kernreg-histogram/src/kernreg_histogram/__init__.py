"""Kernels of histograms, for kernreg.

    divergences.py   exp(-a divergence): histogram-kl (asymmetric), histogram-chi2, hellinger, jensen-shannon
    overlaps.py      what two histograms share: additive-chi2, bhattacharyya, histogram-intersection,
                     containment (asymmetric)

Samples are rows of non-negative numbers, dense or CSR. Nothing is rescaled behind your back: only
``histogram-kl`` and ``containment`` divide rows by their sums, and say so.
"""

from kernreg_histogram.divergences import hellinger, histogram_chi2, histogram_kl, jensen_shannon
from kernreg_histogram.overlaps import additive_chi2, bhattacharyya, containment, histogram_intersection

__version__ = "0.1.0"

# The version of kernreg's plugin interface this was written for.
__kernreg_api__ = "1.0"

__all__ = [
    "additive_chi2",
    "bhattacharyya",
    "containment",
    "hellinger",
    "histogram_chi2",
    "histogram_intersection",
    "histogram_kl",
    "jensen_shannon",
]
