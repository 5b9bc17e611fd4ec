"""Fill any block of K: the statistic, then the function. What every driver above the tiles is made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from kernreg.engine.arrays import Samples, check_pair, in_double, is_sparse, result_dtype
from kernreg.engine.compiler.compile import compiled, compiled_epilogue, make_pair_loop, typed_parameters
from kernreg.engine.memory import empty
from kernreg.engine.program import Program
from kernreg.engine.tiles.grid import BLOCK, padded
from kernreg.engine.tiles.precision import in_single, within_range
from kernreg.engine.tiles.sparse import SparseStatistic
from kernreg.engine.tiles.statistics import DenseStatistic
from kernreg.engine.tiles.store import copy_row, make_store
from kernreg.engine.tiles.weights import make_apply_normalizers
from kernreg.errors import DataError


def make_separate() -> Callable[..., None]:
    """Driver: distances of zero become infinite, so that identical samples have no weight for each other."""

    def separate(S, rows, width):
        for i in range(rows):
            s = S[i]
            for j in range(width):
                s[j] = np.inf if s[j] == 0.0 else s[j]

    return separate


class BlockFiller:
    """The un-normalised values of a program between X and Z, block by block, from any thread."""

    def __init__(self, program: Program, X: Samples, Z: Samples):
        if X.dtype != Z.dtype:  # a term of a float32 number, sqrt(x), would be good to float32 only
            X, Z = in_double(X), in_double(Z)
        self.program, self.X, self.Z = program, X, Z
        self.shape = (X.shape[0], Z.shape[0])
        if X.ndim == 1:  # sample indices: nothing to compute with but the block function
            self.dtype = np.dtype(np.float64)
        else:
            if not program.two_spaces:
                check_pair(X, Z)
            self.dtype = result_dtype(X, Z)
        #: Of what blocks hold before rows are normalised. Of logarithms, whose differences count, not their sizes.
        self.weight_dtype = np.dtype(np.float64) if program.log else self.dtype
        self.parameters = program.parameters
        self._local = threading.local()
        self._statistic: Any = None
        self._seen = _read_only(X), _read_only(Z)  # by functions of third parties, which may not change them
        self.sparse = is_sparse(X) or is_sparse(Z)
        if program.statistic == "blocks":
            self._fill = self._fill_from_python
            return
        self._function_dtype = function_dtype(program, Z, self.dtype)
        self.parameters = typed_parameters(program.parameters, self._function_dtype)
        if program.statistic == "rows":
            self._pairs = compiled(make_pair_loop, program.name, program.function)
            self._fill = self._fill_pairs
            if self.sparse:
                raise DataError(
                    f"the kernel {program.name!r} is a function of two dense rows and cannot take sparse samples; "
                    "use X.toarray(), or a kernel of a statistic (dot, sqeuclidean, l1, a term function)"
                )
            return
        what = program.statistic, program.term, X, Z, program.name
        if self.sparse:
            self._statistic = SparseStatistic(*what)
        else:
            self._statistic = DenseStatistic(*what, single=in_single(program, X, Z))
        self._in_place = self._statistic.dtype == self._function_dtype
        self._separate = compiled(make_separate, "block")
        self._epilogue = compiled_epilogue(program.name, program.function, single=not self._in_place)

    @property
    def side(self) -> int:
        """How many rows and columns of K to compute together."""
        return (self.program.side or BLOCK) if self._statistic is None else self._statistic.side

    @property
    def panel(self) -> tuple[int, int]:
        """How many rows and how many columns, where they need not be the same."""
        return (BLOCK, BLOCK) if self._statistic is None else self._statistic.panel

    @property
    def uses_blas(self) -> bool:
        """Whether filling a block calls BLAS (block functions of plugins may, unless they say that they do not)."""
        if self.program.statistic == "blocks":
            return self.program.blas
        return self._statistic is not None and self._statistic.gemm

    @property
    def strip_shape(self) -> tuple[int, int]:
        """How many whole rows to compute together, to find them in cache afterwards, and their padded length."""
        length = padded(self.shape[1], BLOCK)
        if self._statistic is None or self.uses_blas:
            return BLOCK, length
        return min(BLOCK, max(16, (1 << 22) // (8 * length) // 4 * 4)), length

    def block(self, i0: int, i1: int, j0: int, j1: int, normalizers: np.ndarray | None = None) -> np.ndarray:
        """Return K[i0:i1, j0:j1] in the upper left corner of scratch memory, valid until this thread's next call.

        Without the normalisers of all rows, blocks of a row-normalised kernel are its weights, of `weight_dtype`.
        """
        weights = self._weights(i0, i1, j0, j1)
        if normalizers is None:
            return weights
        rows, columns = i1 - i0, j1 - j0
        compiled(make_apply_normalizers, "rows")(weights, rows, columns, i0, self.program.log, normalizers)
        if weights.dtype == self.dtype:
            return weights
        scratch = self._scratch()
        if not hasattr(scratch, "rounded"):
            scratch.rounded = empty(scratch.block.shape, self.dtype)
        values = scratch.rounded[: weights.size].reshape(weights.shape)
        np.copyto(values[:rows, :columns], weights[:rows, :columns], casting="same_kind")
        return values

    def _weights(self, i0: int, i1: int, j0: int, j1: int) -> np.ndarray:
        scratch = self._scratch()
        if self._statistic is None:
            values = scratch.block.reshape(BLOCK, BLOCK)
            self._fill(i0, i1, j0, j1, values)
            return values
        S, width = self._statistic.block(scratch.statistic, i0, i1, j0, j1)
        if not self.program.self_term:
            self._separate(S, i1 - i0, width)
        if not self._in_place:
            values = scratch.block[: S.size].reshape(S.shape)
            self._epilogue(S, i1 - i0, width, self.parameters, values)
            return values
        self._epilogue(S, i1 - i0, width, self.parameters)
        if S.dtype == self.weight_dtype:
            return S
        values = scratch.block[: S.size].reshape(S.shape)
        with np.errstate(over="ignore"):
            np.copyto(values[: i1 - i0, :width], S[: i1 - i0, :width], casting="same_kind")
        return values

    def seen_block(self, i0: int, i1: int, j0: int, j1: int) -> np.ndarray:
        """Return the same to be read and not written to: what a block function returns may be its own."""
        if self.program.statistic != "blocks" or self.program.fills:
            return self.block(i0, i1, j0, j1)
        values = self._from_python(i0, i1, j0, j1)
        if values.dtype == self.weight_dtype and values.flags.c_contiguous and values.flags.writeable:
            return values  # read-only ones would be another type to compiled code
        block = self._scratch().block.reshape(BLOCK, BLOCK)
        block[: i1 - i0, : j1 - j0] = values
        return block

    def strip(self, i0: int, i1: int) -> np.ndarray:
        """Return all columns of rows i0:i1 in scratch memory of `strip_shape`, valid until this thread's next call."""
        scratch = self._scratch()
        if not hasattr(scratch, "strip"):
            scratch.strip = empty(self.strip_shape, self.weight_dtype)
        if self._statistic is None or not self._statistic.fills_rows or self._statistic.dtype != self.weight_dtype:
            store = compiled(make_store, "block", copy_row)
            for j0 in range(0, self.shape[1], self.side):
                j1 = min(j0 + self.side, self.shape[1])
                store(self.block(i0, i1, j0, j1), i1 - i0, j1 - j0, scratch.strip, 0, j0, False)
        else:
            width = self._statistic.rows(scratch.statistic, i0, i1, scratch.strip)
            if not self.program.self_term:
                self._separate(scratch.strip, i1 - i0, width)
            self._epilogue(scratch.strip, i1 - i0, width, self.parameters)
        return scratch.strip

    def _scratch(self) -> Any:
        scratch = self._local
        if not hasattr(scratch, "block"):
            scratch.block = empty((max(self.side**2, self.panel[0] * self.panel[1]),), self.weight_dtype)
            scratch.statistic = None if self._statistic is None else self._statistic.scratch()
        return scratch

    def _fill_pairs(self, i0: int, i1: int, j0: int, j1: int, block: np.ndarray) -> None:
        self._pairs(*self._seen, i0, i1, j0, j1, block, self.parameters)

    def fill(self, i0: int, i1: int, j0: int, j1: int, out: np.ndarray, lower: bool = False) -> None:
        """Write K[i0:i1, j0:j1], values of a block function, to an array of that shape.

        With ``lower`` it is a block on the diagonal of a symmetric K(X), of which the lower half is enough.
        """
        values = self._from_python(i0, i1, j0, j1, out, lower)
        if values is not out:
            out[...] = values

    def _fill_from_python(self, i0: int, i1: int, j0: int, j1: int, block: np.ndarray) -> None:
        self.fill(i0, i1, j0, j1, block[: i1 - i0, : j1 - j0])

    def _from_python(
        self, i0: int, i1: int, j0: int, j1: int, out: np.ndarray | None = None, lower: bool = False
    ) -> np.ndarray:
        X, Z = self._seen
        options = {"out": out} if self.program.fills else {}
        try:
            x = X[i0:i1]
            z = x if lower else Z[j0:j1]
            returned = self.program.function(x, z, *self.parameters, **options)
        except (ValueError, IndexError):
            check_pair(X, Z)  # a kernel that is not between two spaces: this says it better
            raise
        values = returned.toarray() if is_sparse(returned) else np.asarray(returned)
        if values.dtype.kind not in "fiub":
            raise DataError(
                f"the block function of kernel {self.program.name!r} returned values of dtype {values.dtype}; kernel "
                "values are real numbers"
            )
        if values.shape != (i1 - i0, j1 - j0):
            raise DataError(
                f"the block function of kernel {self.program.name!r} returned shape {values.shape} for "
                f"{i1 - i0} rows against {j1 - j0}; it must return {(i1 - i0, j1 - j0)}"
            )
        return values


def function_dtype(program: Program, Z: Samples, dtype: np.dtype) -> np.dtype:
    """Return the precision in which the function is evaluated where the result is of that dtype."""
    if program.log or (dtype == np.float32 and not within_range(program, Z)):
        return np.dtype(np.float64)
    return dtype


def function_values(
    name: str, function: Callable[..., Any], values: np.ndarray, parameters: tuple[Any, ...], dtype: Any = np.float64
) -> np.ndarray:
    """Return the compiled function of every statistic: the same machine code that fills blocks."""
    single = dtype == np.float32
    block = np.zeros((max(1, -(-values.size // BLOCK)), BLOCK))
    block.ravel()[: values.size] = values
    result = np.empty(block.shape, dtype=np.float32) if single else block
    epilogue = compiled_epilogue(name, function, single)
    arguments = (block, len(block), BLOCK, typed_parameters(parameters, np.dtype(dtype)))
    epilogue(*arguments, result) if single else epilogue(*arguments)
    return result.ravel()[: values.size]


def _read_only(samples: Samples) -> Samples:
    if not isinstance(samples, np.ndarray):
        return samples
    view = samples.view()
    view.flags.writeable = False
    return view
