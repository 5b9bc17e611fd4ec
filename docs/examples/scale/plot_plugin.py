"""A plugin from nothing
======================

One command writes a package with a kernel, its test and its entry point. Whoever
installs the package uses the kernel by its name, in every solver, in files and on the
command line.
"""

import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kernreg as kr
from kernreg.plotting import PALETTE
from kernreg.testing import check_kernel

# %%
# On a terminal this is ``kernreg new-plugin bell``.

folder = Path(tempfile.mkdtemp())
command = [sys.executable, "-m", "kernreg.cli", "new-plugin", "bell"]
subprocess.run([*command, "--into", folder], check=True, capture_output=True)
for path in sorted(folder.rglob("*")):
    if path.is_file():
        print(path.relative_to(folder))

# %%
# This is the kernel, ready to be changed to yours:

source = folder / "bell" / "src" / "kernreg_bell" / "__init__.py"
print(source.read_text(encoding="utf-8"))

# %%
# ``pip install ./bell`` makes it known to every program on this computer. To leave
# your installation alone, this example imports the package where it is, and registers
# the kernel for this process only.

sys.path.insert(0, str(source.parent.parent))
bell = import_module("kernreg_bell").bell
sys.path.pop(0)
kr.register("kernel", "bell", bell)

# %%
# Does it keep what it promises? ``kernreg check bell`` runs the same laws for an
# installed plugin.

check_kernel(bell)

# %%
# From now on it is a kernel like any other.

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-4, 4, 80))[:, None]
y = np.sinc(x[:, 0]) + 0.08 * rng.standard_normal(80)
model = kr.make_solver("ls-svr", kernel="bell(sigma=0.8)", gamma="loo").fit(x, y)
print(f"R² by leave-one-out: {model.loo_score_:.2f}")
assert model.loo_score_ > 0.8

grid = np.linspace(-4, 4, 400)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for sigma, style, colour in (
    (0.3, ":", PALETTE[1]),
    (0.8, "-", PALETTE[0]),
    (2.0, "--", PALETTE[2]),
):
    values = kr.make_kernel("bell", sigma=sigma)(grid, [[0.0]])
    axes[0].plot(
        grid, values, style, color=colour, linewidth=2, label=f"sigma = {sigma}"
    )
axes[0].set(title="The new kernel, k(x, 0)", xlabel="x")
axes[0].legend()
axes[1].plot(x, y, ".", color="0.5", label="samples")
axes[1].plot(
    grid,
    model.predict(grid),
    color=PALETTE[0],
    linewidth=2,
    label="ls-svr with the new kernel",
)
axes[1].set(title="At work in a solver", xlabel="x", ylim=(-0.45, 1.45))
axes[1].legend(loc="upper right")
plt.show()
