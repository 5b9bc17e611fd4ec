"""Histograms have kernels of their own
======================================

Two photographs are cut into small patches, and a patch is described by how often each
colour occurs in it. Kernels made for histograms tell more of the patches apart than a
Gaussian.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

import kernreg as kr
from kernreg.plotting import PALETTE

photos = load_sample_images().images
size = 16


def patches(photo):
    """Cut a photo into squares; return the share of each of 64 colours in every one."""
    down, across = photo.shape[0] // size, photo.shape[1] // size
    bins = (photo[: down * size, : across * size].astype(int) // 64) @ [16, 4, 1]
    squares = (
        bins.reshape(down, size, across, size).swapaxes(1, 2).reshape(down * across, -1)
    )
    return np.array([np.bincount(square, minlength=64) / size**2 for square in squares])


X = np.vstack([patches(photo) for photo in photos])
y = np.repeat([0, 1], len(X) // 2)
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:200], order[200:1600]

# %%
# Symmetric kernels go to ``ls-svm``; the Kullback-Leibler divergence is not
# symmetric, and goes to ``ask-ls``.

candidates = {
    "Gaussian": ("ls-svm", "rbf"),
    "intersection": ("ls-svm", "histogram-intersection"),
    "Jensen-Shannon": ("ls-svm", "jensen-shannon"),
    "Kullback-Leibler\n(asymmetric)": ("ask-ls", "histogram-kl(smoothing=0.01)"),
}
models = {
    name: kr.make_solver(solver, kernel=kernel, gamma="loo").fit(X[train], y[train])
    for name, (solver, kernel) in candidates.items()
}
errors = {name: 1 - model.score(X[test], y[test]) for name, model in models.items()}
for name, error in errors.items():
    print(f"{' '.join(name.split()):32} {error:.1%} wrong")
assert max(list(errors.values())[1:]) < errors["Gaussian"] - 0.005

# %%
# The photographs with the patches that the best of them gets wrong, and the errors of
# all.

best = min(errors, key=errors.get)
wrong = test[models[best].predict(X[test]) != y[test]]
fig, axes = plt.subplots(
    1, 3, figsize=(12, 3.6), layout="constrained", width_ratios=[1, 1, 1.1]
)
for which, ax in enumerate(axes[:2]):
    ax.imshow(photos[which])
    across = photos[which].shape[1] // size
    for number in wrong[y[wrong] == which] - which * len(X) // 2:
        corner = (number % across * size, number // across * size)
        ax.add_patch(
            plt.Rectangle(
                corner, size, size, fill=False, edgecolor="white", linewidth=2
            )
        )
    ax.set(title=f"Photo {which + 1}, with patches it gets wrong", xticks=[], yticks=[])
bars = axes[2].barh(
    list(errors),
    [100 * e for e in errors.values()],
    color=[PALETTE[1]] + [PALETTE[0]] * 3,
)
axes[2].bar_label(bars, fmt="%.1f %%", padding=3)
axes[2].invert_yaxis()
axes[2].margins(x=0.2)
axes[2].set(title="Patches in the wrong photo", xlabel="error on patches not seen, %")
plt.show()
