"""Classify nodes from an edge list
==================================

A file lists links between web pages, and the topics of a few pages are known. Half of
the pages are directories that link to anything, so whom a page links to says little,
and who links to it says a lot.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.datasets import make_directed_communities
from kernreg.graphs import classify_nodes
from kernreg.io import read_samples
from kernreg.plotting import PALETTE

# %%
# First the file, with one link per line. Yours will come from elsewhere.

graph, topic = make_directed_communities(
    300, 4, within=0.1, between=0.01, careless=0.5, random_state=0
)
path = Path(tempfile.mkdtemp()) / "links.edges"
np.savetxt(path, np.argwhere(graph.toarray()), fmt="%d")

# %%
# From the file to predictions: read it, make a kernel of the graph, fit on pages with
# a known topic. Samples are node numbers. Nodes may also have names, which are then
# in ``read_samples(path).names``.

links = read_samples(path).X
kernel = kr.make_kernel("adjacency", graph=links, cited=False)
known, unknown = np.split(np.random.default_rng(0).permutation(300), 2)
model = kr.make_solver("ask-ls", kernel=kernel, gamma="loo", ensembler="stack").fit(
    known, topic[known]
)
accuracy = model.score(unknown, topic[unknown])
print(f"accuracy on pages of unknown topic: {accuracy:.2f}")
assert accuracy > 0.8

# %%
# How many known topics does it take? ``classify_nodes`` repeats this over random
# splits; once with links as they are, once with every link in both directions.

both_ways = kr.make_kernel("adjacency", graph=links + links.T, cited=False)
kernels = {"directed links": kernel, "links without direction": both_ways}
shares, curves = np.array([0.2, 0.4, 0.6, 0.8]), {}
for name, k in kernels.items():
    solver = kr.make_solver("ask-ls", kernel=k, gamma=0.5, ensembler="stack")
    runs = [
        classify_nodes(
            np.arange(300), topic, solver, train_size=s, n_trials=5, random_state=0
        )
        for s in shares
    ]
    curves[name] = np.array([run["micro_f1"] for run in runs])
    print(f"{name:24}", curves[name].mean(axis=1).round(2))
directed, undirected = (curve.mean(axis=1) for curve in curves.values())
assert (directed > undirected + 0.05).all()

# %%
# With the direction kept, the same number of known topics goes further.

fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for (name, curve), colour, style in zip(
    curves.items(), PALETTE, ("o-", "s--"), strict=False
):
    mean, spread = curve.mean(axis=1), curve.std(axis=1)
    ax.plot(300 * shares, mean, style, color=colour, label=name)
    ax.fill_between(
        300 * shares, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0
    )
ax.set(
    xlabel="pages with a known topic, of 300",
    ylabel="accuracy on the others",
    ylim=(0.5, 1.0),
)
ax.set_title("The direction of links tells the topic of a page")
ax.legend(loc="lower right")
plt.show()
