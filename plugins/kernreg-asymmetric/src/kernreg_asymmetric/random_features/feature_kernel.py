"""ask-rff, the kernel: the inner product of two random feature maps, a kernel of finite rank like any other."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg import kernel
from kernreg.errors import ParameterError
from kernreg.kernels import Kernel, matrix
from kernreg_asymmetric.random_features.features import FourierFeatures, pieces
from kernreg_asymmetric.targets import check_features


def _features(frequencies: Any, phases: Any, weights: Any) -> FourierFeatures:
    given = (value.toarray() if hasattr(value, "toarray") else value for value in (frequencies, phases, weights))
    W, theta, w = (np.asarray(value, dtype=np.float64) for value in given)
    if theta.shape != (1, len(W)) or w.shape != (1, len(W)):
        raise ParameterError(
            f"ask-rff: {len(W)} frequencies, phases of shape {theta.shape} and weights of shape {w.shape}; phases and "
            f"weights are rows of {len(W)} numbers"
        )
    if w.min(initial=0.0) < 0.0:
        raise ParameterError(f"ask-rff: the weight {w.min():g} is negative; a negative part is one with the phase π")
    return FourierFeatures(W, theta[0], w[0])


def kernel_of_features(features: FourierFeatures) -> Kernel:
    """Return the kernel φ(x)ᵀψ(z) of two feature maps."""
    return ask_rff(frequencies=features.frequencies, phases=features.phases[None, :], weights=features.weights[None, :])


def _example(rng: np.random.Generator, n: int) -> tuple[Kernel, np.ndarray]:
    features = FourierFeatures(rng.normal(size=(6, 3)), rng.uniform(-np.pi, np.pi, 6), rng.random(6))
    return kernel_of_features(features), rng.normal(size=(n, 3))


@kernel(
    of="blocks",
    prepare=_features,
    parameters={"frequencies": matrix, "phases": matrix, "weights": matrix},
    example=_example,
)
def ask_rff(A, B, features):
    """Σ_j w_j cos(⟨ω_j, x - z⟩ + θ_j): random Fourier features of an asymmetric kernel, summed up.

    ``frequencies`` has a row for each ω_j, ``phases`` and ``weights`` are rows. Its rank is twice the number of
    frequencies at most. `AsKRFF` draws them, and holds this kernel as ``kernel_``.

    >>> ask_rff(frequencies=[[2.0]], phases=[[0.5]], weights=[[1.0]])([[1.0]], [[0.0]]).round(4).tolist()
    [[-0.8011]]
    """
    for samples in (A, B):
        check_features("ask-rff", samples, features.frequencies.shape[1], "frequencies")
    parts = pieces(len(features.weights), 4 * (A.shape[0] + B.shape[0]) * A.dtype.itemsize)
    products = (part.left(A) @ part.right(B).T for part in map(features.some, parts))
    K = next(products)
    for product in products:
        K += product
    return K
