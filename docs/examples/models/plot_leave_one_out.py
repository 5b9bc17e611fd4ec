"""Exact leave-one-out, and where there is no solution
====================================================

How good is a model for each value of its regularisation γ? One decomposition answers
for all of them, exactly as if the model had been refitted without each sample; and it
shows the poles, values of γ where an indefinite kernel has no solution.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernreg as kr
from kernreg.plotting import LooPathDisplay

X, y = make_moons(60, noise=0.25, random_state=0)
gammas = np.logspace(-2, 2, 80)
kernel = kr.make_kernel("tl1", rho=2.5)  # symmetric, and indefinite
model = kr.make_solver("ls-svm", kernel=kernel, gamma=gammas).fit(X, y)
print(f"best: γ = {model.gamma_:.3g}, {model.loo_score_:.0%} right when left out")

# %%
# Check it the slow way at a few values: leave out each sample, refit, predict.


def by_refits(gamma):
    """Accuracy of 60 models, each fitted without one sample."""
    right = 0
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        one = kr.make_solver("ls-svm", kernel=kernel, gamma=gamma)
        right += one.fit(X[rest], y[rest]).predict(X[[i]])[0] == y[i]
    return right / len(X)


some = [8, 40, 64]
slow = np.array([by_refits(gammas[j]) for j in some])
fast = model.loo_path_["score"][some]
print("all at once:", fast.round(3), " by refits:", slow.round(3))
assert np.array_equal(fast.round(9), slow.round(9))

# %%
# Near a pole the decision values grow without bound, and leave-one-out shows it. A
# grid over γ that is too coarse would step over the poles and notice nothing.

fig, ax = plt.subplots(figsize=(8, 4.8), layout="constrained")
display = LooPathDisplay.from_estimator(
    model, ax=ax, title="Leave-one-out over γ, with the poles of an indefinite kernel"
)
ax.plot(gammas[some], slow, "o", markersize=14, markerfacecolor="none", color="black")
ax.annotate(
    "refitted 60 times",
    (gammas[some[0]], slow[0]),
    (0, 22),
    textcoords="offset points",
    ha="center",
)
assert len(display.poles) > 0
plt.show()
