"""Words of scikit-learn that kernreg has another word for: what an error about an unknown parameter adds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

#: What the samples of a kernel matrix are.
ROW_NUMBERS = "samples are then row numbers: numpy.arange(len(K))"
_INVERSE = "scikit-learn's gamma=g is sigma=1/g here"
_KERNEL_WORDS = {
    ("rbf", "gamma"): "scikit-learn's gamma=g is sigma=1/√g here",
    ("rbf", "length_scale"): "scikit-learn's length_scale=l is sigma=√2·l here",
    ("laplacian", "gamma"): _INVERSE,
    ("chi2", "gamma"): _INVERSE,
    ("matern", "length_scale"): "scikit-learn's length_scale is sigma here",
}


def kernel_hint(kernel: str, unknown: str) -> str:
    """Return what to write instead of a parameter that a kernel does not have, or nothing.

    >>> kernel_hint("rbf", "gamma")
    ". scikit-learn's gamma=g is sigma=1/√g here"
    >>> kernel_hint("rbf", "tau")
    ''
    """
    hint = _KERNEL_WORDS.get((kernel, unknown))
    return f". {hint}" if hint else ""


def missing_hint(kernel: str, parameter: str) -> str:
    """Return how to give a parameter that a kernel cannot do without, where a word alone cannot hold it, or nothing.

    >>> missing_hint("precomputed", "K")
    ". Write kernel=make_kernel('precomputed', K=K); samples are then row numbers: numpy.arange(len(K))"
    """
    if (kernel, parameter) != ("precomputed", "K"):
        return ""
    return f". Write kernel=make_kernel('precomputed', K=K); {ROW_NUMBERS}"


def not_a_kernel_hint(given: Any) -> str:
    """Return how a matrix or a plain function becomes a kernel, or nothing.

    >>> not_a_kernel_hint([[1.0, 0.0], [0.0, 1.0]])
    ". A matrix K becomes one with make_kernel('precomputed', K=K); samples are then row numbers: numpy.arange(len(K))"
    >>> not_a_kernel_hint(max)
    ". A function f(x, z) of two samples becomes one with kernreg.kernel(of='rows')(f)()"
    """
    if callable(given):
        return ". A function f(x, z) of two samples becomes one with kernreg.kernel(of='rows')(f)()"
    if hasattr(given, "shape") or isinstance(given, list):
        return f". A matrix K becomes one with make_kernel('precomputed', K=K); {ROW_NUMBERS}"
    return ""


def solver_hint(given: Mapping[str, Any], accepted: Collection[str], *, has_probabilities: bool = False) -> str:
    """Return what to write instead of the parameters that a solver does not have, or nothing.

    >>> solver_hint({"sigma": 2.0}, ["kernel", "gamma"])
    '. sigma is a parameter of the kernel: give it there, as in kernel="rbf(sigma=2.0)"'
    >>> solver_hint({"C": 1.0}, ["kernel", "gamma"])
    '. The counterpart of C is gamma: the larger, the closer to the data'
    """
    hints = []
    for name in given:
        if name in accepted:
            continue
        if name == "C" and "gamma" in accepted:
            hints.append("The counterpart of C is gamma: the larger, the closer to the data")
        elif name == "alpha" and "gamma" in accepted:
            hints.append("The counterpart of alpha is gamma=1/alpha")
        elif name == "probability" and has_probabilities:
            hints.append("Leave out probability: predict_proba is always there")
        elif "kernel" in accepted and (name == "sigma" or name.startswith("kernel__")):
            hints.append(_in_the_kernel(name.removeprefix("kernel__"), given[name], given.get("kernel")))
    return "".join(f". {hint}" for hint in hints)


def _in_the_kernel(name: str, value: Any, kernel: Any) -> str:
    family = kernel.partition("(")[0] if isinstance(kernel, str) else "rbf" if name == "sigma" else "…"
    shown = repr(value) if isinstance(value, str | int | float) else "…"
    return f'{name} is a parameter of the kernel: give it there, as in kernel="{family}({name}={shown})"'
