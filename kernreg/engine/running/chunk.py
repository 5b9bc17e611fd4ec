"""The work on a chunk of rows, wherever it lies: what every engine calls, here or on a worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.common.progress import advance
from kernreg.config import config_context, memory_budget
from kernreg.engine.running.handles import ByRow, cut, is_streamed
from kernreg.engine.running.row_blocks import LARGEST, TALL, block_rows, blocks_of_chunk
from kernreg.engine.running.tree import TreeSum, check_combine
from kernreg.engine.threads import run_tasks, single_threaded_blas

_HELD = 4  # arrays of the size of a block that a function may hold: the block, products, features


class RowKernel(Protocol):
    """What an engine needs of a kernel. Kernels have it; it is picklable.

    X are some rows of the samples, checked, `rows` where they stand among all of them, and Z the second samples, all of
    them. With `square` these are the same samples as the first.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> kr.make_kernel("linear").row_block(np.ones((1, 2)), np.ones((3, 2)), slice(0, 1), False).tolist()
    [[2.0, 2.0, 2.0]]
    """

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return these rows of the kernel matrix."""
        ...

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with these rows."""
        ...


@dataclass(frozen=True)
class RowTask:
    """What is done to every row block of K(X, Z); picklable as its function and kernel are.

    Attributes
    ----------
    kernel : RowKernel
    function : callable
        ``function(rows, block, *args)``, a function of a module. One with the attribute ``on_operator = True`` gets
        products with the block, and the block is never held. One with ``tall = True`` gets blocks of more rows: its
        results are so large that adding them up would cost more than making them. One that holds more than four arrays
        of the size of a block says how many by the attribute ``holds``: so many fewer blocks are looked at together.
    combine : {"concatenate", "add"}
    block_rows : int
        Rows of a block.
    square : bool
        Whether Z is all of X.

    Examples
    --------
    >>> import kernreg as kr
    >>> RowTask(kr.make_kernel("linear"), len, "add", block_rows=2, square=False).combine
    'add'
    """

    kernel: RowKernel
    function: Callable[..., Any]
    combine: str
    block_rows: int
    square: bool

    @classmethod
    def of(
        cls,
        kernel: RowKernel,
        function: Callable[..., Any],
        combine: str,
        n: int,
        m: int,
        square: bool,
        read: int = 0,
    ) -> RowTask:
        """Return the task for n rows against m: the size of its blocks follows from these, and from a set budget.

        ``read`` is the number of features of rows that are read from disk block by block.
        """
        check_combine(combine)
        held = 1 if getattr(function, "on_operator", False) else m
        largest = TALL if getattr(function, "tall", False) else LARGEST
        size = block_rows(n, held, largest, getattr(function, "holds", _HELD), read)
        return cls(kernel, function, combine, size, square)

    def run(self, X: Any, Z: Any, rows: slice, args: Any) -> Any:
        """Return the result of one block, whose samples and arguments by row are given."""
        streamed = getattr(self.function, "on_operator", False)
        evaluate = self.kernel.row_operator if streamed else self.kernel.row_block
        values = (arg.values if isinstance(arg, ByRow) else arg for arg in args)
        return self.function(rows, evaluate(X, Z, rows, self.square), *values)


def run_chunk(task: RowTask, X: Any, Z: Any, args: Any, start: int) -> Any:
    """Return the combined result of one chunk of rows.

    Parameters
    ----------
    task : RowTask
    X : samples or Handle
        The rows of the chunk.
    Z : samples
        The second samples, all of them.
    args : tuple
        For the function; those `ByRow` have the rows of the chunk.
    start : int
        Where the chunk starts among all rows.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> def row_sums(rows, block):
    ...     return block.sum(axis=1)
    >>> task = RowTask(kr.make_kernel("linear"), row_sums, "concatenate", block_rows=2, square=False)
    >>> run_chunk(task, np.ones((3, 1)), np.ones((4, 1)), (), 0).tolist()
    [4.0, 4.0, 4.0]
    """
    blocks = blocks_of_chunk(0, X.shape[0], task.block_rows)
    tree = TreeSum(len(blocks)) if task.combine == "add" else None
    results: list[Any] = [None] * len(blocks)

    def work(number: int) -> None:
        rows = blocks[number]
        where = slice(start + rows.start, start + rows.stop)
        result = task.run(X[rows], Z, where, cut(args, rows))
        if tree is None:
            results[number] = result
        else:
            tree.add(number, result)
        advance(rows.stop - rows.start)

    # Threads take whole blocks, each with a BLAS of one thread: then no bit depends on how many there are.
    held, budget = 8 * task.block_rows * Z.shape[0], memory_budget()
    if is_streamed(X):  # every thread holds the rows it has read, too
        held += 8 * task.block_rows * abs(X.shape[1])
    together = max(1, budget // max(1, getattr(task.function, "holds", _HELD) * held))
    # Blocks are of one size, for the sake of these bits, and fit even where this machine's budget is smaller than one.
    with config_context(engine="local", memory=max(budget, held)), single_threaded_blas():
        run_tasks(work, len(blocks), together)
    if tree is not None:
        return tree.total
    return results[0] if len(results) == 1 else np.concatenate(results, axis=0)
