"""The same fit on a Dask cluster
================================

The rows of a large table lie on several workers of a cluster. With the engine
``dask`` every solver works on them where they are; only sums of the size of the
landmarks travel.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

import kernreg as kr
from kernreg.plotting import PALETTE

# %%
# Four workers of this process stand in for a cluster here;
# ``Client("tcp://scheduler:8786")`` connects to a real one.

client = Client(processes=False, n_workers=4, dashboard_address=":0")

# %%
# The rows are made on the workers, in eight chunks, and stay there.

generator = da.random.default_rng(0)
X = generator.uniform(-3, 3, size=(8_000, 2), chunks=(1_000, 2)).persist()
noise = generator.normal(0, 0.2, size=8_000, chunks=1_000)
y = (da.sin(2 * X[:, 0]) * da.cos(X[:, 1]) + noise).persist()

spec = "ls-svr(kernel='rbf(sigma=1.5)', strategy='lowrank', n_landmarks=100)"
with kr.config_context(engine="dask"):
    model = kr.make_solver(spec).fit(X, y)
    predicted = model.predict(X)  # a lazy dask array, with the chunks of X
    error = float(da.sqrt(((predicted - y) ** 2).mean()).compute())
print(f"root mean square error {error:.3f}; the noise alone is 0.2")
assert error < 0.23

# %%
# Without the cluster the result is the same, up to rounding errors.

local = kr.make_solver(spec).fit(X.compute(), y.compute())
grid = np.stack(
    np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-3, 3, 60)), axis=-1
).reshape(-1, 2)
difference = np.abs(local.predict(grid) - model.predict(grid)).max()
print(f"largest difference between the two models: {difference:.0e}")
assert difference < 1e-6

# %%
# Where the scheduler has put the rows, and what was learned from them.

places = client.who_has(X)
workers = sorted({place for found in places.values() for place in found})
held = [1_000 * sum(worker in found for found in places.values()) for worker in workers]

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
bars = axes[0].barh(
    [f"worker {i + 1}" for i in range(len(workers))], held, color=PALETTE[0]
)
axes[0].bar_label(bars, fmt="{:,.0f}", padding=3)
axes[0].invert_yaxis()
axes[0].margins(x=0.2)
axes[0].set(title="Rows held by each worker", xlabel="rows")
image = axes[1].imshow(
    model.predict(grid).reshape(60, 60),
    extent=(-3, 3, -3, 3),
    origin="lower",
    cmap="cividis",
)
axes[1].set(
    title="The function learned from all of them",
    xlabel="first feature",
    ylabel="second feature",
)
fig.colorbar(image, ax=axes[1], label="prediction")
client.close()
plt.show()
