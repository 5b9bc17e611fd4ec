"""From a block in cache to the result in memory, past the cache where the result is large.

A result larger than the cache will not be read from the cache anyway. Writing it with streaming stores spares reading
every line before it is overwritten, which is two thirds of the memory traffic of an ordinary store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from kernreg.engine.compiler.compile import compiled

LINE = 64  # bytes: what a streaming store writes at once
STREAM_FROM = 1 << 24  # bytes of a result from which on it does not stay in cache


def _address_typing(typingctx: Any, array: Any) -> Any:
    """The address of the first element of a one-dimensional array."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.ptrtoint(data, ir.IntType(64))

    return types.int64(array), codegen


def _stream_lines_typing(typingctx: Any, target: Any, start: Any, source: Any, offset: Any, count: Any) -> Any:
    """Copy ``count`` elements, whole cache lines, to an aligned place by streaming stores."""

    def codegen(context, builder, signature, args):
        to = context.make_array(signature.args[0])(context, builder, args[0]).data
        of = context.make_array(signature.args[2])(context, builder, args[2]).data
        element = context.get_data_type(signature.args[0].dtype)
        size = signature.args[0].dtype.bitwidth // 8
        vector = ir.VectorType(element, LINE // size)
        integer = ir.IntType(64)
        hint = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        zero, step = ir.Constant(integer, 0), ir.Constant(integer, LINE // size)
        with cgutils.for_range_slice(builder, zero, args[4], step, integer) as (position, _):
            source_place = builder.gep(of, [builder.add(args[3], position)])
            target_place = builder.gep(to, [builder.add(args[1], position)])
            value = builder.load(builder.bitcast(source_place, vector.as_pointer()))
            value.align = size
            stored = builder.store(value, builder.bitcast(target_place, vector.as_pointer()))
            stored.align = LINE
            stored.set_metadata("nontemporal", hint)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp, types.intp), codegen


_address: Any = intrinsic(_address_typing)
_stream_lines: Any = intrinsic(_stream_lines_typing)


def copy_row(target, start, source, count, stream):
    """Copy ``count`` values to ``target[start:]``; with ``stream`` the whole lines among them past the cache."""
    j = 0
    if stream:
        per_line = LINE // target.itemsize
        beyond = ((_address(target) // target.itemsize) + start) % per_line
        head = min((per_line - beyond) % per_line, count)
        while j < head:
            target[start + j] = source[j]
            j += 1
        whole = (count - head) // per_line * per_line
        _stream_lines(target, start + j, source, j, whole)
        j += whole
    rest, of = target[start + j : start + count], source[j:count]  # from 0 on: a loop that is vectorised
    for i in range(count - j):
        rest[i] = of[i]


def make_store(copy: Callable[..., None]) -> Callable[..., None]:
    """Driver: a block to its place in K."""

    def store(block, rows, columns, K, i0, j0, stream):
        for i in range(rows):
            copy(K[i0 + i], j0, block[i], columns, stream)

    return store


def turn(block, rows, start, count, lines):
    """Write ``count`` columns of a block, 8 at most, to as many lines."""
    if count < 8:
        for i in range(rows):
            for j in range(count):
                lines[j, i] = block[i, start + j]
        return
    a, b, c, d, e, f, g, h = lines[0], lines[1], lines[2], lines[3], lines[4], lines[5], lines[6], lines[7]
    for i in range(rows):
        row = block[i, start : start + 8]
        a[i], b[i], c[i], d[i] = row[0], row[1], row[2], row[3]
        e[i], f[i], g[i], h[i] = row[4], row[5], row[6], row[7]


def make_store_transposed(copy: Callable[..., None], turn: Callable[..., None]) -> Callable[..., None]:
    """Driver: a block below the diagonal to its mirror place above it; on the diagonal, its own upper half.

    The columns of the block are those from ``first`` on of an array, which may be K itself.
    """

    def store_transposed(block, first, rows, columns, K, i0, j0, stream, lines):
        for jb in range(0, columns, 8):
            high = min(8, columns - jb)
            turn(block, rows, first + jb, high, lines)
            for j in range(high):
                # Row j0 + jb + j of K receives the columns i0 …; on the diagonal only those right of it.
                skip = max(0, j0 + jb + j + 1 - i0)
                if skip < rows:
                    if skip == 0:
                        copy(K[j0 + jb + j], i0, lines[j], rows, stream)
                    else:
                        copy(K[j0 + jb + j], i0 + skip, lines[j, skip:], rows - skip, False)

    return store_transposed


def streams(K: np.ndarray) -> bool:
    """Return whether a result is large enough to be written past the cache."""
    return bool(K.nbytes >= STREAM_FROM and K.ctypes.data % K.itemsize == 0)


class Store:
    """Writes blocks to one result."""

    def __init__(self, K: np.ndarray):
        self._K = K
        self._stream = streams(K)
        self._store = compiled(make_store, "block", copy_row)
        self._transposed = compiled(make_store_transposed, "block", copy_row, turn)

    def put(self, block: np.ndarray, rows: int, columns: int, i0: int, j0: int) -> None:
        """Write block[:rows, :columns] to K at (i0, j0)."""
        self._store(block, rows, columns, self._K, i0, j0, self._stream)

    def put_with_mirror(self, block: np.ndarray, rows: int, columns: int, i0: int, j0: int) -> None:
        """Write a block on or below the diagonal, and its mirror image."""
        self._store(block, rows, columns, self._K, i0, j0, self._stream)
        self._mirror(block, 0, rows, columns, i0, j0)

    def mirror(self, rows: int, columns: int, i0: int, j0: int) -> None:
        """Write the mirror image of a block on or below the diagonal that is in K already."""
        self._mirror(self._K[i0 : i0 + rows], j0, rows, columns, i0, j0)

    def _mirror(self, block: np.ndarray, first: int, rows: int, columns: int, i0: int, j0: int) -> None:
        lines = np.empty((8, len(block)), dtype=block.dtype)
        self._transposed(block, first, rows, columns, self._K, i0, j0, self._stream, lines)
