"""Embed a directed graph
=========================

Plants feed grazers, grazers feed hunters, hunters feed decomposers, and these feed
the plants. Kernel SVD draws every species twice: by whom it feeds, and by who feeds
it.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import kernreg as kr
from kernreg.kernels import symmetrize
from kernreg.plotting import by_class

rng = np.random.default_rng(0)
names = ["plants", "grazers", "hunters", "decomposers"]
group = np.repeat(np.arange(4), 60)
feeds = np.where((group[:, None] + 1) % 4 == group, 0.25, 0.02)  # mostly the next group
graph = sp.csr_array((rng.random((240, 240)) < feeds).astype(float))

# %%
# ``adjacency`` makes a kernel of the graph: k(i, j) is the share of j among those
# that i feeds. Samples are node numbers.

kernel = kr.make_kernel("adjacency", graph=graph, cited=False, self_loops=False)
nodes = np.arange(240)
svd = kr.make_solver("ksvd", kernel=kernel, n_components=2).fit(nodes)
pca = kr.make_solver("kpca", kernel=symmetrize(kernel), n_components=2).fit(nodes)
panels = {
    "By whom they feed (ksvd, left)": svd.transform(nodes),
    "By who feeds them (ksvd, right)": svd.transform_right(nodes),
    "Direction forgotten (kpca)": pca.transform(nodes),
}

# %%
# How well do the means of the groups tell the species apart? Without the direction,
# plants look like hunters: both stand between grazers and decomposers.


def told_apart(scores):
    """Share of the species that are nearest to the mean of their own group."""
    means = np.array([scores[group == c].mean(axis=0) for c in range(4)])
    return (((scores[:, None] - means) ** 2).sum(axis=2).argmin(axis=1) == group).mean()


shares = [told_apart(scores) for scores in panels.values()]
print(", ".join(f"{share:.2f}" for share in shares))
assert min(shares[:2]) > 0.9
assert shares[2] < 0.7

# %%
# Each side has four groups in four places. Average the directions, and two and two of
# them fall on top of each other.

fig, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
for ax, (title, scores), share in zip(axes, panels.items(), shares, strict=True):
    for rows, name, colour, marker in by_class(group, names):
        ax.scatter(
            *scores[rows].T, color=colour, marker=marker, s=20, alpha=0.8, label=name
        )
    ax.set(
        title=title,
        xlabel=f"{share:.0%} nearest to the mean of their group",
        xticks=[],
        yticks=[],
    )
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()
