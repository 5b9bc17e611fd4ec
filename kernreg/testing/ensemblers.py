"""The laws of ensemblers: classes that merge the views of a solver into one.

An ensembler for which merging copies of one view gives that view (an average, a choice) declares it with
the class attribute ``idempotent = True``, and is held to it. One that learns from the targets, as stacking
does, says nothing.
"""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernreg.testing.arrays import require_close, require_error, require_same
from kernreg.testing.estimators import PARAMETER_LAWS, EstimatorCase, same_parameters
from kernreg.testing.laws import LawBook, fail

ENSEMBLER_LAWS = LawBook("ensembler", [*PARAMETER_LAWS.laws])

SAMPLES = 30

Views = dict[str, np.ndarray]


def example_views(rng: np.random.Generator, n: int, classes: int) -> tuple[Views, np.ndarray]:
    """Return two noisy views and the labels: a number per sample for two classes, else one per class."""
    y = np.arange(n) % classes
    rng.shuffle(y)
    if classes == 2:
        truth = 2.0 * y - 1.0
        labels = truth.astype(int)
    else:
        truth = 2.0 * np.eye(classes)[y] - 1.0
        labels = y
    return {
        "source": truth + 0.5 * rng.standard_normal(truth.shape),
        "target": truth + 0.9 * rng.standard_normal(truth.shape),
    }, labels


class EnsemblerCase(EstimatorCase):
    """An ensembler under test.

    Parameters
    ----------
    declared : class or object
        A class is made with its defaults; an object is cloned.
    data : callable, optional
        ``data(rng, n, classes)`` returns ``(views, y)``. Default: two views named source and target.
    seed : int
        Seed of the random data.
    """

    kind = "ensembler"

    @property
    def problems(self) -> dict[str, tuple[Views, Any]]:
        """Views and labels, for two classes and for three; made anew each time, in case they get modified."""
        make = self.data or example_views
        return {
            f"{classes} classes": make(np.random.default_rng([self.seed, classes]), SAMPLES, classes)
            for classes in (2, 3)
        }


@ENSEMBLER_LAWS.law("fit returns self")
def fit_returns_self(case: EnsemblerCase) -> None:
    """fit returns the ensembler itself and leaves its parameters as they were."""
    for views, y in case.problems.values():
        ensembler = case.make()
        before = ensembler.get_params(deep=False)
        if ensembler.fit(views, y) is not ensembler:
            fail("fit(views, y) must return the ensembler itself")
        if not same_parameters(before, ensembler.get_params(deep=False)):
            fail(f"fit changed its parameters from {before} to {ensembler.get_params(deep=False)}")


@ENSEMBLER_LAWS.law("input untouched")
def input_untouched(case: EnsemblerCase) -> None:
    """Neither fit nor merge changes the views or the targets."""
    for problem, (views, y) in case.problems.items():
        given, y_given = {name: view.copy() for name, view in views.items()}, np.array(y)
        case.make().fit(given, y_given).merge(given)
        if given.keys() != views.keys():
            fail(f"{problem}: the dict of views was modified, it now holds {sorted(given)}")
        for name, view in views.items():
            if np.any(given[name] != view):
                fail(f"{problem}: the view {name!r} was modified")
        if np.any(y_given != np.asarray(y)):
            fail(f"{problem}: the targets were modified")


@ENSEMBLER_LAWS.law("shape kept")
def shape_kept(case: EnsemblerCase) -> None:
    """merge gives a finite array of the shape of one view, also for samples not seen in fit."""
    for problem, (views, y) in case.problems.items():
        ensembler = case.make().fit(views, y)
        for asked in (views, {name: view[:7] for name, view in views.items()}):
            merged = ensembler.merge(asked)
            expected = next(iter(asked.values())).shape
            if np.shape(merged) != expected:
                fail(f"{problem}: merging views of shape {expected} gives shape {np.shape(merged)}")
            if not np.all(np.isfinite(merged)):
                fail(f"{problem}: merging finite views gives values that are not finite")


