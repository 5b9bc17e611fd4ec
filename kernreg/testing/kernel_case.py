"""A kernel or a kernel family under test, with random samples that it accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from kernreg.testing.laws import fail

# Different, so that a transposed result cannot pass for the right one by its shape.
ROWS, COLUMNS = 13, 9

# Sparse enough for products in separable form.
SPARSE_ROWS, SPARSE_FEATURES = 80, 800


@dataclass(frozen=True)
class KernelCase:
    """A kernel or a kernel family under test.

    Parameters
    ----------
    declared : KernelFamily or Kernel
        The object whose declarations (``symmetric``, ``definite``, ``normalize``) are put to the test.
    samples : callable, optional
        ``samples(rng, n)`` returns n valid samples. Default: those of the family's ``example``.
    seed : int
        Seed of the random data.
    """

    declared: Any
    samples: Callable[[np.random.Generator, int], Any] | None = None
    seed: int = 0

    @property
    def subject(self) -> str:
        """``kernel`` and the name of the family or the spec of the kernel."""
        return f"kernel {self.declared.name}" if self.is_family else f"kernel {self.declared!r}"

    @property
    def is_family(self) -> bool:
        """Whether the object makes kernels, rather than being one."""
        return getattr(self.declared, "__kernreg_kernel__", False) is True

    @property
    def family(self) -> Any:
        """The family, or None for a kernel that was combined from others."""
        return self.declared if self.is_family else getattr(self.declared, "family", None)

    @property
    def inputs(self) -> str:
        """What the samples are: ``"real"``, ``"nonnegative"``, ``"distribution"``, ``"index"`` or ``"structured"``."""
        inputs = getattr(self.family, "inputs", None) or "real"
        return inputs if isinstance(inputs, str) else "structured"

    @property
    def has_numbers(self) -> bool:
        """Whether samples are rows of numbers."""
        return self.inputs not in ("index", "structured")

    def declares_symmetry(self) -> bool:
        """Whether the family, or a kernel it makes, is declared symmetric (a combination is what its parts are)."""
        return bool(self.declared.symmetric or (self.is_family and self.draw(2)[0].bind(self.draw(2)[1]).symmetric))

    def why_not_sparse(self) -> str | None:
        """Return why sparse samples cannot be made for the kernel, None where they can."""
        if self.samples is not None or not self.has_numbers:
            return "its samples cannot be made sparse"
        program = getattr(self.draw(2)[0], "program", None)
        if program is None or program.statistic in ("rows", "blocks"):
            return "it is not a function of a statistic of the pair"
        return None

    def sparse_pair(self) -> tuple[Any, sp.csr_array, sp.csr_array]:
        """Return a kernel and two sets of samples with few features each, most pairs sharing none."""
        rng = np.random.default_rng([self.seed, 99])
        rows = np.repeat(np.arange(SPARSE_ROWS), 3)
        shape = (SPARSE_ROWS, SPARSE_FEATURES)
        values = rng.random(len(rows)) + 0.5
        X = sp.csr_array((values, (rows, rng.integers(SPARSE_FEATURES, size=len(rows)))), shape=shape)
        if self.inputs == "distribution":
            X = sp.csr_array(sp.diags_array(1.0 / X.sum(axis=1)) @ X)
        half = SPARSE_ROWS // 2
        return self.draw(2)[0], X[:half], X[half:]

    def draw(self, n: int, draw: int = 0) -> tuple[Any, Any]:
        """Return a kernel and n random samples for it; another `draw` gives other samples."""
        rng = np.random.default_rng([self.seed, draw])
        if self.samples is not None:
            kernel = self.declared() if self.is_family else self.declared
            X = self.samples(rng, n)
        else:
            example = getattr(self.family, "example", None)
            if example is None:
                fail(
                    "no samples to try it on: its family has no example(rng, n). "
                    "Pass samples=, a function of (rng, n) that returns n valid samples"
                )
            kernel, X = example(rng, n)
            if not self.is_family:
                kernel = self.declared
        X = X if hasattr(X, "shape") else _rows(X)
        if X.shape[0] != n:
            fail(f"example(rng, {n}) returned {X.shape[0]} samples, expected {n}")
        return kernel, X

    def pair(self, draw: int = 0) -> tuple[Any, Any, Any]:
        """Return a kernel, ROWS samples X and COLUMNS other samples Z."""
        kernel, both = self.draw(ROWS + COLUMNS, draw)
        return kernel, both[:ROWS], both[ROWS:]

    def bound_pair(self, draw: int = 0) -> tuple[Any, Any, Any]:
        """Like `pair`, with the kernel bound to Z.

        A kernel whose values depend on a reference set (normalised, centred) is a function of two samples
        only once it is bound; any other kernel is its own bound form.
        """
        kernel, X, Z = self.pair(draw)
        return kernel.bind(Z), X, Z


def _rows(X: Any) -> np.ndarray:
    """Return a list of samples as an array: a table, or, where samples are arrays of many lengths, one of objects."""
    if not all(isinstance(x, np.ndarray) for x in X):
        return np.asarray(X)
    rows = np.empty(len(X), dtype=object)
    for number, x in enumerate(X):
        rows[number] = x
    return rows
