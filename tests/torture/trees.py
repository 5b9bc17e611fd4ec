"""Kernels made of kernels, and their values in long double with a bound on what rounding may do to them.

The formulas are those of `torture.oracles`; sums over reference sets and corrected spectra are written out here.
Nothing computes by kernreg but `grown`, which makes the kernel of a tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import naive
import numpy as np
from naive import L

from torture.oracles import ORACLES

#: The width of a leaf is in units of the samples: kernel, its parameters, and which of them scale with the samples.
LEAVES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "rbf": ("rbf", {"sigma": 2.0}, ("sigma",)),
    "laplacian": ("laplacian", {"sigma": 3.0}, ("sigma",)),
    "linear": ("linear", {}, ()),
    "poly": ("poly", {"degree": 2}, ()),
    "tanh": ("tanh", {"c": 0.3}, ()),
    "sne": ("sne", {"sigma": 2.0}, ("sigma",)),
    "t": ("t", {"sigma": 1.5}, ("sigma",)),
    "cauchy": ("cauchy", {"sigma": 2.0}, ("sigma",)),
    "tl1": ("tl1", {"rho": 4.0}, ("rho",)),
    "matern": ("matern", {"sigma": 2.0}, ("sigma",)),
    "rbf median": ("rbf", {"sigma": "median"}, ()),
    "laplacian median": ("laplacian", {"sigma": "2*median"}, ()),
    "sne scale": ("sne", {"sigma": "scale"}, ()),
    "tl1 scale": ("tl1", {"rho": "3*scale"}, ()),
    "shift-gauss": ("shift-gauss", {"sigma": 3.0, "shift": 0.5}, ("sigma", "shift")),
    "skew-laplace": ("skew-laplace", {"above": 1.0, "below": 0.5}, ("above", "below")),
    "rational-quadratic": ("rational-quadratic", {"sigma": 2.0}, ("sigma",)),
    "local-rbf": ("local-rbf", {}, ()),
    "local-rbf both": ("local-rbf", {"n_neighbors": 2, "side": "both"}, ()),
    "compose": ("compose", {"kernel": "rbf(sigma=0.9)", "feature_map": np.tanh}, ()),
    "compose median": ("compose", {"kernel": "rbf(sigma='median')", "feature_map": np.cbrt}, ()),
}


def parameters(leaf: str, factor: float) -> dict[str, Any]:
    """The parameters of a leaf for samples that are so many times as large."""
    _, params, lengths = LEAVES[leaf]
    return {name: value * factor if name in lengths else value for name, value in params.items()}


def grown(node: Any, factor: float = 1.0) -> Any:
    """The kernel of a tree, a leaf or [name, parameters, kernels …]."""
    import kernreg as kr

    if isinstance(node, str):
        return kr.make_kernel(LEAVES[node][0], **parameters(node, factor))
    name, params, *parts = node
    kernels = [grown(part, factor) for part in parts]
    names = ("left", "right") if len(kernels) == 2 else ("kernel",)
    return kr.make_kernel(name, **dict(zip(names, kernels, strict=True)), **params)


def holds(node: Any, *names: str) -> bool:
    """Whether a tree has one of these kernels."""
    if isinstance(node, str):
        return node in names
    return node[0] in names or any(holds(part, *names) for part in node[2:])


@dataclass
class Values:
    """The values of a tree, their largest size at any place within it, and what rounding may change of them."""

    exact: np.ndarray
    error: float

    @property
    def size(self) -> float:
        """The largest value."""
        return float(np.abs(self.exact).max(initial=0.0))


class Tree:
    """The values of a tree of kernels.

    Parameters
    ----------
    factor : float
        How many times as large as usual the samples are.
    unit : float
        What a value of a leaf may be off by, relative to the largest of them.
    rounding : float
        The same of one operation.
    """

    def __init__(self, factor: float, unit: float, rounding: float):
        self.factor, self.unit, self.rounding = factor, unit, rounding
        #: The largest value of all kernels that were asked for: what may have cancelled.
        self.largest = 0.0

    def values(self, node: Any, X: np.ndarray, Z: np.ndarray, R: np.ndarray | None = None) -> Values:
        """The values between samples in long double; R is what the kernel is bound to."""
        found = self._values(node, X, Z, R)
        self.largest = max(self.largest, found.size)
        return found

    def _values(self, node: Any, X: np.ndarray, Z: np.ndarray, R: np.ndarray | None) -> Values:
        if isinstance(node, str):
            return self._leaf(node, X, Z, Z if R is None else R)
        name, params, *parts = node
        if name == "transpose":
            inner = self.values(parts[0], Z, X, R)
            return Values(inner.exact.T, inner.error)
        if name in ("add", "multiply", "scale", "power"):
            return self._entrywise(name, params, [self.values(part, X, Z, R) for part in parts])
        if name == "symmetrize":
            return self._symmetrized(params.get("how", "mean"), parts[0], X, Z, Z if R is None else R)
        make = {"centered": self._centered, "spectrum": self._spectrum}[name]
        return make(params, parts[0], X, Z, Z if R is None else R)

    def _leaf(self, leaf: str, X: np.ndarray, Z: np.ndarray, R: np.ndarray) -> Values:
        name, params = LEAVES[leaf][0], parameters(leaf, self.factor)
        if name == "compose":
            X, Z, R = (params["feature_map"](side) for side in (X, Z, R))
            name, params = "rbf", {"sigma": "median" if "median" in leaf else 0.9}
        params = {
            key: width(value, name, R) if key in ("sigma", "rho") and isinstance(value, str) else value
            for key, value in params.items()
        }
        if name == "local-rbf":
            exact = local_rbf(X, Z, R, **params)
        elif name in ("sne", "t"):
            exact = getattr(naive, name)(X, Z, reference=R, **params)
        else:
            exact = ORACLES[name].values(X, Z, **params)
        # A statistic is as good as the product of norms; what a function of it makes of that is bounded by its slope.
        steep = max(1.0, float(np.abs(X).max() * np.abs(Z).max())) if name in ("tanh", "poly") else 1.0
        return Values(exact, self.unit * steep * largest(exact) + (self.unit if name in ("sne", "t") else 0.0))

    def _entrywise(self, name: str, params: dict[str, Any], parts: list[Values]) -> Values:
        if name == "add":
            left, right = parts
            exact, error = left.exact + right.exact, left.error + right.error
            return Values(exact, error + self.rounding * (left.size + right.size))
        if name == "multiply":
            left, right = parts
            error = left.error * (right.size + right.error) + right.error * left.size
            return Values(left.exact * right.exact, error + self.rounding * left.size * right.size)
        (inner,) = parts
        if name == "scale":
            factor = abs(params["factor"])
            return Values(inner.exact * L(params["factor"]), factor * (inner.error + self.rounding * inner.size))
        degree = params["exponent"]
        error = degree * (inner.size + inner.error) ** (degree - 1) * inner.error
        return Values(inner.exact**degree, error + 2 * self.rounding * inner.size**degree)

    def _symmetrized(self, how: str, part: Any, X: np.ndarray, Z: np.ndarray, R: np.ndarray) -> Values:
        if how == "mean":
            forward, back = self.values(part, X, Z, R), self.values(part, Z, X, R)
            error = forward.error + back.error + self.rounding * (forward.size + back.size)
            return Values((forward.exact + back.exact.T) / 2, error)
        sides = [self.values(part, side, R, R) if how == "left" else self.values(part, R, side, R) for side in (X, Z)]
        left, right = (side.exact if how == "left" else side.exact.T for side in sides)
        error = sides[0].error * (sides[1].size + sides[1].error) + sides[1].error * sides[0].size
        return Values(left @ right.T, len(R) * (error + 2 * self.rounding * sides[0].size * sides[1].size))

    def _centered(self, _: Any, part: Any, X: np.ndarray, Z: np.ndarray, R: np.ndarray) -> Values:
        K, rows, columns, means = (self.values(part, *pair, R) for pair in ((X, Z), (X, R), (R, Z), (R, R)))
        exact = K.exact - rows.exact.mean(axis=1, keepdims=True) - columns.exact.mean(axis=0) + means.exact.mean()
        error = sum(each.error + 2 * self.rounding * each.size for each in (K, rows, columns, means))
        return Values(exact, error)

    def _spectrum(self, params: dict[str, Any], part: Any, X: np.ndarray, Z: np.ndarray, R: np.ndarray) -> Values:
        of_R = self.values(part, R, R, R)
        eigenvalues, vectors = np.linalg.eigh(of_R.exact.astype(np.float64))
        largest_of_all = float(np.abs(eigenvalues).max())
        if params["method"] == "shift":
            K = self.values(part, X, Z, R)
            shift = max(0.0, -float(eigenvalues[0]))
            same = (X[:, None, :] == Z[None]).all(axis=2)
            return Values(K.exact + L(shift) * same, K.error + len(R) * (of_R.error + self.rounding * of_R.size))
        rows, columns = self.values(part, X, R, R), self.values(part, R, Z, R)
        corrected = {
            "clip": np.maximum(eigenvalues, 0.0),
            "flip": np.abs(eigenvalues),
            "square": eigenvalues**2,
        }[params["method"]]
        smallest = float(np.abs(eigenvalues).min())
        if smallest < 1e-3 * largest_of_all or smallest < 10 * len(R) * of_R.error:
            return Values(rows.exact @ columns.exact, np.inf)  # which eigenvalues count is a matter of rounding
        Q = (vectors * (corrected / eigenvalues**2)) @ vectors.T
        exact = rows.exact @ Q @ columns.exact
        # A change of K by e changes Q by about |Q| e / |λ|, and the values by the size of rows and columns times that.
        sizes, inverse = rows.size * columns.size * len(R) ** 2, float(corrected.max()) / smallest**2
        error = len(R) * (of_R.error + self.rounding * of_R.size)
        relative = rows.error / max(rows.size, 1e-300) + columns.error / max(columns.size, 1e-300)
        return Values(exact, sizes * inverse * (4 * error / smallest + relative + 2e-14 + self.rounding))


def largest(values: np.ndarray) -> float:
    """The largest size among values."""
    return float(np.abs(values).max(initial=0.0))


def width(word: str, name: str, R: np.ndarray) -> Any:
    """What a word for a width stands for on these samples."""
    times, _, word = word.rpartition("*")
    squared = name not in ("laplacian", "tl1")
    if word == "scale":
        size = R.shape[1] ** (L(0.5) if squared else L(1)) * R.std()
    else:
        gaps = R[:, None] - R[None]
        apart = np.sqrt((gaps**2).sum(axis=2)) if squared else np.abs(gaps).sum(axis=2)
        apart = apart[np.triu_indices(len(R), 1)]
        size = np.median(apart[apart > 0]) if (apart > 0).any() else L(0)
    return L(times or 1) * (size if size > 0 else L(1))


def local_rbf(X: np.ndarray, Z: np.ndarray, R: np.ndarray, n_neighbors: int = 7, side: str = "column") -> np.ndarray:
    """exp(-|x - z|² / (w w')), widths the distances to the k-th neighbour that is no copy."""

    def widths(samples: np.ndarray) -> np.ndarray:
        found = []
        for x in samples:
            apart = np.sqrt(np.sort([((x - r) ** 2).sum() for r in R if (x != r).any()]))
            found.append(apart[min(n_neighbors, len(apart)) - 1] if len(apart) else L(1))
        return np.array(found, dtype=L)

    squares = naive.pairs(naive.sqeuclidean, X, Z)
    of_X, of_Z = widths(X)[:, None], widths(Z)
    first, second = {"column": (of_Z, of_Z), "row": (of_X, of_X), "both": (of_X, of_Z)}[side]
    return np.exp(-squares / first / second)
