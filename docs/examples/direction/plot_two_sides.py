"""Kernel SVD shows both sides of an asymmetric kernel
======================================================

A machine runs through a cycle, and its next state lies 60 degrees further on. The
kernel k(x, z) says how well z follows x. Kernel SVD gives every state two places: one
as a beginning, one as a continuation.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg import kernel
from kernreg.jit import exp
from kernreg.kernels import symmetrize

rng = np.random.default_rng(0)
angle = np.sort(rng.uniform(0, 2 * np.pi, 150))
X = np.column_stack([np.cos(angle), np.sin(angle)])
X += 0.03 * rng.standard_normal(X.shape)
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
pca = kr.make_solver("kpca", kernel=symmetrize(follows()), n_components=2).fit(X)

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
# Kernel PCA of the symmetrised kernel has one place for each state. The ring is
# there; that it turns is forgotten.

fig, axes = plt.subplots(1, 3, figsize=(11, 4.3), layout="constrained")
panels = {
    "States as beginnings (ksvd, left)": left,
    f"As continuations (ksvd, right):\nturned by {shift:.0f}°": right,
    "Symmetrised (kpca):\none side, no turn": pca.transform(X),
}
for ax, (title, scores) in zip(axes, panels.items(), strict=True):
    reach = 1.15 * np.abs(scores).max()
    points = ax.scatter(
        *scores.T, c=np.degrees(angle), cmap="twilight_shifted", vmin=0, vmax=360, s=26
    )
    for state in (10, 85):  # the same two states in every panel
        ax.annotate(
            "", scores[state], (0, 0), arrowprops={"arrowstyle": "->", "linewidth": 1.5}
        )
    ax.set(
        title=title,
        xlim=(-reach, reach),
        ylim=(-reach, reach),
        aspect="equal",
        xticks=[],
        yticks=[],
    )
fig.colorbar(
    points,
    ax=axes,
    label="angle of the state, degrees",
    ticks=[0, 90, 180, 270, 360],
    shrink=0.8,
)
plt.show()
