"""KSVD Figs. 5 and 6: classification of nodes from subsampled kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernreg import make_kernel
from kernreg.graphs import graph_samples
from kernreg.metrics import f1_scores
from kernreg.solvers import LSSVC, AsymmetricNystroem, KernelPCA, KernelSVD
from kernreg_papers.data.splits import busiest_nodes
from kernreg_papers.figures.description import Figure, Part
from kernreg_papers.figures.panels import BLUE, GREEN
from kernreg_papers.methods.candidates import choosing_samples
from kernreg_papers.methods.graphs.accuracy_times import bandwidth
from kernreg_papers.methods.graphs.node_embedding import CHOOSING
from kernreg_papers.tables.ksvd.table1 import PAPER


def compute(
    data: Any,
    seed: int,
    *,
    sizes: Sequence[int],
    components: int,
    trials: int,
    nodes: int | None,
    exact: bool,
    loops: bool,
) -> Any:
    """Return micro and macro F1 of LS-SVM on components of both methods, for each number of landmarks."""
    graph, y = data.X, np.asarray(data.y)
    if nodes is not None:
        kept = np.sort(busiest_nodes(graph, nodes))
        graph, y = graph[kept][:, kept], y[kept]
    A, B = graph_samples(graph.T, self_loops=loops)  # as in Table 1
    kernel = make_kernel("rbf", sigma=bandwidth(A, 1.0))
    n = len(y)
    splits = [np.split(np.random.default_rng(seed + t).permutation(n), [round(0.6 * n)]) for t in range(trials)]
    found: dict[str, Any] = {"name": data.name, "sizes": list(sizes), "kpca": [], "ksvd": []}
    for m in sizes:
        settings: dict[str, Any] = {"n_components": min(m, components), "n_landmarks": m, "random_state": seed}
        found["kpca"].append(_f1(AsymmetricNystroem(kernel, **settings).fit(A).left_scores_, y, splits))
        model = AsymmetricNystroem(kernel, **settings).fit((A, B))
        found["ksvd"].append(_f1(np.hstack([model.left_scores_, model.right_scores_]), y, splits))
    if exact:
        r = min(components, n - 1)
        found["exact"] = {"kpca": _f1(KernelPCA(kernel, r).fit_transform(A), y, splits)}
        whole = KernelSVD(kernel, r).fit((A, B))
        found["exact"]["ksvd"] = _f1(np.hstack([whole.left_scores_, whole.right_scores_]), y, splits)
    return found


def _f1(E: np.ndarray, y: np.ndarray, splits: Sequence[Any]) -> list[float]:
    E = E / np.sqrt((E**2).sum(axis=1).mean())
    scores = []
    for number, (train, test) in enumerate(splits):
        some = train[choosing_samples(len(train), CHOOSING, number)]
        model = LSSVC("linear", gamma="loo").fit(E[some], y[some])
        if len(some) < len(train):
            model = LSSVC("linear", gamma=model.gamma_).fit(E[train], y[train])
        scores.append(f1_scores(y[test], model.predict(E[test])))
    return [float(value) for value in np.mean(scores, axis=0)]


def draw(axes: list[Any], values: Mapping[str, Any]) -> None:
    """Draw micro and macro F1; dashed lines are the exact solutions."""
    for place, (ax, name) in enumerate(zip(axes, ("micro F1", "macro F1"), strict=True)):
        for method, label, colour in (("ksvd", "KSVD", GREEN), ("kpca", "KPCA", BLUE)):
            line = [pair[place] for pair in values[method]]
            ax.plot(values["sizes"], line, color=colour, marker="o", markersize=4, label=label)
            if "exact" in values:
                ax.axhline(values["exact"][method][place], color=colour, linestyle="--", linewidth=1)
        ax.set(title=f"{values['name']}, {name}", xlabel="landmarks m")
        ax.legend(fontsize=8)


def _part(name: str, *, exact: bool = True, trials: int = 3) -> Part:
    settings = {"sizes": [100, 250, 500, 1000, 1500], "components": 500, "trials": trials, "nodes": None}
    settings |= {"exact": exact, "loops": True}
    quick = {"sizes": [40, 80, 160], "components": 80, "trials": 1, "nodes": 400}
    return Part(name, name.capitalize(), compute, draw, name, settings, quick, panels=2)


FIGURE = Figure(
    name="ksvd-figure5",
    title="KSVD Figs. 5 and 6: classification of nodes from landmarks",
    paper=PAPER,
    protocol="RBF kernel; kernel PCA by symmetric, kernel SVD by asymmetric Nyström, m landmarks; LS-SVM on the "
    "components. Dashed: without landmarks.",
    reading="KSVD is above KPCA at every m on all three graphs, and loses little by subsampling.",
    parts=(_part("cora"), _part("citeseer"), _part("pubmed", exact=False, trials=1)),
    columns=2,
    size=(4.6, 3.2),
    differences=(
        "At most 500 components (the paper: 1000), and no more than landmarks; 60/40 splits, three of them, "
        "of Pubmed one.",
        "σ = √(n v), not chosen by cross-validation; γ of the LS-SVM by leave-one-out, of Pubmed on 3000 of its "
        "training nodes.",
        "Pubmed has no exact line here: its matrix takes 3 GB.",
    ),
)
