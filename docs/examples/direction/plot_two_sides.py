"""Kernel SVD shows both sides of an asymmetric kernel
======================================================

A machine runs through a cycle, and its next state lies 60 degrees further on. The kernel k(x, z) says how well z follows
x. Kernel SVD gives every state two places: one as a beginning, one as a continuation.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg import kernel
from kernreg.jit import exp
from kernreg.kernels import symmetrize

rng = np.random.default_rng(0)
angle = np.sort(rng.uniform(0, 2 * np.pi, 150))
X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.03 * rng.standard_normal((150, 2))
C, S = np.cos(np.pi / 3), np.sin(np.pi / 3)


@kernel(of="rows")
def follows(x, z, sigma=1.0):
    """exp(-|R x - z|² / sigma²), where R turns x by 60 degrees."""
    ahead, aside = C * x[0] - S * x[1] - z[0], S * x[0] + C * x[1] - z[1]
    return exp(-(ahead * ahead + aside * aside) / (sigma * sigma))


# %%
# Fit both sides at once. ``transform`` and ``transform_right`` place new states, too.

svd = kr.make_solver("ksvd", kernel=follows(), n_components=2).fit(X)
left, right = svd.transform(X), svd.transform_right(X)
pca = kr.make_solver("kpca", kernel=symmetrize(follows()), n_components=2).fit_transform(X)

# %%
# Both sides are the same ring, and one is turned against the other: by how much?


def turned(a, b):
    """Mean angle in degrees from the points a to the points b."""
    complex_a, complex_b = a[:, 0] + 1j * a[:, 1], b[:, 0] + 1j * b[:, 1]
    return np.degrees(np.angle(np.mean(complex_b * complex_a.conj())))


shift = abs(turned(left, right))
print(f"The two sides are turned by {shift:.0f} degrees.")
assert abs(shift - 60) < 5

# %%
# Kernel PCA of the symmetrised kernel has one place for each state. The ring is there; that it turns is forgotten.

fig, axes = plt.subplots(1, 3, figsize=(11, 4.2), layout="constrained")
panels = ((left, "ksvd: states as beginnings"), (right, "ksvd: the same states as continuations"), (pca, "kpca, symmetrised"))
marked = [10, 85]  # two states, followed from panel to panel
for ax, (scores, title) in zip(axes, panels, strict=True):
    points = ax.scatter(*scores.T, c=np.degrees(angle), cmap="twilight", s=22)
    for number, i in enumerate(marked):
        ax.plot([0, scores[i, 0]], [0, scores[i, 1]], color="black", linestyle=("-", "--")[number])
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
fig.colorbar(points, ax=axes, label="angle of the state, degrees", ticks=[0, 90, 180, 270, 360], aspect=30)
plt.show()
