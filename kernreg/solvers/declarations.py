"""What authors declare of their kernels, tried on some of the training samples before a fit relies on it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
from kernreg.errors import AsymmetryError, DataError
from kernreg.kernels import Kernel
from kernreg.kernels.function import FunctionKernel
from kernreg.solvers.samples import take

_PAIRED = 4  # samples whose pairs are evaluated in both orders, in plain Python
_FALSE = 1e-6  # a difference between the orders that no rounding makes, relative to the largest value
#: What an author's own code compares. Statistics such as "dot" are symmetric whatever is computed from them.
_OWN_CODE = ("rows", "blocks", "term")
_DECOMPOSED = 40  # samples whose matrix is decomposed
#: A negative eigenvalue that no rounding makes, relative to the largest.
_NEGATIVE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}


def refuse_false_declarations(kernel: Kernel, X: Any) -> None:
    """Raise an error where a kernel is declared symmetric or positive definite, and is not on these samples.

    Half of the matrix of a symmetric kernel is evaluated and mirrored, and solutions on landmarks leave out negative
    eigenvalues of a definite one: a false declaration would give wrong answers in silence. k(x, z) and k(z, x) are
    compared for some pairs, and the eigenvalues of a small matrix are computed. The conformance kit tries more.

    Parameters
    ----------
    kernel : Kernel
        Bound to the samples. Kernels inside of it are looked at, too.
    X : array-like or CSR
        The training samples; pairs, structured samples and those that are elsewhere are not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> @kr.kernel(of="blocks", symmetric=True)
    ... def first(A, B):
    ...     return A[:, :1] + 0.0 * B[:, 0]
    >>> refuse_false_declarations(first(), np.array([[1.0], [2.0]]))
    Traceback (most recent call last):
    kernreg.errors.AsymmetryError: the kernel 'first' is declared symmetric, but k(x, z) = 1 and k(z, x) = 2 ...
    """
    if not isinstance(X, np.ndarray) and not is_sparse(X):
        return
    for part in _parts(kernel):
        if part.symmetric and part.family.of in _OWN_CODE:
            _try_symmetry(part, _some(X, _PAIRED))
        if part.definite and part.family._compared is not None:  # those of kernreg itself are tested
            _try_definiteness(part, _some(X, _DECOMPOSED))


def _parts(kernel: Kernel) -> Iterator[FunctionKernel]:
    """The kernels of one function in a kernel, of those that see the samples themselves."""
    if isinstance(kernel, FunctionKernel):
        yield kernel
    elif kernel.name != "compose":
        for part in kernel.get_params(deep=False).values():
            if isinstance(part, Kernel):
                yield from _parts(part)


def _some(X: Any, most: int) -> Any:
    return take(X, np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], most)).astype(np.intp)))


def _try_symmetry(kernel: FunctionKernel, some: Any) -> None:
    for x, z in combinations(some.toarray() if is_sparse(some) else some, 2):
        try:
            one, other = kernel.scalar(x, z), kernel.scalar(z, x)
        except Exception:  # of any kind: a function that only runs compiled is left to the conformance kit
            return
        if abs(one - other) > _FALSE * max(abs(one), abs(other)):
            raise AsymmetryError(
                f"the kernel {kernel.name!r} is declared symmetric, but k(x, z) = {one:.6g} and k(z, x) = {other:.6g} "
                "for two of these samples. Declare symmetric=False, or correct the formula; "
                "kernreg.testing.check_kernel finds where declarations are wrong"
            )


def _try_definiteness(kernel: FunctionKernel, some: Any) -> None:
    K = kernel._evaluate(some, None, None, None)
    if not len(K) or not np.isfinite(K).all():
        return
    values = np.linalg.eigvalsh(K.astype(np.float64))
    if values[0] < -_NEGATIVE[K.dtype] * max(values[-1], -values[0]):
        raise DataError(
            f"the kernel {kernel.name!r} is declared positive definite, but its matrix of {len(K)} of these samples "
            f"has the eigenvalue {values[0]:.3g} (the largest is {values[-1]:.3g}). Declare definite=False, or "
            "restrict the parameters; kernreg.testing.check_kernel finds where declarations are wrong"
        )
