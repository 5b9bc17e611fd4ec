"""SCG Fig. 3: time to learn a kernel against the number of labels."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.preprocessing import scale

from kernreg_papers.figures.description import Figure, Part
from kernreg_papers.figures.panels import curves
from kernreg_papers.methods.samples.kernel_learning import HIDDEN, learn_kernel
from kernreg_papers.tables.scg.columns import PAPER, PLUGIN

#: Learners of each panel; those that need the plugin.
PANELS = (("osk", "scg-osk"), ("ldk", "scg-ldk"))
OF_PLUGIN = ("osk", "ldk")
SETTINGS: dict[str, dict[str, Any]] = {
    "osk": {"n_neighbors": 5, "n_components": 50},
    "scg-osk": {"n_neighbors": 5, "method": "vertex", "n_components": 50},
    "ldk": {"width": 1.0, "gamma": 1.0, "max_iter": 20},
    "scg-ldk": {"width": 1.0, "gamma": 1.0},
}


def compute(data: Any, seed: int, *, shares: Sequence[float], repeats: int) -> Any:
    """Return the least time of some runs of each learner, for each share of labels."""
    X, y = scale(np.asarray(data.X, dtype=np.float64)), np.unique(data.y, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(y))
    found: dict[str, Any] = {"shares": list(shares), "seconds": {}}
    for learner in (name for panel in PANELS for name in panel):
        if learner in OF_PLUGIN and find_spec(PLUGIN) is None:
            continue
        learn_kernel(learner, X, y, **SETTINGS[learner])  # compiled code is compiled once
        found["seconds"][learner] = [
            min(_seconds(learner, X, y, order[: round(share * len(y))]) for _ in range(repeats)) for share in shares
        ]
    return found


def _seconds(learner: str, X: np.ndarray, y: np.ndarray, labelled: np.ndarray) -> float:
    known = np.full(len(y), HIDDEN)
    known[labelled] = y[labelled]
    started = time.perf_counter()
    learn_kernel(learner, X, known, **SETTINGS[learner])
    return time.perf_counter() - started


def draw(axes: list[Any], values: Mapping[str, Any]) -> None:
    """Draw the two panels, times on a logarithmic scale."""
    for ax, learners in zip(axes, PANELS, strict=True):
        lines = {name.upper(): values["seconds"][name] for name in learners if name in values["seconds"]}
        absent = [name.upper() for name in learners if name not in values["seconds"]]
        title = " and ".join(lines) + (f" ({', '.join(absent)}: plugin not installed)" if absent else "")
        curves(ax, values["shares"], lines, title=title, xlabel="share of labels", ylabel="seconds")
        ax.set_yscale("log")


FIGURE = Figure(
    name="scg-figure3",
    title="SCG Fig. 3: time against the number of labels",
    paper=PAPER,
    protocol="Heart, 270 samples; 5 % to 100 % of the labels are known; seconds to learn a kernel.",
    reading="OSK grows about linearly, LDK quadratically; SCG-OSK and SCG-LDK do not depend on the number of labels.",
    parts=(
        Part(
            "heart",
            "heart",
            compute,
            draw,
            "heart_statlog",
            {"shares": [round(0.05 * i, 2) for i in range(1, 21)], "repeats": 3},
            {"shares": [0.1, 0.4, 0.7, 1.0], "repeats": 1},
            panels=2,
        ),
    ),
    differences=(
        "Parameters are fixed: 50 eigenvectors, γ = 1, the median distance as width, at most 20 sweeps of LDK.",
        "Other machine, other code: the shape of the curves is to be compared, not their height.",
    ),
)
