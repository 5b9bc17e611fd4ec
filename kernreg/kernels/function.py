"""Kernels made of one function, and their bound form where rows are normalised over a reference set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine import Handle, whole
from kernreg.engine.arrays import as_samples, in_double, is_sparse
from kernreg.engine.diagonal import diagonal
from kernreg.engine.dispatch import configured_engine
from kernreg.engine.matrix import matrix
from kernreg.engine.operator import KernelOperator
from kernreg.engine.program import Program
from kernreg.engine.separable import product_cost
from kernreg.engine.tiles.accumulation import TERMS
from kernreg.engine.tiles.blocks import BlockFiller
from kernreg.engine.tiles.row_normalisation import row_normalizers
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel, both_placed
from kernreg.kernels.domains import check_learnt, value_key
from kernreg.kernels.normalisation import NormalizedRows, row_sums
from kernreg.kernels.ranges import warn_beyond
from kernreg.kernels.samples import same_samples
from kernreg.kernels.spot_check import warn_if_compiled_differs
from kernreg.kernels.value import refuse_foreign_estimator
from kernreg.kernels.widths import is_open, resolved


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

    @property
    def takes_reference(self) -> bool:
        """True where rows are normalised, or a width is a word: until `bind`, by the second argument."""
        return self.normalize is not None or bool(self._open_widths())

    @property
    def keeps_reference(self) -> bool:
        """Whether rows are normalised over it."""
        return self.normalize is not None

    @property
    def gives_both_products(self) -> bool:
        """Whether products with K and with Kᵀ can be had together: for engines, of which see `HalfRows`."""
        return self.normalize is None

    def _open_widths(self) -> list[str]:
        """Return the parameters that are words: widths that samples have not been seen for."""
        return [name for name in self._family.widths if is_open(self._values[name])]

    def resolve_widths(self, X: Any, sample_weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel with numbers for widths that are words, from weighted samples.

        >>> from kernreg.kernels.builtin import rbf
        >>> rbf().resolve_widths([[0.0], [2.0]], [3, 1]) == rbf().bind([[0.0], [0.0], [0.0], [2.0]])
        True
        """
        if not self._open_widths():
            return self
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self._resolved(self.check_samples(X, "X"), weights)

    def _resolved(self, X: Any, weights: np.ndarray | None = None) -> FunctionKernel:
        """Return the kernel with a number for every width, itself where it has."""
        names = self._open_widths()
        if not names:
            return self
        family: Any = self._family
        term = family.declared.of if family.of == "term" else None
        numbers = {name: resolved(self._values[name], family.of, term, X, weights, name=self.name) for name in names}
        return FunctionKernel(self._family, {**self._values, **numbers})

    def _make_program(self) -> Program:
        family: Any = self._family  # of the `kernel` decorator, which comes after this class
        for name in self._open_widths():
            raise ParameterError(
                f"{self!r} takes {name} from samples and has seen none: bind it to some first, k.bind(X), or give a "
                f"number, {self.name}({name}=1.0)"
            )
        declared = family.declared
        values = dict(self._values)
        self_term = values.pop("self_term", True) if family.normalize else True
        parameters = tuple(values.values())
        if declared.prepare is not None:
            parameters = (declared.prepare(**values),)
        return Program(
            name=family.name,
            statistic=family.of,
            function=family.function,
            parameters=parameters,
            term=declared.of if family.of == "term" else None,
            symmetric=family.symmetric,
            normalize=family.normalize == "rows",
            log=declared.log,
            self_term=self_term,
            split=declared.split,
            fills=family.fills,
            blas=declared.blas,
        )

    def _samples(self, X: Any, name: str) -> Any:
        samples = as_samples(X, name, inputs=self._family.inputs)
        warn_beyond(self, samples, name)
        warn_if_compiled_differs(self, samples)
        return samples

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        return matrix(self._resolved(X if Z is None else Z).program, X, Z, out)

    def _diagonal(self, X: Any) -> np.ndarray:
        program = self._resolved(X).program
        return diagonal(program, X, row_sums(self._resolved(X), X, X) if self.normalize else None)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        if not self.takes_reference:
            return self
        reference = X if Z is None else Z
        kernel = self._resolved(reference)
        return BoundKernel(kernel, whole(reference)) if self.normalize else kernel

    def _by_columns(self, X: Any, Z: Any) -> Any:
        kernel = self._resolved(Z)
        return NormalizedRows(kernel, row_sums(kernel, X, Z)) if self.normalize else kernel

    def _shipped(self, X: Any, Z: Any) -> Any:
        # Row blocks get all of Z, over which rows are normalised: no copy of it has to travel with the kernel.
        return self._resolved(X if Z is None else Z)

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        kernel, engine = self._resolved(X if Z is None else Z), configured_engine()
        if engine is None:
            return KernelOperator(kernel.program, X, Z)
        if self.normalize:  # once for all products
            sums = row_sums(kernel, X, X if Z is None else Z)
            return engine.operator(NormalizedRows(kernel, sums), *both_placed(engine, X, Z))
        return engine.operator(kernel, *both_placed(engine, X, Z))

    def product_cost(self, X: Any, Z: Any = None) -> int:
        """Return about how many kernel values one product with K(X, Z) costs: fewer than all, with sparse samples."""
        X, Z = self.check_sample_pair(X, Z)
        Z = X if Z is None else Z
        if isinstance(X, Handle) or isinstance(Z, Handle):  # what their rows share is not known
            return X.shape[0] * Z.shape[0]
        return product_cost(self._resolved(Z).program, X, Z)

    # Row-normalised kernels: k(x, z) is a weight of the pair divided by the normaliser of x -------------------

    def row_normalizers(self, X: Any, Z: Any = None) -> np.ndarray:
        """Return the normalisers of the rows of K(X, Z): Σ_j weight(x_i, z_j), infinite where that is zero.

        Of a kernel in log form (``log=True``) they are the logarithms of these sums. Rows may be normalised over one
        set and evaluated against another: `normalized` and `normalized_operator` take them.

        >>> from kernreg.kernels.builtin import t
        >>> t(sigma=1.0).row_normalizers([[0.0]], [[1.0], [0.0]]).tolist()  # 1/2 + 1
        [1.5]
        """
        self._require_normalized()
        X, Z = self.check_sample_pair(X, Z)
        Z = X if Z is None else Z
        return row_sums(self._resolved(Z), X, Z)

    def normalized(self, X: Any, Z: Any, normalizers: np.ndarray) -> np.ndarray:
        """Return the matrix of weight(x_i, z_j) / n_i for the normalisers n of `row_normalizers`."""
        self._require_normalized()
        X, Z = self._pair_of(X, Z)
        engine = configured_engine()
        if engine is None:
            return matrix(self.program, X, Z, None, normalizers)
        return engine.matrix(NormalizedRows(self, normalizers), *both_placed(engine, X, Z))

    def normalized_operator(self, X: Any, Z: Any, normalizers: np.ndarray) -> LinearOperator:
        """Return `normalized` as a scipy LinearOperator that never holds the matrix."""
        self._require_normalized()
        X, Z = self._pair_of(X, Z)
        engine = configured_engine()
        if engine is None:
            return KernelOperator(self.program, X, Z, normalizers)
        return engine.operator(NormalizedRows(self, normalizers), *both_placed(engine, X, Z))

    def _pair_of(self, X: Any, Z: Any) -> tuple[Any, Any]:
        return self._samples(X, "X"), self._samples(Z, "Z")

    def _require_normalized(self) -> None:
        if not self.normalize:
            raise ParameterError(
                f"{self.name} is not row-normalised, and so its rows have no normalisers; kernels declared with "
                "normalize='rows', such as sne and t, do"
            )

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z`` as its reference set: rows normalised over it, words among widths as numbers.

        >>> from kernreg.kernels.builtin import rbf
        >>> rbf(sigma="2*scale").bind([[0.0], [2.0]])
        rbf(sigma=2.0)
        """
        if not self.takes_reference:
            return self
        Z = self.check_samples(Z, "Z")
        kernel = self._resolved(Z)
        if not self.normalize:
            return kernel
        return BoundKernel(kernel, whole(Z, f"rows of the kernel {self.name!r} are normalised over all of them"))

    def __kernreg_rebind__(self, learnt: Mapping[str, Any]) -> Kernel:
        if not self.normalize:
            return super().__kernreg_rebind__(learnt)
        reference, normalizers = self._samples(learnt["reference"], "reference"), learnt["normalizers"]
        if normalizers is not None:
            check_learnt(self.name, "normalizers", normalizers, (reference.shape[0],))
        return BoundKernel._of(self, reference, normalizers)

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
            if value == 0.0 and not program.self_term:
                value = math.inf
            return float(function(np.float64(value), *program.parameters))


class BoundKernel(Kernel):
    """A row-normalised kernel with its reference set: k(x, w) = weight(x, w) / Σ over the reference of weight(x, z).

    The normalisers of the reference's own rows are kept, so k(reference, new) needs no second pass over it.
    """

    __slots__ = ("_normalizers", "_reference", "_unbound")

    _unbound: FunctionKernel
    _reference: Any
    _normalizers: np.ndarray | None

    def __init__(self, unbound: FunctionKernel, reference: Any, normalizers: np.ndarray | None = None):
        super().__init__(unbound.family, unbound._values)
        object.__setattr__(self, "_unbound", unbound)
        # A copy: what the caller does to the array later must not change the kernel.
        object.__setattr__(self, "_reference", reference.copy())
        object.__setattr__(self, "_normalizers", normalizers)

    @classmethod
    def _of(cls, unbound: FunctionKernel, reference: Any, normalizers: np.ndarray | None) -> BoundKernel:
        """Return the kernel with this very reference set, and its normalisers where they are known."""
        made = cls(unbound, reference[:0], normalizers)
        object.__setattr__(made, "_reference", reference)
        return made

    @property
    def unbound(self) -> FunctionKernel:
        """The kernel without its reference set."""
        return self._unbound

    @property
    def reference(self) -> Any:
        """The samples over which rows are normalised."""
        return self._reference

    @property
    def normalizers(self) -> np.ndarray:
        """The normalisers of the reference's own rows (logarithms, for kernels in log form)."""
        if self._normalizers is None:
            # Those of float32 samples serve float64 ones, too.
            object.__setattr__(self, "_normalizers", self._sums(in_double(self._reference)))
        assert self._normalizers is not None
        return self._normalizers

    def _samples(self, X: Any, name: str) -> Any:
        return self._unbound._samples(X, name)

    def _row_normalizers(self, X: Any, Z: Any) -> np.ndarray:
        """Return the normalisers of the rows of X, good to the precision of K(X, Z)."""
        if same_samples(X, self._reference):
            return self.normalizers
        return self._sums(in_double(X) if Z.dtype == np.float64 else X)

    def _sums(self, X: Any) -> np.ndarray:
        """Return the normalisers of the rows of X over the reference set."""
        if configured_engine() is None:
            return row_normalizers(BlockFiller(self._unbound.program, whole(X), self._reference))
        return row_sums(self._unbound, X, self._reference)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        Z = X if Z is None else Z
        if same_samples(Z, self._reference):  # the sums run over Z itself, whose rows are at hand
            return matrix(self._unbound.program, X, Z, out)
        return matrix(self._unbound.program, X, Z, out, self._row_normalizers(X, Z))

    def _diagonal(self, X: Any) -> np.ndarray:
        return diagonal(self._unbound.program, X, self._row_normalizers(X, X))

    def _shipped(self, X: Any, Z: Any) -> Any:
        if same_samples(X if Z is None else Z, self._reference):  # the sums run over Z itself
            return self._unbound
        return NormalizedRows(self._unbound, self.normalizers) if same_samples(X, self._reference) else self

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        engine = configured_engine()
        if engine is not None:
            rows = NormalizedRows(self._unbound, self._row_normalizers(X, X if Z is None else Z))
            return engine.operator(rows, *both_placed(engine, X, Z))
        Z = X if Z is None else Z
        if same_samples(Z, self._reference):  # the sums run over Z itself: no second pass is needed
            return KernelOperator(self._unbound.program, X, Z)
        return KernelOperator(self._unbound.program, X, Z, self._row_normalizers(X, Z))

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel bound to ``Z`` instead."""
        return self._unbound.bind(Z)

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, bound to the same reference set."""
        refuse_foreign_estimator(self, params)
        return self._unbound.set_params(**params).bind(self._reference)

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair by the plain formula, normalised over the reference set."""
        reference = self._reference.toarray() if is_sparse(self._reference) else self._reference
        log = self._unbound.program.log
        value, weights = self._unbound.weight(x, z), [self._unbound.weight(x, other) for other in reference]
        top = max(weights) if log else 0.0
        if log and math.isinf(top):
            return 0.0
        total = math.fsum(math.exp(w - top) for w in weights) if log else math.fsum(weights)
        return (math.exp(value - top) if log else value) / total if total else 0.0

    def _identity(self) -> Any:
        if self._key is None:
            object.__setattr__(self, "_key", (self._unbound._identity(), value_key(self._reference)))
        return self._key

    def __reduce__(self) -> Any:
        # With what was summed up already: whoever unpickles it need not do so again.
        return BoundKernel, (self._unbound, self._reference, self._normalizers)

    def __kernreg_bound__(self) -> tuple[Kernel, dict[str, Any]]:
        return self._unbound, {"reference": self._reference, "normalizers": self._normalizers}