@ENSEMBLER_LAWS.law(
    "identical views",
    excuse=lambda case: (
        None if getattr(case.declared_class, "idempotent", False) else "it does not declare idempotent = True"
    ),
)
def identical_views(case: EnsemblerCase) -> None:
    """Merging copies of one view gives that view, when the class declares idempotent = True."""
    for problem, (views, y) in case.problems.items():
        one = next(iter(views.values()))
        copies = {name: one.copy() for name in views}
        merged = case.make().fit(copies, y).merge(copies)
        require_close(merged, one, f"{problem}: copies of one view", names=("merged", "the view"))


@ENSEMBLER_LAWS.law("order of views")
def order_of_views(case: EnsemblerCase) -> None:
    """Views are known by their names: the order of the dict does not matter."""
    for problem, (views, y) in case.problems.items():
        backwards = dict(reversed(views.items()))
        merged = case.make().fit(views, y).merge(views)
        reordered = case.make().fit(backwards, y).merge(backwards)
        require_close(reordered, merged, f"{problem}: views in another order", names=("reordered", "in order"))
        mixed = case.make().fit(views, y).merge(backwards)
        require_close(mixed, merged, f"{problem}: merge in another order than fit", names=("reordered", "in order"))


@ENSEMBLER_LAWS.law("order of samples")
def order_of_samples(case: EnsemblerCase) -> None:
    """Each sample is merged by itself: reordering the samples reorders the result."""
    order = np.random.default_rng(case.seed).permutation(SAMPLES)[: SAMPLES // 2]
    for problem, (views, y) in case.problems.items():
        ensembler = case.make().fit(views, y)
        part = ensembler.merge({name: view[order] for name, view in views.items()})
        whole = np.asarray(ensembler.merge(views))
        require_close(part, whole[order], f"{problem}: some samples", names=("merged alone", "merged with others"))


@ENSEMBLER_LAWS.law("determinism")
def determinism(case: EnsemblerCase) -> None:
    """Fitting and merging again gives the same numbers, bit for bit."""
    for problem, (views, y) in case.problems.items():
        ensembler = case.make().fit(views, y)
        merged = np.array(ensembler.merge(views))
        require_same(ensembler.merge(views), merged, f"{problem}: merging again differs")
        require_same(case.make().fit(views, y).merge(views), merged, f"{problem}: fitting again differs")


@ENSEMBLER_LAWS.law(
    "weights",
    excuse=lambda case: (
        None
        if re.search(r"\bweights_(?!\w)", inspect.getdoc(case.declared_class) or "")
        else "its docstring documents no weights_"
    ),
)
def weights(case: EnsemblerCase) -> None:
    """A documented weights_ exists after fit and holds a finite weight for each view."""
    for problem, (views, y) in case.problems.items():
        ensembler = case.make().fit(views, y)
        found = getattr(ensembler, "weights_", None)
        if found is None:
            fail(f"{problem}: weights_ is documented but not set by fit")
        if isinstance(found, Mapping):
            if set(found) != set(views):
                fail(f"{problem}: weights_ is about the views {sorted(found)}, the views are {sorted(views)}")
            found = [np.asarray(weight, dtype=float) for weight in found.values()]
        elif len(found) != len(views):
            fail(f"{problem}: {len(found)} weights for {len(views)} views")
        if not all(np.all(np.isfinite(weight)) for weight in found):
            fail(f"{problem}: weights_ holds values that are not finite")


@ENSEMBLER_LAWS.law("pickle")
def pickles(case: EnsemblerCase) -> None:
    """A fitted ensembler survives pickling and merges as before."""
    for problem, (views, y) in case.problems.items():
        ensembler = case.make().fit(views, y)
        again = pickle.loads(pickle.dumps(ensembler))
        require_same(
            again.merge(views),
            ensembler.merge(views),
            f"{problem}: merging before and after pickling differs",
        )


@ENSEMBLER_LAWS.law("wrong views")
def wrong_views(case: EnsemblerCase) -> None:
    """No views, or views of different shapes, raise ValueError with a message."""
    views, y = case.problems["2 classes"]
    ensembler = case.make().fit(views, y)
    require_error(ValueError, lambda: case.make().fit({}, y), "fit without views")
    require_error(ValueError, lambda: ensembler.merge({}), "merge without views")
    first, *others = views
    ragged = {first: views[first][:-1], **{name: views[name] for name in others}}
    require_error(ValueError, lambda: ensembler.merge(ragged), "merge of views of different lengths")
