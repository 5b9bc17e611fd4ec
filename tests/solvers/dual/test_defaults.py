"""The defaults that the documentation names, and that every machine passes on what it is given."""

from __future__ import annotations

import inspect

import pytest

from kernreg.solvers import LSSVC, LSSVR, AsKLSClassifier, AsKLSRegressor
from kernreg.solvers.dual.machine import DualMachine

SHARED = {
    "kernel": None,
    "strategy": "auto",
    "tol": 1e-6,
    "max_iter": 500,
    "max_seconds": None,
    "n_landmarks": None,
    "landmarks": "auto",
    "random_state": 0,
}
CLASSES = {"class_weight": None, "calibration": "sigmoid"}
VIEWS = {"gamma": "loo", "ensembler": "average", "on_pole": "raise"}
MACHINES = {
    LSSVC: {"gamma": "scale", "multi_class": "one-vs-rest", **CLASSES},
    LSSVR: {"gamma": "scale", "robust": None},
    AsKLSClassifier: {**VIEWS, **CLASSES},
    AsKLSRegressor: {**VIEWS, "robust": None},
}


@pytest.mark.parametrize("machine", MACHINES)
def test_defaults(machine):
    expected = {**SHARED, **MACHINES[machine]}
    assert machine().get_params(deep=False) == expected
    marked = {name: object() for name in expected}
    assert machine(**marked).get_params(deep=False) == marked


@pytest.mark.parametrize("machine", MACHINES)
def test_bases_have_the_same_defaults(machine):
    for base in machine.__mro__:
        if issubclass(base, DualMachine) and "__init__" in vars(base):
            for name, parameter in inspect.signature(base.__init__).parameters.items():
                if name in SHARED:
                    assert parameter.default == SHARED[name]
