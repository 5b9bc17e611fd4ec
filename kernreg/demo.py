"""A tour in one minute: ``make demo``, or ``python -m kernreg.demo``.

It shows what scikit-learn does to an asymmetric kernel, fits kernreg's solvers through kernels of plugins, draws the
two sides of an asymmetric similarity, learns a kernel from few labels in a chain, and keeps the chain in a file. Tables
are printed, pictures saved to ``demo_output/``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

import kernreg as kr
from kernreg.errors import KernregError

OUTPUT = Path("demo_output")
console = Console()


def main() -> None:
    """Run the tour."""
    console.rule("[bold]1. An asymmetric kernel in scikit-learn")
    show_mirroring()
    console.rule("[bold]2. A directed graph: direction is the information")
    graph_rows, K, kernel, groups = compare_on_graph()
    console.rule("[bold]3. Histograms: how much of x is contained in y")
    histogram_rows = compare_on_digits()
    OUTPUT.mkdir(exist_ok=True)
    console.rule("[bold]4. Two embeddings of one graph, and the poles of gamma")
    show_two_sides(kernel, groups)
    console.rule("[bold]5. A kernel learned from few labels, in a chain, in a file")
    learn_in_a_chain()
    draw(K, graph_rows, histogram_rows, OUTPUT / "demo.png")
    console.print(
        f"\nThe pictures are in [bold]{OUTPUT}[/bold]: {', '.join(sorted(p.name for p in OUTPUT.glob('*.png')))}."
    )


def show_mirroring() -> None:
    """scikit-learn evaluates half of a callable kernel and mirrors it; kernreg evaluates what was asked for."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import pairwise_kernels

    X = load_digits().data[:300]

    def containment(x: np.ndarray, y: np.ndarray) -> float:
        return float(np.minimum(x, y).sum() / x.sum())

    started = time.perf_counter()
    mirrored = pairwise_kernels(X, metric=containment)
    sklearn_seconds = time.perf_counter() - started
    kernel = kr.make_kernel("containment")  # from the plugin kernreg-histogram
    K = kernel(X)  # compiled or read from the cache
    started = time.perf_counter()
    K = kernel(X)
    seconds = time.perf_counter() - started
    truth = np.array([[containment(x, y) for y in X[:40]] for x in X[:40]])
    console.print("containment(x, y) = Σ min(x, y) / Σ x is not containment(y, x). On 300 digits:")
    table = Table("", "K[0, 1]", "K[1, 0]", "largest error", "milliseconds")
    rows = (("scikit-learn pairwise_kernels", mirrored, sklearn_seconds), ("kernreg", K, seconds))
    table.add_row("by the formula", f"{truth[0, 1]:.4f}", f"{truth[1, 0]:.4f}", "", "")
    for name, matrix, spent in rows:
        error = np.abs(matrix[:40, :40] - truth).max()
        table.add_row(name, f"{matrix[0, 1]:.4f}", f"{matrix[1, 0]:.4f}", f"{error:.1e}", f"{spent * 1e3:.1f}")
    console.print(table)


def compare_on_graph() -> tuple[list[tuple[str, float, float]], np.ndarray, Any, np.ndarray]:
    """Four groups of nodes; half of all nodes link at random, so only one direction of a link can be trusted."""
    rng = np.random.default_rng(0)
    n, groups = 1200, 4
    y = rng.integers(groups, size=n)
    probability = np.where(y[None, :] == y[:, None], 0.02, 0.002)
    careless = rng.random(n) < 0.5
    probability[careless] = 0.15
    graph = sp.csr_array((rng.random((n, n)) < probability).astype(float))
    nodes = rng.permutation(n)[:, None]
    kernel = kr.make_kernel("graph-adjacency", graph=graph, direction="citing")  # from the plugin kernreg-graph
    console.print(
        "1200 nodes in four groups. Half of them link to their own group, the others to anything; half of the labels "
        "are known."
    )
    K = kernel(np.argsort(y, kind="stable"))
    return compare(kernel, nodes, y[nodes.ravel()]), K, kernel, y


