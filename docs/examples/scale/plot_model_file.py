"""A model file holds numbers, not code
=====================================

Save a fitted model, look inside, load it elsewhere. The file is a zip of arrays and
JSON: nothing in it is run, and damage does not go unnoticed.
"""

import tempfile
import zipfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

import kernreg as kr
from kernreg.errors import DamagedModelFile
from kernreg.persistence import describe
from kernreg.plotting import PALETTE, DecisionViewsDisplay

X, y = make_moons(300, noise=0.2, random_state=0)
model = kr.make_solver("ls-svm", kernel="rbf(sigma=0.8)", gamma="loo").fit(X, y)

# %%
# Save, and load as another process would. Predictions are the same to the last bit.

path = Path(tempfile.mkdtemp()) / "moons.kern"
kr.save(model, path)
again = kr.load(path)
assert np.array_equal(again.decision_function(X), model.decision_function(X))

# %%
# ``describe`` says what a file needs before anything is loaded; on the command line
# that is ``kernreg show moons.kern``.

found = describe(path)
print(f"{found.model['name']}, written with kernreg {found.written_with['kernreg']}")
print("needs", ", ".join(str(needed) for needed in found.requirements))

# %%
# One changed bit, anywhere, is an error and never a wrong prediction.

broken = path.with_name("broken.kern")
data = bytearray(path.read_bytes())
data[len(data) // 3] ^= 1
broken.write_bytes(data)
try:
    kr.load(broken)
except DamagedModelFile as error:
    print("refused:", str(error).replace(str(broken.parent), "…"))
else:
    raise AssertionError("a damaged file was loaded")

# %%
# What is in the file, and what the loaded model decides.

with zipfile.ZipFile(path) as file:
    sizes = {member.filename: member.file_size / 1000 for member in file.infolist()}
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
colours = [PALETTE[0] if name.startswith("arrays") else PALETTE[1] for name in sizes]
bars = axes[0].barh(list(sizes), list(sizes.values()), color=colours)
axes[0].bar_label(bars, fmt="%.1f", padding=3)
axes[0].invert_yaxis()
axes[0].margins(x=0.15)
axes[0].set(title="Inside the file: arrays and JSON", xlabel="kilobytes")
DecisionViewsDisplay.from_estimator(again, X, y, ax=axes[1])
axes[1].set_title("Decisions of the loaded model")
plt.show()
