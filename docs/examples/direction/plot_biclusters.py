"""Biclustering sorts rows and columns together
===============================================

A table says which of 300 readers know which of 120 books, and it looks like noise. A
kernel between rows and columns finds the groups of both sides at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.datasets import make_documents
from kernreg.metrics import nmi

table, readers, books = make_documents(
    300, 120, 3, within=0.3, between=0.05, random_state=0
)
rng = np.random.default_rng(0)
rows, columns = rng.permutation(300), rng.permutation(120)
table, readers, books = table[rows][:, columns], readers[rows], books[columns]

# %%
# Clusters of rows and clusters of columns carry the same numbers: books of cluster 0
# are those that readers of cluster 0 know.

model = kr.make_solver("bicluster", n_clusters=3, random_state=0).fit(table)
agreement = nmi(readers, model.row_labels_), nmi(books, model.column_labels_)
print("agreement with the planted groups, 1 is perfect:")
print(f"readers {agreement[0]:.2f}, books {agreement[1]:.2f}")
assert min(agreement) > 0.9

# %%
# The same table, before and after sorting by cluster.

by_row = np.argsort(model.row_labels_, kind="stable")
by_column = np.argsort(model.column_labels_, kind="stable")
dense = table.toarray()
fig, axes = plt.subplots(1, 2, figsize=(9, 5), layout="constrained", sharey=True)
axes[0].imshow(dense, cmap="Blues", aspect="auto", interpolation="nearest")
axes[0].set(title="The table as it came", xlabel="book", ylabel="reader")
axes[1].imshow(
    dense[np.ix_(by_row, by_column)],
    cmap="Blues",
    aspect="auto",
    interpolation="nearest",
)
axes[1].set(title="Sorted by bicluster", xlabel="book")
for border in np.cumsum(np.bincount(model.row_labels_))[:-1]:
    axes[1].axhline(border - 0.5, color="black", linewidth=1)
for border in np.cumsum(np.bincount(model.column_labels_))[:-1]:
    axes[1].axvline(border - 0.5, color="black", linewidth=1)
plt.show()
