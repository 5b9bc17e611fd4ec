"""The picture of the demo and of the README: the food web, and what is left of it without direction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kernreg as kr
from kernreg.demo.food_web import ROLES, FoodWeb
from kernreg.kernels import symmetrize

#: Colours that people with a colour vision deficiency tell apart, and markers for those who print in grey.
STYLES = (("#009E73", "o"), ("#E69F00", "s"), ("#CC3311", "^"), ("#0072B2", "D"))


def draw(web: FoodWeb, path: Path, *, without_direction: float, with_direction: float) -> None:
    """Draw the kernel matrix, kernel PCA of (K + Kᵀ)/2 and kernel SVD of K; the accuracies are written below."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.7), layout="constrained")
    draw_matrix(axes[0], web)
    symmetric = kr.make_solver("kpca", kernel=symmetrize(web.kernel), n_components=2).fit(web.species)
    draw_points(axes[1], symmetric.transform(web.species), web)
    axes[1].set_title("Symmetrised: two pairs of roles collapse", fontsize=12)
    axes[1].set_xlabel(f"kernel PCA of (K + Kᵀ)/2\ntuned SVC on it: accuracy {without_direction:.2f}", fontsize=11)
    directed = kr.make_solver("ksvd", kernel=web.kernel, n_components=2).fit(web.species)
    draw_points(axes[2], directed.transform(web.species), web)
    axes[2].set_title("As it is: all four roles come apart", fontsize=12)
    axes[2].set_xlabel(f"kernel SVD of K\nAsK-LS on it: accuracy {with_direction:.2f}", fontsize=11)
    handles, names = axes[2].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncol=len(ROLES), frameon=False, fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)


def draw_matrix(axes: Any, web: FoodWeb) -> None:
    """Show who feeds whom, species sorted by role."""
    order = np.argsort(web.roles, kind="stable")
    K = web.kernel(order[:, None])
    axes.imshow(K > 0, cmap="Greys", vmax=1.4, interpolation="none")
    edges = np.flatnonzero(np.diff(web.roles[order])) + 0.5
    middles = (np.r_[0, edges] + np.r_[edges, len(order)]) / 2
    for edge in edges:
        axes.axhline(edge, color="#888888", linewidth=0.8)
        axes.axvline(edge, color="#888888", linewidth=0.8)
    axes.set_xticks(middles, ROLES, fontsize=9)
    axes.set_yticks(middles, ROLES, fontsize=9, rotation=90, va="center")
    axes.tick_params(length=0)
    for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
        for tick, (colour, _) in zip(ticks, STYLES, strict=True):
            tick.set(color=colour, fontweight="bold")
    axes.set_ylabel("who gives", fontsize=11)
    axes.set_xlabel("who receives", fontsize=11)
    axes.set_title("Who feeds whom: K is not symmetric", fontsize=12)


def draw_points(axes: Any, scores: np.ndarray, web: FoodWeb) -> None:
    """Show two components, a colour and a marker for each role."""
    for role, (name, (colour, marker)) in enumerate(zip(ROLES, STYLES, strict=True)):
        points = scores[web.roles == role]
        axes.scatter(*points.T, s=22, c=colour, marker=marker, alpha=0.75, linewidths=0, label=name)
    axes.set(xticks=[], yticks=[])
