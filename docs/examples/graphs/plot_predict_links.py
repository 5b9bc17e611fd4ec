"""Predict missing links
=======================

Accounts follow accounts, and a tenth of the links is missing from our data.
Embeddings with a source side and a target side say which links to expect, and in
which direction.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score, roc_curve

from kernreg.graphs import embed_nodes, link_prediction, split_edges
from kernreg.plotting import PALETTE

rng = np.random.default_rng(0)
group = np.arange(300) % 5
# Each group follows the next one.
follows = np.where((group[:, None] + 1) % 5 == group, 0.3, 0.02)
graph = sp.csr_array((rng.random((300, 300)) < follows).astype(float))

# %%
# Hold out a tenth of the links, and draw as many pairs of accounts without one. The
# inner product of a source and a target scores a pair. A method that ignores
# direction gives (i, j) and (j, i) the same score.

split = split_edges(graph, test_size=0.1, random_state=0)
start, end = split.pairs.T


def scores(train):
    """Score the pairs by embeddings of the remaining links."""
    sources, targets = embed_nodes(train, n_components=6)
    return np.einsum("ij,ij->i", sources[start], targets[end])


directed, undirected = scores(split.graph), scores(split.graph + split.graph.T)

# %%
# One split may be luck. ``link_prediction`` repeats it.

embeddings = {
    "directed": lambda train: embed_nodes(train, 6),
    "undirected": lambda train: embed_nodes(train + train.T, 6),
}
areas = {}
for name, embed in embeddings.items():
    areas[name] = link_prediction(graph, embed, n_trials=5)["auc"]
    print(f"{name}: area under the curve {areas[name].mean():.2f}")
assert areas["directed"].min() > areas["undirected"].max() + 0.03

# %%
# The share of missing links that is found, against the share of false alarms.

fig, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
for values, name, colour, style in (
    (directed, "sources and targets", PALETTE[0], "-"),
    (undirected, "direction ignored", PALETTE[1], "--"),
):
    false_alarms, found, _ = roc_curve(split.labels, values)
    label = f"{name}: area {roc_auc_score(split.labels, values):.2f}"
    ax.plot(false_alarms, found, style, color=colour, linewidth=2, label=label)
ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
ax.set(
    title="Finding links that were held out",
    xlabel="false alarms",
    ylabel="missing links found",
)
ax.legend(loc="lower right")
plt.show()
