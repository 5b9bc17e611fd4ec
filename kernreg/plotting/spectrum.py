"""The spectrum of a kernel matrix: eigenvalues of either sign, or singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernreg.common.checks import check_choice
from kernreg.errors import DataError
from kernreg.factory import make_kernel
from kernreg.linalg import asymmetry, centre
from kernreg.linalg.spectra.centred_pairs import centre_both_sides
from kernreg.plotting.base import BLUE, ORANGE, make_axes

KINDS = ("eigenvalues", "singular values")
SCALES = ("auto", "log", "linear")


class SpectrumDisplay:
    """Magnitudes of a spectrum in descending order, with negative eigenvalues marked.

    Parameters
    ----------
    values : array-like of shape (r,)
    kind : {"eigenvalues", "singular values"}
    total : int, optional
        Size of the matrix, where the values are only the largest in magnitude.

    Attributes
    ----------
    signature : tuple of int
        Numbers of positive and of negative values (what is zero but for rounding counts as neither).
    ax_, figure_ : Axes, Figure
        Where it was drawn.

    Examples
    --------
    >>> SpectrumDisplay([3.0, -2.0, 1.0, 1e-18]).signature
    (2, 1)
    """

    def __init__(self, values: Any, kind: str = "eigenvalues", *, total: int | None = None):
        check_choice("kind", kind, KINDS)
        found = np.asarray(values, dtype=np.float64).ravel()
        if not found.size or not np.isfinite(found).all():
            raise DataError("values is empty or not finite; a spectrum is a list of finite numbers")
        self.values, self.kind, self.total = found[np.argsort(-np.abs(found), kind="stable")], kind, total

    @property
    def tolerance(self) -> float:
        """The magnitude below which a value is zero but for rounding."""
        size = len(self.values) if self.total is None else self.total
        return float(size * np.finfo(np.float64).eps * np.abs(self.values).max())

    @property
    def signature(self) -> tuple[int, int]:
        """Numbers of positive and of negative values."""
        return int((self.values > self.tolerance).sum()), int((self.values < -self.tolerance).sum())

    @classmethod
    def from_matrix(cls, K: Any, *, centred: bool = False, ax: Any = None, **options: Any) -> SpectrumDisplay:
        """Draw the spectrum of a matrix: eigenvalues where it is symmetric, singular values where it is not.

        Parameters
        ----------
        K : array-like of shape (n, m)
        centred : bool
            Whether to centre rows and columns first, as the solvers do.
        ax, **options
            As for `plot`.
        """
        matrix = np.array(K, dtype=np.float64)
        if matrix.ndim != 2 or not np.isfinite(matrix).all():
            raise DataError(f"K has shape {matrix.shape} or entries that are not finite; give a finite matrix")
        square = matrix.shape[0] == matrix.shape[1]
        symmetric = square and asymmetry(matrix) < 1e-10
        if centred and square:
            matrix = centre(matrix).matrix
        elif centred:
            centre_both_sides(matrix)
        if symmetric:
            return cls(np.linalg.eigvalsh(matrix), total=len(matrix)).plot(ax, **options)
        values = np.linalg.svd(matrix, compute_uv=False)
        return cls(values, "singular values", total=min(matrix.shape)).plot(ax, **options)

    @classmethod
    def from_kernel(cls, kernel: Any, X: Any, Z: Any = None, *, ax: Any = None, **options: Any) -> SpectrumDisplay:
        """Draw the spectrum of k(X, Z); a kernel is a spec, a family or a Kernel."""
        return cls.from_matrix(make_kernel(kernel)(X, Z), ax=ax, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **options: Any) -> SpectrumDisplay:
        """Draw the spectrum a fitted decomposition has kept (``eigenvalues_`` or ``singular_values_``)."""
        for name, kind in (("eigenvalues_", KINDS[0]), ("singular_values_", KINDS[1])):
            if getattr(estimator, name, None) is not None:
                return cls(getattr(estimator, name), kind).plot(ax, **options)
        raise DataError(
            f"{type(estimator).__name__} has neither eigenvalues_ nor singular_values_; fit a decomposition such as "
            "'kpca' or 'ksvd', or use SpectrumDisplay.from_kernel"
        )

    def plot(self, ax: Any = None, *, scale: str = "auto", title: str | None = None) -> SpectrumDisplay:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
        scale : {"auto", "log", "linear"}
            Of magnitudes; ``auto`` is logarithmic where they span more than a factor of 30. On that scale values that
            are zero but for rounding are left out, and counted in the legend.
        title : str, optional
        """
        check_choice("scale", scale, SCALES)
        (self.ax_,) = make_axes(ax, 1)
        self.figure_ = self.ax_.figure
        size, singular = np.abs(self.values), self.kind == KINDS[1]
        p, q = self.signature
        zero = size <= self.tolerance
        if scale == "auto":
            scale = "log" if not zero.all() and size.max() > 30.0 * size[~zero].min() else "linear"
        self._points(self.values > self.tolerance, "singular values" if singular else "positive", BLUE, "o")
        self._points(self.values < -self.tolerance, "negative", ORANGE, "v")  # these few on top
        if scale == "linear":
            self._points(zero, "zero", "0.6", "x")
            self.ax_.set_ylim(bottom=0.0)
        else:
            self.ax_.set_yscale("log")
            if zero.any():
                self.ax_.plot([], [], " ", label=f"{zero.sum()} zero, not shown")
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set(xlabel="index, by magnitude", ylabel="singular value" if singular else "|eigenvalue|")
        self.ax_.set_title(title or ("Singular values" if singular else f"Eigenvalues, signature ({p}, {q})"))
        self.ax_.grid(alpha=0.25)
        if not singular or zero.any():
            self.ax_.legend()
        return self

    def _points(self, rows: np.ndarray, name: str, colour: str, marker: str) -> None:
        if not rows.any():
            return
        area = (14 if len(rows) > 60 else 28) * (1.8 if marker == "v" else 1.0)
        order, level = 1 + np.flatnonzero(rows), 2 + "ovx".index(marker)
        style = {"s": area, "marker": marker, "linewidths": 0.8, "zorder": level}
        self.ax_.scatter(order, np.abs(self.values[rows]), c=colour, label=f"{rows.sum()} {name}", **style)
