"""Blocks of an n × n matrix that is known only by its lines: whole rows or whole columns, each costly.

The engine asks for a matrix in tiles. Solving for the rows of every tile anew would repeat the work for each tile
beside it, so recent lines are remembered, up to `MEMORY` bytes: enough for one strip of tiles up to 32 000 nodes.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from kernreg.engine import open_in_children

MEMORY = 1 << 26
CHUNK = 32  # lines computed together: enough to amortise a pass over a factorisation, few enough to stay small

Solve = Callable[[np.ndarray], np.ndarray]


class Lines:
    """A matrix by its lines.

    Which lines are computed for a block depends on the block alone, not on what is remembered or on which thread
    asks first: asking again gives the same bits.

    Parameters
    ----------
    size : int
        The matrix is size × size.
    rows, columns : callable
        ``rows(nodes)`` returns those rows, ``columns(nodes)`` those columns transposed: len(nodes) × size.
    memory : int
        How many bytes of lines to remember.
    """

    def __init__(self, size: int, rows: Solve, columns: Solve, memory: int = MEMORY):
        self.size = size
        self._solve = {"rows": rows, "columns": columns}
        self._known: OrderedDict[tuple[str, int], np.ndarray] = OrderedDict()
        self._capacity = memory // (8 * max(1, size))
        # Several threads ask for tiles: the second finds what the first has computed.
        self._lock = open_in_children(threading.Lock())

    def block(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the entries at these rows and columns, by rows or by columns, whichever are fewer."""
        distinct_rows, distinct_columns = np.unique(rows), np.unique(columns)
        with self._lock:
            if len(distinct_rows) <= len(distinct_columns):
                return self._gather("rows", distinct_rows, columns)[np.searchsorted(distinct_rows, rows)]
            return self._gather("columns", distinct_columns, rows)[np.searchsorted(distinct_columns, columns)].T

    def _gather(self, side: str, nodes: np.ndarray, across: np.ndarray) -> np.ndarray:
        out = np.empty((len(nodes), len(across)))
        unknown = []
        for place, node in enumerate(nodes.tolist()):
            line = self._known.get((side, node))
            if line is None:
                unknown.append(place)
            else:
                out[place] = line[across]
                self._known.move_to_end((side, node))
        for start in range(0, len(unknown), CHUNK):
            places = unknown[start : start + CHUNK]
            for place, line in zip(places, self._solve[side](nodes[places]), strict=True):
                out[place] = line[across]
                self._remember((side, int(nodes[place])), line)
        return out

    def _remember(self, key: tuple[str, int], line: np.ndarray) -> None:
        if self._capacity:
            while len(self._known) >= self._capacity:
                self._known.popitem(last=False)
            self._known[key] = np.array(line)  # a copy: a view would keep its whole chunk


def fixed_width(solve: Solve) -> Solve:
    """Return ``solve``, called with `CHUNK` nodes whatever is asked.

    BLAS may add in another order for another number of right-hand sides; for the same number it does not.
    """
    return lambda nodes: solve(np.resize(nodes, CHUNK))[: len(nodes)]


def unit_columns(size: int, nodes: np.ndarray) -> np.ndarray:
    """Return the columns of the identity that belong to these nodes.

    >>> unit_columns(3, np.array([2, 0])).T.tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    units = np.zeros((size, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return units
