"""Symmetrising a kernel can destroy the answer
===============================================

Four groups stand in a circle, and each one writes to the next. Who writes to whom
identifies the group; once "to" and "from" are averaged, groups that stand opposite
each other look the same.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.datasets import make_cycle
from kernreg.errors import KernregError
from kernreg.kernels import symmetrize
from kernreg.plotting import PALETTE

K, y = make_cycle(200, random_state=0)  # K[i, j]: how much person i writes to person j
kernel = kr.make_kernel("precomputed", K=K)  # samples are row numbers of K
train, test = np.split(np.random.default_rng(0).permutation(200), 2)

# %%
# ``ls-svm`` needs a symmetric kernel. It does not repair this one behind your back:
# it refuses, and says what to use.

try:
    kr.make_solver("ls-svm", kernel=kernel).fit(train, y[train])
except KernregError as error:
    print(error)

# %%
# ``ask-ls`` learns from the kernel as it is. For comparison, ``ls-svm`` gets the
# average of both directions.

as_it_is = kr.make_solver("ask-ls", kernel=kernel, gamma="loo").fit(train, y[train])
averaged = kr.make_solver("ls-svm", kernel=symmetrize(kernel), gamma="loo")
averaged.fit(train, y[train])
scores = [averaged.score(test, y[test]), as_it_is.score(test, y[test])]
print(f"symmetrised: {scores[0]:.2f}, as it is: {scores[1]:.2f}")
assert 0.35 < scores[0] < 0.65  # a coin toss between two groups
assert scores[1] > 0.98

# %%
# On the left, every group has a pattern of its own. In the middle, groups 1 and 3
# have the same rows, and so have 2 and 4: a classifier can only guess between two.
# That is what the bars show.

order = np.argsort(y, kind="stable")
fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, matrix, title in (
    (axes[0], K, "Who writes to whom"),
    (axes[1], (K + K.T) / 2, "Both directions averaged"),
):
    ax.imshow(matrix[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1)
    ax.set(title=title, xlabel="group of the receiver", ylabel="group of the writer")
    ax.set(
        xticks=[25, 75, 125, 175],
        xticklabels="1234",
        yticks=[25, 75, 125, 175],
        yticklabels="1234",
    )
bars = axes[2].bar(
    ["averaged,\nls-svm", "as it is,\nask-ls"],
    scores,
    color=[PALETTE[1], PALETTE[0]],
    width=0.6,
)
axes[2].bar_label(bars, fmt="%.2f", fontsize=13)
axes[2].set(ylim=(0, 1.12), title="Accuracy on unseen people")
plt.show()
