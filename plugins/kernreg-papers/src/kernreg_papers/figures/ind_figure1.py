"""IND Fig. 1: two concentric spheres, and what kernel PCA with the truncated ℓ1 kernel makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg import make_kernel
from kernreg.solvers import LSSVC, KernelPCA
from kernreg_papers.figures.description import Figure, Part
from kernreg_papers.figures.panels import clouds


def make_spheres(n_samples: int, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points on the spheres of radius 1 and 3 in space, as many on each, scaled to [0, 1].

    >>> X, y = make_spheres(200, 0)
    >>> X.shape, np.bincount(y).tolist(), float(X.min()), float(X.max())
    ((200, 3), [100, 100], 0.0, 1.0)
    """
    rng = np.random.default_rng(random_state)
    y = np.repeat([0, 1], n_samples // 2)
    X = rng.standard_normal((len(y), 3))
    X *= (np.where(y == 0, 1.0, 3.0) / np.linalg.norm(X, axis=1))[:, None]
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / (high - low), y


def compute(
    data: Any, seed: int, *, kernel: str, parameter: float, per_feature: bool, n_samples: int, toy_seed: int
) -> Any:
    """Return two coordinates, or the first two components, and how many points a line tells apart."""
    X, y = make_spheres(n_samples, toy_seed)
    if kernel == "points":
        return {"points": X[:, :2], "classes": y, "title": "two of the three coordinates", "told_apart": 0.0}
    name = {"rbf": "sigma", "tl1": "rho"}.get(kernel)
    value = parameter * X.shape[1] if per_feature else parameter
    made = make_kernel(kernel, **({name: value} if name else {}))
    Z = KernelPCA(made, 2).fit_transform(X)
    told = float(LSSVC(kernel="linear", gamma="loo").fit(Z, y).score(Z, y))
    shown = {"linear": "PCA", "rbf": f"RBF, σ = {value:g}", "tl1": f"TL1, ρ = {parameter:g} n"}[kernel]
    return {"points": Z, "classes": y, "title": f"{shown}: a line tells {told:.0%} apart", "told_apart": told}


def _part(name: str, label: str, kernel: str, parameter: float = 0.0) -> Part:
    settings = {"kernel": kernel, "parameter": parameter, "per_feature": kernel == "tl1"}
    return Part(name, label, compute, clouds, settings={**settings, "n_samples": 400, "toy_seed": 0})


FIGURE = Figure(
    name="ind-figure1",
    title="IND Fig. 1: two spheres, one within the other, reduced to two dimensions",
    paper="Huang, Maier, Hornegger & Suykens, Indefinite kernels in least squares support vector machines and "
    "principal component analysis, ACHA 43 (2017)",
    protocol="points on spheres of radius 1 and 3 in three dimensions; two components of PCA, of kernel PCA with the "
    "RBF kernel (σ = 0.05) and with the TL1 kernel (ρ = 0.1 n, 0.2 n, 0.5 n), n = 3.",
    reading="PCA mixes the spheres; with a suitable kernel a line separates them; TL1 with ρ = 0.5 n is nearly PCA.",
    parts=(
        _part("points", "samples", "points"),
        _part("pca", "PCA", "linear"),
        _part("rbf", "RBF", "rbf", 0.05),
        _part("tl1-01", "TL1 0.1n", "tl1", 0.1),
        _part("tl1-02", "TL1 0.2n", "tl1", 0.2),
        _part("tl1-05", "TL1 0.5n", "tl1", 0.5),
    ),
    differences=(
        "How many points there are and how they are scaled is not printed; here 200 on each sphere, in [0, 1].",
        "Components come by the largest |λ|. The share that a line tells apart is of the points shown.",
    ),
)
