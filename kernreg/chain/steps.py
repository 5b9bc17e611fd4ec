"""What a step of a chain takes and gives, and which may follow which.

=================  =============================================  ==================================================
role               a step has                                     what goes on to the next one
=================  =============================================  ==================================================
kernel learner     ``learns_kernel = True``                       the samples as they are, and ``kernel_``
decomposer         ``transform`` and a kernel                     features, both sides where there are two
transformer        ``transform``                                  changed samples
predictor          ``predict``                                    views
ensembler          ``merge``                                      one merged view
=================  =============================================  ==================================================
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from sklearn.base import is_classifier, is_regressor

from kernreg.errors import ChainError
from kernreg.solvers.parameters import KernelParameters

LEARNER, DECOMPOSER, TRANSFORMER = "kernel learner", "decomposer", "transformer"
PREDICTOR, ENSEMBLER = "predictor", "ensembler"

#: What each role gives, in words.
GIVES = {
    LEARNER: "a kernel and the samples as they are",
    DECOMPOSER: "features",
    TRANSFORMER: "changed samples",
    PREDICTOR: "decision views",
    ENSEMBLER: "one merged view",
}


def role_of(step: Any) -> str:
    """Return the role of a step; a composed step has the one of what comes out of it.

    >>> from kernreg.solvers import LSSVC
    >>> role_of(LSSVC())
    'predictor'
    """
    composed = getattr(step, "_role", None)
    if composed is not None:
        return composed()
    if getattr(step, "learns_kernel", False):
        return LEARNER
    if hasattr(step, "merge"):
        return ENSEMBLER
    if hasattr(step, "predict") and (is_classifier(step) or is_regressor(step) or not hasattr(step, "transform")):
        return PREDICTOR
    if hasattr(step, "transform"):  # clusterers of scikit-learn predict too; inside a chain they transform
        return DECOMPOSER if isinstance(step, KernelParameters) else TRANSFORMER
    raise ChainError(
        f"{type(step).__name__} cannot be a step of a chain: it has neither predict, transform nor merge, and learns "
        "no kernel"
    )


def takes_kernel(step: Any) -> bool:
    """Return whether the step computes with a kernel it can be given."""
    if hasattr(step, "_takes_kernel"):
        return bool(step._takes_kernel())
    return hasattr(step, "get_params") and "kernel" in step.get_params(deep=False)


def own_kernel(step: Any) -> Any:
    """Return the kernel the step was given, None where it was given none.

    Solvers of kernreg have None there until they are given one. An estimator whose default is a kernel, as that of
    scikit-learn's SVC, does not show whether it was given: its default counts as none.

    >>> from kernreg.solvers import LSSVC
    >>> own_kernel(LSSVC()), own_kernel(LSSVC(kernel="rbf"))
    (None, 'rbf')
    """
    if hasattr(step, "_own_kernel"):
        return step._own_kernel()
    if not takes_kernel(step):
        return None
    parameter = inspect.signature(type(step).__init__).parameters.get("kernel")
    default = None if parameter is None else parameter.default
    same = isinstance(step.kernel, type(default)) and step.kernel == default
    return None if same else step.kernel


def check_order(steps: Sequence[tuple[str, Any]]) -> None:
    """Raise ChainError unless every step can use what the one before it gives."""
    if not steps:
        raise ChainError("steps=[]: a chain has at least one step, for example make_chain('kpca', 'ls-svm')")
    learnt: str | None = None  # the step whose kernel is still to be used
    for number, (name, step) in enumerate(steps):
        role = role_of(step)
        if number:
            _check_pair(steps[number - 1], (name, step), role)
        elif role == ENSEMBLER:
            raise ChainError(f"the ensembler {name!r} comes first; it merges the views of a predictor before it")
        if learnt is not None:
            learnt = _check_kernel(learnt, name, step, role)
        if role == LEARNER:
            learnt = name


def _check_pair(before: tuple[str, Any], after: tuple[str, Any], role: str) -> None:
    given = role_of(before[1])
    if role == ENSEMBLER and given != PREDICTOR:
        raise ChainError(
            f"the ensembler {after[0]!r} merges decision views, and {before[0]!r}, a {given}, gives {GIVES[given]}; "
            "put a predictor (or parallel(...) of several) before it"
        )
    if given == ENSEMBLER or (given == PREDICTOR and role != ENSEMBLER):
        raise ChainError(
            f"{after[0]!r}, a {role}, cannot follow {before[0]!r}, a {given}: what comes out of that is "
            f"{GIVES[given]}, and only an ensembler takes views. A predictor, or an ensembler after it, ends a chain"
        )


def _check_kernel(learnt: str, name: str, step: Any, role: str) -> str | None:
    """Return the learner whose kernel is still unused after this step."""
    if role == TRANSFORMER and not takes_kernel(step):
        raise ChainError(
            f"{learnt!r} learns a kernel of its samples, and {name!r} changes these before any step has used it; put "
            f"{name!r} before {learnt!r}"
        )
    if not takes_kernel(step):
        raise ChainError(
            f"{learnt!r} learns a kernel, and {name!r}, a {role}, takes none: the kernel would be lost. Follow it by a "
            "kernel method such as 'kpca' or 'ls-svm'"
        )
    kernel = own_kernel(step)
    if kernel is not None:
        raise ChainError(
            f"{name!r} has its own kernel, {kernel!r}, and follows {learnt!r}, which passes on the one it learns; "
            f"leave the kernel of {name!r} out, or {learnt!r}"
        )
    return None
