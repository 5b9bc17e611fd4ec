"""Normalisers of row-normalised programs over any set of samples, however large, in separable form where that pays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernreg.engine.arrays import Samples, is_sparse
from kernreg.engine.budget import chunks
from kernreg.engine.compiler.compile import compilation_errors
from kernreg.engine.program import Program
from kernreg.engine.separable import separable
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.row_normalisation import row_normalizers

_SPARSE_CHUNK = 1 << 13  # sparse rows looked at together: their products with Z are held


def normalizers_over(program: Program, X: Samples, Z: Samples) -> np.ndarray:
    """Return the normalisers of the rows of X over Z: logarithms of sums for programs in log form, else sums.

    Z is gone through in pieces, and sparse samples in separable form where that pays.
    """
    total = np.full(X.shape[0], -np.inf if program.log else 0.0)
    with compilation_errors(program.name):
        for columns in chunks(Z):
            some = Z[columns]
            for rows in chunks(X, _SPARSE_CHUNK) if is_sparse(X) else chunks(X):
                part = _normalizers_of_part(program, X[rows], some)
                total[rows] = np.logaddexp(total[rows], part) if program.log else total[rows] + part
    nothing = np.isneginf(total) if program.log else total == 0.0
    return np.where(nothing, np.inf, total)


def _normalizers_of_part(program: Program, X: Samples, Z: Samples) -> np.ndarray:
    """Return sums of weights (their logarithms), with zero, not infinity, for rows without any weight."""
    if program.split is not None and is_sparse(X) and is_sparse(Z):
        weights = separable(replace(program, normalize=False), X, Z)
        if weights is not None:
            sums = weights.product(np.ones((Z.shape[0], 1)))[:, 0]
            with np.errstate(divide="ignore"):
                return np.log(sums) if program.log else sums
    sums = row_normalizers(BlockFiller(program, X, Z))
    return np.where(np.isposinf(sums), -np.inf if program.log else 0.0, sums)