def compare_on_digits() -> list[tuple[str, float, float]]:
    """Handwritten digits as histograms of ink, with an asymmetric and with a symmetric kernel."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[:1200]
    return compare(kr.make_kernel("containment"), X[order] + 0.01, y[order])


def show_two_sides(graph_kernel: Any, groups: np.ndarray) -> None:
    """Kernel SVD places every sample twice; the leave-one-out path shows where AsK-LS has poles."""
    from kernreg.datasets import make_cycle
    from kernreg.kernels import symmetrize
    from kernreg.plotting import EmbeddingDisplay, LooPathDisplay

    plt = agg()
    K, y = make_cycle(400, noise=0.5, random_state=0)
    cycle, samples = kr.make_kernel("precomputed", K=K), np.arange(len(y))[:, None]
    console.print("Four classes in a circle, each pointing to the next: (K + Kᵀ)/2 has forgotten the direction.")
    svd = kr.make_solver("ksvd", kernel=cycle, n_components=2).fit(samples)
    symmetric = kr.make_solver("kpca", kernel=symmetrize(cycle), n_components=2).fit(samples)
    table = Table("two components of", "classes told apart (nearest mean)")
    for name, scores in (
        ("kpca on (K + Kᵀ)/2", symmetric.transform(samples)),
        ("ksvd, left side", svd.left_scores_),
        ("ksvd, right side", svd.right_scores_),
    ):
        table.add_row(name, f"{told_apart(scores, y):.2f}")
    console.print(table)
    names = ("left", "right")
    EmbeddingDisplay(svd.left_scores_, svd.right_scores_, left_labels=y, right_labels=y, names=names).plot()
    plt.savefig(OUTPUT / "two_sides.png", dpi=110)
    plt.close("all")
    nodes = np.arange(0, len(groups), 2)[:, None]
    path = kr.make_solver("ask-ls", kernel=graph_kernel, gamma="loo").fit(nodes, groups[nodes.ravel()])
    LooPathDisplay.from_estimator(path)
    plt.savefig(OUTPUT / "gamma.png", dpi=110, bbox_inches="tight")
    plt.close("all")
    console.print(
        f"On the graph above, gamma by exact leave-one-out is {path.gamma_:.3g} with accuracy {path.loo_score_:.3f}: "
        f"{len(path.loo_path_['gamma'])} values from one decomposition."
    )


def told_apart(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the accuracy of the nearest class mean."""
    means = np.stack([scores[y == label].mean(axis=0) for label in np.unique(y)])
    return float((((scores[:, None, :] - means) ** 2).sum(axis=2).argmin(axis=1) == y).mean())


def learn_in_a_chain() -> None:
    """Flowers of which 30 % are labelled: a kernel learned from the labels, then everything else on top of it."""
    from sklearn.datasets import load_iris
    from sklearn.preprocessing import scale

    X, y = load_iris(return_X_y=True)
    X = scale(X)
    chains = {
        "ls-svm": kr.make_chain("ls-svm(gamma='loo')", kernel="rbf(sigma=2.4)"),
        "scg-ldk → ls-svm": kr.make_chain("scg-ldk(gamma=0.01)", "ls-svm(gamma='loo')", kernel="rbf(sigma=2.4)"),
        "scg-ldk → kpca → two ls-svm → stack": kr.make_chain(
            "scg-ldk(gamma=0.01)",
            "kpca(n_components=20)",
            kr.parallel(soft="ls-svm(gamma=1.0)", hard="ls-svm(gamma=100.0)"),
            "stack",
            kernel="rbf(sigma=2.4)",
        ),
    }
    table = Table("150 flowers, 45 of them labelled", "accuracy on the others, 10 splits")
    for name, chain in chains.items():
        scores = []
        for split in range(10):
            order = np.random.default_rng(split).permutation(len(y))
            known, rest = order[:45], order[45:]
            partly = np.full(len(y), -1)
            partly[known] = y[known]
            fitted = chain.fit(X[known], y[known]) if name == "ls-svm" else chain.fit(X, partly)
            scores.append((fitted.predict(X[rest]) == y[rest]).mean())
        table.add_row(name, f"{np.mean(scores):.3f} ± {np.std(scores):.3f}")
    console.print(table)
    path = OUTPUT / "chain.kern"
    kr.save(chain, path)
    same = np.array_equal(kr.load(path).decision_function(X), chain.decision_function(X))
    console.print(
        f"Saved to {path} ({path.stat().st_size / 1e3:.0f} kB); loaded, its decisions are the same bits: {same}."
    )


