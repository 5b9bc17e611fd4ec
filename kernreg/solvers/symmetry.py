"""Refusing asymmetric kernels, for solvers that require symmetric ones, and kernels that are declared so wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from kernreg.engine.arrays import is_sparse
from kernreg.errors import AsymmetryError
from kernreg.kernels import Kernel
from kernreg.kernels.function import FunctionKernel
from kernreg.linalg.exact.centring import SYMMETRY_TOLERANCE, asymmetry
from kernreg.solvers.samples import count_samples, take

_SAMPLES = 500  # among which asymmetry is looked for where the matrix is never seen
_TRIED = 4  # samples whose pairs are evaluated in both orders, in plain Python
_FALSE = 1e-6  # a difference between the orders that no rounding makes, relative to the largest value
#: What an author's own code compares. Statistics such as "dot" are symmetric whatever is computed from them.
_OWN_CODE = ("rows", "blocks", "term")


def require_symmetric(kernel: Kernel, K: np.ndarray, *, who: str, instead: str = "") -> None:
    """Raise AsymmetryError where K, the matrix of a kernel not known to be symmetric, is not so but for rounding.

    Parameters
    ----------
    kernel : Kernel
    K : ndarray of shape (m, m)
    who : str
        What requires symmetry, in the words of the message.
    instead : str, optional
        The name of a solver that takes asymmetric kernels.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> K = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> require_symmetric(kr.make_kernel("precomputed", K=K), K, who="this solver", instead="ask-ls")
    Traceback (most recent call last):
    kernreg.errors.AsymmetryError: the kernel 'precomputed' is asymmetric on these samples ...
    """
    gap = 0.0 if kernel.symmetric else asymmetry(K)
    if gap > SYMMETRY_TOLERANCE[K.dtype]:
        advice = f"Use '{instead}', which is made for asymmetric kernels, or say" if instead else "Say"
        raise AsymmetryError(
            f"the kernel {kernel.name!r} is asymmetric on these samples (max |K - Kᵀ| is {gap:.3g} of max |K|), and "
            f"{who} requires a symmetric one. {advice} how to make it symmetric: kernreg.kernels.symmetrize(kernel, …)"
        )


def require_symmetric_on_some(kernel: Kernel, X: Any, *, who: str, instead: str = "") -> None:
    """Do the same with at most 500 of the samples, where the whole matrix is never seen.

    Examples
    --------
    >>> import kernreg as kr
    >>> require_symmetric_on_some(kr.make_kernel("rbf(sigma=1.0)"), [[0.0], [1.0]], who="this solver")
    """
    if kernel.symmetric:
        return
    m = count_samples(X)
    some = take(X, np.sort(np.random.default_rng(0).choice(m, min(m, _SAMPLES), replace=False)))
    require_symmetric(kernel, kernel(some, some), who=who, instead=instead)


def refuse_false_symmetry(kernel: Kernel, X: Any) -> None:
    """Raise AsymmetryError where a kernel is declared symmetric and k(x, z) differs from k(z, x) for some samples.

    Half of the matrix of such a kernel is evaluated and mirrored, so a false declaration would give wrong answers in
    silence. A few pairs are evaluated in both orders; the conformance kit tries more.

    Parameters
    ----------
    kernel : Kernel
        Bound to the samples.
    X : array-like or CSR
        The training samples; pairs, and samples that are elsewhere, are not looked at.

    Examples
    --------
    >>> import numpy as np
    >>> import kernreg as kr
    >>> @kr.kernel(of="blocks", symmetric=True)
    ... def first(A, B):
    ...     return A[:, :1] + 0.0 * B[:, 0]
    >>> refuse_false_symmetry(first(), np.array([[1.0], [2.0]]))
    Traceback (most recent call last):
    kernreg.errors.AsymmetryError: the kernel 'first' is declared symmetric, but k(x, z) = 1 and k(z, x) = 2 ...
    """
    if not isinstance(X, np.ndarray) and not is_sparse(X):
        return
    m = X.shape[0]
    some = take(X, np.unique(np.linspace(0, m - 1, min(m, _TRIED)).astype(np.intp)))
    samples = some.toarray() if is_sparse(some) else some
    for part in _declared_symmetric(kernel):
        for x, z in combinations(samples, 2):
            try:
                one, other = part.scalar(x, z), part.scalar(z, x)
            except Exception:  # of any kind: a function that only runs compiled is left to the conformance kit
                break
            if abs(one - other) > _FALSE * max(abs(one), abs(other)):
                raise AsymmetryError(
                    f"the kernel {part.name!r} is declared symmetric, but k(x, z) = {one:.6g} and k(z, x) = "
                    f"{other:.6g} for two of these samples. Declare symmetric=False, or correct the formula; "
                    "kernreg.testing.check_kernel finds where declarations are wrong"
                )


def _declared_symmetric(kernel: Kernel) -> Iterator[FunctionKernel]:
    """The kernels in a kernel whose symmetry is their author's word, of those that see the samples themselves."""
    if isinstance(kernel, FunctionKernel):
        if kernel.symmetric and kernel.family.of in _OWN_CODE:
            yield kernel
    elif kernel.name != "compose":
        for part in kernel.get_params(deep=False).values():
            if isinstance(part, Kernel):
                yield from _declared_symmetric(part)
