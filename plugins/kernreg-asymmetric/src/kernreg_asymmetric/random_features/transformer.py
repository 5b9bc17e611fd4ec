"""AsK-RFFs: explicit two-sided random features of asymmetric shift-invariant kernels.

He, He, Liu & Huang, Random Fourier features for asymmetric kernels, arXiv:2209.08461 (2022). Rahimi & Recht, Random
features for large-scale kernel machines, NeurIPS 2007 (even kernels).

A continuous κ whose Fourier transform is integrable is κ(δ) = ∫ exp(i⟨ω, δ⟩) μ(dω) with a complex measure μ of finite
total mass. Each term w_j cos(⟨ω_j, δ⟩ + θ_j) of the estimate has the mean κ(δ)/D and is at most mass/D in size, so that
the root mean square error of D frequencies is at most mass/√D: √(mass² E cos² - κ²)/√D exactly, about 0.7 mass/√D for
samples far apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernreg.kernels import Kernel
from kernreg.linalg import generator
from kernreg.solvers import KernelParameters, check_choice, check_count, check_table, warn_beyond_budget
from kernreg_asymmetric.random_features.documentation import documented
from kernreg_asymmetric.random_features.feature_kernel import kernel_of_features
from kernreg_asymmetric.random_features.features import FORMS, FourierFeatures, draw_features
from kernreg_asymmetric.shift_invariant.spectra import spectral_measure


def fitted_features(
    kernel: Kernel, X: Any, weights: np.ndarray | None, n_frequencies: Any, form: str, random_state: Any
) -> tuple[Kernel, FourierFeatures, np.ndarray]:
    """Return the kernel with its widths as numbers, random features of it, and the total mass and those of parts."""
    check_choice("form", form, FORMS)
    kernel = kernel.resolve_widths(X, weights)
    measure = spectral_measure(kernel, X.shape[1])
    rng = generator(random_state)
    features = draw_features(measure, check_count("n_frequencies", n_frequencies), form, rng)
    return kernel, features, np.array([measure.mass, *measure.parts])


@documented
class AsKRFF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelParameters):
    """Random Fourier features φ (left) and ψ (right) with φ(x)ᵀψ(z) ≈ k(x, z) = κ(x - z), κ even or not.

    Parameters
    ----------
    {features}

    Attributes
    ----------
    kernel_ : Kernel
        The kernel φ(x)ᵀψ(z), ``ask-rff``, for any solver.
    approximated_ : Kernel
        The kernel it stands for, with numbers for widths.
    mass_ : float
        The total mass of |μ|.
    part_masses_ : ndarray of shape (4,)
        Of real⁺, real⁻, imag⁺, imag⁻.
    error_bound_ : float
        Bound on the root mean square error at any pair: the mass, or the sum of those of the parts, divided by √D, D
        the number of frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from kernreg import make_kernel
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> map = AsKRFF("shift-gauss(sigma=2.0, shift=0.5)", n_frequencies=1000).fit(X)
    >>> K = make_kernel("shift-gauss(sigma=2.0, shift=0.5)")(X)
    >>> error = np.sqrt(np.mean((map.transform(X) @ map.transform_right(X).T - K) ** 2))
    >>> bool(error < map.error_bound_), round(map.error_bound_, 4)
    (True, 0.0316)
    """

    def __init__(self, kernel: Any = None, n_frequencies: Any = 256, *, form: str = "polar", random_state: Any = 0):
        self.kernel = kernel
        self.n_frequencies = n_frequencies
        self.form = form
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> AsKRFF:
        """Draw frequencies; of the samples only their number of features matters, and the widths that are words."""
        X = check_table(self, X)
        self.approximated_, self._features, masses = fitted_features(
            self.resolve_kernel(), X, None, self.n_frequencies, self.form, self.random_state
        )
        self.mass_, self.part_masses_ = float(masses[0]), masses[1:]
        mass = self.mass_ if self.form == "polar" else float(self.part_masses_.sum())
        self.error_bound_ = mass / float(np.sqrt(len(self._features.weights)))
        self.kernel_ = kernel_of_features(self._features)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return φ(x) of samples in rows: the left side of the kernel."""
        X = self._checked(X, stacklevel=6)
        return self._features.left(X)

    def transform_right(self, X: Any) -> np.ndarray:
        """Return ψ(z) of samples in rows: the right side of the kernel."""
        X = self._checked(X, stacklevel=5)
        return self._features.right(X)

    def _checked(self, X: Any, *, stacklevel: int) -> Any:
        """Return samples to be transformed; warn where their features are more than the memory budget."""
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        n, width = X.shape[0], self._features.width
        what, needed = f"the {n} × {width} array of features", n * width * X.dtype.itemsize
        warn_beyond_budget(needed, what, "transform fewer samples at once", stacklevel=stacklevel)
        return X

    @property
    def _n_features_out(self) -> int:
        return self._features.width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
