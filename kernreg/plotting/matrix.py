"""The kernel matrix as a picture, and how far it is from symmetric."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
from kernreg.errors import DataError
from kernreg.factory import make_kernel
from kernreg.plotting.base import make_axes

_PIXELS = 200  # more rows or columns than this are averaged in blocks: single entries would be too small to see


class KernelMatrixDisplay:
    """A heat map of K and, for a square K, one of its skew part (K - Kᵀ)/2 next to it.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n, m)
    labels : array-like of shape (n,), optional
        Classes: rows and columns of a square matrix are sorted by them, and lines drawn between classes.
    max_size : int
        Larger matrices are shown as means of blocks.

    Attributes
    ----------
    asymmetry : float or None
        ‖K - Kᵀ‖ / (2 ‖K‖) in the Frobenius norm: 0 for a symmetric matrix, 1 for a skew one; None unless square.
    axes_, figure_ : list of Axes, Figure

    Examples
    --------
    >>> KernelMatrixDisplay([[0.0, 1.0], [-1.0, 0.0]]).asymmetry
    1.0
    """

    def __init__(self, K: Any, labels: Any = None, *, max_size: int = _PIXELS):
        matrix = np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)
        if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all():
            raise DataError(f"K has shape {matrix.shape} or entries that are not finite; give a finite matrix")
        self.max_size, self.boundaries = max_size, np.empty(0, dtype=np.intp)
        self.square = matrix.shape[0] == matrix.shape[1]
        if labels is not None:
            codes = np.asarray(labels)
            if not self.square or codes.shape != (len(matrix),):
                raise DataError(
                    f"labels has shape {codes.shape} and K {matrix.shape}; labels sort a square matrix, "
                    "one for each row"
                )
            order = np.argsort(codes, kind="stable")
            matrix = matrix[np.ix_(order, order)]
            self.boundaries = np.flatnonzero(codes[order][1:] != codes[order][:-1]) + 1
        self.K = matrix

    @property
    def asymmetry(self) -> float | None:
        """‖K - Kᵀ‖ / (2 ‖K‖), or None for a matrix that is not square."""
        if not self.square:
            return None
        norm = np.linalg.norm(self.K)
        return float(np.linalg.norm(self.K - self.K.T) / (2.0 * norm)) if norm > 0.0 else 0.0

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any, Z: Any = None, *, labels: Any = None, ax: Any = None, **options: Any
    ) -> KernelMatrixDisplay:
        """Draw k(X, Z); a kernel is a spec, a family or a Kernel."""
        return cls(make_kernel(kernel)(X, Z), labels).plot(ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, *, labels: Any = None, ax: Any = None, **options: Any) -> Any:
        """Draw the training matrix of a fitted dual solver (``ls-svm``, ``ask-ls`` …)."""
        X = getattr(estimator, "X_fit_", None)
        if X is None or not hasattr(estimator, "kernel_"):
            raise DataError(
                f"{type(estimator).__name__} has no kernel_ and X_fit_; fit it first, or use "
                "KernelMatrixDisplay.from_kernel"
            )
        K = estimator.kernel_(*X) if isinstance(X, tuple) else estimator.kernel_(X)
        return cls(K, labels).plot(ax, **options)

    def plot(self, ax: Any = None, *, skew: bool | None = None, cmap: str | None = None) -> KernelMatrixDisplay:
        """Draw.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One, or two with the skew part.
        skew : bool, optional
            Whether to draw the skew part; by default for a square matrix that is not symmetric.
        cmap : str, optional
            Colour map of K.
        """
        asymmetry = self.asymmetry
        two = (asymmetry is not None and asymmetry > 1e-12) if skew is None else skew
        if two and not self.square:
            raise DataError(f"K has shape {self.K.shape}; only a square matrix has a skew part")
        self.axes_ = make_axes(ax, 2 if two else 1, (5.4, 4.6))
        self.figure_ = self.axes_[0].figure
        low, high = float(self.K.min()), float(self.K.max())
        signed = low < 0.0 < high and -low > 0.01 * high
        self._heat_map(self.axes_[0], self.K, cmap or ("RdBu_r" if signed else "viridis"), signed)
        self.axes_[0].set_title("K")
        if two:
            self._heat_map(self.axes_[1], 0.5 * (self.K - self.K.T), "RdBu_r", signed=True)
            self.axes_[1].set_title(f"skew part (K − Kᵀ)/2, {100 * (asymmetry or 0.0):.3g} % of ‖K‖")
        return self

    def _heat_map(self, ax: Any, part: np.ndarray, cmap: str, signed: bool) -> None:
        blocks, (high, wide) = _averaged(part, self.max_size)
        n, m = part.shape
        limits, extend = _limits(blocks, signed)
        image = ax.imshow(
            blocks,
            cmap=cmap,
            vmin=limits[0],
            vmax=limits[1],
            extent=(0, m, n, 0),
            interpolation="nearest",
            aspect="auto",
        )
        if self.square:
            ax.set_aspect("equal")
        ax.set(xlabel="target (second argument)", ylabel="source (first argument)")
        for place in self.boundaries:
            ax.axhline(place, color="0.4", linewidth=0.6)
            ax.axvline(place, color="0.4", linewidth=0.6)
        label = "" if (high, wide) == (1, 1) else f"mean of {high} × {wide} entries"
        ax.figure.colorbar(image, ax=ax, label=label, shrink=0.85, extend=extend)


def _limits(blocks: np.ndarray, signed: bool) -> tuple[tuple[float, float], str]:
    """Return the range of colours, and whether values lie beyond it: a few large entries must not hide the rest."""
    low, high = float(blocks.min()), float(blocks.max())
    size = max(abs(low), abs(high))
    usual = float(np.quantile(np.abs(blocks), 0.995))
    cut = 0.0 < usual < 0.5 * size
    if signed:
        limit = usual if cut else (size or 1.0)
        return (-limit, limit), "both" if cut else "neither"
    return (low, usual if cut and high > 0.0 else high), "max" if cut and high > 0.0 else "neither"


def _averaged(K: np.ndarray, size: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Return means over blocks, at most size × size of them; the last ones may cover fewer entries."""
    steps = tuple(-(-length // size) for length in K.shape)
    for axis, step in enumerate(steps):
        if step > 1:
            starts = np.arange(0, K.shape[axis], step)
            counts = np.diff(np.append(starts, K.shape[axis]))
            K = np.add.reduceat(K, starts, axis=axis) / (counts[:, None] if axis == 0 else counts)
    return K, (steps[0], steps[1])
