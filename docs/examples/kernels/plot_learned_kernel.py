"""Learn a kernel from a few labels
==================================

Handwritten threes, fives and eights overlap in the first two components of kernel
PCA. Labels of every third picture are enough to learn a kernel whose first two
components are about the digits, for the unlabelled pictures as well.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.datasets import load
from kernreg.plotting import by_class

digits = load("digits")
chosen = np.flatnonzero(np.isin(digits.y, (3, 5, 8)))[:360]
X, y = digits.X[chosen], digits.y[chosen]
labels = np.where(np.arange(360) % 3 == 0, y, -1)  # -1: not labelled

# %%
# ``scg-ldk`` looks for the kernel that is closest to a given one and agrees with the
# labels. What it learned is an ordinary kernel, ``kernel_``, for these samples and
# for new ones, and runs in any solver.

learner = kr.make_solver("scg-ldk", kernel="rbf", gamma=1.0).fit(X, labels)
before = kr.make_solver("kpca", kernel="rbf", n_components=2).fit_transform(X)
after = kr.make_solver("kpca", kernel=learner.kernel_, n_components=2).fit_transform(X)

# %%
# Give every unlabelled picture to the class whose labelled pictures are nearest in
# the mean.


def told_apart(scores):
    """Share of the unlabelled pictures that the nearest class mean gets right."""
    means = np.array([scores[labels == c].mean(axis=0) for c in (3, 5, 8)])
    nearest = ((scores[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return np.mean((nearest == np.searchsorted([3, 5, 8], y))[labels == -1])


shares = told_apart(before), told_apart(after)
print(f"right: given kernel {shares[0]:.0%}, learned kernel {shares[1]:.0%}")
assert shares[1] > shares[0] + 0.03

# %%
# That helps whatever works with few components. A classifier that sees the whole
# kernel finds such directions by itself, and needs no learned kernel here:

known, rest = labels != -1, labels == -1
machine = kr.make_solver("ls-svm", kernel="rbf", gamma="loo").fit(X[known], y[known])
accuracy = machine.score(X[rest], y[rest])
print(f"ls-svm with the given kernel: {accuracy:.0%} right")
assert accuracy > 0.97

# %%
# Each unlabelled picture is a point. The learned kernel pulls the digits apart.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
titles = "Given kernel (rbf)", "Learned kernel (scg-ldk)"
for ax, scores, title, share in zip(axes, (before, after), titles, shares, strict=True):
    for rows, name, colour, marker in by_class(y):
        rows = rows[labels[rows] == -1]
        ax.scatter(
            *scores[rows].T,
            color=colour,
            marker=marker,
            s=24,
            alpha=0.8,
            label=f"digit {name}",
        )
    ax.set(
        title=title,
        xlabel=f"{share:.0%} of unlabelled pictures nearest to the right mean",
        xticks=[],
        yticks=[],
    )
axes[0].legend()
plt.show()
