"""Kernels of structured samples, made of one function: samples are packed, represented once, and compared in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from kernreg.engine import Handle, whole
from kernreg.engine.diagonal import diagonal
from kernreg.engine.dispatch import configured_engine
from kernreg.engine.matrix import matrix
from kernreg.engine.operator import KernelOperator
from kernreg.engine.program import Program
from kernreg.errors import ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.packed import PackedSamples
from kernreg.kernels.samples import SampleParts


class PackedKernel(Kernel):
    """A kernel of structured samples.

    What the author declared: ``inputs`` packs samples; ``learn`` gives parameters that are words a value, from the
    reference set; ``represent`` makes arrays of a sample set, a row for each sample, once; the function compares
    blocks.
    """

    __slots__ = ()

    @property
    def takes_reference(self) -> bool:
        """Whether a parameter is a word, which samples give a value to."""
        return bool(self._open())

    @property
    def keeps_reference(self) -> bool:
        """False: what is learnt are parameters."""
        return False

    @property
    def _declared(self) -> Any:
        family: Any = self._family  # of the `kernel` decorator, which comes after this class
        return family.declared

    def _open(self) -> list[str]:
        return [name for name in self._declared.learn if isinstance(self._values[name], str)]

    def _samples(self, X: Any, name: str) -> Any:
        return self._declared.inputs.samples(X, name)

    def resolve_widths(self, X: Any, sample_weight: np.ndarray | None = None) -> Kernel:
        """Return the kernel with values for parameters that are words, from weighted samples."""
        if not self._open():
            return self
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return self._resolved(self.check_samples(X, "X"), weights)

    def _resolved(self, X: Any, weights: np.ndarray | None = None) -> PackedKernel:
        names = self._open()
        if not names:
            return self
        samples = whole(X, f"the kernel {self.name!r} takes {', '.join(names)} from all of them")
        if not len(samples):
            raise ParameterError(f"{self!r} takes {', '.join(names)} from samples, and there are none: give values")
        values = dict(self._values)
        for name in names:
            values[name] = self._declared.learn[name](samples, weights, dict(values))
        for parameter in self._family.parameters:
            if parameter.name in names:  # the others are accepted already
                values[parameter.name] = parameter.accept(values[parameter.name], self.name)
        return type(self)(self._family, values)

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with values for parameters that are words, from the samples ``Z``."""
        return self._resolved(self.check_samples(Z, "Z")) if self._open() else self

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self._resolved(X if Z is None else Z)

    def _program(self) -> Program:
        family: Any = self._family
        function, represent = family.function, self._declared.represent

        def blocks(X: Any, Z: Any, *parameters: Any, **options: Any) -> np.ndarray:
            return function(X.parts, Z.parts, *parameters, **options)

        return Program(
            name=self.name,
            statistic="blocks",
            function=function if represent is None else blocks,
            parameters=tuple(self._values.values()),
            symmetric=self._family.symmetric,
            side=self._declared.block,
            fills=family.fills,
            blas=self._declared.blas,
        )

    def _represented(self, X: PackedSamples) -> Any:
        """Return what the function sees of samples, made once for a sample set."""
        represent = self._declared.represent
        if represent is None:
            return X
        return X.derived(self, lambda samples: SampleParts(tuple(represent(samples, **self._values))))

    def _pair(self, X: Any, Z: Any) -> tuple[Any, Any]:
        if Z is not None:
            self._declared.inputs.check_pair(X, Z)
        return self._represented(X), None if Z is None else self._represented(Z)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        kernel = self._resolved(X if Z is None else Z)
        return matrix(kernel._program(), *kernel._pair(X, Z), out)

    def _diagonal(self, X: Any) -> np.ndarray:
        kernel = self._resolved(X)
        return diagonal(kernel._program(), kernel._represented(X))

    def _operator(self, X: Any, Z: Any) -> LinearOperator:
        kernel = self._resolved(X if Z is None else Z)
        if configured_engine() is not None or isinstance(X, Handle) or isinstance(Z, Handle):
            return Kernel._operator(kernel, X, Z)
        return KernelOperator(kernel._program(), *kernel._pair(X, Z))

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair, each packed by itself."""
        if self._open():
            raise ParameterError(f"{self!r} takes {', '.join(self._open())} from samples: use k.bind(Z).scalar(x, z)")
        return float(self._evaluate(self._declared.inputs.one(x), self._declared.inputs.one(z), None, None)[0, 0])
