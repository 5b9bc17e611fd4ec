"""Kernels of structured samples, for kernreg: samples that are not rows of numbers.

alignment.py   gak: global alignment of time series; log_gak, its logarithm
recursion.py     the sum over all alignments (compiled)
bags.py        gmm-kl: the Kullback-Leibler kernel between bags of vectors (asymmetric); kl_divergence
mixtures.py      Gaussians and mixtures of them, fitted to a bag
divergences.py   divergences between mixtures (compiled): closed, variational, by draws
mixed.py       gower: numbers and categories, with missing values
tables.py        how tables with categories are read and packed
coefficients.py  the coefficient of pairs of rows (compiled)
"""

from kernreg_structured.alignment import gak, log_gak
from kernreg_structured.bags import Divergence, gmm_kl, kl_divergence
from kernreg_structured.mixed import gower

__version__ = "0.1.0"

# The version of kernreg's plugin interface this was written for.
__kernreg_api__ = "1.0"

__all__ = ["Divergence", "gak", "gmm_kl", "gower", "kl_divergence", "log_gak"]
