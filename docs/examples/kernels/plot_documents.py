"""Which part of SciPy does this text describe?
=============================================

Documents come as text of any length. Word counts and a kernel that asks how much of
one text is contained in the other sort the help texts of SciPy's functions by module.
Containment has a direction: a short text may be contained in a long one, and not the
other way round.
"""

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import confusion_matrix

import kernreg as kr

modules = [
    "cluster.hierarchy",
    "fft",
    "integrate",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "spatial.distance",
]
texts, topics = [], []
for number, name in enumerate(modules):
    module = import_module(f"scipy.{name}")
    for public in module.__all__:
        text = inspect.getdoc(getattr(module, public)) or ""
        if len(text) > 300:
            texts.append(text)
            topics.append(number)
topics = np.array(topics)
lengths = [len(text) for text in texts]
print(f"{len(texts)} texts of {min(lengths)} to {max(lengths)} characters")

# %%
# A row of weights for each text, as a sparse matrix, which kernels take as it is.
# ``containment`` is asymmetric, so ``ask-ls`` learns from it; half of the texts are
# kept for the test.

order = np.random.default_rng(0).permutation(len(texts))
train, test = order[::2], order[1::2]
words = TfidfVectorizer(min_df=2, stop_words="english", norm=None)
words.fit([texts[i] for i in train])
X = words.transform(texts)

model = kr.make_solver("ask-ls", kernel="containment", gamma=100.0).fit(
    X[train], topics[train]
)
accuracy = model.score(X[test], topics[test])
print(f"accuracy on the other half: {accuracy:.2f}")
assert accuracy > 0.8

# %%
# Rows are the module a text comes from, columns the module it was given to.

shares = confusion_matrix(topics[test], model.predict(X[test]), normalize="true")
fig, ax = plt.subplots(figsize=(7, 5.6), layout="constrained")
image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
for (i, j), share in np.ndenumerate(shares):
    if share > 0.005:
        ax.text(
            j,
            i,
            f"{share:.0%}",
            ha="center",
            va="center",
            color="white" if share > 0.5 else "black",
        )
ax.set(xticks=range(len(modules)), yticks=range(len(modules)), yticklabels=modules)
ax.set_xticklabels(modules, rotation=35, ha="right")
ax.set(
    xlabel="predicted",
    ylabel="true",
    title=f"{accuracy:.0%} of the texts go to the right module",
)
plt.show()
