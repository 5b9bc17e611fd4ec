"""Pictures of kernels: what a kernel says of x and a fixed sample, both ways, and a matrix of it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import files
import numpy as np

ONE, OTHER = "#0072b2", "#d55e00"  # k(x, 0) and k(0, x)
POINTS = 61


def draw(family: Any, name: str, folder: Path) -> None:
    """Draw a kernel into a folder, unless it is there and the code is what it was."""
    picture, stamp = folder / f"{name}.png", folder / f"{name}.stamp"
    own = Path(__file__).read_text(encoding="utf-8")
    if picture.is_file() and files.is_fresh(stamp, own):
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a kernel far from the samples it is meant for may well say so
        places, K, middle, words = values(family)
    folder.mkdir(parents=True, exist_ok=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.7), layout="constrained")
    label = f"k(x, {words[1]})"
    style = {"marker": ".", "linestyle": "none"} if words[0] == "x" and words[1] == "first" else {}
    left.plot(places, K[:, middle], color=ONE, label=label, **style)
    if not np.allclose(K[:, middle], K[middle], rtol=1e-9):
        left.plot(places, K[middle], color=OTHER, linestyle=style.get("linestyle", "--"), marker=style.get("marker"),
                  label=f"k({words[1]}, x)")  # fmt: skip
    left.legend(frameon=False, fontsize=8)
    left.set_xlabel(words[0])
    left.spines[["top", "right"]].set_visible(False)
    span = (places[0], places[-1])
    image = right.imshow(K, cmap="viridis", extent=(*span, *span[::-1]), aspect="auto", interpolation="nearest")
    right.set(xlabel="z", ylabel="x", title="k(x, z)")
    right.title.set_fontsize(9)
    figure.colorbar(image, ax=right, fraction=0.05)
    figure.savefig(picture, dpi=100, facecolor="white", metadata={"Software": None})
    plt.close(figure)
    files.remember(stamp, own)


def values(family: Any) -> tuple[np.ndarray, np.ndarray, int, tuple[str, str]]:
    """Return places, the matrix of the samples there, which of them is fixed, and names for the axis and for it."""
    rng = np.random.default_rng(0)
    kernel, samples = family.example(rng, POINTS)
    line = np.linspace(-3.0, 3.0, POINTS)
    middle = POINTS // 2
    if family.inputs == "real":
        places = np.zeros((POINTS, samples.shape[1]))
        places[:, 0] = line
        if family.of == "dot":  # k(x, 0) is a constant
            return line, matrix(kernel, places), int(np.argmin(abs(line - 1.0))), ("x", "1")
        return line, matrix(kernel, places), middle, ("x", "0")
    if family.inputs in ("nonnegative", "distribution"):
        share = np.linspace(0.01, 0.99, POINTS)
        return share, matrix(kernel, np.c_[share, 1 - share]), middle, ("share of the first of two bins", "½")
    if family.inputs == "gaussian":
        return line, matrix(kernel, np.c_[line, np.ones(POINTS)]), middle, ("mean of x; variances are 1", "N(0, 1)")
    K = matrix(kernel, samples)
    return np.arange(len(K)), K, 0, ("x", "first")


def matrix(kernel: Any, samples: Any) -> np.ndarray:
    """Return the matrix of a kernel, bound to the samples where it depends on them."""
    K = kernel(samples)
    return K.toarray() if hasattr(K, "toarray") else np.asarray(K, dtype=float)
