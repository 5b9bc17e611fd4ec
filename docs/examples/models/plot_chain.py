"""Chains combine steps, machines and their votes
===============================================

One machine is soft and misses details, another is sharp and follows the noise. A
chain scales the data, fits both side by side and lets an ensembler weigh them by
exact leave-one-out.
"""

import json

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.plotting import DecisionViewsDisplay

X, y = make_moons(400, noise=0.3, random_state=0)
train, test = slice(0, 120), slice(120, None)

# %%
# A step is a spec, or any estimator of scikit-learn. ``stack`` learns the weights of
# the two machines without refits.

chain = kr.make_chain(
    StandardScaler(),
    kr.parallel(
        soft="ls-svm(kernel='rbf(sigma=3.0)', gamma=1.0)",
        sharp="ls-svm(kernel='rbf(sigma=0.3)', gamma=1.0)",
    ),
    "stack",
).fit(X[train], y[train])

views = {**chain.decision_views(X[test]), "merged": chain.decision_function(X[test])}
scores = {name: np.mean((view > 0) == y[test]) for name, view in views.items()}
print(", ".join(f"{name} {score:.3f}" for name, score in scores.items()))
assert scores["merged"] > max(scores["soft"], scores["sharp"])

# %%
# A chain is text, too: this is all that another program needs to build it again.

print(json.dumps(chain.spec(), indent=1)[:340], "…")

# %%
# Where each machine draws the line, and what the chain makes of both.

display = DecisionViewsDisplay.from_estimator(chain, X[train], y[train])
for ax, (name, score) in zip(display.axes_, scores.items(), strict=True):
    ax.set_title(f"{name}: {score:.0%} right on unseen samples")
plt.show()
