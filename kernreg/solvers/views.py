"""Views: the decision functions of a solver by name, and the ensemblers that merge them."""

from __future__ import annotations

import inspect
from typing import Any, TypeAlias

import numpy as np

from kernreg.errors import KernregWarning, ParameterError, shown
from kernreg.factory import make_ensembler
from kernreg.solvers.advice import advise
from kernreg.solvers.parameters import given_as, unfitted_copy

Views: TypeAlias = dict[str, np.ndarray]

_FOLDS = 5


def new_ensembler(spec: Any) -> Any:
    """Return a new, unfitted ensembler from a spec such as ``"average"``, a class or an object (which is copied)."""
    if isinstance(spec, str | type):
        with given_as("ensembler", spec):
            return make_ensembler(spec)
    if hasattr(spec, "fit") and hasattr(spec, "merge"):
        return unfitted_copy("ensembler", spec)
    raise ParameterError(
        f"ensembler={shown(spec)} is not accepted; give a name such as 'average' (`kernreg list` shows them), a "
        "class, or an object with fit(views, y) and merge(views)"
    )


def learns(ensembler: Any) -> bool:
    """Whether the ensembler learns from views, and so needs leave-one-out ones.

    An ensembler that does not says so with the class attribute ``uses_targets = False``; any other is taken to learn.
    """
    return bool(getattr(ensembler, "uses_targets", True))


def rescales(ensembler: Any) -> bool:
    """Whether an ensembler may give more, or less, than the views say: any that is not declared ``idempotent``.

    >>> from kernreg.ensemblers import Average, Stack
    >>> rescales(Average()), rescales(Stack())
    (False, True)
    """
    return not getattr(ensembler, "idempotent", False)


def fit_ensembler(ensembler: Any, views: Views, labels: np.ndarray, weights: np.ndarray | None) -> Any:
    """Fit an ensembler, with the weights of the samples where it learns; warn where it cannot take them."""
    if weights is None or not learns(ensembler):
        return ensembler.fit(views, labels)
    if "sample_weight" in inspect.signature(ensembler.fit).parameters:
        return ensembler.fit(views, labels, sample_weight=weights)
    advise(
        f"{type(ensembler).__name__}.fit takes no sample_weight: it learns how to merge the views as if all weights "
        "were equal",
        KernregWarning,
        stacklevel=4,
    )
    return ensembler.fit(views, labels)


def without_mean_shift(left_out: Views, targets: np.ndarray, weights: np.ndarray | None) -> Views:
    """Return leave-one-out values as an ensembler may learn from them: with the mean of all targets, not of the rest.

    Every value f⁽⁻ⁱ⁾(x_i) is the mean of the other targets plus what the kernel adds. That mean falls where y_i is
    large: for a small γ, where the kernel adds little, it tells y_i exactly, and an ensembler that may choose negative
    weights would find that out.

    >>> y = np.array([1.0, 2.0, 6.0])
    >>> means_of_the_rest = (y.sum() - y) / 2
    >>> without_mean_shift({"source": means_of_the_rest}, y, None)["source"].tolist()
    [3.0, 3.0, 3.0]
    """
    w = np.ones(len(targets)) if weights is None else weights
    of_each = w.reshape(-1, *(1,) * (targets.ndim - 1))
    mean, total = np.average(targets, axis=0, weights=w), w.sum()
    shift = of_each * (targets - mean) / (total - of_each)  # the mean of all minus the mean of the rest
    return {name: view + shift for name, view in left_out.items()}


def cross_fitted(
    ensembler: Any, views: Views, labels: np.ndarray, weights: np.ndarray | None = None, *, classes: bool
) -> np.ndarray:
    """Return the merged decision of every sample by an ensembler that did not see its target.

    The samples are dealt into five folds, class by class, always the same way; the ensembler learns from four of them
    and merges the fifth. Where a class has a single sample, what learnt from all merges it.

    Parameters
    ----------
    ensembler : object
        Unfitted, or fitted to something else; it is copied.
    views : dict of str to ndarray
        Leave-one-out values.
    labels : ndarray of shape (m,) or (m, outputs)
        Targets as ensemblers see them.
    weights : ndarray of shape (m,), optional
        Of the samples.
    classes : bool
        Whether the labels are classes.
    """
    m = len(labels)
    order = np.argsort(labels, kind="stable") if classes else np.arange(m)
    fold = np.empty(m, dtype=np.intp)
    fold[order] = np.arange(m) % _FOLDS
    if classes:
        values, counts = np.unique(labels, return_counts=True)
        fold[np.isin(labels, values[counts < 2])] = -1
    decision = np.empty_like(next(iter(views.values())))
    for number in np.unique(fold):
        test = fold == number
        train = ~test if number >= 0 else np.ones(m, dtype=bool)
        if not train.any():  # as few samples as one
            train = test
        some, weight = {name: view[train] for name, view in views.items()}, None if weights is None else weights[train]
        fitted = fit_ensembler(new_ensembler(ensembler), some, labels[train], weight)
        decision[test] = fitted.merge({name: view[test] for name, view in views.items()})
    return decision
