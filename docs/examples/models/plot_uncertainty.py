"""How sure is it? Intervals and probabilities
============================================

A forecast is more useful with its uncertainty. Regression gets intervals that hold
nine of ten new values, and classification gets probabilities that are close to what
happens.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernreg as kr
from kernreg.plotting import PALETTE, ReliabilityDisplay

rng = np.random.default_rng(0)
load = rng.uniform(0, 10, 1200)
energy = 3 * np.sin(load) + load + 0.6 * rng.standard_normal(1200)
model = kr.make_solver("ls-svr", kernel="rbf", gamma="loo").fit(
    load[:200, None], energy[:200]
)

# %%
# ``predict_interval`` asks the models without each one of the samples (jackknife+).
# It assumes nothing of the noise but that new samples come from where the old ones
# came from.

low, high = model.predict_interval(load[200:, None], coverage=0.9).T
covered = np.mean((low <= energy[200:]) & (energy[200:] <= high))
print(f"new values inside their intervals: {covered:.0%}")
assert 0.85 < covered < 0.95

# %%
# Probabilities are fitted to decision values of samples left out: of predictions with
# 80 %, about 80 % should be right.

points, moon = make_moons(3000, noise=0.4, random_state=0)
clf = kr.make_solver("ls-svm", kernel="rbf", gamma="loo").fit(points[:600], moon[:600])
probability = clf.predict_proba(points[600:])[:, 1]
confident = np.maximum(probability, 1 - probability)
claimed, right = confident.mean(), clf.score(points[600:], moon[600:])
print(f"claimed on average: {claimed:.2f}, right: {right:.2f}")
assert abs(claimed - right) < 0.04

# %%
# On the left, the band holds nine of ten new values. On the right, the frequencies
# are near the diagonal.

fig, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
grid = np.linspace(0, 10, 200)[:, None]
lower, upper = model.predict_interval(grid, coverage=0.9).T
axes[0].plot(
    load[200:500], energy[200:500], ".", color="0.45", markersize=4, label="new values"
)
axes[0].plot(grid, model.predict(grid), color=PALETTE[0], label="prediction")
axes[0].fill_between(
    grid[:, 0],
    lower,
    upper,
    color=PALETTE[0],
    alpha=0.25,
    linewidth=0,
    label="90 % interval",
)
axes[0].set(
    title=f"{covered:.0%} of new values are inside the band",
    xlabel="load",
    ylabel="energy",
)
axes[0].legend()
ReliabilityDisplay.from_estimator(clf, points[600:], moon[600:], ax=axes[1])
axes[1].set_title("Probabilities against what happens")
plt.show()