def compare(kernel: Any, X: np.ndarray, y: np.ndarray) -> list[tuple[str, float, float]]:
    """Fit every method on the first half and score it on the second."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    from kernreg.kernels import symmetrize

    half = len(X) // 2
    train, test, y_train, y_test = X[:half], X[half:], y[:half], y[half:]
    rows = []

    def run(name: str, estimator: Any, fit_on: Any = train, score_on: Any = test) -> None:
        started = time.perf_counter()
        estimator.fit(fit_on, y_train)
        spent = time.perf_counter() - started
        rows.append((name, float(estimator.score(score_on, y_test)), spent))

    upper = np.triu(kernel(train))
    mirrored = upper + np.triu(upper, 1).T
    svc = GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10, 100, 1000]})
    run("SVC (C by search), kernel mirrored", svc, mirrored, kernel(test, train))
    run("ls-svm on (K + Kᵀ)/2", kr.make_solver("ls-svm", kernel=symmetrize(kernel), gamma="loo"))
    for ensembler in ("source", "target", "average", "stack"):
        solver = kr.make_solver("ask-ls", kernel=kernel, gamma="loo", ensembler=ensembler)
        run(f"ask-ls, {ensembler}", solver)
    # SVC is given its matrix and searches over C; the others evaluate the kernel and choose gamma.
    table = Table("method", "accuracy", "fit, milliseconds")
    for name, score, spent in rows:
        table.add_row(name, f"{score:.3f}", f"{spent * 1e3:.0f}")
    console.print(table)
    return rows


def draw(
    K: np.ndarray, graph_rows: list[tuple[str, float, float]], digit_rows: list[tuple[str, float, float]], path: Path
) -> None:
    """Save the kernel matrix of the graph beside the accuracies."""
    plt = agg()
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
    # Blocks of 20 nodes are averaged: single entries of a sparse matrix are too small to see.
    size = len(K) // 20 * 20
    blocks = K[:size, :size].reshape(size // 20, 20, size // 20, 20).mean(axis=(1, 3))
    image = left.imshow(blocks, cmap="viridis", extent=(0, size, size, 0))
    left.set(xlabel="target node, sorted by group", ylabel="source node, sorted by group")
    left.set_title("Kernel of the directed graph: K is not Kᵀ")
    figure.colorbar(image, ax=left, label="mean similarity of 20 × 20 nodes")
    positions = np.arange(len(graph_rows))
    right.barh(positions - 0.2, [score for _, score, _ in graph_rows], 0.38, label="directed graph")
    right.barh(positions + 0.2, [score for _, score, _ in digit_rows], 0.38, label="digits")
    right.set_yticks(positions, [name for name, _, _ in graph_rows])
    right.invert_yaxis()
    right.set(xlim=(0, 1), xlabel="accuracy on unseen samples", title="Accuracy of the methods")
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=2)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def agg() -> Any:
    """Return pyplot, drawing into files only."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    return plt


if __name__ == "__main__":
    try:
        main()
    except KernregError as error:  # a plugin that is not installed
        console.print(f"Error: {error}", markup=False)
        raise SystemExit(2) from None
