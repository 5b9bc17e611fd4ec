"""SCG Fig. 2: handwritten digits in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.manifold import SpectralEmbedding

from kernreg import make_kernel
from kernreg.errors import ParameterError
from kernreg.solvers import SCGLDK, KernelPCA
from kernreg_papers.figures.description import Figure, Part
from kernreg_papers.figures.panels import clouds
from kernreg_papers.methods.samples.kernel_learning import median_distance
from kernreg_papers.tables.scg.columns import PAPER

TITLES = {"pca": "PCA", "kpca": "kernel PCA (Gaussian)", "laplacian": "Laplacian eigenmap", "scg-ldk": "SCG-LDK"}


def compute(data: Any, seed: int, *, method: str, per_digit: int, sample_seed: int, width: float, gamma: float) -> Any:
    """Return two coordinates of as many images of each digit."""
    rng = np.random.default_rng(sample_seed)
    y = np.asarray(data.y)
    chosen = np.concatenate([rng.permutation(np.flatnonzero(y == digit))[:per_digit] for digit in np.unique(y)])
    X, y = np.asarray(data.X[chosen], dtype=np.float64), y[chosen]
    gaussian = make_kernel("rbf", sigma=width * median_distance(X[rng.permutation(len(X))]))
    if method == "pca":
        points = KernelPCA("linear", 2).fit_transform(X)
    elif method == "kpca":
        points = KernelPCA(gaussian, 2).fit_transform(X)
    elif method == "laplacian":
        points = SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=10, random_state=0).fit_transform(X)
    elif method == "scg-ldk":
        points = KernelPCA(SCGLDK(kernel=gaussian, gamma=gamma).fit(X, y).kernel_, 2).fit_transform(X)
    else:
        raise ParameterError(f"method={method!r} is not accepted; give {', '.join(TITLES)}")
    scale = float(np.abs(points).max())
    return {"points": np.round(points / scale, 4), "classes": y, "title": TITLES[method]}


def _part(method: str) -> Part:
    settings = {"method": method, "per_digit": 400, "sample_seed": 0, "width": 1.0, "gamma": 10.0}
    return Part(method, TITLES[method], compute, clouds, "usps", settings, {"per_digit": 40})


FIGURE = Figure(
    name="scg-figure2",
    title="SCG Fig. 2: USPS digits in the plane",
    paper=PAPER,
    protocol="400 images of each of ten digits; two coordinates. SCG-LDK has all labels, as in the paper.",
    reading="PCA and Laplacian eigenmaps mix the digits; SCG-LDK sets 3, 6, 8 and 0 apart; 4 overlaps 9, 1 overlaps 7.",
    parts=tuple(map(_part, TITLES)),
    columns=2,
    size=(4.8, 3.8),
    differences=(
        "Which images the paper takes, and γ and the width of SCG-LDK, are not said: here 400 at random, γ = 10, "
        "and the median distance.",
        "Laplacian eigenmaps are scikit-learn's. CMVU, a semidefinite program, is not part of kernreg.",
    ),
)
