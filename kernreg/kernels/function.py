"""Kernels made of one function, and their bound form where rows are normalised over a reference set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine.arrays import as_samples, is_sparse
from kernreg.engine.blocks import BlockFiller
from kernreg.engine.matrix import matrix
from kernreg.engine.normalise import row_normalizers
from kernreg.engine.operator import KernelOperator
from kernreg.engine.program import Program
from kernreg.engine.statistics import TERMS
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel, refuse_foreign_estimator
from kernreg.kernels.domains import value_key
from kernreg.kernels.samples import find_slice, same_samples


class FunctionKernel(Kernel):
    """A kernel given by a function of a statistic of the pair."""

    __slots__ = ("_program",)

    _program: Program | None

    def __init__(self, family: Any, values: Any):
        super().__init__(family, values)
        object.__setattr__(self, "_program", None)

    @property
    def program(self) -> Program:
        """The record the engine runs."""
        if self._program is None:
            object.__setattr__(self, "_program", self._make_program())
        assert self._program is not None
        return self._program

    def _make_program(self) -> Program:
        family, options = self._family, self._family.options
        assert family.function is not None
        values = dict(self._values)
        self_term = values.pop("self_term", True) if family.normalize else True
        parameters = tuple(values.values())
        if options["prepare"] is not None:
            parameters = (options["prepare"](**values),)
        return Program(
            name=family.name,
            statistic=family.of,
            function=family.function,
            parameters=parameters,
            term=options["of"] if family.of == "term" else None,
            symmetric=family.symmetric,
            normalize=family.normalize == "rows",
            log=options["log"],
            self_term=self_term,
            split=options["split"],
        )

    def _samples(self, X: Any, name: str) -> Any:
        return as_samples(X, name, inputs=self._family.inputs)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return matrix(self.program, X, Z, out, self_start=self_start)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return BoundKernel(self, X if Z is None else Z) if self.normalize else self

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        return KernelOperator(self.program, X, Z)

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z`` as its reference set (itself, where rows are not normalised)."""
        return BoundKernel(self, self._samples(Z, "Z")) if self.normalize else self

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by the plain formula in Python."""
        if self.normalize:
            raise ParameterError(f"{self.name} is normalised over a reference set: use k.bind(Z).scalar(x, z)")
        return float(self.weight(x, z))

    def weight(self, x: Any, z: Any) -> float:
        """Return the function's value for one pair, before any normalisation."""
        program = self.program
        function = getattr(program.function, "py_func", program.function)
        if program.statistic == "blocks":
            pair = (self._samples(np.asarray(side)[None], "x") for side in (x, z))
            return float(np.asarray(function(*pair, *program.parameters))[0, 0])
        u, v = np.asarray(x, dtype=np.float64).ravel(), np.asarray(z, dtype=np.float64).ravel()
        with np.errstate(all="ignore"):  # as compiled code: 1/0 is infinite, and no warning
            if program.statistic == "rows":
                return float(function(u, v, *program.parameters))
            term = TERMS[program.statistic] if program.term is None else program.term
            term = getattr(term, "py_func", term)
            value = math.fsum(float(term(a, b)) for a, b in zip(u, v, strict=True))
            return float(function(np.float64(value), *program.parameters))


