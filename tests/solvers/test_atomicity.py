"""A fit is whole or it is not there; answers come from one fit, and from the parameters of that fit."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits, load_iris, make_blobs

import kernreg as kr
from kernreg.errors import AsymmetryError
from kernreg.solvers import LSSVC, KernelBiclustering, KernelPCA
from kernreg.solvers.atomicity import AtomicFit
from kernreg.testing.solver_state import STATE_LAWS
from kernreg.testing.solvers import SolverCase

#: Every solver with its defaults keeps all laws in test_estimator_checks.py or in the tests of its plugin; these do not
#: stand there.
VARIANTS = [
    ("ls-svm", {"gamma": "loo", "strategy": "lowrank", "n_landmarks": 10}),
    ("ls-svm", {"strategy": "sketched", "n_landmarks": 10}),
    ("ask-ls", {"ensembler": "stack"}),
    ("ksvd", {"compatibility": "a2"}),
    ("nystrom", {"n_landmarks": 20, "compatibility": "a1"}),
    ("scg-ldk", {"gamma": "loo"}),
    ("bicluster", {"n_clusters": 2, "lengths": "projected", "embedding": "directions"}),
]


@pytest.mark.filterwarnings("ignore")  # what a solver says of these samples is not the matter
@pytest.mark.parametrize("law", STATE_LAWS.laws, ids=lambda law: law.name)
@pytest.mark.parametrize(("name", "params"), VARIANTS, ids=str)
def test_other_settings_keep_the_laws_of_its_state(name, params, law):
    law(SolverCase(kr.make_solver(name, **params)))


def test_a_refused_refit_leaves_the_model_as_it_was():
    X, y = make_blobs(40, 2, centers=2, random_state=0)
    model = LSSVC(kernel="rbf(sigma=2.0)").fit(X, y)
    decision, held = model.decision_function(X), dict(vars(model))
    model.set_params(kernel="sne(sigma=1.0)")
    with pytest.raises(AsymmetryError):
        model.fit(-X, 1 - y)
    np.testing.assert_array_equal(model.decision_function(X), decision)
    assert {name: value for name, value in vars(model).items() if name != "kernel"}.keys() == held.keys() - {"kernel"}


@pytest.mark.parametrize("name", ["ls-svr", "kpca", "ksvd", "scg-ldk", "ldk", "fisher-score", "ideal-regularized"])
def test_a_refit_that_the_kernel_fails_changes_nothing(name, monkeypatch):
    X, y = make_blobs(30, 2, centers=2, random_state=0)
    model = kr.make_solver(name, kernel="rbf(sigma=2.0)").fit(X, y)
    ask = model.predict if hasattr(model, "predict") else model.transform
    before = ask(X)

    def broken(*args, **options):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr("kernreg.kernels.function.FunctionKernel.__call__", broken)
        patch.setattr("kernreg.kernels.function.FunctionKernel.operator", broken)
        with pytest.raises(MemoryError):
            model.fit(X[::-1] * 3.0, y)
    np.testing.assert_array_equal(ask(X), before)


def test_predictions_do_not_follow_multi_class():
    X, y = load_iris(return_X_y=True)
    model = LSSVC(kernel="rbf(sigma=2.0)").fit(X, y)
    score = model.score(X, y)
    assert score > 0.95
    assert model.set_params(multi_class="one-vs-one").score(X, y) == score


@pytest.mark.parametrize(("parameter", "values"), [("embedding", ("scores", "directions")), ("lengths", ("none",))])
def test_clusters_of_new_rows_do_not_follow_the_parameters(parameter, values):
    X, _ = load_digits(return_X_y=True)
    model = KernelBiclustering(8).fit(X[:300])
    before = model.predict(X[:300])
    for value in values:
        np.testing.assert_array_equal(model.set_params(**{parameter: value}).predict(X[:300]), before)


def test_a_chain_predicts_as_it_was_fitted():
    X, y = load_iris(return_X_y=True)
    chain = kr.make_chain("ask-ls", "average", kernel="rbf(sigma=2.0)").fit(X, y)
    before = chain.predict(X)
    chain.set_params(askls=kr.make_solver("ask-lsr"))
    np.testing.assert_array_equal(chain.predict(X), before)
    assert chain.score(X, y) > 0.9
    assert not hasattr(chain.fit(X, y.astype(float)), "classes_")


class Slow(AtomicFit, BaseEstimator):
    """Fits one attribute, waits, and fits the other."""

    def __init__(self, reached=None, go_on=None):
        self.reached, self.go_on = reached, go_on

    def fit(self, value):
        self.first_ = value
        self.reached.set()
        assert self.go_on.wait(30)
        self.second_ = value
        return self

    def predict(self):
        first = self.first_
        self.go_on.set()
        self.fitter.join(30)
        return first, self.second_

    @property
    def kept_(self):
        self._kept = self.second_
        return self._kept


def test_an_answer_comes_from_one_fit_while_another_thread_fits():
    model = Slow(threading.Event(), threading.Event())
    model.go_on.set()
    assert model.fit("old") is model
    model.reached.clear(), model.go_on.clear()
    model.fitter = threading.Thread(target=model.fit, args=("new",))
    model.fitter.start()
    assert model.reached.wait(30)
    assert model.predict() == ("old", "old")  # begun before the fit ended, ended after it
    assert model.predict() == ("new", "new")
    assert (model.kept_, model._kept) == ("new", "new")  # what an answer keeps stays


class Asked:
    """A mixin that knows nothing of fits."""

    def both(self):
        return self.predict()

    def pair(self):
        first = self.first_
        self.go_on.set()
        self.fitter.join(30)
        return first, self.second_


class SlowAndAsked(Asked, Slow):
    """Says more, by a mixin."""


def test_answers_of_mixins_come_from_one_fit_too():
    model = SlowAndAsked(threading.Event(), threading.Event())
    model.go_on.set()
    model.fit("old")
    model.reached.clear(), model.go_on.clear()
    model.fitter = threading.Thread(target=model.fit, args=("new",))
    model.fitter.start()
    assert model.reached.wait(30)
    assert model.pair() == ("old", "old")
    assert model.pair() == model.both() == ("new", "new")


@pytest.mark.parametrize("name", [plugin.name for plugin in kr.available("solver")])
def test_diagnostics_and_explanations_are_of_one_fit(name):
    import inspect

    cls = type(kr.make_solver(name))
    for member in dir(cls):
        if not member.startswith(("_", "set_")) and member not in ("get_params", "get_metadata_routing"):
            said = inspect.getattr_static(cls, member)
            function = said.fget if isinstance(said, property) else said
            assert not inspect.isfunction(function) or hasattr(function, "__wrapped__"), member


def test_fit_predict_and_properties_stay_what_they_are():
    import inspect

    assert list(inspect.signature(LSSVC.fit).parameters) == ["self", "X", "y", "sample_weight"]
    assert "sample_weight" in str(LSSVC().get_metadata_routing().fit)
    assert LSSVC.loo_score_.__doc__ == LSSVC.loo_score_.fget.__doc__
    pca = KernelPCA(n_components=2).set_output(transform="pandas")
    assert list(pca.fit_transform(np.random.default_rng(0).normal(size=(20, 2))).columns) == [
        "kernelpca0",
        "kernelpca1",
    ]
