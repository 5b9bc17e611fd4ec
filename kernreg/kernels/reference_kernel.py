"""ReferenceKernel: for authors of kernels in which a sample counts for what it is among the samples of a reference set.

The width of a sample that is the distance to its neighbours, its rank, its density: such numbers belong to a sample and
a reference set, and with them the kernel is a formula of the pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, cast

import numpy as np

from kernreg.engine import whole
from kernreg.engine.arrays import as_samples, check_pair, result_dtype
from kernreg.errors import EngineError, ParameterError
from kernreg.kernels.base import Kernel
from kernreg.kernels.domains import check_learnt, value_key
from kernreg.kernels.ownership import own_samples
from kernreg.kernels.samples import row_start, same_samples
from kernreg.kernels.value import refuse_foreign_estimator


class ReferenceKernel(Kernel):
    """k(x, z) = compare(x, z, a(x), a(z)) with a = describe(·, R): numbers that a sample has in a reference set R.

    A subclass defines `describe` and `compare`, which see checked samples: C-contiguous float64 or float32 arrays, or
    CSR. Its parameters are attributes. All the rest follows: ``bind(R)`` fixes the reference set, as solvers do in
    ``fit``, and describes its samples once; unbound, k(X, Z) takes Z; bound kernels are pickled, saved, compared and
    evaluated in blocks and by any engine. A `KernelFamily` of the class is what a plugin registers.

    Examples
    --------
    A kernel of ranks: a sample counts for the share of the reference set that is smaller.

    >>> import numpy as np
    >>> from kernreg.kernels import KernelFamily, Parameter, ReferenceKernel, positive
    >>> class RankKernel(ReferenceKernel):
    ...     "exp(-sigma |rank(x) - rank(z)|), ranks of the first feature in the reference set."
    ...     def describe(self, X, reference):
    ...         return (X[:, :1] > reference[:, 0]).mean(axis=1)
    ...     def compare(self, X, Z, of_X, of_Z):
    ...         return np.exp(-self.sigma * np.abs(of_X[:, None] - of_Z))
    >>> rank = KernelFamily("rank", RankKernel, (Parameter("sigma", 1.0, positive),), symmetric=True)
    >>> k = rank(sigma=2.0).bind([[10.0], [20.0], [30.0], [40.0]])
    >>> k.description.tolist()
    [0.0, 0.25, 0.5, 0.75]
    >>> k([[25.0]], [[1000.0]]).round(3).tolist()  # ranks 1/2 and 1
    [[0.368]]
    """

    __slots__ = ("_description", "_reference")

    _reference: Any
    _description: np.ndarray | None

    def __init__(
        self, family: Any, values: Mapping[str, Any], reference: Any = None, description: np.ndarray | None = None
    ):
        super().__init__(family, values)
        object.__setattr__(self, "_reference", reference)
        object.__setattr__(self, "_description", description)

    # What an author defines ---------------------------------------------------------------------------------

    def describe(self, X: Any, reference: Any) -> np.ndarray:
        """Return numbers for each sample of X that it has in the reference set, as shape (n,) or (n, q).

        A row may depend on its own sample and on the reference set, not on other rows of X.
        """
        raise NotImplementedError

    def compare(self, X: Any, Z: Any, of_X: np.ndarray, of_Z: np.ndarray) -> np.ndarray:
        """Return the matrix of k(x_i, z_j), of samples and what `describe` says of them."""
        raise NotImplementedError

    # What follows -------------------------------------------------------------------------------------------

    @property
    def reference(self) -> Any:
        """The reference set; None while it is open."""
        return self._reference

    @property
    def description(self) -> np.ndarray:
        """What `describe` says of the samples of the reference set themselves."""
        if self._reference is None:
            raise ParameterError(f"{self!r} has no reference set yet: bind it to one, k.bind(X)")
        if self._description is None:
            object.__setattr__(self, "_description", self._described(self._reference))
        assert self._description is not None
        return self._description

    @property
    def takes_reference(self) -> bool:
        """Whether the reference set is still open."""
        return self._reference is None

    def bind(self, Z: Any) -> Kernel:
        """Return the kernel with ``Z``, copied, as its reference set."""
        Z = whole(self.check_samples(Z, "Z"), f"the kernel {self.name!r} is defined through all of them")
        bound = self._with(own_samples(Z))
        _ = bound.description  # now, and not in the first block or by a worker
        return bound

    def set_params(self, **params: Any) -> Kernel:
        """Return a new kernel with these parameters changed, bound to the same reference set if it is bound."""
        refuse_foreign_estimator(self, params)
        changed = super().set_params(**params)
        return changed if self._reference is None else cast("ReferenceKernel", changed)._with(self._reference)

    def scalar(self, x: Any, z: Any) -> float:
        """Return k(x, z) of one pair, by `describe` and `compare` of the two; a subclass may know a plainer formula."""
        if self._reference is None:
            raise ParameterError(f"{self.name} is defined through a reference set: use k.bind(Z).scalar(x, z)")
        row, column = (self._samples(np.asarray(side)[None], "x") for side in (x, z))
        return float(self._evaluate(row, column, None, None)[0, 0])

    def _with(self, reference: Any, description: np.ndarray | None = None) -> Self:
        return type(self)(self._family, self._values, reference, description)

    def _samples(self, X: Any, name: str) -> Any:
        return as_samples(X, name, inputs=self._family.inputs)

    def _anchored(self, X: Any, Z: Any) -> Kernel:
        return self if self._reference is not None else self._with(whole(X if Z is None else Z))

    def _described(self, X: Any) -> np.ndarray:
        found = np.asarray(self.describe(X, self._reference), dtype=np.float64)
        if found.shape[:1] != (X.shape[0],) or found.ndim > 2:
            raise EngineError(
                f"describe of the kernel {self.name!r} returned shape {found.shape} for {X.shape[0]} samples; a row "
                "for each sample is needed, (n,) or (n, q)"
            )
        return found

    def _description_of(self, X: Any, start: int | None) -> np.ndarray:
        """Return what is known of samples: where they are the reference set, or a slice of it, once and for all."""
        if same_samples(X, self._reference):
            return self.description
        if start is not None:
            return self.description[start : start + X.shape[0]]
        return self._described(X)

    def _evaluate(self, X: Any, Z: Any, out: np.ndarray | None, self_start: int | None) -> np.ndarray:
        if self._reference is None:
            return cast("ReferenceKernel", self._anchored(X, Z))._evaluate(X, Z, out, self_start)
        other, R = X if Z is None else Z, self._reference
        for side in (X, other):
            check_pair(side, R)
        mirrored = None if self_start is None else -self_start
        of_X = self._description_of(X, row_start(X, other, self_start) if same_samples(other, R) else None)
        of_Z = of_X if Z is None else self._description_of(Z, row_start(Z, X, mirrored) if same_samples(X, R) else None)
        K = np.asarray(self.compare(X, other, of_X, of_Z))
        if K.shape != (X.shape[0], other.shape[0]):
            raise EngineError(
                f"compare of the kernel {self.name!r} returned shape {K.shape} for {X.shape[0]} and {other.shape[0]} "
                "samples"
            )
        if out is None:
            return K.astype(result_dtype(X, other), copy=False)
        out[...] = K
        return out

    def _identity(self) -> Any:
        if self._key is None and self._reference is not None:
            key = (self._with(None)._identity(), value_key(self._reference))
            object.__setattr__(self, "_key", key)
        return super()._identity()

    def __reduce__(self) -> Any:
        if self._reference is None:
            return super().__reduce__()
        return _bound, (self._family, self._values, self._reference, self._description)

    def __kernreg_bound__(self) -> tuple[Kernel, dict[str, Any]] | None:
        if self._reference is None:
            return None
        return self._with(None), {"reference": self._reference, "description": self.description}

    def __kernreg_rebind__(self, learnt: Mapping[str, Any]) -> Kernel:
        reference, description = self._samples(learnt["reference"], "reference"), learnt["description"]
        shape = (reference.shape[0], *[None] * (np.ndim(description) - 1))
        return self._with(reference, check_learnt(self.name, "description", description, shape))


def _bound(family: Any, values: Mapping[str, Any], reference: Any, description: Any) -> ReferenceKernel:
    return family(**values)._with(reference, description)
