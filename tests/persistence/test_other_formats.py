"""pickle and skops take every estimator too; both need a reader who trusts the file, or what is in it."""

from __future__ import annotations

import copy
import pickle
import re

import cloudpickle
import numpy as np
import pytest
from persistence.answers import require_identical, says
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernreg as kr
from kernreg.ensemblers import ViewEnsemble
from kernreg.kernels import centered, spectrum, symmetrize
from kernreg.kernels.builtin import linear, rbf, sne, tanh_
from kernreg.registry import get_registry

SOLVERS = sorted(entry.name for entry in kr.available("solver") if entry.origin == "entry point")
KERNELS = sorted(entry.name for entry in kr.available("kernel") if entry.origin == "entry point")

MODELS = {
    **{name: (lambda name=name: get_registry("solver").get(name)()) for name in SOLVERS},
    "bound": lambda: kr.make_solver("ask-ls", kernel=centered(sne()) + 0.5 * rbf().T, ensembler="stack"),
    "symmetrized": lambda: kr.make_solver("ls-svm", kernel=symmetrize(sne(), "left")),
    "spectrum": lambda: kr.make_solver("ls-svm", kernel=spectrum(tanh_(c=0.5, t=-1.0), "flip")),
    "lowrank": lambda: kr.make_solver("ls-svm", strategy="lowrank", random_state=np.random.default_rng(0)),
    "iterative": lambda: kr.make_solver("ask-ls", strategy="iterative", gamma=0.5),
    "family": lambda: kr.make_solver("ls-svm", kernel=rbf),
    "pipeline": lambda: make_pipeline(StandardScaler(), kr.make_solver("ask-ls", kernel="sne", gamma="loo")),
    "views": lambda: ViewEnsemble([("a", kr.make_solver("ask-ls")), ("b", RidgeClassifier())], ensembler="stack", cv=3),
}


def through_pickle(model):
    return pickle.loads(pickle.dumps(model))


def through_cloudpickle(model):
    return cloudpickle.loads(cloudpickle.dumps(model))


def through_skops(model):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model)
    return skops.loads(data, trusted=skops.get_untrusted_types(data=data))


def shown(model):
    return re.sub(r"0x[0-9A-Fa-f]+", "", repr(model.get_params()))  # random generators show where they are


WAYS = {"pickle": through_pickle, "cloudpickle": through_cloudpickle, "copy": copy.deepcopy, "skops": through_skops}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_goes_through(name, way, table):
    X, y, new = table
    model = MODELS[name]().fit(X, y)
    again = WAYS[way](model)
    require_identical(says(again, new), says(model, new))
    if way != "skops" or name != "family":  # skops makes another object of the family, alike in all but identity
        assert shown(again) == shown(model)
    clone(again).fit(X, y)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_goes_through(name, way):
    k, X = get_registry("kernel").get(name).example(np.random.default_rng(0), 9)
    again = WAYS[way](k)
    assert again == k
    assert again.family is k.family
    np.testing.assert_array_equal(again(X), k(X))


def test_skops_names_only_classes_of_kernreg():
    skops = pytest.importorskip("skops.io")
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = kr.make_solver("ask-ls", kernel=sne() + linear(), ensembler="stack").fit(X, X[:, 0] > 0)
    names = skops.get_untrusted_types(data=skops.dumps(model))
    assert names
    assert all(name.startswith("kernreg.") for name in names)


def test_a_loaded_model_can_be_pickled(table, there_and_back):
    X, y, new = table
    model = kr.make_solver("ask-ls", kernel="sne(sigma=2.0)").fit(X, y)
    require_identical(says(through_pickle(there_and_back(model)), new), says(model, new))


def test_a_kernel_of_a_script_is_refused_by_skops_with_what_to_do():
    skops = pytest.importorskip("skops.io")

    @kr.kernel(of="dot")
    def homemade(dot):
        """⟨x, z⟩ + 1."""
        return dot + 1.0

    with pytest.raises(ValueError, match=r"'homemade' is not registered.*new-plugin"):
        skops.dumps(homemade())
    assert pickle.loads(cloudpickle.dumps(homemade())) == homemade()  # pickle takes the code along