class BoundKernel(Kernel):
    """A row-normalised kernel with its reference set: k(x, w) = weight(x, w) / Σ over the reference of weight(x, z).

    The normalisers of the reference's own rows are kept, so k(reference, new) needs no second pass over it.
    """

    __slots__ = ("_normalizers", "_of_reference", "_reference", "_unbound")

    _unbound: FunctionKernel
    _reference: Any
    _normalizers: np.ndarray | None
    _of_reference: bool

    def __init__(self, unbound: FunctionKernel, reference: Any, of_reference: bool = False):
        super().__init__(unbound.family, unbound._values)
        object.__setattr__(self, "_unbound", unbound)
        object.__setattr__(self, "_reference", reference)
        object.__setattr__(self, "_normalizers", None)
        # Whether slices of samples are known to be slices of the reference, which matters to their self terms.
        object.__setattr__(self, "_of_reference", of_reference)

    @property
    def reference(self) -> Any:
        """The samples over which rows are normalised."""
        return self._reference

    @property
    def normalizers(self) -> np.ndarray:
        """The normalisers of the reference's own rows (logarithms, for kernels in log form)."""
        if self._normalizers is None:
            filler = BlockFiller(self._unbound.program, self._reference, self._reference)
            object.__setattr__(self, "_normalizers", row_normalizers(filler, 0))
        assert self._normalizers is not None
        return self._normalizers

    def _samples(self, X: Any, name: str) -> Any:
        return self._unbound._samples(X, name)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        if self._unbound.program.self_term or self._of_reference or not same_samples(X, self._reference):
            return self
        return BoundKernel(self._unbound, self._reference, of_reference=True)

    def _place(self, X: Any) -> int | None:
        """Return the row of the reference at which its slice X starts; None for samples of other origin."""
        if same_samples(X, self._reference):
            return 0
        return find_slice(X, self._reference) if self._of_reference else None

    def _row_normalizers(self, X: Any) -> np.ndarray:
        place = self._place(X)
        if place is not None:
            return self.normalizers[place : place + X.shape[0]]
        return row_normalizers(BlockFiller(self._unbound.program, X, self._reference), None)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        Z = X if Z is None else Z
        program = self._unbound.program
        if same_samples(Z, self._reference):  # the sums run over Z itself, whose rows are at hand
            start = 0 if same_samples(X, self._reference) else self_start
            return matrix(program, X, Z, out, self_start=self._place(X) if start is None else start)
        return matrix(program, X, Z, out, self._row_normalizers(X), self._own_columns(X, Z, self_start))

    def _own_columns(self, X: Any, Z: Any, self_start: int | None) -> int | None:
        """Return where the self terms are between the whole reference and a slice of it (minus its start)."""
        if self._unbound.program.self_term or not same_samples(X, self._reference) or Z.shape[0] >= X.shape[0]:
            return None
        place = self._place(Z) if self_start is None else -self_start
        return None if place is None else -place

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        Z = X if Z is None else Z
        from_reference, to_reference = same_samples(X, self._reference), same_samples(Z, self._reference)
        own = 0 if from_reference and to_reference else None
        if to_reference and self._unbound.program.self_term:  # the sums run over Z itself: no second pass is needed
            return KernelOperator(self._unbound.program, X, Z)
        return KernelOperator(self._unbound.program, X, Z, self._row_normalizers(X), own)

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel bound to ``Z`` instead."""
        return self._unbound.bind(Z)

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, bound to the same reference set."""
        refuse_foreign_estimator(self, params)
        return BoundKernel(self._unbound.set_params(**params), self._reference)  # type: ignore[arg-type]  # same class

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by the plain formula, normalised over the reference set."""
        reference = self._reference.toarray() if is_sparse(self._reference) else self._reference
        weights = [self._unbound.weight(x, other) for other in reference]
        own = [np.array_equal(np.asarray(x).ravel(), np.ravel(other)) for other in reference]
        keep = [self._unbound.program.self_term or not same for same in own]
        if not self._unbound.program.self_term and np.array_equal(x, z):
            return 0.0
        if not self._unbound.program.log:
            return self._unbound.weight(x, z) / math.fsum(w for w, k in zip(weights, keep, strict=True) if k)
        top = max(w for w, k in zip(weights, keep, strict=True) if k)
        total = math.fsum(math.exp(w - top) for w, k in zip(weights, keep, strict=True) if k)
        return math.exp(self._unbound.weight(x, z) - top) / total

    def _identity(self) -> Any:
        if self._key is None:
            object.__setattr__(self, "_key", (self._unbound._identity(), value_key(self._reference)))
        return self._key

    def __reduce__(self) -> Any:
        return BoundKernel, (self._unbound, self._reference, self._of_reference)
