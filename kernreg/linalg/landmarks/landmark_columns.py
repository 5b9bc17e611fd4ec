"""The columns of a kernel matrix that belong to landmarks, as products and sketches only, streamed by row blocks.

C = K[:, landmarks] has a row for each of m samples and is never held. With weights D and its weighted mean taken out of
every column, C̃ = D^½ (C - 1 meanᵀ). Every pass over the samples evaluates C once, block by block.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from kernreg.common.progress import row_progress
from kernreg.config import config_context
from kernreg.engine import ByRow, on_operator
from kernreg.engine.operator import normal_product_of
from kernreg.errors import DataError
from kernreg.kernels.base import Kernel
from kernreg.linalg.exact.large_matrices import symmetric_product
from kernreg.linalg.landmarks.sketching import SignSketch
from kernreg.linalg.landmarks.whitening import Whitening

_STRIPE = 256  # columns of the sketch that are summed up at once, a tile of kernel values; some of these are held
_PART = 1 << 27  # entries of the part of a sketch that is held: 1 GB


class LandmarkColumns:
    """C̃ and C̃ᵀD^½E of some targets E.

    Parameters
    ----------
    kernel : Kernel
        Gives rows k(x, landmarks); with its reference set.
    samples, landmarks : samples or handles
    E : ndarray of shape (m, c)
        Targets without their weighted means.
    weights : ndarray of shape (m,), optional
        Positive.

    Attributes
    ----------
    mean : ndarray of shape (k,)
    targets : ndarray of shape (k, c)
        C̃ᵀD^½E.
    mass : float
        The sum of the weights.
    sums : ndarray of shape (c,)
        Σ D E: zero but for rounding, as long as all samples are there.
    """

    def __init__(self, kernel: Kernel, samples: Any, landmarks: Any, E: np.ndarray, weights: np.ndarray | None):
        self._kernel, self._samples, self._landmarks = kernel, samples, landmarks
        self._weights = weights
        self.count = landmarks.shape[0]
        D = np.ones(len(E)) if weights is None else weights
        self._weighted = np.column_stack([D, D[:, None] * E])
        both = ByRow(self._weighted)
        with row_progress(f"targets on {self.count} landmarks", len(E)):
            total = kernel.map_rows(samples, landmarks, _transposed_times, "add", args=(both,))
        if not np.isfinite(total).all():
            raise DataError(
                f"the kernel {kernel.name!r} is not finite between all samples and landmarks. Check its parameters and "
                "the range of the features"
            )
        self._centre(total)
        self._normal = _normal_by_products if _multiplies(kernel, samples, landmarks) else _normal_of_block

    def normal(self, V: np.ndarray) -> np.ndarray:
        """Return C̃ᵀC̃V, in one pass."""
        args = V, self.mean @ V, None if self._weights is None else ByRow(self._weights)
        total = self._kernel.map_rows(self._samples, self._landmarks, self._normal, "add", args=args)
        return total[:-1] - np.outer(self.mean, total[-1])

    def sketched_gram(self, sketch: SignSketch, whitening: Whitening) -> np.ndarray:
        """Return Tᵀ(ΨC̃)ᵀ(ΨC̃)T for a sketch Ψ, its lower triangle, in Fortran order.

        A part of the sketch is held at a time; of that, some columns are summed up at a time over all samples.
        """
        gram = np.zeros((whitening.rank, whitening.rank), order="F")
        if not whitening.rank:
            return gram
        halvings = 0
        while sketch.rows * self.count > _PART << halvings and halvings < 3:
            halvings += 1
        parts = sketch.parts(1 << halvings)
        starts = range(0, self.count, _STRIPE)
        root = None if self._weights is None else ByRow(np.sqrt(self._weights))
        with row_progress(f"sketch of {self.count} landmarks", len(self._weighted) * len(parts) * len(starts)):
            for part in parts:
                held = np.empty((part.rows, self.count))
                for start in starts:
                    columns = slice(start, min(start + _STRIPE, self.count))
                    args = part, self.mean[columns], root
                    held[:, columns] = self._kernel.map_rows(
                        self._samples, self._landmarks[columns], _sketched, "add", args=args
                    )
                whitened = whitening.of_rows(held)
                gram = symmetric_product(whitened, gram, add=True, lower=True)
                del held, whitened  # before there is another one
        return gram

    def without(self, some: np.ndarray) -> LandmarkColumns:
        """Return the columns without some samples: with the weight zero in every sum."""
        rest, total = copy(self), self._total.copy()
        for rows, block in self._kernel.blocks(self._samples[some], self._landmarks):
            total -= np.asarray(block, dtype=np.float64).T @ self._weighted[some[rows]]
        rest._weighted = self._weighted.copy()
        rest._weighted[some] = 0.0
        rest._weights = rest._weighted[:, 0]
        rest._centre(total)
        return rest

    def values(self, some: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return k(x, landmarks) coefficients of some samples."""
        return np.asarray(self._kernel.product(self._samples[some], self._landmarks, coefficients), dtype=np.float64)

    def _centre(self, total: np.ndarray) -> None:
        """Take the mean out of the sums Cᵀ(D1, DE)."""
        self._total = total
        mass, self.sums = float(self._weighted[:, 0].sum()), self._weighted[:, 1:].sum(axis=0)
        self.mass, self.mean = mass, total[:, 0] / mass
        self.targets = total[:, 1:] - np.outer(self.mean, self.sums)


def _multiplies(kernel: Kernel, samples: Any, landmarks: Any) -> bool:
    """Return whether products with row blocks need no block: both come at the price of one, or are cheap."""
    rows = kernel.for_engine(samples, landmarks)
    with config_context(engine="local"):  # as where blocks are evaluated
        operator = rows.row_operator(landmarks[:1], landmarks, slice(0, 1), False)
    return hasattr(operator, "normal_product") or getattr(operator, "form", "blocks") != "blocks"


@on_operator
def _transposed_times(rows: slice, block: Any, V: np.ndarray) -> np.ndarray:
    return np.asarray(block.T @ V, dtype=np.float64)


@on_operator
def _normal_by_products(
    rows: slice, block: Any, V: np.ndarray, shift: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    if hasattr(block, "normal_product"):
        return block.normal_product(V, shift, weights)
    return normal_product_of(block, V, shift, weights)


def _normal_of_block(
    rows: slice, block: np.ndarray, V: np.ndarray, shift: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    return normal_product_of(block, V, shift, weights)


def _sketched(
    rows: slice, block: np.ndarray, sketch: SignSketch, mean: np.ndarray, root: np.ndarray | None
) -> np.ndarray:
    return sketch.matrix(rows, root) @ (np.asarray(block, dtype=np.float64) - mean)


_sketched.tall = True  # type: ignore[attr-defined]  # a sketch may have more rows than a block: see RowTask
