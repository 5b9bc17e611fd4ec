"""Kernel: a family with its parameters. Immutable, hashable, picklable, callable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from kernreg.engine import Handle, is_row_source, whole
from kernreg.engine.arrays import check_out, result_dtype
from kernreg.engine.budget import check_fits
from kernreg.engine.dispatch import LOCAL, configured_engine, current_engine, placed, placed_once
from kernreg.engine.products import mirrored_columns
from kernreg.engine.running.handles import is_streamed
from kernreg.kernels.columns import are_wide, blocks_by_columns
from kernreg.kernels.ranges import warn_if_vanished, warn_unless_finite
from kernreg.kernels.row_block_operator import RowBlockOperator
from kernreg.kernels.samples import overlaps, same_samples
from kernreg.kernels.sharing import current_store
from kernreg.kernels.value import KernelValue

if TYPE_CHECKING:
    pass

_SIDE = 32  # of the blocks in which a diagonal is evaluated where a kernel has no shorter way


class Kernel(KernelValue):
    """A similarity k(x, z), ready to be evaluated.

    Made by calling a family (``rbf(sigma=2.0)``), by `kernreg.make_kernel`, or by arithmetic on kernels. Parameters are
    read as attributes; `set_params` returns a new kernel.

    Examples
    --------
    >>> import kernreg as kr
    >>> k = kr.make_kernel("rbf", sigma=1.0)
    >>> k([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    >>> k.set_params(sigma=2.0), (k + 2.0 * k).symmetric
    (rbf(sigma=2.0), True)
    """

    __slots__ = ()
    #: Whether making one binds the kernels among its parameters, and so evaluates them.
    binds_parameters: ClassVar[bool] = False
    #: Whether its values are products of those of its parts, and so may leave the range of numbers where these do not.
    multiplies: ClassVar[bool] = False

    # What a kind of kernel defines ------------------------------------------------------------------------

    @property
    def keeps_reference(self) -> bool:
        """Whether `bind` keeps the reference set, or must hold all of it: not for widths that are words.

        >>> from kernreg.kernels.builtin import rbf, sne
        >>> rbf(sigma="median").keeps_reference, sne().keeps_reference
        (False, True)
        """
        return self.takes_reference

    @property
    def definite(self) -> bool | None:
        """True: positive semi-definite; False: known not to be; None: not known."""
        declared = self._family.definite
        return declared(**self._values) if callable(declared) else declared

    @property
    def normalize(self) -> str | None:
        """``"rows"`` where each row is divided by its sum over the reference set."""
        return self._family.normalize

    def _samples(self, X: Any, name: str) -> Any:
        """Return X checked and normalised for this kernel."""
        raise NotImplementedError

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        """Return K(X, Z) of checked samples; Z None stands for X; rows of X start at row self_start of Z, if any.

        A negative self_start says that Z is a slice of X, which starts there: the mirror image of a slice of X.
        """
        raise NotImplementedError

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        """Return the kernel bound to the reference set that k(X, Z) takes, so that rows may be evaluated apart."""
        return self

    def _diagonal(self, X: Any) -> np.ndarray:
        """Return k(x_i, x_i) of checked samples."""
        kernel = self._anchored(X, None)
        parts = [X[start : start + _SIDE] for start in range(0, X.shape[0], _SIDE)]
        values = [kernel._evaluate(part, None, None, None).diagonal() for part in parts]
        return np.concatenate(values) if values else np.empty(0, dtype=result_dtype(X, X))

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z`` as its reference set; kernels that need none return themselves.

        A row-normalised kernel bound to its training set Z gives both ``k(new, Z)``, normalised over Z, and
        ``k(Z, new)``, with the normalisers of Z.
        """
        return self

    def resolve_widths(self, X: Any, sample_weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel with numbers for widths that are words, as `bind` does, but with weights of the samples.

        An integer weight counts as that many copies of the sample.
        """
        return self

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by the plain formula in Python: slow, obvious, for checking."""
        raise NotImplementedError

    # Evaluation -------------------------------------------------------------------------------------------

    def __call__(self, X: Any, Z: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return the matrix of k(x_i, z_j): rows are the first argument; ``Z=None`` stands for X.

        Parameters
        ----------
        X, Z : array-like or CSR
            Samples in rows. float32 gives float32.
        out : ndarray, optional
            Filled and returned instead of a new array.
        """
        X, Z = self.check_sample_pair(X, Z)
        if out is not None:
            other = X if Z is None else Z
            check_out(out, (X.shape[0], other.shape[0]), result_dtype(X, other))
            if overlaps(out, X) or overlaps(out, other):
                values = self._matrix(X, Z, None)  # what is read must not be overwritten meanwhile
                warn_if_vanished(self, values, X, Z)
                out[...] = values
                return warn_unless_finite(self, out)
        store = current_store()
        if store is not None and out is None:
            K = store.matrix(self, X, Z, lambda: self._matrix(X, Z, None))
        else:
            K = self._matrix(X, Z, out)
        warn_if_vanished(self, K, X, Z)
        return warn_unless_finite(self, K)

    def _matrix(self, X: Any, Z: Any, out: np.ndarray | None = None) -> np.ndarray:
        """Return K(X, Z) of checked samples by the configured engine; `_evaluate` is what one machine does."""
        engine, other = configured_engine(), X if Z is None else Z
        if out is None:  # before anything is made of the samples
            check_fits((X.shape[0], other.shape[0]), result_dtype(X, other), self.name)
        if engine is None and not _elsewhere(X, Z):
            return self._evaluate(X, Z, out, None)
        if are_wide(other):
            return self._wide_matrix(X, other, out)
        engine = engine or LOCAL
        with placed_once():
            return engine.matrix(self._ship(X, Z), *both_placed(engine, X, Z), out)

    def _wide_matrix(self, X: Any, Z: Any, out: np.ndarray | None) -> np.ndarray:
        if out is None:
            out = np.empty((X.shape[0], Z.shape[0]), result_dtype(X, Z))
        for rows, block in blocks_by_columns(self._by_columns(X, Z), X, Z, None):
            out[rows] = block
        return out

    def _by_columns(self, X: Any, Z: Any) -> Any:
        """Return what evaluates some columns of K(X, Z) without the others."""
        if self.takes_reference:
            whole(Z, f"the kernel {self.name!r} is defined through all of them")
        return self._anchored(X, Z)

    def diagonal(self, X: Any) -> np.ndarray:
        """Return the vector of k(x_i, x_i), the diagonal of ``k(X)``, without the matrix.

        It takes a number of kernel values proportional to that of the samples, and beside these only what defines a
        value: row sums over the reference set, values between the samples and a reference set or landmarks. A kernel
        whose reference set is open takes X as that, as ``k(X)`` does.

        >>> from kernreg.kernels.builtin import linear
        >>> linear().diagonal([[1.0, 2.0], [3.0, 0.0]]).tolist()
        [5.0, 9.0]
        """
        X = self.check_samples(X)
        if isinstance(X, Handle):
            kernel = self.resolve_widths(X)
            rows = DiagonalRows(kernel._anchored(whole(X), None) if kernel.takes_reference else kernel)
            return warn_unless_finite(self, current_engine().map_rows(rows, X, X[:1], only_column))
        return warn_unless_finite(self, self._diagonal(X))

    def rows(self, X: Any, Z: Any, start: int, stop: int) -> np.ndarray:
        """Return rows ``start:stop`` of K(X, Z); ``Z=None`` stands for X."""
        X, Z = self.check_sample_pair(X, Z)
        kernel = self._anchored(X, Z)
        start_of_Z = start if Z is None else None
        return warn_unless_finite(self, kernel._evaluate(X[start:stop], X if Z is None else Z, None, start_of_Z))

    def blocks(self, X: Any, Z: Any = None, *, block_rows: int | None = None) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield (rows, block) over K(X, Z), each block within the memory budget."""
        X, Z = self.check_sample_pair(X, Z)
        columns = X if Z is None else Z
        if are_wide(columns):
            found = blocks_by_columns(self._by_columns(X, columns), X, columns, block_rows)
        else:
            found = current_engine().blocks(self._ship(X, Z), X, Z, block_rows)
        return ((rows, warn_unless_finite(self, block)) for rows, block in found)

    def map_rows(
        self, X: Any, Z: Any, function: Callable[..., Any], combine: str = "concatenate", *, args: Any = ()
    ) -> Any:
        """Return ``function(rows, block, *args)`` over the row blocks of K(X, Z), combined, by the configured engine.

        Parameters
        ----------
        X, Z : samples or handles
            ``Z=None`` stands for X.
        function : callable
            Gets the slice of rows, the block of K and `args`; must not keep the block. Threads and other processes call
            it: it is best a function of a module, and what it needs is in `args`.
        combine : {"concatenate", "add"}
            Results are joined along the first axis, or added up in a fixed tree: always to the same bits.
        args : tuple
            Arguments in `kernreg.engine.ByRow` have a row for each row of X, and are cut to those of the block.

        >>> import numpy as np
        >>> from kernreg.kernels.builtin import linear
        >>> def largest(rows, block):
        ...     return block.max(axis=1)
        >>> linear().map_rows([[1.0], [2.0]], [[3.0], [4.0]], largest).tolist()
        [4.0, 8.0]
        """
        X, Z = self.check_sample_pair(X, Z)
        engine = configured_engine()
        if engine is None:
            return LOCAL.map_rows(self._ship(X, Z), X, Z, function, combine, args=args)
        with placed_once():
            return engine.map_rows(self._ship(X, Z), *both_placed(engine, X, Z), function, combine, args=args)

    def operator(self, X: Any, Z: Any = None) -> LinearOperator:
        """Return K(X, Z) as a scipy LinearOperator that never holds K."""
        X, Z = self.check_sample_pair(X, Z)
        if _elsewhere(X, Z):
            return current_engine().operator(self._ship(X, Z), X, Z)
        with placed_once():
            return self._operator(X, Z)

    def product(self, X: Any, Z: Any, V: np.ndarray) -> np.ndarray:
        """Return K(X, Z) @ V, once and without K: a prediction for each row of X.

        >>> from kernreg.kernels.builtin import linear
        >>> linear().product([[1.0], [2.0]], [[3.0], [4.0]], [1.0, 1.0]).tolist()
        [7.0, 14.0]
        """
        X, Z = self.check_sample_pair(X, Z)
        V = np.asarray(V)
        engine = configured_engine()
        if engine is None or (self._has_factors and not isinstance(X, Handle)):
            return self.operator(X, Z) @ V
        with placed_once():
            return engine.predict(self._ship(X, Z), *both_placed(engine, X, Z), V)

    @property
    def _has_factors(self) -> bool:
        """Whether products are made of products with other kernels, whose common factors are computed once."""
        return False

    # What engines call: X are some rows of the samples, `rows` where they stand among all, Z are all second samples.

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return rows of the kernel matrix of checked samples; with `square` Z are all samples of which X are some."""
        if square and X.shape[0] == Z.shape[0]:
            return self._evaluate(X, None, None, None)
        return self._evaluate(X, Z, None, rows.start if square else None)

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with rows of the kernel matrix, as `row_block`."""
        return self._operator(X, None if square and X.shape[0] == Z.shape[0] else Z)

    def for_engine(self, X: Any, Z: Any = None) -> Any:
        """Return what engines run for K(X, Z), a `kernreg.engine.RowKernel`: picklable, with all that it needs.

        >>> from kernreg.kernels.builtin import rbf
        >>> rbf(sigma="2*scale").for_engine([[0.0], [2.0]])
        rbf(sigma=2.0)
        """
        return self._ship(*self.check_sample_pair(X, Z))

    def _ship(self, X: Any, Z: Any) -> Any:
        """Return what an engine runs for K(X, Z) of checked samples; a reference set elsewhere is brought here."""
        if not self.takes_reference:
            return self._shipped(X, Z)
        if is_streamed(X if Z is None else Z):  # widths are found without holding them
            resolved = self.resolve_widths(X if Z is None else Z)
            if not resolved.takes_reference:
                return resolved._shipped(X, Z)
        why = f"the kernel {self.name!r} is defined through all of them"
        X, Z = (whole(X, why), None) if Z is None else (X, whole(Z, why))
        return self._shipped(X, Z)

    def _shipped(self, X: Any, Z: Any) -> Any:
        """Return what engines run of this kernel: with its reference set, and with what is known of the rows of X."""
        return self._anchored(X, Z)

    def anchored(self, X: Any, Z: Any = None) -> Kernel:
        """Return the kernel with the reference set that k(X, Z) takes, so that parts of K(X, Z) may be evaluated."""
        return self._anchored(*self.check_sample_pair(X, Z))

    def mirrored_columns(self, n: int) -> int:
        """Return how many columns V may have for ``operator(X) @ V`` to evaluate only half of the n × n values.

        Zero where k(x, z) = k(z, x) is not known; wider products evaluate all of them.
        """
        return mirrored_columns(n) if self.symmetric else 0

    def product_cost(self, X: Any, Z: Any = None) -> int:
        """Return about how many kernel values one product with K(X, Z) costs: fewer than all, with sparse samples."""
        X, Z = self.check_sample_pair(X, Z)
        return X.shape[0] * (X if Z is None else Z).shape[0]

    def check_samples(self, X: Any, name: str = "X") -> Any:
        """Return X in the form in which this kernel computes, or raise DataError, which calls it by its name.

        Rows of numbers become C-contiguous float64 or float32 arrays or canonical CSR, sample indices a vector of
        integers; a combination whose kernels see different samples gets what each of them sees. Of a row source, and of
        a collection that the configured engine reads, comes a handle: its rows are checked when they are read.
        """
        if isinstance(X, Handle):  # checked before
            return X
        engine = configured_engine()
        if (engine is not None and engine.reads(X)) or is_row_source(X):
            return current_engine().place(X, SampleCheck(self, name))
        return self._samples(X, name)

    def check_sample_pair(self, X: Any, Z: Any = None) -> tuple[Any, Any]:
        """Return both sample sets as `check_samples` does, Z None where it is X: k(X, X) is k(X)."""
        Z = None if Z is X else Z
        X, Z = self.check_samples(X, "X"), None if Z is None else self.check_samples(Z, "Z")
        return X, None if Z is None or same_samples(X, Z) else Z

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return self._engine_operator(X, Z) or RowBlockOperator(self._anchored(X, Z), X, Z)

    def _engine_operator(self, X: Any, Z: Any) -> LinearOperator | None:
        """Return the operator of the configured engine, None where that is the one of this machine."""
        engine = configured_engine()
        return None if engine is None else engine.operator(self._ship(X, Z), *both_placed(engine, X, Z))


@dataclass(frozen=True)
class SampleCheck:
    """What engines do to rows of a source or a collection when they read them: the check of a kernel, picklable."""

    kernel: Kernel
    name: str

    def __call__(self, rows: Any) -> Any:
        """Return the rows as the kernel sees them, or raise DataError."""
        return self.kernel._samples(rows, self.name)


def _elsewhere(X: Any, Z: Any) -> bool:
    return isinstance(X, Handle) or isinstance(Z, Handle)


@dataclass(frozen=True)
class DiagonalRows:
    """The diagonal of a kernel matrix as a matrix of one column, for engines to evaluate."""

    kernel: Kernel

    def row_block(self, X: Any, Z: Any, rows: slice, square: bool) -> np.ndarray:
        """Return k(x, x) of some samples."""
        return self.kernel._diagonal(X)[:, None]

    def row_operator(self, X: Any, Z: Any, rows: slice, square: bool) -> LinearOperator:
        """Return products with this one column."""
        return aslinearoperator(self.row_block(X, Z, rows, square))


def only_column(rows: slice, block: np.ndarray) -> np.ndarray:
    """Return the only column of a block."""
    return np.ascontiguousarray(block[:, 0])


def both_placed(engine: Any, X: Any, Z: Any) -> tuple[Any, Any]:
    """Return handles of both sample sets."""
    return placed(engine, X), None if Z is None else placed(engine, Z)
