"""Every law of ensemblers is broken by one made wrong in just that way, and kept by the right ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from kernreg.testing import LawViolation, check_ensembler, ensembler_checks, verdicts


class Mean(BaseEstimator):
    """The weighted mean of the views.

    Attributes
    ----------
    weights_ : dict
        One weight per view.
    """

    idempotent = True

    def __init__(self, favourite=None):
        self.favourite = favourite

    def fit(self, views, y):
        self.checked(views)
        self.weights_ = {name: 1.0 / len(views) for name in sorted(views)}
        return self

    def merge(self, views):
        self.checked(views)
        return sum(self.weights_[name] * views[name] for name in self.weights_)

    def checked(self, views):
        shapes = {np.shape(view) for view in views.values()}
        if len(shapes) != 1:
            raise ValueError(f"views of one shape are needed, got {shapes or 'none'}")


class Stack(Mean):
    """The weights_ are learned from the targets; copies of one view are not given back."""

    idempotent = False

    def fit(self, views, y):
        self.checked(views)
        names = sorted(views)
        targets = y if views[names[0]].ndim == 1 else np.eye(views[names[0]].shape[1])[y]
        columns = np.stack([views[name].ravel() for name in names], axis=1)
        weights = np.linalg.lstsq(columns, 0.5 * np.ravel(targets), rcond=None)[0]
        self.weights_ = dict(zip(names, weights, strict=True))
        return self


@pytest.mark.parametrize("ensembler", [Mean, Mean(favourite="source"), Stack])
def test_a_right_ensembler_keeps_every_law(ensembler):
    check_ensembler(ensembler)


def test_an_ensembler_that_learns_need_not_give_identical_views_back():
    outcomes = {v.law: v.outcome for v in verdicts(Stack)}
    assert outcomes["identical views"] == "not applicable"
    assert outcomes["weights"] == "held"


class ConstructorPrepares(Mean):
    def __init__(self, favourite=None):
        self.favourite = favourite
        self.weights_ = {}


class AcceptsAnyParameter(Mean):
    def set_params(self, **params):
        params.pop("no_such_parameter", None)
        return super().set_params(**params)


class OtherClone(Mean):
    def __sklearn_clone__(self):
        return Stack()


class ReturnsNothing(Mean):
    def fit(self, views, y):
        super().fit(views, y)


class ChoosesByParameter(Mean):
    def fit(self, views, y):
        self.favourite = "source"
        return super().fit(views, y)


class Flattens(Mean):
    def merge(self, views):
        return np.ravel(super().merge(views))


class NotFinite(Mean):
    def merge(self, views):
        return super().merge(views) * np.inf


class Sums(Mean):
    """The sum of the views; not idempotent, whatever it declares."""

    def merge(self, views):
        return sum(views[name] for name in sorted(views))


class FirstOfTheDict(Mean):
    def merge(self, views):
        super().merge(views)
        return next(iter(views.values()))


class CentresTheBatch(Mean):
    idempotent = False

    def merge(self, views):
        merged = super().merge(views)
        return merged - merged.mean(axis=0)


class Random(Mean):
    rng = np.random.default_rng(0)
    idempotent = False

    def merge(self, views):
        return super().merge(views) + 1e-12 * self.rng.random()


class PopsViews(Mean):
    def merge(self, views):
        merged = super().merge(views)
        views.pop("target")
        return merged


class WritesIntoViews(Mean):
    def merge(self, views):
        merged = super().merge(views)
        views["source"] *= 1.0 + 1e-15
        return merged


class WithoutWeights(Mean):
    """Documents weights_ and keeps them elsewhere."""

    def fit(self, views, y):
        super().fit(views, y)
        self.hidden_ = self.__dict__.pop("weights_")
        return self

    def merge(self, views):
        return sum(self.hidden_[name] * views[name] for name in self.hidden_)


class WeightsOfOthers(Mean):
    """Its weights_ name a view that nobody gave."""

    def fit(self, views, y):
        super().fit(views, y)
        self.weights_["bias"] = 0.0
        return self

    def merge(self, views):
        self.checked(views)
        return sum(self.weights_[name] * views[name] for name in sorted(views))


class Unpicklable(Mean):
    def fit(self, views, y):
        self.rule_ = lambda view: view
        return super().fit(views, y)


class MergesNothing(Mean):
    def merge(self, views):
        return super().merge(views) if views else np.zeros(0)


WRONG = [
    (ConstructorPrepares, "constructor only stores", "also sets weights_"),
    (AcceptsAnyParameter, "parameters", "was accepted"),
    (OtherClone, "clone", "expected another OtherClone"),
    (ReturnsNothing, "fit returns self", "must return the ensembler itself"),
    (ChoosesByParameter, "fit returns self", "changed its parameters"),
    (Flattens, "shape kept", r"3 classes: merging views of shape \(30, 3\) gives shape \(90,\)"),
    (NotFinite, "shape kept", "not finite"),
    (Sums, "identical views", "copies of one view"),
    (FirstOfTheDict, "order of views", "in another order"),
    (CentresTheBatch, "order of samples", "some samples"),
    (Random, "determinism", "merging again differs"),
    (WritesIntoViews, "input untouched", "the view 'source' was modified"),
    (PopsViews, "input untouched", "the dict of views was modified"),
    (WithoutWeights, "weights", "documented but not set"),
    (WeightsOfOthers, "weights", "bias"),
    (Unpicklable, "pickle", "it raised"),
    (MergesNothing, "wrong views", "merge without views"),
]


@pytest.mark.parametrize(("ensembler", "law", "message"), WRONG, ids=[wrong.__name__ for wrong, *_ in WRONG])
def test_a_wrong_ensembler_fails_at_the_law_it_breaks(ensembler, law, message):
    with pytest.raises(LawViolation, match=message) as caught:
        check_ensembler(ensembler)
    assert caught.value.law == law
    assert caught.value.subject == f"ensembler {ensembler.__name__}"


def test_every_law_of_ensemblers_is_broken_by_some_wrong_ensembler():
    assert {check.law.name for check in ensembler_checks(Mean)} == {law for _, law, _ in WRONG}
