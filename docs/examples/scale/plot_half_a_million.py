"""Half a million rows
====================

An exact kernel machine needs a matrix of all pairs of rows: two terabytes for half a
million of them. On landmarks the same machine reads the rows in blocks, and its time
grows in proportion to their number.

This is the longest example of the gallery, some seconds on two cores. The environment
variable ``KERNREG_EXAMPLE_ROWS`` makes it smaller, or larger:
``KERNREG_EXAMPLE_ROWS=5000000 python plot_half_a_million.py``.
"""

import os
import time

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.plotting import PALETTE

rows = int(os.environ.get("KERNREG_EXAMPLE_ROWS", 500_000))
rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, (rows, 2))
y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1])
y += rng.standard_normal(rows)  # more noise than signal: it takes many rows

grid = np.stack(
    np.meshgrid(np.linspace(-3, 3, 80), np.linspace(-3, 3, 80)), axis=-1
).reshape(-1, 2)
truth = np.sin(2 * grid[:, 0]) * np.cos(grid[:, 1])

# %%
# ``strategy="lowrank"`` takes some of the rows as landmarks and learns from all of
# them. Samples may also stay on disk: ``kernreg.open_samples`` opens files of any
# size.

model = kr.make_solver(
    "ls-svr", kernel="rbf(sigma=1.5)", strategy="lowrank", n_landmarks=200
)
sizes = np.geomspace(500, rows, 4).round().astype(int)
errors, maps = [], []
for n in sizes:
    started = time.perf_counter()
    model.fit(X[:n], y[:n])
    seconds = time.perf_counter() - started  # in the end, those of all rows
    maps.append(model.predict(grid))
    errors.append(np.sqrt(np.mean((maps[-1] - truth) ** 2)))
    print(f"{n:>9,} rows: error {errors[-1]:.3f}")

# %%
# Ten times as many rows make the error about three times smaller.

assert errors[-1] < errors[0] / 5

# %%
# What is learned from 500 of the rows, and from all of them. The seconds are those of
# the computer that built this page.

fig, axes = plt.subplots(
    1, 3, figsize=(12, 3.9), layout="constrained", width_ratios=[1, 1, 1.1]
)
titles = "Learned from 500 rows", f"From {rows:,} rows, in {seconds:.1f} s"
for ax, which, title in zip(axes[:2], (0, -1), titles, strict=True):
    image = ax.imshow(
        maps[which].reshape(80, 80),
        extent=(-3, 3, -3, 3),
        origin="lower",
        cmap="cividis",
        vmin=-1.2,
        vmax=1.2,
    )
    ax.set(title=title, xticks=[], yticks=[])
fig.colorbar(image, ax=axes[1], label="prediction")
axes[2].loglog(sizes, errors, "o-", color=PALETTE[0])
axes[2].set(
    title="The error falls with the rows",
    xlabel="rows",
    ylabel="root mean square error",
)
plt.show()
