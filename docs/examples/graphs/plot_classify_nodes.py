"""Classify nodes from an edge list
==================================

A file lists links between web pages, and the topics of a few pages are known. Half of the pages are directories that
link to anything, so whom a page links to says little, and who links to it says a lot.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.datasets import make_directed_communities
from kernreg.graphs import classify_nodes
from kernreg.io import read_samples
from kernreg.kernels import symmetrize
from kernreg.plotting import PALETTE

# %%
# First the file, with one link per line. Yours will come from elsewhere.

graph, topic = make_directed_communities(400, 4, within=0.06, careless=0.5, careless_links=0.1, random_state=0)
path = Path(tempfile.mkdtemp()) / "links.edges"
path.write_text("".join(f"{source} {target}\n" for source, target in zip(*graph.nonzero(), strict=True)))

# %%
# From the file to predictions: read it, make a kernel of the graph, fit on pages with a known topic. Samples are node
# numbers. Nodes may also have names, which are then in ``read_samples(path).names``.

links = read_samples(path).X
kernel = kr.make_kernel("adjacency", graph=links)
known, unknown = np.split(np.random.default_rng(0).permutation(400), [120])
model = kr.make_solver("ask-ls", kernel=kernel, gamma="loo").fit(known, topic[known])
print(f"accuracy on pages of unknown topic: {model.score(unknown, topic[unknown]):.2f}")

# %%
# How many known topics does it take? ``classify_nodes`` repeats this over random splits. The dashed line forgets the
# direction of links.

solvers = {
    "ask-ls, directed links": kr.make_solver("ask-ls", kernel=kernel, gamma="loo"),
    "ls-svm, links without direction": kr.make_solver("ls-svm", kernel=symmetrize(kernel), gamma="loo"),
}
shares = np.array([0.1, 0.2, 0.4, 0.6, 0.8])
nodes = np.arange(400)
curves = {
    name: np.array([classify_nodes(nodes, topic, solver, train_size=s, random_state=0)["micro_f1"] for s in shares])
    for name, solver in solvers.items()
}
directed, undirected = (curve.mean(axis=1) for curve in curves.values())
print("directed  ", directed.round(2), "\nundirected", undirected.round(2))
assert (directed[1:] > undirected[1:] + 0.05).all()

# %%
# With the direction kept, the same number of known topics goes further.

fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for (name, curve), colour, style in zip(curves.items(), PALETTE, ("o-", "s--"), strict=False):
    mean, spread = curve.mean(axis=1), curve.std(axis=1)
    ax.plot(400 * shares, mean, style, color=colour, label=name)
    ax.fill_between(400 * shares, mean - spread, mean + spread, color=colour, alpha=0.2, linewidth=0)
ax.set(xlabel="pages with a known topic, of 400", ylabel="accuracy on the others", ylim=(0.2, 1.02))
ax.set_title("The direction of links tells the topic of a page")
ax.legend(loc="lower right")
plt.show()
