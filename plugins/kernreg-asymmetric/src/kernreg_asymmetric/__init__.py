"""Asymmetric kernels by construction, for kernreg: complex spectra, and bandwidths that differ from sample to sample.

    shift_invariant/  kernels k(x, z) = κ(x - z) with κ not even, and their complex spectral measures
    random_features/  ask-rff: two-sided random Fourier features of them; AsK-LS on features, linear in the samples
    bandwidths/       local-rbf: widths by local scaling; lab-rbf: a bandwidth learned for every centre
    targets.py        targets as columns of numbers

Only public names of kernreg are used.
"""

from kernreg_asymmetric.bandwidths.lab_rbf import LABRBFClassifier, LABRBFRegressor
from kernreg_asymmetric.bandwidths.local_scaling import local_rbf
from kernreg_asymmetric.bandwidths.per_centre import lab_rbf
from kernreg_asymmetric.random_features.feature_kernel import ask_rff
from kernreg_asymmetric.random_features.machines import AsKRFFClassifier, AsKRFFRegressor
from kernreg_asymmetric.random_features.transformer import AsKRFF
from kernreg_asymmetric.shift_invariant.kernels import cosh_gauss, shift_gauss, sinh_gauss, skew_laplace
from kernreg_asymmetric.shift_invariant.measures import SpectralMeasure
from kernreg_asymmetric.shift_invariant.profiles import profile_product, tabulated
from kernreg_asymmetric.shift_invariant.spectra import spectral_measure

__version__ = "0.1.0"

# The version of kernreg's plugin interface this was written for.
__kernreg_api__ = "1.0"

__all__ = [
    "AsKRFF",
    "AsKRFFClassifier",
    "AsKRFFRegressor",
    "LABRBFClassifier",
    "LABRBFRegressor",
    "SpectralMeasure",
    "ask_rff",
    "cosh_gauss",
    "lab_rbf",
    "local_rbf",
    "profile_product",
    "shift_gauss",
    "sinh_gauss",
    "skew_laplace",
    "spectral_measure",
    "tabulated",
]
