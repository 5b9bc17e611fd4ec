"""Embed a directed graph
=========================

Firms buy from one another along a supply chain: mines, smelters, factories, shops. Kernel SVD draws every firm twice,
by whom it sells to and by whom it buys from.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import kernreg as kr
from kernreg.kernels import symmetrize
from kernreg.plotting import by_class

rng = np.random.default_rng(0)
names = ["mines", "smelters", "factories", "shops"]
tier = np.repeat(np.arange(4), 60)
sells = np.where(tier[:, None] + 1 == tier, 0.15, 0.01)  # mostly to the next tier
graph = sp.csr_array((rng.random((240, 240)) < sells).astype(float))

# %%
# ``adjacency`` makes a kernel of the graph: k(i, j) is the share of j among the customers of i. Samples are node numbers.

kernel = kr.make_kernel("adjacency", graph=graph, cited=False, self_loops=False)
nodes = np.arange(240)
svd = kr.make_solver("ksvd", kernel=kernel, n_components=2).fit(nodes)
pca = kr.make_solver("kpca", kernel=symmetrize(kernel), n_components=2).fit(nodes)
panels = {
    "Whom they sell to (ksvd, left)": svd.transform(nodes),
    "Whom they buy from (ksvd, right)": svd.transform_right(nodes),
    "Direction forgotten (kpca)": pca.transform(nodes),
}

# %%
# How well does the mean of each tier tell the firms apart? Smelters, factories and shops differ in whom they buy from;
# without the direction the tiers overlap.


def told_apart(scores):
    """Share of the firms that are nearest to the mean of their own tier."""
    means = np.array([scores[tier == t].mean(axis=0) for t in range(4)])
    return (((scores[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == tier).mean()


shares = [told_apart(scores) for scores in panels.values()]
print(", ".join(f"{share:.2f}" for share in shares))
assert min(shares[:2]) > shares[2] + 0.05

# %%
# Shops sell to nobody in particular, and mines buy from nobody: each is in the middle of one picture.

fig, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
for ax, (title, scores), share in zip(axes, panels.items(), shares, strict=True):
    for rows, name, colour, marker in by_class(tier, names):
        ax.scatter(*scores[rows].T, color=colour, marker=marker, s=20, alpha=0.8, label=name)
    ax.set(title=title, xlabel=f"{share:.0%} are nearest to the mean of their tier", xticks=[], yticks=[])
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()
