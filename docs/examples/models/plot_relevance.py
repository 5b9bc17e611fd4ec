"""Which features matter
=====================

A kernel of distances takes all features alike, so every feature that says nothing
hides a little of those that do. ``relevance`` learns a weight for each of them before
the machine sees the samples.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.plotting import PALETTE


def table(n_features, n=1200):
    """The first two features decide; the others are noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 40))[:, :n_features]
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] ** 2 > 1, "yes", "no")


# %%
# The weights contain the width of the kernel, so the machine after it has a width of
# one.

plain = kr.make_solver("ls-svm(kernel='laplacian', gamma='loo')")
weighted = kr.make_chain(
    "relevance(batch_size=300, max_iter=60)",
    "ls-svm(kernel='laplacian(sigma=1.0)', gamma='loo')",
)
counts = 2, 10, 40
scores = []
for count in counts:
    X, y = table(count)
    scores.append(
        [
            model.fit(X[:800], y[:800]).score(X[800:], y[800:])
            for model in (plain, weighted)
        ]
    )
    print(f"{count:>3} features: {scores[-1][0]:.3f} and {scores[-1][1]:.3f}")

# %%
# The more features, the worse the plain machine. With weights it is as good as if it
# had been told which two to look at.

assert scores[-1][1] > scores[-1][0] + 0.05
weights = weighted.named_steps_["relevance"].weights_
assert set(np.argsort(weights)[-2:]) == {0, 1}

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.bar(np.arange(len(weights)), weights, color=PALETTE[0])
left.set(title="Weights of forty features", xlabel="feature", ylabel="weight")
for number, label in enumerate(("features as they are", "with relevance")):
    right.plot(
        counts, np.array(scores)[:, number], "o-", color=PALETTE[number], label=label
    )
right.set(title="Two of them decide", xlabel="features", ylabel="test accuracy")
right.legend()
plt.show()
