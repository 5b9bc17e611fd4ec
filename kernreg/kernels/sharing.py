"""Kernel matrices computed once for several users: inside `shared_matrices`, k(X) of equal kernels and samples is kept.

Solvers work in the memory of the matrix they are given, so each gets a copy of its own. What is kept is bounded, the
least recently used goes first, and all of it is dropped at the end of the block.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from kernreg.common.forking import open_in_children
from kernreg.config import memory_budget
from kernreg.engine.arrays import is_sparse
from kernreg.engine.memory import empty
from kernreg.kernels.packed import PackedSamples
from kernreg.kernels.samples import SampleParts

SHARE = 0.25  # of the memory budget may be kept


class MatrixStore:
    """Matrices by kernel and samples.

    Attributes
    ----------
    evaluated, reused : int
        How many were computed, and how many times one was there already.
    """

    def __init__(self) -> None:
        self.evaluated = self.reused = 0
        self._limit = int(SHARE * memory_budget())
        self._held: OrderedDict[Any, np.ndarray] = OrderedDict()
        self._lock = open_in_children(threading.Lock())  # several threads of one fit may ask

    def matrix(self, kernel: Any, X: Any, Z: Any, evaluate: Callable[[], np.ndarray]) -> np.ndarray:
        """Return K(X, Z), an array of the caller's own."""
        needed = 8 * X.shape[0] * (X if Z is None else Z).shape[0]
        if needed > self._limit:
            return evaluate()
        contents = tuple(map(digest, (X,) if Z is None else (X, Z)))
        if None in contents:
            return evaluate()
        key = kernel, contents
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self.reused += 1
                self._held.move_to_end(key)
            else:
                self.evaluated += 1
        if found is not None:
            return _copied(found)
        K = evaluate()
        kept = _copied(K)
        with self._lock:
            self._held[key] = kept
            while sum(held.nbytes for held in self._held.values()) > self._limit:
                self._held.popitem(last=False)
        return K


def _copied(K: np.ndarray) -> np.ndarray:
    """Return a copy in recycled memory: fresh pages would cost as much as evaluating a cheap kernel."""
    copy = empty(K.shape, K.dtype)
    np.copyto(copy, K)
    return copy


def digest(X: Any) -> bytes | None:
    """Return a fingerprint of the samples' contents; None where they are not plain numbers, which then are not shared.

    >>> digest(np.eye(2)) == digest(np.eye(2)), digest(np.array([[None]], dtype=object)) is None
    (True, True)
    """
    if isinstance(X, SampleParts):
        parts = [digest(part) for part in X.parts]
        return None if None in parts else hashlib.blake2b(repr(parts).encode(), digest_size=20).digest()
    if isinstance(X, PackedSamples):
        parts = [digest(array) for array in X.arrays]
        return hashlib.blake2b(repr((X.key, parts)).encode(), digest_size=20).digest()
    arrays = (X.data, X.indices, X.indptr) if is_sparse(X) and X.format == "csr" else (X,)
    if not all(isinstance(array, np.ndarray) and not array.dtype.hasobject for array in arrays):
        return None
    found = hashlib.blake2b(repr((X.shape, [str(array.dtype) for array in arrays])).encode(), digest_size=20)
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.digest()


_current: ContextVar[MatrixStore | None] = ContextVar("kernreg_shared_matrices", default=None)


def current_store() -> MatrixStore | None:
    """Return the store of the surrounding `shared_matrices`, or None."""
    return _current.get()


@contextmanager
def unshared_matrices() -> Iterator[None]:
    """Keep no matrices inside the block, whatever is around it: those of many small fits are of no use to others.

    >>> from kernreg.kernels.builtin import rbf
    >>> with shared_matrices() as store, unshared_matrices():
    ...     K = rbf()(np.eye(2))
    >>> store.evaluated
    0
    """
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def shared_matrices() -> Iterator[MatrixStore]:
    """Keep kernel matrices for the length of the block; inside another such block, use its store.

    >>> import numpy as np
    >>> from kernreg.kernels.builtin import rbf
    >>> with shared_matrices() as store:
    ...     same = rbf()(np.eye(2)) is rbf()(np.eye(2))
    >>> store.evaluated, store.reused, same
    (1, 1, False)
    """
    outer = _current.get()
    if outer is not None:
        yield outer
        return
    token = _current.set(MatrixStore())
    try:
        store = _current.get()
        assert store is not None
        yield store
    finally:
        _current.reset(token)
